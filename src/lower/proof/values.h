// SPDX-License-Identifier: Apache-2.0
// The values of scalar expressions in every thread of one unit, for lower/proof/proof.h. What is
// known at run time only takes sampled values (lower/proof/sampled_values.h). Floats, which are held
// as in lower/proof/scalars.h, are computed too: starts and predicates may be made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lower/call.h"
#include "lower/proof/per_unit.h"
#include "lower/proof/sampled_values.h"
#include "lower/proof/unproven.h"
#include "lower/proof/value_memo.h"

namespace ww::lower {

/// A pointer: the buffer that owns the storage, and the bit in it that each thread points to.
struct PointerValue {
  ir::BufferId storage;
  PerUnit bit;
  bool is_remote = false;  // in the CTA that the call's `remote_cta_id=` names

  friend bool operator==(const PointerValue&, const PointerValue&) = default;
};

class ProofValues {
 public:
  /// The unit of `call` that begins with thread `first`; `sample` and `few` as in SampledValues.
  /// `tables` has what other trials of the same unit have computed.
  ProofValues(const Call& call, std::int64_t first, int sample, FewValues& few, UnitTables& tables);

  [[nodiscard]] std::size_t threads() const { return threads_; }
  /// Fails with what it does not know how to evaluate.
  Try<PerUnit> of(ir::ExprId expr);
  /// The same without a copy: stays where it is until a variable changes.
  Try<const PerUnit*> known(ir::ExprId expr);
  Try<PointerValue> pointer(ir::ExprId expr);
  /// The same in all threads, or an error.
  Try<std::int64_t> uniform(ir::ExprId expr);
  /// Where a storage begins in the shared window: a sampled address, aligned as the storage is.
  std::int64_t window_of(ir::BufferId storage);
  /// The bit of element 0 of a buffer in its storage.
  Try<PerUnit> start_of(ir::BufferId buffer);

  /// Chooses an extent `whole` that is known at run time only and was not asked for yet: one that a
  /// region of `extent` elements from `min` on just fits into, or almost, or by far; with
  /// `may_leave` also one that it leaves. `salt` makes dimensions differ.
  void prefer_near(ir::ExprId whole, std::int64_t min, std::int64_t extent, bool may_leave,
                   std::size_t salt);

  /// Did anything so far depend on a sampled value?
  [[nodiscard]] bool has_sampled() const { return !sampled_.empty(); }

  /// A register that counts has this value in all threads, from now on.
  void count(ir::BufferId counter, std::int64_t value);

  void set(ir::VarId var, PerUnit value);
  void set(ir::VarId var, PointerValue value);

 private:
  Try<PerUnit> compute(ir::ExprId expr);
  Try<PerUnit> variable(ir::ExprId expr);
  Try<PerUnit> operated(ir::ExprId expr);
  Try<PerUnit> new_operated(ir::ExprId expr, const PerUnit& a, const PerUnit& b);
  Try<PerUnit> loaded(ir::ExprId expr);
  Try<PerUnit> called(ir::ExprId expr);
  Try<PerUnit> tensor_address(const ir::Expr& e);
  Try<PerUnit> shared_address(const ir::Expr& e);
  PerUnit launch_variable(ir::VarId var);

  const Call& call_;
  ir::Function& f_;
  std::int64_t first_;
  std::size_t threads_;
  UnitTables& tables_;
  SampledValues sampled_;
  std::map<std::uint32_t, PerUnit> vars_;
  std::map<std::uint32_t, PointerValue> pointers_;
  std::map<std::uint32_t, std::int64_t> counts_;   // by buffer
  std::map<std::uint32_t, std::int64_t> windows_;  // by storage
  ValueMemo memo_;                                 // by Call::value_numbers
};

/// The two extents of a region that are not 1.
Try<std::pair<std::int64_t, std::int64_t>> matrix_extents(ProofValues& values,
                                                          const ir::Region& region);

}  // namespace ww::lower
