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

#define OPERANDS                                                                                    \
  "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                    \
      : "r"(r.c[0]), "r"(r.c[1]), "r"(r.c[2]), "r"(r.c[3]), "r"(r.a[0]), "r"(r.a[1]), "r"(r.a[2]),  \
        "r"(r.a[3]), "r"(r.b[0]), "r"(r.b[1]), "r"(r.b[2]), "r"(r.b[3]), "r"(r.e), "n"(selector)
#define MMA(shape, types, D, A, B, C) \
  asm volatile("mma.sync.aligned." shape ".row.col." types " " D ", " A ", " B ", " C ";" : OPERANDS)
#define SPARSE(shape, types, D, A, B, C)                                                            \
  asm volatile("mma.sp::ordered_metadata.sync.aligned." shape ".row.col." types " " D ", " A ", " B \
               ", " C ", %16, %17;"                                                                 \
               : OPERANDS)
#define D4 "{%0,%1,%2,%3}"
#define D2 "{%0,%1}"
#define C4 "{%4,%5,%6,%7}"
#define C2 "{%4,%5}"
#define A4 "{%8,%9,%10,%11}"
#define A2 "{%8,%9}"
#define B4 "{%12,%13,%14,%15}"
#define B2 "{%12,%13}"
#define B1 "{%12}"
#define MMA_F32(shape, types, A, B) MMA(shape, types, D4, A, B, C4)
#define MMA_F16(shape, types, A, B) MMA(shape, types, D2, A, B, C2)
#define SPARSE_32(shape, types, A, B) SPARSE(shape, types, D4, A, B, C4)
#define SPARSE_16(shape, types, A, B) SPARSE(shape, types, D2, A, B, C2)

template <Form form, int selector>
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
  if constexpr (form == Form::Sp_F16_K16) SPARSE_32("m16n8k16", "f32.f16.f16.f32", A2, B2);
  if constexpr (form == Form::Sp_F16_K32) SPARSE_32("m16n8k32", "f32.f16.f16.f32", A4, B4);
  if constexpr (form == Form::Sp_F16_K16_H) SPARSE_16("m16n8k16", "f16.f16.f16.f16", A2, B2);
  if constexpr (form == Form::Sp_F16_K32_H) SPARSE_16("m16n8k32", "f16.f16.f16.f16", A4, B4);
  if constexpr (form == Form::Sp_Bf16_K16) SPARSE_32("m16n8k16", "f32.bf16.bf16.f32", A2, B2);
  if constexpr (form == Form::Sp_Bf16_K32) SPARSE_32("m16n8k32", "f32.bf16.bf16.f32", A4, B4);
  if constexpr (form == Form::Sp_Tf32_K8) SPARSE_32("m16n8k8", "f32.tf32.tf32.f32", A2, B2);
  if constexpr (form == Form::Sp_Tf32_K16) SPARSE_32("m16n8k16", "f32.tf32.tf32.f32", A4, B4);
  if constexpr (form == Form::Sp_E4m3) SPARSE_32("m16n8k64", "f32.e4m3.e4m3.f32", A4, B4);
  if constexpr (form == Form::Sp_E4m3_E5m2) SPARSE_32("m16n8k64", "f32.e4m3.e5m2.f32", A4, B4);
  if constexpr (form == Form::Sp_E5m2_E4m3) SPARSE_32("m16n8k64", "f32.e5m2.e4m3.f32", A4, B4);
  if constexpr (form == Form::Sp_E5m2) SPARSE_32("m16n8k64", "f32.e5m2.e5m2.f32", A4, B4);
  if constexpr (form == Form::Sp_S8_U8_K32) SPARSE_32("m16n8k32", "s32.s8.u8.s32", A2, B2);
  if constexpr (form == Form::Sp_U8_S8_K64) SPARSE_32("m16n8k64", "satfinite.s32.u8.s8.s32", A4, B4);
  if constexpr (form == Form::Sp_S4_U4_K64) SPARSE_32("m16n8k64", "s32.s4.u4.s32", A2, B2);
  if constexpr (form == Form::Sp_U4_S4_K128)
    SPARSE_32("m16n8k128", "satfinite.s32.u4.s4.s32", A4, B4);
}

template <Form form, int selector = 0>
__global__ void run(const Registers* in, unsigned* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned d[4] = {};
  multiply<form, selector>(in[thread], d);
  for (int i = 0; i < 4; ++i) out[4 * thread + i] = d[i];
}

using Kernel = void (*)(const Registers*, unsigned*);

// By the number of values that the selector has.
template <Form form>
Kernel with_one_of_two(int selector) {
  return selector == 0 ? run<form, 0> : run<form, 1>;
}
template <Form form>
Kernel with_one_of_four(int selector) {
  return selector == 0 ? run<form, 0> : selector == 1 ? run<form, 1> : selector == 2 ? run<form, 2> : run<form, 3>;
}

Kernel kernel_of(Form form, int selector) {
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
    case Form::Sp_F16_K16: return with_one_of_four<Form::Sp_F16_K16>(selector);
    case Form::Sp_F16_K32: return with_one_of_two<Form::Sp_F16_K32>(selector);
    case Form::Sp_F16_K16_H: return with_one_of_four<Form::Sp_F16_K16_H>(selector);
    case Form::Sp_F16_K32_H: return with_one_of_two<Form::Sp_F16_K32_H>(selector);
    case Form::Sp_Bf16_K16: return with_one_of_four<Form::Sp_Bf16_K16>(selector);
    case Form::Sp_Bf16_K32: return with_one_of_two<Form::Sp_Bf16_K32>(selector);
    case Form::Sp_Tf32_K8: return with_one_of_four<Form::Sp_Tf32_K8>(selector);
    case Form::Sp_Tf32_K16: return with_one_of_two<Form::Sp_Tf32_K16>(selector);
    case Form::Sp_E4m3: return run<Form::Sp_E4m3>;
    case Form::Sp_E4m3_E5m2: return run<Form::Sp_E4m3_E5m2>;
    case Form::Sp_E5m2_E4m3: return run<Form::Sp_E5m2_E4m3>;
    case Form::Sp_E5m2: return run<Form::Sp_E5m2>;
    case Form::Sp_S8_U8_K32: return with_one_of_two<Form::Sp_S8_U8_K32>(selector);
    case Form::Sp_U8_S8_K64: return run<Form::Sp_U8_S8_K64>;
    case Form::Sp_S4_U4_K64: return with_one_of_two<Form::Sp_S4_U4_K64>(selector);
    case Form::Sp_U4_S4_K128: return run<Form::Sp_U4_S4_K128>;
  }
  return nullptr;
}

}  // namespace

void run_on_device(Form form, int selector, const Registers* in, unsigned* out, int lanes) {
  const auto count = static_cast<std::size_t>(lanes);
  Registers* device_in = nullptr;
  unsigned* device_out = nullptr;
  must(cudaMalloc(&device_in, count * sizeof(Registers)));
  must(cudaMalloc(&device_out, 4 * count * sizeof(unsigned)));
  must(cudaMemcpy(device_in, in, count * sizeof(Registers), cudaMemcpyHostToDevice));
  kernel_of(form, selector)<<<lanes / 128, 128>>>(device_in, device_out);
  must(cudaGetLastError());
  must(cudaMemcpy(out, device_out, 4 * count * sizeof(unsigned), cudaMemcpyDeviceToHost));
  must(cudaFree(device_in));
  must(cudaFree(device_out));
}
