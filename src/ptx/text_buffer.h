// SPDX-License-Identifier: Apache-2.0
// Text that grows by pieces of a few bytes. They are collected in a small buffer, which stays in
// the processor's cache. Used inside this folder.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace ww::ptx {

class TextBuffer {
 public:
  void add(char c) {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = c;
  }
  void add(std::string_view piece) {
    if (piece.size() > buffer_.size() - used_) return add_large(piece);
    std::memcpy(buffer_.data() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  void add_number(std::uint64_t value, int base = 10) {
    std::array<char, 64> digits;  // NOLINT: filled by to_chars
    const char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  /// So many hex digits, in capitals.
  void add_hex(std::uint64_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      add("0123456789ABCDEF"[value >> static_cast<unsigned>(shift) & 0xFU]);
  }

  /// Everything added so far; the buffer is empty afterwards.
  std::string take() {
    flush();
    return std::exchange(text_, {});
  }

 private:
  void flush() {
    text_.append(buffer_.data(), used_);
    used_ = 0;
  }
  void add_large(std::string_view piece) {
    flush();
    text_.append(piece);
  }

  std::string text_;
  std::array<char, 4096> buffer_;  // NOLINT: only the first used_ bytes mean something
  std::size_t used_ = 0;
};

}  // namespace ww::ptx
