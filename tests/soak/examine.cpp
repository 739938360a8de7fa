// SPDX-License-Identifier: Apache-2.0
#include "soak/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lower/gpu.h"

namespace ww::test {
namespace {

// The rule by which the last variant that was asked declined the primitive that nothing took.
std::string rule_of(const Checked& checked) {
  const std::size_t at = checked.why.rfind("[declined: ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + 11;
  std::string out = checked.why.substr(begin, checked.why.find(']', begin) - begin);
  for (const lower::CallReport& call : checked.report.calls)
    if (call.chosen.empty()) return call.op + " " + out;
  return out;
}

void count_primitives(const Checked& checked, Tally& tally) {
  for (const lower::CallReport& call : checked.report.calls)
    ++tally[fmt::format("primitive: {} {}", call.op, call.chosen)];
}

// A barrier is missing, and the evaluator has noticed. Whether the code that was chosen has a race
// is for the other two to say, and they must say the same.
void compare_findings(const WholeProgram& made, Examined& out) {
  const Findings each = findings_of(made.program);
  const auto says = [](const std::optional<std::string>& text) { return text.value_or("nothing"); };
  if (!each.is_lowered_evaluated) {
    ++out.tally[each.device ? "broken: found in PTX, too" : "broken: PTX is without findings"];
    return;
  }
  if (each.lowered.has_value() == each.device.has_value()) {
    ++out.tally[each.device ? "broken: found by all" : "broken: harmless as it was lowered"];
    return;
  }
  out.is_find = true;
  out.kind = each.device ? "only the virtual GPU finds something"
                         : "only the evaluator finds something in the lowered program";
  out.explanation = fmt::format(
      "{}\ntile program, evaluator: {}\nlowered program, evaluator: {}\nPTX, virtual GPU: {}\n{}",
      out.kind, says(each.tile), says(each.lowered), says(each.device), each.checked.explain());
}

}  // namespace

void add(Tally& to, const Tally& from) {
  for (const auto& [name, count] : from) to[name] += count;
}

Examined examine(const Choices& choices, const Edits& edits) {
  WholeProgram made = whole_program(choices);
  made.program.edits = edits;
  Examined out;
  out.checked = check(made.program);
  const Checked& checked = out.checked;
  ++out.tally["programs"];
  ++out.tally["target: " + made.program.target];
  if (checked.right()) {
    count_primitives(checked, out.tally);
    for (const char* engine : {"evaluator, tile program", "evaluator, another schedule",
                               "evaluator, lowered program", "virtual GPU, PTX"})
      ++out.tally[fmt::format("engine: {}", engine)];
    if (checked.is_on_gpu) ++out.tally["engine: GPU, PTX"];
    if (made.lacks_barrier) ++out.tally["broken: not needed after all"];
    return out;
  }
  const bool is_declined = checked.stage == Stage::Lower && !rule_of(checked).empty();
  if (is_declined) {
    ++out.tally["declined: " + rule_of(checked)];
    return out;
  }
  if (checked.stage == Stage::Tile && made.lacks_barrier) {
    compare_findings(made, out);
    return out;
  }
  // To the evaluator a write of the value that is there already is none.
  if (checked.stage == Stage::Device && made.lacks_barrier && checked.why.starts_with("race: ")) {
    ++out.tally["broken: a race in PTX, of equal values"];
    return out;
  }
  out.is_find = true;
  out.kind = kind_of(checked);
  out.explanation = checked.explain();
  return out;
}

Choices shrunk(const Choices& choices, const Examined& found) {
  const auto verdict_of = [](const Choices& row) -> Verdict {
    Examined each = examine(row);
    return {each.is_find, std::move(each.kind), std::move(each.explanation)};
  };
  Choices row = choices;
  row.resize(std::min(row.size(), whole_program(row).used));
  Shrinker shrinker(verdict_of, std::move(row), {true, found.kind, found.explanation});
  shrinker.run();
  return shrinker.best();
}

std::string file_of(const Choices& choices, const std::string& how_to_repeat) {
  const WholeProgram made = whole_program(choices);
  const Examined examined = examine(choices);
  const std::string& text = examined.explanation;
  std::string out = fmt::format("# {}\n# target {}, p0 = {}\n", how_to_repeat, made.program.target,
                                made.program.scalars.at("p0"));
  // What is wrong, up to the program's own text.
  const std::string what = text.substr(0, text.find("--- source"));
  for (std::size_t at = 0; at < what.size();) {
    const std::size_t end = std::min(what.find('\n', at), what.size());
    out += "# " + what.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out + made.program.source;
}

}  // namespace ww::test
