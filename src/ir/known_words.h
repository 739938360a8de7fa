// SPDX-License-Identifier: Apache-2.0
// Operands that must stay unknown to ptxas.
//
// ptxas unpacks 8-bit floats to 16-bit ones half a word at a time: the operand of `cvt` from such a
// pair, and, from sm_90 to sm_110, operands of `mma`. Where it finds late, in unrolled loops and the
// like, that the word is a constant, the upper half becomes whatever its memory held before: the
// same PTX gives another program each time (seen with 13.0). So the emitters combine such words
// with a zero that ptxas cannot recognise: a bit of the clock that stays 0 for centuries.
#pragma once

#include <optional>
#include <set>

#include "ir/local_storage.h"
#include "ir/ptx_placement.h"
#include "target/target.h"

namespace ww::ir {

class KnownWords {
 public:
  KnownWords(const Function& f, target::Target target);

  /// Must the operand be hidden? One word of it that may be constant suffices.
  [[nodiscard]] bool must_hide(const PtxCall& call, const isa::Binding& binding,
                               const PlacedOperand& operand) const;

 private:
  [[nodiscard]] bool unpacks(const PtxCall& call, const isa::Binding& binding) const;
  [[nodiscard]] bool may_be_known(const PtxOperand& operand) const;
  [[nodiscard]] bool may_be_known(ExprId value) const;
  bool add_known(BufferId storage);
  bool look_at(const Stmt& s);
  bool look_at(const PtxCall& call);

  const Function& f_;
  bool is_used_ = false;       // there is such an instruction; all below is empty otherwise
  bool has_products_ = false;  // the target unpacks operands of `mma`
  std::optional<LocalStorage> storage_;
  std::set<std::uint32_t> known_;  // local arrays, by index
};

}  // namespace ww::ir
