// SPDX-License-Identifier: Apache-2.0
// What g++ calls at every branch (-fsanitize-coverage=trace-pc), told to libFuzzer, which expects
// what clang calls: a counter for each place, several places to one where they collide. The linker
// sends the calls here (--wrap). Compiled without such calls itself.
#include <cstddef>
#include <cstdint>

namespace {
constexpr unsigned kBits = 18;
__attribute__((section("__libfuzzer_extra_counters")))
std::uint8_t counters[std::size_t{1} << kBits];
}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker chose the name
extern "C" void __wrap___sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  ++counters[(place * 0x9E37'79B9'7F4A'7C15U) >> (64 - kBits)];
}

// What g++ calls at comparisons of floats; libFuzzer does not ask for them.
extern "C" void __sanitizer_cov_trace_cmpf(float /*a*/, float /*b*/) {}    // NOLINT
extern "C" void __sanitizer_cov_trace_cmpd(double /*a*/, double /*b*/) {}  // NOLINT
