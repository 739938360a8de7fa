// SPDX-License-Identifier: Apache-2.0
// Functions of intrinsics.def.
#include "emit/cuda/calls.h"

#include <algorithm>
#include <bit>

#include "emit/cuda/atomics.h"
#include "emit/cuda/exchange.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/prints.h"
#include "emit/cuda/types.h"
#include "isa/check.h"

namespace ww::emit::cuda {
namespace {

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
      return {text_of(c, e.args[0]) == "warp" ? "__syncwarp()" : "__syncthreads()"};
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
  const std::string name = text_of(c, e.args[0]);
  const std::string source = text_of(c, e.args[1]);
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

std::string text_of(const Context& c, ExprId id) {
  return c.f[id].op == ExprOp::TextImm ? c.f.texts[c.f[id].text] : "";
}

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
