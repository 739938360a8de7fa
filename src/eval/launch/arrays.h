// SPDX-License-Identifier: Apache-2.0
// Memory of parameters, which the host copies before and after a launch.
#pragma once

#include <vector>

#include "eval/launch/launch.h"
#include "eval/memory/storage.h"

namespace ww::eval {

/// The memory of a parameter, filled from its argument through the layout of the buffer.
Storage load_argument(const Launch& launch, const Root& root, const BufferArg& argument);
/// The other way round; `written` gets a flag for each element.
void store_argument(const Launch& launch, const Root& root, Storage& storage,
                    const BufferArg& argument, std::vector<bool>& written);

}  // namespace ww::eval
