// SPDX-License-Identifier: Apache-2.0
// Fills in a History while a unit runs. After each op it compares memory with the previous state:
// instructions need no code for it, and a run without it pays nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/timeline/history.h"

namespace ww::sim {

class Cta;
struct Split;
class Unit;
class Warp;

/// The wait that stands for a warp without a lane that can run; nullptr: it can run, or has ended.
const Split* wait_of(const Warp& warp);
WarpState wait_state(const Split& split);

class HistoryWriter {
 public:
  /// No more is kept.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20U;
  static constexpr std::size_t kMaxMoments = 2'000'000;

  explicit HistoryWriter(const Unit& unit);

  /// The warp has executed its current op, in some lanes or in none, in that step.
  void op_done(const Warp& warp, Mask lanes, std::uint64_t step);
  /// The op that runs gives work to the copy engine or to the tensor core; its moment is filled in.
  void note(EngineCopy copy);
  void note(EngineProduct product);
  [[nodiscard]] std::shared_ptr<const History> take();

 private:
  void add_region(HistoryPart part, std::uint32_t index, const void* now, std::size_t size);
  void add_tensor(const Cta& cta);
  void compare(std::size_t region, const void* now, std::size_t size);
  void note_change(std::size_t region, std::size_t begin, std::size_t end, const std::byte* now);
  void compare_registers(const Warp& warp);
  void compare_memory();
  void note_warps();
  void note_barriers();
  void note_findings();

  const Unit& unit_;
  std::shared_ptr<History> out_;
  std::vector<std::vector<std::byte>> seen_;  // by region: its bytes after the last moment
  std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, std::size_t> barriers_;  // by place
  std::vector<std::size_t> tensors_;  // by CTA: the region, or none yet
  std::size_t findings_seen_ = 0;
  std::uint64_t activity_ = 0;
};

}  // namespace ww::sim
