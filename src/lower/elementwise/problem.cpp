// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/problem.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/join.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "layout/apply.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/elementwise/holders.h"

namespace ww::lower {

std::vector<const OperandPlaces*> ElementwiseProblem::sides() const {
  std::vector<const OperandPlaces*> out{&dst};
  for (const ElementwiseSource& source : sources)
    if (source.side) out.push_back(&*source.side);
  return out;
}

bool ElementwiseProblem::has_registers() const {
  return std::ranges::any_of(sides(), &OperandPlaces::is_register);
}

Match<ElementwiseProblem> elementwise_problem(
    const Call& call, const std::function<Match<OperandPlaces>(std::size_t argument)>& places_of) {
  ElementwiseProblem p{.dst = WW_TRY(places_of(0)), .sources = {}};
  p.type = ir::compute_type(call.f(), call.tile);
  p.elements = std::ssize(p.dst);
  std::size_t sides = 0;
  for (const ir::TileArg* arg : ir::operands_of(call.tile)) {
    ElementwiseSource& source = p.sources.emplace_back();
    if (arg == nullptr || !std::holds_alternative<ir::Region>(*arg)) {
      source.scalar = scalar_of(call, arg);
      continue;
    }
    while (&call.tile.args[source.argument] != arg) ++source.argument;
    source.operand = sides++;
    source.side = WW_TRY(places_of(source.argument));
  }
  return p;
}

ir::ExprId scalar_of(const Call& call, const ir::TileArg* arg) {
  if (arg == nullptr) return {};
  if (const auto* expr = std::get_if<ir::ExprId>(arg)) return *expr;
  const auto* setting = std::get_if<ir::Setting>(arg);
  if (setting == nullptr) return {};
  ir::Function& f = call.f();
  if (const auto* expr = std::get_if<ir::ExprId>(setting)) return *expr;
  if (const auto* real = std::get_if<double>(setting))
    return ir::float_imm(f, num::DType::Float64, *real, call.span);
  if (const auto* whole = std::get_if<std::int64_t>(setting))
    return ir::int_imm(f, num::DType::Int64, *whole, call.span);
  const auto* flag = std::get_if<bool>(setting);
  WW_CHECK(flag != nullptr, "an operand that is a text");
  return ir::bool_imm(f, *flag, call.span);
}

namespace {

// But for extents of 1.
bool are_alike(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  const auto without_ones = [](std::vector<std::int64_t> extents) {
    std::erase(extents, 1);
    return extents;
  };
  return without_ones(one) == without_ones(other);
}

}  // namespace

std::vector<std::int64_t> stretched(const std::vector<std::int64_t>& into,
                                    const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> strides(into.size(), 0);
  std::int64_t count = 1, stride = 1;
  for (const std::int64_t extent : into) count *= extent;
  const std::vector<std::int64_t>& shape = are_alike(into, from) ? into : from;
  for (std::size_t back = 1; back <= std::min(shape.size(), into.size()); ++back) {
    const std::int64_t extent = shape[shape.size() - back];
    if (extent != 1) strides[into.size() - back] = stride;
    stride *= extent;
  }
  std::vector<std::int64_t> out, digits(into.size(), 0);
  out.reserve(as_index(count));
  std::int64_t at = 0;
  for (std::int64_t x = 0; x < count; ++x) {
    out.push_back(at);
    for (std::size_t d = into.size(); d-- > 0;) {
      at += strides[d];
      if (++digits[d] < into[d]) break;
      at -= std::exchange(digits[d], 0) * strides[d];
    }
  }
  return out;
}

OperandPlaces stretched_places(OperandPlaces side, const std::vector<std::int64_t>& element) {
  const auto pick = [&](std::vector<std::int64_t>& list) {
    if (list.empty()) return;
    std::vector<std::int64_t> out;
    out.reserve(element.size());
    for (const std::int64_t x : element) out.push_back(list[as_index(x)]);
    list = std::move(out);
  };
  pick(side.linear);
  pick(side.owner);
  for (RuntimeStride& stride : side.strides) pick(stride.coef);
  return side;
}

Match<void> check_width(const Call& call, const OperandPlaces& side) {
  if (side.bits >= 8 || side.dtype == num::DType::Float4E2M1fn) return {};
  return decline("sub_byte", "`{}` has elements of {}, expected whole bytes or float4_e2m1fn",
                 call.f()[side.buffer].name, num::name_of(side.dtype));
}

std::vector<std::int64_t> extents_of(const Call& call, const ir::Region& region) {
  CodeWriter write(call.f(), call.context.facts, call.span);
  std::vector<std::int64_t> out;
  for (const ir::RangeExpr& range : region.ranges) {
    const auto extent = write.constant(write.simplify(range.extent));
    WW_CHECK(extent.has_value(), "a side with runtime extents");
    out.push_back(*extent);
  }
  return out;
}

namespace {

constexpr std::size_t kMaxWays = 8;  // in which threads compute one register

class Maker {
 public:
  explicit Maker(const Call& call) : call_(call), f_(call.f()), threads_(call.unit_threads()) {}

  Match<RegisterProblem> make() {
    p_ = WW_TRY(
        elementwise_problem(call_, [&](std::size_t argument) { return registers_of(argument); }));
    extents_ = extents_of(call_, call_.region(0));
    find_holders();
    WW_TRY_VOID(find_steps());
    WW_TRY_VOID(find_order());
    return RegisterProblem{std::move(p_), std::move(batches_)};
  }

 private:
  // --- operands ---

  [[nodiscard]] Match<OperandPlaces> registers_of(std::size_t argument) const {
    OperandPlaces side = WW_TRY(register_places(call_, argument));
    WW_TRY_VOID(check_width(call_, side));
    WW_TRY_VOID(check_cells(call_, side, argument));
    return side;
  }

  void find_holders() {
    for (const ElementwiseSource& source : p_.sources) {
      if (!source.side) continue;
      regions_.push_back(&call_.region(source.argument));
      const auto extents = extents_of(call_, *regions_.back());
      if (are_alike(extents_, extents) && is_held_like_dst(*source.side))
        holders_.emplace_back();
      else
        holders_.emplace_back(std::in_place, *source.side, threads_, stretched(extents_, extents));
    }
  }
  // Does each thread hold the destination's elements, each in one register and that of the same number?
  [[nodiscard]] bool is_held_like_dst(const OperandPlaces& side) const {
    const auto stays = [](const Shift& replica) { return replica.place == 0; };
    return std::ranges::all_of(side.replicas, stays) && held_alike(side, p_.dst);
  }

  // --- steps ---

  [[nodiscard]] std::string element_text(std::int64_t x,
                                         const std::vector<std::int64_t>& extents) const {
    return fmt::format("({})", join(layout::unflatten(x, extents), ", "));
  }

  Match<void> find_steps() {
    if (find_plain_steps()) return {};
    const std::vector<ElementCell> cells = cells_by_slot(p_.dst, threads_);
    RegisterStep step;
    auto at = cells.begin();
    while (at != cells.end()) {
      const std::int64_t slot = at->slot;
      std::vector<StepBatch> ways;
      auto way = ways.end();  // of the thread before
      for (; at != cells.end() && at->slot == slot; ++at) {
        const auto next = at + 1;
        if (next != cells.end() && next->thread == at->thread) WW_TRY_VOID(check_apart(*at, *next));
        step.to = slot;
        step.from.clear();
        for (std::size_t i = 0; i < holders_.size(); ++i)
          step.from.push_back(holders_[i] ? WW_TRY(find_slot(i, *at)) : slot);
        const auto is_this = [&](const StepBatch& b) { return b.steps[0].from == step.from; };
        if (way == ways.end() || !is_this(*way)) way = std::ranges::find_if(ways, is_this);
        if (way == ways.end()) {
          ways.push_back({std::vector<bool>(as_index(threads_)), {step}});
          way = ways.end() - 1;
        }
        way->threads[as_index(at->thread)] = true;
        if (ways.size() > kMaxWays)
          return decline(
              "irregular",
              "register {} of `{}` comes from different registers in {} sets of threads, "
              "of {} that are told apart",
              slot, f_[p_.dst.buffer].name, ways.size(), kMaxWays);
      }
      add(std::move(ways));
    }
    return {};
  }

  // Where sources are held as the destination is, a register is computed alike in all threads.
  bool find_plain_steps() {
    if (std::ranges::any_of(holders_, [](const auto& each) { return each.has_value(); }))
      return false;
    const auto table = register_table(p_.dst, threads_);
    if (!table) return false;
    const std::int32_t* at = table->elements.data();
    for (std::int64_t slot = 0; slot < table->slots; ++slot) {
      StepBatch batch{std::vector<bool>(as_index(threads_)),
                      {{slot, std::vector<std::int64_t>(holders_.size(), slot)}}};
      bool is_held = false;
      for (std::int64_t u = 0; u < threads_; ++u, ++at) {
        if (*at == RegisterTable::kNone) continue;
        batch.threads[as_index(u)] = true;
        is_held = true;
      }
      if (!is_held) continue;
      std::vector<StepBatch> ways;
      ways.push_back(std::move(batch));
      add(std::move(ways));
    }
    return true;
  }

  // Two elements in one register: which of them it gets would be chance.
  [[nodiscard]] Match<void> check_apart(const ElementCell& one, const ElementCell& other) const {
    if (one.slot != other.slot || one.thread != other.thread || one.x == other.x) return {};
    return decline("collision", "elements {} and {} of `{}` are both in register {} of thread {}",
                   element_text(one.x, extents_), element_text(other.x, extents_),
                   f_[p_.dst.buffer].name, one.slot, one.thread);
  }

  Match<std::int64_t> find_slot(std::size_t i, const ElementCell& to) {
    if (const auto found = holders_[i]->slot(to.x, to.thread)) return *found;
    return decline("owner",
                   "element {} of `{}` is in register {} of thread {}, its source {} of `{}` in "
                   "thread {}",
                   element_text(to.x, extents_), f_[p_.dst.buffer].name, to.slot, to.thread,
                   element_text(holders_[i]->source_of(to.x), extents_of(call_, *regions_[i])),
                   f_[regions_[i]->buffer].name, holders_[i]->owner(to.x));
  }

  // Registers that all threads of a batch compute alike follow each other in it.
  void add(std::vector<StepBatch> ways) {
    const bool joins = ways.size() == 1 && !batches_.empty() && !was_split_ &&
                       batches_.back().threads == ways[0].threads;
    was_split_ = ways.size() > 1;
    if (joins) {
      batches_.back().steps.push_back(std::move(ways[0].steps[0]));
      return;
    }
    for (StepBatch& way : ways) batches_.push_back(std::move(way));
  }

  // --- order ---

  // How far register `slot` of a side is from where that of the destination is counted from;
  // nothing when only run time knows.
  [[nodiscard]] std::optional<std::int64_t> start_of(const OperandPlaces& side) const {
    const ir::Buffer& buffer = f_[side.buffer];
    const bool is_dst = side.buffer == p_.dst.buffer;
    const bool has_base = side.base.valid() || p_.dst.base.valid();
    const bool same_base =
        side.base.valid() && p_.dst.base.valid() && ir::same(f_, side.base, p_.dst.base);
    if (has_base && (!is_dst || !same_base)) return std::nullopt;
    if (is_dst) return 0;
    const ir::Buffer& dst = f_[p_.dst.buffer];
    const auto here = constant_offset(f_, buffer, num::storage_bits(buffer.dtype));
    const auto there = constant_offset(f_, dst, num::storage_bits(dst.dtype));
    return here && there ? std::optional(*here - *there) : std::nullopt;
  }

  Match<void> find_order() {
    const ir::BufferId storage = ir::storage_of(f_, p_.dst.buffer);
    std::vector<SharedOperand> shared;
    for (const ElementwiseSource& source : p_.sources) {
      if (!source.side || ir::storage_of(f_, source.side->buffer) != storage) continue;
      const auto start = start_of(*source.side);
      if (!start)
        return decline("overlap",
                       "`{}` may overlap `{}` in the registers of `{}`: their offsets are known at "
                       "run time only",
                       f_[source.side->buffer].name, f_[p_.dst.buffer].name, f_[storage].name);
      shared.push_back({source.operand, *start, source.side->bits});
    }
    if (shared.empty()) return {};
    std::vector<const RegisterStep*> steps;
    for (const StepBatch& batch : batches_)
      for (const RegisterStep& step : batch.steps) steps.push_back(&step);
    const auto forward = first_clash(steps, shared);
    if (!forward) return {};
    std::ranges::reverse(steps);
    if (first_clash(steps, shared))
      return decline("overlap",
                     "register {} of `{}` is written before register {} is computed, which reads "
                     "it",
                     forward->first, f_[p_.dst.buffer].name, forward->second);
    std::ranges::reverse(batches_);
    for (StepBatch& batch : batches_) std::ranges::reverse(batch.steps);
    return {};
  }

  /// A source in the storage of the destination, from whose start it is so many bits away.
  struct SharedOperand {
    std::size_t operand;
    std::int64_t start;
    int bits;
  };
  // Registers of which the first is written before the second reads it.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> first_clash(
      const std::vector<const RegisterStep*>& steps,
      const std::vector<SharedOperand>& shared) const {
    std::map<std::int64_t, std::int64_t> written;  // first bit, register
    const std::int64_t width = p_.dst.bits;
    std::size_t done = 0;  // steps before this one are in `written`
    for (std::size_t j = 0; j < steps.size(); ++j) {
      for (; done < j && steps[done]->to != steps[j]->to; ++done)
        written.emplace(steps[done]->to * width, steps[done]->to);
      for (const auto& [operand, start, bits] : shared) {
        const std::int64_t first = start + steps[j]->from[operand] * bits;
        const auto after = written.lower_bound(first - width + 1);
        if (after != written.end() && after->first < first + bits)
          return std::pair(after->second, steps[j]->to);
      }
    }
    return std::nullopt;
  }

  const Call& call_;
  ir::Function& f_;
  std::int64_t threads_;
  std::vector<std::int64_t> extents_;
  std::vector<const ir::Region*> regions_;       // by operand
  std::vector<std::optional<Holders>> holders_;  // by operand; none: held as the destination is
  bool was_split_ = false;
  ElementwiseProblem p_;
  std::vector<StepBatch> batches_;
};

}  // namespace

Match<RegisterProblem> register_problem(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  return Maker(call).make();
}

}  // namespace ww::lower
