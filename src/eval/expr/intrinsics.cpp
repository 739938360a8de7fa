// SPDX-License-Identifier: Apache-2.0
#include "eval/expr/intrinsics.h"

#include "eval/cta/report.h"
#include "eval/expr/exchange.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::Intrinsic;

Word combine_atomic(Intrinsic callee, num::DType type, Word old, Word value) {
  const auto with = [&](ir::ExprOp op) {
    Word out = 0;
    binary(op, type, {&old, 1}, {&value, 1}, {&out, 1});
    return out;
  };
  switch (callee) {
    case Intrinsic::AtomicAdd:
      return with(ir::ExprOp::Add);
    case Intrinsic::AtomicMin:
      return with(ir::ExprOp::Min);
    case Intrinsic::AtomicMax:
      return with(ir::ExprOp::Max);
    case Intrinsic::AtomicAnd:
      return old & value;
    case Intrinsic::AtomicOr:
      return old | value;
    case Intrinsic::AtomicXor:
      return old ^ value;
    default:
      return value;
  }
}

Words call_pure(Cta& cta, const Expr& expr, Threads ts) {
  // Who uses a map looks at the call itself.
  if (expr.callee == Intrinsic::TensorMap) return evaluate(cta, expr.args[0], ts);
  std::vector<Words> args;
  for (const ir::ExprId arg : expr.args) args.push_back(evaluate(cta, arg, ts));
  const num::DType type = cta.type_of(expr.args[0]);
  Words out(cta.run.pool, args[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    Word in[3] = {args[0][i], args.size() > 1 ? args[1][i % args[1].size()] : 0,
                  args.size() > 2 ? args[2][i % args[2].size()] : 0};
    switch (expr.callee) {
      case Intrinsic::PointerOffset:
      case Intrinsic::ByteOffset: {
        const int bits = expr.callee == Intrinsic::ByteOffset ? 8 : storage_bits(type);
        out[i] = in[0] + static_cast<Word>(as_int(cta.type_of(expr.args[1]), in[1]) * bits / 8);
        break;
      }
      case Intrinsic::CvtaToShared: {
        const Address at = pointee(cta, in[0]);
        const bool is_shared = at.exists() && ir::is_shared(cta.launch.root(at.root).scope);
        out[i] = is_shared ? window_address(cta, at) : 0;
        break;
      }
      case Intrinsic::TmemAddr:
        out[i] = (((in[0] >> 16) + in[1]) & 0xffff) << 16 | ((in[0] + in[2]) & 0xffff);
        break;
      default:
        out[i] = pure_call(expr.callee, type, std::span<const Word>(in).first(args.size()));
    }
  }
  return out;
}

Words load_pointer(Cta& cta, const Expr& expr, Threads ts) {
  const Words pointers = evaluate(cta, expr.args[0], ts);
  const int bits = storage_bits(expr.type.dtype);
  const std::size_t n = ts.size();
  Words out(cta.run.pool, n * expr.type.lanes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Thread t = ts[i % n];
    const Address at = pointee(cta, pointers[i % n]) + static_cast<std::int64_t>(i / n) * bits;
    out[i] = read_defined(cta, element_at(at, t), bits, access_of(cta, t));
  }
  return out;
}

Words call_atomic(Cta& cta, const Expr& expr, Threads ts) {
  const Words pointers = evaluate(cta, expr.args[0], ts);
  const Words first = evaluate(cta, expr.args[1], ts);
  const bool is_cas = expr.callee == Intrinsic::AtomicCas;
  const Words second = is_cas ? evaluate(cta, expr.args[2], ts) : constant(cta, 0, ts.size());
  const num::DType type = cta.type_of(expr.args[1]);
  const int bits = storage_bits(type);
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Element element = element_at(pointee(cta, pointers[i]), ts[i]);
    out[i] = 0;
    if (!is_reachable(cta, element, bits)) continue;
    Storage& storage = storage_of(cta, element);
    const std::int64_t bit = bit_of(cta, element);
    if (storage.undefined(bit, bits) != 0 && expr.callee != Intrinsic::AtomicExch)
      report_undefined(cta, element, thread_agent(ts[i]));
    out[i] = storage.value(bit, bits);
    const Word next = is_cas ? (out[i] == first[i] ? second[i] : out[i])
                             : combine_atomic(expr.callee, type, out[i], first[i]);
    write(cta, element, bits, {next, 0}, access_of(cta, ts[i], true));
  }
  return out;
}

bool is_promise(Intrinsic callee) {
  return callee == Intrinsic::Uniform || callee == Intrinsic::WarpUniform;
}

// A loop that goes round more often is checked up to here.
constexpr std::size_t kMaxPromised = std::size_t{1} << 20;

// The n-th value of a thread is the n-th value of all threads of the CTA, or the warp, that come by
// n times.
Words promised(Cta& cta, const Expr& expr, Threads ts) {
  Words out = evaluate(cta, expr.args[0], ts);
  const num::DType type = cta.type_of(expr.args[0]);
  const ir::StmtId stmt = cta.launch.steps[cta.step].stmt;
  const bool is_of_warp = expr.callee == Intrinsic::WarpUniform;
  // A primitive asks for its operands as often as it likes, but all of its unit at once.
  std::map<Thread, Promise> once;
  const bool is_operand = stmt.valid() && cta.f[stmt].kind == ir::StmtKind::Tile;
  std::map<Thread, Promise>& promises = is_operand ? once : cta.promises[{cta.step, &expr}];
  for (std::size_t i = 0; i < ts.size(); ++i) {
    Promise& promise = promises[static_cast<Thread>(is_of_warp ? ts[i] / 32 : 0)];
    promise.times.resize(cta.thread_count());
    const std::size_t time = promise.times[ts[i]]++;
    if (time >= kMaxPromised) continue;
    if (time >= promise.values.size()) promise.values.push_back({out[i], ts[i]});
    const Promise::Value& wanted = promise.values[time];
    if (out[i] == wanted.word) continue;
    if (Finding* found = finding(cta, Check::Operand); found != nullptr)
      found->text = fmt::format(
          "`T.{}` is promised one value in {}{}, and gets {} in {}, {} in {}",
          ir::facts_of(expr.callee).name, is_of_warp ? fmt::format("warp {} of ", ts[i] / 32) : "",
          cta_text(cta), value_text(type, wanted.word), thread_text(wanted.first),
          value_text(type, out[i]), thread_text(ts[i]));
  }
  return out;
}

void copy_bytes(Cta& cta, const Expr& expr, Threads ts) {
  const Words to = evaluate(cta, expr.args[0], ts);
  const Words from = evaluate(cta, expr.args[1], ts);
  const auto bytes = static_cast<std::int64_t>(evaluate(cta, expr.args[2], ts)[0]);
  // As wide as the count allows: fewer pieces, and whole granules.
  const int bits = bytes % 8 == 0 ? 64 : bytes % 4 == 0 ? 32 : bytes % 2 == 0 ? 16 : 8;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    std::vector<Content> pieces;
    const Access by = access_of(cta, ts[i]);
    for (std::int64_t at = 0; at < bytes * 8; at += bits)
      pieces.push_back(read(cta, element_at(pointee(cta, from[i]) + at, ts[i]), bits, by));
    Address at = pointee(cta, to[i]);
    for (const Content& piece : pieces) {
      write(cta, element_at(at, ts[i]), bits, piece, by);
      at = at + bits;
    }
  }
}

}  // namespace

Words call_intrinsic(Cta& cta, const Expr& expr, Threads ts) {
  const Intrinsic callee = expr.callee;
  switch (ir::facts_of(callee).effect) {
    case ir::Effect::Pure:
      return is_promise(callee) ? promised(cta, expr, ts) : call_pure(cta, expr, ts);
    case ir::Effect::Exchange:
      return call_exchange(cta, expr, ts);
    case ir::Effect::Barrier:
      if (callee == Intrinsic::CtaReduce) return cta_reduce(cta, expr, ts);
      return constant(cta, 0, ts.size());
    default:
      break;
  }
  if (callee == Intrinsic::Ldg) return load_pointer(cta, expr, ts);
  if (callee == Intrinsic::CopyBytes)
    copy_bytes(cta, expr, ts);
  else if (callee == Intrinsic::Printf)
    print_text(cta, expr, ts);
  else if (callee == Intrinsic::FuncCall)
    stop(cta, DiagKind::NotEvaluated, "`T.cuda.func_call` is not evaluated");
  else
    return call_atomic(cta, expr, ts);
  return constant(cta, 0, ts.size());
}

}  // namespace ww::eval
