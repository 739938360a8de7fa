// SPDX-License-Identifier: Apache-2.0
// Mbarriers whose first phase never completes: a thread certainly waits for it, and all arrivals in the
// kernel together are fewer than the barrier was made for. How many arrive is counted from above: threads
// that may come to an arrival, times the rounds of the loops around it. Only barriers whose every use is
// understood are judged, so what is reported is certain.
//
// A barrier of a ring is waited for in a loop, with a phase that the threads keep in a scalar. Where no
// arrival names it at all, the first round waits for ever, if the scalar is still 0 then: it is set to 0
// and flipped, and the first flip stands behind the wait.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/shared_size.h"
#include "ir/signatures.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"
#include "isa/form.h"

namespace ww::ir::verifying {
namespace {

constexpr std::int64_t kManyArrivals = std::int64_t{1} << 40;  // more than any barrier takes

/// The mbarriers of one buffer.
struct Barriers {
  bool is_known = true;               // every use is understood
  std::optional<std::int64_t> count;  // that the least of them was made for
  Span made = {};
  std::int64_t arrivals = 0;  // at most
  std::vector<std::pair<Span, std::int64_t>> sites = {};
  std::optional<StmtId> wait = {};   // for the first phase
  std::optional<StmtId> round = {};  // of a ring: a wait that is for it where its loop begins

  [[nodiscard]] std::optional<StmtId> hopeless() const {
    if (wait && arrivals < *count) return wait;
    return arrivals == 0 ? round : std::nullopt;
  }
};

/// How threads come to a statement.
struct Reached {
  std::int64_t times = 1;  // at most
  bool is_certain = true;  // some come
  bool is_in_loop = false;
  bool is_in_first_round =
      true;  // some do in the first round of every loop around it, if there is one
};

class ArrivalCheck {
 public:
  ArrivalCheck(Context& c, const LaunchShape& shape)
      : c_(c), f_(c.f), shape_(shape), sets_(ActiveSets::of(c.f, shape)) {}

  void go() {
    number(f_.body);
    block(f_.body, {});
    for (auto& [buffer, barriers] : found_)
      if (barriers.is_known && barriers.count && barriers.hopeless() && !shares_bytes(buffer))
        report(barriers);
  }

 private:
  // Statements in the order of the program, and where scalars are written.
  void number(const Block& stmts) {
    for_each_stmt(f_, stmts, [&](StmtId id) {
      order_[id.index] = order_.size();
      if (f_[id].kind == StmtKind::Store) stores_[f_[id].buffer].push_back(id);
    });
  }

  void block(const Block& stmts, Reached here) {
    for (const StmtId id : stmts) {
      const Stmt& s = f_[id];
      std::set<std::uint32_t> understood;  // expressions
      if (s.kind == StmtKind::Ptx) instruction(id, here.times, understood);
      if (s.kind == StmtKind::Evaluate) wait(id, here, understood);
      if (s.kind == StmtKind::Tile) copy(f_[s.tile], understood);
      for_each_root(f_, s, [&](ExprId root) {
        if (!understood.contains(root.index)) escapes(root);
      });
      const Reached below = below_of(s, id, here);
      block(s.body, below);
      block(s.other, below);
      // What stands behind them may not be reached.
      if (s.kind == StmtKind::Return || s.kind == StmtKind::Break || s.kind == StmtKind::Continue)
        here.is_certain = here.is_in_first_round = false;
    }
  }

  [[nodiscard]] Reached below_of(const Stmt& s, StmtId id, Reached here) const {
    const bool is_loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
    const auto trips = s.kind == StmtKind::For ? const_int(f_, s.args[1]) : std::nullopt;
    if (is_loop) {
      here.times =
          trips ? std::min(here.times * std::clamp<std::int64_t>(*trips, 0, 1 << 20), kManyArrivals)
                : kManyArrivals;
      // A loop in a loop may have its first round in a later round of that.
      const bool runs = trips ? *trips > 0 : !here.is_in_loop;
      here.is_in_first_round = here.is_in_first_round && runs;
      here.is_in_loop = true;
    }
    const bool narrows_only = s.kind != StmtKind::If || narrows(s, id);
    here.is_certain = here.is_certain && !is_loop && narrows_only;
    here.is_in_first_round = here.is_in_first_round && narrows_only;
    return here;
  }

  // A condition that decides by thread: no thread may go both ways.
  [[nodiscard]] bool narrows(const Stmt& s, StmtId id) const {
    const auto may = [&](const Block& of) {
      Threads out;
      if (!of.empty()) out = sets_[of.front()].may;
      return out;
    };
    if (!s.other.empty()) return (may(s.body) & may(s.other)).none();
    return may(s.body) != sets_[id].may;
  }

  Barriers* barriers_at(ExprId pointer) {
    const BufferId buffer = pointed_to(f_, c_.bound, pointer);
    return buffer.valid() && is_shared(f_[buffer].scope) ? &found_[buffer] : nullptr;
  }

  // Threads that may execute the statement.
  [[nodiscard]] std::int64_t threads_at(StmtId id) const {
    const ActiveSet& set = sets_[id];
    if (!set.one_lane_per_warp) return static_cast<std::int64_t>(set.may.count());
    std::set<std::size_t> warps;
    for (std::size_t t = 0; t < set.may.size(); ++t)
      if (set.may[t]) warps.insert(t / 32);
    return static_cast<std::int64_t>(warps.size());
  }

  void instruction(StmtId id, std::int64_t times, std::set<std::uint32_t>& understood) {
    const PtxCall& call = f_[f_[id].ptx];
    const isa::Mnemonic called = call.opcode.mnemonic();
    const bool is_barrier = called.text().starts_with("mbarrier.") || called == "tcgen05.commit";
    const bool is_copy = called == "cp.async.bulk" || called == "cp.async.bulk.tensor";
    if ((!is_barrier && !is_copy) || call.opcode.binding().has("multicast")) return;
    std::size_t at = is_copy ? call.operands.size() - 1 : 0;
    while (at < call.operands.size() && call.operands[at].kind != PtxOperandKind::Address) ++at;
    if (at == call.operands.size() || call.operands[at].offset.valid()) return;
    Barriers* barriers = barriers_at(call.operands[at].expr);
    if (barriers == nullptr) return;
    const auto value = at + 1 < call.operands.size() ? const_int(f_, call.operands[at + 1].expr)
                                                     : std::optional<std::int64_t>(1);
    if (called == "mbarrier.init") {
      make(*barriers, value, f_[id].span);
    } else if (called == "mbarrier.arrive" || called == "mbarrier.arrive.expect_tx" ||
               called == "tcgen05.commit") {
      const bool has_count = called == "mbarrier.arrive";
      arrive(*barriers, id, times, has_count ? value.value_or(kManyArrivals) : 1);
    } else if (called != "mbarrier.expect_tx" && called != "mbarrier.try_wait.parity" &&
               called != "mbarrier.test_wait.parity" && !is_copy) {
      return;  // inval, drops, states: not understood
    }
    understood.insert(call.operands[at].expr.index);
  }

  static void make(Barriers& barriers, std::optional<std::int64_t> count, Span span) {
    barriers.is_known = barriers.is_known && count;
    if (!count || (barriers.count && *barriers.count <= *count)) return;
    barriers.count = count;
    barriers.made = span;
  }

  void arrive(Barriers& barriers, StmtId id, std::int64_t times, std::int64_t count) const {
    const std::int64_t threads = threads_at(id);
    const std::int64_t most =
        threads == 0 || times == 0 ? 0
        : times >= kManyArrivals || count >= kManyArrivals
            ? kManyArrivals
            : std::min(times * threads * std::min<std::int64_t>(count, 1 << 20), kManyArrivals);
    barriers.arrivals = std::min(barriers.arrivals + most, kManyArrivals);
    barriers.sites.emplace_back(f_[id].span, most);
  }

  void wait(StmtId id, const Reached& here, std::set<std::uint32_t>& understood) {
    const Expr& e = f_[f_[id].expr];
    if (e.op != ExprOp::Call || e.callee != Intrinsic::MbarrierWait) return;
    Barriers* barriers = barriers_at(e.args[0]);
    if (barriers == nullptr) return;
    understood.insert(f_[id].expr.index);
    if (threads_at(id) == 0) return;
    const bool is_zero = const_int(f_, e.args[1]) == 0;
    if (is_zero && here.is_certain && !barriers->wait) barriers->wait = id;
    if (here.is_in_first_round && !barriers->round && (is_zero || starts_at_zero(e.args[1], id)))
      barriers->round = id;
  }

  // A scalar that is set to 0 and flipped, first behind the statement.
  [[nodiscard]] bool starts_at_zero(ExprId parity, StmtId at) const {
    const Expr& e = f_[parity];
    if (e.op != ExprOp::Load || f_[e.buffer].scope != Scope::Local) return false;
    const auto found = stores_.find(e.buffer);
    if (found == stores_.end()) return false;
    bool is_set = false;
    for (const StmtId id : found->second) {
      const bool is_before = order_.at(id.index) < order_.at(at.index);
      const bool is_zero = const_int(f_, f_[id].expr) == 0;
      if (is_before && !is_zero) return false;
      if (!is_zero && !flips(f_[id].expr, e.buffer)) return false;
      is_set = is_set || (is_before && is_zero);
    }
    return is_set;
  }
  [[nodiscard]] bool flips(ExprId value, BufferId scalar) const {
    const Expr& e = f_[value];
    return e.op == ExprOp::BitXor && f_[e.args[0]].op == ExprOp::Load &&
           f_[e.args[0]].buffer == scalar && const_int(f_, e.args[1]) == 1;
  }

  // Bytes complete a phase only when all have arrived.
  void copy(const TileCall& call, std::set<std::uint32_t>& understood) {
    const Setting* setting = mbarrier_setting(call);
    const auto* mbarrier = setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
    if (mbarrier != nullptr && barriers_at(*mbarrier) != nullptr)
      understood.insert(mbarrier->index);
  }

  // Whatever else is done with the address of a barrier, or its contents: arrivals from other CTAs too.
  void escapes(ExprId root) {
    if (!escaped_.insert(root.index).second) return;
    const Expr& e = f_[root];
    const bool is_use =
        e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData || e.op == ExprOp::Load;
    if (is_use && is_shared(f_[e.buffer].scope)) found_[e.buffer].is_known = false;
    for (const ExprId arg : e.args) escapes(arg);
  }

  // Does another buffer lie, or may it, where this one does?
  [[nodiscard]] bool shares_bytes(BufferId buffer) const {
    const auto own = bytes_of(buffer);
    const BufferId storage = storage_of(f_, buffer);
    for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
      const BufferId other{i};
      if (other == buffer || storage_of(f_, other) != storage) continue;
      if (other == storage && !found_.contains(other)) continue;  // a pool that only pieces use
      const auto bytes = bytes_of(other);
      if (!own || !bytes || (own->first < bytes->second && bytes->first < own->second)) return true;
    }
    return false;
  }

  // First byte in the storage, and the one behind the last.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> bytes_of(BufferId id) const {
    const Buffer& buffer = f_[id];
    const auto size = storage_bytes(f_, buffer);
    const auto offset = [&](ExprId expr) {
      return expr.valid() ? const_int(f_, expr) : std::optional<std::int64_t>(0);
    };
    const auto elements = offset(buffer.elem_offset), first = offset(buffer.byte_offset);
    if (!size || !elements || !first || buffer.pointer.valid()) return std::nullopt;
    const std::int64_t begin = *first + *elements * num::storage_bits(buffer.dtype) / 8;
    return std::pair{begin, begin + *size};
  }

  void report(const Barriers& barriers) {
    const StmtId wait = *barriers.hopeless();
    const std::string come = barriers.arrivals == 0 ? std::string("nothing arrives there")
                             : barriers.arrivals == 1
                                 ? std::string("at most 1 comes")
                                 : fmt::format("at most {} come", barriers.arrivals);
    c_.report(DiagKind::BadArgument, f_[wait].span,
              "the wait of {} never ends: the mbarrier at `{}` is made for {} arrival{}, and {}",
              to_text(sets_[wait], shape_), print(f_, f_[f_[wait].expr].args[0]), *barriers.count,
              *barriers.count == 1 ? "" : "s", come);
    std::vector<Note>& notes = c_.findings.back().notes;
    notes.push_back({"made here", barriers.made});
    constexpr std::size_t kMaxSites = 3;
    for (std::size_t i = 0; i < std::min(barriers.sites.size(), kMaxSites); ++i)
      notes.push_back(
          {fmt::format("at most {} here", barriers.sites[i].second), barriers.sites[i].first});
  }

  Context& c_;
  const Function& f_;
  const LaunchShape& shape_;
  ActiveSets sets_;
  std::map<BufferId, Barriers> found_;
  std::map<std::uint32_t, std::size_t> order_;      // of statements
  std::map<BufferId, std::vector<StmtId>> stores_;  // by buffer
  std::set<std::uint32_t> escaped_;                 // expressions that have been looked at
};

bool waits_for_mbarriers(const Function& f) {
  bool out = false;
  for_each_stmt(f, f.body, [&](StmtId id) {
    const Stmt& s = f[id];
    out = out || (s.kind == StmtKind::Evaluate && f[s.expr].op == ExprOp::Call &&
                  f[s.expr].callee == Intrinsic::MbarrierWait);
  });
  return out;
}

}  // namespace

void check_arrivals(Context& c, const LaunchShape& shape) {
  if (shape.threads() > static_cast<std::int64_t>(ir::kMaxThreads) || !waits_for_mbarriers(c.f))
    return;
  ArrivalCheck(c, shape).go();
}

}  // namespace ww::ir::verifying
