// SPDX-License-Identifier: Apache-2.0
// Atomic operations.
#include "emit/cuda/atomics.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/types.h"

namespace ww::emit::cuda {
namespace {

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

// What CUDA has no function for is a loop that tries again until no other thread was faster.
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

}  // namespace

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

}  // namespace ww::emit::cuda
