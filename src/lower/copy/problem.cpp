// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "ir/elementwise.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "layout/image.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/elementwise/problem.h"
#include "lower/index_expr.h"

namespace ww::lower {

using ir::ExprId;

const OperandPlaces* CopyProblem::register_side() const {
  if (dst.is_register()) return &dst;
  return src.is_register() ? &src : nullptr;
}

bool CopyProblem::is_one_mask(std::span<const std::int32_t> chosen, std::int64_t vec) const {
  const auto is_same = [&](std::size_t x, std::size_t y) {
    const auto has_same = [&](const RuntimeStride& s) { return s.coef[x] == s.coef[y]; };
    return mask->linear[x] == mask->linear[y] && std::ranges::all_of(mask->strides, has_same) &&
           (!mask->is_register() || mask->owner[x] == mask->owner[y]);
  };
  for (std::size_t i = 1; mask && i < chosen.size(); ++i)
    if (i % as_index(vec) != 0 && !is_same(as_index(chosen[i - 1]), as_index(chosen[i])))
      return false;
  return true;
}

std::int64_t CopyProblem::mask_place(std::int32_t x, std::int64_t u) const {
  if (!mask->is_register()) return mask->linear[as_index(x)];
  return slot_of(*mask, as_index(x), u).value_or(-1);
}

Match<void> check_plain(const CopyProblem& problem) {
  if (problem.predicate.valid()) return decline("predicate", "the copy is made under a condition");
  if (problem.mask) return decline("predicate", "each element is copied under a condition");
  for (const OperandPlaces* side : {&problem.src, &problem.dst})
    if (!side->edges.empty())
      return decline("edge", "the {} may leave its buffer in {} dimension{}",
                     side == &problem.src ? "source" : "destination", side->edges.size(),
                     side->edges.size() == 1 ? "" : "s");
  return {};
}

Match<void> check_no_tensor(const Call& call) {
  for (const std::size_t i : {0U, 1U})
    if (call.memory(i) == ir::Scope::Tmem)
      return decline("memory_pair", "tensor memory is copied by `copy_async`");
  return {};
}

Match<void> check_global_to_shared(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  if (call.memory(1) != ir::Scope::Global || !ir::is_shared(call.memory(0)))
    return decline("scope", "{} to {}, expected global to shared memory",
                   ir::name_of(call.memory(1)), ir::name_of(call.memory(0)));
  return check_workers(call);
}

Match<void> check_settings(const Call& call, std::initializer_list<std::string_view> heeded) {
  constexpr std::string_view kOfAll[] = {"predicate", "fill_mode", "fill_value", "clip"};
  for (const auto& [key, value] : call.tile.config) {
    if (std::ranges::find(kOfAll, key) != std::end(kOfAll) ||
        std::ranges::find(heeded, key) != heeded.end())
      continue;
    const ir::SettingFacts* facts = ir::find_setting_facts(call.tile.op, key);
    const bool* flag = std::get_if<bool>(&value);
    const bool is_left_out = facts != nullptr && !facts->words().empty()
                                 ? ir::word_of(&value).empty()
                                 : flag != nullptr && !*flag;
    const bool is_default = key == "cta_group" && ir::word_of(&value) == "1";
    if (is_left_out || is_default) continue;
    if (key == "remote_cta_id")
      return decline("remote", "one side is in another CTA (`remote_cta_id=`)");
    if (key.starts_with("mbar"))
      return decline("mbarrier", "`{}=` is for a copy that arrives at a barrier", key);
    if (facts != nullptr && facts->is_of_tensor_maps())
      return decline("config", "`{}=` is for copies through tensor maps", key);
    return decline("config", "`{}=` has no effect on this variant", key);
  }
  return {};
}

ExprId predicate_of(const Call& call, CodeWriter& write) {
  const ir::Setting* setting = ir::copy_settings(call.tile).predicate;
  if (setting == nullptr) return {};
  if (const bool* flag = std::get_if<bool>(setting))
    return *flag ? ExprId{} : ir::bool_imm(call.f(), false, call.span);
  const auto* expr = std::get_if<ExprId>(setting);
  WW_CHECK(expr != nullptr, "a predicate that is not a condition");
  ExprId out = *expr;
  if (!call.f()[out].type.is_bool()) out = write.binary(ir::ExprOp::Ne, out, write.n(0));
  out = write.simplify(out);
  return write.constant(out) == 1 ? ExprId{} : out;
}

ExprId fill_value_of(const Call& call, CodeWriter& code, const ir::Setting* setting) {
  const num::DType type = call.buffer(0).dtype;
  if (setting == nullptr) return code.zero(type);
  if (const auto constant = ir::constant_operand(call.f(), ir::TileArg(*setting)))
    return code.literal(ir::convert(*constant, type));
  return code.let("fill_value", std::get<ExprId>(*setting));
}

bool is_zero_fill(const Call& call) {
  const ir::Setting* setting = ir::copy_settings(call.tile).fill_value;
  if (setting == nullptr) return true;
  const auto constant = ir::constant_operand(call.f(), ir::TileArg(*setting));
  if (!constant) return false;
  return num::is_float(constant->dtype) ? constant->real == 0 && !std::signbit(constant->real)
                                        : constant->integer == 0;
}

namespace {

struct Bits {
  std::int64_t begin, end;
};

// The bits of its storage that a buffer takes, where that is known.
std::optional<Bits> extent_of(const ir::Function& f, ir::BufferId id) {
  const ir::Buffer& buffer = f[id];
  const int width = storage_bits(buffer.dtype);
  const auto start = constant_offset(f, buffer, width);
  const auto size = storage_size(f, buffer);
  if (!start || !size || !*size) return std::nullopt;
  return Bits{*start, **size * width};
}

}  // namespace

bool are_apart(const ir::Function& f, ir::BufferId a, ir::BufferId b) {
  const auto x = extent_of(f, a), y = extent_of(f, b);
  return x && y && (x->end <= y->begin || y->end <= x->begin);
}

namespace {

// A destination in memory that holds an element at several places gets it at all of them (from
// registers, by repeated accesses); a source gives it from the first. In tensor memory it matters
// which warp reaches which replica, so that they stay.
void spell_out_replicas(CopyProblem& problem) {
  OperandPlaces& dst = problem.dst;
  if (dst.is_tensor() || problem.src.is_tensor()) return;
  if (!problem.src.is_register()) problem.src.replicas.resize(1);
  if (dst.is_register() || problem.src.is_register() || dst.replicas.size() == 1) return;
  const std::size_t n = dst.size();
  const std::vector<Shift> shifts = std::exchange(dst.replicas, {Shift{}});
  const auto repeat = [&](std::vector<std::int64_t>& list) {
    if (list.empty()) return;
    list.reserve(n * shifts.size());
    for (std::size_t c = 1; c < shifts.size(); ++c)
      for (std::size_t x = 0; x < n; ++x) list.push_back(list[x]);
  };
  repeat(problem.src.linear);
  repeat(problem.src.owner);
  repeat(dst.linear);
  std::vector<OperandPlaces*> sides{&problem.src, &dst};
  if (problem.mask) {
    sides.push_back(&*problem.mask);
    repeat(problem.mask->linear);
    repeat(problem.mask->owner);
  }
  for (OperandPlaces* side : sides)
    for (RuntimeStride& stride : side->strides) repeat(stride.coef);
  for (OperandPlaces* side : {&problem.src, &dst})
    for (Edge& edge : side->edges) repeat(edge.coordinate);
  for (std::size_t c = 0; c < shifts.size(); ++c)
    for (std::size_t x = 0; x < n; ++x) dst.linear[c * n + x] += shifts[c].place;
}

// All is read before anything is written, says the meaning of a copy; threads that do both in turn
// keep to that only where source and destination are apart.
Match<void> check_overlap(const Call& call, const CopyProblem& problem) {
  const ir::BufferId storage = ir::storage_of(call.f(), problem.dst.buffer);
  if (storage != ir::storage_of(call.f(), problem.src.buffer)) return {};
  if (are_apart(call.f(), problem.dst.buffer, problem.src.buffer)) return {};
  const auto dst = bit_places(call, problem.dst);
  const auto src = bit_places(call, problem.src);
  const std::string& name = call.f()[storage].name;
  if (!dst || !src)
    return decline("overlap",
                   "source and destination in `{}` may overlap: their offsets are known at "
                   "run time only",
                   name);
  std::map<std::int64_t, std::size_t> read;
  for (std::size_t x = 0; x < src->size(); ++x) read.emplace((*src)[x], x);
  for (std::size_t x = 0; x < dst->size(); ++x) {
    const auto found = read.find((*dst)[x]);
    const bool is_elsewhere =
        found != read.end() && (found->second != x || problem.dst.is_register());
    const bool is_itself =
        found != read.end() && found->second == x &&
        (!problem.dst.is_register() || problem.dst.owner[x] == problem.src.owner[x]);
    if (is_elsewhere && !is_itself)
      return decline("overlap", "element {} is written where element {} is read, in `{}`", x,
                     found->second, name);
  }
  return {};
}

}  // namespace

bool has_mask(const Call& call) { return ir::copy_settings(call.tile).predicate_tile != nullptr; }

// A bool that another thread has overwritten would be read.
Match<void> check_mask_apart(const Call& call) {
  if (!has_mask(call)) return {};
  const ir::BufferId dst = call.region(0).buffer, mask = call.region(kMask).buffer;
  const ir::BufferId storage = ir::storage_of(call.f(), dst);
  if (storage != ir::storage_of(call.f(), mask) || are_apart(call.f(), dst, mask)) return {};
  return decline("overlap", "predicate and destination in `{}` may overlap",
                 call.f()[storage].name);
}

namespace {

// Places that lie close together are marked one by one. False: some are the same, or lie too far apart
// to tell.
bool are_all_apart(const OperandPlaces& side) {
  if (side.is_tensor() || side.linear.empty()) return false;
  const auto [least, most] = std::ranges::minmax(side.linear);
  if (most - least > 4 * std::ssize(side.linear) + 4096) return false;
  std::vector<bool> is_taken(as_index(most - least) + 1);
  for (const std::int64_t place : side.linear) {
    const std::size_t at = as_index(place - least);
    if (is_taken[at]) return false;
    is_taken[at] = true;
  }
  return true;
}

// Two elements for one place of the destination: which of them it gets would be chance.
Match<void> check_collisions(const Call& call, const OperandPlaces& dst) {
  const ir::Buffer& buffer = call.f()[dst.buffer];
  if (dst.is_register() || buffer.layout_kind != ir::LayoutKind::Explicit) return {};
  // Elements outside have no place; elements inside have different places where the layout is injective.
  if (!dst.edges.empty()) {
    const auto whole = ir::layout_of(call.f(), buffer);
    const auto is_injective = whole ? layout::is_injective(*whole) : Result<bool>(false);
    if (is_injective && *is_injective) return {};
    return decline("collision", "elements of the destination may share places in `{}`",
                   buffer.name);
  }
  if (are_all_apart(dst)) return {};
  std::vector<std::size_t> order(dst.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t x) {
    return std::pair(dst.is_tensor() ? dst.lane[x] : 0, dst.linear[x]);
  };
  std::ranges::sort(order, {}, place);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (place(order[i]) == place(order[i - 1]))
      return decline("collision", "elements {} and {} of the destination share a place in `{}`",
                     std::min(order[i], order[i - 1]), std::max(order[i], order[i - 1]),
                     buffer.name);
  return {};
}

// Each element of the copy with the bool that stands for it.
Match<OperandPlaces> mask_places(const Call& call) {
  OperandPlaces mask = stretched_places(
      WW_TRY(operand_places(call, kMask)),
      stretched(extents_of(call, call.region(0)), extents_of(call, call.region(kMask))));
  if (!mask.is_register()) mask.replicas.resize(1);
  return mask;
}

Match<CopyProblem> enumerated(const Call& call) {
  CopyProblem problem;
  problem.dst = WW_TRY(operand_places(call, 0));
  problem.src = WW_TRY(operand_places(call, 1));
  problem.elements = std::ssize(problem.dst);
  CodeWriter write(call.f(), call.context.facts, call.span);
  problem.predicate = predicate_of(call, write);
  problem.fills = ir::copy_settings(call.tile).fills;
  WW_CHECK(problem.dst.size() == problem.src.size(), "regions of {} and {} elements",
           problem.dst.size(), problem.src.size());
  WW_TRY_VOID(check_collisions(call, problem.dst));
  WW_TRY_VOID(check_overlap(call, problem));
  WW_TRY_VOID(check_mask_apart(call));
  if (has_mask(call)) problem.mask = WW_TRY(mask_places(call));
  spell_out_replicas(problem);
  return problem;
}

}  // namespace

std::optional<Decline> final_decline(const Match<std::shared_ptr<const CopyProblem>>& problem) {
  if (problem) return std::nullopt;
  const std::string& rule = problem.error().rule;
  return rule == "overlap" || rule == "collision" ? std::optional(problem.error()) : std::nullopt;
}

Match<std::shared_ptr<const CopyProblem>> copy_problem(const Call& call) {
  if (call.copy) return *call.copy;
  auto problem = enumerated(call);
  if (problem)
    call.copy = std::make_shared<const CopyProblem>(*std::move(problem));
  else
    call.copy = std::move(problem).failure();
  return *call.copy;
}

bool RegisterMap::is_occupied(std::int64_t slot) const {
  const auto row = cells.begin() + slot * threads;
  return std::any_of(row, row + threads, [](std::int32_t x) { return x >= 0; });
}

Reach reach_of(const RegisterMap& map, std::size_t elements) {
  Reach out(elements);
  for (std::int64_t slot = 0; slot < map.slots; ++slot)
    for (std::int64_t u = 0; u < map.threads; ++u)
      if (const std::int32_t x = map.at(slot, u); x >= 0) out[as_index(x)].add(u);
  return out;
}

RegisterMap register_map(const Call& call, const OperandPlaces& side, bool is_dst) {
  std::int64_t low = side.linear[0], high = side.linear[0];
  for (const std::int64_t slot : side.linear) {
    low = std::min(low, slot);
    high = std::max(high, slot);
  }
  std::int64_t most = 0;
  for (const Shift& replica : side.replicas) most = std::max(most, replica.place);
  RegisterMap map;
  map.first_slot = low;
  map.slots = high + most - low + 1;
  map.threads = call.unit_threads();
  map.cells.assign(as_index(map.slots * map.threads), -1);
  std::vector<bool> is_given(side.size(), false);
  for_each_holder(side, map.threads, [&](std::size_t x, std::int64_t u, std::int64_t slot) {
    if (is_given[x] && !is_dst) return;
    map.cells[as_index((slot - low) * map.threads + u)] = static_cast<std::int32_t>(x);
    is_given[x] = true;
  });
  return map;
}

}  // namespace ww::lower
