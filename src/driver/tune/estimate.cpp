// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/estimate.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/split.h"

namespace ww::driver {
namespace {

// SMs of a large GPU of the architecture.
constexpr SmRates kRates[] = {{75, 72, 512},    {80, 108, 1024}, {86, 84, 512},
                              {87, 16, 512},    {89, 142, 512},  {90, 132, 1024},
                              {100, 148, 1024}, {110, 20, 1024}, {120, 188, 512}};

// How the time of a multiply-add compares with one of 16 bits, in sixteenths: half the bits take
// half the time. Doubles are slower than that.
struct TypeCost {
  std::string_view name;
  std::uint64_t sixteenths;
};
constexpr TypeCost kTypeCosts[] = {{"f64", 256}, {"f32", 32},  {"tf32", 32}, {"s32", 32},
                                   {"f16", 16},  {"bf16", 16}, {"e4m3", 8},  {"e5m2", 8},
                                   {"e3m2", 8},  {"e2m3", 8},  {"e2m1", 4},  {"s8", 8},
                                   {"u8", 8},    {"s4", 4},    {"u4", 4},    {"b1", 1}};

std::optional<std::uint64_t> cost_of(std::string_view type) {
  const auto* const found = std::ranges::find(kTypeCosts, type, &TypeCost::name);
  if (found == std::end(kTypeCosts)) return std::nullopt;
  return found->sixteenths;
}

// The product of m, n and k of "m16n8k16".
std::optional<std::uint64_t> shape_in(std::string_view part) {
  std::uint64_t product = 1;
  for (const char name : {'m', 'n', 'k'}) {
    if (!part.starts_with(name)) return std::nullopt;
    part.remove_prefix(1);
    std::uint64_t extent = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error != std::errc()) return std::nullopt;
    part.remove_prefix(static_cast<std::size_t>(rest - part.data()));
    product *= extent;
  }
  return part.empty() ? std::optional(product) : std::nullopt;
}

}  // namespace

// Of the types, that of the result stands first and that of A next.
std::uint64_t tensor_work(std::string_view opcode) {
  std::uint64_t shape = 0;
  int types = 0;
  for (const std::string_view part : ww::split(opcode, '.')) {
    if (const auto found = shape_in(part)) shape = *found;
    const auto cost = cost_of(part);
    if (cost && shape > 0 && ++types == 2) return (shape * *cost + 15) / 16;
  }
  return 0;
}

SimWork work_of(const sim::Program& program, const sim::LaunchReport& run) {
  SimWork out{.blocks = run.blocks, .instructions = run.counters.instructions};
  const auto& counts = run.counters.ops;
  for (std::size_t op = 0; op < std::min(counts.size(), program.infos.size()); ++op) {
    const sim::OpCount& count = counts[op];
    out.wavefronts += count.wavefronts;
    out.sectors += count.sectors;
    if (count.executed == 0) continue;
    const std::string_view opcode = program.module.text(program.infos[op].opcode);
    if (opcode.starts_with("mma.")) out.tensor += count.executed * tensor_work(opcode);
  }
  return out;
}

const SmRates& rates_of(target::Arch arch) {
  const int number = target::info(arch).number;
  const SmRates* out = &kRates[0];
  for (const SmRates& row : kRates)
    if (row.number <= number) out = &row;
  return *out;
}

Estimate estimate(const SimWork& work, target::Arch arch) {
  if (work.blocks == 0) return {0, "issue"};
  const SmRates& rates = rates_of(arch);
  const auto per_block = [&](std::uint64_t count, std::uint64_t rate) {
    return static_cast<double>(count) / static_cast<double>(work.blocks * rate);
  };
  const Estimate bounds[] = {{per_block(work.instructions, 4), "issue"},
                             {per_block(work.wavefronts, 1), "shared"},
                             {per_block(work.sectors, 1), "global"},
                             {per_block(work.tensor, rates.tensor), "tensor"}};
  Estimate out = *std::ranges::max_element(bounds, {}, &Estimate::cycles);
  const auto rounds = (work.blocks + rates.sms - 1) / rates.sms;
  out.cycles *= static_cast<double>(rounds);
  return out;
}

}  // namespace ww::driver
