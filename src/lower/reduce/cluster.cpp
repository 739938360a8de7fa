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
#include <set>
#include <utility>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/remote.h"
#include "lower/fold/totals.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::reduce_cluster {
namespace {

using ir::ExprId;

/// A part of the CTA: into place `to` of the memory of CTA `cta`.
struct Push {
  Collection parts;
  ThreadFormula cta, to;
};
/// The bytes that a CTA gets, by one of its threads.
struct Expectation {
  std::vector<bool> threads = {};
  ThreadFormula bytes = {};
};

/// How the CTAs know that parts have come: at a barrier of the cluster, at an mbarrier that is used once,
/// or at two that take turns.
enum class Protocol : std::uint8_t { Barriers, Once, Turns };

struct Plan {
  TotalsPlan totals;
  std::int64_t own = 0, received = 0;  // elements of scratch memory, in one turn
  Protocol protocol = Protocol::Barriers;
  std::string why_not = {};  // an mbarrier
  Expectation expectation = {};
  std::vector<Deposit> deposits = {};
  std::vector<Push> pushes = {};         // one after the other
  std::vector<Collection> results = {};  // by slot

  [[nodiscard]] bool is_async() const { return protocol != Protocol::Barriers; }
  /// Mbarriers, and halves of the scratch memory: 0 and 1 where nothing takes turns.
  [[nodiscard]] std::int64_t mbarriers() const {
    return protocol == Protocol::Turns ? 2 : is_async() ? 1 : 0;
  }
  [[nodiscard]] std::int64_t halves() const { return protocol == Protocol::Turns ? 2 : 1; }
};

/// `st.async`, without the type.
constexpr std::string_view kSend = "st.async.shared::cluster.mbarrier::complete_tx::bytes.";

/// The type of values in `st` and `st.async`.
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

using Numbers = std::vector<std::int64_t>;
using Wants = std::vector<std::vector<Wanted>>;

class Matching {
 public:
  Matching(const Call& call, Plan& plan)
      : call_(call), plan_(plan), p_(plan.totals.fold), of_cta_(call.context.launch.threads()) {}

  Match<void> run() {
    WW_TRY_VOID(plan_totals(call_, plan_.totals));
    parts_ = WW_TRY(warp_parts(call_, plan_.totals, of_cta_));
    plan_.own = plan_.totals.results * parts_.most_warps;
    plan_.received = plan_.totals.results * parts_.most_ctas;
    const Wants wanted = WW_TRY(wanted_of(call_, p_));
    for (const std::vector<Wanted>& of_slot : wanted)
      for (const Wanted& each : of_slot) wants_.emplace(each.into, each.thread / of_cta_);
    choose_protocol();
    WW_TRY_VOID(check_cluster_scratch(call_, p_.type, plan_.halves() * plan_.own,
                                      plan_.halves() * plan_.received, plan_.mbarriers()));
    plan_.deposits = WW_TRY(deposits_of(call_, plan_.totals, parts_));
    WW_TRY_VOID(add_pushes());
    if (plan_.is_async()) plan_.expectation = WW_TRY(expectation());
    for (const std::vector<Wanted>& of_slot : wanted)
      plan_.results.push_back(WW_TRY(collection_of(call_, plan_.totals, of_slot, parts_, true)));
    return {};
  }

 private:
  void choose_protocol() {
    const std::string opcode = fmt::format("{}{}", kSend, suffix_of(p_.type));
    if (!call_.tile.workspace.empty())
      plan_.why_not = "a workspace is given";
    else if (!is_on_target(opcode, call_.context.target))
      plan_.why_not = "the target has no st.async";
    else if (call_.is_in_loop)
      plan_.why_not = one_way();
    if (plan_.why_not.empty()) plan_.protocol = call_.is_in_loop ? Protocol::Turns : Protocol::Once;
  }

  // A CTA that sends to another and gets nothing from it would not know when that has read the parts.
  [[nodiscard]] std::string one_way() const {
    std::set<std::pair<std::int64_t, std::int64_t>> sends;  // from, to
    for (const auto& [into, to] : wants_)
      for (const auto& [from, of_warps] : parts_.of[as_index(into)]) sends.emplace(from, to);
    for (const auto& [from, to] : sends)
      if (!sends.contains({to, from}))
        return fmt::format("in a loop, CTA {} sends to CTA {} and gets nothing from it", from, to);
    return {};
  }

  // Thread 0 of each CTA that wants something: as many bytes as there are parts of it.
  [[nodiscard]] Match<Expectation> expectation() const {
    Expectation out{.threads = std::vector<bool>(as_index(p_.threads))};
    Numbers bytes(as_index(p_.threads));
    for (const auto& [into, cta] : wants_) {
      out.threads[as_index(cta * of_cta_)] = true;
      bytes[as_index(cta * of_cta_)] +=
          std::ssize(parts_.of[as_index(into)]) * num::bits_of(p_.type) / 8;
    }
    out.bytes = WW_TRY(formula(bytes, out.threads, "how many bytes CTAs get of elements"));
    return out;
  }

  [[nodiscard]] Match<ThreadFormula> formula(const Numbers& numbers, const std::vector<bool>& used,
                                             std::string_view what) const {
    return formula_of(numbers, used, fmt::format("{} of `{}`", what, call_.buffer(0).name));
  }

  // In each CTA, thread t makes the pushes t, t + threads, …
  Match<void> add_pushes() {
    const std::vector<std::pair<std::int64_t, std::int64_t>> all(wants_.begin(), wants_.end());
    for (std::int64_t begin = 0; begin < std::ssize(all); begin += of_cta_) {
      Push push;
      const auto threads = as_index(p_.threads);
      Numbers from(threads), to(threads), cta(threads);
      for (std::int64_t u = 0; u < p_.threads; ++u) {
        const std::int64_t number = begin + u % of_cta_;
        if (number >= std::ssize(all)) continue;
        const auto [into, wanting] = all[as_index(number)];
        const auto& by_cta = parts_.of[as_index(into)];
        const auto own = by_cta.find(u / of_cta_);
        if (own == by_cta.end()) continue;
        from[as_index(u)] = into * parts_.most_warps;
        cta[as_index(u)] = wanting;
        to[as_index(u)] = into * parts_.most_ctas + std::distance(by_cta.begin(), own);
        push.parts.add(u, own->second.size(), p_.threads);
      }
      const std::vector<bool>& used = push.parts.threads[0];
      push.parts.place = WW_TRY(formula(from, used, "where the parts of warps are of elements"));
      push.cta = WW_TRY(formula(cta, used, "which CTAs want elements"));
      push.to = WW_TRY(formula(to, used, "where the parts of CTAs go that make elements"));
      plan_.pushes.push_back(std::move(push));
    }
    return {};
  }

  const Call& call_;
  Plan& plan_;
  const Fold& p_;
  std::int64_t of_cta_;
  WarpParts parts_;
  std::set<std::pair<std::int64_t, std::int64_t>> wants_;  // element of the destination, CTA
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
  Plan plan{.totals = WW_TRY(total_rows(call))};
  WW_TRY_VOID(Matching(call, plan).run());
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

bool begins_with_barrier(const Plan& plan, const Call& call) {
  return !plan.is_async() && (call.may_repeat || !call.tile.workspace.empty());
}

class Emitting {
 public:
  Emitting(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), writer_(plan.totals, call, code) {}

  void run() {
    writer_.write();
    const num::DType type = plan_.totals.fold.type;
    scratch_ = cluster_scratch(call_, code_, type, plan_.halves() * plan_.own,
                               plan_.halves() * plan_.received, plan_.mbarriers());
    folded_ = code_.registers("folded", type, 1);
    there_.emplace(code_, plan_.is_async() ? 2 : 1);
    begin_turn();
    if (begins_with_barrier(plan_, call_)) code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Deposit& each : plan_.deposits)
      writer_.in_threads(each.threads, [&] {
        const ExprId place = formula_expr(code_, each.place, writer_.thread());
        code_.store(scratch_.own, own(place), writer_.part(each.row));
      });
    if (plan_.is_async()) expect();
    code_.evaluate(ir::Intrinsic::CtaSync, {});
    for (const Push& each : plan_.pushes)
      writer_.in_threads(each.parts.threads[0], [&] { push(each); });
    if (plan_.is_async())
      wait();
    else
      code_.evaluate(ir::Intrinsic::ClusterSync, {});
    for (const Collection& each : plan_.results)
      writer_.in_threads(each.threads[0], [&] {
        collect(scratch_.received, each, [&](ExprId place) { return received(place); });
        writer_.put(each.slot, code_.load(folded_, {code_.n(0)}));
      });
    end_turn();
  }

 private:
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
    writer_.in_threads(plan_.expectation.threads, [&] {
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
    std::vector<bool> all(plan_.results[0].threads[0].size());
    for (const Collection& each : plan_.results)
      for (std::size_t u = 0; u < all.size(); ++u)
        for (std::size_t lane = 0; each.threads[0][u] && lane < kLanes; ++lane)
          all[u / kLanes * kLanes + lane] = true;
    writer_.in_threads(all, [&] {
      code_.evaluate(ir::Intrinsic::MbarrierWait, {mbarrier(), parity()});
    });
  }

  void push(const Push& each) {
    collect(scratch_.own, each.parts, [&](ExprId place) { return own(place); });
    const ExprId to = received(formula_expr(code_, each.to, writer_.thread()));
    const ExprId cta =
        code_.as(num::DType::Uint32, formula_expr(code_, each.cta, writer_.thread()));
    there_->map(0, code_.address(scratch_.received, to), cta);
    const ir::PtxOperand to_received = (*there_)[0];
    const ir::PtxOperand value = {.expr = code_.load(folded_, {code_.n(0)})};
    const std::string_view suffix = suffix_of(plan_.totals.fold.type);
    if (!plan_.is_async())
      return code_.ptx(fmt::format("st.shared::cluster.{}", suffix), {to_received, value});
    there_->map(1, mbarrier(), cta);
    const ir::PtxOperand to_mbarrier = (*there_)[1];
    code_.ptx(fmt::format("{}{}", kSend, suffix), {to_received, value, to_mbarrier});
  }

  void collect(ir::BufferId view, const Collection& each,
               const std::function<ExprId(ExprId)>& place_of) {
    writer_.collect(each, folded_, 2,
                    [&](ExprId place) { return code_.load(view, {place_of(place)}); });
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  TotalsWriter writer_;
  ClusterScratch scratch_;
  ir::BufferId folded_;
  std::optional<RemoteAddresses> there_;
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
  for (const Collection& each : plan.results) {
    slots.push_back(each.slot);
    received += std::ssize(each.threads);
  }
  PlanReport out = totals_report(plan.totals, call, std::move(slots), 0);
  const num::DType type = plan.totals.fold.type;
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

constexpr auto kVariants = rows_for(
    kReductions,
    variant<Plan, match, emit, report>(
        {.name = "cluster",
         .priority = 4,
         .about =
             "threads, lanes and warps fold, then the CTAs of a cluster through shared memory"}));

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::reduce_cluster
