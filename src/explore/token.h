// SPDX-License-Identifier: Apache-2.0
// The secret in the explorer's address, which guard.h asks for.
#pragma once

#include <string>

#include "base/result.h"

namespace ww::explore {

/// 128 random bits of the system as 32 hexadecimal digits. Io where it has none.
Result<std::string> make_token();

}  // namespace ww::explore
