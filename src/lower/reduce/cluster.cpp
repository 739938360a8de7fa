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
// A call in a loop takes turns: it has two halves of `between` and `received`, and an mbarrier for each.
// A register counts the calls; call c uses half c % 2 and waits for phase c // 2 of its mbarrier, by the
// parity of that. Call c + 2 sends into the half that call c has read: a CTA sends behind its barrier,
// which its threads pass behind their wait of call c + 1; each CTA that it sends to has sent it a part of
// call c + 1, behind a barrier that its threads passed when they had read call c. So every CTA must get
// something from every CTA that it sends to.
//
// Where that is not so, and with a `workspace=`, the call uses `st.shared::cluster`, and a barrier of the
// cluster in place of the wait. `between` is then shared: the next reduction writes it at the earliest,
// behind this one's barrier. In a loop `received` is written again behind `T.cuda.cluster_sync()` of the
// same loop, or, if there is none and with a workspace, the call begins with a barrier of the cluster. All
// threads of the cluster must come to the call.
#include <algorithm>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/index_formula.h"
#include "lower/reduce/cluster_plan.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::reduce_cluster {
namespace {

using ir::ExprId;
using ir::TileOp;

// --- match ---------------------------------------------------------------------------------------

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
  return cluster_plan(call, problem);
}

// --- emit ----------------------------------------------------------------------------------------

bool begins_with_barrier(const Plan& plan, const Call& call) {
  return !plan.is_async() && (call.may_repeat || !call.tile.workspace.empty());
}

class Emitting {
 public:
  Emitting(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), writer_(plan.parts, call, code) {}

  void run() {
    writer_.write();
    const num::DType type = plan_.parts.problem.type;
    scratch_ = cluster_scratch(call_, code_, type, plan_.halves() * plan_.own,
                               plan_.halves() * plan_.received, plan_.mbarriers());
    folded_ = code_.registers("folded", type, 1);
    there_ = code_.registers("there", num::DType::Uint32, plan_.is_async() ? 2 : 1);
    begin_turn();
    if (begins_with_barrier(plan_, call_)) code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Deposit& each : plan_.deposits)
      code_.guarded(member(each.threads), [&] {
        const ExprId place = formula_expr(code_, each.place, writer_.thread());
        code_.store(scratch_.own, own(place), writer_.part(each.row));
      });
    if (plan_.is_async()) expect();
    code_.evaluate(ir::Intrinsic::CtaSync, {});
    for (const Push& each : plan_.pushes)
      code_.guarded(member(each.parts.threads[0]), [&] { push(each); });
    if (plan_.is_async())
      wait();
    else
      code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Result& each : plan_.results)
      code_.guarded(member(each.parts.threads[0]), [&] {
        collect(scratch_.received, each.parts, [&](ExprId place) { return received(place); });
        writer_.put(each.slot, code_.load(folded_, {code_.n(0)}));
      });
    end_turn();
  }

 private:
  ExprId member(const std::vector<bool>& set) { return member_expr(code_, writer_.thread(), set); }

  // Calls are counted up to 4: two halves, two parities.
  static constexpr std::int64_t kHalves = 2, kTurns = 4;
  void begin_turn() {
    if (plan_.protocol != Protocol::Turns) return;
    turn_ = code_.let("turn", code_.load(scratch_.turns, {code_.n(0)}));
    half_ = code_.let("half", code_.index(ir::ExprOp::FloorMod, turn_, code_.n(kHalves)));
  }
  void end_turn() {
    if (!turn_.valid()) return;
    const ExprId next = code_.add(turn_, 1);
    code_.store(scratch_.turns, code_.n(0),
                code_.index(ir::ExprOp::FloorMod, next, code_.n(kTurns)));
  }
  ExprId parity() {
    if (!turn_.valid()) return code_.n(0);
    return code_.index(ir::ExprOp::FloorMod, code_.div(turn_, kHalves), code_.n(kHalves));
  }

  // Places in the scratch memory of this turn.
  ExprId own(ExprId place) {
    if (half_.valid()) place = code_.add(place, code_.mul(half_, plan_.own));
    return code_.simplify(place);
  }
  ExprId received(ExprId place) {
    if (half_.valid()) place = code_.add(place, code_.mul(half_, plan_.received));
    return code_.simplify(code_.add(place, scratch_.first));
  }

  ExprId mbarrier() { return code_.address(scratch_.mbarrier, half_.valid() ? half_ : code_.n(0)); }

  void expect() {
    code_.guarded(member(plan_.expectation.threads), [&] {
      const ExprId bytes = formula_expr(code_, plan_.expectation.bytes, writer_.thread());
      code_.ptx("mbarrier.arrive.expect_tx.shared.b64",
                {{.kind = ir::PtxOperandKind::Sink},
                 address_operand(mbarrier()),
                 {.expr = code_.as(num::DType::Uint32, bytes)}});
    });
  }

  // The warps of the threads that hold a result: lanes that do not wait would come to the next barrier
  // before the others of their warp.
  void wait() {
    constexpr auto kLanes = static_cast<std::size_t>(kLanesOfWarp);
    std::vector<bool> all(plan_.results[0].parts.threads[0].size());
    for (const Result& each : plan_.results)
      for (std::size_t u = 0; u < all.size(); ++u)
        for (std::size_t lane = 0; each.parts.threads[0][u] && lane < kLanes; ++lane)
          all[u / kLanes * kLanes + lane] = true;
    code_.guarded(member(all), [&] {
      code_.evaluate(ir::Intrinsic::MbarrierWait, {mbarrier(), parity()});
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
    collect(scratch_.own, each.parts, [&](ExprId place) { return own(place); });
    const ExprId to = received(formula_expr(code_, each.to, writer_.thread()));
    const ExprId cta = formula_expr(code_, each.cta, writer_.thread());
    map(0, code_.address(scratch_.received, to), cta);
    const ir::PtxOperand to_received = mapped(0);
    const ir::PtxOperand value = {.expr = code_.load(folded_, {code_.n(0)})};
    const std::string_view suffix = suffix_of(plan_.parts.problem.type);
    if (!plan_.is_async())
      return code_.ptx(fmt::format("st.shared::cluster.{}", suffix), {to_received, value});
    map(1, mbarrier(), cta);
    const ir::PtxOperand to_mbarrier = mapped(1);
    code_.ptx(fmt::format("{}{}", kSend, suffix), {to_received, value, to_mbarrier});
  }

  // The parts of a collection, at places in a view.
  template <typename PlaceOf>
  void collect(ir::BufferId view, const Collection& each, PlaceOf&& place_of) {
    const ExprId begin = formula_expr(code_, each.place, writer_.thread());
    const auto at = [&](ExprId k) { return code_.load(view, {place_of(code_.add(begin, k))}); };
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
  ExprId turn_ = {}, half_ = {};  // of calls that take turns
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
  out.add_instruction("mapa.shared::cluster.u32", plan.is_async() ? 2 * pushes : pushes, 4);
  const std::string_view store = plan.is_async() ? kSend : "st.shared::cluster.";
  out.add_instruction(fmt::format("{}{}", store, suffix_of(type)), pushes, bytes);
  const std::int64_t memory =
      (plan.own + plan.received) * plan.halves() * bytes + 8 * plan.mbarriers();
  const std::string how =
      plan.protocol == Protocol::Turns ? "two mbarriers that take turns"
      : plan.is_async()
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
