// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ww::sweep {
namespace {

constexpr std::size_t kMaxExamples = 5;

/// Where a thread's value of a column lies in the buffer.
struct Cell {
  const Column* column;
  std::size_t offset;  // of the column
};

std::vector<Cell> cells_of(const std::vector<Column>& columns, std::size_t cases) {
  std::vector<Cell> cells;
  std::size_t offset = 0;
  for (const Column& column : columns) {
    cells.push_back({&column, offset});
    offset += column.bytes * cases;
  }
  return cells;
}

const std::byte* at(std::span<const std::byte> buffer, const Cell& cell, std::size_t thread) {
  return buffer.data() + cell.offset + thread * cell.column->bytes;
}

std::uint64_t word_at(std::span<const std::byte> buffer, const Cell& cell, std::size_t thread) {
  std::uint64_t value = 0;
  std::memcpy(&value, at(buffer, cell, thread), std::min<std::size_t>(8, cell.column->bytes));
  return value;
}

/// The number in element `part` of a column, 0 for columns of other types.
double number_at(std::span<const std::byte> buffer, const std::vector<Cell>& cells,
                 std::size_t which, std::size_t thread, unsigned part) {
  if (which >= cells.size()) return 0;
  const isa::Type type = element_type(cells[which].column->type);
  if (type != isa::Type::F64 && cells[which].column->bytes > 4) return 0;
  const auto bits = static_cast<unsigned>(isa::info(type).bits);
  return decode(type, word_at(buffer, cells[which], thread) >> (part * bits));
}

class Approximate {
 public:
  Approximate(const Bound& bound, Comparison& into) : bound_(bound), into_(into) {}

  /// Whether the device's element is as near to ours as the manual says.
  bool agrees(double a, double b, double device, double ours) {
    if (std::isnan(device) && std::isnan(ours)) return true;
    const double promised = bound_.allowed(a, b, ours);
    if (std::isinf(promised)) return true;
    if (std::isnan(device) || std::isnan(ours) || std::isinf(device) || std::isinf(ours))
      return device == ours;
    const double unit = unit_of(bound_.type, ours);
    const double error = std::fabs(device - ours);
    const double allowed = promised + unit / 2;
    into_.max_ulps = std::max(into_.max_ulps, error / unit);
    into_.max_share = std::max(into_.max_share, error / allowed);
    return error <= allowed;
  }

 private:
  const Bound& bound_;
  Comparison& into_;
};

}  // namespace

Comparison compare(const Kernel& kernel, std::span<const std::byte> inputs,
                   std::span<const std::byte> device, std::span<const std::byte> ours,
                   std::size_t cases) {
  Comparison comparison;
  comparison.cases = cases;
  comparison.bound = bound_of(kernel);
  const std::vector<Cell> in = cells_of(kernel.inputs, cases);
  const std::vector<Cell> out = cells_of(kernel.outputs, cases);
  const auto near = [&](std::size_t thread) {
    Approximate approximate(*comparison.bound, comparison);
    const unsigned parts = kernel.outputs[0].type == comparison.bound->type ? 1 : 2;
    bool agrees = true;
    for (unsigned part = 0; part < parts; ++part) {
      const double a = number_at(inputs, in, 0, thread, part);
      const double b = number_at(inputs, in, 1, thread, part);
      agrees &= approximate.agrees(a, b, number_at(device, out, 0, thread, part),
                                   number_at(ours, out, 0, thread, part));
    }
    return agrees;
  };
  const auto equal = [&](std::size_t thread) {
    return std::ranges::all_of(out, [&](const Cell& cell) {
      return std::memcmp(at(device, cell, thread), at(ours, cell, thread), cell.column->bytes) == 0;
    });
  };
  for (std::size_t thread = 0; thread < cases; ++thread) {
    if (comparison.bound != nullptr ? near(thread) : equal(thread)) continue;
    ++comparison.mismatches;
    if (comparison.threads.size() < kMaxExamples) comparison.threads.push_back(thread);
  }
  return comparison;
}

namespace {

std::string hex(std::span<const std::byte> buffer, const Cell& cell, std::size_t thread) {
  std::string text = "0x";
  for (std::size_t i = cell.column->bytes; i-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(at(buffer, cell, thread)[i]));
  return text;
}

std::string row(std::span<const std::byte> buffer, const std::vector<Column>& columns,
                std::size_t cases, std::size_t thread) {
  std::string text;
  for (const Cell& cell : cells_of(columns, cases))
    text += fmt::format(" {}={}", cell.column->name, hex(buffer, cell, thread));
  return text;
}

}  // namespace

std::string show_thread(const Kernel& kernel, std::span<const std::byte> inputs,
                        std::span<const std::byte> device, std::span<const std::byte> ours,
                        std::size_t cases, std::size_t thread) {
  return fmt::format("thread {}:{}\n    device:{}\n    ours:  {}", thread,
                     row(inputs, kernel.inputs, cases, thread),
                     row(device, kernel.outputs, cases, thread),
                     row(ours, kernel.outputs, cases, thread));
}

}  // namespace ww::sweep
