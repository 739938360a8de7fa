// SPDX-License-Identifier: Apache-2.0
// Floats of 8, 6 and 4 bits to and from float32: by `cvt` where the target has it, else by integer
// arithmetic that gives the same bits. Powers of two (float8_e8m0fnu) are not among them.
#pragma once

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

bool is_narrow_float(num::DType type);
/// Can `cvt` convert it for this target?
bool has_narrow_cvt(const Context& c, num::DType type);

/// An element, whose code is in the low bits of `code`, as float16 by `cvt`.
Value narrow_to_f16(Context& c, Value code, num::DType from);
Value narrow_to_f32(Context& c, Value code, num::DType from);
/// The code: rounds to nearest even and saturates; NaN becomes the format's NaN, or its largest
/// number where it has none.
Value narrow_from_f32(Context& c, Value value, num::DType to);

}  // namespace ww::emit::to_ptx
