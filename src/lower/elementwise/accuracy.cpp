// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/accuracy.h"

#include <algorithm>
#include <iterator>

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

}  // namespace

std::string_view accuracy_of(TileOp op) {
  const auto* found = std::ranges::find(kAccuracy, op, &AccuracyRow::op);
  return found == std::end(kAccuracy) ? std::string_view() : found->text;
}

}  // namespace ww::lower
