// SPDX-License-Identifier: Apache-2.0
// The values of scalar expressions in every thread of one unit, for lower/proof/proof.h. What is
// known at run time only takes sampled values. Floats, which are held
// as in lower/proof/scalars.h, are computed too: starts and predicates may be made from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stable_vec.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/proof/per_unit.h"
#include "lower/proof/unproven.h"

namespace ww::lower {

// --- sampled values ------------------------------------------------------------------------------

// What is known at run time only (parameters, CTA ids, loop variables around the call, memory), in one
// trial of a proof. Each such thing has a key, and keeps the value that was chosen when it was first
// asked for. Which values those are depends on the number of the sample: 0 takes the least, 1 the
// greatest (or a large one), others choose by chance, but one after the other where there are few.

/// Of what has few values, such as a loop variable: which of them were chosen, by key.
using FewValues = std::map<std::string, std::vector<bool>>;

class SampledValues {
 public:
  /// Choices among few values are noted in `few`, which must outlive this.
  SampledValues(int sample, FewValues& few);

  /// Has nothing been chosen yet?
  [[nodiscard]] bool empty() const { return chosen_.empty(); }
  /// A number of the range that `divisor` divides.
  std::int64_t within(const std::string& key, ir::Range range, std::int64_t divisor = 1);
  /// A scalar as in lower/proof/scalars.h: a float (of any range), a number of the range, or an
  /// address if it is a large uint32.
  std::int64_t of_type(ir::Type type, const std::string& key, ir::Range range);
  /// Chooses this value, unless one was chosen before.
  void prefer(const std::string& key, std::int64_t value) { chosen_.try_emplace(key, value); }
  /// How far behind a region of `extent` elements its buffer should end: at once, or almost, or by far;
  /// with `may_leave` also before it. `salt` makes dimensions differ.
  [[nodiscard]] std::int64_t room_behind(std::int64_t extent, bool may_leave,
                                         std::size_t salt) const;
  /// Notes the outcomes of a condition that no choice among few values makes: both should be tried.
  void note_outcome(const std::string& condition, const PerUnit& outcome);

 private:
  std::int64_t choose(const std::string& key, ir::Range range, std::int64_t divisor);
  [[nodiscard]] std::int64_t address(const std::string& key) const;

  int sample_;
  FewValues& few_;
  std::uint64_t random_;
  std::map<std::string, std::int64_t> chosen_;
};

// --- what is known already -----------------------------------------------------------------------

// The values of expressions that are known already, each with the variables that it was computed
// from: when one of those changes, the value is forgotten. The memo finds out which they are: a
// computation asks it for the values of its parts, and tells it each variable that it reads.

class ValueMemo {
 public:
  /// The value of the expression with this number. If it is not known, `compute` returns it, as a
  /// `Try<PerUnit>`, or says why not; failures are not remembered. The value stays where it is until
  /// a variable changes.
  template <typename Compute>
  Try<const PerUnit*> value(std::uint32_t number, Compute&& compute) {
    if (depth_ == 0) read_.clear();
    Entry& entry = at(number);
    if (entry.is_known) {
      if (depth_ > 0) read_.insert(read_.end(), entry.vars.begin(), entry.vars.end());
      return &entry.value;
    }
    const auto before = static_cast<std::ptrdiff_t>(read_.size());
    ++depth_;
    Try<PerUnit> out = compute();
    --depth_;
    if (!out) return std::move(out).failure();
    note_vars(number, entry.vars, before);
    entry.value = *std::move(out);
    entry.is_known = true;
    return &entry.value;
  }
  /// The variable is read by what is being computed.
  void note_read(ir::VarId var) { read_.push_back(var.index); }

  /// The variable has another value from now on.
  void forget(ir::VarId var) {
    const auto readers = readers_.find(var.index);
    if (readers == readers_.end()) return;
    for (const std::uint32_t number : readers->second) entries_[number].is_known = false;
  }
  void forget_all() {
    entries_ = {};
    readers_.clear();
  }

 private:
  struct Entry {
    PerUnit value;
    std::vector<std::uint32_t> vars = {};  // sorted
    bool is_known = false;
  };
  Entry& at(std::uint32_t number) {
    while (entries_.size() <= number) entries_.push_back({});
    return entries_[number];
  }
  /// The value was computed from the variables in `read_` from `before` on; they replace `vars`.
  void note_vars(std::uint32_t number, std::vector<std::uint32_t>& vars, std::ptrdiff_t before) {
    std::sort(read_.begin() + before, read_.end());
    read_.erase(std::unique(read_.begin() + before, read_.end()), read_.end());
    const auto read = std::span(read_).subspan(as_index(before));
    if (std::ranges::equal(read, vars)) return;
    for (const std::uint32_t var : read)
      if (!std::binary_search(vars.begin(), vars.end(), var)) readers_[var].push_back(number);
    vars.assign(read.begin(), read.end());
  }

  StableVec<Entry> entries_;  // by number: computing one adds others
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> readers_;  // by variable: numbers
  std::vector<std::uint32_t> read_;  // variables, by what is being computed
  int depth_ = 0;                    // of what is being computed
};

// --- values of a trial ---------------------------------------------------------------------------

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

Try<std::vector<std::int64_t>> extents_of(ProofValues& values, const ir::Region& region);
/// The two extents of a region that are not 1.
Try<std::pair<std::int64_t, std::int64_t>> matrix_extents(ProofValues& values,
                                                          const ir::Region& region);

}  // namespace ww::lower
