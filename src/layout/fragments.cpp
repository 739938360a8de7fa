// SPDX-License-Identifier: Apache-2.0
// Fragments of the warp-wide matrix instructions, in the register order of the PTX manual ("Matrix
// Fragments for mma", "ldmatrix"). One picture holds for all of them: lanes form an 8 × 4 grid,
// lane 4g + t, that covers 8 rows (or columns) by four runs of consecutive elements; a run is one
// register, or a pair of elements in an accumulator. What is larger than the grid goes to further
// registers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "layout/compact.h"
#include "layout/ready_made.h"

namespace ww::layout {
namespace {

struct MmaRow {
  MmaShape shape;
  int bits;        // of A and B
  bool short_sum;  // 16-bit C and D, besides the full ones
  [[nodiscard]] int sum_bits() const { return bits == 64 ? 64 : 32; }
};

// clang-format off
constexpr std::array kMmaRows = {
    MmaRow{{8, 8, 128}, 1,  false}, MmaRow{{16, 8, 128}, 1, false}, MmaRow{{16, 8, 256}, 1, false},
    MmaRow{{8, 8, 32},  4,  false}, MmaRow{{16, 8, 32},  4, false}, MmaRow{{16, 8, 64},  4, false},
    MmaRow{{8, 8, 16},  8,  false}, MmaRow{{16, 8, 16},  8, true},  MmaRow{{16, 8, 32},  8, true},
    MmaRow{{16, 8, 8},  16, true},  MmaRow{{16, 8, 16}, 16, true},
    MmaRow{{16, 8, 4},  32, false}, MmaRow{{16, 8, 8},  32, false},
    MmaRow{{8, 8, 4},   64, false}, MmaRow{{16, 8, 4},  64, false}, MmaRow{{16, 8, 8},  64, false},
    MmaRow{{16, 8, 16}, 64, false},
};
// clang-format on

std::string shape_name(const MmaShape& s) { return fmt::format("m{}n{}k{}", s.m, s.n, s.k); }

bool is_sum(char operand) { return operand == 'C' || operand == 'D'; }

bool has_width(const MmaRow& row, char operand, int bits) {
  if (!is_sum(operand)) return row.bits == bits;
  return row.sum_bits() == bits || (row.short_sum && bits == 16);
}

// The widths this operand has in this shape, for the refusal.
std::string widths(char operand, const MmaShape& shape) {
  std::string out;
  for (const int bits : {1, 4, 8, 16, 32, 64}) {
    const bool any = std::any_of(kMmaRows.begin(), kMmaRows.end(), [&](const MmaRow& row) {
      return row.shape == shape && has_width(row, operand, bits);
    });
    if (any) out += fmt::format("{}{}", out.empty() ? "" : ", ", bits);
  }
  return out;
}

Result<void> check(char operand, const MmaShape& shape, int bits) {
  if (operand != 'A' && operand != 'B' && !is_sum(operand))
    return fail(DiagKind::BadArgument, "operand `{}` of mma.sync; there are A, B, C and D",
                operand);
  const std::string accepted = widths(operand, shape);
  if (accepted.empty())
    return fail(DiagKind::BadArgument,
                "mma.sync has no shape {}; k runs over 128, 256 for 1-bit operands, 32, 64 for 4, "
                "16, 32 for "
                "8, 8, 16 for 16, 4, 8 for 32 and 4, 8, 16 for 64",
                shape_name(shape));
  const bool good = std::any_of(kMmaRows.begin(), kMmaRows.end(), [&](const MmaRow& row) {
    return row.shape == shape && has_width(row, operand, bits);
  });
  if (!good)
    return fail(DiagKind::BadArgument, "{}-bit elements for operand {} of {}; accepted are {}",
                bits, operand, shape_name(shape), accepted);
  return {};
}

Iter row_of_grid() { return {8, 4, axes::laneid()}; }
Iter run_of_grid() { return {4, 1, axes::laneid()}; }
Iter registers(std::int64_t count, std::int64_t stride) { return {count, stride, axes::m()}; }

}  // namespace

Result<Layout> mma_fragment(char operand, const MmaShape& shape, int bits) {
  WW_TRY_VOID(check(operand, shape, bits));
  const std::int64_t halves = shape.m / 8;
  if (is_sum(operand))
    return compact({registers(halves, 2), row_of_grid(), run_of_grid(), registers(2, 1)});
  const std::int64_t e = bits < 32 ? 32 / bits : 1;
  const std::int64_t steps = shape.k / (4 * e);
  if (operand == 'B')
    return compact({registers(steps, e), run_of_grid(), registers(e, 1), row_of_grid()});
  return compact({registers(halves, e), row_of_grid(), registers(steps, halves * e), run_of_grid(),
                  registers(e, 1)});
}

Result<Layout> mma_fragment(char operand, int k, int bits) {
  return mma_fragment(operand, MmaShape{k == 4 && bits == 64 ? 8 : 16, 8, k}, bits);
}

Result<Layout> ldmatrix_fragment(int num, bool trans) {
  if (num != 1 && num != 2 && num != 4)
    return fail(DiagKind::BadArgument, "ldmatrix of {} matrices; accepted are 1, 2 and 4", num);
  if (trans) return compact({run_of_grid(), registers(2, 1), registers(num, 2), row_of_grid()});
  return compact({row_of_grid(), registers(num, 2), run_of_grid(), registers(2, 1)});
}

}  // namespace ww::layout
