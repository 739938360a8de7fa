// SPDX-License-Identifier: Apache-2.0
// The report of lowering as JSON; docs/reference/cli.md lists the keys.
#include "driver/explain.h"
#include "driver/report_json.h"

namespace ww::driver {
namespace {

Json source_place_json(const SourceText& source, Span span) {
  if (!span.known) return nullptr;
  const auto at = source.position(span.begin);
  Json out = {{"line", at.line}, {"column", at.column}};
  if (at.file > 0) out["file"] = source.file_name(at.file);
  return out;
}

Json operand_json(const lower::OperandReport& operand) {
  return {{"role", operand.role},
          {"region", operand.region},
          {"dtype", operand.dtype},
          {"scope", operand.scope},
          {"layout", text_or_null(operand.layout)}};
}

std::string_view verdict_name(lower::Verdict::Kind kind) {
  switch (kind) {
    case lower::Verdict::Kind::Chosen:
      return "chosen";
    case lower::Verdict::Kind::Declined:
      return "declined";
    case lower::Verdict::Kind::NotAsked:
      return "not asked";
  }
  return "";
}

Json verdict_json(const lower::Verdict& verdict) {
  return {{"variant", verdict.variant},
          {"priority", verdict.priority},
          {"verdict", verdict_name(verdict.kind)},
          {"rule", text_or_null(verdict.rule)},
          {"reason", text_or_null(verdict.reason)}};
}

Json wavefronts_json(const std::optional<lower::Wavefronts>& wavefronts) {
  if (!wavefronts) return nullptr;
  return {{"needed", wavefronts->needed},
          {"ideal", wavefronts->ideal},
          {"conflicts", wavefronts->conflicts()}};
}

Json product_json(const lower::PlanReport& plan) {
  if (plan.tiling.empty()) return nullptr;
  Json registers = Json::object();
  for (const auto& [role, count] : plan.operand_registers) registers[role] = count;
  return {{"tiling", plan.tiling}, {"flops", plan.flops}, {"registers", registers}};
}

Json instructions_json(const lower::PlanReport& plan) {
  Json out = Json::array();
  for (const lower::InstructionCount& each : plan.instructions)
    out.push_back(
        {{"opcode", each.opcode}, {"per_thread", each.per_thread}, {"bytes", each.bytes}});
  return out;
}

Json plan_json(const lower::PlanReport& plan) {
  return {{"summary", plan.summary},
          {"instructions", instructions_json(plan)},
          {"elements", plan.elements},
          {"bytes", plan.bytes},
          {"threads", plan.threads},
          {"rounds", plan.rounds},
          {"registers", plan.registers},
          {"vector_bits", plan.vector_bits},
          {"wavefronts", wavefronts_json(plan.wavefronts)},
          {"product", product_json(plan)},
          {"remedy", text_or_null(plan.remedy)},
          {"notes", plan.notes}};
}

Json call_json(const SourceText& source, const lower::CallReport& call) {
  Json operands = Json::array();
  for (const lower::OperandReport& each : call.operands) operands.push_back(operand_json(each));
  Json verdicts = Json::array();
  for (const lower::Verdict& each : call.verdicts) verdicts.push_back(verdict_json(each));
  return {{"at", source_place_json(source, call.span)},
          {"call", call.name},
          {"op", call.op},
          {"scope", call.scope},
          {"threads", call.threads},
          {"operands", operands},
          {"variants", verdicts},
          {"chosen", text_or_null(call.chosen)},
          {"plan", call.chosen.empty() ? Json() : plan_json(call.plan)}};
}

Json loop_json(const SourceText& source, const lower::VectorLoop& loop) {
  Json out{{"loop", loop.var},
           {"at", source_place_json(source, loop.span)},
           {"reason", loop.reason},
           {"accesses", Json::array()}};
  for (const lower::VectorAccess& each : loop.accesses)
    out["accesses"].push_back({{"buffer", each.buffer},
                               {"is_store", each.is_store},
                               {"bits", each.bits},
                               {"reason", each.reason}});
  return out;
}

Json layouts_json(const Build& build) {
  Json out = Json::array();
  for (const infer::Inferred& each : build.compiled->layouts.buffers) {
    const ir::Buffer& buffer = build.tile()[each.buffer];
    out.push_back({{"buffer", buffer.name},
                   {"at", source_place_json(build.compiled->source, buffer.span)},
                   {"layout", each.text},
                   {"reason", each.reason},
                   {"because", source_place_json(build.compiled->source, each.because)}});
  }
  return out;
}

Json conversions_json(const Build& build) {
  Json out = Json::array();
  for (const infer::Conversion& each : build.compiled->layouts.conversions) {
    Json instructions = Json::array();
    for (const lower::CallReport* call : conversion_calls(build.report, each))
      for (const Json& counted : instructions_json(call->plan)) instructions.push_back(counted);
    out.push_back({{"buffer", each.buffer},
                   {"copy", each.copy},
                   {"layout", each.text},
                   {"call", each.call},
                   {"at", source_place_json(build.compiled->source, each.at)},
                   {"is_written", each.is_written},
                   {"instructions", instructions}});
  }
  return out;
}

}  // namespace

Json explain_json(const Build& build, const SassAdvice* sass) {
  const SourceText& source = build.compiled->source;
  Json out = with_schema("explain", {{"file", source.name()},
                                     {"kernel", build.tile().name},
                                     {"target", target::info(build.target->arch).name},
                                     {"ptx", target::ptx_version_text(build.target->ptx)},
                                     {"good", build.good()}});
  if (!build.compiled->layouts.buffers.empty()) {
    out["inferred"] = layouts_json(build);
    out["conversions"] = conversions_json(build);
  }
  out["primitives"] = Json::array();
  for (const lower::CallReport& call : build.report.calls)
    out["primitives"].push_back(call_json(source, call));
  out["local_memory"] = Json::array();
  for (const lower::SpilledArray& each : build.report.spilled)
    out["local_memory"].push_back({{"buffer", each.buffer},
                                   {"at", source_place_json(source, each.span)},
                                   {"reason", each.reason}});
  for (const lower::VectorLoop& each : build.report.vectorized)
    out["vectorized"].push_back(loop_json(source, each));
  if (sass != nullptr) out["sass"] = sass_json(*sass);
  return out;
}

}  // namespace ww::driver
