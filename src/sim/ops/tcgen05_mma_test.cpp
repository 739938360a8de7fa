// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma against sums of num/matrix_unit.h, and of doubles where these are exact. The oracle puts
// matrices into shared memory tile by tile, and names the cell of each element of D by itself, where
// the simulator goes by addresses and by parts of D.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "isa/product_descriptor.h"
#include "num/float_format.h"
#include "num/matrix_mode.h"
#include "num/matrix_unit.h"
#include "sim/memory/tensor_memory.h"
#include "sim/ops/test_shared_tiles.h"
#include "sim/ops/test_tcgen05_mma.h"
#include "sim/test_run.h"

namespace ww::sim::tcgen05_mma_test {
namespace {

using isa::ProductKind;
using num::DType;

// --- tensor memory -------------------------------------------------------------------------------

struct Cell {
  unsigned cta, lane, column;
};

Cell cell_of_d(const TensorProductSpec& spec, const isa::ProductDescriptor& is, unsigned m,
               unsigned n) {
  if (spec.is_pair && is.m == 256) return {m / 128, m % 128, n};
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
};

class ProductUnderTest {
 public:
  explicit ProductUnderTest(Case c) : case_(std::move(c)), is_(case_.is) {
    kind_ = *isa::product_kind("kind::" + std::string(case_.spec.kind));
    ctas_ = case_.spec.is_pair ? 2 : 1;
    container_ = isa::container_bits(kind_);
    a_ = matrix(is_.m, isa::product_k(kind_), is_.a);
    b_ = matrix(is_.n, isa::product_k(kind_), is_.b);
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
    return out;
  }

  [[nodiscard]] bool is_disabled(std::size_t at) const {
    const std::size_t lane = at / case_.spec.columns;
    return ((disabled_[lane / 32] >> (lane % 32)) & 1U) != 0;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& before() const { return c_; }

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
    TestRun test(tensor_product_kernel(spec));
    ASSERT_EQ(test.errors(), "");
    test.options.exact_matrix = exact;
    test.launch.block = {128};
    test.launch.grid = {ctas_};
    if (ctas_ == 2) test.launch.cluster = Dim3{2};
    test.input(image).input(c_).input(words);
    test.output<std::uint32_t>(c_.size());
    const RunReport& report = test.run();
    ASSERT_EQ(test.refusal(), "");
    EXPECT_EQ(test.findings(), "") << spec.opcode();
    ASSERT_EQ(report.outcome, Outcome::Finished) << report.reason;
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
    if (case_.scale_count == 0) return;
    scale_a_ = scales(is_.m);
    scale_b_ = scales(is_.n);
    for (unsigned cta = 0; cta < ctas_; ++cta) {
      for (unsigned m = 0; m < 128; ++m)
        put_scales(cta, spec.scale_a_column, m, is_.scale_a_id, scale_a_[cta * 128 + m]);
      for (unsigned n = 0; n < is_.n; ++n)
        put_scales(cta, spec.scale_b_column, n, is_.scale_b_id, scale_b_[n]);
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
  void put_scales(unsigned cta, unsigned column, unsigned line, unsigned id,
                  const std::vector<std::uint8_t>& all) {
    for (unsigned window = 0; window < 4; ++window) {
      std::uint32_t& word = c_[index({cta, line % 32 + 32 * window, column + line / 32})];
      for (unsigned s = 0; s < all.size(); ++s) {
        const unsigned bit = 8 * (id + s);
        word = (word & ~(0xFFU << bit)) | std::uint32_t{all[s]} << bit;
      }
    }
  }

  [[nodiscard]] std::uint32_t expected(unsigned m, unsigned n, std::uint32_t addend) const {
    std::vector<std::uint32_t> a = a_[m];
    std::vector<std::uint32_t> b = b_[n];
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
  std::vector<std::uint32_t> c_;  // all cells
  std::vector<std::vector<std::uint8_t>> scale_a_, scale_b_;
  std::array<std::uint32_t, 8> disabled_{0x0000'0011, 0x8000'0000, 0xFFFF'0000, 1, 2, 4, 8, 0x10};
};

void check(const Case& c) { ProductUnderTest(c).run_and_compare(); }

// --- types and shapes ----------------------------------------------------------------------------

struct Types {
  std::string_view kind;
  DType a, b, d;
};
constexpr DType kF32 = DType::Float32, kF16 = DType::Float16;
constexpr Types kTypes[] = {
    {"f16", kF16, kF16, kF32},
    {"f16", kF16, kF16, kF16},
    {"f16", DType::Bfloat16, DType::Bfloat16, kF32},
    {"tf32", DType::Tfloat32, DType::Tfloat32, kF32},
    {"f8f6f4", DType::Float8E4M3fn, DType::Float8E5M2, kF32},
    {"f8f6f4", DType::Float6E3M2fn, DType::Float4E2M1fn, kF16},
    {"f8f6f4", DType::Float4E2M1fn, DType::Float6E2M3fn, kF32},
    {"i8", DType::Int8, DType::Uint8, DType::Int32},
};

Case make_case(const Types& types, unsigned m, unsigned n) {
  Case c;
  c.spec.kind = types.kind;
  c.is = {.m = m, .n = n, .a = types.a, .b = types.b, .d = types.d};
  return c;
}

TEST(TensorProduct, MultipliesAllTypesInAllSwizzles) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    for (const Swizzle& swizzle : kSwizzles) {
      Case c = make_case(types, next % 2 == 0 ? 64 : 128, next % 3 == 0 ? 8 : 16);
      c.swizzle_a = kSwizzles[(next + 1) % 4];
      c.swizzle_b = swizzle;
      c.is.negates_a = types.kind != "i8" && next % 3 == 1;
      c.is.negates_b = types.kind != "i8" && next % 5 == 2;
      c.is.saturates = types.kind == "i8" && next % 2 == 0;
      c.adds = next % 4 != 3;
      c.spec.image_bytes = 32768;
      ++next;
      check(c);
    }
  }
}

TEST(TensorProduct, MultipliesMatricesOfBothMajors) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    const bool is_tf32 = types.kind == "tf32";
    for (const unsigned majors : {next % 2 + 1, 3U}) {
      Case c = make_case(types, majors == 2 ? 64 : 128, 64);
      c.spec.columns = 64;
      c.spec.image_bytes = 32768;
      c.is.a_is_mn_major = (majors & 1U) != 0;
      c.is.b_is_mn_major = (majors & 2U) != 0;
      c.swizzle_a = c.is.a_is_mn_major && is_tf32 ? kWideAtoms : kSwizzles[next % 4];
      c.swizzle_b = c.is.b_is_mn_major && is_tf32 ? kWideAtoms : kSwizzles[(next + 1) % 4];
      ++next;
      check(c);
    }
  }
}

TEST(TensorProduct, TakesAFromTensorMemory) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    if (types.a == DType::Float4E2M1fn) continue;
    Case c = make_case(types, next % 2 == 0 ? 128 : 64, 16);
    c.spec.a_in_tensor = true;
    c.spec.a_column = 20;
    c.spec.d_column = 2;
    c.swizzle_b = kSwizzles[next++ % 4];
    check(c);
  }
}

TEST(TensorProduct, IsDoneByPairsOfBlocks) {
  unsigned next = 0;
  for (const Types& types : kTypes) {
    const bool in_tensor = next % 3 == 1 && types.a != DType::Float4E2M1fn;
    Case c = make_case(types, next % 2 == 0 ? 256 : 128, 32);
    c.spec.is_pair = true;
    c.spec.a_in_tensor = in_tensor;
    c.spec.columns = 64;
    c.spec.a_column = 40;
    c.spec.has_mask = next % 2 == 1;
    c.swizzle_a = kSwizzles[next % 4];
    c.swizzle_b = kSwizzles[(next + 2) % 4];
    c.spec.image_bytes = 32768;
    ++next;
    check(c);
  }
}

TEST(TensorProduct, IsWeightStationary) {
  unsigned next = 0;
  for (const unsigned m : {32U, 64U, 128U}) {
    for (const bool in_tensor : {false, true}) {
      Case c = make_case(kTypes[next % 5], m, 64);
      c.spec.is_ws = true;
      c.spec.a_in_tensor = in_tensor;
      c.spec.flags = next % 2 == 0 ? "" : ".collector::b1::fill";
      c.spec.columns = 128;
      c.spec.a_column = 70;
      c.spec.image_bytes = 32768;
      c.swizzle_b = kSwizzles[next++ % 4];
      check(c);
    }
  }
}

TEST(TensorProduct, LeavesLanesAloneAndDividesD) {
  for (const Types& types : {kTypes[0], kTypes[1], kTypes[3]}) {
    Case c = make_case(types, 128, 8);
    c.spec.has_mask = true;
    c.spec.scale_d = 8;
    check(c);
    c.spec.scale_d = 0;
    c.is.m = 64;
    check(c);
  }
}

// A mask makes the simulator add to copies of D, which it else adds to where D lies.
TEST(TensorProduct, AddsToCopiesAsWhereDLies) {
  for (const Types& types : kTypes) {
    if (types.d != kF32) continue;
    for (const bool exact : {true, false}) {
      Case c = make_case(types, exact ? 64 : 128, 32);
      c.adds = exact || types.kind != "tf32";
      const std::vector<std::uint32_t> in_place = ProductUnderTest(c).run(exact);
      c.spec.has_mask = true;
      ProductUnderTest masked(c);
      const std::vector<std::uint32_t> copied = masked.run(exact);
      ASSERT_EQ(in_place.size(), copied.size());
      std::size_t wrong = 0;
      for (std::size_t at = 0; at < copied.size(); ++at)
        wrong += copied[at] != (masked.is_disabled(at) ? masked.before() : in_place)[at] ? 1U : 0U;
      EXPECT_EQ(wrong, 0U) << c.spec.opcode() << (exact ? " exact" : " plain");
      EXPECT_NE(in_place, masked.before());
    }
  }
}

TEST(TensorProduct, MultipliesWideMatrices) {
  Case c = make_case(kTypes[0], 128, 256);
  c.spec.columns = 256;
  c.spec.image_bytes = 65536;
  c.swizzle_a = c.swizzle_b = kSwizzles[1];
  check(c);
}

// --- scales --------------------------------------------------------------------------------------

struct ScaledTypes {
  std::string_view kind, scales;
  DType a, b, scale;
  unsigned count;
};
constexpr DType kFp4 = DType::Float4E2M1fn, kUe8 = DType::Float8E8M0;
constexpr ScaledTypes kScaled[] = {
    {"mxf8f6f4", ".block_scale.scale_vec::1X", DType::Float8E4M3fn, DType::Float8E5M2, kUe8, 1},
    {"mxf8f6f4", ".block_scale.block32", DType::Float6E2M3fn, kFp4, kUe8, 1},
    {"mxf8f6f4", ".block_scale", kFp4, DType::Float6E3M2fn, kUe8, 1},
    {"mxf4", ".block_scale.scale_vec::2X", kFp4, kFp4, kUe8, 2},
    {"mxf4", ".block_scale", kFp4, kFp4, kUe8, 2},
    {"mxf4nvf4", ".block_scale.block32", kFp4, kFp4, kUe8, 2},
    {"mxf4nvf4", ".block_scale.scale_vec::4X", kFp4, kFp4, DType::Float8E4M3fn, 4},
    {"mxf4nvf4", ".block_scale.block16", kFp4, kFp4, kUe8, 4},
};

TEST(TensorProduct, ScalesBlocks) {
  unsigned next = 0;
  for (const ScaledTypes& types : kScaled) {
    const bool is_pair = next % 2 == 1;
    Case c;
    c.spec.kind = types.kind;
    c.spec.scales = types.scales;
    c.spec.is_pair = is_pair;
    c.spec.a_in_tensor = next % 4 == 3 && (types.a != kFp4 || types.count > 1);
    c.spec.columns = 128;
    c.spec.a_column = 100;
    c.spec.scale_a_column = 110;
    c.spec.scale_b_column = 114;
    c.spec.image_bytes = 32768;
    c.is = {.m = is_pair ? 256U : 128U, .n = is_pair ? 64U : 40U, .a = types.a, .b = types.b};
    c.is.scale_type = types.scale;
    c.is.scale_a_id = next % (4 / types.count) * types.count;
    c.is.scale_b_id = (next + 1) % (4 / types.count) * types.count;
    c.is.negates_b = next % 3 == 1;
    c.scale_count = types.count;
    c.swizzle_a = kSwizzles[next % 4];
    c.swizzle_b = kSwizzles[(next + 1) % 4];
    ++next;
    check(c);
  }
}

}  // namespace
}  // namespace ww::sim::tcgen05_mma_test
