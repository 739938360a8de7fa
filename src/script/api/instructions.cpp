// SPDX-License-Identifier: Apache-2.0
// `T.cuda.tile`: tile primitives under the names of the instructions that execute them, with the
// unit as `scope=`. Each is a call of the primitive of ours that it means, and asks for the variant
// that the instruction belongs to:
//
//   T.cuda.tile.ld(R, A, scope="warp", vec_bits=128)  is  Tx.warp.copy(R, A, dispatch="vec_128b")
//   T.cuda.tile.tcgen05.ld(R, tmem, scope="warpgroup")  is  Tx.wg.copy_async(R, tmem)
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/fail_at.h"
#include "base/suggest.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::instructions_api {
namespace {

struct Instruction {
  std::string_view name, signature;
  ir::TileOp op;              // what it means
  std::string_view dispatch;  // the variant it names; empty: any
};

constexpr std::string_view kMemory =
    "dst, src, scope?, vec_bits?, cache?, l1_evict?, l2_evict?, prefetch_size?";
constexpr std::string_view kMove = "dst, src, scope?";
constexpr std::string_view kBinary = "dst, lhs, rhs, scope?, rounding_mode?";
constexpr std::string_view kUnary = "dst, src?, scope?";
constexpr std::string_view kScaled = "dst, src, scale, bias, scope?";
constexpr std::string_view kMma =
    "C, A, B, transA?, transB?, accum?, descI?, scope?, cta_group?, mma_m?, mma_n?, smem_desc?, "
    "is_AB_tf32?, weight_stationary?";
constexpr std::string_view kScaledMma =
    "C, A, B, SFA, SFB, transA?, transB?, accum?, descI?, scope?, cta_group?, mma_m?, mma_n?, "
    "smem_desc?, is_AB_tf32?, weight_stationary?";

constexpr std::string_view kAsync =
    "dst, src, predicate?, scope?, direct?, fill_mode?, prefetch_size?";
constexpr std::string_view kIntoTensor =
    "dst, src, scope?, shape?, multicast?, cta_group?, decompress?";
constexpr std::string_view kProduct =
    "D, A, B, C, transpose_A?, transpose_B?, alpha?, beta?, scope?";

constexpr Instruction kInstructions[] = {
    {"T.cuda.tile.ld", kMemory, ir::TileOp::Copy, "reg"},
    {"T.cuda.tile.st", kMemory, ir::TileOp::Copy, "reg"},
    {"T.cuda.tile.ldmatrix", kMove, ir::TileOp::Copy, "ldstmatrix"},
    {"T.cuda.tile.stmatrix", kMove, ir::TileOp::Copy, "ldstmatrix"},
    {"T.cuda.tile.mov", kMove, ir::TileOp::Copy, ""},
    {"T.cuda.tile.cp_async", kAsync, ir::TileOp::CopyAsync, "ldgsts"},
    {"T.cuda.tile.tcgen05.cp", kIntoTensor, ir::TileOp::CopyAsync, "tcgen05_cp"},
    {"T.cuda.tile.tcgen05.ld", kMove, ir::TileOp::CopyAsync, "tcgen05_ldst"},
    {"T.cuda.tile.tcgen05.st", kMove, ir::TileOp::CopyAsync, "tcgen05_ldst"},
    {"T.cuda.tile.mma_sync", kProduct, ir::TileOp::Gemm, ""},
    {"T.cuda.tile.tcgen05.mma", kMma, ir::TileOp::GemmAsync, ""},
    {"T.cuda.tile.tcgen05.mma_block_scale", kScaledMma, ir::TileOp::GemmAsync, ""},
    {"T.cuda.tile.add", kBinary, ir::TileOp::Add, ""},
    {"T.cuda.tile.sub", kBinary, ir::TileOp::Sub, ""},
    {"T.cuda.tile.mul", kBinary, ir::TileOp::Mul, ""},
    {"T.cuda.tile.div", kBinary, ir::TileOp::Fdiv, ""},
    {"T.cuda.tile.max", kBinary, ir::TileOp::Maximum, ""},
    {"T.cuda.tile.cvt", kUnary, ir::TileOp::Cast, ""},
    {"T.cuda.tile.fma", kScaled, ir::TileOp::Fma, ""},
    {"T.cuda.tile.sqrt", kUnary, ir::TileOp::Sqrt, ""},
    {"T.cuda.tile.ex2", kUnary, ir::TileOp::Exp2, ""},
    {"T.cuda.tile.lg2", kUnary, ir::TileOp::Log2, ""},
    {"T.cuda.tile.compose.exp", kUnary, ir::TileOp::Exp, ""},
    {"T.cuda.tile.compose.silu", kUnary, ir::TileOp::Silu, ""},
    {"T.cuda.tile.compose.exp_with_scale_bias", kScaled, ir::TileOp::Exp, ""},
    {"T.cuda.tile.compose.exp2_with_scale_bias", kScaled, ir::TileOp::Exp2, ""},
    {"T.cuda.tile.compose.log2_with_scale_bias", kScaled, ir::TileOp::Log2, ""},
    {"T.cuda.tile.compose.sqrt_with_scale_bias", kScaled, ir::TileOp::Sqrt, ""},
};

const Instruction& instruction_of(const BuiltinRow& row) {
  return *std::ranges::find(kInstructions, row.name, &Instruction::name);
}

Result<ir::Unit> unit_of(Context& in, const Given& scope) {
  constexpr std::pair<std::string_view, ir::Unit> kUnits[] = {{"thread", ir::Unit::Thread},
                                                              {"warp", ir::Unit::Warp},
                                                              {"warpgroup", ir::Unit::Warpgroup},
                                                              {"cta", ir::Unit::Cta},
                                                              {"cluster", ir::Unit::Cluster}};
  const std::string word = WW_TRY(as_text(in, scope, "`scope`"));
  for (const auto& [name, unit] : kUnits)
    if (name == word) return unit;
  return fail_at(scope.span, DiagKind::BadArgument,
                 "scope \"{}\", expected \"thread\", \"warp\", \"warpgroup\", \"cta\" or "
                 "\"cluster\"",
                 word);
}

// The parameters of ours that theirs are, where the names differ.
std::string_view our_name(ir::TileOp op, std::string_view theirs) {
  if (theirs == "lhs") return "a";
  if (theirs == "rhs") return "b";
  if (op != ir::TileOp::Fma) return theirs;
  return theirs == "src" ? "a" : theirs == "scale" ? "b" : theirs == "bias" ? "c" : theirs;
}

// A value that is as good as none.
bool is_absent(std::string_view name, const Value& value) {
  if (value.is(Kind::None)) return true;
  if (value.is(Kind::Str) && text_of(value).empty()) return true;
  const bool is_optional = name == "predicate" || name == "prefetch_size" || name == "vec_bits";
  const Wide absent = name == "vec_bits" ? 0 : -1;
  return is_optional && value.is(Kind::Int) && value.integer == absent;
}

Result<std::string> forced_width(Context& in, const Given& bits) {
  const std::int64_t width = WW_TRY(as_integer(in, bits, "`vec_bits`"));
  if (width == 8 || width == 16 || width == 32 || width == 64 || width == 128 || width == 256)
    return fmt::format("vec_{}b", width);
  return fail_at(bits.span, DiagKind::BadArgument,
                 "`vec_bits` is {}, expected 8, 16, 32, 64, 128 or 256", width);
}

Result<Value> run(Context& in, Args& a) {
  const Instruction& instruction = instruction_of(*a.row);
  TilePath path{ir::Unit::Thread, instruction.op};
  std::string dispatch(instruction.dispatch);
  const Signature& signature = *signature_of(*a.row);
  CallArgs args = CallArgs::at(a.call);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::string_view name = signature.names[i];
    if (!a.has(i) || is_absent(name, a[i])) continue;
    if (name == "scope") {
      path.scope = WW_TRY(unit_of(in, a[i]));
    } else if (name == "vec_bits") {
      dispatch = WW_TRY(forced_width(in, a[i]));
    } else {
      std::string ours(our_name(instruction.op, name));
      // A number is not moved, it fills.
      const bool is_region = a[i].is(Kind::Region) || a[i].is(Kind::Buffer);
      if (instruction.name == "T.cuda.tile.mov" && name == "src" && !is_region) {
        path.op = ir::TileOp::Fill;
        ours = "value";
      }
      args.named.push_back({a[i], std::move(ours), a[i].span});
    }
  }
  if (!dispatch.empty())
    args.named.push_back({{in.heap.str(dispatch), a.call}, "dispatch", a.call});
  return call_tile(in, path, args);
}

constexpr auto kRows = [] {
  std::array<BuiltinRow, std::size(kInstructions)> out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {kInstructions[i].name, kInstructions[i].signature, run, true};
  return out;
}();

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::instructions_api
