// SPDX-License-Identifier: Apache-2.0
// alpha and beta of `gemm`: the values that a call gives, and the values that its D allows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/function.h"

namespace ww::ir {

/// Their places among the arguments of the call.
inline constexpr std::size_t kGemmAlpha = 6, kGemmBeta = 7;
/// Those of `gemm_async`.
inline constexpr std::size_t kAsyncTransA = 5, kAsyncTransB = 6, kAsyncAccum = 7;

/// A constant or a run-time expression.
struct GemmFactor {
  std::optional<double> constant;
  ExprId expr = {};

  [[nodiscard]] bool is(double value) const { return constant == value; }
};
/// An argument of the call, or `otherwise` where it is left out.
GemmFactor gemm_factor(const Function& f, const TileArg& arg, double otherwise);

/// The number that a factor of a D of this type is: float32, or what it was where D is of float64
/// or integers. One that float32 does not tell from 0 or 1 is that.
double gemm_number(double factor, num::DType d);

/// Why a D of this type cannot have the factor, if so: it is not finite in the precision of the
/// product, or not an int32 where D holds integers.
std::optional<std::string> fault_of(const Function& f, const GemmFactor& factor,
                                    std::string_view name, num::DType d);

/// Can a product have factors of these two types? One type, or two of 8 bits, both of integers or
/// both of floats with a sign.
bool can_multiply(num::DType a, num::DType b);

}  // namespace ww::ir
