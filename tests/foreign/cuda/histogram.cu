// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Histograms with atomics, first in shared and then in global memory; and each atomic operation
// once on global memory.
//
//   histogram_u8(bins, in, n)     bins[v] += number of i < n with in[i] == v; 256 bins
//   histogram_warp(bins, in, n)   the same, lanes of a warp with one value joined before adding
//   atomic_operations(cells, x)   cells[0..9) updated by one operation each, see below
//   atomic_wide(cells, sums, total, x)   64-bit and floating operations, see below
// Any one-dimensional launch; the last two in one block.
extern "C" __global__ void histogram_u8(unsigned* bins, const unsigned char* in, unsigned n) {
  __shared__ unsigned local_bins[256];
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) local_bins[b] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local_bins[in[i]], 1u);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
    if (local_bins[b] != 0) atomicAdd(&bins[b], local_bins[b]);
}

extern "C" __global__ void histogram_warp(unsigned* bins, const unsigned char* in, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned value = in[i];
    const unsigned peers = __match_any_sync(__activemask(), value);
    const unsigned leader = __ffs(peers) - 1;
    if (threadIdx.x % 32 == leader) atomicAdd(&bins[value], __popc(peers));
  }
}

// The cells after T threads with x[t]: see each line.
extern "C" __global__ void atomic_operations(unsigned* cells, const unsigned* x) {
  const unsigned v = x[threadIdx.x];
  atomicSub(cells + 0, v);   // - sum of x
  atomicMin(cells + 1, v);   // smallest
  atomicMax(cells + 2, v);   // largest
  atomicAnd(cells + 3, v);   // conjunction
  atomicOr(cells + 4, v);    // disjunction
  atomicXor(cells + 5, v);   // parity of each bit
  atomicInc(cells + 6, 9u);  // (old + T) % 10 for old < 10
  atomicDec(cells + 7, 9u);  // (old - T) modulo 10 for old < 10
  // Product modulo 2^32, by compare and swap.
  unsigned seen = cells[8];
  unsigned expected;
  do {
    expected = seen;
    seen = atomicCAS(cells + 8, expected, expected * v);
  } while (seen != expected);
}

extern "C" __global__ void atomic_wide(unsigned long long* cells, float* sums, double* total,
                                       const unsigned* x) {
  const unsigned long long v = x[threadIdx.x];
  atomicAdd(cells + 0, v << 20);                                 // sum of x * 2^20
  atomicMax(cells + 1, v * v);                                   // largest square
  atomicXor(cells + 2, v << 32 | v);                             // parity of each bit, twice
  atomicAdd(sums + 0, static_cast<float>(v));                    // sum of x, exact for small x
  atomicAdd(total, static_cast<double>(v));                      // the same
  if (atomicExch(cells + 3, v) != 0) atomicAdd(sums + 1, 1.0f);  // how often it was not 0
  atomicAdd_block(cells + 4, 1ull);                              // number of threads, of one block
}
