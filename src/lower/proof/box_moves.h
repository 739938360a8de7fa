// SPDX-License-Identifier: Apache-2.0
// Moves of names by the copy engine: cp.async.bulk.tensor, by the definition of the tensor map that it
// names. Neither the evaluator nor the virtual GPU shares any of this.
#pragma once

#include "ir/tensor_map.h"
#include "lower/proof/name_moves.h"

namespace ww::lower {

class BoxMoves : public NameMoves {
 public:
  BoxMoves(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
           int granule, std::int64_t first_thread)
      : NameMoves(call, values, src, dst, fill, granule, first_thread),
        tile_(call.tile),
        launch_(call.context.launch) {}

  /// What is wrong with the bytes that the mbarrier of the call hears of, where it has to hear of
  /// `bytes`; empty: nothing.
  [[nodiscard]] std::string count_fault(std::int64_t bytes) const;

 protected:
  Try<void> box(const ir::PtxCall& call, const Mask& mask);

 private:
  struct Map;
  struct Row;
  Try<void> check_mbarrier(ir::ExprId hears);
  Try<void> check_receivers(ir::ExprId mask);
  Try<Map> read_map(ir::ExprId expr);
  Try<void> box_of_thread(const Map& map, bool is_load, const std::vector<PerUnit>& corner,
                          const PointerValue& shared, std::size_t t);
  Try<void> row_of_box(const Map& map, const Row& row, const PointerValue& shared, bool is_load,
                       std::size_t t);

  const ir::TileCall& tile_;
  const ir::LaunchShape& launch_;
  std::int64_t counted_ = 0;
};

}  // namespace ww::lower
