// SPDX-License-Identifier: Apache-2.0
// wgmma against sums of num/matrix_unit.h. The oracle puts matrices into shared memory as kernels
// do it, tile by tile and with the exchange of chunks inside a tile, where the simulator goes by
// addresses and their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "num/matrix_mode.h"
#include "num/matrix_unit.h"
#include "sim/ops/test_wgmma.h"
#include "sim/test_run.h"

namespace ww::sim {
namespace {

using num::DType;
using Elements = std::vector<std::vector<std::uint32_t>>;  // by line and k

DType type_named(std::string_view name) {
  if (name == "f16") return DType::Float16;
  if (name == "bf16") return DType::Bfloat16;
  if (name == "tf32") return DType::Tfloat32;
  if (name == "e4m3") return DType::Float8E4M3fn;
  return DType::Float8E5M2;
}

// --- matrices in shared memory -------------------------------------------------------------------

/// A descriptor field by field.
std::uint64_t descriptor(std::uint64_t start, std::uint64_t leading, std::uint64_t stride,
                         std::uint64_t swizzle) {
  return (start / 16) | (leading / 16) << 16U | (stride / 16) << 32U | swizzle << 62U;
}

struct Swizzle {
  std::uint64_t code;
  unsigned chunks;  // of 16 bytes in a row of the pattern
};
constexpr Swizzle kSwizzles[] = {{0, 1}, {1, 8}, {2, 4}, {3, 2}};

/// Puts 16 bytes where a tile of rows of `chunks` chunks has them: the pattern exchanges the chunks
/// of a row of 128 bytes, by the number of the row.
unsigned place(unsigned chunks, unsigned row, unsigned chunk) {
  const unsigned exchange = row * chunks / 8 % chunks;
  return (row * chunks + (chunk ^ exchange)) * 16;
}

/// A matrix in the usual tiles: [lines][k] elements of that many bytes. Returns its descriptor.
std::uint64_t put(std::vector<std::uint8_t>& image, unsigned from, const Elements& lines,
                  unsigned size, Swizzle swizzle, bool is_mn_major) {
  const auto count = static_cast<unsigned>(lines.size());
  const auto k_count = static_cast<unsigned>(lines[0].size());
  const unsigned each = 16 / size;  // elements of a chunk
  const unsigned k_chunks = k_count / each;
  // K-major: tiles of 8 lines, one behind the other, first along K. MN-major: tiles of 8 k.
  const unsigned tile = 8 * 16 * swizzle.chunks;
  const unsigned tiles = is_mn_major ? std::max(1U, count / each / swizzle.chunks)
                                     : std::max(1U, k_chunks / swizzle.chunks);
  for (unsigned line = 0; line < count; ++line) {
    for (unsigned k = 0; k < k_count; ++k) {
      const unsigned outer = is_mn_major ? k : line;
      const unsigned inner = is_mn_major ? line : k;
      const unsigned chunk = inner / each;
      const unsigned at = (outer / 8 * tiles + chunk / swizzle.chunks) * tile +
                          place(swizzle.chunks, outer % 8, chunk % swizzle.chunks) +
                          inner % each * size;
      std::memcpy(&image.at(from + at), &lines[line][k], size);
    }
  }
  const bool swaps = is_mn_major && swizzle.code == 0;
  const std::uint64_t along = tile;
  const std::uint64_t down = std::uint64_t{tile} * tiles;
  return descriptor(from, swaps ? down : along, swaps ? along : down, swizzle.code);
}

// --- expectations --------------------------------------------------------------------------------

std::uint32_t integer_sum(const WgmmaSpec& spec, const std::vector<std::uint32_t>& a,
                          const std::vector<std::uint32_t>& b, std::uint32_t addend) {
  std::int64_t sum = static_cast<std::int32_t>(addend);
  const auto value = [](std::string_view type, std::uint32_t bits) {
    return type == "s8" ? std::int64_t{static_cast<std::int8_t>(bits)} : std::int64_t{bits & 0xFFU};
  };
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += spec.a == "b1" ? std::popcount(a[k] & b[k]) : value(spec.a, a[k]) * value(spec.b, b[k]);
  }
  if (spec.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t expected(const WgmmaSpec& spec, std::vector<std::uint32_t> a,
                       std::vector<std::uint32_t> b, std::uint32_t addend) {
  if (spec.is_integer()) return integer_sum(spec, a, b, addend);
  const std::uint32_t sign = 1U << (spec.bits() - 1);
  if (spec.scale_a < 0)
    for (std::uint32_t& x : a) x ^= sign;
  if (spec.scale_b < 0)
    for (std::uint32_t& x : b) x ^= sign;
  const num::MatrixMode& mode = num::mode_of(90);
  const DType type_a = type_named(spec.a);
  const DType type_b = type_named(spec.b);
  const bool narrow = spec.bits() == 8;
  if (spec.d == "f16") {
    return num::dot_f16(narrow ? mode.fp8_half_result : mode.half_result, type_a, type_b, a, b,
                        static_cast<std::uint16_t>(addend));
  }
  const num::MatrixUnit& unit = narrow ? mode.fp8 : spec.bits() == 32 ? mode.tf32 : mode.half;
  return num::dot_f32(unit, type_a, type_b, a, b, addend);
}

// --- sparse rows ---------------------------------------------------------------------------------

/// A row with all its elements, from those kept and their places; the rest are left out.
struct KeptRow {
  std::vector<unsigned> places;  // ascending
};

/// Words of metadata of 128 threads from the places that each row keeps, group by group.
std::vector<std::uint32_t> metadata_of(const WgmmaSpec& spec, const std::vector<KeptRow>& rows) {
  std::vector<std::uint32_t> words(128);
  const unsigned span = spec.bits() == 32 ? 2 : 4;  // elements of a group
  for (unsigned row = 0; row < 64; ++row) {
    std::vector<unsigned> nibble(spec.k() / span);
    std::vector<unsigned> seen(nibble.size());
    for (const unsigned k : rows[row].places) {
      const unsigned code =
          span == 2 ? (k % 2 == 0 ? 0x4U : 0xEU) : k % 4 << (2 * seen[k / span]++);
      nibble[k / span] |= code;
    }
    for (unsigned group = 0; group < nibble.size(); ++group) {
      const unsigned quad = row / 16 * 32 + row % 8 * 4;
      const unsigned high = row % 16 / 8;
      if (spec.bits() ==
          8) {  // lanes: rows 0-7 and 8-15 of the first half of K, then of the second
        words[quad + high + (group < 8 ? 0 : 2)] |= nibble[group] << (group % 8 * 4);
      } else {
        words[quad + 2 * spec.selector + (group < 4 ? 0 : 1)] |= nibble[group]
                                                                 << (group % 4 * 4 + 16 * high);
      }
    }
  }
  return words;
}

// --- cases ---------------------------------------------------------------------------------------

struct WgmmaCase {
  WgmmaSpec spec;
  Swizzle swizzle_a = kSwizzles[0], swizzle_b = kSwizzles[0];
  bool adds = true;
};

class WgmmaUnderTest {
 public:
  explicit WgmmaUnderTest(const WgmmaCase& c) : case_(c), spec_(c.spec) {
    a_ = matrix(64, spec_.a_length(), spec_.bits());
    b_ = matrix(spec_.n, spec_.k(), spec_.bits());
    c_ = matrix(64, spec_.n, spec_.d == "f16" ? 16 : 32);
    kept_.resize(64);
    if (spec_.is_sparse)
      for (KeptRow& row : kept_) row = some_places();
  }

  void run_and_compare(const Schedule& schedule = {}) {
    std::vector<std::uint8_t> image(spec_.image_bytes);
    const unsigned size = spec_.bits() / 8;
    std::vector<std::uint64_t> words(3);
    if (!spec_.a_in_registers) words[0] = put(image, 0, a_, size, case_.swizzle_a, spec_.trans_a);
    words[1] = put(image, 8192, b_, size, case_.swizzle_b, spec_.trans_b);
    words[2] = case_.adds ? 1 : 0;
    TestRun test(wgmma_kernel(spec_));
    ASSERT_EQ(test.errors(), "");
    test.launch.block = {128};
    test.options.schedule = schedule;
    test.input(image).input(registers_of_a()).input(registers_of_d());
    test.input(metadata_of(spec_, kept_)).input(words);
    test.output<std::uint32_t>(std::size_t{128} * spec_.d_registers());
    const LaunchReport& report = test.run();
    EXPECT_EQ(test.findings(), "") << spec_.opcode();
    ASSERT_EQ(report.outcome, Outcome::Finished) << report.reason;
    compare(test.read<std::uint32_t>(5));
  }

 private:
  Elements matrix(unsigned lines, unsigned length, unsigned bits) {
    Elements out(lines, std::vector<std::uint32_t>(length));
    for (auto& line : out) {
      for (std::uint32_t& x : line) {
        x = static_cast<std::uint32_t>(random_());
        if (bits < 32) x &= (1U << bits) - 1;
      }
    }
    return out;
  }
  // Of each group, some.
  KeptRow some_places() {
    KeptRow row;
    const unsigned span = spec_.bits() == 32 ? 2 : 4;
    for (unsigned first = 0; first < spec_.k(); first += span) {
      const unsigned skipped = static_cast<unsigned>(random_() % span);
      const unsigned also = (skipped + 1 + static_cast<unsigned>(random_() % 3)) % span;
      for (unsigned i = 0; i < span; ++i)
        if (i != skipped && (span == 2 || i != also)) row.places.push_back(first + i);
    }
    return row;
  }
  [[nodiscard]] std::vector<std::uint32_t> column_for(unsigned row, unsigned column) const {
    if (!spec_.is_sparse) return b_[column];
    std::vector<std::uint32_t> met;
    for (const unsigned k : kept_[row].places) met.push_back(b_[column][k]);
    return met;
  }
  [[nodiscard]] std::vector<std::uint32_t> registers_of_a() const {
    std::vector<std::uint32_t> words(std::size_t{128} * 4);
    const unsigned bits = spec_.bits();
    const unsigned each = 32 / bits;
    for (unsigned row = 0; row < 64; ++row) {
      for (unsigned k = 0; k < spec_.a_length(); ++k) {
        const unsigned half = k / (4 * each);
        const unsigned thread = row / 16 * 32 + row % 8 * 4 + k / each % 4;
        words[thread * 4 + half * 2 + row % 16 / 8] |= a_[row][k] << (k % each * bits);
      }
    }
    return words;
  }
  // Which word of which thread has an element of D, and at which bit.
  [[nodiscard]] std::pair<std::size_t, unsigned> place_of(unsigned row, unsigned column) const {
    const std::size_t thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    const unsigned half = row % 16 / 8;
    if (spec_.d == "f16")
      return {thread * spec_.d_registers() + column / 8 * 2 + half, column % 2 * 16};
    return {thread * spec_.d_registers() + column / 8 * 4 + half * 2 + column % 2, 0};
  }
  [[nodiscard]] std::vector<std::uint32_t> registers_of_d() const {
    std::vector<std::uint32_t> words(std::size_t{128} * spec_.d_registers());
    for (unsigned row = 0; row < 64; ++row) {
      for (unsigned column = 0; column < spec_.n; ++column) {
        const auto [at, bit] = place_of(row, column);
        words[at] |= c_[row][column] << bit;
      }
    }
    return words;
  }
  void compare(const std::vector<std::uint32_t>& out) const {
    unsigned wrong = 0;
    for (unsigned row = 0; row < 64; ++row) {
      // Some columns of wide matrices: the sums of the oracle take time.
      for (unsigned column = row % 8; column<spec_.n; column += spec_.n> 32 ? 13 : 1) {
        const auto [at, bit] = place_of(row, column);
        const std::uint32_t mask = spec_.d == "f16" ? 0xFFFFU : ~0U;
        const std::uint32_t want =
            expected(spec_, a_[row], column_for(row, column), case_.adds ? c_[row][column] : 0);
        if (((out[at] >> bit) & mask) != want && ++wrong == 1) {
          ADD_FAILURE() << spec_.opcode() << ", swizzles " << case_.swizzle_a.code << " "
                        << case_.swizzle_b.code << ", row " << row << ", column " << column << ": "
                        << std::hex << ((out[at] >> bit) & mask) << ", expected " << want;
        }
      }
    }
    EXPECT_EQ(wrong, 0U);
  }

  std::mt19937_64 random_{7};
  WgmmaCase case_;
  WgmmaSpec spec_;
  Elements a_, b_, c_;
  std::vector<KeptRow> kept_;
};

struct Types {
  std::string_view d, a, b;
};
constexpr Types kAllTypes[] = {
    {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
    {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
    {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"f16", "e4m3", "e5m2"},
    {"f16", "e5m2", "e4m3"}, {"s32", "s8", "s8"},     {"s32", "s8", "u8"},
    {"s32", "u8", "s8"},     {"s32", "u8", "u8"},     {"s32", "b1", "b1"},
};

TEST(Wgmma, MultipliesAllTypesInAllSwizzles) {
  constexpr unsigned kColumns[] = {8, 16, 32, 48, 96, 128, 224, 256};
  unsigned next = 0;
  for (const Types& types : kAllTypes) {
    for (const bool in_registers : {false, true}) {
      for (const Swizzle& swizzle : kSwizzles) {
        WgmmaCase c{{.d = types.d, .a = types.a, .b = types.b, .n = kColumns[next % 8]}};
        c.spec.a_in_registers = in_registers;
        c.spec.saturates = types.a.ends_with('8') && next % 3 == 0;
        c.spec.scale_a = next % 3 == 1 ? -1 : 1;
        c.spec.scale_b = next % 5 == 1 ? -1 : 1;
        c.adds = next % 7 != 3;
        c.swizzle_a = kSwizzles[next++ % 4];
        c.swizzle_b = swizzle;
        WgmmaUnderTest(c).run_and_compare();
      }
    }
  }
}

TEST(Wgmma, MultipliesSparseRows) {
  unsigned next = 0;
  for (const Types& types : kAllTypes) {
    if (types.a == "b1") continue;
    for (const unsigned selector : {0U, 1U}) {
      WgmmaCase c{{.d = types.d, .a = types.a, .b = types.b, .n = next % 2 == 0 ? 8U : 48U}};
      c.spec.is_sparse = true;
      c.spec.selector = c.spec.bits() == 8 ? 0 : selector;
      c.spec.a_in_registers = selector == 1;
      c.spec.scale_b = next % 3 == 1 ? -1 : 1;
      c.swizzle_a = kSwizzles[next % 4];
      c.swizzle_b = kSwizzles[++next % 4];
      WgmmaUnderTest(c).run_and_compare();
    }
  }
}

TEST(Wgmma, IsTheSameInAnySchedule) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    WgmmaCase c{{.d = "f32", .a = "f16", .b = "f16", .n = 16}};
    c.spec.a_in_registers = seed == 2;
    WgmmaUnderTest(c).run_and_compare(Schedule::random(seed));
  }
}

// Operands of 16 bits may be stored across their lines. A tile of B has then N columns, a multiple
// of what the swizzle spans.
TEST(Wgmma, MultipliesMatricesOfBothMajors) {
  for (const std::string_view type : {"f16", "bf16"}) {
    for (const Swizzle& swizzle : kSwizzles) {
      for (const unsigned majors : {1U, 2U, 3U, 4U}) {
        WgmmaCase c{{.d = "f32", .a = type, .b = type, .n = majors == 3 ? 192U : 64U}};
        c.spec.a_in_registers = majors == 4;
        c.spec.trans_a = (majors & 1U) != 0;
        c.spec.trans_b = majors >= 2;
        c.swizzle_a = c.swizzle_b = swizzle;
        WgmmaUnderTest(c).run_and_compare();
      }
    }
  }
}

}  // namespace
}  // namespace ww::sim
