// SPDX-License-Identifier: Apache-2.0
// A launch that a kernel states at its entry, apart from the ids it reads:
//
//   T.device_entry(launch=T.cuda.LaunchConfig(grid=(4, 2), block=128, cluster=(2,)))
//   bx = T.cuda.block_idx("x")
//
// It becomes the declarations of scope ids that `T.cta_id([4, 2])` and `T.thread_id([128])` are; an
// id that is read is one of these, declared at the begin of the kernel when it is first read.
#pragma once

#include "script/interp/context.h"

namespace ww::script {

/// Declares what a `T.cuda.LaunchConfig` says. BadType for anything else.
Result<void> declare_launch(Context& in, const Given& launch);
/// Notes `T.cuda.KernelOptions` as attributes of the kernel. BadType for anything else.
Result<void> take_kernel_options(Context& in, const Given& options);

}  // namespace ww::script
