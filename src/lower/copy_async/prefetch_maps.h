// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lower/call.h"

namespace ww::lower {

/// Has thread 0 of each CTA prefetch the tensor maps of `context.prefetched`, where the kernel begins:
/// the first copy through a map waits for it otherwise.
void prefetch_maps(Context& context);

}  // namespace ww::lower
