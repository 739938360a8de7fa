// SPDX-License-Identifier: Apache-2.0
#include "driver/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/append.h"
#include "base/ascii.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/report_parts.h"

namespace ww::driver {

namespace {

using lower::CallReport;
using lower::PlanReport;
using lower::Verdict;

std::uint64_t count(std::int64_t number) { return static_cast<std::uint64_t>(number); }

std::string instructions_text(const PlanReport& plan) {
  if (plan.instructions.empty()) return plan.summary;
  std::vector<std::string> parts;
  for (const lower::InstructionCount& each : plan.instructions)
    parts.push_back(fmt::format("{} x {}", each.per_thread, each.opcode));
  return join(parts, ", ");
}

// Columns as wide as their widest cell, the last one as it is.
void add_columns(std::string& out, std::string_view indent, const std::vector<TableRow>& rows) {
  const std::vector<std::size_t> widths = column_widths(rows);
  for (const TableRow& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i)
      append(line, "{:<{}}{}", row[i], widths[i], i + 1 == row.size() ? "" : "  ");
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

void add_operands(std::string& out, const CallReport& call) {
  std::vector<TableRow> rows;
  for (const lower::OperandReport& each : call.operands)
    rows.push_back({each.role, each.region, each.dtype, each.scope,
                    each.layout.empty() ? "row-major" : each.layout});
  add_columns(out, "  ", rows);
}

std::string verdict_text(const CallReport& call, const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Chosen:
      return fmt::format("chosen: {}", call.plan.summary);
    case Verdict::Kind::Declined:
      return fmt::format("declined, {}: {}", verdict.rule, verdict.reason);
    case Verdict::Kind::NotAsked:
      return "not asked";
  }
  return "";
}

void add_verdicts(std::string& out, const CallReport& call) {
  std::vector<TableRow> rows;
  for (const Verdict& verdict : call.verdicts)
    rows.push_back({verdict.variant, verdict_text(call, verdict)});
  add_columns(out, "  ", rows);
}

std::string moves_text(const PlanReport& plan) {
  std::string out = fmt::format("{}, {}", plural(count(plan.elements), "element"),
                                plural(count(plan.bytes), "byte"));
  if (plan.threads > 0) out += fmt::format(", by {}", plural(count(plan.threads), "thread"));
  if (plan.rounds > 0) out += fmt::format(" in {}", plural(count(plan.rounds), "round"));
  return out;
}

std::string computes_text(const PlanReport& plan) {
  return fmt::format("{}, by {}", plural(count(plan.flops), "operation"),
                     plural(count(plan.threads), "thread"));
}

std::string registers_text(const PlanReport& plan) {
  std::vector<std::string> parts;
  for (const auto& [role, registers] : plan.operand_registers)
    parts.push_back(fmt::format("{} of {}", registers, role));
  return fmt::format("{} of 32 bits per thread{}{}", plan.registers, parts.empty() ? "" : ": ",
                     join(parts, ", "));
}

void add_plan(std::string& out, const PlanReport& plan) {
  std::vector<TableRow> rows;
  for (const lower::InstructionCount& each : plan.instructions) {
    const std::string bytes =
        each.bytes > 0 ? fmt::format(", {} each", plural(count(each.bytes), "byte")) : "";
    rows.push_back({"executes", fmt::format("{} x {}{}", each.per_thread, each.opcode, bytes)});
  }
  if (!plan.tiling.empty()) rows.push_back({"tiling", plan.tiling});
  rows.push_back(plan.flops > 0 ? TableRow{"computes", computes_text(plan)}
                                : TableRow{"moves", moves_text(plan)});
  if (plan.registers > 0) rows.push_back({"registers", registers_text(plan)});
  if (plan.vector_bits > 0) rows.push_back({"vectors", fmt::format("{} bits", plan.vector_bits)});
  if (plan.wavefronts) rows.push_back({"wavefronts", wavefronts_text(*plan.wavefronts)});
  if (!plan.remedy.empty()) rows.push_back({"remedy", plan.remedy});
  for (const std::string& note : plan.notes) rows.push_back({"note", note});
  add_columns(out, "  ", rows);
}

std::string place_text(const SourceText& source, Span span) {
  if (!span.known) return printable_name(source.name());
  const auto at = source.position(span.begin);
  return fmt::format("{}:{}:{}", printable_name(source.file_name(at.file)), at.line, at.column);
}

void add_call(std::string& out, const SourceText& source, const CallReport& call) {
  append(out, "\n{}: {} by {}\n", place_text(source, call.span), call.name, call.threads);
  if (call.span.known) {
    std::string_view line = source.line(source.line_number(call.span.begin));
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    append(out, "    {}\n", line);
  }
  out += call_text(call);
}

}  // namespace

std::string call_text(const CallReport& call) {
  std::string out;
  add_operands(out, call);
  if (!call.verdicts.empty()) out += '\n';
  add_verdicts(out, call);
  if (call.chosen.empty()) return out;
  out += '\n';
  add_plan(out, call.plan);
  return out;
}

std::string wavefronts_text(const lower::Wavefronts& wavefronts) {
  const std::string conflicts = wavefronts.conflicts() == 0
                                    ? "no bank conflicts"
                                    : plural(count(wavefronts.conflicts()), "bank conflict");
  return fmt::format("{}, {} at best: {}", wavefronts.needed, wavefronts.ideal, conflicts);
}

bool is_slow(const CallReport& call) {
  constexpr std::int64_t kMinFactor = 2;
  const auto& wavefronts = call.plan.wavefronts;
  return !call.chosen.empty() && wavefronts && wavefronts->needed >= kMinFactor * wavefronts->ideal;
}

std::string target_text(const target::Target& target) {
  return fmt::format("{}, PTX {}", target::info(target.arch).name,
                     target::ptx_version_text(target.ptx));
}

std::vector<PrimitiveLine> primitive_lines(const Build& build) {
  std::vector<PrimitiveLine> out;
  for (const CallReport& call : build.report.calls) {
    PrimitiveLine line{
        .call = call.name, .variant = call.chosen, .instructions = instructions_text(call.plan)};
    if (call.span.known) {
      const auto at = build.compiled->source.position(call.span.begin);
      line.line = at.line;
      line.column = at.column;
      if (at.file > 0) line.file = build.compiled->source.file_name(at.file);
    }
    out.push_back(std::move(line));
  }
  return out;
}

std::string to_text(const std::vector<PrimitiveLine>& lines) {
  std::vector<TableRow> rows;
  for (const PrimitiveLine& each : lines)
    rows.push_back({each.file.empty() ? fmt::format("line {}", each.line)
                                      : fmt::format("{}:{}", printable_name(each.file), each.line),
                    each.call, each.variant, each.instructions});
  std::string out;
  add_columns(out, "", rows);
  return out;
}

namespace {

// "loads `A` 128 bits at a time, stores `B` one element at a time (its elements …)"
std::string accesses_text(const lower::VectorLoop& loop) {
  std::string out;
  for (const lower::VectorAccess& each : loop.accesses) {
    append(out, "{}{} `{}` ", out.empty() ? "" : ", ", each.is_store ? "stores" : "loads",
           each.buffer);
    out += each.reason.empty() ? fmt::format("{} bits at a time", each.bits)
                               : fmt::format("one element at a time ({})", each.reason);
  }
  return out;
}

void add_loops(std::string& out, const SourceText& source, const lower::LoweringReport& report) {
  bool is_first = true;
  for (const lower::VectorLoop& each : report.vectorized) {
    if (each.reason.empty() && each.accesses.empty()) continue;
    if (std::exchange(is_first, false)) out += "\nvectorized loops:\n";
    append(out, "  {}: `{}`: {}\n", place_text(source, each.span), each.var,
           each.reason.empty() ? accesses_text(each) : "round by round: " + each.reason);
  }
}

// What costs more than it looks: primitives with at least twice the wavefronts that they need, arrays in
// local memory, and what the machine code has.
void add_slow(std::string& out, const SourceText& source, const lower::LoweringReport& report,
              const SassAdvice* sass) {
  std::string lines;
  for (const CallReport& call : report.calls)
    if (is_slow(call))
      append(lines, "  {}: {}: wavefronts {}{}{}\n", place_text(source, call.span), call.name,
             wavefronts_text(*call.plan.wavefronts), call.plan.remedy.empty() ? "" : "; ",
             call.plan.remedy);
  for (const ir::SpilledArray& each : report.spilled)
    append(lines, "  {}: `{}` is in local memory, which is global memory of a thread\n",
           place_text(source, each.span), each.buffer);
  if (sass != nullptr) lines += sass_text(*sass, SassPlaces::Source);
  if (!lines.empty()) out += "\nslow:\n" + lines;
}

// "2 x shfl.sync.idx.b32, 1 x selp.b32": what the copies of a conversion execute.
std::string conversion_cost(const Build& build, const infer::Conversion& conversion) {
  std::vector<std::string> parts;
  for (const CallReport* call : conversion_calls(build.report, conversion))
    parts.push_back(call->chosen.empty() ? "nothing takes it" : instructions_text(call->plan));
  return join(parts, "; ");
}

void add_layouts(std::string& out, const Build& build) {
  const SourceText& source = build.compiled->source;
  const infer::Layouts& layouts = build.compiled->layouts;
  if (!layouts.buffers.empty()) out += "\ninferred layouts:\n";
  for (const infer::Inferred& each : layouts.buffers) {
    const ir::Buffer& buffer = build.tile()[each.buffer];
    append(out, "  {}: `{}`: {}\n", place_text(source, buffer.span), buffer.name, each.text);
    append(out, "    {}{}\n", each.reason,
           each.because.known ? ", " + place_text(source, each.because) : "");
  }
  if (!layouts.conversions.empty()) out += "\nconversions between layouts:\n";
  for (const infer::Conversion& each : layouts.conversions) {
    append(out, "  {}: `{}` {} `{}` as `{}`: {}\n", place_text(source, each.at), each.buffer,
           each.is_written ? "comes out of" : "goes into", each.call, each.copy, each.text);
    append(out, "    costs {}\n", conversion_cost(build, each));
  }
}

}  // namespace

std::vector<const CallReport*> conversion_calls(const lower::LoweringReport& report,
                                                const infer::Conversion& conversion) {
  std::vector<const CallReport*> out;
  for (const CallReport& call : report.calls) {
    if (call.op != "copy" || call.span != conversion.at) continue;
    const std::string whole = conversion.copy + "[";
    if (std::ranges::any_of(call.operands, [&](const lower::OperandReport& each) {
          return each.region.starts_with(whole);
        }))
      out.push_back(&call);
  }
  return out;
}

std::string explain_text(const Build& build, const SassAdvice* sass) {
  const SourceText& source = build.compiled->source;
  std::string out;
  add_fact(out, "kernel",
           fmt::format("{} in {}", build.tile().name, printable_name(source.name())));
  if (build.target) add_fact(out, "target", target_text(*build.target));
  add_fact(out, "primitives", fmt::format("{}", build.report.calls.size()));
  add_layouts(out, build);
  for (const CallReport& call : build.report.calls) add_call(out, source, call);
  if (!build.report.spilled.empty()) out += "\nregister arrays that went to local memory:\n";
  for (const ir::SpilledArray& each : build.report.spilled)
    append(out, "  {}: `{}`: {}\n", place_text(source, each.span), each.buffer, each.reason);
  add_loops(out, source, build.report);
  add_slow(out, source, build.report, sass);
  return out;
}

ExplainOutcome run_explain(const ExplainRequest& request) {
  const Build build = build_file(request.source, request.sass ? Phase::Ptx : Phase::Lowered);
  ExplainOutcome out{.errors = build.errors};
  std::optional<SassAdvice> sass;
  if (request.sass && build.good() && build.phase == Phase::Ptx)
    sass = sass_advice(*request.sass, build.ptx, build.target->arch, build.entry);
  const SassAdvice* const advice = sass ? &*sass : nullptr;
  if (build.phase >= Phase::Tile && build.target && (build.good() || !build.report.calls.empty()))
    out.out = request.json ? json_text(explain_json(build, advice)) : explain_text(build, advice);
  return out;
}

// --- explain json --------------------------------------------------------------------------------
//
// The report of lowering as JSON; docs/reference/cli.md lists the keys.

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
  static constexpr std::string_view kTexts[] = {"chosen", "declined", "not asked"};
  return kTexts[std::to_underlying(kind)];
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
  return json_list(plan.instructions, [](const lower::InstructionCount& each) -> Json {
    return {{"opcode", each.opcode}, {"per_thread", each.per_thread}, {"bytes", each.bytes}};
  });
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
  Json operands = json_list(call.operands, operand_json);
  Json verdicts = json_list(call.verdicts, verdict_json);
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
  out["primitives"] = json_list(
      build.report.calls, [&](const lower::CallReport& call) { return call_json(source, call); });
  out["local_memory"] = Json::array();
  for (const ir::SpilledArray& each : build.report.spilled)
    out["local_memory"].push_back({{"buffer", each.buffer},
                                   {"at", source_place_json(source, each.span)},
                                   {"reason", each.reason}});
  for (const lower::VectorLoop& each : build.report.vectorized)
    out["vectorized"].push_back(loop_json(source, each));
  if (sass != nullptr) out["sass"] = sass_json(*sass);
  return out;
}

}  // namespace ww::driver
