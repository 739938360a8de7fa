// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/element_checks.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "ir/elementwise.h"
#include "ir/function.h"
#include "ir/launch/uniformity.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/elementwise/forms.h"
#include "lower/reach.h"

namespace ww::lower {
namespace {

// --- accuracy ------------------------------------------------------------------------------------

// How near the functions come in float32: as emit/ptx/math.cpp computes them in PTX, and as
// elementwise/forms.h does where `fast=True`.

using ir::TileOp;

struct AccuracyRow {
  TileOp op;
  std::string_view text;
};
// The errors of docs/reference/variants.md.
constexpr AccuracyRow kAccuracy[] = {
    {TileOp::Exp2, "ex2.approx in PTX, 2 ulp at most"},
    {TileOp::Exp, "from ex2.approx in PTX, 3 ulp at most"},
    {TileOp::Expm1, "from tanh(x / 2) up to 1, else from exp in PTX, 6 ulp at most"},
    {TileOp::Log2, "lg2.approx in PTX, 2 ulp at most, or 2^-22 between 0.5 and 2"},
    {TileOp::Log, "from lg2.approx in PTX, 3 ulp at most, or 2^-22 between 0.5 and 2"},
    {TileOp::Log1p, "from lg2.approx in PTX, 4 ulp or 2^-21 at most"},
    {TileOp::Sqrt, "sqrt.rn in PTX, rounded to nearest"},
    {TileOp::Reciprocal, "div.rn in PTX, rounded to nearest"},
    {TileOp::Fdiv, "div.rn in PTX, rounded to nearest"},
    {TileOp::Rsqrt, "rsqrt.approx in PTX, 2 ulp at most"},
    {TileOp::Sin, "sin.approx of the angle brought to ±π in PTX, 2^-20 at most up to 10^5"},
    {TileOp::Cos, "cos.approx of the angle brought to ±π in PTX, 2^-20 at most up to 10^5"},
    {TileOp::Tanh, "a polynomial below 0.55, else from exp in PTX, 2 ulp at most"},
    {TileOp::Sigmoid, "from exp in PTX, 4 ulp at most"},
    {TileOp::Silu, "from exp in PTX, 5 ulp at most"},
    {TileOp::Erf, "two polynomials, the outer one with exp in PTX, 2 ulp at most"},
    {TileOp::Gelu, "from erf in PTX, |x| · 2^-22 at most"},
    {TileOp::GeluTanh, "from exp in PTX, |x| · 2^-21 at most"},
    {TileOp::Pow, "from lg2.approx and ex2.approx in PTX, relative 2^-22 · |y · log2 x| at most"},
};

// Fast forms: errors of single instructions are those of the PTX manual; those of several follow
// from them and from the rounding between them.
constexpr AccuracyRow kFastAccuracy[] = {
    {TileOp::Exp2, "ex2.approx.ftz, 2 ulp by the PTX manual"},
    {TileOp::Exp, "ex2.approx.ftz of x · log2 e, 2 + 1.25 · |x| ulp derived from the PTX manual"},
    {TileOp::Log2, "lg2.approx.ftz, relative 2^-22, absolute between 0.5 and 2, by the PTX manual"},
    {TileOp::Log,
     "lg2.approx.ftz times ln 2, 6 ulp, 2^-22 between 0.5 and 2, derived from the PTX manual"},
    {TileOp::Sqrt, "sqrt.approx.ftz, relative 2^-23 by the PTX manual"},
    {TileOp::Rsqrt, "rsqrt.approx.ftz, relative 2^-22.9 by the PTX manual"},
    {TileOp::Reciprocal, "rcp.approx.ftz, 1 ulp by the PTX manual"},
    {TileOp::Fdiv, "div.approx.ftz, 2 ulp for divisors from 2^-126 to 2^126 by the PTX manual"},
    {TileOp::Sin,
     "sin.approx.ftz, 2^-20.5 up to 2π, 2^-14.7 up to 100π by the PTX manual, nothing beyond"},
    {TileOp::Cos,
     "cos.approx.ftz, 2^-20.5 up to 2π, 2^-14.7 up to 100π by the PTX manual, nothing beyond"},
    {TileOp::Tanh, "tanh.approx, relative 2^-11 by the PTX manual"},
    {TileOp::Sigmoid,
     "from ex2.approx.ftz and rcp.approx.ftz, 7 + 1.25 · |x| ulp derived from the PTX manual"},
    {TileOp::Silu,
     "from ex2.approx.ftz and rcp.approx.ftz, 8 + 1.25 · |x| ulp derived from the PTX manual"},
    {TileOp::Erf, "Abramowitz and Stegun 7.1.26 with rcp.approx.ftz and ex2.approx.ftz, 2^-20"},
    {TileOp::Gelu, "from the fast erf, |x| · 2^-21"},
    {TileOp::GeluTanh, "from ex2.approx.ftz and rcp.approx.ftz, |x| · 2^-20"},
    {TileOp::Pow,
     "ex2.approx.ftz of y · lg2.approx.ftz(x), relative 2^-21 · (1 + |y| · max(1, |log2 x|)) for x "
     "> 0, "
     "NaN below"},
};

constexpr std::string_view text_of(std::span<const AccuracyRow> rows, TileOp op) {
  const auto found = std::ranges::find(rows, op, &AccuracyRow::op);
  return found == rows.end() ? std::string_view() : found->text;
}

using ir::ElementGroup;
constexpr bool says_accuracy(ElementGroup group, TileOp op) {
  return (group != ElementGroup::Function && group != ElementGroup::Power) ||
         !text_of(kAccuracy, op).empty();
}
#define WW_ELEMENTWISE(id, name, parameters, group, computed_by) \
  static_assert(says_accuracy(ElementGroup::group, TileOp::id), "no row in kAccuracy for " name);
#include "ir/tile_ops.def"

// What computes the function, and its error at most; empty for what is exact.
std::string_view accuracy_of(TileOp op) { return text_of(kAccuracy, op); }
// The same of the fast form; empty for what has none.
std::string_view fast_accuracy_of(TileOp op) { return text_of(kFastAccuracy, op); }

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
