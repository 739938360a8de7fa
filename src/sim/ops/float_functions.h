// SPDX-License-Identifier: Apache-2.0
// The decoders of float_functions.cpp, for the table in float.cpp.
#pragma once

#include "sim/decode/decoder.h"

namespace ww::sim {

bool decode_div(Decode& in);
bool decode_rcp(Decode& in);
bool decode_sqrt(Decode& in);
bool decode_rsqrt(Decode& in);
bool decode_sin(Decode& in);
bool decode_cos(Decode& in);
bool decode_lg2(Decode& in);
bool decode_ex2(Decode& in);
bool decode_tanh(Decode& in);

}  // namespace ww::sim
