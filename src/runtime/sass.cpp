// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/split.h"

namespace ww::runtime {

namespace {

constexpr std::string_view kSection = ".text.";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::uint32_t> number(std::string_view text, int base) {
  std::uint32_t out = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return out;
}

// The 12 of `//## File ".nv_debug_ptx_txt", line 12`.
std::optional<std::uint32_t> line_of(std::string_view text) {
  constexpr std::string_view kBefore = "\", line ";
  const std::size_t at = text.find(kBefore);
  if (!text.starts_with("//##") || at == std::string_view::npos) return std::nullopt;
  return number(text.substr(at + kBefore.size()), 10);
}

// The first word, which is taken off.
std::string_view next_word(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

// `/*01a0*/ @P0 BRA `(.L_x_9) ;`
std::optional<SassInstruction> instruction_in(std::string_view text) {
  const std::size_t end = text.find("*/");
  const auto address = number(text.substr(2, end == std::string_view::npos ? 0 : end - 2), 16);
  if (!address) return std::nullopt;
  SassInstruction out{.address = *address};
  std::string_view rest = trimmed(text.substr(end + 2));
  if (rest.ends_with(';')) rest = trimmed(rest.substr(0, rest.size() - 1));
  if (rest.starts_with('@')) out.guard = next_word(rest);
  out.opcode = next_word(rest);
  out.operands = rest;
  if (out.opcode.empty()) return std::nullopt;
  return out;
}

bool is_label(std::string_view text) {
  return text.ends_with(':') && text.find_first_of(" \t") == std::string_view::npos;
}

}  // namespace

Result<std::vector<SassFunction>> read_listing(std::string_view text) {
  std::vector<SassFunction> out;
  std::uint32_t line = 0;
  for (const std::string_view each : split_words(text, '\n')) {
    const std::string_view part = trimmed(each);
    if (const auto number = line_of(part)) {
      line = *number;
    } else if (is_label(part)) {
      const std::string_view name = part.substr(0, part.size() - 1);
      if (name.starts_with(kSection)) {
        out.push_back({.name = name.substr(kSection.size())});
        line = 0;
      } else if (!out.empty()) {
        out.back().labels.emplace(name, out.back().code.size());
      }
    } else if (part.starts_with("/*") && !out.empty()) {
      auto instruction = instruction_in(part);
      if (!instruction)
        return fail(DiagKind::DeviceError, "the disassembly has a line without instruction: `{}`",
                    part);
      instruction->line = line;
      out.back().code.push_back(*instruction);
    }
  }
  std::erase_if(out, [](const SassFunction& function) { return function.code.empty(); });
  if (out.empty()) return fail(DiagKind::DeviceError, "the disassembly has no code");
  return out;
}

// --- loops ---------------------------------------------------------------------------------------

namespace {

struct Block {
  std::size_t begin = 0, end = 0;  // instructions
  std::vector<std::size_t> next = {}, before = {};
};

constexpr std::string_view kJumps[] = {"BRA", "BRX", "JMP", "JMX", "WARPSYNC.COLLECTIVE"};
constexpr std::string_view kEnds[] = {"EXIT", "RET", "KILL"};

template <typename List>
bool starts_with_any(std::string_view opcode, const List& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return opcode.starts_with(word); });
}

bool is_jump(const SassInstruction& each) { return starts_with_any(each.opcode, kJumps); }
bool is_end(const SassInstruction& each) { return starts_with_any(each.opcode, kEnds); }

// Labels in the operands: "`(.L_x_5)", "(*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)".
std::vector<std::size_t> targets(const SassFunction& function, const SassInstruction& jump) {
  std::vector<std::size_t> out;
  const std::string_view text = jump.operands;
  for (std::size_t at = text.find(".L"); at != std::string_view::npos; at = text.find(".L", at)) {
    std::size_t end = at + 1;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const auto found = function.labels.find(text.substr(at, end - at));
    if (found != function.labels.end() && found->second < function.code.size())
      out.push_back(found->second);
    at = end;
  }
  return out;
}

// A branch with a predicate or a register before its label may not be taken; one through a table
// always is.
bool falls_through(const SassInstruction& each) {
  if (!each.guard.empty()) return true;
  if (is_end(each)) return false;
  if (!is_jump(each) || each.opcode.starts_with("WARPSYNC")) return true;
  return each.opcode.starts_with("BRA") && !each.operands.starts_with('`');
}

std::vector<Block> blocks_of(const SassFunction& function) {
  const std::size_t count = function.code.size();
  std::set<std::size_t> starts{0};
  for (std::size_t i = 0; i < count; ++i) {
    const SassInstruction& each = function.code[i];
    if (!is_jump(each) && !is_end(each)) continue;
    if (i + 1 < count) starts.insert(i + 1);
    if (is_jump(each))
      for (const std::size_t target : targets(function, each)) starts.insert(target);
  }
  std::vector<Block> out;
  std::map<std::size_t, std::size_t> by_start;
  for (const std::size_t start : starts) {
    if (!out.empty()) out.back().end = start;
    by_start.emplace(start, out.size());
    out.push_back({.begin = start, .end = count});
  }
  for (std::size_t b = 0; b < out.size(); ++b) {
    const SassInstruction& last = function.code[out[b].end - 1];
    if (falls_through(last) && b + 1 < out.size()) out[b].next.push_back(b + 1);
    if (is_jump(last))
      for (const std::size_t target : targets(function, last))
        out[b].next.push_back(by_start.at(target));
  }
  for (std::size_t b = 0; b < out.size(); ++b)
    for (const std::size_t next : out[b].next) out[next].before.push_back(b);
  return out;
}

constexpr std::size_t kUnreached = ~std::size_t{0};

// Blocks that the first one reaches, each after its predecessors, back edges aside.
std::vector<std::size_t> forward_order(const std::vector<Block>& blocks) {
  std::vector<std::size_t> out;
  std::vector<bool> seen(blocks.size());
  std::vector<std::pair<std::size_t, std::size_t>> stack{{0, 0}};  // block, next of its successors
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, at] = stack.back();
    if (at == blocks[block].next.size()) {
      out.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::size_t next = blocks[block].next[at++];
    if (seen[next]) continue;
    seen[next] = true;
    stack.emplace_back(next, 0);
  }
  std::ranges::reverse(out);
  return out;
}

// The last block that every way to a block goes through (Cooper, Harvey and Kennedy's algorithm).
class Dominators {
 public:
  explicit Dominators(const std::vector<Block>& blocks)
      : order_(blocks.size(), kUnreached), above_(blocks.size(), kUnreached) {
    const std::vector<std::size_t> forward = forward_order(blocks);
    for (std::size_t i = 0; i < forward.size(); ++i) order_[forward[i]] = i;
    above_[0] = 0;
    for (bool changes = true; std::exchange(changes, false);)
      for (const std::size_t block : forward)
        changes = (block != 0 && settle(blocks, block)) || changes;
  }

  [[nodiscard]] bool reached(std::size_t block) const { return order_[block] != kUnreached; }
  [[nodiscard]] bool dominates(std::size_t above, std::size_t block) const {
    while (order_[block] > order_[above]) block = above_[block];
    return block == above;
  }

 private:
  bool settle(const std::vector<Block>& blocks, std::size_t block) {
    std::size_t found = kUnreached;
    for (const std::size_t each : blocks[block].before) {
      if (above_[each] == kUnreached) continue;
      found = found == kUnreached ? each : common(found, each);
    }
    return std::exchange(above_[block], found) != found;
  }
  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) (order_[a] > order_[b] ? a : b) = above_[order_[a] > order_[b] ? a : b];
    return a;
  }

  std::vector<std::size_t> order_, above_;
};

// The blocks of the loops by their headers: the blocks that reach a back edge without the header.
std::map<std::size_t, std::set<std::size_t>> bodies(const std::vector<Block>& blocks) {
  const Dominators dominators(blocks);
  std::map<std::size_t, std::set<std::size_t>> out;
  for (std::size_t tail = 0; tail < blocks.size(); ++tail)
    for (const std::size_t head : blocks[tail].next) {
      if (!dominators.reached(tail) || !dominators.dominates(head, tail)) continue;
      std::set<std::size_t>& body = out[head];
      body.insert(head);
      std::vector<std::size_t> left{tail};
      while (!left.empty()) {
        const std::size_t block = left.back();
        left.pop_back();
        if (!dominators.reached(block) || !body.insert(block).second) continue;
        left.insert(left.end(), blocks[block].before.begin(), blocks[block].before.end());
      }
    }
  return out;
}

}  // namespace

std::vector<SassLoop> find_loops(const SassFunction& function) {
  std::vector<SassLoop> out;
  if (function.code.empty()) return out;
  const std::vector<Block> blocks = blocks_of(function);
  const auto loops = bodies(blocks);
  for (const auto& [head, body] : loops) {
    SassLoop& loop = out.emplace_back();
    loop.first = blocks[head].begin;
    for (const std::size_t block : body)
      for (std::size_t i = blocks[block].begin; i < blocks[block].end; ++i) loop.code.push_back(i);
    loop.depth = static_cast<unsigned>(std::ranges::count_if(
        loops, [&, header = head](const auto& other) { return other.second.contains(header); }));
  }
  return out;
}

std::vector<unsigned> loop_depths(const SassFunction& function,
                                  const std::vector<SassLoop>& loops) {
  std::vector<unsigned> out(function.code.size());
  for (const SassLoop& loop : loops)
    for (const std::size_t i : loop.code) out[i] = std::max(out[i], loop.depth);
  return out;
}

// --- products ------------------------------------------------------------------------------------
//
// Remarks on matrix products of warpgroups (`wgmma`, GMMA in SASS) in loops: whether one is in flight
// while the next is issued, and what moves between the registers that they use. A listing has no lines
// for GMMA itself, so that a remark has the line of the wait, of the fence or of the first move.

namespace {

// As many moves in a round are worth a word.
constexpr std::uint32_t kMinMoves = 8;
// Of a product with both descriptors in uniform registers, none moves; one descriptor is two.
constexpr std::uint32_t kMinDescriptorMoves = 2;

// HGMMA, QGMMA, IGMMA, BGMMA.
bool is_product(const SassInstruction& each) {
  return each.opcode.size() > 1 && each.opcode.substr(1).starts_with("GMMA.");
}
bool is_wait(const SassInstruction& each) { return each.opcode.starts_with("WARPGROUP.DEPBAR"); }

// The products whose innermost loop this is.
struct ProductLoop {
  const SassLoop* loop = nullptr;
  std::vector<std::size_t> products = {};
};

std::vector<ProductLoop> product_loops(const SassView& view) {
  std::map<std::size_t, ProductLoop> out;
  for (std::size_t i = 0; i < view.function.code.size(); ++i) {
    if (view.depths[i] == 0 || !is_product(view.function.code[i])) continue;
    const SassLoop* const loop = view.innermost(i);
    ProductLoop& products = out[loop->first];
    products.loop = loop;
    products.products.push_back(i);
  }
  std::vector<ProductLoop> list;
  for (auto& [first, each] : out) list.push_back(std::move(each));
  return list;
}

// The first instruction of a loop that is such a one; nullptr: none.
template <typename Is>
const SassInstruction* first_in(const SassView& view, const SassLoop& loop, Is&& is) {
  for (const std::size_t i : loop.code)
    if (is(view.function.code[i])) return &view.function.code[i];
  return nullptr;
}

// Each product has a wait for all of them behind it, before the next.
bool is_serial(const SassView& view, const SassLoop& loop) {
  bool in_flight = false;
  for (const std::size_t i : loop.code) {
    const SassInstruction& each = view.function.code[i];
    if (is_wait(each) && each.operands.ends_with("0x0")) in_flight = false;
    if (!is_product(each)) continue;
    if (in_flight) return false;
    in_flight = true;
  }
  return !in_flight;
}

void add_serial(const SassView& view, const ProductLoop& each, std::vector<SassRemark>& out) {
  if (!is_serial(view, *each.loop)) return;
  const SassInstruction& wait = *first_in(view, *each.loop, is_wait);
  out.push_back({SassKind::SerialProducts, wait.line,
                 static_cast<std::uint32_t>(each.products.size()), each.loop->depth,
                 std::string(wait.opcode),
                 fmt::format("each of {} products {} is waited for before the next is issued: the "
                             "tensor cores idle; issue several in one group, or wait for all but "
                             "the last group",
                             each.products.size(), loop_text(each.loop->depth))});
}

// The number of "R24"; nothing for RZ, uniform registers and constants.
std::optional<unsigned> register_in(std::string_view operand) {
  while (operand.starts_with(' ')) operand.remove_prefix(1);
  if (!operand.starts_with('R')) return std::nullopt;
  unsigned out = 0;
  const char* const end = operand.data() + operand.size();
  const auto [rest, error] = std::from_chars(operand.data() + 1, end, out);
  if (error != std::errc()) return std::nullopt;
  return out;
}

struct Registers {
  unsigned begin = 0, end = 0;
  [[nodiscard]] bool has(unsigned number) const { return begin <= number && number < end; }
};

// Those of the result: from "HGMMA.64x128x16.F32 R24, …", 64 registers from R24 on.
std::optional<Registers> accumulator(const SassInstruction& product) {
  const std::size_t begin = product.opcode.find('x');
  const auto first = register_in(product.operands);
  if (begin == std::string_view::npos || !first) return std::nullopt;
  unsigned columns = 0;
  const std::string_view rest = product.opcode.substr(begin + 1);
  if (std::from_chars(rest.data(), rest.data() + rest.size(), columns).ec != std::errc())
    return std::nullopt;
  const bool is_half = product.opcode.ends_with(".F16");
  return Registers{*first, *first + columns / (is_half ? 4 : 2)};
}

// From one register to another, of which one is an accumulator's.
bool moves_accumulator(const SassInstruction& each, const std::vector<Registers>& accumulators) {
  if (each.opcode != "MOV" && each.opcode != "IMAD.MOV.U32") return false;
  const auto to = register_in(each.operands);
  const auto from = register_in(each.operands.substr(each.operands.find_last_of(',') + 1));
  if (!to || !from) return false;
  return std::ranges::any_of(
      accumulators, [&](const Registers& range) { return range.has(*to) || range.has(*from); });
}

void add_moves(const SassView& view, const ProductLoop& each, std::vector<SassRemark>& out) {
  std::vector<Registers> accumulators;
  for (const std::size_t i : each.products)
    if (const auto range = accumulator(view.function.code[i])) accumulators.push_back(*range);
  const auto is_move = [&](const SassInstruction& one) {
    return moves_accumulator(one, accumulators);
  };
  std::uint32_t count = 0;
  for (const std::size_t i : each.loop->code) count += is_move(view.function.code[i]) ? 1U : 0U;
  if (count < kMinMoves) return;
  const SassInstruction& first = *first_in(view, *each.loop, is_move);
  out.push_back(
      {SassKind::AccumulatorMoves, first.line, count, each.loop->depth, std::string(first.opcode),
       fmt::format("{} moves between registers of accumulators {}; keep each result in the same "
                   "variables in all rounds, or unroll the loop over those that change places",
                   count, loop_text(each.loop->depth))});
}

void add_descriptor_moves(const SassView& view, const ProductLoop& each,
                          std::vector<SassRemark>& out) {
  const auto is_move = [](const SassInstruction& one) { return one.opcode.starts_with("R2UR"); };
  std::uint32_t count = 0;
  for (const std::size_t i : each.loop->code) count += is_move(view.function.code[i]) ? 1U : 0U;
  if (count < kMinDescriptorMoves * each.products.size()) return;
  const auto is_fence = [](const SassInstruction& one) {
    return one.opcode.starts_with("WARPGROUP.ARRIVE");
  };
  const SassInstruction* const fence = first_in(view, *each.loop, is_fence);
  const SassInstruction& first = fence != nullptr ? *fence : *first_in(view, *each.loop, is_move);
  out.push_back(
      {SassKind::DescriptorMoves, first.line, count, each.loop->depth, "R2UR",
       fmt::format("{} moves to uniform registers for {} products {}: ptxas cannot tell that a "
                   "descriptor is the same in all lanes; compute it from values that are, such as "
                   "parameters, or of `shfl.sync.idx` from lane 0",
                   count, each.products.size(), loop_text(each.loop->depth))});
}

}  // namespace

void add_product_remarks(const SassView& view, std::vector<SassRemark>& out) {
  for (const ProductLoop& each : product_loops(view)) {
    add_serial(view, each, out);
    add_moves(view, each, out);
    add_descriptor_moves(view, each, out);
  }
}

// --- remarks -------------------------------------------------------------------------------------

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
  static constexpr std::string_view kTexts[] = {
      "gpu fence",    "serialised wgmma", "accumulator moves", "descriptor moves", "spill",
      "local memory", "division",         "doubles",           "assembler"};
  return kTexts[std::to_underlying(kind)];
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
