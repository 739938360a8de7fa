// SPDX-License-Identifier: Apache-2.0
#include "isa/fragment.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

namespace ww::isa {
namespace {

struct Cell {
  int row = 0;
  int col = 0;
};

struct Size {
  int rows = 0;
  int cols = 0;
  int regs = 0;
  int parts = 1;
  int warps = 1;
};

// Fills a fragment from the map (warp, lane, register, part) -> element.
template <typename Map>
Fragment fill(std::string operand, std::string title, const Size& size, Map map) {
  Fragment result{std::move(operand), std::move(title), size.rows,      size.cols,
                  size.parts,         size.regs,        size.warps > 1, {}};
  const int total = size.rows * size.cols;
  result.places.resize(static_cast<std::size_t>(total));
  int filled = 0;
  for (int warp = 0; warp < size.warps; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < size.regs; ++reg) {
        for (int part = 0; part < size.parts; ++part, ++filled) {
          const Cell cell = map(warp, lane, reg, part);
          WW_CHECK(cell.row < size.rows && cell.col < size.cols,
                   "fragment cell outside its matrix");
          const auto index = static_cast<std::size_t>(cell.row * size.cols + cell.col);
          result.places[index] = {static_cast<std::int16_t>(warp), static_cast<std::int16_t>(lane),
                                  static_cast<std::int16_t>(reg), static_cast<std::int16_t>(part)};
        }
      }
    }
  }
  WW_CHECK(filled == total, "a fragment of {} places for {} elements", filled, total);
  return result;
}

// --- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------------
// The first matrix; matrix m is in register m (m16n16: 2m, 2m + 1).

// The name of the operand that is a list of registers.
std::string list_operand(const Binding& binding) {
  for (const OperandSpec& spec : binding.form().operands) {
    if (spec.count != OperandSpec::Count::Scalar) return std::string(spec.name);
  }
  return "";
}

Fragment m8n8(std::string operand, std::string title, bool trans) {
  return fill(std::move(operand), std::move(title), {8, 8, 1, 2},
              [trans](int, int lane, int, int h) {
                const Cell plain{lane / 4, lane % 4 * 2 + h};
                return trans ? Cell{plain.col, plain.row} : plain;
              });
}

std::vector<Fragment> matrix_fragments(const Binding& binding) {
  if (binding.form().mnemonic == "movmatrix") {
    return {m8n8("a", "an 8x8 matrix of 16-bit elements", false),
            m8n8("d", "the same elements after", true)};
  }
  const std::string operand = list_operand(binding);
  const Word shape = binding.word("shape");
  if (shape == "m8n8") {
    return {m8n8(operand, "one 8x8 matrix of 16-bit elements, as its rows lie in memory",
                 binding.has("trans"))};
  }
  if (shape == "m8n16") {
    return {fill(operand, "one 8x16 matrix, elements unpacked to bytes", {8, 16, 1, 4},
                 [](int, int lane, int, int b) {
                   return Cell{lane / 4, lane % 4 * 4 + b};
                 })};
  }
  if (shape == "m16n16") {
    return {fill(operand, "one 16x16 matrix of bytes, as its rows lie in memory", {16, 16, 2, 4},
                 [](int, int lane, int q, int b) {
                   return Cell{lane % 4 * 4 + b, lane / 4 + 8 * q};
                 })};
  }
  return {fill(operand, "one matrix of bytes, as its 8 rows of 16 lie in memory", {8, 16, 1, 4},
               [](int, int lane, int, int b) {
                 return Cell{lane % 4 * 2 + b % 2, lane / 4 + 8 * (b / 2)};
               })};
}

// --- mma ---

Fragment mma_a(const ProductShape& s, Word type, int bits) {
  const int e = bits == 64 ? 1 : 32 / bits;
  const Size size{s.m, s.k, s.m * s.k / 32 / e, e};
  return fill("a", fmt::format("A, {}x{} of {}", s.m, s.k, type), size,
              [&](int, int l, int r, int j) {
                const int half = s.m == 16 ? r & 1 : 0;
                const int step = s.m == 16 ? r >> 1 : r;
                return Cell{l / 4 + 8 * half, 4 * e * step + e * (l % 4) + j};
              });
}

Fragment mma_b(const ProductShape& s, Word type, int bits) {
  const int e = bits == 64 ? 1 : 32 / bits;
  const Size size{s.k, s.n, s.k * s.n / 32 / e, e};
  return fill("b", fmt::format("B, {}x{} of {}", s.k, s.n, type), size,
              [&](int, int l, int r, int j) {
                return Cell{4 * e * r + e * (l % 4) + j, l / 4};
              });
}

Fragment mma_c(std::string operand, const ProductShape& s, Word type) {
  const int e = type == "f16" ? 2 : 1;
  const Size size{s.m, s.n, s.m * s.n / 32 / e, e};
  std::string title = fmt::format("{}, {}x{} of {}", operand == "d" ? "D" : "C", s.m, s.n, type);
  return fill(std::move(operand), std::move(title), size, [&](int, int l, int r, int h) {
    const int pair = e == 2 ? r : r >> 1;
    return Cell{l / 4 + 8 * pair, l % 4 * 2 + (e == 2 ? h : r & 1)};
  });
}

std::vector<Fragment> mma_fragments(const Binding& binding) {
  const ProductShape shape = product_shape(binding.word("shape"));
  const Word a = binding.word("atype"), b = binding.word("btype");
  const bool four_products = shape.m == 8 && shape.k == 4 && a != "f64";
  if (shape.m == 0 || four_products) return {};
  ProductShape stored = shape;  // of a sparse A only the half that is not zero
  if (binding.has("sp")) stored.k /= 2;
  return {mma_a(stored, a, element_bits(binding, "atype")),
          mma_b(shape, b, element_bits(binding, "btype")), mma_c("c", shape, binding.word("ctype")),
          mma_c("d", shape, binding.word("dtype"))};
}

// --- wgmma: four warps, 16 rows each ---

std::vector<Fragment> wgmma_fragments(const Binding& binding) {
  const ProductShape s = product_shape(binding.word("shape"));
  if (s.m == 0) return {};
  const Word type = binding.word("dtype");
  const int e = type == "f16" ? 2 : 1;
  const Size size{64, s.n, s.n / 2 / e, e, 4};
  return {fill(
      "d", fmt::format("D, 64x{} of {}, over the four warps", s.n, type), size,
      [&](int w, int l, int r, int h) {
        const int row_half = e == 2 ? r & 1 : (r >> 1) & 1;
        const int block = e == 2 ? r >> 1 : r >> 2;
        return Cell{16 * w + l / 4 + 8 * row_half, 8 * block + l % 4 * 2 + (e == 2 ? h : r & 1)};
      })};
}

// --- tcgen05.ld and st: one warp's part of tensor memory; rows are its lanes, columns 32 bits ---

std::vector<Fragment> tmem_fragments(const Binding& binding) {
  const Word shape = binding.word("shape");
  const int num = binding.number("num");
  const std::string operand = list_operand(binding);
  const auto title = [&](int rows, int cols) {
    return fmt::format("tensor memory, {} lanes by {} columns", rows, cols);
  };
  if (shape == "32x32b") {
    return {fill(operand, title(32, num), {32, num, num}, [](int, int l, int r, int) {
      return Cell{l, r};
    })};
  }
  if (shape == "16x64b") {
    return {fill(operand, title(16, 2 * num), {16, 2 * num, num}, [](int, int l, int r, int) {
      return Cell{l / 4 + 8 * (l & 1), 2 * r + ((l >> 1) & 1)};
    })};
  }
  if (shape == "16x128b") {
    return {fill(operand, title(16, 4 * num), {16, 4 * num, 2 * num}, [](int, int l, int r, int) {
      return Cell{l / 4 + 8 * (r & 1), 4 * (r >> 1) + l % 4};
    })};
  }
  if (shape == "16x256b") {
    return {fill(operand, title(16, 8 * num), {16, 8 * num, 4 * num}, [](int, int l, int r, int) {
      return Cell{l / 4 + 8 * ((r >> 1) & 1), 8 * (r >> 2) + 2 * (l % 4) + (r & 1)};
    })};
  }
  return {};  // 16x32bx2 depends on its immediate
}

}  // namespace

std::vector<Fragment> fragments_of(const Binding& binding) {
  const Mnemonic mnemonic = binding.form().mnemonic;
  if (binding.form().family == "matrix") return matrix_fragments(binding);
  if (mnemonic == "mma") return mma_fragments(binding);
  if (mnemonic == "wgmma.mma_async") return wgmma_fragments(binding);
  if (mnemonic.is_one_of({"tcgen05.ld", "tcgen05.st"})) return tmem_fragments(binding);
  return {};
}

}  // namespace ww::isa
