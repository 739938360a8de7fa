// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/element_checks.h"

#include <algorithm>

#include "ir/elementwise.h"
#include "ir/launch/dependence.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/elementwise/accuracy.h"
#include "lower/elementwise/cast_form.h"
#include "lower/elementwise/fast.h"
#include "lower/reach.h"

namespace ww::lower {

namespace {

// What has no meaning, or none that instructions agree on.
Match<void> check_types(const Call& call, num::DType dst) {
  const std::string_view op = ir::name_of(call.tile.op);
  if (ir::computes(call.tile.op) && !ir::gives_bool(call.tile.op) && dst == num::DType::Bool)
    return decline("dtype", "{} into bool", op);
  const bool is_real = ir::is_function(call.tile.op) || call.tile.op == ir::TileOp::Fdiv;
  if (is_real && !is_float(dst))
    return decline("dtype", "{} into {}, expected floats", op, num::name_of(dst));
  return {};
}

// Threads that hold the same element compute it each for itself, with their own scalar.
struct Sharing {
  ir::Unit unit = ir::Unit::Thread;  // in which all holders of an element are
  std::size_t element = 0;           // with holders furthest apart
  std::int64_t first = 0, last = 0;
};
Sharing sharing_of(const OperandPlaces& dst, std::int64_t threads) {
  Reach holders(dst.size());
  for_each_holder(dst, threads,
                  [&](std::size_t x, std::int64_t u, std::int64_t) { holders[x].add(u); });
  Sharing out;
  for (std::size_t x = 0; x < holders.size(); ++x)
    if (holders[x].unit() > out.unit)
      out = {holders[x].unit(), x, holders[x].first, holders[x].last};
  return out;
}

Match<void> check_scalars(const Call& call, const OperandPlaces& dst,
                          std::span<const ElementwiseSource> sources) {
  const auto is_runtime = [&](const ElementwiseSource& source) {
    return source.scalar.valid() && !ir::const_int(call.f(), source.scalar) &&
           call.f()[source.scalar].op != ir::ExprOp::FloatImm;
  };
  if (std::ranges::none_of(sources, is_runtime)) return {};
  const Sharing shared = sharing_of(dst, call.unit_threads());
  if (shared.unit == ir::Unit::Thread) return {};
  for (const ElementwiseSource& source : sources) {
    if (!is_runtime(source)) continue;
    ir::Dependence dependence(call.f(), call.context.launch);
    if (dependence.of(source.scalar, call.active.may) >= shared.unit) continue;
    return decline(
        "scalar",
        "`{}` differs between threads, and threads {} and {} of the {} both hold element "
        "{} of `{}`",
        ir::print(call.f(), source.scalar), shared.first, shared.last, ir::name_of(call.tile.scope),
        shared.element, call.f()[dst.buffer].name);
  }
  return {};
}

// The front end folds numbers; what is left over is a fill.
Match<void> check_operands(const Call& call, std::span<const ElementwiseSource> sources) {
  const bool has_side = std::ranges::any_of(
      sources, [](const ElementwiseSource& source) { return source.side.has_value(); });
  if (ir::computes(call.tile.op) && !has_side)
    return decline("operands",
                   "{} of scalars alone, expected a region among them; `fill` stores one",
                   ir::name_of(call.tile.op));
  return {};
}

}  // namespace

Match<void> check_elements(const Call& call, const OperandPlaces& dst,
                           std::span<const ElementwiseSource> sources) {
  WW_TRY_VOID(check_types(call, dst.dtype));
  WW_TRY_VOID(check_operands(call, sources));
  if (call.tile.op == ir::TileOp::Cast) WW_TRY_VOID(cast_form(call));
  return dst.is_register() ? check_scalars(call, dst, sources) : Match<void>{};
}

namespace {

// Both choices and their errors, the one that is taken first.
void add_accuracy(PlanReport& report, const Call& call, num::DType type) {
  const std::string_view accurate = accuracy_of(call.tile.op);
  const std::string_view fast = fast_accuracy_of(call.tile.op);
  if (is_fast(call.tile, type)) {
    report.notes.push_back(fmt::format("fast: {}", fast));
    report.notes.push_back(fmt::format("without `fast`: {}", accurate));
    return;
  }
  if (ir::is_true(ir::find_setting(call.tile, "fast")))
    report.notes.push_back(
        fmt::format("{} has no fast form and is computed accurately", num::name_of(type)));
  if (accurate.empty() || type != num::DType::Float32) return;
  report.notes.emplace_back(accurate);
  if (!fast.empty()) report.notes.push_back(fmt::format("with `fast=True`: {}", fast));
}

// The instruction, and what is between source and destination.
void add_cast(PlanReport& report, const CastForm& form, std::int64_t each) {
  if (form.unpacks && each > 0) report.add_instruction(std::string(kPowersToBfloat16), each, 0);
  if (!form.opcode.empty() && each > 0) report.add_instruction(form.opcode, each, 0);
  if (form.wide != form.from)
    report.notes.push_back(fmt::format("through {}, which holds all of {}", num::name_of(form.wide),
                                       num::name_of(form.from)));
  if (form.is_bounded)
    report.notes.push_back(fmt::format("no `cvt` to {} saturates here: infinities are replaced",
                                       num::name_of(form.to)));
}

}  // namespace

void add_value_notes(PlanReport& report, const Call& call, num::DType type, std::int64_t each) {
  if (is_fast(call.tile, type))
    for (const std::string_view opcode : fast_instructions(call.tile.op))
      report.add_instruction(std::string(opcode), each, 0);
  if (call.tile.op == ir::TileOp::Cast) add_cast(report, cast_form(call).value(), each);
  add_accuracy(report, call, type);
  const bool is_compared = ir::group_of(call.tile.op) == ir::ElementGroup::Comparison;
  if (type != call.buffer(0).dtype && ir::computes(call.tile.op))
    report.notes.push_back(
        fmt::format("{} in {}", is_compared ? "compared" : "computed", num::name_of(type)));
}

}  // namespace ww::lower
