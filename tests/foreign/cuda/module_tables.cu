// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Module-scope variables with initial values: tables in constant memory, structs with padding,
// arrays of pointers to other variables (also into their middle), strings, and variables set by
// one launch and read by the next.
//
//   tables_polynomial(out, x)     out[i] = 1 + x/2 + x^2/4 + x^3/8 + x^4/16 with x = x[i]
//   tables_follow(out, which)     out[i] = sum of the list that which[i] % 4 selects, see below
//   tables_letters(out, which)    out[i] = character i of word which[0] % 3, 0 beyond its end
//   tables_count(out)             out[0] = how many launches of this kernel came before; one
//                                 thread
__constant__ float coefficients[5] = {1.0f, 0.5f, 0.25f, 0.125f, 0.0625f};
__constant__ unsigned char gray_code[8] = {0, 1, 3, 2, 6, 7, 5, 4};
__constant__ double big_table[3] = {1.0, -2.5, 6.25};

__device__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ short odd_numbers[4] = {1, 3, 5, 7};
__device__ unsigned long long launches = 0;
__device__ float scratch[64];
__device__ int partly[100] = {4, 0, 0, 9};

struct List {
  const int* first;
  char count;
  double weight;
};

// Pointers to, into and past other variables.
__device__ List lists[4] = {
    {primes, 3, 1.0}, {primes + 2, 4, 0.5}, {&primes[7], 1, -1.0}, {partly, 4, 2.0}};
__device__ const short* const odd_end = odd_numbers + 4;
__constant__ const List* selected = &lists[1];

__device__ const char* const words[3] = {"warp", "tile\t\"primitive\"\\", ""};

extern "C" __global__ void tables_polynomial(float* out, const float* x) {
  float value = 0.0f;
#pragma unroll 1
  for (int i = 4; i >= 0; --i) value = fmaf(value, x[threadIdx.x], coefficients[i]);
  scratch[threadIdx.x % 64] = value;
  out[threadIdx.x] = value;
}

extern "C" __global__ void tables_follow(double* out, const unsigned* which) {
  const List& list = lists[which[threadIdx.x] % 4];
  double sum = 0.0;
  for (int i = 0; i < list.count; ++i) sum += list.first[i] * list.weight;
  sum += selected->count;                    // 4
  sum += odd_end[-1];                        // 7
  sum += big_table[which[threadIdx.x] % 3];  // 1, -2.5, 6.25
  sum += gray_code[which[threadIdx.x] % 8];  // 0 1 3 2 6 7 5 4
  out[threadIdx.x] = sum;
}

extern "C" __global__ void tables_letters(char* out, const unsigned* which) {
  const char* word = words[which[0] % 3];
  unsigned length = 0;
  while (word[length] != 0) ++length;
  out[threadIdx.x] = threadIdx.x < length ? word[threadIdx.x] : '\0';
}

extern "C" __global__ void tables_count(unsigned long long* out) { out[0] = launches++; }
