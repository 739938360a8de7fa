// SPDX-License-Identifier: Apache-2.0
#include "soak/examine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

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

// --- programs that lack a barrier or a wait ------------------------------------------------------

using Found = std::optional<std::string>;

// May this be found where that is missing? Races, and copies under way, in the tiles between; what
// was read too early may be used without contents anywhere.
bool is_about(const LeftOut& left_out, const std::string& text) {
  if (text.starts_with("uninit: ")) return true;
  if (text.starts_with("async: the kernel ends before ")) return left_out.what == "wait";
  if (!text.starts_with("race: ") && !text.starts_with("async: ")) return false;
  const std::size_t begin = text.find('`') + 1;
  const std::string tile = text.substr(begin, text.find_first_of("[`", begin) - begin);
  return tile == "pool" || left_out.between.contains(tile);  // lowered, the pool is in one piece
}

// The virtual GPU names addresses; which tile it is the evaluator says.
bool is_about_device(const std::string& text) {
  return text.starts_with("race: ") || text.starts_with("async: ") || text.starts_with("uninit: ");
}

// --- programs over scalars -----------------------------------------------------------------------

// Where an output is among the arguments. Nothing where it is written in dead code only.
std::optional<std::size_t> output_of(const Ran& ran, const std::string& name) {
  for (std::size_t i = 0; i < ran.args.size(); ++i)
    if (ran.args[i].name == name && ran.args[i].is_output) return i;
  return std::nullopt;
}

// The first outputs that should hold the same and do not.
std::optional<std::string> unlike(const WholeProgram& made, const Ran& ran) {
  for (const auto& [first, second] : made.alike) {
    const auto a = output_of(ran, first), b = output_of(ran, second);
    if (!a || !b) continue;
    const auto results_of = [&](std::size_t i) -> Results {
      return {.arrays = {ran.expected.arrays[i]}, .written = {ran.expected.written[i]}};
    };
    if (const auto found = difference_of({ran.args[*a]}, results_of(*a), results_of(*b)))
      return fmt::format("`{}` and `{}` should be alike: {}", first, second, *found);
  }
  return std::nullopt;
}

// Constants that the front end divides by 0 are an error of the program.
bool divides_by_zero(const Checked& checked) {
  return checked.stage == Stage::Script &&
         (checked.why.find("` by 0 [") != std::string::npos ||
          checked.why.find("division by zero") != std::string::npos);
}

// --- programs of mixed scopes --------------------------------------------------------------------

// An error with a place and its kind: "test.py:9:5: error: … [Divergent]".
std::optional<std::string> kind_of_error(const Checked& checked) {
  const bool is_compiling = checked.stage == Stage::Script || checked.stage == Stage::Lower ||
                            checked.stage == Stage::Emit;
  const std::size_t line = checked.why.find('\n');
  const std::size_t begin = checked.why.rfind('[', line);
  if (!is_compiling || !checked.why.starts_with("test.py:") || begin == std::string::npos)
    return std::nullopt;
  return checked.why.substr(begin + 1, checked.why.find(']', begin) - begin - 1);
}

// What is refused with a reason, or what the evaluator finds in the tile program already, has no
// results to compare.
std::optional<std::string> without_meaning(const Checked& checked) {
  if (const auto kind = kind_of_error(checked)) return "refused: " + *kind;
  if (checked.stage != Stage::Tile) return std::nullopt;
  return "found in the tile program: " + checked.why.substr(0, checked.why.find(':'));
}

// --- casts ---------------------------------------------------------------------------------------

// Settings that no instruction has, or that say nothing about the types. Nothing but an instruction
// makes powers of two.
bool may_be_declined(const Cast& cast, const Checked& checked) {
  const bool makes_powers =
      cast.to == num::DType::Float8E8M0 && cast.from != num::DType::Float8E8M0;
  if (!makes_powers && cast.settings().empty()) return false;
  const auto is_reason = [](const lower::Verdict& verdict) {
    return verdict.rule == "arch" || verdict.rule == "dtype" || verdict.rule == "config";
  };
  return std::ranges::any_of(checked.report.calls, [&](const lower::CallReport& call) {
    return call.op == "cast" && std::ranges::any_of(call.verdicts, is_reason);
  });
}

// --- programs with inferred layouts --------------------------------------------------------------

// Does the layout decide in which order numbers are added or multiplied?
bool has_ordered_folds(const WholeProgram& made) {
  for (const char* name : {".sum(", ".prod(", ".cumsum(", ".cumprod(", ".scatter_add("})
    if (made.written.find(name) != std::string::npos) return true;
  return false;
}

// What the program with all layouts written leaves, where that is something else.
std::optional<std::string> unlike_written(const WholeProgram& made, const Ran& ran) {
  Program program = made.program;
  program.source = made.written;
  const Checked written = check(program);
  if (!written.right()) return std::nullopt;
  return difference_of(ran.args, written.ran->expected, ran.expected);
}

void be_find(Examined& out, std::string kind, const std::string& explanation) {
  out.is_find = true;
  out.kind = std::move(kind);
  out.explanation = out.kind + "\n" + explanation;
}

// Something is missing, and an engine has noticed, or two have different results. What they find is
// about what is missing; of the code that was chosen the evaluator and the virtual GPU say the
// same: it is harmless there, or not.
void judge(const WholeProgram& made, Examined& out) {
  const LeftOut& left_out = *made.left_out;
  const Findings each = findings_of(made.program);
  const auto says = [](const Found& text) { return text.value_or("nothing"); };
  const std::string all = fmt::format(
      "a {} is missing between {}\n"
      "tile program, evaluator: {}\nlowered program, evaluator: {}\nPTX, virtual GPU: {}\n{}",
      left_out.what, fmt::join(left_out.between, ", "), says(each.tile),
      each.is_lowered_evaluated ? says(each.lowered) : "not evaluated", says(each.device),
      out.checked.explain());
  const auto count = [&](const char* what) {
    ++out.tally[fmt::format("broken, a {}: {}", left_out.what, what)];
  };
  for (const Found* found : {&each.tile, &each.lowered})
    if (*found && (found == &each.tile || each.is_lowered_evaluated) &&
        !is_about(left_out, **found))
      return be_find(out, "a finding that is not about what is missing", all);
  if (each.device && !is_about_device(*each.device))
    return be_find(out, "a finding of the virtual GPU that is not about what is missing", all);
  if (!each.tile && !each.lowered && !each.device)
    return be_find(out, "nobody finds anything, and results differ", all);
  if (!each.is_lowered_evaluated && each.tile)
    return count(each.device ? "found in the tile program and in PTX"
                             : "found in the tile program, PTX is harmless");
  if (each.lowered.has_value() == each.device.has_value())
    return count(each.device ? "found by all" : "found in the tile program, harmless as lowered");
  be_find(out,
          each.device ? "only the virtual GPU finds something"
                      : "only the evaluator finds something in the lowered program",
          all);
}

}  // namespace

void add(Tally& to, const Tally& from) {
  for (const auto& [name, count] : from) to[name] += count;
}

void count_calls(const Checked& checked, const std::string& column, Tally& tally) {
  for (const lower::CallReport& call : checked.report.calls)
    ++tally[fmt::format("calls/{}: {} {}", column, call.op,
                        call.chosen.empty() ? "(declined)" : call.chosen)];
}

Examined examine(const Choices& choices) { return examine(whole_program(choices)); }

Examined examine(const WholeProgram& made) {
  Examined out;
  out.checked = check(made.program);
  const Checked& checked = out.checked;
  ++out.tally["programs"];
  ++out.tally[fmt::format("kind: {}", name_of(made.kind))];
  ++out.tally["target: " + made.program.target];
  count_calls(checked, "asked", out.tally);
  for (const auto& [name, count] : made.steps) out.tally["steps/written: " + name] += count;
  if (checked.right()) {
    if (const auto why = unlike(made, *checked.ran)) {
      be_find(out, "outputs that should be alike", *why + "\n" + checked.explain());
      return out;
    }
    if (const auto why = made.cast ? wrong_cast(*made.cast, *checked.ran) : std::nullopt) {
      be_find(out, "not what the formats say", *why + "\n" + checked.explain());
      return out;
    }
    if (made.kind == ProgramKind::Auto) {
      const bool is_ordered = has_ordered_folds(made);
      ++out.tally[is_ordered ? "autos: folds in another order"
                             : "autos: compared with written layouts"];
      const auto why = is_ordered ? std::nullopt : unlike_written(made, *checked.ran);
      if (why) {
        be_find(out, "other results than with written layouts", *why + "\n" + checked.explain());
        return out;
      }
    }
    count_calls(checked, "agreed", out.tally);
    for (const auto& [name, count] : made.steps) out.tally["steps/agreed: " + name] += count;
    for (const char* engine : {"evaluator, tile program", "evaluator, another schedule",
                               "evaluator, lowered program", "virtual GPU, PTX"})
      ++out.tally[fmt::format("engine: {}", engine)];
    if (checked.is_on_gpu) {
      ++out.tally["engine: GPU, PTX"];
      count_calls(checked, "GPU", out.tally);
    }
    if (made.left_out) ++out.tally[fmt::format("broken, a {}: not needed", made.left_out->what)];
    return out;
  }
  if (made.kind == ProgramKind::Scalar && divides_by_zero(checked)) {
    ++out.tally["refused: a constant is divided by 0"];
    return out;
  }
  if (made.kind == ProgramKind::Auto && checked.stage == Stage::Script &&
      checked.why.find("error: `layout=\"auto\"` of `") != std::string::npos) {
    ++out.tally["refused: nothing decides about a layout"];
    return out;
  }
  if (made.kind == ProgramKind::Scope) {
    if (const auto reason = without_meaning(checked)) {
      ++out.tally[*reason];
      return out;
    }
  }
  if (made.may_overflow && checked.stage == Stage::Tile && checked.why.starts_with("overflow: ")) {
    ++out.tally["overflow: found in the tile program"];
    return out;
  }
  if (checked.stage == Stage::Lower && !rule_of(checked).empty()) {
    ++out.tally["declined: " + rule_of(checked)];
    if (made.cast && !may_be_declined(*made.cast, checked))
      be_find(out, "a cast is declined", checked.explain());
    return out;
  }
  const bool has_run = checked.stage == Stage::Tile || checked.stage == Stage::Lowered ||
                       checked.stage == Stage::Device;
  if (made.left_out && has_run) {
    judge(made, out);
    return out;
  }
  be_find(out, kind_of(checked), checked.explain());
  return out;
}

bool is_gpu_well() {
  Program plainest = whole_program({}).program;
  plainest.target = "sm_80";  // code for it runs on all later ones
  return check(plainest).stage != Stage::Gpu;
}

Choices shrunk(const Choices& choices, const Examined& found) {
  const auto verdict_of = [](const Choices& row) -> Verdict {
    Examined each = examine(row);
    return {each.is_find, std::move(each.kind), std::move(each.explanation)};
  };
  Choices row = choices;
  row.resize(std::min(row.size(), whole_program(row).used));
  Verdict verdict{true, found.kind, found.explanation};
  return shrink_choices(verdict_of, std::move(row), verdict);
}

std::string file_of(const Choices& choices, const Examined& found,
                    const std::string& how_to_repeat) {
  const WholeProgram made = whole_program(choices);
  std::string out = fmt::format("# {}\n# target {}", how_to_repeat, made.program.target);
  for (const auto& [name, value] : made.program.scalars)
    out += fmt::format(", {} = {}", name, value);
  out += "\n";
  // What is wrong, up to the program's own text.
  const std::string what = found.explanation.substr(0, found.explanation.find("--- source"));
  for (std::size_t at = 0; at < what.size();) {
    const std::size_t end = std::min(what.find('\n', at), what.size());
    out += "# " + what.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out + made.program.source;
}

}  // namespace ww::test
