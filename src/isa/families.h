// SPDX-License-Identifier: Apache-2.0
// The rows of every family file, in the order of families.def.
#pragma once

#include <span>

#include "isa/row.h"

namespace ww::isa {

#define WW_FAMILY(file)             \
  namespace file##_rows {           \
    extern const FamilyRows family; \
  }
#include "isa/families.def"
#undef WW_FAMILY

std::span<const FamilyRows* const> family_rows();

}  // namespace ww::isa
