// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include <malloc.h>

namespace ww {

void keep_freed_memory() {
  constexpr int kEnough = 64 << 20;
  (void)::mallopt(M_TRIM_THRESHOLD, kEnough);
  (void)::mallopt(M_MMAP_THRESHOLD, kEnough);
}

}  // namespace ww
