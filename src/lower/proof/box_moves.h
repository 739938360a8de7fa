// SPDX-License-Identifier: Apache-2.0
// Moves of names by the copy engine: cp.async.bulk.tensor, by the definition of the tensor map that it
// names (box_moves.cpp), cp.async.bulk (run_moves.cpp), and what reaches other CTAs (remote_moves.cpp).
// Neither the evaluator nor the virtual GPU shares any of this.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "ir/box_reduce.h"
#include "ir/tensor_map.h"
#include "lower/proof/name_walk.h"

namespace ww::lower {

class BoxMoves : public NameWalk {
 public:
  BoxMoves(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
           int granule, std::int64_t first_thread)
      : NameWalk(call, values, src, dst, fill, granule, first_thread),
        tile_(call.tile),
        launch_(call.context.launch) {}

  /// What is wrong with the bytes that the mbarrier of the call hears of, where it has to hear of
  /// `bytes`; empty: nothing.
  [[nodiscard]] std::string count_fault(std::int64_t bytes) const;

 protected:
  Try<void> box(const ir::PtxCall& call, const Mask& mask);
  Try<void> run_of_bytes(const ir::PtxCall& call, const Mask& mask);
  Try<void> map_address(const ir::PtxCall& call, const Mask& mask);
  Try<void> store_registers(const ir::PtxCall& call, const Mask& mask);
  /// Where an operand in brackets is, in the own CTA or in another.
  Try<PointerValue> address_of(const ir::PtxOperand& operand, const Mask& mask);

 private:
  struct Map;
  struct Row;
  Try<void> check_reduction(const ir::PtxCall& call);
  Try<void> check_mbarrier(ir::ExprId hears);
  Try<void> check_receivers(ir::ExprId mask);
  Try<Map> read_map(ir::ExprId expr);
  /// The mbarrier of the call, and no other, hears of the bytes.
  Try<void> check_hears(const ir::PtxOperand& mbarrier, std::size_t t);
  Try<void> check_unit(const PointerValue& side, std::size_t t);
  Try<void> box_of_thread(const Map& map, bool is_load, const std::vector<PerUnit>& corner,
                          const PointerValue& shared, std::size_t t);
  Try<void> row_of_box(const Map& map, const Row& row, const PointerValue& shared, bool is_load,
                       std::size_t t);

  /// What mapa has made: of which address, and where that is.
  struct Mapped {
    ir::ExprId from = {};
    std::optional<PointerValue> at = {};
  };
  Try<const Mapped*> mapped_at(const ir::PtxOperand& operand, std::size_t t);
  Try<PerUnit> remote_rank();

  const ir::TileCall& tile_;
  const ir::LaunchShape& launch_;
  std::map<std::tuple<std::uint32_t, std::int64_t, std::size_t>, Mapped>
      mapped_;  // by register: buffer, bit, thread
  std::int64_t counted_ = 0;
  std::set<std::int64_t> reduced_;  // bits of the array
};

}  // namespace ww::lower
