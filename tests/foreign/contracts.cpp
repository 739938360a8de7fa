// SPDX-License-Identifier: Apache-2.0
#include "foreign/contracts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

namespace ww::corpus {
namespace {

using I = std::int64_t;

/// A launch as contracts see it: arguments as they were, outputs as they are.
class Case {
 public:
  Case(const LaunchLine& launch, const LaunchOutcome& outcome)
      : launch_(launch), outcome_(outcome) {}

  /// Element i of argument a before the launch.
  [[nodiscard]] double real(std::size_t a, I i = 0) const {
    const Argument& argument = launch_.arguments[a];
    return number_of(argument.type, argument.bytes.data() + at(argument, i));
  }
  [[nodiscard]] I whole(std::size_t a, I i = 0) const {
    const Argument& argument = launch_.arguments[a];
    return to_whole(argument.type, argument.bytes.data() + at(argument, i));
  }
  [[nodiscard]] I threads() const { return I{launch_.block[0]} * launch_.grid[0]; }
  [[nodiscard]] I count(std::size_t a) const { return static_cast<I>(launch_.arguments[a].count); }

  /// Expects every element of output `o` (the o-th argument) to be f(i), whole numbers modulo their
  /// width.
  std::string expect(std::size_t o, const std::function<I(I)>& f) const {
    const Argument& argument = launch_.arguments[o];
    for (I i = 0; i < count(o); ++i) {
      const I seen = to_whole(argument.type, output(o) + at(argument, i));
      const I wanted = wrap(argument.type, f(i));
      if (seen != wanted) return fmt::format("output {}[{}] is {}, not {}", o, i, seen, wanted);
    }
    return "";
  }
  /// The same for numbers, with an error of `relative` times the larger of 1 and the number.
  std::string near(std::size_t o, double relative, const std::function<double(I)>& f) const {
    const Argument& argument = launch_.arguments[o];
    for (I i = 0; i < count(o); ++i) {
      const double seen = number_of(argument.type, output(o) + at(argument, i));
      const double wanted = f(i);
      if (std::isnan(wanted) ? std::isnan(seen) : seen == wanted) continue;
      if (std::fabs(seen - wanted) <= relative * std::max(1.0, std::fabs(wanted))) continue;
      return fmt::format("output {}[{}] is {}, not {}", o, i, seen, wanted);
    }
    return "";
  }
  /// Equal bits: out[i] = argument a [f(i)].
  std::string moved(std::size_t o, std::size_t a, const std::function<I(I)>& f) const {
    const Argument& from = launch_.arguments[a];
    for (I i = 0; i < count(o); ++i) {
      if (std::equal(output(o) + at(from, i), output(o) + at(from, i + 1),
                     from.bytes.data() + at(from, f(i))))
        continue;
      return fmt::format("output {}[{}] is not element {} of argument {}", o, i, f(i), a);
    }
    return "";
  }

 private:
  static std::size_t at(const Argument& argument, I i) {
    return static_cast<std::size_t>(i) * size_of(argument.type);
  }
  static I wrap(isa::Type type, I value) {
    const auto shift = static_cast<unsigned>(64 - 8 * size_of(type));
    const auto bits = static_cast<std::uint64_t>(value) << shift;
    return isa::info(type).cls == isa::TypeClass::Signed ? static_cast<I>(bits) >> shift
                                                         : static_cast<I>(bits >> shift);
  }
  static I to_whole(isa::Type type, const std::byte* bytes) {
    I value = 0;
    std::memcpy(&value, bytes, size_of(type));
    return wrap(type, value);
  }
  [[nodiscard]] const std::byte* output(std::size_t argument) const {
    std::size_t number = 0;
    for (std::size_t i = 0; i < argument; ++i) number += launch_.arguments[i].is_output ? 1U : 0U;
    return outcome_.outputs[number].data();
  }

  const LaunchLine& launch_;
  const LaunchOutcome& outcome_;
};

using Contract = std::string (*)(const Case&);

I prefix_sum(const Case& c, std::size_t a, I end) {
  I sum = 0;
  for (I i = 0; i < end; ++i) sum += c.whole(a, i);
  return sum;
}

I greatest(const Case& c, std::size_t a) {
  I best = c.whole(a);
  for (I i = 1; i < c.count(a); ++i) best = std::max(best, c.whole(a, i));
  return best;
}

I occurrences(const Case& c, std::size_t a, I value) {
  I found = 0;
  for (I i = 0; i < c.count(a); ++i) found += c.whole(a, i) == value ? 1 : 0;
  return found;
}

I collatz(I value) {
  I steps = 0;
  for (; value != 1; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  return steps;
}

std::string histogram(const Case& c) {
  return c.expect(0, [&](I v) { return occurrences(c, 1, v); });
}

std::string transpose(const Case& c, I width) {
  const I rows = c.whole(2), cols = c.whole(3);
  return c.moved(0, 1, [=](I i) {
    const I element = i / width;
    return (element % rows * cols + element / rows) * width + i % width;
  });
}

double product(const Case& c, I row, I col, I n, I k) {
  double sum = 0;
  for (I j = 0; j < k; ++j) sum += c.real(1, row * k + j) * c.real(2, j * n + col);
  return sum;
}

// The same with the second factor transposed.
double row_product(const Case& c, I row, I col, I k) {
  double sum = 0;
  for (I j = 0; j < k; ++j) sum += c.real(1, row * k + j) * c.real(2, col * k + j);
  return sum;
}

std::string compacted(const Case& c) {
  std::vector<I> kept;
  for (I i = 0; i < c.count(2); ++i)
    if (c.whole(2, i) > 0) kept.push_back(c.whole(2, i));
  const std::string problem = c.expect(1, [&](I) { return static_cast<I>(kept.size()); });
  kept.resize(static_cast<std::size_t>(c.count(0)));
  return problem.empty() ? c.expect(0, [&](I i) { return kept[static_cast<std::size_t>(i)]; })
                         : problem;
}

std::string sorted(const Case& c) {
  return c.expect(0, [&](I i) {
    std::array<I, 16> keys{};
    for (std::size_t j = 0; j < 16; ++j) keys[j] = c.whole(1, i / 16 * 16 + static_cast<I>(j));
    std::ranges::sort(keys);
    return keys[static_cast<std::size_t>(i % 16)];
  });
}

I digits(I value) {  // eight of them, the last one in the lowest byte
  I bytes = 0;
  for (unsigned at = 0; at < 8; ++at, value /= 10) bytes |= (value % 10) << (8 * at);
  return bytes;
}

double mean(const Case& c) {
  double sum = 0;
  for (I i = 0; i < c.count(3); ++i) sum += c.real(3, i);
  return sum / static_cast<double>(c.count(3));
}

double total(const Case& c) {
  double sum = c.real(0);
  for (I i = 0; i < c.count(1); ++i) sum += c.real(1, i);
  return sum;
}

I of_list(std::initializer_list<I> list, I i) { return list.begin()[i]; }

// clang-format off
const std::map<std::string, Contract>& contracts() {
  static const std::map<std::string, Contract> kContracts = {
      {"asm_scopes", [](const Case& c) { return c.expect(0, [&](I i) { const I x = c.whole(1, i); return x % 2 != 0 ? 3 * x + 4 : x / 2; }); }},
      {"asm_literals", [](const Case& c) { return c.expect(0, [](I i) { return of_list({31, 15, 11, -5, 0x3FC00000, 0x3E800000, 76, 10}, i); }); }},
      {"asm_gcd", [](const Case& c) { return c.expect(0, [&](I i) { return std::gcd(c.whole(1, i), c.whole(2, i)); }); }},
      {"asm_table", [](const Case& c) { return c.expect(0, [&](I i) { const I x = c.whole(1, i); return of_list({x + 10, x * 10, 10 - x, -1}, i % 4); }); }},
      {"asm_memory", [](const Case& c) { return c.moved(0, 1, [](I i) { return i ^ 1; }); }},
      {"scan_inclusive_u32", [](const Case& c) { return c.expect(0, [&](I i) { return prefix_sum(c, 1, i + 1); }); }},
      {"scan_compact_i32", compacted},
      {"bulk_negate", [](const Case& c) { return c.expect(0, [&](I i) { return -c.whole(1, i); }); }},
      {"bulk_accumulate", [](const Case& c) { return c.expect(0, [&](I i) { I sum = c.whole(0, i); for (I b = i; b < c.count(1); b += 256) sum += c.whole(1, b); return sum; }); }},
      {"bulk_handover", [](const Case& c) { return c.expect(0, [&](I i) { return 2 * c.whole(1, 255 - i); }); }},
      {"cluster_exchange", [](const Case& c) { return c.moved(0, 1, [](I i) { return i ^ 256; }); }},
      {"cluster_sum", [](const Case& c) { return c.expect(0, [&](I i) { return prefix_sum(c, 1, 512 * (i + 1)) - prefix_sum(c, 1, 512 * i); }); }},
      {"cluster_signal", [](const Case& c) { return c.expect(0, [](I) { return I{64 * 65 / 2}; }); }},
      {"flow_collatz", [](const Case& c) { return c.expect(0, [](I i) { return collatz(i + 1); }); }},
      {"pipeline_reverse", [](const Case& c) { return c.near(0, 0, [&](I i) { const I from = i / 1024 * 1024 + 1023 - i % 1024; return from < c.whole(2) ? c.real(1, from) : 0.0; }); }},
      {"pipeline_mbarrier", [](const Case& c) { return c.moved(0, 1, [](I i) { return i ^ 64; }); }},
      {"calls_direct", [](const Case& c) { return c.near(0, 0, [&](I i) { return 4 + c.real(1, i); }); }},
      {"calls_table", [](const Case& c) { return c.expect(0, [&](I i) { const I x = c.whole(1, i); return of_list({2 * x, x * x, -x, 100 - x}, c.whole(2, i) & 3); }); }},
      {"calls_shape", [](const Case& c) { return c.expect(0, [&](I i) { const I x = c.whole(1, i); return c.whole(2, i) == 0 ? x * x : 3 * x; }); }},
      {"double_library", [](const Case& c) { return c.near(0, 1e-13, [&](I i) { const double x = c.real(1, i / 2); return i % 2 == 0 ? std::exp(x) : std::log1p(x * x); }); }},
      {"float_library", [](const Case& c) { return c.near(0, 1e-5, [&](I i) { const double x = c.real(1, i / 4); return i % 4 == 0 ? std::sin(x) : i % 4 == 1 ? std::cos(x) : i % 4 == 2 ? std::pow(std::fabs(x), 1.25) : std::erf(x); }); }},
      {"gemm_mma_f16", [](const Case& c) { const I n = c.whole(4), k = c.whole(5); return c.near(0, 1e-5, [&](I i) { return product(c, i / n, i % n, n, k); }); }},
      {"tcgen05_mma_f16", [](const Case& c) { return c.near(0, 1e-5, [&](I i) { return row_product(c, i / 16, i % 16, c.whole(3)); }); }},
      {"wgmma_f16", [](const Case& c) { return c.near(0, 1e-5, [&](I i) { return row_product(c, i / 16, i % 16, c.whole(3)); }); }},
      {"wgmma_bf16_rs", [](const Case& c) { return c.near(0, 1e-5, [&](I i) { return product(c, i / 8, i % 8, 8, 16); }); }},
      {"wgmma_pipeline", [](const Case& c) { const I n = c.whole(3); return c.near(0, 1e-5, [&](I i) { return row_product(c, i / n, i % n, c.whole(4)); }); }},
      {"gemm_f32", [](const Case& c) { const I n = c.whole(4), k = c.whole(5); return c.near(0, 1e-5, [&](I i) { return c.real(6) * product(c, i / n, i % n, n, k) + c.real(7) * c.real(0, i); }); }},
      {"mma_transpose_8x8", [](const Case& c) { return c.expect(0, [&](I i) { const auto at = [&](I row, I col) { return c.whole(1, row * 4 + col / 2) >> (16 * (col % 2)) & 0xFFFF; }; const I row = i / 4, col = i % 4 * 2; return at(col, row) | at(col + 1, row) << 16; }); }},
      {"histogram_u8", histogram},
      {"histogram_warp", histogram},
      {"integer_narrow", [](const Case& c) { return c.expect(0, [&](I i) { const I x = c.whole(1, i); I sum = 0; for (unsigned b = 0; b < 32; b += 8) sum += static_cast<signed char>(x >> b); return sum + static_cast<short>(x) + static_cast<short>(x >> 16); }); }},
      {"launch_bounded", [](const Case& c) { return c.expect(0, [&](I i) { return c.whole(1, i) + 1; }); }},
      {"launch_struct", [](const Case& c) { return c.near(0, 0, [](I i) { return i == 0 ? 2.5 * 40 + 0.25 : -7.0 + 200 + 3; }); }},
      {"launch_narrow", [](const Case& c) { return c.expect(0, [](I) { return I{-100 + 60000 + 1 + 12}; }); }},
      {"launch_dynamic", [](const Case& c) { return c.expect(0, [](I i) { return 6 * i | (6 * i + 3) << 16; }); }},
      {"launch_cluster", [](const Case& c) { return c.expect(0, [](I i) { return i % 2; }); }},
      {"launch_block_size", [](const Case& c) { return c.expect(0, [&](I) { return c.count(0); }); }},
      {"local_sort", sorted},
      {"local_permute", [](const Case& c) { return c.moved(0, 1, [&](I i) { return i / 4 * 4 + c.whole(2, i) % 4; }); }},
      {"local_bytes", [](const Case& c) { return c.expect(0, [](I i) { return digits((i / 2) * (i / 2)) >> (32 * (i % 2)) & 0xFFFFFFFF; }); }},
      {"memory_orders", [](const Case& c) { return c.expect(0, [](I i) { return of_list({5, 6, 5, 20}, i); }); }},
      {"memory_hints", [](const Case& c) { return c.expect(0, [&](I i) { return 2 * c.whole(1, i); }); }},
      {"memory_message", [](const Case& c) { return c.expect(0, [](I) { return I{42}; }); }},
      {"memory_spaces", [](const Case& c) { return c.expect(0, [](I i) { return i % 3 + 1; }); }},
      {"tables_polynomial", [](const Case& c) { return c.near(0, 1e-6, [&](I i) { const double h = c.real(1, i) / 2; return 1 + h + h * h + h * h * h + h * h * h * h; }); }},
      {"tables_letters", [](const Case& c) { return c.expect(0, [](I i) { constexpr std::string_view kWord = "tile\t\"primitive\"\\"; return i < static_cast<I>(kWord.size()) ? I{kWord[static_cast<std::size_t>(i)]} : 0; }); }},
      {"reduce_sum_f32", [](const Case& c) { return c.near(0, 0, [&](I) { return total(c); }); }},
      {"reduce_max_i32", [](const Case& c) { return c.expect(0, [&](I) { return std::max(c.whole(0), greatest(c, 1)); }); }},
      {"reduce_mean_f32", [](const Case& c) { return c.near(0, 1e-6, [&](I) { return mean(c); }); }},
      {"output_heap", [](const Case& c) { return c.expect(0, [](I i) { return i + 1; }); }},
      {"stmatrix_transpose", [](const Case& c) { return c.moved(0, 1, [](I i) { return i % 16 * 16 + i / 16; }); }},
      {"matrix_bytes", [](const Case& c) { return c.moved(0, 1, [](I i) { return i % 16 * 16 + i / 16; }); }},
      {"transpose_f32", [](const Case& c) { return transpose(c, 1); }},
      {"transpose_u8", [](const Case& c) { return transpose(c, 1); }},
      {"transpose_f64x2", [](const Case& c) { return transpose(c, 2); }},
      {"tmem_round_trip", [](const Case& c) { return c.moved(0, 1, [](I i) { return i; }); }},
      {"tmem_fragment", [](const Case& c) { return c.moved(0, 1, [](I i) { const I t = i / 4, h = i / 2 % 2, r = i % 2; return (t / 32 * 32 + 16 * h + t % 32 / 4 + 8 * r) * 4 + t % 4; }); }},
      {"tmem_pack", [](const Case& c) { return c.moved(0, 1, [](I i) { return i; }); }},
      {"vector_add_f32", [](const Case& c) { return c.near(0, 0, [&](I i) { return static_cast<double>(static_cast<float>(c.real(1, i)) + static_cast<float>(c.real(2, i))); }); }},
      {"vector_add_i64", [](const Case& c) { return c.expect(0, [&](I i) { return static_cast<I>(static_cast<std::uint64_t>(c.whole(1, i)) + static_cast<std::uint64_t>(c.whole(2, i))); }); }},
      {"vector_axpy_f64", [](const Case& c) { return c.near(0, 0, [&](I i) { return std::fma(c.real(3), c.real(1, i), c.real(2, i)); }); }},
      {"vector_widen_i8", [](const Case& c) { return c.expect(0, [&](I i) { return c.whole(1, i); }); }},
      {"warp_divergent", [](const Case& c) { return c.expect(0, [&](I i) { I sum = 0; for (I j = i / 32 * 32 + i % 2; j < i / 32 * 32 + 32; j += 2) sum += c.whole(1, j); return sum; }); }},
      {"warp_elect", [](const Case& c) { return c.expect(0, [](I) { return I{1}; }); }},
      {"wide_reverse", [](const Case& c) { return c.moved(0, 1, [](I i) { return i / 8 * 8 + 7 - i % 8; }); }},
      {"wide_partial", [](const Case& c) { return c.expect(0, [&](I i) { return c.whole(1, 8 * i + 1) + c.whole(1, 8 * i + 6); }); }},
      {"wide_doubles", [](const Case& c) { return c.near(0, 0, [&](I i) { return c.real(1, i) + static_cast<double>(i % 4); }); }},
  };
  return kContracts;
}
// clang-format on

}  // namespace

bool has_contract(const std::string& kernel) { return contracts().contains(kernel); }

std::string broken_contract(const LaunchLine& launch, const LaunchOutcome& outcome) {
  const auto found = contracts().find(launch.kernel);
  return found == contracts().end() ? "" : found->second(Case(launch, outcome));
}

}  // namespace ww::corpus
