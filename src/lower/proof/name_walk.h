// SPDX-License-Identifier: Apache-2.0
// What the statements and instructions of a copy move: stores, shuffles, and what moves a matrix or
// puts registers together.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/fragment.h"
#include "lower/proof/name_moves.h"
#include "lower/proof/scalars.h"

namespace ww::lower {

/// What arrives instead of what is not copied: its value, as in lower/proof/scalars.h, and name.
struct Fill {
  scalars::Scalar value = 0;
  Name name = kZero;
};

class NameWalk : public ProofWalk {
 public:
  /// Names of granules in `src` go to `dst`.
  NameWalk(const Call& call, ProofValues& values, const Granules& src, Granules& dst, Fill fill,
           int granule, std::int64_t first_thread);

 protected:
  Try<void> allocate(const ir::Stmt& s) override;
  Try<void> store(const ir::Stmt& s, const Mask& mask) override;
  Try<void> matrix(const ir::PtxCall& call, bool is_load, const Mask& mask);
  Try<void> permute_bytes(const ir::PtxCall& call, const Mask& mask);
  Try<void> transpose(const ir::PtxCall& call, const Mask& mask);

  int granule_;
  ScratchOrder scratch_;
  NameMoves moves_;

 private:
  [[nodiscard]] Try<Name> name_of(scalars::Scalar value) const;
  /// `stored` goes to `to`, as many bits as the elements have.
  Try<void> store_value(const PointerValue& to, int bits, ir::ExprId stored, const Mask& mask);
  Try<void> store_shuffled(const PointerValue& to, int bits, ir::ExprId stored, const Mask& mask);
  Try<void> matrix_of_warp(const isa::Fragment& fragment,
                           const std::vector<PointerValue>& registers, const PointerValue& rows,
                           std::size_t first, bool is_load);
  Try<void> move_all(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                     const Mask& mask, const std::vector<std::size_t>& givers);

  Fill fill_;
  const ir::PtxCall* last_matrix_ = nullptr;  // the last matrix copy, and what it moves
  std::vector<isa::Fragment> fragments_;
};

}  // namespace ww::lower
