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
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/shared_size.h"
#include "ir/signatures.h"
#include "ir/simplify/fold.h"
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
      if (is_call(f_, s, Intrinsic::MbarrierWait)) wait(id, here, understood);
      if (s.kind == StmtKind::Tile) copy(f_[s.tile], understood);
      for_each_root(f_, s, [&](ExprId root) {
        if (!understood.contains(root.index)) escapes(root);
      });
      const Reached below = below_of(s, id, here);
      block(s.body, below);
      block(s.other, below);
      // What stands behind them may not be reached.
      if (s.kind == StmtKind::Return || s.is_jump())
        here.is_certain = here.is_in_first_round = false;
    }
  }

  [[nodiscard]] Reached below_of(const Stmt& s, StmtId id, Reached here) const {
    const auto trips = s.kind == StmtKind::For ? const_int(f_, s.trips()) : std::nullopt;
    if (s.is_loop()) {
      here.times =
          trips ? std::min(here.times * std::clamp<std::int64_t>(*trips, 0, 1 << 20), kManyArrivals)
                : kManyArrivals;
      // A loop in a loop may have its first round in a later round of that.
      const bool runs = trips ? *trips > 0 : !here.is_in_loop;
      here.is_in_first_round = here.is_in_first_round && runs;
      here.is_in_loop = true;
    }
    const bool narrows_only = s.kind != StmtKind::If || sets_.parts(s, id);
    here.is_certain = here.is_certain && !s.is_loop() && narrows_only;
    here.is_in_first_round = here.is_in_first_round && narrows_only;
    return here;
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
    if ((takes_address(e) || e.op == ExprOp::Load) && is_shared(f_[e.buffer].scope))
      found_[e.buffer].is_known = false;
    for (const ExprId arg : e.args) escapes(arg);
  }

  // Does another buffer lie, or may it, where this one does?
  [[nodiscard]] bool shares_bytes(BufferId buffer) const {
    const auto own = storage_part(f_, f_[buffer]);
    const BufferId storage = storage_of(f_, buffer);
    for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
      const BufferId other{i};
      if (other == buffer || storage_of(f_, other) != storage) continue;
      if (other == storage && !found_.contains(other)) continue;  // a pool that only pieces use
      const auto bytes = storage_part(f_, f_[other]);
      const bool is_known = own && bytes && !f_[buffer].pointer.valid();
      if (!is_known || own->meets(*bytes)) return true;
    }
    return false;
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
  return any_stmt(f, f.body, [&](const Stmt& s) { return is_call(f, s, Intrinsic::MbarrierWait); });
}
}  // namespace

void check_arrivals(Context& c, const LaunchShape& shape) {
  if (shape.threads() > static_cast<std::int64_t>(ir::kMaxThreads) || !waits_for_mbarriers(c.f))
    return;
  ArrivalCheck(c, shape).go();
}

// --- bytes ---------------------------------------------------------------------------------------
//
// Bytes that an mbarrier is told to expect, against those of the copies that name it. Where both stand
// in one block, the phase is that block's: another sum would leave it incomplete for ever, or complete
// it too early. Copies in a block that expects nothing may be for the same phase: no error then.
//
// Each CTA of a cluster is counted for itself: a copy with `cta_mask=` brings its bytes to every CTA of
// the mask, from every CTA that starts it. A condition on the rank alone does not begin another block.

namespace {

// --- values in a cluster -------------------------------------------------------------------------
//
// Values of expressions in each CTA of a cluster, as far as they follow from constants and from where
// the CTA is in its cluster: masks of CTAs, and conditions on a CTA's rank.

/// A bit for each CTA of a cluster, by rank.
using CtaMask = std::uint16_t;
inline bool has_cta(CtaMask ctas, std::size_t rank) {
  return (std::uint32_t{ctas} >> rank & 1U) != 0;
}

class ClusterValues {
 public:
  /// `bound`: the values of names (ir/signatures.h).
  ClusterValues(const Function& function, const std::vector<ExprId>& bound,
                const LaunchShape& shape)
      : f_(function), bound_(bound), shape_(shape), ids_(id_bindings(function)) {}

  [[nodiscard]] std::size_t ctas() const { return static_cast<std::size_t>(shape_.cluster_ctas()); }
  [[nodiscard]] CtaMask all() const { return static_cast<CtaMask>((1U << ctas()) - 1); }

  /// The value in the CTA of that rank; nothing when it depends on anything else.
  [[nodiscard]] std::optional<std::int64_t> in_cta(ExprId expr, std::size_t rank) const {
    if (!expr.valid() || !f_[expr].type.is_scalar()) return std::nullopt;
    const Expr& e = f_[expr];
    if (e.op == ExprOp::IntImm) return e.integer;
    return e.op == ExprOp::Var ? variable(e, rank) : operated(e, rank);
  }

  /// The CTAs in which a condition holds; nothing when it depends on anything else.
  [[nodiscard]] std::optional<CtaMask> where(ExprId condition) const {
    CtaMask out = 0;
    for (std::size_t rank = 0; rank < ctas(); ++rank) {
      const auto value = in_cta(condition, rank);
      if (!value) return std::nullopt;
      if (*value != 0) out = static_cast<CtaMask>(out | 1U << rank);
    }
    return out;
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> variable(const Expr& e, std::size_t rank) const {
    if (f_[e.var].kind == VarKind::Let && e.var.index < bound_.size())
      return in_cta(bound_[e.var.index], rank);
    const IdBinding& id = ids_[e.var.index];
    if (f_[e.var].kind != VarKind::ScopeId || !id.stmt.valid()) return std::nullopt;
    const Stmt& declared = f_[id.stmt];
    if (declared.scope_id != ScopeIdKind::CtaIdInCluster) return std::nullopt;
    const auto number = static_cast<std::int64_t>(rank);
    const auto& cluster = shape_.cluster;
    const ThreadPlace place{.cta = {number % cluster[0], number / cluster[0] % cluster[1],
                                    number / (cluster[0] * cluster[1])}};
    return scope_id_value(shape_, declared.scope_id, id.dim, declared.vars.size(), cluster, place);
  }

  [[nodiscard]] std::optional<std::int64_t> operated(const Expr& e, std::size_t rank) const {
    if (e.args.empty() || e.args.size() > 2 || !(e.type.is_int() || e.type.is_bool()))
      return std::nullopt;
    const auto a = in_cta(e.args[0], rank), b = in_cta(e.args.back(), rank);
    if (!a || !b) return std::nullopt;
    if (e.op == ExprOp::Cast) return wrap(e.type.dtype, *a);
    if (e.op == ExprOp::Not) return *a == 0 ? 1 : 0;
    const auto out = int_result(e.op, *a, *b, f_[e.args[0]].type);
    return out ? std::optional(wrap(e.type.dtype, *out)) : std::nullopt;
  }

  const Function& f_;
  const std::vector<ExprId>& bound_;
  const LaunchShape& shape_;
  std::vector<IdBinding> ids_;
};

constexpr int kMaxCtas = 16;  // of a cluster

/// What a block says about one mbarrier, in each CTA of the cluster.
struct Phase {
  ExprId mbarrier = {};
  std::array<std::int64_t, kMaxCtas> expected = {}, copied = {};
  CtaMask expecting = 0, sending = 0;  // CTAs that expect bytes, CTAs that start copies
  Span expects = {}, copies = {};
  bool is_shared_out = false;  // copies go to other CTAs
  bool is_known = true;        // all numbers are constants
};

// Bytes of a copy that an mbarrier hears of; nothing when they are known at run time only.
std::optional<std::int64_t> bytes_of(const Function& f, const TileCall& call) {
  const auto* region = std::get_if<Region>(&call.args[0]);
  if (region == nullptr) return std::nullopt;
  std::int64_t bits = num::storage_bits(f[region->buffer].dtype);
  for (const RangeExpr& range : region->ranges) {
    const auto extent = const_int(f, range.extent);
    if (!extent || *extent < 0 || *extent > (std::int64_t{1} << 30)) return std::nullopt;
    bits = std::min(bits * *extent, std::int64_t{1} << 50);
  }
  return bits / 8;
}

class ExpectedBytes {
 public:
  ExpectedBytes(Context& c, const LaunchShape& shape)
      : c_(c), f_(c.f), cluster_(c.f, c.bound, shape) {}

  void run() {
    block(f_.body, cluster_.all());
    for (const Phase& phase : phases_) compare(phase);
  }

 private:
  static const ExprId* mbarrier_of(const Function& f, const Stmt& s) {
    if (s.kind != StmtKind::Tile || f[s.tile].op != TileOp::CopyAsync) return nullptr;
    // Another CTA's mbarrier hears of it; which copies come to this one is not seen here.
    if (remote_operand(f, f[s.tile])) return nullptr;
    const Setting* setting = mbarrier_setting(f[s.tile]);
    return setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
  }

  // The barriers of a buffer belong together: stages of a ring.
  using Barriers = std::pair<BufferId, ExprId>;  // of a buffer, or behind a pointer
  [[nodiscard]] Barriers barriers_of(ExprId pointer) const {
    const BufferId buffer = pointed_to(f_, c_.bound, pointer);
    return {buffer, buffer.valid() ? ExprId{} : pointer};
  }

  // Some CTAs send to others, which may have bytes to expect from others still.
  [[nodiscard]] bool is_from_some(const Phase& phase) const {
    return phase.is_shared_out && phase.sending != cluster_.all();
  }

  // A block that these CTAs execute.
  void block(const Block& stmts, CtaMask ctas) {
    std::vector<Phase> here;
    statements(stmts, ctas, here);
    for (const Phase& phase : here) {
      const Barriers barriers = barriers_of(phase.mbarrier);
      if (phase.sending != 0 && phase.expecting == 0) elsewhere_.insert(barriers);
      if (is_from_some(phase)) ++senders_[barriers];
    }
    phases_.insert(phases_.end(), here.begin(), here.end());
  }

  void statements(const Block& stmts, CtaMask ctas, std::vector<Phase>& here) {
    for (const StmtId id : stmts) {
      const Stmt& s = f_[id];
      if (const ExprId* mbarrier = mbarrier_of(f_, s)) add_copy(phase_of(here, *mbarrier), s, ctas);
      if (s.kind == StmtKind::Ptx) add_expectation(here, f_[s.ptx], s.span, ctas);
      add_remote(s);
      const auto holds =
          s.kind == StmtKind::If && cluster_.ctas() > 1 ? cluster_.where(s.expr) : std::nullopt;
      if (!holds) {
        block(s.body, ctas);
        block(s.other, ctas);
        continue;
      }
      statements(s.body, ctas & *holds, here);
      statements(s.other, static_cast<CtaMask>(ctas & ~*holds), here);
    }
  }

  // Bytes come to all barriers at that place from other CTAs.
  void add_remote(const Stmt& s) {
    if (s.kind != StmtKind::Tile || !remote_operand(f_, f_[s.tile])) return;
    const Setting* setting = mbarrier_setting(f_[s.tile]);
    const auto* mbarrier = setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
    if (mbarrier != nullptr) elsewhere_.insert(barriers_of(*mbarrier));
  }

  Phase& phase_of(std::vector<Phase>& phases, ExprId mbarrier) {
    for (Phase& each : phases)
      if (same(f_, each.mbarrier, mbarrier)) return each;
    return phases.emplace_back(Phase{.mbarrier = mbarrier});
  }

  // The CTAs that get what the CTA of a rank sends; nothing when they are known at run time only.
  [[nodiscard]] std::optional<CtaMask> receivers(const TileCall& call, std::size_t rank) const {
    const Setting* setting = cta_mask_setting(call);
    if (setting == nullptr) return static_cast<CtaMask>(1U << rank);
    if (const auto* number = std::get_if<std::int64_t>(setting))
      return static_cast<CtaMask>(*number);
    const auto* expr = std::get_if<ExprId>(setting);
    const auto value = expr == nullptr ? std::nullopt : cluster_.in_cta(*expr, rank);
    if (!value) return std::nullopt;
    return static_cast<CtaMask>(*value);
  }

  void add_copy(Phase& phase, const Stmt& s, CtaMask ctas) {
    const TileCall& call = f_[s.tile];
    const auto bytes = bytes_of(f_, call);
    phase.is_known = phase.is_known && bytes && copy_settings(call).predicate == nullptr;
    phase.is_shared_out = phase.is_shared_out || cta_mask_setting(call) != nullptr;
    phase.sending |= ctas;
    phase.copies = s.span;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(ctas, rank)) continue;
      const auto to = receivers(call, rank);
      phase.is_known = phase.is_known && to;
      for (std::size_t each = 0; to && each < cluster_.ctas(); ++each)
        if (has_cta(*to, each)) phase.copied[each] += bytes.value_or(0);
    }
  }

  // state, [address], bytes
  void add_expectation(std::vector<Phase>& phases, const PtxCall& call, Span span, CtaMask ctas) {
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called != "mbarrier.arrive.expect_tx" && called != "mbarrier.expect_tx") return;
    std::size_t at = 0;
    while (at < call.operands.size() && call.operands[at].kind != PtxOperandKind::Address) ++at;
    if (at + 1 >= call.operands.size() || call.operands[at].offset.valid()) return;
    Phase& phase = phase_of(phases, call.operands[at].expr);
    phase.is_known = phase.is_known && !call.predicate.valid();
    phase.expecting |= ctas;
    phase.expects = span;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(ctas, rank)) continue;
      const auto bytes = cluster_.in_cta(call.operands[at + 1].expr, rank);
      phase.is_known = phase.is_known && bytes;
      phase.expected[rank] += bytes.value_or(0);
    }
  }

  // Blocks that expect nothing, and blocks of other CTAs, may bring bytes of the same phase.
  [[nodiscard]] bool is_whole(const Phase& phase) const {
    const Barriers barriers = barriers_of(phase.mbarrier);
    const auto senders = senders_.find(barriers);
    const int others =
        (senders == senders_.end() ? 0 : senders->second) - (is_from_some(phase) ? 1 : 0);
    return phase.sending != 0 && phase.is_known && !elsewhere_.contains(barriers) && others == 0;
  }

  void compare(const Phase& phase) {
    if (!is_whole(phase)) return;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(phase.expecting, rank) || phase.expected[rank] == phase.copied[rank]) continue;
      c_.report(DiagKind::BadTileCall, phase.expects,
                "the mbarrier at `{}` expects {} bytes{}, and the copies that name it bring {}",
                print(f_, phase.mbarrier), phase.expected[rank],
                phase.is_shared_out ? fmt::format(" in CTA {} of the cluster", rank) : "",
                phase.copied[rank]);
      c_.findings.back().notes.push_back({"the last of them", phase.copies});
      return;
    }
  }

  Context& c_;
  const Function& f_;
  ClusterValues cluster_;
  std::vector<Phase> phases_;        // by block
  std::set<Barriers> elsewhere_;     // barriers with copies in a block that expects nothing
  std::map<Barriers, int> senders_;  // by barriers: blocks in which some CTAs send to others
};

}  // namespace

void check_expected_bytes(Context& c) {
  const auto shape = launch_shape(c.f);  // what is wrong with it is reported elsewhere
  if (!shape || shape->cluster_ctas() > std::int64_t{kMaxCtas}) return;
  ExpectedBytes(c, *shape).run();
}

}  // namespace ww::ir::verifying
