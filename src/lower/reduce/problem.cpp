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
  if (side.bits < 8 || side.dtype == num::DType::Bool)
    return decline("dtype", "`{}` has elements of type {}, expected numbers of whole bytes",
                   call.buffer(argument).name, num::name_of(side.dtype));
  WW_TRY_VOID(check_cells(call, side, argument));
  return side;
}

/// How elements of the source are numbered around the dimension that is folded.
struct Dimension {
  std::int64_t extent = 1, behind = 1;
  [[nodiscard]] std::int64_t into(std::int64_t x) const {
    return x / (extent * behind) * behind + x % behind;
  }
};

Dimension dimension_of(const Call& call) {
  ExprWriter write(call.f(), call.context.facts, call.span);
  const std::vector<ir::RangeExpr>& ranges = call.region(1).ranges;
  const std::size_t folded = ir::folded_dimension(call.tile);
  Dimension out;
  for (std::size_t d = folded; d < ranges.size(); ++d) {
    const auto extent = write.constant(write.simplify(ranges[d].extent));
    WW_CHECK(extent.has_value(), "a side with runtime extents");
    (d == folded ? out.extent : out.behind) *= *extent;
  }
  return out;
}

struct Held {
  std::int64_t x, slot;
};
/// By thread, then by element of the destination.
using HeldOf = std::vector<std::map<std::int64_t, std::vector<Held>>>;

HeldOf held_of(const ReduceProblem& p, const Dimension& dimension) {
  HeldOf out(as_index(p.threads));
  for_each_holder(p.src, p.threads, [&](std::size_t at, std::int64_t u, std::int64_t slot) {
    const auto x = static_cast<std::int64_t>(at);
    std::vector<Held>& held = out[as_index(u)][dimension.into(x)];
    if (held.empty() || held.back().x != x) held.push_back({x, slot});
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
      for (const Held& each : elements) part.slots.push_back(each.slot);
    }
  }
  return {};
}

}  // namespace
}  // namespace reducing

Match<ReduceProblem> reduce_problem(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  ReduceProblem p;
  p.dst = WW_TRY(reducing::registers_of(call, 0));
  p.src = WW_TRY(reducing::registers_of(call, 1));
  p.type = ir::fold_type(p.src.dtype);
  p.threads = call.unit_threads();
  p.elements = std::ssize(p.src);
  p.accumulates = ir::is_true(call.tile.args[3]);
  const reducing::Dimension dimension = reducing::dimension_of(call);
  p.folded = dimension.extent;
  WW_TRY_VOID(reducing::find_rows(call, p, reducing::held_of(p, dimension)));
  return p;
}

}  // namespace ww::lower
