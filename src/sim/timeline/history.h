// SPDX-License-Identifier: Apache-2.0
// The states of one cluster, moment by moment: registers, shared and tensor memory, barriers, and who
// waits for what. A moment is one instruction that one warp executed; the state at a moment is the one
// before its instruction. Plain data, which history_writer.h fills in.
//
// Memory is kept as the first image of each region and, for each moment, what its instruction changed:
// old bytes XOR new bytes. Such a change leads forward and backward alike, so a cursor goes to a
// neighbouring moment in the time of one change, and anywhere in the time of reading the changes
// between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/lanes.h"
#include "sim/timeline/engine_work.h"
#include "sim/timeline/recording.h"

namespace ww::sim {

struct Moment {
  std::uint32_t op = 0;
  Mask lanes = 0;          // that executed it
  std::uint32_t step = 0;  // of the Recording
  std::uint32_t warp = 0;  // of the cluster
};

enum class HistoryPart : std::uint8_t {
  Registers,  // of a warp, in the frame of the kernel (sim/op.h says how they lie)
  UndefinedRegisters,
  Shared,           // of a CTA
  UndefinedShared,  // a byte for each: not 0 where nothing was written
  Tensor,           // of a CTA: cells of 32 bits, lane by lane
  UndefinedTensor,  // a byte for each cell: bit b for byte b
};

struct HistoryRegion {
  HistoryPart part{};
  std::uint32_t index = 0;  // warp of the cluster, or rank of the CTA
  std::vector<std::byte> first = {};
};

/// A warp's activity from a moment on.
struct WarpStatus {
  WarpState state = WarpState::Runs;
  bool has_ended = false;
  std::uint32_t op = kNoOp;   // of a wait: the instruction
  std::uint64_t subject = 0;  // AtBarrier: its number; AtMbarrier: its address

  friend bool operator==(const WarpStatus&, const WarpStatus&) = default;
};
struct StatusChange {
  std::uint64_t moment = 0;
  WarpStatus status = {};
};

/// What an mbarrier or a barrier of a CTA holds from a moment on.
struct BarrierStatus {
  bool is_alive = false;
  std::uint64_t phase = 0;
  std::int64_t expected = 0;  // arrivals of a phase; of a barrier: threads
  std::int64_t pending = 0;   // arrivals that the phase lacks; of a barrier: threads that came
  std::int64_t bytes = 0;     // that the phase expects and that are not there

  friend bool operator==(const BarrierStatus&, const BarrierStatus&) = default;
};
struct BarrierChange {
  std::uint64_t moment = 0;
  BarrierStatus status = {};
};
struct BarrierHistory {
  std::uint32_t cta = 0;     // rank
  bool is_mbarrier = false;  // else one of the 16
  std::uint32_t place = 0;   // offset in shared memory, or its number
  std::vector<BarrierChange> changes = {};
};

/// When something was first found.
struct FoundAt {
  std::uint64_t moment = 0;
  Check check{};
  std::uint32_t op = kNoOp, other = kNoOp;
};

struct History {
  std::vector<Moment> moments;
  bool is_cut = false;  // there were more than could be kept
  std::vector<HistoryRegion> regions;
  std::vector<std::byte> changes;                // ChangeHead and bytes, one after the other
  std::vector<std::uint64_t> change_begins;      // by moment, and one more: where its changes are
  std::vector<std::vector<StatusChange>> warps;  // by warp of the cluster
  std::vector<BarrierHistory> barriers;
  std::vector<FoundAt> findings;
  std::vector<EngineCopy> copies;  // in the order of their moments, as are
  std::vector<EngineProduct> products;

  /// The region, or nullptr.
  [[nodiscard]] const HistoryRegion* find(HistoryPart part, std::uint32_t index) const;
  [[nodiscard]] WarpStatus status_at(std::uint32_t warp, std::uint64_t moment) const;
  [[nodiscard]] static BarrierStatus status_at(const BarrierHistory& barrier, std::uint64_t moment);
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const;
};

/// The change that a moment's instruction made in a region.
struct ChangedBytes {
  std::uint32_t region = 0;
  std::uint32_t offset = 0;
  std::span<const std::byte> difference = {};  // old XOR new
};
std::vector<ChangedBytes> changes_of(const History& history, std::uint64_t moment);

/// All regions at one moment, which can be moved. The history must outlive it.
class HistoryCursor {
 public:
  explicit HistoryCursor(const History& history);

  /// To a moment; its number may be that of all moments, which is the end.
  void seek(std::uint64_t moment);
  [[nodiscard]] std::uint64_t moment() const { return moment_; }
  /// Of a region by its place in History::regions.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t region) const {
    return images_[region];
  }
  /// The same by name; empty where there is none.
  [[nodiscard]] std::span<const std::byte> bytes(HistoryPart part, std::uint32_t index) const;

 private:
  void apply(std::uint64_t moment);

  const History& history_;
  std::uint64_t moment_ = 0;
  std::vector<std::vector<std::byte>> images_;
};

/// How a change is stored; its bytes follow.
struct ChangeHead {
  std::uint32_t region = 0, offset = 0, size = 0;
};

}  // namespace ww::sim
