// SPDX-License-Identifier: Apache-2.0
// Heap settings for a process that compiles.
#pragma once

namespace ww {

/// Freed memory stays with the process for reuse: compiling makes and drops tables of some hundred
/// kilobytes all the time.
void keep_freed_memory();

}  // namespace ww
