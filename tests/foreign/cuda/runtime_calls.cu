// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Calls into the runtime: formatted output (a call of vprintf with a packed buffer), assertions
// that hold, memory from the device heap, and a trap that is never reached.
//
//   output_lines(n)      thread 0 prints n lines with an integer, a 64-bit integer, a double, a
//                        string and a character
//   output_heap(out)     out[i] = i + 1, by way of a block of memory that is freed again
// One block of any number of threads.
#include <cassert>

namespace {

__device__ const char* const names[2] = {"even", "odd"};

}  // namespace

extern "C" __global__ void output_lines(int n) {
  if (threadIdx.x != 0) return;
  printf("%d lines\n", n);
  for (int i = 0; i < n; ++i)
    printf("%3d %lld %.3f %s %c 100%%\n", i, static_cast<long long>(i) << 33, i * 0.125,
           names[i % 2], 'a' + i % 26);
}

extern "C" __global__ void output_heap(int* out) {
  int* block = static_cast<int*>(malloc(2 * sizeof(int)));
  assert(threadIdx.x < 2048);
  if (block == nullptr) __trap();
  block[0] = static_cast<int>(threadIdx.x);
  block[1] = 1;
  out[threadIdx.x] = block[0] + block[1];
  free(block);
}
