// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Arrays in local memory: indexed by values known at run time only, of structs and of bytes,
// passed on by pointer, and of a size that needs alignment.
//
//   local_sort(out, in)          each thread sorts its 16 keys, ascending
//   local_permute(out, in, key)  out[4 * i + j] = in[4 * i + key[4 * i + j] % 4]
//   local_bytes(out, n)          decimal digits of i * i, last first, 8 bytes per thread, 0
//                                filled
// Any one-dimensional launch.
namespace {

struct Item {
  int key;
  short place;
  unsigned char tag;
};

__device__ __noinline__ void swap_items(Item* a, Item* b) {
  const Item kept = *a;
  *a = *b;
  *b = kept;
}

__device__ __noinline__ unsigned digits_of(unsigned value, unsigned char* digits) {
  unsigned count = 0;
  do {
    digits[count++] = static_cast<unsigned char>(value % 10);
    value /= 10;
  } while (value != 0 && count < 8);
  return count;
}

}  // namespace

extern "C" __global__ void local_sort(int* out, const int* in) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  Item items[16];
  for (int i = 0; i < 16; ++i)
    items[i] = {in[first + i], static_cast<short>(i), static_cast<unsigned char>(i & 1)};
#pragma unroll 1
  for (int i = 1; i < 16; ++i) {
#pragma unroll 1
    for (int j = i; j > 0 && items[j - 1].key > items[j].key; --j)
      swap_items(&items[j - 1], &items[j]);
  }
  for (int i = 0; i < 16; ++i) out[first + i] = items[i].key;
}

extern "C" __global__ void local_permute(double* out, const double* in, const unsigned* key) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  alignas(32) double values[4];
  for (int j = 0; j < 4; ++j) values[j] = in[first + j];
  for (int j = 0; j < 4; ++j) out[first + j] = values[key[first + j] % 4];
}

extern "C" __global__ void local_bytes(uint2* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  union {
    unsigned char bytes[8];
    uint2 words;
  } digits;
  digits.words = make_uint2(0, 0);
  digits_of(i * i, digits.bytes);
  out[i] = digits.words;
}
