// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/ascii.h"

namespace ww::runtime {
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

}  // namespace ww::runtime
