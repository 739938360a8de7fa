// SPDX-License-Identifier: Apache-2.0
// The model of src/num/matrix_tile.h against the tensor cores of the device here: random operands
// go through mma.sync and through the model, and the results are compared bit for bit. Prints a
// table: form, cases, mismatches, and the first few of them. Build and run:
// scripts/device_numbers.sh.
#include <algorithm>
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
  int selectors = 0;  // of a sparse A: how many there are
  bool saturates = false;

  [[nodiscard]] bool is_sparse() const { return selectors != 0; }
  /// Elements of a row of A as it is stored.
  [[nodiscard]] int a_length() const { return is_sparse() ? k / 2 : k; }
  [[nodiscard]] bool is_integer() const { return !ww::num::is_float(a); }
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
    {"sp.m16n8k16.f32.f16.f16.f32", Form::Sp_F16_K16, DType::Float16, DType::Float16, 16, false, 4},
    {"sp.m16n8k32.f32.f16.f16.f32", Form::Sp_F16_K32, DType::Float16, DType::Float16, 32, false, 2},
    {"sp.m16n8k16.f16.f16.f16.f16", Form::Sp_F16_K16_H, DType::Float16, DType::Float16, 16, true,
     4},
    {"sp.m16n8k32.f16.f16.f16.f16", Form::Sp_F16_K32_H, DType::Float16, DType::Float16, 32, true,
     2},
    {"sp.m16n8k16.f32.bf16.bf16.f32", Form::Sp_Bf16_K16, DType::Bfloat16, DType::Bfloat16, 16,
     false, 4},
    {"sp.m16n8k32.f32.bf16.bf16.f32", Form::Sp_Bf16_K32, DType::Bfloat16, DType::Bfloat16, 32,
     false, 2},
    {"sp.m16n8k8.f32.tf32.tf32.f32", Form::Sp_Tf32_K8, DType::Tfloat32, DType::Tfloat32, 8, false,
     4},
    {"sp.m16n8k16.f32.tf32.tf32.f32", Form::Sp_Tf32_K16, DType::Tfloat32, DType::Tfloat32, 16,
     false, 2},
    {"sp.m16n8k64.f32.e4m3.e4m3.f32", Form::Sp_E4m3, DType::Float8E4M3fn, DType::Float8E4M3fn, 64,
     false, 1},
    {"sp.m16n8k64.f32.e4m3.e5m2.f32", Form::Sp_E4m3_E5m2, DType::Float8E4M3fn, DType::Float8E5M2,
     64, false, 1},
    {"sp.m16n8k64.f32.e5m2.e4m3.f32", Form::Sp_E5m2_E4m3, DType::Float8E5M2, DType::Float8E4M3fn,
     64, false, 1},
    {"sp.m16n8k64.f32.e5m2.e5m2.f32", Form::Sp_E5m2, DType::Float8E5M2, DType::Float8E5M2, 64,
     false, 1},
    {"sp.m16n8k32.s32.s8.u8.s32", Form::Sp_S8_U8_K32, DType::Int8, DType::Uint8, 32, false, 2},
    {"sp.m16n8k64.satfinite.s32.u8.s8.s32", Form::Sp_U8_S8_K64, DType::Uint8, DType::Int8, 64,
     false, 1, true},
    {"sp.m16n8k64.s32.s4.u4.s32", Form::Sp_S4_U4_K64, DType::Int4, DType::Uint4, 64, false, 2},
    {"sp.m16n8k128.satfinite.s32.u4.s4.s32", Form::Sp_U4_S4_K128, DType::Uint4, DType::Int4, 128,
     false, 1, true},
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
  if (!ww::num::is_float(type))
    return static_cast<unsigned>(random()) & ((1U << bits_of(type)) - 1);
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
  if (c.is_integer()) return kind % 2 == 0 ? bits : 0x7FFF'F000U + bits % 0x2000;
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
  std::vector<unsigned> codes;    // metadata of a sparse A: groups of each row
  std::vector<unsigned> kept;     // the k of each element of A
};

// Elements that a group of a sparse row keeps: 1 of 2, 2 of 4, or two pairs of 4.
int kept_of_group(const Case& c) {
  const int bits = bits_of(c.a);
  return bits == 32 ? 1 : bits == 4 ? 4 : 2;
}

void add_metadata(Random& random, const Case& c, Tile& tile) {
  constexpr unsigned kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  const auto each = static_cast<unsigned>(kept_of_group(c));
  for (int row = 0; row < 16; ++row) {
    for (unsigned group = 0; group * each < static_cast<unsigned>(c.a_length()); ++group) {
      const unsigned code = each == 1 ? (random() % 2 == 0 ? 0x4U : 0xEU) : kPairs[random() % 6];
      tile.codes.push_back(code);
      for (unsigned i = 0; i < each; ++i) {
        const unsigned place = each > 1 && i >= each / 2 ? code >> 2U : code & 3U;
        const unsigned inside = each == 1 ? place / 2 : each == 2 ? place : place * 2 + i % 2;
        tile.kept.push_back(group * 2 * each + inside);
      }
    }
  }
}

Tile some_tile(Random& random, const Case& c, bool tiny) {
  const int kind_a = tiny ? 8 : static_cast<int>(random() % 8);
  const int kind_b = tiny ? 8 : static_cast<int>(random() % 8);
  const int kind_c = tiny ? 4 : static_cast<int>(random() % 8);
  const auto k = static_cast<std::size_t>(c.k);
  Tile tile{.a = std::vector<unsigned>(16 * static_cast<std::size_t>(c.a_length())),
            .b = std::vector<unsigned>(8 * k),
            .c = std::vector<unsigned>(128),
            .codes = {},
            .kept = {}};
  for (unsigned& x : tile.a) x = element(random, c.a, kind_a);
  for (unsigned& x : tile.b) x = element(random, c.b, kind_b);
  for (unsigned& x : tile.c) x = addend(random, c, kind_c);
  if (c.is_sparse()) add_metadata(random, c, tile);
  return tile;
}

// --- registers -----------------------------------------------------------------------------------

unsigned at(const std::vector<unsigned>& words, int index) {
  return words[static_cast<std::size_t>(index)];
}

// The metadata of a lane: four groups of two rows, or of narrow elements eight of one row. What is not
// read stays 0.
unsigned metadata_of(const Tile& tile, const Case& c, int selector, int lane) {
  const int groups = static_cast<int>(tile.codes.size()) / 16;
  const int lanes = groups / 4;  // of a quad
  const bool is_narrow = bits_of(c.a) <= 8;
  const int g = lane / 4;
  const int t = lane % 4;
  if (t / lanes != selector) return 0;
  unsigned word = 0;
  for (int nibble = 0; nibble < 8; ++nibble) {
    const int row = g + 8 * (is_narrow ? t % 2 : nibble / 4);
    const int group = is_narrow ? t % lanes / 2 * 8 + nibble : t % lanes * 4 + nibble % 4;
    word |= at(tile.codes, row * groups + group) << (4 * nibble);
  }
  return word;
}

// Registers of a lane from the tile, as the PTX manual lays fragments out.
Registers pack(const Tile& tile, const Case& c, int selector, int lane) {
  const int bits = bits_of(c.a);
  const int e = 32 / bits;
  const int g = lane / 4;
  const int t = lane % 4;
  Registers r{};
  for (int reg = 0; reg < c.a_length() / (2 * e); ++reg) {
    for (int j = 0; j < e; ++j) {
      const int row = g + 8 * (reg & 1);
      r.a[reg] |= at(tile.a, row * c.a_length() + 4 * e * (reg >> 1) + e * t + j)
                  << (bits * j % 32);
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
  if (c.is_sparse()) r.e = metadata_of(tile, c, selector, lane);
  return r;
}

unsigned result_at(const unsigned* out, int row, int col, bool half) {
  const int lane = 4 * (row % 8) + col / 2;
  const int reg = 2 * (row / 8) + col % 2;
  if (!half) return out[4 * lane + reg];
  return (out[4 * lane + reg / 2] >> (16 * (reg % 2))) & 0xFFFFU;
}

// --- comparing -----------------------------------------------------------------------------------

void multiply(const Case& c, ww::num::TileShape shape, const unsigned* a, const unsigned* b,
              unsigned* d) {
  if (c.is_integer()) return ww::num::product_s32(c.saturates, c.a, c.b, shape, a, b, d);
  const auto product = c.half_result ? ww::num::product_f16 : ww::num::product_f32;
  product(ww::num::mode_of(90), true, c.a, c.b, shape, a, b, d);
}

// Each row meets elements of B of its own.
std::vector<unsigned> expected_sparse(const Case& c, const Tile& tile) {
  std::vector<unsigned> d = tile.c;
  const int length = c.a_length();
  for (int row = 0; row < 16; ++row) {
    std::vector<unsigned> a(8 * static_cast<std::size_t>(length));
    std::vector<unsigned> b;
    std::vector<unsigned> sums(64);
    std::copy_n(tile.a.begin() + row * length, length, a.begin());
    std::copy_n(d.begin() + row * 8, 8, sums.begin());
    for (int column = 0; column < 8; ++column) {
      for (int i = 0; i < length; ++i)
        b.push_back(at(tile.b, column * c.k + static_cast<int>(at(tile.kept, row * length + i))));
    }
    multiply(c, {8, 8, length}, a.data(), b.data(), sums.data());
    std::copy_n(sums.begin(), 8, d.begin() + row * 8);
  }
  return d;
}

std::vector<unsigned> expected(const Case& c, const Tile& tile) {
  if (c.is_sparse()) return expected_sparse(c, tile);
  std::vector<unsigned> d = tile.c;
  multiply(c, {16, 8, c.k}, tile.a.data(), tile.b.data(), d.data());
  return d;
}

void show(const Case& c, const Tile& tile, int i, unsigned have, unsigned want) {
  std::printf("    C %08x: device %08x, model %08x; products", at(tile.c, i), have, want);
  const int length = c.a_length();
  for (int k = 0; k < length; ++k) {
    const int met = c.is_sparse() ? static_cast<int>(at(tile.kept, i / 8 * length + k)) : k;
    std::printf(" %x*%x", at(tile.a, i / 8 * length + k), at(tile.b, i % 8 * c.k + met));
  }
  std::printf("\n");
}

long compare_with(const Case& c, int selector, int warps) {
  Random random(2026 + static_cast<unsigned>(selector));
  std::vector<Tile> tiles;
  std::vector<Registers> in;
  for (int w = 0; w < warps; ++w) {
    tiles.push_back(some_tile(random, c, w % 8 == 0));
    for (int lane = 0; lane < 32; ++lane) in.push_back(pack(tiles.back(), c, selector, lane));
  }
  std::vector<unsigned> out(4 * in.size());
  run_on_device(c.form, selector, in.data(), out.data(), 32 * warps);
  long wrong = 0;
  for (std::size_t w = 0; w < tiles.size(); ++w) {
    const std::vector<unsigned> want = expected(c, tiles[w]);
    for (int i = 0; i < 128; ++i) {
      const unsigned have = result_at(out.data() + 128 * w, i / 8, i % 8, c.half_result);
      if (at(want, i) != have && ++wrong <= 6) show(c, tiles[w], i, have, at(want, i));
    }
  }
  return wrong;
}

long compare(const Case& c, int warps) {
  const int selectors = c.is_sparse() ? c.selectors : 1;
  const int each = warps / selectors / 4 * 4;
  long wrong = 0;
  for (int selector = 0; selector < selectors; ++selector) wrong += compare_with(c, selector, each);
  std::printf("| %-44s | %9ld | %9ld |\n", c.name, 128L * each * selectors, wrong);
  std::fflush(stdout);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int warps = argc > 1 ? std::atoi(argv[1]) / 128 / 4 * 4 : 16384;
  std::printf("| form | cases | mismatches |\n|---|--:|--:|\n");
  long wrong = 0;
  for (const Case& c : kCases) {
    if (argc < 3 || std::strstr(c.name, argv[2]) != nullptr) wrong += compare(c, warps);
  }
  return wrong == 0 ? 0 : 1;
}
