// SPDX-License-Identifier: Apache-2.0
// Conversions that round as they are told. Approximations of float32: the manual only bounds their errors, and here they have none but the
// rounding of the result. What `.ftz` takes for 0 is 0, so that they agree with the virtual GPU.
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "eval/expr/expressions.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"
#include "eval/tile/casts.h"
#include "num/approx.h"

namespace ww::eval {
namespace {

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

// a · (1 / b), where 1 / b counts as 0 once it is subnormal.
double quotient(float a, float b) {
  const float size = std::abs(b);
  const bool is_far = size > 0x1p126F && size < INFINITY;
  return is_far ? double{a} * std::copysign(0.0, double{b}) : double{a} / double{b};
}

double near_value(ApproxFunction function, float a, float b) {
  switch (function) {
    case ApproxFunction::Ex2:
      return num::ex2(a);
    case ApproxFunction::Lg2:
      return num::lg2(a);
    case ApproxFunction::Sin:
      return num::sin_of(a);
    case ApproxFunction::Cos:
      return num::cos_of(a);
    case ApproxFunction::Tanh:
      return num::tanh_of(a);
    case ApproxFunction::Rcp:
      return 1.0 / double{a};
    case ApproxFunction::Sqrt:
      return std::sqrt(double{a});
    case ApproxFunction::Rsqrt:
      return 1.0 / std::sqrt(double{a});
    case ApproxFunction::Div:
      return quotient(a, b);
  }
  return 0;
}

}  // namespace

void ptx_approximate(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words a = ptx_value(cta, ptx.operand(1), ts, ptx.bits);
  const std::size_t last = ptx.operand_count() - 1;
  const Words b = ptx_value(cta, ptx.operand(last), ts, ptx.bits);
  const auto flush = [&](float x) { return ptx.is_flushed ? flushed(x) : x; };
  const auto real = [&](Word bits) {
    return flush(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  };
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Word rounded =
        from_real(num::DType::Float32, near_value(ptx.approx, real(a[i]), real(b[i])));
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(rounded));
    a[i] = std::isnan(value) ? rounded : std::bit_cast<std::uint32_t>(flush(value));
  }
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(a));
}

void ptx_convert(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words values = ptx_value(cta, ptx.operand(1), ts, num::bits_of(ptx.from));
  for (std::size_t i = 0; i < ts.size(); ++i)
    values[i] = cast_as(ptx.from, ptx.type, values[i], ptx.cast);
  ptx_put(cta, ptx.operand(0), ts, num::bits_of(ptx.type), std::move(values));
}

// Two registers, the upper element first, or a word of two elements.
void ptx_convert_pair(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const int width = num::storage_bits(ptx.from), out_width = num::storage_bits(ptx.type);
  const bool is_split = ptx.operand_count() > 2;
  const int bits = is_split ? width : 2 * width;
  Words upper = ptx_value(cta, ptx.operand(1), ts, bits);
  const Words lower = ptx_value(cta, ptx.operand(ptx.operand_count() - 1), ts, bits);
  const Word mask = (Word{1} << width) - 1;
  const auto converted = [&](Word element) {
    return cast_as(ptx.from, ptx.type, element & mask, ptx.cast);
  };
  for (std::size_t i = 0; i < ts.size(); ++i)
    upper[i] =
        converted(is_split ? upper[i] : upper[i] >> width) << out_width | converted(lower[i]);
  ptx_put(cta, ptx.operand(0), ts, 2 * out_width, std::move(upper));
}

}  // namespace ww::eval
