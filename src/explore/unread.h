// SPDX-License-Identifier: Apache-2.0
// Bounds the answers that the server keeps for clients that do not read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

namespace ww::explore {

/// Bytes of all answers that are made and not yet sent. One answer is always taken, however large.
class UnreadAnswers {
 public:
  explicit UnreadAnswers(std::size_t most) : most_(most) {}
  UnreadAnswers(const UnreadAnswers&) = delete;
  UnreadAnswers& operator=(const UnreadAnswers&) = delete;

  /// Counts an answer for as long as the result exists, which must not outlive this. Null: with it
  /// there would be too many bytes.
  [[nodiscard]] std::shared_ptr<void> take(std::size_t bytes);

  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t most_;
  std::atomic<std::size_t> bytes_ = 0;
};

/// Why an answer was not taken, for the page.
std::string unread_text(const UnreadAnswers& unread);

}  // namespace ww::explore
