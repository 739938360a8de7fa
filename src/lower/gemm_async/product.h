// SPDX-License-Identifier: Apache-2.0
// A gemm_async call read into sizes, types and the places of its operands; and which wgmma its types
// have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

/// What an instruction is for a pair of factors.
struct WgmmaTypes {
  std::string_view a, b, d;  // words of the opcode
  std::int64_t depth = 16;   // K of an instruction: 32 bytes
  bool is_integer = false;   // no signs of the factors, fewer N
  bool may_turn = false;     // factors may lie along M and N

  /// N that an instruction can have.
  [[nodiscard]] bool has_columns(std::int64_t n) const;
  [[nodiscard]] std::string columns_text() const;
  [[nodiscard]] std::string opcode(std::int64_t n) const;
};

/// C[M,N] (+)= A[M,K]·B[N,K]ᵀ, both factors as they are stored where `turns_…` is not set.
struct AsyncProduct {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;
  bool is_a_in_registers = false;
  WgmmaTypes types;
  OperandPlaces d, a, b;
  std::optional<bool> accumulates;  // none: `when` says so at run time
  ir::ExprId when = {};

  /// Elements by their coordinates.
  [[nodiscard]] std::size_t d_at(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>(row * n + col);
  }
  [[nodiscard]] std::size_t a_at(std::int64_t row, std::int64_t depth) const {
    return static_cast<std::size_t>(turns_a ? depth * m + row : row * k + depth);
  }
  [[nodiscard]] std::size_t b_at(std::int64_t col, std::int64_t depth) const {
    return static_cast<std::size_t>(turns_b ? depth * n + col : col * k + depth);
  }
};

/// Declines scopes without whole warpgroups (`scope`, `threads`), operands in other memory
/// (`memory`), types that no wgmma has (`dtype`), K of no whole instructions (`shape`), and settings
/// of tensor memory (`config`).
Match<AsyncProduct> async_product(const Call& call);

}  // namespace ww::lower
