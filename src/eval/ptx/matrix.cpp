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
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/ptx/run.h"
#include "eval/tile/casts.h"
#include "num/approx.h"

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

// --- moves ---------------------------------------------------------------------------------------
//
// Loads, stores, moves and sums of single threads.

void ptx_load(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(ptx.count), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
    Contents values = empty_contents(cta, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i)
      values.set(
          i, read(cta, element_at(addresses[i] + offset, ts[i]), ptx.bits, access_of(cta, ts[i])));
    ptx_put(cta, ptx.operand(r), ts, ptx.bits, values);
  }
}

void ptx_store(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> addresses = ptx_address(cta, ptx.operand(0), ts);
  for (std::size_t r = 0; r < ptx.count; ++r) {
    const auto offset = static_cast<std::int64_t>(r) * ptx.bits;
    const Contents values = ptx_content(cta, ptx.operand(r + 1), ts, ptx.bits);
    for (std::size_t i = 0; i < ts.size(); ++i)
      write(cta, element_at(addresses[i] + offset, ts[i]), ptx.bits, values[i].part(0, ptx.bits),
            access_of(cta, ts[i]));
  }
}

void ptx_move(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, ptx_content(cta, ptx.operand(1), ts, ptx.bits));
}

void ptx_add(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words values = ptx_value(cta, ptx.operand(1), ts, ptx.bits);
  const Words more = ptx_value(cta, ptx.operand(2), ts, ptx.bits);
  binary(ir::ExprOp::Add, ptx.type, values, more, values);
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(values));
}

// Byte i is byte c[i] of the eight of a and b; bit 3 of c[i] repeats its sign instead.
void ptx_permute_bytes(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  constexpr unsigned kByte = 8;
  const Contents a = ptx_content(cta, ptx.operand(1), ts, kRegisterBits);
  const Contents b = ptx_content(cta, ptx.operand(2), ts, kRegisterBits);
  const Words pick = ptx_value(cta, ptx.operand(3), ts, kRegisterBits);
  Contents out = empty_contents(cta, ts.size());
  for (std::size_t t = 0; t < ts.size(); ++t)
    for (unsigned i = 0; i < 4; ++i) {
      const auto which = static_cast<unsigned>(pick[t] >> (4 * i) & 15U);
      Content byte = (which & 4U ? b : a)[t].part((which & 3U) * kByte, kByte);
      if ((which & 8U) != 0) {
        const auto signs = [](Word bits) { return (bits >> 7U & 1U) * 0xFFU; };
        byte = {signs(byte.value), signs(byte.undefined)};
      }
      out.add(t, byte, i * kByte);
    }
  ptx_put(cta, ptx.operand(0), ts, kRegisterBits, out);
}

namespace {

Word half_value(PackedFunction function, num::DType type, std::span<const Word> v) {
  Word out = 0;
  const auto operate = [&](ir::ExprOp op) {
    binary(op, type, v.first(1), v.subspan(1, 1), {&out, 1});
    return out;
  };
  switch (function) {
    case PackedFunction::Add:
      return operate(ir::ExprOp::Add);
    case PackedFunction::Sub:
      return operate(ir::ExprOp::Sub);
    case PackedFunction::Mul:
      return operate(ir::ExprOp::Mul);
    case PackedFunction::Min:
      return operate(ir::ExprOp::Min);
    case PackedFunction::Max:
      return operate(ir::ExprOp::Max);
    case PackedFunction::Fma:
      return fused(type, v[0], v[1], v[2]);
    case PackedFunction::Neg:
      unary(ir::ExprOp::Neg, type, v.first(1), {&out, 1});
      return out;
    case PackedFunction::Abs:
      return pure_call(ir::Intrinsic::Abs, type, v.first(1));
  }
  return out;
}

}  // namespace

void ptx_packed(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  std::vector<Words> from;
  for (std::size_t i = 1; i < ptx.operand_count(); ++i)
    from.push_back(ptx_value(cta, ptx.operand(i), ts, ptx.bits));
  const int width = ptx.bits / 2;
  const Word mask = (Word{1} << width) - 1;
  std::vector<Word> halves(from.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    Word word = 0;
    for (const int shift : {0, width}) {
      for (std::size_t k = 0; k < from.size(); ++k) halves[k] = from[k][i] >> shift & mask;
      word |= (half_value(ptx.packed, ptx.type, halves) & mask) << shift;
    }
    from[0][i] = word;
  }
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(from[0]));
}

// --- approximate functions -----------------------------------------------------------------------
//
// Conversions that round as they are told. Approximations of float32: the manual only bounds their errors, and here they have none but the
// rounding of the result. What `.ftz` takes for 0 is 0, so that they agree with the virtual GPU.

namespace {

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }

// a · (1 / b), where 1 / b counts as 0 once it is subnormal.
double quotient(float a, float b) {
  const float size = std::abs(b);
  const bool is_far = size > 0x1p126F && size < INFINITY;
  return is_far ? double{a} * std::copysign(0.0, double{b}) : double{a} / double{b};
}

double near_value(ApproxFunction function, float a, float b) {
  switch (function) {
    case ApproxFunction::Ex2:
      return num::ex2(a);
    case ApproxFunction::Lg2:
      return num::lg2(a);
    case ApproxFunction::Sin:
      return num::sin_of(a);
    case ApproxFunction::Cos:
      return num::cos_of(a);
    case ApproxFunction::Tanh:
      return num::tanh_of(a);
    case ApproxFunction::Rcp:
      return 1.0 / double{a};
    case ApproxFunction::Sqrt:
      return std::sqrt(double{a});
    case ApproxFunction::Rsqrt:
      return 1.0 / std::sqrt(double{a});
    case ApproxFunction::Div:
      return quotient(a, b);
  }
  return 0;
}

}  // namespace

void ptx_approximate(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words a = ptx_value(cta, ptx.operand(1), ts, ptx.bits);
  const std::size_t last = ptx.operand_count() - 1;
  const Words b = ptx_value(cta, ptx.operand(last), ts, ptx.bits);
  const auto flush = [&](float x) { return ptx.is_flushed ? flushed(x) : x; };
  const auto real = [&](Word bits) {
    return flush(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  };
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Word rounded =
        from_real(num::DType::Float32, near_value(ptx.approx, real(a[i]), real(b[i])));
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(rounded));
    a[i] = std::isnan(value) ? rounded : std::bit_cast<std::uint32_t>(flush(value));
  }
  ptx_put(cta, ptx.operand(0), ts, ptx.bits, std::move(a));
}

void ptx_convert(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  Words values = ptx_value(cta, ptx.operand(1), ts, num::bits_of(ptx.from));
  for (std::size_t i = 0; i < ts.size(); ++i)
    values[i] = cast_as(ptx.from, ptx.type, values[i], ptx.cast);
  ptx_put(cta, ptx.operand(0), ts, num::bits_of(ptx.type), std::move(values));
}

// Two registers, the upper element first, or a word of two elements.
void ptx_convert_pair(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const int width = num::storage_bits(ptx.from), out_width = num::storage_bits(ptx.type);
  const bool is_split = ptx.operand_count() > 2;
  const int bits = is_split ? width : 2 * width;
  Words upper = ptx_value(cta, ptx.operand(1), ts, bits);
  const Words lower = ptx_value(cta, ptx.operand(ptx.operand_count() - 1), ts, bits);
  const Word mask = (Word{1} << width) - 1;
  const auto converted = [&](Word element) {
    return cast_as(ptx.from, ptx.type, element & mask, ptx.cast);
  };
  for (std::size_t i = 0; i < ts.size(); ++i)
    upper[i] =
        converted(is_split ? upper[i] : upper[i] >> width) << out_width | converted(lower[i]);
  ptx_put(cta, ptx.operand(0), ts, 2 * out_width, std::move(upper));
}

}  // namespace ww::eval
