// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// options: -Xcicc -jump-table-density=10
// Control flow: a switch dense enough for a jump table, a sparse one, nested loops with early
// exits, and a loop whose trip count differs between the lanes of a warp.
//
//   switch_dense(out, in, op)       a small calculator, see the cases
//   switch_machine(out, code, n)    a stack-free interpreter: each thread runs the n instructions
//                                   of `code` over an accumulator that begins with its thread
//                                   index
//   flow_collatz(out, n)            out[i] = steps from i + 1 to 1, for i < n
//   flow_first_pair(out, in, n)     out[0..2) = first i < j (by i, then j) whose elements add up
//                                   to 0, or -1, -1; one thread
extern "C" __global__ void switch_dense(float* out, const float* in, const unsigned* op) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y;
  // clang-format off
  switch (op[i]) {
    case 0: y = x + 1.5f; break;
    case 1: y = x * x; break;
    case 2: y = fabsf(x); break;
    case 3: y = sqrtf(fabsf(x)); break;
    case 4: y = x > 0.0f ? 1.0f : -1.0f; break;
    case 5: y = floorf(x); break;
    case 6: y = x - truncf(x); break;
    case 7: y = fmaf(x, 3.0f, -2.0f); break;
    case 8: y = 1.0f / (1.0f + x * x); break;
    case 9: y = static_cast<float>(__float_as_int(x) >> 23); break;
    case 10: y = fminf(x, 0.25f); break;
    case 11: y = rintf(x * 8.0f); break;
    default: y = 0.0f; break;
  }
  // clang-format on
  out[i] = y;
}

extern "C" __global__ void switch_machine(int* out, const int2* code, int n) {
  int acc = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int self = acc;
  for (int pc = 0; pc < n; ++pc) {
    const int2 instruction = code[pc];
    // clang-format off
    switch (instruction.x) {
      case 0: acc += instruction.y; break;
      case 1: acc *= instruction.y; break;
      case 2: acc ^= instruction.y; break;
      case 3: acc = __brev(acc) >> (instruction.y & 31); break;
      case 4: acc = acc % 2 == 0 ? acc / 2 : 3 * acc + 1; break;
      case 5:  // skip the next ones when odd
        if (acc & 1) pc += instruction.y;
        break;
      case 6: out[self] = acc; break;
      case 7: acc = out[self] - acc; break;
      case 100: acc = min(acc, instruction.y); break;
      case 1000: return;
      case -1: acc = 0; [[fallthrough]];
      default: acc -= 1;
    }
    // clang-format on
  }
  out[self] = acc;
}

extern "C" __global__ void flow_collatz(unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = i + 1;
  unsigned steps = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    ++steps;
  }
  out[i] = steps;
}

extern "C" __global__ void flow_first_pair(int* out, const int* in, int n) {
  out[0] = out[1] = -1;
  for (int i = 0; i < n; ++i) {
    if (in[i] == 0) continue;
#pragma unroll 1
    for (int j = i + 1; j < n; ++j) {
      if (in[i] + in[j] != 0) continue;
      out[0] = i;
      out[1] = j;
      return;
    }
  }
}
