// SPDX-License-Identifier: Apache-2.0
// The model of src/num/matrix_unit.h against the tensor cores of the device here: random operands go
// through mma.sync and through the model, and the results are compared bit for bit. Prints a table:
// form, cases, mismatches, and the first few of them. Build and run: scripts/device_numbers.sh.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "num/matrix_unit.h"

namespace {

using ww::num::MatrixInput;
using ww::num::MatrixUnit;

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(2);
}

// --- one instruction per form --------------------------------------------------------------------

enum class Form { F16_K16, F16_K8, F16_K16_H, Bf16_K16, Bf16_K8, Tf32_K8, Tf32_K4, E4m3, E5m2 };

struct Registers {
  unsigned a[4], b[2], c[4];
};

#define MMA_F32(shape, types, A, B)                                                             \
  asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, " A ", " B ", {%4,%5,%6,%7};" \
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
  if constexpr (form == Form::Bf16_K16) MMA_F32("m16n8k16", "f32.bf16.bf16.f32", A4, B2);
  if constexpr (form == Form::Bf16_K8) MMA_F32("m16n8k8", "f32.bf16.bf16.f32", A2, B1);
  if constexpr (form == Form::Tf32_K8) MMA_F32("m16n8k8", "f32.tf32.tf32.f32", A4, B2);
  if constexpr (form == Form::Tf32_K4) MMA_F32("m16n8k4", "f32.tf32.tf32.f32", A2, B1);
  if constexpr (form == Form::E4m3) MMA_F32("m16n8k32", "f32.e4m3.e4m3.f32", A4, B2);
  if constexpr (form == Form::E5m2) MMA_F32("m16n8k32", "f32.e5m2.e5m2.f32", A4, B2);
  if constexpr (form == Form::F16_K16_H) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(r.a[0]), "r"(r.a[1]), "r"(r.a[2]), "r"(r.a[3]), "r"(r.b[0]), "r"(r.b[1]), "r"(r.c[0]),
          "r"(r.c[1]));
  }
}

template <Form form>
__global__ void run(const Registers* in, unsigned* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned d[4] = {};
  multiply<form>(in[thread], d);
  for (int i = 0; i < 4; ++i) out[4 * thread + i] = d[i];
}

// --- operands --------------------------------------------------------------------------------------

struct Shape {
  const char* name;
  MatrixInput input;
  MatrixUnit unit;
  int k;
  int bits;  // of an input element
  bool half_result;
  int exponent_bits, mantissa_bits, bias;
};

using Random = std::mt19937_64;

unsigned number(Random& random, const Shape& s, int low, int high) {
  const int top = (1 << s.exponent_bits) - 1;
  int exponent = s.bias + low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  exponent = exponent < 0 ? 0 : exponent >= top ? top - 1 : exponent;
  const unsigned mantissa = static_cast<unsigned>(random()) & ((1U << s.mantissa_bits) - 1);
  const unsigned sign = static_cast<unsigned>(random() & 1U);
  const int shift = s.bits == 32 ? 13 : 0;
  const int width = s.exponent_bits + s.mantissa_bits;
  return ((sign << width) | (static_cast<unsigned>(exponent) << s.mantissa_bits) | mantissa) << shift;
}

// Eight kinds of operands: any bits, near ones (cancellation), far apart, subnormal, mostly zero, ...
unsigned element(Random& random, const Shape& s, int kind) {
  const int spread = (1 << s.exponent_bits) / 2;
  switch (kind) {
    case 0: return static_cast<unsigned>(random()) & (s.bits == 32 ? ~0U : (1U << s.bits) - 1);
    case 1: return number(random, s, -1, 1);
    case 2: return number(random, s, -spread, spread);
    case 3: return number(random, s, -s.bias, -s.bias + 1);
    case 4: return random() % 4 == 0 ? number(random, s, -3, 3) : (static_cast<unsigned>(random() & 1U) << (s.bits - 1));
    case 5: return number(random, s, -8, 8);
    case 6: return number(random, s, spread / 2, spread);
    case 7: return number(random, s, -spread, -spread / 2);
    default: return number(random, s, -s.bias / 2 - 8, -s.bias / 2);  // products at the lower end
  }
}

unsigned addend(Random& random, const Shape& s, int kind) {
  if (s.half_result) {
    const Shape half{"", MatrixInput::F16, {}, 0, 16, true, 5, 10, 15};
    return element(random, half, kind);
  }
  const auto bits = static_cast<unsigned>(random());
  switch (kind) {
    case 0: return bits;
    case 4: return random() % 2 == 0 ? bits & 0x80000000U : (bits & 0x807FFFFFU) | ((120 + bits % 16) << 23U);
    case 2: return (bits & 0x807FFFFFU) | ((1 + bits / 7 % 254) << 23U);
    case 3: return (bits & 0x807FFFFFU) | ((bits / 5 % 3) << 23U);
    default: return (bits & 0x807FFFFFU) | ((100 + bits / 3 % 50) << 23U);
  }
}

struct Tile {
  unsigned a[16][32], b[32][8], c[16][8];
};

// Registers of a lane from the tile, as the PTX manual lays fragments out.
void pack(const Tile& tile, const Shape& s, int lane, Registers& r) {
  const int e = 32 / s.bits;
  const int g = lane / 4, t = lane % 4;
  std::memset(&r, 0, sizeof r);
  for (int reg = 0; reg < s.k / (2 * e); ++reg) {
    for (int j = 0; j < e; ++j) {
      const unsigned value = tile.a[g + 8 * (reg & 1)][4 * e * (reg >> 1) + e * t + j];
      r.a[reg] |= value << (s.bits == 32 ? 0 : s.bits * j);
    }
  }
  for (int reg = 0; reg < s.k / (4 * e); ++reg) {
    for (int j = 0; j < e; ++j) r.b[reg] |= tile.b[4 * e * reg + e * t + j][g] << (s.bits == 32 ? 0 : s.bits * j);
  }
  for (int reg = 0; reg < 4; ++reg) {
    const unsigned value = tile.c[g + 8 * (reg >> 1)][2 * t + (reg & 1)];
    if (s.half_result) r.c[reg >> 1] |= value << (16 * (reg & 1));
    else r.c[reg] = value;
  }
}

unsigned result_at(const std::vector<unsigned>& out, std::size_t warp, int row, int col, const Shape& s) {
  const int lane = 4 * (row % 8) + col / 2;
  const std::size_t base = 4 * (32 * warp + static_cast<std::size_t>(lane));
  const int reg = 2 * (row / 8) + col % 2;
  if (!s.half_result) return out[base + static_cast<std::size_t>(reg)];
  return (out[base + static_cast<std::size_t>(reg / 2)] >> (16 * (reg % 2))) & 0xFFFFU;
}

float as_float(unsigned bits) {
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

unsigned as_bits(float value) {
  unsigned bits = 0;
  std::memcpy(&bits, &value, 4);
  return bits;
}

// Hopper has no fp8 in mma.sync: ptxas converts to f16, multiplies the low and then the high halves of
// the registers, and adds C with one rounded addition.
unsigned emulated_fp8(const Shape& s, const std::vector<unsigned>& a, const std::vector<unsigned>& b, unsigned c) {
  unsigned sum = 0;
  for (int half = 0; half < 2; ++half) {
    std::vector<unsigned> x, y;
    for (int k = 0; k < s.k; ++k) {
      if (k % 4 / 2 != half) continue;
      x.push_back(a[static_cast<std::size_t>(k)]);
      y.push_back(b[static_cast<std::size_t>(k)]);
    }
    sum = dot_f32(ww::num::kHopper16, s.input, s.input, x, y, sum);
  }
  const float total = as_float(c) + as_float(sum);
  return total != total ? 0x7FFFFFFFU : as_bits(total);
}

unsigned expected(const Shape& s, const Tile& tile, int row, int col) {
  std::vector<unsigned> a(static_cast<std::size_t>(s.k)), b(static_cast<std::size_t>(s.k));
  for (int k = 0; k < s.k; ++k) {
    a[static_cast<std::size_t>(k)] = tile.a[row][k];
    b[static_cast<std::size_t>(k)] = tile.b[k][col];
  }
  const unsigned c = tile.c[row][col];
  if (s.bits == 8) return emulated_fp8(s, a, b, c);
  if (s.half_result) return dot_f16(s.unit, s.input, s.input, a, b, static_cast<std::uint16_t>(c));
  return dot_f32(s.unit, s.input, s.input, a, b, c);
}

// --- comparing -------------------------------------------------------------------------------------

template <Form form>
long compare(const Shape& s, int warps) {
  Random random(2026);
  std::vector<Tile> tiles(static_cast<std::size_t>(warps));
  std::vector<Registers> in(static_cast<std::size_t>(warps) * 32);
  for (std::size_t w = 0; w < tiles.size(); ++w) {
    const bool tiny = w % 8 == 0;
    const int kind_a = tiny ? 8 : static_cast<int>(random() % 8);
    const int kind_b = tiny ? 8 : static_cast<int>(random() % 8);
    const int kind_c = tiny ? 4 : static_cast<int>(random() % 8);
    for (auto& row : tiles[w].a) for (unsigned& x : row) x = element(random, s, kind_a);
    for (auto& row : tiles[w].b) for (unsigned& x : row) x = element(random, s, kind_b);
    for (auto& row : tiles[w].c) for (unsigned& x : row) x = addend(random, s, kind_c);
    for (int lane = 0; lane < 32; ++lane) pack(tiles[w], s, lane, in[32 * w + static_cast<std::size_t>(lane)]);
  }
  Registers* device_in = nullptr;
  unsigned* device_out = nullptr;
  std::vector<unsigned> out(in.size() * 4);
  must(cudaMalloc(&device_in, in.size() * sizeof(Registers)));
  must(cudaMalloc(&device_out, out.size() * 4));
  must(cudaMemcpy(device_in, in.data(), in.size() * sizeof(Registers), cudaMemcpyHostToDevice));
  run<form><<<warps / 4, 128>>>(device_in, device_out);
  must(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost));
  must(cudaFree(device_in));
  must(cudaFree(device_out));
  long wrong = 0;
  for (std::size_t w = 0; w < tiles.size(); ++w) {
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 8; ++col) {
        const unsigned want = expected(s, tiles[w], row, col);
        const unsigned have = result_at(out, w, row, col, s);
        if (want == have) continue;
        if (++wrong <= 6) {
          std::printf("    C %08x: device %08x, model %08x; products", tiles[w].c[row][col], have, want);
          for (int k = 0; k < s.k && k < 16; ++k) std::printf(" %x*%x", tiles[w].a[row][k], tiles[w].b[k][col]);
          std::printf("\n");
        }
      }
    }
  }
  std::printf("| %-44s | %9ld | %9ld |\n", s.name, static_cast<long>(warps) * 128, wrong);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int warps = argc > 1 ? std::atoi(argv[1]) / 128 / 4 * 4 : 16384;
  using ww::num::kHopper16;
  using ww::num::kHopperTf32;
  std::printf("| form | cases | mismatches |\n|---|--:|--:|\n");
  long wrong = 0;
  wrong += compare<Form::F16_K16>({"m16n8k16.f32.f16.f16.f32", MatrixInput::F16, kHopper16, 16, 16, false, 5, 10, 15}, warps);
  wrong += compare<Form::F16_K8>({"m16n8k8.f32.f16.f16.f32", MatrixInput::F16, kHopper16, 8, 16, false, 5, 10, 15}, warps);
  wrong += compare<Form::F16_K16_H>({"m16n8k16.f16.f16.f16.f16", MatrixInput::F16, ww::num::kHopper16Half, 16, 16, true, 5, 10, 15}, warps);
  wrong += compare<Form::Bf16_K16>({"m16n8k16.f32.bf16.bf16.f32", MatrixInput::Bf16, kHopper16, 16, 16, false, 8, 7, 127}, warps);
  wrong += compare<Form::Bf16_K8>({"m16n8k8.f32.bf16.bf16.f32", MatrixInput::Bf16, kHopper16, 8, 16, false, 8, 7, 127}, warps);
  wrong += compare<Form::Tf32_K8>({"m16n8k8.f32.tf32.tf32.f32", MatrixInput::Tf32, kHopperTf32, 8, 32, false, 8, 10, 127}, warps);
  wrong += compare<Form::Tf32_K4>({"m16n8k4.f32.tf32.tf32.f32", MatrixInput::Tf32, kHopperTf32, 4, 32, false, 8, 10, 127}, warps);
  wrong += compare<Form::E4m3>({"m16n8k32.f32.e4m3.e4m3.f32", MatrixInput::E4m3, kHopper16, 32, 8, false, 4, 3, 7}, warps);
  wrong += compare<Form::E5m2>({"m16n8k32.f32.e5m2.e5m2.f32", MatrixInput::E5m2, kHopper16, 32, 8, false, 5, 2, 15}, warps);
  return wrong == 0 ? 0 : 1;
}
