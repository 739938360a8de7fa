// SPDX-License-Identifier: Apache-2.0
// Units run in parallel on host threads, and the results must not depend on which was first. They
// do not as long as no two units touch the same word of global memory in a way whose order matters.
// This class detects that; the launch then restarts and runs unit after unit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/memory/snapshot.h"

namespace ww::sim {

/// Who has touched a word: 0 none, a unit plus one, or as below.
struct WordOwners {
  static constexpr std::uint32_t kMany = 0xFFFF'FFFFU;    // of `read`: several units
  static constexpr std::uint32_t kAtomic = 0x8000'0000U;  // of `wrote`: and the name of the opcode
  std::atomic<std::uint32_t> wrote, read;
};

/// The global memory of a launch as it was before, and who touches what in it.
class Conflicts {
 public:
  static constexpr std::uint64_t kMaxUnits = WordOwners::kAtomic - 2;

  /// How much memory it takes at most.
  static std::uint64_t bytes_for(const GlobalMemory& memory) { return memory.bytes() * 4; }

  explicit Conflicts(GlobalMemory& memory);
  Conflicts(const Conflicts&) = delete;
  Conflicts& operator=(const Conflicts&) = delete;
  ~Conflicts();

  void note_read(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes,
                 std::uint64_t unit);
  void note_write(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes,
                  std::uint64_t unit);
  /// Without a result: those of one opcode may come in any order.
  void note_atomic(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes,
                   std::uint64_t unit, std::uint32_t opcode);
  [[nodiscard]] bool found() const { return found_.load(std::memory_order_relaxed); }

  /// Restores the memory.
  void restore() const { before_.restore(); }
  /// Notes nothing from now on.
  void stop_watching();

 private:
  template <typename Visit>
  void for_each_word(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes,
                     const Visit& visit);

  GlobalMemory& memory_;
  Snapshot before_;
  std::vector<WordOwners*> owners_;  // by number of the region
  std::atomic<bool> found_ = false;
};

}  // namespace ww::sim
