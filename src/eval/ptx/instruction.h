// SPDX-License-Identifier: Apache-2.0
// PTX instructions as far as programs write them beside tile primitives, decoded once from the
// catalogue's binding of their opcodes.
#pragma once

#include <cstdint>

#include "ir/elementwise.h"
#include "ir/function.h"

namespace ww::eval {

enum class PtxKind : std::uint8_t {
  Unknown,
#define WW_EVAL_PTX(kind, together, handler) kind,
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
};

/// All lanes of a warp execute it together.
bool is_warp_collective(PtxKind kind);

/// tcgen05.ld and .st: lanes by bits of a lane.
enum class TmemShape : std::uint8_t { By32x32b, By16x64b, By16x128b, By16x256b, By16x32bx2 };

/// tcgen05.cp: which quarters of tensor memory get a row.
enum class TensorQuarters : std::uint8_t {
  One,         // 128 or 64 rows: the row's own
  FirstLanes,  // 4x256b: row r is in lane 32·r
  All,         // warpx4
  Pairs02And13,
  Pairs01And23
};
struct TensorCopyShape {
  std::int64_t rows = 128;
  std::int64_t halves = 1;  // of 16 bytes in a row
  TensorQuarters quarters = TensorQuarters::One;
};

/// The operation on each half of an instruction's words.
enum class PackedFunction : std::uint8_t { Add, Sub, Mul, Min, Max, Fma, Neg, Abs };

/// The exact function that a float32 approximation approximates.
enum class ApproxFunction : std::uint8_t { Ex2, Lg2, Sin, Cos, Tanh, Rcp, Sqrt, Rsqrt, Div };

struct PtxInstruction {
  const ir::PtxCall* call = nullptr;
  PtxKind kind{};
  bool is_tensor = false;      // any tcgen05
  int bits = 0;                // of modifier `type`
  num::DType type{};           // Add, Redux: of the result. Mma: of A and B. Packed: of a half
  PackedFunction packed{};     // Packed
  ApproxFunction approx{};     // Approximate
  bool is_flushed = false;     // .ftz
  num::DType from{};           // Convert, ConvertPair: to `type`
  ir::CastSettings cast = {};  // Convert, ConvertPair
  std::size_t count = 1;       // registers: 4 for .v4 and .x4
  std::size_t depth = 8;       // Mma: of the product, 8 or 16
  bool is_transposed = false;  // LoadMatrix, StoreMatrix
  bool is_packed = false;      // TmemLoad, TmemStore: two halves in a register
  TmemShape tmem_shape{};      // TmemLoad, TmemStore
  TensorCopyShape tensor_copy = {};  // TensorCopy

  [[nodiscard]] const ir::PtxOperand& operand(std::size_t i) const { return call->operands[i]; }
  [[nodiscard]] std::size_t operand_count() const { return call->operands.size(); }
};

/// Kind Unknown for what is not evaluated. The call must outlive the result.
PtxInstruction decode(const ir::PtxCall& call);

}  // namespace ww::eval
