// SPDX-License-Identifier: Apache-2.0
// The transcendental functions of PTX: ex2, lg2, sin, cos and tanh. PTX only bounds the error of
// its `.approx` forms, so no single result is right; these are much more accurate, and the same on
// every host, because they do not use the host's math library.
//
// Each takes an f32 and returns a double with a relative error below 2^-40. Convert that to f32 (or
// round it to f16 or bf16) once, and the result is the nearest one in all but about one case in
// 2^15. A NaN comes out as a NaN of the host; which one a NaN result is in PTX is up to the caller.
#pragma once

namespace ww::num {

/// 2^x. -inf gives +0 and +inf gives +inf; what a double cannot hold gives those as well.
double ex2(float x);

/// The binary logarithm. Zeros give -inf, negative numbers NaN, +inf +inf.
double lg2(float x);

/// Sine and cosine of an angle in radians, at any magnitude. Infinities give NaN.
double sin_of(float x);
double cos_of(float x);

/// The hyperbolic tangent; infinities give 1 of their sign.
double tanh_of(float x);

}  // namespace ww::num
