// SPDX-License-Identifier: Apache-2.0
// mma.sync on the device here, for matrix_unit.cpp. Build and run: scripts/device_numbers.sh.
#include <cstdio>
#include <cstdlib>

#include "matrix_forms.h"

namespace {

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(2);
}

#define MMA_F32(shape, types, A, B)                                                             \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, " A ", " B ", {%4,%5,%6,%7};" \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                 \
               : "r"(r.c[0]), "r"(r.c[1]), "r"(r.c[2]), "r"(r.c[3]), "r"(r.a[0]), "r"(r.a[1]),  \
                 "r"(r.a[2]), "r"(r.a[3]), "r"(r.b[0]), "r"(r.b[1]))
#define MMA_F16(shape, types, A, B)                                                             \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1}, " A ", " B ", {%4,%5};"   \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                 \
               : "r"(r.c[0]), "r"(r.c[1]), "r"(r.c[2]), "r"(r.c[3]), "r"(r.a[0]), "r"(r.a[1]),  \
                 "r"(r.a[2]), "r"(r.a[3]), "r"(r.b[0]), "r"(r.b[1]))
#define A4 "{%8,%9,%10,%11}"
#define A2 "{%8,%9}"
#define B2 "{%12,%13}"
#define B1 "{%12}"

template <Form form>
__device__ void multiply(const Registers& r, unsigned* d) {
  if constexpr (form == Form::F16_K16) MMA_F32("m16n8k16", "f32.f16.f16.f32", A4, B2);
  if constexpr (form == Form::F16_K8) MMA_F32("m16n8k8", "f32.f16.f16.f32", A2, B1);
  if constexpr (form == Form::F16_K16_H) MMA_F16("m16n8k16", "f16.f16.f16.f16", A4, B2);
  if constexpr (form == Form::F16_K8_H) MMA_F16("m16n8k8", "f16.f16.f16.f16", A2, B1);
  if constexpr (form == Form::Bf16_K16) MMA_F32("m16n8k16", "f32.bf16.bf16.f32", A4, B2);
  if constexpr (form == Form::Bf16_K8) MMA_F32("m16n8k8", "f32.bf16.bf16.f32", A2, B1);
  if constexpr (form == Form::Tf32_K8) MMA_F32("m16n8k8", "f32.tf32.tf32.f32", A4, B2);
  if constexpr (form == Form::Tf32_K4) MMA_F32("m16n8k4", "f32.tf32.tf32.f32", A2, B1);
  if constexpr (form == Form::E4m3) MMA_F32("m16n8k32", "f32.e4m3.e4m3.f32", A4, B2);
  if constexpr (form == Form::E5m2) MMA_F32("m16n8k32", "f32.e5m2.e5m2.f32", A4, B2);
  if constexpr (form == Form::E4m3_E5m2_K16) MMA_F32("m16n8k16", "f32.e4m3.e5m2.f32", A2, B1);
  if constexpr (form == Form::E4m3_H) MMA_F16("m16n8k32", "f16.e4m3.e4m3.f16", A4, B2);
  if constexpr (form == Form::E5m2_H) MMA_F16("m16n8k32", "f16.e5m2.e5m2.f16", A4, B2);
  if constexpr (form == Form::E4m3_K16_H) MMA_F16("m16n8k16", "f16.e4m3.e4m3.f16", A2, B1);
}

template <Form form>
__global__ void run(const Registers* in, unsigned* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned d[4] = {};
  multiply<form>(in[thread], d);
  for (int i = 0; i < 4; ++i) out[4 * thread + i] = d[i];
}

using Kernel = void (*)(const Registers*, unsigned*);

Kernel kernel_of(Form form) {
  switch (form) {
    case Form::F16_K16: return run<Form::F16_K16>;
    case Form::F16_K8: return run<Form::F16_K8>;
    case Form::F16_K16_H: return run<Form::F16_K16_H>;
    case Form::F16_K8_H: return run<Form::F16_K8_H>;
    case Form::Bf16_K16: return run<Form::Bf16_K16>;
    case Form::Bf16_K8: return run<Form::Bf16_K8>;
    case Form::Tf32_K8: return run<Form::Tf32_K8>;
    case Form::Tf32_K4: return run<Form::Tf32_K4>;
    case Form::E4m3: return run<Form::E4m3>;
    case Form::E5m2: return run<Form::E5m2>;
    case Form::E4m3_E5m2_K16: return run<Form::E4m3_E5m2_K16>;
    case Form::E4m3_H: return run<Form::E4m3_H>;
    case Form::E5m2_H: return run<Form::E5m2_H>;
    case Form::E4m3_K16_H: return run<Form::E4m3_K16_H>;
  }
  return nullptr;
}

}  // namespace

void run_on_device(Form form, const Registers* in, unsigned* out, int lanes) {
  const auto count = static_cast<std::size_t>(lanes);
  Registers* device_in = nullptr;
  unsigned* device_out = nullptr;
  must(cudaMalloc(&device_in, count * sizeof(Registers)));
  must(cudaMalloc(&device_out, 4 * count * sizeof(unsigned)));
  must(cudaMemcpy(device_in, in, count * sizeof(Registers), cudaMemcpyHostToDevice));
  kernel_of(form)<<<lanes / 128, 128>>>(device_in, device_out);
  must(cudaGetLastError());
  must(cudaMemcpy(out, device_out, 4 * count * sizeof(unsigned), cudaMemcpyDeviceToHost));
  must(cudaFree(device_in));
  must(cudaFree(device_out));
}
