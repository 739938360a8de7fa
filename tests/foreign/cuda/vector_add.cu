// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Element-wise kernels with grid-stride loops, all made from one template: plain and vectorised
// loads, the read-only path, several element types, and a functor passed by value.
//
//   vector_add_f32(out, a, b, n)          out[i] = a[i] + b[i]
//   vector_add_i64(out, a, b, n)          out[i] = a[i] + b[i]
//   vector_axpy_f64(out, x, y, alpha, n)  out[i] = alpha * x[i] + y[i]
//   vector_add_f32x4(out, a, b, n)        out[i] = a[i] + b[i] for groups of four; n counts
//                                         groups
//   vector_widen_i8(out, in, n)           out[i] = in[i] as a 32-bit integer
// Any one-dimensional launch.
namespace {

struct Add {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Axpy {
  double alpha;
  __device__ double operator()(double x, double y) const { return alpha * x + y; }
};

template <typename T, typename Op>
__device__ void zip(T* out, const T* a, const T* b, unsigned n, Op op) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = op(a[i], b[i]);
}

}  // namespace

extern "C" __global__ void vector_add_f32(float* out, const float* a, const float* b, unsigned n) {
  zip(out, a, b, n, Add{});
}

extern "C" __global__ void vector_add_i64(long long* out, const long long* a, const long long* b,
                                          unsigned n) {
  zip(out, a, b, n, Add{});
}

extern "C" __global__ void vector_axpy_f64(double* out, const double* x, const double* y,
                                           double alpha, unsigned n) {
  zip(out, x, y, n, Axpy{alpha});
}

// 16 bytes per access; the inputs go through the read-only path.
extern "C" __global__ void vector_add_f32x4(float4* __restrict__ out, const float4* __restrict__ a,
                                            const float4* __restrict__ b, unsigned n) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const float4 x = __ldg(a + i);
    const float4 y = __ldg(b + i);
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

// Narrow loads that extend the sign.
extern "C" __global__ void vector_widen_i8(int* out, const signed char* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
