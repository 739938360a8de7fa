// SPDX-License-Identifier: Apache-2.0
// How the heap of a process that compiles behaves.
#pragma once

namespace ww {

/// Memory that is given back stays with the process, which will want it again: compiling makes and
/// drops tables of some hundred kilobytes all the time.
void keep_freed_memory();

}  // namespace ww
