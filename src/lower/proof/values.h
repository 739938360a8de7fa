// SPDX-License-Identifier: Apache-2.0
// The values of scalar expressions in every thread of one unit, for lower/proof/proof.h. What is
// known at run time only (parameters, CTA ids, loop variables around the call, memory) takes
// sampled values. Floats, which are held as in lower/proof/scalars.h, are computed too: starts and
// predicates may be made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stable_vec.h"
#include "lower/call.h"
#include "lower/proof/per_unit.h"
#include "lower/proof/unit_tables.h"
#include "lower/proof/unproven.h"

namespace ww::lower {

/// A pointer: the buffer that owns the storage, and the bit in it that each thread points to.
struct PointerValue {
  ir::BufferId storage;
  PerUnit bit;
  bool is_remote = false;  // in the CTA that the call's `remote_cta_id=` names

  friend bool operator==(const PointerValue&, const PointerValue&) = default;
};

/// Of what has few values, such as a loop variable: which of them were chosen, by name.
using FewValues = std::map<std::string, std::vector<bool>>;

class ProofValues {
 public:
  /// The unit of `call` that begins with thread `first`; `sample` chooses the values of what is
  /// known at run time only: 0 the least, 1 the greatest (or a large one), others by chance, but
  /// one after the other where there are few. Those are noted in `few`.
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
  [[nodiscard]] bool has_sampled() const { return !samples_.empty(); }

  /// A register that counts has this value in all threads, from now on.
  void count(ir::BufferId counter, std::int64_t value);

  void set(ir::VarId var, PerUnit value);
  void set(ir::VarId var, PointerValue value);

 private:
  using Values = Try<PerUnit>;
  /// A value, and the variables it was computed from: it is forgotten when one of them changes.
  struct Memo {
    PerUnit value;
    std::vector<std::uint32_t> vars = {};
    bool is_known = false;
  };
  void forget(ir::VarId var);
  /// value(thread) for all threads; for one of them where `is_same` in all.
  template <typename Value>
  PerUnit per_thread(bool is_same, Value&& value) const {
    if (is_same) return {threads_, value(std::size_t{0})};
    std::vector<std::int64_t> out(threads_);
    for (std::size_t t = 0; t < threads_; ++t) out[t] = value(t);
    return PerUnit(std::move(out));
  }
  Memo& memo_of(ir::ExprId expr);
  static const PerUnit& remember(Memo& memo, PerUnit value);
  Values compute(ir::ExprId expr);
  Values variable(ir::ExprId expr);
  Values changed(const ir::Expr& e);
  Values operated(ir::ExprId expr);
  Values new_operated(ir::ExprId expr, const PerUnit& a, const PerUnit& b);
  Values loaded(ir::ExprId expr);
  Values called(ir::ExprId expr);
  Values tensor_address(const ir::Expr& e);
  Values shared_address(const ir::Expr& e);
  PerUnit sampled(const std::string& key, ir::Range range, std::int64_t divisor);
  PerUnit sampled_by(ir::Type type, const std::string& key, ir::Range range);
  void sample_address(const std::string& key);
  void note_outcome(ir::ExprId expr, const PerUnit& outcome);
  /// The key of a variable among the samples.
  static std::string key_of(ir::VarId var);
  std::int64_t choose(const std::string& key, ir::Range range, std::int64_t divisor);
  PerUnit launch_variable(ir::VarId var);
  std::optional<PerUnit> thread_variable(ir::VarId var) const;

  const Call& call_;
  ir::Function& f_;
  std::int64_t first_;
  std::size_t threads_;
  int sample_;
  FewValues& few_;
  UnitTables& tables_;
  std::uint64_t random_;
  std::map<std::uint32_t, PerUnit> vars_;
  std::map<std::uint32_t, PointerValue> pointers_;
  std::map<std::uint32_t, std::int64_t> counts_;   // by buffer
  std::map<std::uint32_t, std::int64_t> windows_;  // by storage
  StableVec<Memo> memo_;                           // by Call::value_numbers
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>
      readers_;                      // by variable: numbers of expressions
  std::vector<std::uint32_t> read_;  // variables, by what is being computed
  int depth_ = 0;                    // of what is being computed
  std::map<std::string, std::int64_t> samples_;
};

/// The two extents of a region that are not 1.
Try<std::pair<std::int64_t, std::int64_t>> matrix_extents(ProofValues& values,
                                                          const ir::Region& region);

}  // namespace ww::lower
