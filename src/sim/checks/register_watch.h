// SPDX-License-Identifier: Apache-2.0
// Registers of wgmma. A wgmma.mma_async reads its A and changes its D some time until its group is
// waited for; until then
//
//   - nothing else may touch a register of D, or write one of A, and no other product may, but for
//     one of the same shape that adds to the same D (`async`)
//   - and before it is issued, a `wgmma.fence` must stand between what touched these registers last
//     and the instruction (`fence`); a `mov` behind the fence is let pass
//
// One watch belongs to each warp of a program with wgmma, while undefined bytes are tracked. It is
// told of every op before it runs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/op.h"
#include "sim/run/warpgroup.h"

namespace ww::sim {

class RegisterWatch {
 public:
  /// An op other than wgmma.mma_async is about to run in the executing lanes.
  void touch(Warp& warp);
  /// The warp has come to a wgmma.mma_async with these registers; `shape` is equal for products that
  /// may follow each other on one D.
  void issue(Warp& warp, std::span<const Place> d, std::span<const Place> a, std::uint32_t shape);
  void fence() { fenced_ = ++now_; }
  /// The op that waits, and for all but how many groups.
  void waited(std::uint32_t op) { last_wait_ = op; }

 private:
  /// What is known of a register. Times count ops of the warp.
  struct Slot {
    std::uint32_t touched = 0, written = 0;      // when, not by wgmma.mma_async
    std::uint32_t touch_op = 0, write_op = 0;    // which op
    std::uint32_t d_product = 0, a_product = 0;  // number of the last product with it
    std::uint32_t d_issued = 0, shape = 0;       // of that as D
  };
  /// Why a product must not meet a register as it is.
  enum class Clash : std::uint8_t { None, Fence, Shape, ChangesA, ReadsD };

  Slot& slot_of(const Warp& warp, Place place);
  [[nodiscard]] Clash clash_of(const Warp& warp, const Slot& slot, bool is_d,
                               std::uint32_t shape) const;
  void report_clash(Warp& warp, Clash clash, const Slot& slot, Place place);
  void report_touch(Warp& warp, const Slot& slot, std::string_view name, bool is_d, bool writes);

  std::vector<Slot> slots_;
  std::uint32_t now_ = 0, fenced_ = 0;
  std::uint32_t issued_ = 0;  // when the last product was
  std::uint32_t last_wait_ = kNoOp;
  /// By op of a product, the first op that touched its registers too early: one cause, one finding.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first_touch_;
};

}  // namespace ww::sim
