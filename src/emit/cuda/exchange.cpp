// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp and threads of a CTA: shuffles, votes, reductions.
#include "emit/cuda/exchange.h"

#include <bit>

#include "emit/cuda/calls.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/types.h"
#include "ir/engine_fallback.h"

namespace ww::emit::cuda {
namespace {

using target::Feature;

ExprOp reduction_of(std::string_view name) {
  if (name == "max") return ExprOp::Max;
  return name == "min" ? ExprOp::Min : ExprOp::Add;
}

std::string warp_reduction(Context& c, ExprOp op, DType dtype) {
  const std::string name =
      fmt::format("tvm_builtin_warp_reduce_{}_{}", op == ExprOp::Add ? "sum" : ir::spelling_of(op),
                  num::name_of(dtype));
  const Text other =
      c.numbers.shuffle("__shfl_xor_sync", dtype, "0xffffffffu", {"value"}, "by, 32");
  c.helpers.add(name, fmt::format("// Lanes at distance width/2, …, 2, 1 combine what they have.\n"
                                  "__forceinline__ __device__ {0} {1}({0} value, int width) {{\n"
                                  "  for (int by = width / 2; by > 0; by /= 2) {{\n"
                                  "    const {0} other = {2};\n"
                                  "    value = {3};\n"
                                  "  }}\n"
                                  "  return value;\n"
                                  "}}\n",
                                  value_type(dtype), name, other.text,
                                  c.numbers.binary(op, dtype, {"value"}, {"other"}).text));
  return name;
}

// Made before the helper that calls it is printed: names are in order, "cta" before "warp", so the
// warps' function is declared there.
std::string cta_reduction(Context& c, ExprOp op, DType dtype, std::int64_t warps) {
  const std::string warp = warp_reduction(c, op, dtype);
  const std::string name =
      fmt::format("tvm_builtin_cta_reduce_{}_{}_{}",
                  op == ExprOp::Add ? "sum" : ir::spelling_of(op), num::name_of(dtype), warps);
  const bool is_tree = std::has_single_bit(static_cast<std::uint64_t>(warps));
  const Text sum = c.numbers.binary(op, dtype, {"parts[w]"}, {"parts[w + by]"});
  const std::string combine =
      is_tree ? fmt::format(
                    "  for (int by = {} / 2; by > 0; by /= 2)\n"
                    "    for (int w = 0; w < by; ++w) parts[w] = {};\n",
                    warps, sum.text)
              : fmt::format("  for (int w = 0, by = 1; by < {}; ++by) parts[w] = {};\n", warps,
                            sum.text);
  c.helpers.add(
      name, fmt::format(
                "__forceinline__ __device__ {0} {1}({0} value, int width);\n"
                "// Warps combine their lanes, then all of the CTA what the warps have.\n"
                "__forceinline__ __device__ {0} {2}({0} value, {3}* scratch) {{\n"
                "  const int thread =\n"
                "      int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));\n"
                "  value = {1}(value, 32);\n"
                "  __syncthreads();\n"
                "  if (thread % 32 == 0) scratch[thread / 32] = value;\n"
                "  __syncthreads();\n"
                "  {0} parts[{4}];\n"
                "  for (int w = 0; w < {4}; ++w) parts[w] = scratch[w]{5};\n"
                "{6}"
                "  return parts[0];\n"
                "}}\n",
                value_type(dtype), warp, name, memory_type(dtype), warps,
                dtype == DType::Bool ? " != 0" : "", combine));
  return name;
}

}  // namespace

Text exchange(Context& c, const Expr& e, const Lane* at) {
  const auto with = [&](std::string_view function) {
    return Text{fmt::format("{}({}, {})", function, expr(c, e.args[0]), expr(c, e.args[1]))};
  };
  switch (e.callee) {
    case Intrinsic::ActiveMask:
      return {"__activemask()"};
    case Intrinsic::Ballot:
      return with("__ballot_sync");
    case Intrinsic::AnySync:
      return {with("__any_sync").text + " != 0", kEqual};
    case Intrinsic::AllSync:
      return {with("__all_sync").text + " != 0", kEqual};
    case Intrinsic::ElectSync:
      if (ir::allows_engine_fallback(c.f) && ir::needs_engine_fallback(c.options.target))
        return {
            "uint32_t((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32 "
            "== 0)"};
      if (!check_feature(c, Feature::Sm90, "`T.cuda.elect_sync`", e.span)) return {"0u"};
      return {fmt::format("{}()", c.helpers.use("tvm_builtin_elect_sync"))};
    default:
      break;
  }
  const std::string_view name = e.callee == Intrinsic::Shfl       ? "__shfl_sync"
                                : e.callee == Intrinsic::ShflUp   ? "__shfl_up_sync"
                                : e.callee == Intrinsic::ShflDown ? "__shfl_down_sync"
                                                                  : "__shfl_xor_sync";
  if (!check_number(c, e.type.dtype, e.span)) return {"0"};
  // Up and down take an unsigned amount, and nvcc warns of a constant below zero there.
  const bool is_delta = e.callee == Intrinsic::ShflUp || e.callee == Intrinsic::ShflDown;
  const bool is_below = ir::const_int(c.f, e.args[2]).value_or(0) < 0;
  const std::string amount = expr(c, e.args[2]);
  const std::string by = is_delta && is_below ? fmt::format("unsigned({})", amount) : amount;
  return c.numbers.shuffle(name, e.type.dtype, expr(c, e.args[0]), operand(c, e.args[1], at),
                           fmt::format("{}, {}", by, expr(c, e.args[3])));
}

Text reduction(Context& c, const Expr& e) {
  const ExprOp op = reduction_of(text_of(c, e.args[1]));
  const DType dtype = e.type.dtype;
  if (!check_number(c, dtype, e.span) || e.type.lanes != 1)
    return {refuse(c, e.span, "a reduction of vectors")};
  const std::string warp = warp_reduction(c, op, dtype);
  const std::optional<std::int64_t> count = ir::const_int(c.f, e.args[2]);
  if (e.callee == Intrinsic::WarpReduce)
    return {fmt::format("{}({}, {})", warp, expr(c, e.args[0]), expr(c, e.args[2]))};
  if (!count || *count < 1 || *count > 32)
    return {refuse(c, e.span, "`T.cuda.cta_reduce` over a number of warps that is not constant")};
  return {fmt::format("{}({}, {})", cta_reduction(c, op, dtype, *count), expr(c, e.args[0]),
                      pointer_as(c, e.args[3], ir::Type::pointer(dtype)))};
}

}  // namespace ww::emit::cuda
