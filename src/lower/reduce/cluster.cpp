// SPDX-License-Identifier: Apache-2.0
// sum, prod, max, min, any, all, argmax, argmin / cluster: of a tile that the CTAs of a cluster hold
// together. Threads, lanes and warps fold as in `warps`; a few threads of each CTA fold the parts of its
// warps and send the CTA's part into the shared memory of every CTA that wants the result; the threads
// that hold the result wait for the parts of all CTAs, and fold them in the order of the CTAs from their
// own shared memory. It needs sm_90 and a launch with `T.cta_id_in_cluster`.
//
//     Tx.cluster.sum(total[0:1], A[0:512])           A float32, an element in each of 4 x 128 threads
//
//     part[0] = A[0]                                 then five butterflies
//     if threadIdx_x % 32 == 0:
//         between[threadIdx_x // 32] = part[0]
//     if threadIdx_x == 0:
//         T.ptx["mbarrier.arrive.expect_tx.shared.b64"](_, [arrived], 16)
//     T.cuda.cta_sync()
//     if threadIdx_x < 4:
//         folded[0] = between[0] + between[1] + between[2] + between[3]
//         T.ptx["mapa.shared::cluster.u32"](there[0], address of received[rank], threadIdx_x)
//         T.ptx["mapa.shared::cluster.u32"](there[1], address of arrived, threadIdx_x)
//         T.ptx["st.async.shared::cluster.mbarrier::complete_tx::bytes.f32"]([there[0]], folded[0], [there[1]])
//     T.cuda.mbarrier_wait(arrived, 0)
//     total[0] = received[0] + received[1] + received[2] + received[3]
//
// `between`, `received` and the mbarrier `arrived` belong to this call alone, and it is made once, so that
// nothing is used again. A CTA does not end before all parts for it have come: some of its threads wait
// for them. Nothing is sent to a CTA that has ended, because only these parts are. Where the kernel
// begins, one thread of each CTA makes its mbarriers, and the CTAs arrive at a barrier for which the
// first reduction waits: then all of them run, and may be written to.
//
// A call in a loop, or with a `workspace=`, uses `st.shared::cluster`, and a barrier of the cluster in
// place of the wait. `between` is then shared: the next reduction writes it at the earliest, behind this
// one's barrier. `received` is written again behind the barrier of another reduction in the same loop,
// or, if there is none and with a workspace, the call begins with a barrier of the cluster. All threads
// of the cluster must come to the call.
#include <algorithm>
#include <map>
#include <set>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/parts.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::reduce_cluster {
namespace {

using ir::ExprId;
using ir::TileOp;
using Numbers = std::vector<std::int64_t>;

/// Part `row` of these threads, at a place by a formula of the thread.
struct Deposit {
  std::int64_t row = 0;
  std::vector<bool> threads;
  ThreadFormula place;
};
/// What threads fold from parts that begin at a place by a formula.
struct Collection {
  std::vector<std::vector<bool>> threads;  // by part: which threads have it
  ThreadFormula place;
};
/// A part of the CTA: into place `to` of the memory of CTA `cta`.
struct Push {
  Collection parts;
  ThreadFormula cta, to;
};
struct Result {
  std::int64_t slot = 0;
  Collection parts;
};

/// The bytes that a CTA gets, by one of its threads.
struct Expectation {
  std::vector<bool> threads = {};
  ThreadFormula bytes = {};
};

struct Plan {
  PartsPlan parts;
  std::int64_t own = 0, received = 0;  // elements of scratch memory
  bool is_async = false;               // parts are sent, and waited for at an mbarrier
  std::string why_not = {};
  Expectation expectation = {};
  std::vector<Deposit> deposits;
  std::vector<Push> pushes;     // one after the other
  std::vector<Result> results;  // by slot
};

// Without the type.
constexpr std::string_view kSend = "st.async.shared::cluster.mbarrier::complete_tx::bytes.";

std::string_view suffix_of(num::DType type) {
  switch (type) {
    case num::DType::Float32:
      return "f32";
    case num::DType::Float64:
      return "f64";
    case num::DType::Int32:
      return "s32";
    case num::DType::Uint32:
      return "u32";
    case num::DType::Int64:
      return "s64";
    default:
      return "u64";
  }
}

// --- match ---------------------------------------------------------------------------------------

/// The parts of one element of the destination, by the CTA whose warps have them.
using CtaParts = std::map<std::int64_t, std::vector<WarpPart>>;

class Matching {
 public:
  Matching(const Call& call, const ReduceProblem& problem)
      : call_(call), p_(problem), of_cta_(call.context.launch.threads()) {}

  Match<Plan> run() {
    LaneParts lanes(p_);
    Plan plan{
        .parts = WW_TRY(parts_plan(call_, p_, lanes)), .deposits = {}, .pushes = {}, .results = {}};
    for (const std::vector<WarpPart>& parts : WW_TRY(lanes.warp_parts(call_))) {
      CtaParts& by_cta = parts_.emplace_back();
      for (const WarpPart& part : parts) by_cta[part.thread / of_cta_].push_back(part);
      most_ctas_ = std::max(most_ctas_, std::ssize(by_cta));
      for (const auto& [cta, of_warps] : by_cta)
        most_warps_ = std::max(most_warps_, std::ssize(of_warps));
    }
    plan.own = p_.results() * most_warps_;
    plan.received = p_.results() * most_ctas_;
    choose_protocol(plan);
    WW_TRY_VOID(check_cluster_scratch(call_, p_.type, plan.own, plan.received, plan.is_async));
    plan.deposits = WW_TRY(deposits());
    const std::vector<Wanted> wanted = WW_TRY(wanted_of(call_, p_));
    plan.pushes = WW_TRY(pushes(wanted));
    if (plan.is_async) plan.expectation = WW_TRY(expectation(wanted));
    plan.results = WW_TRY(results(wanted));
    return plan;
  }

 private:
  void choose_protocol(Plan& plan) const {
    const std::string opcode = fmt::format("{}{}", kSend, suffix_of(p_.type));
    if (!call_.tile.workspace.empty())
      plan.why_not = "a workspace is given";
    else if (call_.is_in_loop)
      plan.why_not = "the call is in a loop";
    else if (!is_on_target(opcode, call_.context.target))
      plan.why_not = "the target has no st.async";
    plan.is_async = plan.why_not.empty();
  }

  // Thread 0 of each CTA that wants something: as many bytes as there are parts of it.
  [[nodiscard]] Match<Expectation> expectation(const std::vector<Wanted>& wanted) const {
    Expectation out{.threads = no_threads(), .bytes = {}};
    Numbers bytes = zeros();
    std::set<std::pair<std::int64_t, std::int64_t>> seen;  // CTA, element
    for (const Wanted& each : wanted) {
      const std::int64_t cta = each.thread / of_cta_;
      if (!seen.emplace(cta, each.into).second) continue;
      out.threads[as_index(cta * of_cta_)] = true;
      bytes[as_index(cta * of_cta_)] +=
          std::ssize(parts_[as_index(each.into)]) * num::bits_of(p_.type) / 8;
    }
    out.bytes = WW_TRY(formula(bytes, out.threads, "how many bytes CTAs get of elements"));
    return out;
  }

  [[nodiscard]] std::vector<bool> no_threads() const {
    return std::vector<bool>(as_index(p_.threads));
  }
  [[nodiscard]] Numbers zeros() const { return Numbers(as_index(p_.threads)); }

  [[nodiscard]] Match<ThreadFormula> formula(const Numbers& numbers, const std::vector<bool>& used,
                                             std::string_view what) const {
    auto out = thread_formula(numbers, used);
    if (!out) return decline("irregular", "no formula says {} of `{}`", what, call_.buffer(0).name);
    return *std::move(out);
  }

  // All threads of one row by one formula.
  [[nodiscard]] Match<std::vector<Deposit>> deposits() const {
    std::vector<Deposit> out;
    for (std::int64_t row = 0; row < std::ssize(p_.rows); ++row) {
      Deposit deposit{.row = row, .threads = no_threads(), .place = {}};
      Numbers places = zeros();
      for (std::size_t into = 0; into < parts_.size(); ++into)
        for (const auto& [cta, of_warps] : parts_[into])
          for (std::size_t k = 0; k < of_warps.size(); ++k) {
            if (of_warps[k].row != row) continue;
            deposit.threads[as_index(of_warps[k].thread)] = true;
            places[as_index(of_warps[k].thread)] =
                static_cast<std::int64_t>(into) * most_warps_ + static_cast<std::int64_t>(k);
          }
      if (std::ranges::find(deposit.threads, true) == deposit.threads.end()) continue;
      deposit.place = WW_TRY(
          formula(places, deposit.threads, "where the parts of warps go that make elements"));
      out.push_back(std::move(deposit));
    }
    return out;
  }

  /// A CTA that wants an element of the destination.
  struct Want {
    std::int64_t into, cta;
    friend auto operator<=>(const Want&, const Want&) = default;  // NOLINT(modernize-use-nullptr)
  };
  // In each CTA, thread t makes the pushes t, t + threads, …
  [[nodiscard]] Match<std::vector<Push>> pushes(const std::vector<Wanted>& wanted) const {
    std::vector<Want> wants;
    wants.reserve(wanted.size());
    for (const Wanted& each : wanted) wants.push_back({each.into, each.thread / of_cta_});
    std::ranges::sort(wants);
    wants.erase(std::unique(wants.begin(), wants.end()), wants.end());
    std::vector<Push> out;
    for (std::int64_t first = 0; first < std::ssize(wants); first += of_cta_) {
      const std::int64_t count = std::min(of_cta_, std::ssize(wants) - first);
      out.push_back(WW_TRY(push_of(std::span(wants).subspan(as_index(first), as_index(count)))));
    }
    return out;
  }
  [[nodiscard]] Match<Push> push_of(std::span<const Want> wants) const {
    Push push;
    Numbers from = zeros(), cta = zeros(), to = zeros();
    for (std::int64_t u = 0; u < p_.threads; ++u) {
      if (u % of_cta_ >= std::ssize(wants)) continue;
      const Want& want = wants[as_index(u % of_cta_)];
      const CtaParts& all = parts_[as_index(want.into)];
      const auto own = all.find(u / of_cta_);
      if (own == all.end()) continue;
      from[as_index(u)] = want.into * most_warps_;
      cta[as_index(u)] = want.cta;
      to[as_index(u)] = want.into * most_ctas_ + std::distance(all.begin(), own);
      add_parts(push.parts, u, std::ssize(own->second));
    }
    const std::vector<bool>& used = push.parts.threads[0];
    push.parts.place = WW_TRY(formula(from, used, "where the parts of warps are of elements"));
    push.cta = WW_TRY(formula(cta, used, "which CTAs want elements"));
    push.to = WW_TRY(formula(to, used, "where the parts of CTAs go that make elements"));
    return push;
  }
  void add_parts(Collection& out, std::int64_t thread, std::int64_t count) const {
    while (std::ssize(out.threads) < count) out.threads.push_back(no_threads());
    for (std::int64_t k = 0; k < count; ++k) out.threads[as_index(k)][as_index(thread)] = true;
  }

  [[nodiscard]] Match<std::vector<Result>> results(const std::vector<Wanted>& wanted) const {
    std::vector<Result> out;
    for (auto first = wanted.begin(); first != wanted.end();) {
      const auto last =
          std::find_if(first, wanted.end(), [&](const Wanted& w) { return w.slot != first->slot; });
      Result result{.slot = first->slot, .parts = {}};
      Numbers places = zeros();
      for (; first != last; ++first) {
        places[as_index(first->thread)] = first->into * most_ctas_;
        add_parts(result.parts, first->thread, std::ssize(parts_[as_index(first->into)]));
      }
      result.parts.place =
          WW_TRY(formula(places, result.parts.threads[0], "which elements a register holds"));
      out.push_back(std::move(result));
    }
    return out;
  }

  const Call& call_;
  const ReduceProblem& p_;
  std::int64_t of_cta_;
  std::vector<CtaParts> parts_;  // by element of the destination
  std::int64_t most_warps_ = 1, most_ctas_ = 1;
};

Match<Plan> match(const Call& call) {
  if (!call.is_of_cluster())
    return decline("scope", "{} scope, expected cluster", ir::name_of(call.tile.scope));
  WW_TRY_VOID(check_target(call, "shared memory of other CTAs", target::Feature::Sm90));
  const ir::LaunchShape& launch = call.context.launch;
  if (!launch.has_clusters)
    return decline("scope", "the launch has no clusters, expected `T.cta_id_in_cluster([n])`");
  if (launch.threads() % kLanesOfWarp != 0)
    return decline("threads", "{} threads are not whole warps", launch.threads());
  const ReduceProblem problem = WW_TRY(reduce_problem(call));
  return Matching(call, problem).run();
}

// --- emit ----------------------------------------------------------------------------------------

bool begins_with_barrier(const Plan& plan, const Call& call) {
  return !plan.is_async && (call.may_repeat || !call.tile.workspace.empty());
}

class Emitting {
 public:
  Emitting(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), writer_(plan.parts, call, code) {}

  void run() {
    writer_.write();
    const num::DType type = plan_.parts.problem.type;
    scratch_ = cluster_scratch(call_, code_, type, plan_.own, plan_.received, plan_.is_async);
    folded_ = code_.registers("folded", type, 1);
    there_ = code_.registers("there", num::DType::Uint32, plan_.is_async ? 2 : 1);
    if (begins_with_barrier(plan_, call_)) code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Deposit& each : plan_.deposits)
      code_.guarded(member(each.threads), [&] {
        const ExprId place = formula_expr(code_, each.place, writer_.thread());
        code_.store(scratch_.own, place, writer_.part(each.row));
      });
    if (plan_.is_async) expect();
    code_.evaluate(ir::Intrinsic::CtaSync, {});
    for (const Push& each : plan_.pushes)
      code_.guarded(member(each.parts.threads[0]), [&] { push(each); });
    if (plan_.is_async)
      wait();
    else
      code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Result& each : plan_.results)
      code_.guarded(member(each.parts.threads[0]), [&] {
        collect(scratch_.received, scratch_.first, each.parts);
        writer_.put(each.slot, code_.load(folded_, {code_.n(0)}));
      });
  }

 private:
  ExprId member(const std::vector<bool>& set) { return member_expr(code_, writer_.thread(), set); }
  ExprId received(ExprId place) { return code_.simplify(code_.add(place, scratch_.first)); }

  ExprId mbarrier() { return code_.address(scratch_.mbarrier, code_.n(0)); }

  void expect() {
    code_.guarded(member(plan_.expectation.threads), [&] {
      const ExprId bytes = formula_expr(code_, plan_.expectation.bytes, writer_.thread());
      code_.ptx("mbarrier.arrive.expect_tx.shared.b64",
                {{.kind = ir::PtxOperandKind::Sink},
                 address_operand(mbarrier()),
                 {.expr = code_.as(num::DType::Uint32, bytes)}});
    });
  }

  // The threads that hold a result.
  void wait() {
    std::vector<bool> all = plan_.results[0].parts.threads[0];
    for (const Result& each : plan_.results)
      for (std::size_t u = 0; u < all.size(); ++u) all[u] = all[u] || each.parts.threads[0][u];
    code_.guarded(member(all), [&] {
      code_.evaluate(ir::Intrinsic::MbarrierWait, {mbarrier(), code_.n(0)});
    });
  }

  // The address of a place in a CTA, into register `slot`.
  void map(std::int64_t slot, ExprId address, ExprId cta) {
    const ExprId here = code_.call(ir::Intrinsic::CvtaToShared, {address});
    code_.ptx("mapa.shared::cluster.u32", {register_operand(code_, there_, code_.n(slot)),
                                           {.expr = here},
                                           {.expr = code_.as(num::DType::Uint32, cta)}});
  }
  ir::PtxOperand mapped(std::int64_t slot) {
    return address_operand(code_.load(there_, {code_.n(slot)}));
  }

  void push(const Push& each) {
    collect(scratch_.own, 0, each.parts);
    const ExprId to = received(formula_expr(code_, each.to, writer_.thread()));
    const ExprId cta = formula_expr(code_, each.cta, writer_.thread());
    map(0, code_.address(scratch_.received, to), cta);
    const ir::PtxOperand to_received = mapped(0);
    const ir::PtxOperand value = {.expr = code_.load(folded_, {code_.n(0)})};
    const std::string_view suffix = suffix_of(plan_.parts.problem.type);
    if (!plan_.is_async)
      return code_.ptx(fmt::format("st.shared::cluster.{}", suffix), {to_received, value});
    map(1, mbarrier(), cta);
    const ir::PtxOperand to_mbarrier = mapped(1);
    code_.ptx(fmt::format("{}{}", kSend, suffix), {to_received, value, to_mbarrier});
  }

  // The parts of a collection, from element `first` of a view on.
  void collect(ir::BufferId view, std::int64_t first, const Collection& each) {
    const ExprId begin = code_.add(formula_expr(code_, each.place, writer_.thread()), first);
    const auto at = [&](ExprId k) {
      return code_.load(view, {code_.simplify(code_.add(begin, k))});
    };
    const auto add = [&](ExprId k) {
      code_.store(folded_, code_.n(0), writer_.folded(code_.load(folded_, {code_.n(0)}), at(k)));
    };
    code_.store(folded_, code_.n(0), at(code_.n(0)));
    const auto is_same = [&](const std::vector<bool>& set) { return set == each.threads[0]; };
    const auto rest = std::span(each.threads).subspan(1);
    const bool is_regular = std::ranges::all_of(rest, is_same);
    if (is_regular && rest.size() == 1)
      add(code_.n(1));
    else if (is_regular && !rest.empty())
      code_.loop("i", std::ssize(rest), ir::LoopKind::Unroll,
                 [&](ExprId i) { add(code_.add(i, code_.n(1))); });
    else
      for (std::size_t k = 0; k < rest.size(); ++k)
        code_.guarded(member(rest[k]), [&] { add(code_.n(static_cast<std::int64_t>(k) + 1)); });
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  PartWriter writer_;
  ClusterScratch scratch_;
  ir::BufferId folded_, there_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Emitting(plan, call, code).run();
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  std::vector<std::int64_t> slots;
  std::int64_t read = 0, received = 0;
  for (const Push& each : plan.pushes) read += std::ssize(each.parts.threads);
  for (const Result& each : plan.results) {
    slots.push_back(each.slot);
    received += std::ssize(each.parts.threads);
  }
  PlanReport out = parts_report(plan.parts, call, std::move(slots), 0);
  const num::DType type = plan.parts.problem.type;
  const std::int64_t bytes = num::bits_of(type) / 8;
  out.add_instruction(fmt::format("st.shared.b{}", bytes * 8), std::ssize(plan.deposits), bytes);
  out.add_instruction(fmt::format("ld.shared.b{}", bytes * 8), read + received, bytes);
  const auto pushes = std::ssize(plan.pushes);
  out.add_instruction("mapa.shared::cluster.u32", plan.is_async ? 2 * pushes : pushes, 4);
  const std::string_view store = plan.is_async ? kSend : "st.shared::cluster.";
  out.add_instruction(fmt::format("{}{}", store, suffix_of(type)), pushes, bytes);
  const std::int64_t memory = (plan.own + plan.received) * bytes + (plan.is_async ? 8 : 0);
  const std::string how =
      plan.is_async
          ? "an mbarrier"
          : fmt::format("{} of the cluster, not an mbarrier: {}",
                        begins_with_barrier(plan, call) ? "two barriers" : "one", plan.why_not);
  out.notes.push_back(fmt::format("{} bytes of {} in each CTA, a barrier of the CTA, {}", memory,
                                  scratch_text(call), how));
  out.summary += fmt::format(", then {} parts of warps and {} of CTAs through {}", read, received,
                             scratch_text(call));
  return out;
}

constexpr Variant row(TileOp op) {
  return variant<Plan, match, emit, report>(
      {.op = op,
       .name = "cluster",
       .priority = 4,
       .about = "threads, lanes and warps fold, then the CTAs of a cluster through shared memory"});
}

constexpr Variant kVariants[] = {row(TileOp::Sum),    row(TileOp::Prod),  row(TileOp::Max),
                                 row(TileOp::Min),    row(TileOp::Any),   row(TileOp::All),
                                 row(TileOp::Argmax), row(TileOp::Argmin)};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_cluster
