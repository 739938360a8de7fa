// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/accuracy.h"

#include <algorithm>
#include <span>

#include "ir/elementwise.h"

namespace ww::lower {
namespace {

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

}  // namespace

std::string_view accuracy_of(TileOp op) { return text_of(kAccuracy, op); }
std::string_view fast_accuracy_of(TileOp op) { return text_of(kFastAccuracy, op); }

}  // namespace ww::lower
