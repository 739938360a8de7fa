// SPDX-License-Identifier: Apache-2.0
// The families of the catalogue by number: `FamilyId::mma_rows` for src/isa/families/mma.cpp.
#pragma once

#include <cstdint>

namespace ww::isa {

/// In the order of isa::families(). The names are those of the files' namespaces: `float` alone
/// could not be one.
enum class FamilyId : std::uint8_t {
#define WW_FAMILY(file) file##_rows,
#include "isa/families.def"
#undef WW_FAMILY
};

}  // namespace ww::isa
