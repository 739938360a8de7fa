// SPDX-License-Identifier: Apache-2.0
// All families of ops, declared from families.def.
#pragma once

#include "sim/decode/decoder.h"

namespace ww::sim {

#define WW_OPS(file)              \
  namespace file##_ops {          \
    extern const OpFamily family; \
  }
#include "sim/ops/families.def"
#undef WW_OPS

}  // namespace ww::sim
