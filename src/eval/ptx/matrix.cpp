// SPDX-License-Identifier: Apache-2.0
// Matrix fragments of a warp. Which lane holds what:
//
//   ldmatrix, stmatrix   register j is of matrix j: lane l holds row l / 4, columns 2·(l % 4) and
//                        the next; lane 8·j + r gives the address of row r. `trans` swaps rows and
//                        columns
//   mma m16n8k16         g = l / 4, t = l % 4
//     A (16 x k)         register r: row g + 8·(r % 2), columns 2·t + 8·(r / 2) and the next
//     B (k x 8)          register r: column g, rows 2·t + 8·r and the next
//     C, D (16 x 8)      register r: row g + 8·(r / 2), column 2·t + r % 2
#include <array>
#include <utility>
#include <vector>

#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/ptx/operands.h"
#include "eval/ptx/run.h"

namespace ww::eval {
namespace {

// Calls `visit` for both halves of each lane's register of matrix j: lane, bit in the register, and
// the element, whose owner is the lane that gives the address of its row.
template <typename Visit>
void each_half(const PtxInstruction& ptx, std::size_t j, Threads warp,
               const std::vector<Address>& rows, const Visit& visit) {
  for (std::size_t l = 0; l < kWarp; ++l)
    for (std::size_t h = 0; h < 2; ++h) {
      std::size_t row = l / 4;
      std::size_t column = 2 * (l % 4) + h;
      if (ptx.is_transposed) std::swap(row, column);
      const std::size_t giver = 8 * j + row;
      const auto bit = static_cast<std::int64_t>(column) * kHalfBits;
      visit(l, static_cast<unsigned>(kHalfBits * h), element_at(rows[giver] + bit, warp[giver]));
    }
}

std::size_t index_in_c(std::size_t reg, std::size_t lane) {
  return (lane / 4 + 8 * (reg / 2)) * 8 + 2 * (lane % 4) + reg % 2;
}

void multiply_fragments(Cta& cta, const PtxInstruction& ptx, Threads warp) {
  constexpr std::size_t kFirst = 4;  // operand after those of D
  const std::size_t a_registers = ptx.depth / 4;
  const std::size_t b_registers = ptx.depth / 8;
  std::array<double, 16 * 16> a{};
  std::array<double, 16 * 8> b{};
  std::array<double, 16 * 8> c{};
  const auto take = [&](std::size_t first, std::size_t count, const auto& visit) {
    for (std::size_t r = 0; r < count; ++r) {
      const Words values = ptx_value(cta, ptx.operand(first + r), warp, kRegisterBits);
      for (std::size_t l = 0; l < kWarp; ++l) visit(r, l, values[l]);
    }
  };
  const auto half = [&](Word bits, std::size_t h) {
    return as_real(ptx.type, bits >> (kHalfBits * h) & low_mask(kHalfBits));
  };
  take(kFirst, a_registers, [&](std::size_t r, std::size_t l, Word bits) {
    for (std::size_t h = 0; h < 2; ++h)
      a[(l / 4 + 8 * (r % 2)) * 16 + 2 * (l % 4) + 8 * (r / 2) + h] = half(bits, h);
  });
  take(kFirst + a_registers, b_registers, [&](std::size_t r, std::size_t l, Word bits) {
    for (std::size_t h = 0; h < 2; ++h) b[(2 * (l % 4) + 8 * r + h) * 8 + l / 4] = half(bits, h);
  });
  take(kFirst + a_registers + b_registers, 4, [&](std::size_t r, std::size_t l, Word bits) {
    c[index_in_c(r, l)] = as_real(num::DType::Float32, bits);
  });
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t n = 0; n < 8; ++n)
      for (std::size_t k = 0; k < ptx.depth; ++k) c[m * 8 + n] += a[m * 16 + k] * b[k * 8 + n];
  for (std::size_t r = 0; r < 4; ++r) {
    Words values(cta.run.pool, kWarp);
    for (std::size_t l = 0; l < kWarp; ++l)
      values[l] = from_real(num::DType::Float32, c[index_in_c(r, l)]);
    ptx_put(cta, ptx.operand(r), warp, kRegisterBits, std::move(values));
  }
}

}  // namespace

void ptx_load_matrix(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kWarp) return;
    const std::vector<Address> rows = ptx_address(cta, ptx.operand(ptx.count), warp);
    for (std::size_t j = 0; j < ptx.count; ++j) {
      Contents values = empty_contents(cta, kWarp);
      each_half(ptx, j, warp, rows, [&](std::size_t l, unsigned shift, const Element& element) {
        values.add(l, read(cta, element, kHalfBits, access_of(cta, element.owner)), shift);
      });
      ptx_put(cta, ptx.operand(j), warp, kRegisterBits, values);
    }
  });
}

void ptx_store_matrix(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kWarp) return;
    const std::vector<Address> rows = ptx_address(cta, ptx.operand(0), warp);
    for (std::size_t j = 0; j < ptx.count; ++j) {
      const Contents values = ptx_content(cta, ptx.operand(j + 1), warp, kRegisterBits);
      each_half(ptx, j, warp, rows, [&](std::size_t l, unsigned shift, const Element& element) {
        write(cta, element, kHalfBits, values[l].part(shift, kHalfBits),
              access_of(cta, element.owner));
      });
    }
  });
}

// The element at row r, column c comes from row c, column r.
void ptx_move_matrix(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    if (warp.size() != kWarp) return;
    const Contents from = ptx_content(cta, ptx.operand(1), warp, kRegisterBits);
    Contents to = empty_contents(cta, kWarp);
    for (std::size_t row = 0; row < 8; ++row)
      for (std::size_t column = 0; column < 8; ++column) {
        const auto shift = [](std::size_t c) { return static_cast<unsigned>(c % 2 * kHalfBits); };
        to.add(row * 4 + column / 2, from[column * 4 + row / 2].part(shift(row), kHalfBits),
               shift(column));
      }
    ptx_put(cta, ptx.operand(0), warp, kRegisterBits, to);
  });
}

void ptx_mma(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  each_warp(ts, [&](Threads warp) {
    if (warp.size() == kWarp) multiply_fragments(cta, ptx, warp);
  });
}

}  // namespace ww::eval
