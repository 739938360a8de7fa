// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

namespace ww::cli {

std::string_view version() { return WW_VERSION; }

}  // namespace ww::cli
