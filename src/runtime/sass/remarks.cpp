// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/split.h"

namespace ww::runtime {
namespace {

// Instructions of one kind that one line of PTX became, in loops.
struct Group {
  std::uint32_t count = 0, bytes = 0;
  unsigned depth = 0;
  std::string_view opcode = {};
};
using Groups = std::map<std::uint32_t, Group>;

template <typename Is>
Groups groups_in_loops(const SassView& view, Is&& is) {
  Groups out;
  for (std::size_t i = 0; i < view.function.code.size(); ++i) {
    const SassInstruction& each = view.function.code[i];
    if (view.depths[i] == 0 || !is(each)) continue;
    Group& group = out[each.line];
    if (group.count++ == 0) group.opcode = each.opcode;
    group.depth = std::max(group.depth, view.depths[i]);
  }
  return out;
}

SassRemark remark(SassKind kind, std::uint32_t line, const Group& group, std::string text) {
  return {kind, line, group.count, group.depth, std::string(group.opcode), std::move(text)};
}

// --- memory barriers

bool is_wide_fence(const SassInstruction& each) {
  return each.opcode.starts_with("MEMBAR") &&
         (each.opcode.ends_with(".GPU") || each.opcode.ends_with(".SYS"));
}

// By what is in the line of PTX: the first row whose words are.
struct Remedy {
  std::string_view words, text;
};
constexpr Remedy kFenceRemedies[] = {
    {"mbarrier.arrive",
     "if the arrival only says that a slot is free, `mbarrier.arrive.shared::cluster.b64` is "
     "enough"},
    {"barrier.cluster.arrive",
     "if no thread reads what another block has written, `barrier.cluster.arrive.relaxed` is "
     "enough"},
    {"fence", "between threads of one block, a fence of `.cta` scope is enough"},
    {"membar", "between threads of one block, `membar.cta` is enough"},
    {"", "release once behind the loop, and use `.relaxed` in it"},
};

void add_fences(const SassView& view, std::vector<SassRemark>& out) {
  const std::vector<std::string_view> lines = split(view.source.ptx, '\n');
  for (const auto& [line, group] : groups_in_loops(view, is_wide_fence)) {
    const std::string_view ptx = line > 0 && line <= lines.size() ? lines[line - 1] : "";
    const auto* const remedy = std::ranges::find_if(kFenceRemedies, [&](const Remedy& each) {
      return ptx.find(each.words) != std::string_view::npos;
    });
    out.push_back(remark(SassKind::Fence, line, group,
                         fmt::format("{} {}: it waits until the whole GPU sees all writes of the "
                                     "thread; {}",
                                     group.opcode, loop_text(group.depth), remedy->text)));
  }
}

// --- local memory

bool is_local(const SassInstruction& each) {
  return each.opcode.starts_with("LDL") || each.opcode.starts_with("STL");
}

// R1 is the stack; arrays that are indexed at run time have other registers.
bool uses_stack(std::string_view operands) {
  const std::size_t at = operands.find("[R1");
  if (at == std::string_view::npos || at + 3 >= operands.size()) return false;
  return operands[at + 3] == ']' || operands[at + 3] == '+';
}
bool is_spill(const SassView& view, const SassInstruction& each) {
  return view.source.has_spills && is_local(each) && uses_stack(each.operands);
}

std::uint32_t bytes_of(std::string_view opcode) {
  constexpr std::pair<std::string_view, std::uint32_t> kWidths[] = {
      {".128", 16}, {".64", 8}, {".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2}};
  for (const auto& [word, bytes] : kWidths)
    if (opcode.find(word) != std::string_view::npos) return bytes;
  return 4;
}

// All of a function together: the line of a spill says where registers ran out, not why.
void add_spills(const SassView& view, std::vector<SassRemark>& out) {
  Group in_loops, all;
  std::uint32_t line = 0;
  for (std::size_t i = 0; i < view.function.code.size(); ++i) {
    const SassInstruction& each = view.function.code[i];
    if (!is_spill(view, each)) continue;
    for (Group* const group : {&all, &in_loops}) {
      if (group == &in_loops && view.depths[i] == 0) continue;
      if (group->count++ == 0) group->opcode = each.opcode;
      group->bytes += bytes_of(each.opcode);
      group->depth = std::max(group->depth, view.depths[i]);
    }
    if (line == 0 || (in_loops.count == 1 && view.depths[i] > 0)) line = each.line;
  }
  if (all.count == 0) return;
  const bool is_inside = in_loops.count > 0;
  const Group& group = is_inside ? in_loops : all;
  out.push_back(remark(
      SassKind::Spill, line, group,
      fmt::format("{} bytes of spilled registers are stored and loaded {} ({} instructions); fewer "
                  "values at a time, a smaller tile or fewer threads in a block",
                  group.bytes, is_inside ? loop_text(group.depth) : "outside loops", group.count)));
}

void add_local_memory(const SassView& view, std::vector<SassRemark>& out) {
  Groups groups = groups_in_loops(
      view, [&](const SassInstruction& each) { return is_local(each) && !is_spill(view, each); });
  for (const auto& [line, group] : groups)
    out.push_back(remark(
        SassKind::LocalMemory, line, group,
        fmt::format("{} of {} bytes {}: an array indexed at run time is in local memory, which is "
                    "global memory of a thread; indices that are constants after unrolling keep it "
                    "in registers",
                    group.opcode, bytes_of(group.opcode), loop_text(group.depth))));
}

// --- division

constexpr std::string_view kInternal = "$__internal_";

bool is_internal_call(const SassInstruction& each) {
  return each.opcode.starts_with("CALL") && each.operands.find(kInternal) != std::string_view::npos;
}

// I2F rounds up only in the sequence for integer division.
bool is_integer_division(const SassInstruction& each) {
  return each.opcode.starts_with("I2F") && each.opcode.ends_with(".RP");
}

// The `__cuda_sm20_div_u64` of "`($__internal_3_$__cuda_sm20_div_u64)".
std::string_view callee(std::string_view operands) {
  const std::size_t begin = operands.find("$__cuda_");
  if (begin == std::string_view::npos) return operands;
  return operands.substr(begin + 1, operands.find_first_of(") ", begin) - begin - 1);
}

constexpr Remedy kCallRemedies[] = {
    {"_u64", "divide 32-bit numbers, or by a constant"},
    {"_s64", "divide 32-bit numbers, or by a constant"},
    {"_f64", "compute the reciprocal before the loop, or divide floats"},
    {"div", "`div.full.f32` or `div.approx.f32`, or a reciprocal computed before the loop"},
    {"rcp", "`rcp.approx.f32`"},
    {"sqrt", "`sqrt.approx.f32`"},
    {"", "an `.approx` form, or do it before the loop"},
};

std::string call_text(std::string_view name, unsigned depth) {
  const auto* const remedy = std::ranges::find_if(kCallRemedies, [&](const Remedy& each) {
    return name.find(each.words) != std::string_view::npos;
  });
  const bool is_rare = name.ends_with("slowpath");
  return fmt::format("many instructions {}, and a call of `{}`{}; {}", loop_text(depth), name,
                     is_rare ? " for rare operands" : "", remedy->text);
}

// The numbers of instructions are for programs: schedules differ from place to place, and reasons of
// the same words are listed once.
void add_divisions(const SassView& view, std::vector<SassRemark>& out) {
  const Groups all = groups_in_loops(view, [](const SassInstruction&) { return true; });
  const Groups calls = groups_in_loops(view, is_internal_call);
  const auto add = [&](std::uint32_t line, Group group, std::string text) {
    group.count = all.at(line).count;
    out.push_back(remark(SassKind::Division, line, group, std::move(text)));
  };
  for (const auto& [line, group] : calls) {
    const auto first =
        std::ranges::find_if(view.function.code, [&, at = line](const SassInstruction& each) {
          return each.line == at && is_internal_call(each);
        });
    add(line, group, call_text(callee(first->operands), group.depth));
  }
  for (const auto& [line, group] : groups_in_loops(view, is_integer_division))
    if (!calls.contains(line))
      add(line, group,
          fmt::format("integer division by a number known at run time, {}: about 20 instructions; "
                      "divide by a constant, or by one number in all rounds",
                      loop_text(group.depth)));
}

// --- doubles

// With 2 additions or products of doubles a clock in an SM; the others have 32 or 64, or are not known
// here.
constexpr target::Arch kFewDoubles[] = {target::Arch::Sm75,   target::Arch::Sm86,
                                        target::Arch::Sm89,   target::Arch::Sm120,
                                        target::Arch::Sm120a, target::Arch::Sm120f};

void add_doubles(const SassView& view, std::vector<SassRemark>& out) {
  constexpr std::string_view kOpcodes[] = {"DADD", "DMUL", "DFMA", "DSETP"};
  if (std::ranges::find(kFewDoubles, view.source.arch) == std::end(kFewDoubles)) return;
  const Groups groups = groups_in_loops(view, [&](const SassInstruction& each) {
    return std::ranges::any_of(kOpcodes, [&](auto word) { return each.opcode.starts_with(word); });
  });
  if (groups.empty()) return;
  Group sum = groups.begin()->second;
  for (auto each = std::next(groups.begin()); each != groups.end(); ++each) {
    sum.count += each->second.count;
    sum.depth = std::max(sum.depth, each->second.depth);
  }
  out.push_back(
      remark(SassKind::Doubles, groups.begin()->first, sum,
             fmt::format("{} instructions on doubles {}: an SM of `{}` does 2 a clock, for all its "
                         "threads together; use floats where they are exact enough",
                         sum.count, loop_text(sum.depth), target::info(view.source.arch).name)));
}

}  // namespace

std::string_view name_of(SassKind kind) {
  switch (kind) {
    case SassKind::Fence:
      return "gpu fence";
    case SassKind::SerialProducts:
      return "serialised wgmma";
    case SassKind::AccumulatorMoves:
      return "accumulator moves";
    case SassKind::DescriptorMoves:
      return "descriptor moves";
    case SassKind::Spill:
      return "spill";
    case SassKind::LocalMemory:
      return "local memory";
    case SassKind::Division:
      return "division";
    case SassKind::Doubles:
      return "doubles";
    case SassKind::Assembler:
      return "assembler";
  }
  return "";
}

std::string loop_text(unsigned depth) {
  return depth <= 1 ? "in a loop" : fmt::format("in a loop of depth {}", depth);
}

const SassLoop* SassView::innermost(std::size_t instruction) const {
  const SassLoop* out = nullptr;
  for (const SassLoop& loop : loops)
    if (std::ranges::binary_search(loop.code, instruction) &&
        (out == nullptr || loop.depth > out->depth))
      out = &loop;
  return out;
}

std::vector<SassRemark> sass_remarks(const SassFunction& function, const SassSource& source) {
  SassView view{function, source, find_loops(function), {}};
  view.depths = loop_depths(function, view.loops);
  std::vector<SassRemark> out;
  add_fences(view, out);
  add_product_remarks(view, out);
  add_spills(view, out);
  add_local_memory(view, out);
  add_divisions(view, out);
  add_doubles(view, out);
  std::ranges::stable_sort(out, {}, &SassRemark::line);
  return out;
}

}  // namespace ww::runtime
