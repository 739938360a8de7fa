// SPDX-License-Identifier: Apache-2.0
// Double-precision fused multiply-add with any rounding. The host offers it in one rounding mode at
// a time, and switching modes is neither cheap nor safe from the optimiser; the directed roundings
// are done with integers instead.
#pragma once

#include "num/float_format.h"

namespace ww::num {

/// a * b + c, rounded once, on every host alike. Overflow as in IEEE 754. NaNs are an H200's: that
/// of b, else of c, else of a comes out, made quiet; without one it is 0xFFF8000000000000.
double fma_f64(double a, double b, double c, Rounding rounding = Rounding::NearestEven);

}  // namespace ww::num
