// SPDX-License-Identifier: Apache-2.0
// The model of src/num/matrix_tile.h against the tensor cores of the device here: random operands
// go through mma.sync and through the model, and the results are compared bit for bit. Prints a
// table: form, cases, mismatches, and the first few of them. Build and run:
// scripts/device_numbers.sh.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "matrix_forms.h"
#include "num/matrix_tile.h"

namespace {

using ww::num::DType;

struct Case {
  const char* name;
  Form form;
  DType a, b;
  int k;
  bool half_result = false;
};

constexpr Case kCases[] = {
    {"m16n8k16.f32.f16.f16.f32", Form::F16_K16, DType::Float16, DType::Float16, 16},
    {"m16n8k8.f32.f16.f16.f32", Form::F16_K8, DType::Float16, DType::Float16, 8},
    {"m16n8k16.f16.f16.f16.f16", Form::F16_K16_H, DType::Float16, DType::Float16, 16, true},
    {"m16n8k8.f16.f16.f16.f16", Form::F16_K8_H, DType::Float16, DType::Float16, 8, true},
    {"m16n8k16.f32.bf16.bf16.f32", Form::Bf16_K16, DType::Bfloat16, DType::Bfloat16, 16},
    {"m16n8k8.f32.bf16.bf16.f32", Form::Bf16_K8, DType::Bfloat16, DType::Bfloat16, 8},
    {"m16n8k8.f32.tf32.tf32.f32", Form::Tf32_K8, DType::Tfloat32, DType::Tfloat32, 8},
    {"m16n8k4.f32.tf32.tf32.f32", Form::Tf32_K4, DType::Tfloat32, DType::Tfloat32, 4},
    {"m16n8k32.f32.e4m3.e4m3.f32", Form::E4m3, DType::Float8E4M3fn, DType::Float8E4M3fn, 32},
    {"m16n8k32.f32.e5m2.e5m2.f32", Form::E5m2, DType::Float8E5M2, DType::Float8E5M2, 32},
    {"m16n8k16.f32.e4m3.e5m2.f32", Form::E4m3_E5m2_K16, DType::Float8E4M3fn, DType::Float8E5M2, 16},
    {"m16n8k32.f16.e4m3.e4m3.f16", Form::E4m3_H, DType::Float8E4M3fn, DType::Float8E4M3fn, 32,
     true},
    {"m16n8k32.f16.e5m2.e5m2.f16", Form::E5m2_H, DType::Float8E5M2, DType::Float8E5M2, 32, true},
    {"m16n8k16.f16.e4m3.e4m3.f16", Form::E4m3_K16_H, DType::Float8E4M3fn, DType::Float8E4M3fn, 16,
     true},
};

// --- operands ------------------------------------------------------------------------------------

using Random = std::mt19937_64;

unsigned number(Random& random, DType type, int low, int high) {
  const ww::num::FloatFormat& f = ww::num::format_of(type);
  const int top = (1 << f.exponent_bits) - 1;
  int exponent = f.bias + low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  exponent = exponent < 0 ? 0 : exponent >= top ? top - 1 : exponent;
  const unsigned mantissa = static_cast<unsigned>(random()) & ((1U << f.mantissa_bits) - 1);
  const unsigned sign = static_cast<unsigned>(random() & 1U);
  const int width = f.exponent_bits + f.mantissa_bits;
  return ((sign << width) | (static_cast<unsigned>(exponent) << f.mantissa_bits) | mantissa)
         << f.low_bits;
}

// Nine kinds of operands: any bits, near ones (cancellation), far apart, subnormal, mostly zero,
// ...
unsigned element(Random& random, DType type, int kind) {
  const ww::num::FloatFormat& f = ww::num::format_of(type);
  const int bits = bits_of(type);
  const int spread = (1 << f.exponent_bits) / 2;
  const unsigned sign = static_cast<unsigned>(random() & 1U) << (bits - 1);
  switch (kind) {
    case 0:
      return static_cast<unsigned>(random()) & (bits == 32 ? ~0U : (1U << bits) - 1);
    case 1:
      return number(random, type, -1, 1);
    case 2:
      return number(random, type, -spread, spread);
    case 3:
      return number(random, type, -f.bias, -f.bias + 1);
    case 4:
      return random() % 4 == 0 ? number(random, type, -3, 3) : sign;
    case 5:
      return number(random, type, -8, 8);
    case 6:
      return number(random, type, spread / 2, spread);
    case 7:
      return number(random, type, -spread, -spread / 2);
    default:
      return number(random, type, -f.bias / 2 - 8, -f.bias / 2);  // products at the lower end
  }
}

unsigned addend(Random& random, const Case& c, int kind) {
  if (c.half_result) return element(random, DType::Float16, kind);
  const auto bits = static_cast<unsigned>(random());
  switch (kind) {
    case 0:
      return bits;
    case 4:
      return random() % 2 == 0 ? bits & 0x80000000U
                               : (bits & 0x807FFFFFU) | ((120 + bits % 16) << 23U);
    case 2:
      return (bits & 0x807FFFFFU) | ((1 + bits / 7 % 254) << 23U);
    case 3:
      return (bits & 0x807FFFFFU) | ((bits / 5 % 3) << 23U);
    default:
      return (bits & 0x807FFFFFU) | ((100 + bits / 3 % 50) << 23U);
  }
}

struct Tile {
  std::vector<unsigned> a, b, c;  // as num/matrix_tile.h has them
};

Tile some_tile(Random& random, const Case& c, bool tiny) {
  const int kind_a = tiny ? 8 : static_cast<int>(random() % 8);
  const int kind_b = tiny ? 8 : static_cast<int>(random() % 8);
  const int kind_c = tiny ? 4 : static_cast<int>(random() % 8);
  const auto k = static_cast<std::size_t>(c.k);
  Tile tile{std::vector<unsigned>(16 * k), std::vector<unsigned>(8 * k),
            std::vector<unsigned>(128)};
  for (unsigned& x : tile.a) x = element(random, c.a, kind_a);
  for (unsigned& x : tile.b) x = element(random, c.b, kind_b);
  for (unsigned& x : tile.c) x = addend(random, c, kind_c);
  return tile;
}

// --- registers -----------------------------------------------------------------------------------

unsigned at(const std::vector<unsigned>& words, int index) {
  return words[static_cast<std::size_t>(index)];
}

// Registers of a lane from the tile, as the PTX manual lays fragments out.
Registers pack(const Tile& tile, const Case& c, int lane) {
  const int bits = bits_of(c.a);
  const int e = 32 / bits;
  const int g = lane / 4;
  const int t = lane % 4;
  Registers r{};
  for (int reg = 0; reg < c.k / (2 * e); ++reg) {
    for (int j = 0; j < e; ++j) {
      const int row = g + 8 * (reg & 1);
      r.a[reg] |= at(tile.a, row * c.k + 4 * e * (reg >> 1) + e * t + j) << (bits * j % 32);
    }
  }
  for (int reg = 0; reg < c.k / (4 * e); ++reg) {
    for (int j = 0; j < e; ++j)
      r.b[reg] |= at(tile.b, g * c.k + 4 * e * reg + e * t + j) << (bits * j % 32);
  }
  for (int reg = 0; reg < 4; ++reg) {
    const unsigned value = at(tile.c, (g + 8 * (reg >> 1)) * 8 + 2 * t + (reg & 1));
    if (c.half_result)
      r.c[reg >> 1] |= value << (16 * (reg & 1));
    else
      r.c[reg] = value;
  }
  return r;
}

unsigned result_at(const unsigned* out, int row, int col, bool half) {
  const int lane = 4 * (row % 8) + col / 2;
  const int reg = 2 * (row / 8) + col % 2;
  if (!half) return out[4 * lane + reg];
  return (out[4 * lane + reg / 2] >> (16 * (reg % 2))) & 0xFFFFU;
}

// --- comparing -----------------------------------------------------------------------------------

std::vector<unsigned> expected(const Case& c, const Tile& tile) {
  std::vector<unsigned> d = tile.c;
  const auto product = c.half_result ? ww::num::product_f16 : ww::num::product_f32;
  product(ww::num::mode_of(90), true, c.a, c.b, {16, 8, c.k}, tile.a.data(), tile.b.data(),
          d.data());
  return d;
}

void show(const Case& c, const Tile& tile, int i, unsigned have, unsigned want) {
  std::printf("    C %08x: device %08x, model %08x; products", at(tile.c, i), have, want);
  for (int k = 0; k < c.k; ++k)
    std::printf(" %x*%x", at(tile.a, i / 8 * c.k + k), at(tile.b, i % 8 * c.k + k));
  std::printf("\n");
}

long compare(const Case& c, int warps) {
  Random random(2026);
  std::vector<Tile> tiles;
  std::vector<Registers> in;
  for (int w = 0; w < warps; ++w) {
    tiles.push_back(some_tile(random, c, w % 8 == 0));
    for (int lane = 0; lane < 32; ++lane) in.push_back(pack(tiles.back(), c, lane));
  }
  std::vector<unsigned> out(4 * in.size());
  run_on_device(c.form, in.data(), out.data(), 32 * warps);
  long wrong = 0;
  for (std::size_t w = 0; w < tiles.size(); ++w) {
    const std::vector<unsigned> want = expected(c, tiles[w]);
    for (int i = 0; i < 128; ++i) {
      const unsigned have = result_at(out.data() + 128 * w, i / 8, i % 8, c.half_result);
      if (at(want, i) != have && ++wrong <= 6) show(c, tiles[w], i, have, at(want, i));
    }
  }
  std::printf("| %-44s | %9ld | %9ld |\n", c.name, 128L * warps, wrong);
  std::fflush(stdout);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int warps = argc > 1 ? std::atoi(argv[1]) / 128 / 4 * 4 : 16384;
  std::printf("| form | cases | mismatches |\n|---|--:|--:|\n");
  long wrong = 0;
  for (const Case& c : kCases) wrong += compare(c, warps);
  return wrong == 0 ? 0 : 1;
}
