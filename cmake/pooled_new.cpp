// SPDX-License-Identifier: Apache-2.0
// The program's operator new for tests that make and drop many small values; see ww_pool_memory in ww_library.cmake.
#include "base/pooled_new.h"
