// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Calls that stay calls: functions kept out of line, aggregates by value and by pointer, calls
// through tables of function pointers and a virtual function.
//
//   calls_direct(out, in)            out[i] = spread(in[i], 3, -1) as below
//   calls_table(out, in, which)      out[i] = operation which[i] & 3 of in[i]: double it, square
//                                    it, negate it, or subtract it from 100
//   calls_binary(out, x, y, which)   out[i] = x[i] + y[i], x[i] * y[i] or the larger, by which[i]
//                                    % 3
//   calls_shape(out, width, kind)    areas by a virtual function: width^2 for kind 0,
//                                    3 * width for others
// One block of any number of threads.
namespace {

struct Range {
  int low, high;
  double middle;
};

__device__ __noinline__ Range make_range(int center, int radius) {
  return {center - radius, center + radius, static_cast<double>(center)};
}

__device__ __noinline__ void widen(Range* range, short by) {
  range->low -= by;
  range->high += by;
}

__device__ __noinline__ float measure(Range range) {
  return static_cast<float>(range.high - range.low) + static_cast<float>(range.middle);
}

// 2 * (radius + by) + center
__device__ __noinline__ float spread(int center, int radius, short by) {
  Range range = make_range(center, radius);
  widen(&range, by);
  return measure(range);
}

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
__device__ __noinline__ int from_hundred(int x) { return 100 - x; }

using Unary = int (*)(int);
__device__ Unary unary_table[4] = {twice, square, negate, from_hundred};

__device__ __noinline__ float sum(float x, float y) { return x + y; }
__device__ __noinline__ float product(float x, float y) { return x * y; }
__device__ __noinline__ float larger(float x, float y) { return fmaxf(x, y); }

using Binary = float (*)(float, float);
__constant__ Binary binary_table[3] = {sum, product, larger};

struct Shape {
  __device__ virtual int area() const = 0;
};

struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ __noinline__ int area() const override { return side * side; }
};

struct Strip : Shape {
  int length;
  __device__ explicit Strip(int l) : length(l) {}
  __device__ __noinline__ int area() const override { return 3 * length; }
};

__device__ __noinline__ int area_of(const Shape& shape) { return shape.area(); }

}  // namespace

extern "C" __global__ void calls_direct(float* out, const int* in) {
  out[threadIdx.x] = spread(in[threadIdx.x], 3, -1);
}

extern "C" __global__ void calls_table(int* out, const int* in, const int* which) {
  out[threadIdx.x] = unary_table[which[threadIdx.x] & 3](in[threadIdx.x]);
}

extern "C" __global__ void calls_binary(float* out, const float* x, const float* y,
                                        const unsigned* which) {
  const unsigned i = threadIdx.x;
  out[i] = binary_table[which[i] % 3](x[i], y[i]);
}

extern "C" __global__ void calls_shape(int* out, const int* width, const int* kind) {
  const unsigned i = threadIdx.x;
  const Square square(width[i]);
  const Strip strip(width[i]);
  out[i] = area_of(kind[i] == 0 ? static_cast<const Shape&>(square) : strip);
}
