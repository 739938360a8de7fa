// SPDX-License-Identifier: Apache-2.0
// Spreading what is known along calls, and layouts for tiles that meet memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "infer/relation.h"
#include "infer/state.h"

namespace ww::infer {
namespace {

std::string relation_reason(const State& state, const Use& use, const Operand& a) {
  const std::string other = fmt::format("`{}`", state.f[a.buffer].name);
  switch (use.kind) {
    case UseKind::Reduction:
      return fmt::format("result of {} of {}", state.name(use), other);
    case UseKind::Indexed:
      return fmt::format("index of {} into {}", state.name(use), other);
    default:
      return fmt::format("goes with {} in {}", other, state.name(use));
  }
}

// Open, and matrix instructions and tensor memory do not mind.
bool is_free(const State& state, ir::BufferId id) {
  return state.is_open(id) && !is_of_product(state, id) && !meets_tensor_memory(state, id);
}

// The open operand takes the layout that goes with the first operand that has one.
bool follow_operand(State& state, const Use& use, const Operand& open) {
  for (const Operand& a : use.operands) {
    if (a.buffer == open.buffer) continue;
    const std::optional<Named> of_a = state.known(a.buffer);
    if (!of_a) continue;
    std::optional<Named> mine = related(state, use, a, *of_a, open);
    if (mine && decide(state, open.buffer, *std::move(mine), relation_reason(state, use, a),
                       state.span(use)))
      return true;
  }
  return false;
}

// --- tiles that meet memory ----------------------------------------------------------------------

constexpr std::int64_t kMinRunBits = 128, kMaxRunBits = 512;

// Are whole rows in few threads as good to load as vectors side by side, and better to reduce?
// Each thread has a run of 16 to 64 bytes, and fewer threads share a row.
bool prefers_rows(const layout::Shape& shape, std::int64_t threads, int bits) {
  const std::int64_t length = shape.back();
  const std::int64_t rows =
      std::accumulate(shape.begin(), shape.end() - 1, std::int64_t{1}, std::multiplies<>());
  const std::int64_t vector = std::gcd(length, std::max<std::int64_t>(1, kMinRunBits / bits));
  const std::int64_t side_by_side = std::gcd(length / vector, threads);
  const std::int64_t parts = threads / std::gcd(rows, threads);
  if (parts >= side_by_side || length % parts != 0) return false;
  const std::int64_t run = length / parts * bits;
  return run % kMinRunBits == 0 && run <= kMaxRunBits;
}

// By as many threads as can share the tile evenly.
std::optional<Named> memory_layout(const State& state, ir::BufferId id, const Sharers& all) {
  const layout::Shape shape = state.shape(id);
  const num::DType dtype = state.f[id].dtype;
  const bool is_reduced = is_row_reduced(state, id);
  for (std::int64_t count = all.count; count >= 1; --count) {
    if (all.count % count != 0) continue;
    const Sharers by{count, all.axis};
    Result<Named> rows = row_named(shape, by);
    if (rows && is_reduced && prefers_rows(shape, count, num::storage_bits(dtype)))
      return *std::move(rows);
    if (Result<Named> vectors = coalesced_named(shape, by, dtype)) return *std::move(vectors);
    if (rows) return *std::move(rows);
  }
  return std::nullopt;
}

struct MemoryUse {
  std::int64_t bits = 0;
  const Use* use = nullptr;
  ir::BufferId buffer = {};
};

bool is_memory(ir::Scope scope) { return scope == ir::Scope::Global || ir::is_shared(scope); }

// The largest open tile that a call moves to or from memory, of several the first.
std::optional<MemoryUse> largest(const State& state) {
  std::optional<MemoryUse> best;
  for (const Use& use : state.uses) {
    if (use.kind == UseKind::Product || use.kind == UseKind::Other) continue;
    const bool meets_memory = std::ranges::any_of(
        use.operands, [&](const Operand& each) { return is_memory(state.f[each.buffer].scope); });
    if (!meets_memory || !sharers_of(state, state.call(use).scope)) continue;
    for (const Operand& each : use.operands) {
      if (!is_free(state, each.buffer)) continue;
      const std::int64_t bits =
          state.elements(each.buffer) * num::storage_bits(state.f[each.buffer].dtype);
      if (!best || bits > best->bits) best = MemoryUse{bits, &use, each.buffer};
    }
  }
  return best;
}

}  // namespace

void follow(State& state) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Use& use : state.uses)
      for (const Operand& each : use.operands)
        if (is_free(state, each.buffer) && follow_operand(state, use, each)) has_changed = true;
  }
}

bool is_row_reduced(const State& state, ir::BufferId id) {
  return std::ranges::any_of(state.uses, [&](const Use& use) {
    const Operand* source = use.kind == UseKind::Reduction ? use.at(1) : nullptr;
    if (source == nullptr || state.group(source->buffer) != state.group(id)) return false;
    const layout::Shape dims = folded_dims(state, use, *source);
    return !dims.empty() && dims.back() == std::ssize(source->extents) - 1;
  });
}

void decide_by_memory(State& state) {
  while (const std::optional<MemoryUse> next = largest(state)) {
    const ir::TileCall& call = state.call(*next->use);
    std::optional<Named> named = memory_layout(state, next->buffer, *sharers_of(state, call.scope));
    // One thread can hold anything, so there is always one.
    WW_CHECK(named && decide(state, next->buffer, *std::move(named),
                             fmt::format("meets memory in {}", state.name(*next->use)),
                             state.span(*next->use)),
             "a tile in one thread");
    follow(state);
  }
}

}  // namespace ww::infer
