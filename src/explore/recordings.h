// SPDX-License-Identifier: Apache-2.0
// Runs that the page looks into after they are over, kept by number: what was executed, and the states
// between. The oldest go when there are too many.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/run/tool.h"
#include "sim/timeline/history.h"

namespace ww::explore {

/// A register of the kernel.
struct NamedRegister {
  std::string name;
  isa::Type type{};
  sim::Place place{};
};

class StoredRun {
 public:
  /// The capture has a history.
  explicit StoredRun(driver::RunCapture capture);

  [[nodiscard]] const driver::RunCapture& capture() const { return capture_; }
  [[nodiscard]] const sim::Recording& recording() const { return *capture_.run.recording; }
  [[nodiscard]] const sim::History& history() const { return *recording().history; }
  [[nodiscard]] const std::vector<NamedRegister>& registers() const { return registers_; }
  /// The line of PTX of an op, and the line of the source; 0: none.
  [[nodiscard]] std::uint32_t line_of(std::uint32_t op) const;
  [[nodiscard]] std::uint32_t source_line_of(std::uint32_t op) const;
  /// The first moment from that one on in which the warp executes; as many as there are: none.
  [[nodiscard]] std::uint64_t next_of(std::uint32_t warp, std::uint64_t moment) const;
  /// "full[1]", "0x40".
  [[nodiscard]] std::string name_of_shared(std::uint64_t offset) const;

  /// The states, for one thread at a time.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] sim::HistoryCursor& cursor() { return cursor_; }

 private:
  driver::RunCapture capture_;
  std::vector<NamedRegister> registers_;
  std::vector<std::vector<std::uint32_t>> moments_;  // by warp
  std::mutex mutex_;
  sim::HistoryCursor cursor_;
};

class Recordings {
 public:
  static constexpr std::size_t kMaxRuns = 8;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{768} << 20U;

  /// Its number.
  std::uint64_t add(std::shared_ptr<StoredRun> run);
  /// Null: there is none, or it is gone.
  std::shared_ptr<StoredRun> find(std::uint64_t number);

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::deque<std::pair<std::uint64_t, std::shared_ptr<StoredRun>>> runs_;
};

}  // namespace ww::explore
