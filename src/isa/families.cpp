// SPDX-License-Identifier: Apache-2.0
#include "isa/families.h"

namespace ww::isa {

std::span<const FamilyRows* const> family_rows() {
  static constexpr const FamilyRows* kRows[] = {
#define WW_FAMILY(file) &file##_rows::family,
#include "isa/families.def"
#undef WW_FAMILY
  };
  return kRows;
}

}  // namespace ww::isa
