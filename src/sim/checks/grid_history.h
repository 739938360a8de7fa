// SPDX-License-Identifier: Apache-2.0
// Several launches over the same memory. A launch starts when those before it have ended, unless it is a
// programmatic dependent: then it may start while they run, and sees their writes only after
// `griddepcontrol.wait`. Here launches run in sequence; the history records which bytes each of
// them read and wrote, to find a dependent launch that accesses them too early
// (checks/grid_wait.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/memory/access_kind.h"
#include "sim/memory/memory.h"

namespace ww::sim {

/// The last launch that wrote and the last that read each byte of a region; 0: none.
struct GridRecord {
  std::vector<std::uint8_t> writer, reader;
};

/// What a launch of a sequence is called, and how it starts.
struct GridLaunch {
  std::string kernel;
  bool is_programmatic = false;
  bool has_waited = false;  // one of its threads, at least
};

class GridHistory {
 public:
  static constexpr std::size_t kMaxLaunches = 250;

  /// Records accesses to all regions that the memory has now, until it goes.
  explicit GridHistory(const GlobalMemory& memory);
  ~GridHistory();
  GridHistory(const GridHistory&) = delete;
  GridHistory& operator=(const GridHistory&) = delete;

  /// Another launch begins; kMaxLaunches at most.
  void begin(std::string kernel, bool is_programmatic);
  /// A thread of it has executed `griddepcontrol.wait`.
  void note_wait() { launches_.back().has_waited = true; }
  [[nodiscard]] const GridLaunch& launch(std::size_t number) const { return launches_[number - 1]; }

  /// Launches that may still run, from the first to the last; none if that is less. Numbers start at 1.
  struct Running {
    std::size_t first = 1, last = 0;
  };
  /// As a thread of the current launch sees it that has not waited, and one that has.
  [[nodiscard]] Running before_wait() const;
  [[nodiscard]] Running after_wait() const;

  /// An access that may come too early.
  struct Conflict {
    std::size_t launch = 0;
    bool writes = false;  // that launch; else it reads
  };
  /// What an access of the current launch meets of the others.
  [[nodiscard]] static std::optional<Conflict> conflict(const GridRecord& record, std::uint64_t at,
                                                        std::uint64_t bytes, AccessKind kind,
                                                        Running running);
  /// Notes an access of the current launch.
  void note(GridRecord& record, std::uint64_t at, std::uint64_t bytes, AccessKind kind) const;

 private:
  std::vector<GridLaunch> launches_;
  std::vector<Region*> regions_;
  std::vector<std::unique_ptr<GridRecord>> records_;
};

}  // namespace ww::sim
