// SPDX-License-Identifier: Apache-2.0
// Functions of intrinsics.def: the pure ones, shuffles and reductions, atomics, printf.
#include "emit/cuda/calls.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "emit/cuda/context.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/types.h"
#include "ir/engine_fallback.h"
#include "ir/signatures.h"
#include "isa/check.h"

namespace ww::emit::cuda {

// --- atomics -------------------------------------------------------------------------------------
//
// Atomic operations.

namespace {

Text atomic(Context& c, const Expr& expr);

using target::Feature;

struct AtomicRow {
  Intrinsic callee;
  std::string_view name;    // of CUDA's function, behind "atomic"
  ExprOp op = ExprOp::Add;  // that makes the new value, where there is one
};

constexpr std::array kAtomics = {AtomicRow{Intrinsic::AtomicAdd, "Add", ExprOp::Add},
                                 AtomicRow{Intrinsic::AtomicMin, "Min", ExprOp::Min},
                                 AtomicRow{Intrinsic::AtomicMax, "Max", ExprOp::Max},
                                 AtomicRow{Intrinsic::AtomicAnd, "And", ExprOp::BitAnd},
                                 AtomicRow{Intrinsic::AtomicOr, "Or", ExprOp::BitOr},
                                 AtomicRow{Intrinsic::AtomicXor, "Xor", ExprOp::BitXor},
                                 AtomicRow{Intrinsic::AtomicExch, "Exch"},
                                 AtomicRow{Intrinsic::AtomicCas, "CAS"}};

const AtomicRow& row_of(Intrinsic callee) {
  const auto* row = std::ranges::find(kAtomics, callee, &AtomicRow::callee);
  WW_CHECK(row != kAtomics.end(), "`{}` is not atomic", ir::facts_of(callee).name);
  return *row;
}

// The type under which CUDA has the atomic function; "": it has none.
std::string_view atomic_type(Intrinsic callee, DType dtype, bool has_bf16) {
  switch (dtype) {
    case DType::Int32:
      return "int";
    case DType::Uint32:
      return "unsigned int";
    case DType::Int64:
      return callee == Intrinsic::AtomicMin || callee == Intrinsic::AtomicMax
                 ? "long long"
                 : "unsigned long long";
    case DType::Uint64:
      return "unsigned long long";
    case DType::Float32:
      return callee == Intrinsic::AtomicAdd || callee == Intrinsic::AtomicExch ? "float" : "";
    case DType::Float64:
      return callee == Intrinsic::AtomicAdd ? "double" : "";
    case DType::Float16:
      return callee == Intrinsic::AtomicAdd ? "half" : "";
    case DType::Bfloat16:
      return callee == Intrinsic::AtomicAdd && has_bf16 ? "nv_bfloat16" : "";
    default:
      return "";
  }
}

// An operation that CUDA lacks becomes a loop of compare-and-swap.
std::string atomic_loop(Context& c, const Expr& e, DType dtype) {
  const int bits = num::bits_of(dtype);
  const std::string name =
      fmt::format("ww_atomic{}_{}", row_of(e.callee).name, num::name_of(dtype));
  if (bits < 16 || !is_number(dtype))
    return refuse(c, e.span, "`T.{}` of `{}`, which is narrower than an atomic operation",
                  ir::facts_of(e.callee).name, num::name_of(dtype));
  c.helpers.use("ww_bitcast");
  const std::string_view word = bits == 64   ? "unsigned long long"
                                : bits == 32 ? "unsigned int"
                                             : "unsigned short";
  const bool is_cas = e.callee == Intrinsic::AtomicCas;
  const Text old = {fmt::format("ww_bitcast<{}>(seen)", value_type(dtype))};
  const std::string next =
      is_cas ? fmt::format("seen == ww_bitcast<{}>(compare) ? value : {}", word, old.text)
      : e.callee == Intrinsic::AtomicExch
          ? "value"
          : c.numbers.binary(row_of(e.callee).op, dtype, old, {"value"}).text;
  c.helpers.add(
      name, fmt::format("__forceinline__ __device__ {0} {1}({0}* ptr, {2}{0} value) {{\n"
                        "  {3}* bits = reinterpret_cast<{3}*>(ptr);\n"
                        "  {3} seen = atomicCAS(bits, static_cast<{3}>(0), static_cast<{3}>(0));\n"
                        "  while (true) {{\n"
                        "    const {0} next = {4};\n"
                        "    const {3} found = atomicCAS(bits, seen, ww_bitcast<{3}>(next));\n"
                        "    if (found == seen) return ww_bitcast<{0}>(seen);\n"
                        "    seen = found;\n"
                        "  }}\n"
                        "}}\n",
                        value_type(dtype), name,
                        is_cas ? fmt::format("{} compare, ", value_type(dtype)) : "", word, next));
  return name;
}

Text atomic(Context& c, const Expr& e) {
  const DType dtype = c.f[e.args[1]].type.dtype;
  const std::string pointer = pointer_as(c, e.args[0], ir::Type::pointer(dtype));
  const bool has_bf16 = c.options.target.has(Feature::Sm80);
  const std::string_view type = atomic_type(e.callee, dtype, has_bf16);
  std::string values = expr(c, e.args[1]);
  if (e.callee == Intrinsic::AtomicCas) values += fmt::format(", {}", expr(c, e.args[2]));
  if (type.empty()) return {fmt::format("{}({}, {})", atomic_loop(c, e, dtype), pointer, values)};
  const std::string function = fmt::format("atomic{}", row_of(e.callee).name);
  if (num::bits_of(dtype) != 64 || dtype == DType::Float64)
    return {fmt::format("{}({}, {})", function, pointer, values)};
  const auto typed = [&](ExprId id) {
    return fmt::format("static_cast<{}>({})", type, expr(c, id));
  };
  values = typed(e.args[1]);
  if (e.callee == Intrinsic::AtomicCas) values += fmt::format(", {}", typed(e.args[2]));
  return {fmt::format("{}({}(reinterpret_cast<{}*>({}), {}))", value_type(dtype), function, type,
                      pointer, values)};
}

}  // namespace

// --- exchange ------------------------------------------------------------------------------------
//
// Lanes of a warp and threads of a CTA.
//
// Lanes of a warp and threads of a CTA: shuffles, votes, reductions.

namespace {

/// Shuffles, votes, elections.
Text exchange(Context& c, const Expr& expr, const Lane* lane);
/// Of a warp or a CTA.
Text reduction(Context& c, const Expr& expr);

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
  const ExprOp op = reduction_of(ir::literal_text(c.f, e.args[1]));
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

}  // namespace

// --- prints --------------------------------------------------------------------------------------
//
// printf.

namespace {

Text print(Context& c, const Expr& expr);

// An argument of printf as the type that its conversion takes.
std::string printed(Context& c, ExprId arg, char letter) {
  const ir::Type type = c.f[arg].type;
  if (type.is_pointer())
    return fmt::format("reinterpret_cast<unsigned long long>({})", expr(c, arg));
  if (ir::takes_float(letter))
    return c.numbers.cast(type.dtype, DType::Float64, render(c, arg)).text;
  if (letter == 'c') return fmt::format("int({})", expr(c, arg));
  const Text whole =
      type.is_float() ? c.numbers.cast(type.dtype, DType::Int64, render(c, arg)) : render(c, arg);
  return fmt::format("static_cast<long long>({})", whole.text);
}

// Values are 64 bits wide or double, whatever the format says of their length.
Text print(Context& c, const Expr& e) {
  c.helpers.note_printf();
  std::string text, args;
  for (const ir::PrintPart& part : ir::print_parts(c.f, e)) {
    const char letter = part.letter;
    if (letter == 0) {
      text += ir::doubled_percents(part.text);
      continue;
    }
    args += ", " + printed(c, part.arg, letter);
    text += part.text + (ir::takes_float(letter) || letter == 'c' ? "" : "ll") +
            (letter == 'p' ? 'x' : letter);
  }
  return {fmt::format("printf({}{})", quoted(text), args)};
}

using target::Feature;

Text call_pointer(Context& c, const Expr& e) {
  switch (e.callee) {
    case Intrinsic::CvtaToShared:
      return {fmt::format("uint32_t(__cvta_generic_to_shared({}))", expr(c, e.args[0]))};
    case Intrinsic::TmemAddr:
      return {fmt::format("{}({}, {}, {})", c.helpers.use("get_tmem_addr"), expr(c, e.args[0]),
                          expr(c, e.args[1]), expr(c, e.args[2]))};
    case Intrinsic::Ldg: {
      const DType dtype = e.type.dtype;
      const std::string pointer = pointer_as(c, e.args[0], ir::Type::pointer(dtype));
      const bool is_plain =
          dtype == DType::Bool || !is_number(dtype) || is_fp8(dtype) || is_tiny(dtype);
      const Text value = {is_plain ? fmt::format("(*{})", pointer)
                                   : fmt::format("__ldg({})", pointer)};
      return dtype == DType::Bool ? Text{value.text + " != 0", kEqual} : value;
    }
    default:
      return {offset_pointer(c, e)};
  }
}

Text barrier(Context& c, const Expr& e) {
  switch (e.callee) {
    case Intrinsic::StorageSync:
      return {ir::literal_text(c.f, e.args[0]) == "warp" ? "__syncwarp()" : "__syncthreads()"};
    case Intrinsic::CtaSync:
      return {"__syncthreads()"};
    case Intrinsic::WarpSync:
      return {"__syncwarp()"};
    case Intrinsic::ThreadFence:
      return {"__threadfence()"};
    case Intrinsic::WarpgroupSync:
      return {
          fmt::format("{}({})", c.helpers.use("tvm_builtin_warpgroup_sync"), expr(c, e.args[0]))};
    case Intrinsic::ClusterSync:
      check_feature(c, Feature::Sm90, "`T.cuda.cluster_sync`", e.span);
      return {fmt::format("{}()", c.helpers.use("tvm_builtin_cluster_sync"))};
    case Intrinsic::MbarrierWait:
      check_feature(c, Feature::Sm80, "`T.cuda.mbarrier_wait`", e.span);
      return {fmt::format(
          "{}({}, {})",
          c.helpers.use(c.options.target.has(Feature::Sm90) ? "tvm_builtin_mbarrier_wait"
                                                            : "tvm_builtin_mbarrier_poll"),
          expr(c, e.args[0]), expr(c, e.args[1]))};
    default:
      return {refuse(c, e.span, "`T.{}`", ir::facts_of(e.callee).name)};
  }
}

Text copy_bytes(Context& c, const Expr& e) {
  const std::int64_t bits = ir::const_int(c.f, e.args[2]).value_or(0) * 8;
  if (bits < 8 || bits > 256 || !std::has_single_bit(static_cast<std::uint64_t>(bits)))
    return {refuse(c, e.span, "`T.cuda.copy_bytes` of {} bytes, expected 1, 2, 4, 8, 16 or 32",
                   bits / 8)};
  return {fmt::format("{}({}, {})", c.helpers.use(fmt::format("tvm_builtin_copy_{}b", bits)),
                      expr(c, e.args[0]), expr(c, e.args[1]))};
}

Text func_call(Context& c, const Expr& e) {
  const std::string name(ir::literal_text(c.f, e.args[0]));
  const std::string source(ir::literal_text(c.f, e.args[1]));
  const auto known =
      std::ranges::find(c.functions, name, &std::pair<std::string, std::string>::first);
  if (known == c.functions.end()) {
    c.functions.emplace_back(name, source);
  } else if (known->second != source) {
    return {refuse(c, e.span, "`{}` is given two different source texts", name)};
  }
  std::string args;
  for (std::size_t i = 2; i < e.args.size(); ++i)
    args += fmt::format("{}{}", i == 2 ? "" : ", ", expr(c, e.args[i]));
  return {fmt::format("{}({})", name, args)};
}

}  // namespace

bool check_feature(Context& c, Feature feature, std::string_view what, Span span) {
  std::optional<Diag> problem = isa::lacking(what, feature, 0, c.options.target);
  if (!problem) return true;
  refuse(c, std::move(*problem).with_span(span));
  return false;
}

Text call(Context& c, const Expr& e, const Lane* at) {
  switch (e.callee) {
    case Intrinsic::PointerOffset:
    case Intrinsic::ByteOffset:
    case Intrinsic::CvtaToShared:
    case Intrinsic::TmemAddr:
    case Intrinsic::Ldg:
      return call_pointer(c, e);
    case Intrinsic::WarpReduce:
    case Intrinsic::CtaReduce:
      return reduction(c, e);
    case Intrinsic::CopyBytes:
      return copy_bytes(c, e);
    case Intrinsic::Printf:
      return print(c, e);
    case Intrinsic::FuncCall:
      return func_call(c, e);
    default:
      break;
  }
  const ir::Effect effect = ir::facts_of(e.callee).effect;
  if (effect == ir::Effect::Exchange) return exchange(c, e, at);
  if (effect == ir::Effect::Barrier) return barrier(c, e);
  if (effect == ir::Effect::Writes) return atomic(c, e);
  const DType dtype = c.f[e.args[0]].type.dtype;
  if (!check_number(c, dtype, e.span)) return {"0"};
  std::vector<Text> args;
  for (const ExprId arg : e.args) args.push_back(operand(c, arg, at));
  return c.numbers.call(e.callee, dtype, args);
}

}  // namespace ww::emit::cuda
