// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives whose operands, or results, are in shared memory.
#include <string>
#include <vector>

#include "soak/steps.h"

namespace ww::test {
namespace {

bool mixed_fit(const Draft& draft, const Place&) { return !draft.shared.empty(); }

// Registers and shared memory of one shape and type. What products are made from stays as it is.
void write_mixed(Draft& draft, const Place& at) {
  std::vector<std::pair<RegTile*, Shared*>> pairs;
  for (const auto& pair : copy_pairs(draft, true))
    if (!pair.first->is_for_sums) pairs.push_back(pair);
  if (pairs.empty()) return;
  auto [reg, each] = draft.tape.pick(pairs);
  const bool is_result = draft.tape.one_in(2), is_operand = !is_result || draft.tape.one_in(2);
  if (is_result && each->shape != draft.f.tile) return;
  order_access(draft, at, *each, is_result, false);
  if (is_result && is_operand) each->pending.own_read = true;
  const Columns c = any_columns(draft, reg->shape);
  const std::string here = region_of(*reg, c), there = region_of(draft, at, *each, draft.f.unit, c);
  const std::string op =
      draft.tape.pick(std::vector<std::string>{"add", "sub", "mul", "maximum", "minimum", "cast"});
  std::string args = (is_result ? there : here) + ", " + (is_operand ? there : here);
  if (op != "cast") args += ", " + here;
  draft.text.line(at, "{}{}({})", draft.f.prefix(), op, args);
}

}  // namespace

const Step kMixed{
    .name = "elementwise: with shared memory", .fits = mixed_fit, .write = write_mixed};

}  // namespace ww::test
