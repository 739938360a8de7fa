// SPDX-License-Identifier: Apache-2.0
// For tests: one tcgen05.mma against sums of num/matrix_unit.h, and of doubles where these are exact. The
// oracle puts matrices into shared memory tile by tile, and names the cell of each element of D by
// itself, where the simulator goes by addresses and by parts of D.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "isa/product_descriptor.h"
#include "num/float_format.h"
#include "num/matrix_mode.h"
#include "num/matrix_unit.h"
#include "sim/memory/tensor_memory.h"
#include "sim/ops/test_shared_tiles.h"
#include "sim/ops/test_tcgen05_mma.h"
#include "sim/test_run.h"

namespace ww::sim::tcgen05_mma_test {

using isa::ProductKind;
using num::DType;

// --- tensor memory -------------------------------------------------------------------------------

struct Cell {
  unsigned cta, lane, column;
};

inline Cell cell_of_d(const TensorProductSpec& spec, const isa::ProductDescriptor& is, unsigned m,
                      unsigned n) {
  if (spec.is_pair && is.m == 256) return {m / 128, m % 128, n};
  if (spec.is_pair && spec.is_sparse) return {m / 64, m % 64 / 16 * 32 + m % 16, n};
  if (spec.is_pair) return {m / 64, m % 64 + (n >= is.n / 2 ? 64 : 0), n % (is.n / 2)};
  if (is.m == 128) return {0, m, n};
  if (!spec.is_ws) return {0, m / 16 * 32 + m % 16, n};
  if (is.m == 64) return {0, m + 64 * (n / (is.n / 2)), n % (is.n / 2)};
  return {0, m + 32 * (n / (is.n / 4)), n % (is.n / 4)};
}

// --- cases ---------------------------------------------------------------------------------------

struct Case {
  TensorProductSpec spec;
  isa::ProductDescriptor is;
  Swizzle swizzle_a = kSwizzles[0], swizzle_b = kSwizzles[0];
  bool adds = true;
  unsigned scale_count = 0;
  std::uint64_t zero_columns = 0;  // descriptor
  std::vector<bool> is_zero;       // by column, what that means; none: no column is
  unsigned column_shift = 0;
};

class ProductUnderTest {
 public:
  explicit ProductUnderTest(Case c) : case_(std::move(c)), is_(case_.is) {
    kind_ = *isa::product_kind("kind::" + std::string(case_.spec.kind));
    ctas_ = case_.spec.is_pair ? 2 : 1;
    container_ = isa::container_bits(kind_);
    const unsigned length = isa::product_k(kind_);
    a_ = matrix(is_.m, length, is_.a);
    b_ = matrix(is_.n + case_.column_shift, length * (case_.spec.is_sparse ? 2 : 1), is_.b);
    for (unsigned m = 0; m < is_.m && case_.spec.is_sparse; ++m) keep_some();
    c_ = random_cells();
    lay_out();
  }

  void run_and_compare() {
    const std::vector<std::uint32_t> out = run(true);
    if (!out.empty()) compare(out);
  }

  // All cells afterwards; none: it failed.
  std::vector<std::uint32_t> run(bool exact) {
    std::vector<std::uint32_t> out;
    run_into(out, exact);
    EXPECT_EQ(findings, "") << case_.spec.opcode();
    return out;
  }
  // What is found if a cell holds something else.
  std::string found_with(const Cell& cell, std::uint32_t word) {
    c_[index(cell)] = word;
    std::vector<std::uint32_t> out;
    run_into(out, true);
    return findings;
  }

  [[nodiscard]] bool is_disabled(std::size_t at) const {
    const std::size_t lane = at / case_.spec.columns;
    return ((disabled_[lane / 32] >> (lane % 32)) & 1U) != 0;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& before() const { return c_; }

  std::string findings;

 private:
  void run_into(std::vector<std::uint32_t>& out, bool exact) {
    const TensorProductSpec& spec = case_.spec;
    std::vector<std::uint8_t> image(std::size_t{spec.image_bytes} * ctas_);
    std::vector<std::uint64_t> words(8);
    for (unsigned cta = 0; cta < ctas_; ++cta) {
      std::vector<std::uint8_t> own(spec.image_bytes);
      const Elements a = slice(a_, cta);
      const Elements b = slice(b_, cta);
      unsigned next = 0;
      if (!spec.a_in_tensor)
        words[0] = put(own, next, a, packing(is_.a), case_.swizzle_a, is_.a_is_mn_major);
      next = spec.image_bytes / 2;
      words[1] = put(own, next, b, packing(is_.b), case_.swizzle_b, is_.b_is_mn_major);
      std::copy(own.begin(), own.end(), image.begin() + cta * spec.image_bytes);
    }
    words[2] = isa::write_descriptor(kind_, is_);
    words[3] = case_.adds ? 1 : 0;
    std::memcpy(&words[4], disabled_.data(), sizeof disabled_);
    if (spec.has_zero_columns) words[4] = case_.zero_columns;
    TestRun test(tensor_product_kernel(spec));
    ASSERT_EQ(test.errors(), "");
    test.options.exact_matrix = exact;
    test.options.checks.undefined_early = true;  // all cells go to the output
    test.launch.block = {128};
    test.launch.grid = {ctas_};
    if (ctas_ == 2) test.launch.cluster = Dim3{2};
    test.input(image).input(c_).input(words);
    test.output<std::uint32_t>(c_.size());
    const LaunchReport& report = test.run();
    ASSERT_EQ(test.refusal(), "");
    findings = test.findings();
    if (report.outcome != Outcome::Finished) findings += report.reason;
    out = test.read<std::uint32_t>(3);
  }

  [[nodiscard]] Packing packing(DType type) const {
    const auto bits = static_cast<unsigned>(num::bits_of(type));
    return {container_ == 8 ? bits : container_, 128 / container_};
  }
  [[nodiscard]] Elements slice(const Elements& all, unsigned cta) const {
    const std::size_t each = all.size() / ctas_;
    return {all.begin() + static_cast<std::ptrdiff_t>(cta * each),
            all.begin() + static_cast<std::ptrdiff_t>((cta + 1) * each)};
  }
  Elements matrix(unsigned lines, unsigned length, DType type) {
    Elements out(lines, std::vector<std::uint32_t>(length));
    const auto bits = static_cast<unsigned>(num::bits_of(type));
    for (auto& line : out) {
      for (std::uint32_t& x : line) {
        x = static_cast<std::uint32_t>(random_());
        if (bits < 32) x &= (1U << bits) - 1;
      }
    }
    return out;
  }
  [[nodiscard]] std::size_t index(const Cell& cell) const {
    return (std::size_t{cell.cta} * 128 + cell.lane) * case_.spec.columns + cell.column;
  }
  // Numbers of moderate size, also as halves.
  std::vector<std::uint32_t> random_cells() {
    std::vector<std::uint32_t> cells(std::size_t{ctas_} * 128 * case_.spec.columns);
    for (std::uint32_t& cell : cells) {
      const auto bits = static_cast<std::uint32_t>(random_());
      cell = (bits & 0x83FF'83FFU) | 0x3C00'3C00U | (bits & 0x0000'0400U);
    }
    return cells;
  }
  // A and the scales go where D's rows are.
  void lay_out() {
    const TensorProductSpec& spec = case_.spec;
    for (unsigned m = 0; m < is_.m && spec.a_in_tensor; ++m) {
      for (unsigned n = 0; n < is_.n; n += 8) {
        const Cell d = cell_of_d(spec, is_, m, n);
        for (unsigned k = 0; k < a_[m].size(); ++k) {
          const unsigned bit = k * container_;
          std::uint32_t& word = c_[index({d.cta, d.lane, spec.a_column + bit / 32})];
          const std::uint32_t mask = container_ == 32 ? ~0U : ((1U << container_) - 1) << bit % 32;
          word = (word & ~mask) | a_[m][k] << bit % 32;
        }
      }
    }
    for (unsigned m = 0; m < is_.m && spec.is_sparse; ++m) {
      for (unsigned n = 0; n < is_.n; n += 8) put_metadata(cell_of_d(spec, is_, m, n), m);
    }
    if (case_.scale_count == 0) return;
    scale_a_ = scales(is_.m);
    scale_b_ = scales(is_.n);
    const unsigned rows = is_.m / ctas_;
    const bool splits = rows == 64;  // columns of B in halves of the lanes
    for (unsigned cta = 0; cta < ctas_; ++cta) {
      for (unsigned m = 0; m < rows; ++m)
        put_scales({cta, 0, spec.scale_a_column}, 4, m, is_.scale_a_id, scale_a_[cta * rows + m]);
      for (unsigned n = 0; n < is_.n; ++n) {
        const unsigned half = splits ? n / (is_.n / 2) : 0;
        put_scales({cta, half * 64, spec.scale_b_column}, splits ? 2 : 4,
                   splits ? n % (is_.n / 2) : n, is_.scale_b_id, scale_b_[n]);
      }
    }
  }
  // Which elements a sparse row keeps, and its metadata.
  void keep_some() {
    constexpr std::array<unsigned, 7> kPairs = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE, 0x6};
    const unsigned each = container_ == 32 ? 1 : container_ == 4 ? 4 : 2;
    std::vector<unsigned>& kept = kept_.emplace_back();
    std::vector<unsigned>& codes = codes_.emplace_back();
    for (unsigned group = 0; group < a_[0].size() / each; ++group) {
      const unsigned code = each == 1 ? (random_() % 2 == 0 ? 0x4 : 0xE) : kPairs[random_() % 7];
      codes.push_back(code);
      for (unsigned i = 0; i < each; ++i) {
        const unsigned place = i * 2 / std::max(each, 2U) == 0 ? code & 3U : code >> 2U;
        const unsigned inside = each == 1 ? place / 2 : each == 2 ? place : place * 2 + i % 2;
        kept.push_back(group * 2 * each + inside);
      }
    }
  }
  // Sixteen groups: in the row's lane. Eight: lanes r and r + 8 of sixteen have the first and the last
  // four of rows r and r + 8.
  void put_metadata(const Cell& d, unsigned m) {
    for (unsigned group = 0; group < codes_[m].size(); ++group) {
      const bool is_long = codes_[m].size() == 16;
      const unsigned r = d.lane % 16;
      const Cell cell = is_long ? Cell{d.cta, d.lane, case_.spec.metadata_column + group / 8}
                                : Cell{d.cta, d.lane - r + r % 8 + group / 4 * 8,
                                       case_.spec.metadata_column + is_.selector};
      const unsigned bit = is_long ? group % 8 * 4 : (r / 8 * 4 + group % 4) * 4;
      std::uint32_t& word = c_[index(cell)];
      word = (word & ~(0xFU << bit)) | codes_[m][group] << bit;
    }
  }
  // Around 1, so that sums of doubles are exact.
  std::vector<std::vector<std::uint8_t>> scales(unsigned lines) {
    std::vector<std::vector<std::uint8_t>> out(lines);
    for (auto& line : out) {
      for (unsigned s = 0; s < case_.scale_count; ++s) {
        const auto r = static_cast<std::uint8_t>(random_() % 8);
        line.push_back(is_.scale_type == DType::Float8E8M0 ? 123 + r : 0x30 + r);
      }
    }
    return out;
  }
  // In so many quarters of the lanes, from a cell on.
  void put_scales(const Cell& first, unsigned windows, unsigned line, unsigned id,
                  const std::vector<std::uint8_t>& all) {
    for (unsigned window = 0; window < windows; ++window) {
      std::uint32_t& word =
          c_[index({first.cta, first.lane + line % 32 + 32 * window, first.column + line / 32})];
      for (unsigned s = 0; s < all.size(); ++s) {
        const unsigned bit = 8 * (id + s);
        word = (word & ~(0xFFU << bit)) | std::uint32_t{all[s]} << bit;
      }
    }
  }

  [[nodiscard]] std::uint32_t expected(unsigned m, unsigned n, std::uint32_t addend) const {
    std::vector<std::uint32_t> a = a_[m];
    std::vector<std::uint32_t> b = column_for(m, n);
    if (is_.negates_a)
      for (std::uint32_t& x : a) x ^= 1U << (num::bits_of(is_.a) - 1);
    if (is_.negates_b)
      for (std::uint32_t& x : b) x ^= 1U << (num::bits_of(is_.b) - 1);
    if (kind_ == ProductKind::I8) return integer_sum(a, b, addend);
    if (case_.scale_count > 1) return scaled_sum(a, b, m, n, addend);
    const num::MatrixMode& mode = num::mode_of(100);
    const bool half = is_.d == DType::Float16;
    if (case_.spec.scale_d > 0) addend = scaled_down(addend, half);
    const num::MatrixUnit& unit = container_ == 32   ? mode.tf32
                                  : container_ == 16 ? (half ? mode.half_result : mode.half)
                                                     : (half ? mode.fp8_half_result : mode.fp8);
    const int scale = case_.scale_count == 0 ? 0 : scale_a_[m][0] + scale_b_[n][0] - 254;
    if (half) return num::dot_f16(unit, is_.a, is_.b, a, b, static_cast<std::uint16_t>(addend));
    return num::dot_f32(unit, is_.a, is_.b, a, b, addend, scale);
  }
  // The elements of a column that a row meets.
  [[nodiscard]] std::vector<std::uint32_t> column_for(unsigned m, unsigned n) const {
    std::vector<std::uint32_t> column = b_[n + case_.column_shift];
    if (!case_.is_zero.empty() && case_.is_zero[n]) std::ranges::fill(column, 0U);
    if (!case_.spec.is_sparse) return column;
    std::vector<std::uint32_t> met;
    for (const unsigned k : kept_[m]) met.push_back(column[k]);
    return met;
  }
  [[nodiscard]] std::uint32_t scaled_down(std::uint32_t addend, bool half) const {
    const double value = num::decode(half ? DType::Float16 : DType::Float32, addend);
    const double divided = std::ldexp(value, -case_.spec.scale_d);
    if (!half) return std::bit_cast<std::uint32_t>(static_cast<float>(divided));
    // Halves from 1 to 4 over at most 2^8 are exact.
    const auto exponent = static_cast<std::uint32_t>(case_.spec.scale_d);
    return addend - (exponent << 10U);
  }
  [[nodiscard]] std::uint32_t integer_sum(const std::vector<std::uint32_t>& a,
                                          const std::vector<std::uint32_t>& b,
                                          std::uint32_t addend) const {
    const auto value = [](DType type, std::uint32_t bits) {
      return type == DType::Int8 ? std::int64_t{static_cast<std::int8_t>(bits)}
                                 : std::int64_t{bits};
    };
    std::int64_t sum = static_cast<std::int32_t>(addend);
    for (std::size_t k = 0; k < a.size(); ++k) sum += value(is_.a, a[k]) * value(is_.b, b[k]);
    if (is_.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<std::uint32_t>(sum);
  }
  [[nodiscard]] std::uint32_t scaled_sum(const std::vector<std::uint32_t>& a,
                                         const std::vector<std::uint32_t>& b, unsigned m,
                                         unsigned n, std::uint32_t addend) const {
    double sum = num::decode(DType::Float32, addend);
    const std::size_t block = a.size() / case_.scale_count;
    for (std::size_t k = 0; k < a.size(); ++k) {
      sum += num::decode(is_.a, a[k]) * num::decode(is_.b, b[k]) *
             num::decode(is_.scale_type, scale_a_[m][k / block]) *
             num::decode(is_.scale_type, scale_b_[n][k / block]);
    }
    // Cut, as the tensor core does.
    auto single = static_cast<float>(sum);
    if (std::abs(static_cast<double>(single)) > std::abs(sum))
      single = std::nextafter(single, 0.0F);
    return std::bit_cast<std::uint32_t>(single);
  }

  void compare(const std::vector<std::uint32_t>& out) const {
    std::vector<bool> is_d(out.size());
    const std::uint32_t mask = is_.d == DType::Float16 ? 0xFFFFU : ~0U;
    unsigned wrong = 0;
    const auto differ = [&](std::uint32_t seen, std::uint32_t want, const Cell& cell) {
      if ((seen & mask) == (want & mask) || ++wrong != 1) return;
      ADD_FAILURE() << case_.spec.opcode() << fmt::format(" M {} N {}", is_.m, is_.n)
                    << ", swizzles " << case_.swizzle_a.code << " " << case_.swizzle_b.code
                    << fmt::format(", cta {} lane {} column {}: {:x}, expected {:x}", cell.cta,
                                   cell.lane, cell.column, seen & mask, want & mask);
    };
    const unsigned step = is_.m * is_.n > 4096 ? 29 : 3;
    for (unsigned i = 0; i < is_.m * is_.n; ++i) {
      Cell cell = cell_of_d(case_.spec, is_, i / is_.n, i % is_.n);
      cell.column += case_.spec.d_column;
      const std::size_t at = index(cell);
      if (case_.spec.has_mask && is_disabled(at)) continue;
      is_d[at] = true;
      if (i % step != 0) continue;
      differ(out[at], expected(i / is_.n, i % is_.n, case_.adds ? c_[at] & mask : 0), cell);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!is_d[i] && out[i] != c_[i])
        differ(out[i], c_[i],
               {static_cast<unsigned>(i / case_.spec.columns / 128),
                static_cast<unsigned>(i / case_.spec.columns % 128),
                static_cast<unsigned>(i % case_.spec.columns)});
    }
    EXPECT_EQ(wrong, 0U);
  }

  std::mt19937_64 random_{11};
  Case case_;
  isa::ProductDescriptor is_;
  ProductKind kind_{};
  unsigned ctas_ = 1, container_ = 16;
  Elements a_, b_;
  std::vector<std::vector<unsigned>> kept_, codes_;  // of the rows of a sparse A
  std::vector<std::uint32_t> c_;                     // all cells
  std::vector<std::vector<std::uint8_t>> scale_a_, scale_b_;
  std::array<std::uint32_t, 8> disabled_{0x0000'0011, 0x8000'0000, 0xFFFF'0000, 1, 2, 4, 8, 0x10};
};

inline void check(const Case& c) { ProductUnderTest(c).run_and_compare(); }

// --- types and shapes ---

struct Types {
  std::string_view kind;
  DType a, b, d;
};
inline constexpr DType kF32 = DType::Float32, kF16 = DType::Float16;
inline constexpr Types kTypes[] = {
    {"f16", kF16, kF16, kF32},
    {"f16", kF16, kF16, kF16},
    {"f16", DType::Bfloat16, DType::Bfloat16, kF32},
    {"tf32", DType::Tfloat32, DType::Tfloat32, kF32},
    {"f8f6f4", DType::Float8E4M3fn, DType::Float8E5M2, kF32},
    {"f8f6f4", DType::Float6E3M2fn, DType::Float4E2M1fn, kF16},
    {"f8f6f4", DType::Float4E2M1fn, DType::Float6E2M3fn, kF32},
    {"i8", DType::Int8, DType::Uint8, DType::Int32},
};

inline Case make_case(const Types& types, unsigned m, unsigned n) {
  Case c;
  c.spec.kind = types.kind;
  c.is = {.m = m, .n = n, .a = types.a, .b = types.b, .d = types.d};
  return c;
}

struct ScaledTypes {
  std::string_view kind, scales;
  DType a, b, scale;
  unsigned count;
};
inline constexpr DType kFp4 = DType::Float4E2M1fn, kUe8 = DType::Float8E8M0;
inline constexpr ScaledTypes kScaled[] = {
    {"mxf8f6f4", ".block_scale.scale_vec::1X", DType::Float8E4M3fn, DType::Float8E5M2, kUe8, 1},
    {"mxf8f6f4", ".block_scale.block32", DType::Float6E2M3fn, kFp4, kUe8, 1},
    {"mxf8f6f4", ".block_scale", kFp4, DType::Float6E3M2fn, kUe8, 1},
    {"mxf4", ".block_scale.scale_vec::2X", kFp4, kFp4, kUe8, 2},
    {"mxf4", ".block_scale", kFp4, kFp4, kUe8, 2},
    {"mxf4nvf4", ".block_scale.block32", kFp4, kFp4, kUe8, 2},
    {"mxf4nvf4", ".block_scale.scale_vec::4X", kFp4, kFp4, DType::Float8E4M3fn, 4},
    {"mxf4nvf4", ".block_scale.block16", kFp4, kFp4, kUe8, 4},
};

}  // namespace ww::sim::tcgen05_mma_test
