// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/remote.h"

#include <algorithm>

#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"

namespace ww::lower {

Match<void> check_remote(const Call& call, std::string_view instruction) {
  const ir::Setting* setting = call.setting("remote_cta_id");
  if (setting == nullptr)
    return decline("remote", "no `remote_cta_id=`: both sides are in one CTA");
  WW_TRY_VOID(check_target(call, instruction, target::Feature::Sm90));
  if (!call.context.launch.has_clusters)
    return decline("remote", "the launch has no clusters, expected `T.cta_id_in_cluster([n])`");
  const auto* number = std::get_if<std::int64_t>(setting);
  const auto* expr = std::get_if<ir::ExprId>(setting);
  const auto known = number != nullptr ? std::optional(*number)
                     : expr != nullptr ? ir::const_int(call.f(), *expr)
                                       : std::nullopt;
  if (known && (*known < 0 || *known >= call.cluster_ctas()))
    return decline("remote", "`remote_cta_id=` is {}, and the cluster has {} CTAs", *known,
                   call.cluster_ctas());
  return {};
}

// The number of the other CTA.
ir::ExprId remote_cta(const Call& call, CodeWriter& code) {
  const ir::Setting* setting = call.setting("remote_cta_id");
  if (const auto* number = std::get_if<std::int64_t>(setting))
    return ir::int_imm(code.f(), num::DType::Uint32, *number);
  return code.let("cta", code.as(num::DType::Uint32, std::get<ir::ExprId>(*setting)));
}

void RemoteAddresses::map(std::int64_t slot, ir::ExprId place, ir::ExprId cta) {
  const bool is_pointer = code_.f()[place].type.is_pointer();
  const ir::ExprId here = is_pointer ? code_.call(ir::Intrinsic::CvtaToShared, {place}) : place;
  code_.ptx("mapa.shared::cluster.u32",
            {register_operand(code_, there_, code_.n(slot)), {.expr = here}, {.expr = cta}});
}

ir::PtxOperand RemoteAddresses::operator[](std::int64_t slot) {
  return address_operand(code_.load(there_, {code_.n(slot)}));
}

std::string RemotePlan::opcode(const CopyPhase& phase) const {
  const std::string type = access_type(phase.bytes);
  if (is_counted) return "st.async.shared::cluster.mbarrier::complete_tx::bytes" + type;
  return fmt::format("{}.shared::cluster{}", is_store ? "st" : "ld", type);
}

// --- match ---------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kMaxRemoteBytes = 16;  // of an access

Match<std::vector<CopyPhase>> remote_phases(const Call& call, const CopyProblem& problem,
                                            std::int64_t least) {
  if (problem.register_side() != nullptr) {
    auto phases = WW_TRY(register_phases(call, problem));
    for (const CopyPhase& each : phases)
      if (each.bytes < least || each.bytes > kMaxRemoteBytes)
        return decline("vector", "accesses of {} bytes, expected {} to {}", each.bytes, least,
                       kMaxRemoteBytes);
    return phases;
  }
  WW_TRY_VOID(check_workers(call));
  for (std::int64_t bytes = kMaxRemoteBytes; bytes >= least; bytes /= 2)
    if (bytes * 8 % problem.dst.bits == 0)
      if (auto phase = shared_out_phase(call, problem, bytes))
        return std::vector{*std::move(phase)};
  return decline("irregular", "no formula of round and thread gives the {} places of both sides",
                 problem.dst.size());
}

}  // namespace

Match<RemotePlan> remote_plan(const Call& call, std::int64_t least) {
  RemotePlan plan{.problem = WW_TRY(copy_problem(call)), .phases = {}};
  WW_TRY_VOID(check_plain(*plan.problem));
  if (plan.problem->dst.bits < 8)
    return decline("sub_byte", "elements of {} bits do not pair up to whole bytes on both sides",
                   plan.problem->dst.bits);
  plan.is_store = ir::remote_operand(call.f(), call.tile) == 0;
  plan.phases = WW_TRY(remote_phases(call, *plan.problem, least));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

namespace {

class RemoteWriter {
 public:
  RemoteWriter(const RemotePlan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        call_(call),
        code_(code),
        phases_(call, *plan.problem, code),
        cta_(remote_cta(call, code)),
        there_(code, plan.is_counted ? 2 : 1) {
    if (plan.is_counted)
      there_.map(1, std::get<ir::ExprId>(*ir::mbarrier_setting(call.tile)), cta_);
  }

  void write(const CopyPhase& phase) {
    word_ = std::min<std::int64_t>(4, phase.bytes);
    view_ = word_view(phase);
    phases_.write(phase, [&](const PhaseWriter::Access& access) { move(phase, access); });
  }

 private:
  [[nodiscard]] num::DType word_type() const {
    return word_ == 4 ? num::DType::Uint32 : word_ == 2 ? num::DType::Uint16 : num::DType::Uint8;
  }

  // The registers of the near side as words; what is in memory goes through some.
  ir::BufferId word_view(const CopyPhase& phase) {
    if (!plan_.near().is_register())
      return code_.registers("words", word_type(), phase.bytes / word_);
    const std::int64_t bits = view_elements(call_, plan_.near()) * plan_.near().bits;
    const ir::BufferId flat = phases_.flat(!plan_.is_store);
    return code_.flat_view(plan_.near().buffer, word_type(), (bits + word_ * 8 - 1) / (word_ * 8),
                           code_.f()[flat].name + "_words");
  }

  void move(const CopyPhase& phase, const PhaseWriter::Access& access) {
    const bool is_register = plan_.near().is_register();
    const ir::ExprId near_at = plan_.is_store ? access.from : access.to;
    const ir::ExprId far_at = plan_.is_store ? access.to : access.from;
    const auto carry = [&] {
      const ir::ExprId memory =
          code_.let("near_ptr", code_.pointer(phases_.flat(!plan_.is_store), near_at));
      const ir::ExprId words = code_.pointer(view_, code_.n(0));
      const ir::ExprId bytes = code_.n(phase.bytes);
      if (plan_.is_store)
        code_.evaluate(ir::Intrinsic::CopyBytes, {words, memory, bytes});
      else
        code_.evaluate(ir::Intrinsic::CopyBytes, {memory, words, bytes});
    };
    if (!is_register && plan_.is_store) carry();
    there_.map(0, code_.let("far_ptr", code_.pointer(phases_.flat(plan_.is_store), far_at)), cta_);
    const ir::ExprId first =
        is_register ? code_.div(code_.mul(near_at, plan_.near().bits), word_ * 8) : code_.n(0);
    std::vector<ir::PtxOperand> operands;
    for (std::int64_t i = 0; i < phase.bytes / word_; ++i)
      operands.push_back({.expr = code_.load(view_, {code_.add(first, i)})});
    operands.insert(plan_.is_store ? operands.begin() : operands.end(), there_[0]);
    if (plan_.is_counted) operands.push_back(there_[1]);
    code_.ptx(plan_.opcode(phase), std::move(operands));
    if (!is_register && !plan_.is_store) carry();
  }

  const RemotePlan& plan_;
  const Call& call_;
  CodeWriter& code_;
  PhaseWriter phases_;
  ir::ExprId cta_;
  RemoteAddresses there_;
  ir::BufferId view_ = {};
  std::int64_t word_ = 4;
};

}  // namespace

void emit_remote(const RemotePlan& plan, const Call& call, CodeWriter& code) {
  RemoteWriter writer(plan, call, code);
  for (const CopyPhase& phase : plan.phases) writer.write(phase);
}

PlanReport remote_report(const RemotePlan& plan, const Call& call) {
  PlanReport out = phases_report(call, *plan.problem, plan.phases);
  out.instructions.clear();
  std::int64_t accesses = 0;
  for (const CopyPhase& phase : plan.phases) {
    const bool is_register = plan.problem->register_side() != nullptr;
    if (!is_register)
      out.add_instruction(access_opcode(plan.is_store ? "ld" : "st", plan.near(), phase.bytes),
                          phase.rounds, phase.bytes);
    out.add_instruction("mapa.shared::cluster.u32", phase.rounds, 4);
    out.add_instruction(plan.opcode(phase), phase.rounds, phase.bytes);
    accesses += phase.rounds;
  }
  out.summary =
      fmt::format("{} access{} of {} bits {} another CTA, per thread", accesses,
                  accesses == 1 ? "" : "es", out.vector_bits, plan.is_store ? "into" : "from");
  return out;
}

}  // namespace ww::lower
