// SPDX-License-Identifier: Apache-2.0
// The decoders of convert_narrow.cpp, for convert.cpp: `cvt` to and from pairs of halves, tf32, and
// formats of eight bits and fewer.
#pragma once

#include "sim/decode/decoder.h"

namespace ww::sim {

/// Whether the conversion is one of these: a type in it is not a number of a register of its own.
bool is_narrow_cvt(const Decode& in);
bool decode_narrow_cvt(Decode& in);

}  // namespace ww::sim
