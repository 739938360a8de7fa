// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/problem.h"

#include <algorithm>
#include <map>

#include "ir/reduction.h"
#include "ir/settings.h"
#include "lower/as_index.h"
#include "lower/checks.h"

namespace ww::lower {
namespace reducing {
namespace {

Match<OperandPlaces> registers_of(const Call& call, std::size_t argument) {
  OperandPlaces side = WW_TRY(register_places(call, argument));
  const bool is_logic = call.tile.op == ir::TileOp::Any || call.tile.op == ir::TileOp::All ||
                        ir::gives_index(call.tile.op);
  if (side.bits < 8 || (side.dtype == num::DType::Bool && !is_logic))
    return decline("dtype", "`{}` has elements of type {}, expected numbers of whole bytes",
                   call.buffer(argument).name, num::name_of(side.dtype));
  WW_TRY_VOID(check_cells(call, side, argument));
  return side;
}

struct Held {
  std::int64_t x, slot, index;
};
/// By thread, then by element of the destination.
using HeldOf = std::vector<std::map<std::int64_t, std::vector<Held>>>;

HeldOf held_of(const ReduceProblem& p, const ir::FoldMap& map) {
  HeldOf out(as_index(p.threads));
  for_each_holder(p.src, p.threads, [&](std::size_t at, std::int64_t u, std::int64_t slot) {
    const auto x = static_cast<std::int64_t>(at);
    std::vector<Held>& held = out[as_index(u)][map.into[at]];
    if (held.empty() || held.back().x != x) held.push_back({x, slot, map.index[at]});
  });
  return out;
}

/// Numbers for what threads hold: two threads hold the same elements, or none in common.
class Sets {
 public:
  Sets(const Call& call, ReduceProblem& p)
      : call_(call), p_(p), first_(p.src.size(), Owner{-1, -1}) {}

  Match<std::int64_t> number_of(const std::vector<Held>& held, std::int64_t thread) {
    std::vector<std::int64_t> elements;
    elements.reserve(held.size());
    for (const Held& each : held) elements.push_back(each.x);
    const auto [found, is_new] =
        numbers_.emplace(std::move(elements), static_cast<std::int64_t>(numbers_.size()));
    if (!is_new) return found->second;
    p_.set_sizes.push_back(std::ssize(held));
    for (const Held& each : held) {
      Owner& first = first_[as_index(each.x)];
      if (first.set >= 0)
        return decline("replica",
                       "threads {} and {} of the {} both hold element {} of `{}`, but not the same "
                       "elements beside it",
                       first.thread, thread, ir::name_of(call_.tile.scope), each.x,
                       call_.buffer(1).name);
      first = {found->second, thread};
    }
    return found->second;
  }

 private:
  struct Owner {
    std::int64_t set, thread;
  };
  const Call& call_;
  ReduceProblem& p_;
  std::vector<Owner> first_;  // by element
  std::map<std::vector<std::int64_t>, std::int64_t> numbers_;
};

Match<void> find_rows(const Call& call, ReduceProblem& p, const HeldOf& held) {
  Sets sets(call, p);
  for (std::int64_t u = 0; u < p.threads; ++u) {
    std::size_t row = 0;
    for (const auto& [into, elements] : held[as_index(u)]) {
      if (row == p.rows.size()) p.rows.emplace_back(as_index(p.threads));
      ReducePart& part = p.rows[row++][as_index(u)];
      part.into = into;
      part.set = WW_TRY(sets.number_of(elements, u));
      for (const Held& each : elements) {
        part.slots.push_back(each.slot);
        part.indices.push_back(each.index);
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace reducing

Match<std::vector<std::int64_t>> source_extents(const Call& call) {
  ExprWriter write(call.f(), call.context.facts, call.span);
  std::vector<std::int64_t> out;
  for (const ir::RangeExpr& range : call.region(1).ranges) {
    const auto extent = write.constant(write.simplify(range.extent));
    if (!extent)
      return decline("extents", "an extent of `{}` is known at run time only", call.buffer(1).name);
    out.push_back(*extent);
  }
  return out;
}

Match<ReduceProblem> reduce_problem(const Call& call) {
  ReduceProblem p;
  p.dst = WW_TRY(reducing::registers_of(call, 0));
  p.src = WW_TRY(reducing::registers_of(call, 1));
  p.type = ir::fold_type(p.src.dtype);
  p.by = ir::folding_operator(call.tile.op);
  if (ir::gives_index(call.tile.op)) {
    if (num::bits_of(p.type) > 32)
      return decline("dtype",
                     "`{}` has elements of type {}, expected at most 32 bits beside an index",
                     call.buffer(1).name, num::name_of(p.src.dtype));
    p.type = num::DType::Uint64;
    p.by = ir::ExprOp::Max;
  }
  p.threads = call.unit_threads();
  p.elements = std::ssize(p.src);
  p.accumulates = ir::accumulates(call.tile);
  const ir::FoldMap map =
      ir::fold_map(WW_TRY(source_extents(call)), ir::folded_dimensions(call.tile));
  p.folded = map.folded;
  WW_TRY_VOID(reducing::find_rows(call, p, reducing::held_of(p, map)));
  return p;
}

}  // namespace ww::lower
