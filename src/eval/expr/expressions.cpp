// SPDX-License-Identifier: Apache-2.0
#include "eval/expr/expressions.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string_view>

#include "base/wide.h"
#include "eval/cta/cta.h"
#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/sync/barriers.h"
#include "ir/print/print.h"
#include "ir/signatures.h"
#include "ir/simplify/fold.h"

namespace ww::eval {
namespace {

// --- overflow ------------------------------------------------------------------------------------
//
// Index arithmetic that leaves its type (ir/indices.h), found with the numbers that did it.

Wide whole_number(DType type, Word bits) {
  return num::kind_of(type) == num::DTypeKind::Uint ? Wide{bits} : Wide{as_int(type, bits)};
}

bool fits(DType type, Wide number) {
  return whole_number(type, from_int(type, static_cast<std::int64_t>(number))) == number;
}

std::string bits_text(DType type, Word bits) { return ir::int_text(type, as_int(type, bits)); }

// The result as a whole number; a ramp is what its last lane is.
Wide result_of(const Expr& expr, Wide a, Wide b) {
  switch (expr.op) {
    case ExprOp::Add:
      return a + b;
    case ExprOp::Sub:
    case ExprOp::Neg:
      return a - b;
    case ExprOp::Mul:
      return a * b;
    case ExprOp::Ramp:
      return a + b * (expr.type.lanes - 1);
    default: {  // a << b: of what is shifted out, only 0 is not missed
      constexpr int kMax = 63;
      const bool is_far = b < 0 || b > kMax;
      return a * (Wide{1} << (is_far ? kMax : static_cast<int>(b)));
    }
  }
}

std::string operation_text(const Expr& expr, Word a, Word b) {
  const DType type = expr.type.dtype;
  switch (expr.op) {
    case ExprOp::Neg:
      return fmt::format("-({})", bits_text(type, b));
    case ExprOp::Ramp:
      return fmt::format("{} + {} * {}", bits_text(type, a), bits_text(type, b),
                         expr.type.lanes - 1);
    default:
      return fmt::format("{} {} {}", bits_text(type, a), ir::spelling_of(expr.op),
                         bits_text(type, b));
  }
}

// `numbers` are what does not fit into `type`.
void report_overflow(Cta& cta, ExprId id, Thread t, DType type, const std::string& numbers) {
  Finding* found = finding(cta, Check::Overflow);
  if (found == nullptr) return;
  if (cta.f[id].span.known) found->span = cta.f[id].span;
  found->text = fmt::format("`{}` overflows in {} of {}: {} is not in `{}`", ir::print(cta.f, id),
                            thread_text(t), cta_text(cta), numbers, num::name_of(type));
}

// The operands of an operator: `b` alone for a negation, first and stride for a ramp.
void check_overflow(Cta& cta, ExprId id, const Words& a, const Words& b, Threads ts) {
  const Expr& expr = cta.f[id];
  const DType type = expr.type.dtype;
  if (expr.op == ExprOp::Broadcast) return;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!fits(type, result_of(expr, whole_number(type, a[i]), whole_number(type, b[i]))))
      return report_overflow(cta, id, ts[i % ts.size()], type, operation_text(expr, a[i], b[i]));
}

// A bound that is converted must be the same number afterwards.
void check_cast(Cta& cta, ExprId id, const Words& values, Threads ts) {
  const DType from = cta.type_of(cta.f[id].args[0]);
  const DType to = cta.f[id].type.dtype;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!fits(to, whole_number(from, values[i])))
      return report_overflow(cta, cta.f[id].args[0], ts[i % ts.size()], to,
                             bits_text(from, values[i]));
}

// --- texts ---------------------------------------------------------------------------------------

// One conversion of printf. The length letters are ours: values are 64 bits wide.
std::string format_one(const ir::PrintPart& part, num::DType type, Word value) {
  char out[512];
  if (ir::takes_float(part.letter)) {
    const std::string spec = part.text + part.letter;
    std::snprintf(out, sizeof out, spec.c_str(), as_real(type, value));  // NOLINT
  } else if (part.letter == 'c') {
    return std::string(1, static_cast<char>(value));
  } else {
    const std::string spec = part.text + "ll" + (part.letter == 'p' ? 'x' : part.letter);
    std::snprintf(out, sizeof out, spec.c_str(),
                  static_cast<long long>(as_int(type, value)));  // NOLINT
  }
  return out;
}

void print_text(Cta& cta, const ir::Expr& expr, Threads ts) {
  const std::vector<ir::PrintPart> parts = ir::print_parts(cta.f, expr);
  std::vector<Words> args;
  for (const ir::PrintPart& part : parts)
    args.push_back(part.letter == 0 ? constant(cta, 0, 0) : evaluate(cta, part.arg, ts));
  for (std::size_t i = 0; i < ts.size(); ++i)
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (parts[k].letter == 0) {
        cta.run.printed += parts[k].text;
        continue;
      }
      const ir::Type type = cta.f[parts[k].arg].type;
      cta.run.printed +=
          format_one(parts[k], type.is_pointer() ? num::DType::Uint64 : type.dtype, args[k][i]);
    }
}

// --- lanes and threads ---------------------------------------------------------------------------
//
// Lanes of a warp exchange values. The scheduler has brought the lanes of the mask together before.

constexpr auto kLanes = static_cast<std::int64_t>(kWarp);

// Only the low five bits of amount and width count, as in hardware. A lane whose source is not in
// its segment reads its own value; the butterfly may read from segments before its own.
std::int64_t source_lane(Intrinsic callee, std::int64_t lane, Word by, Word width) {
  constexpr std::int64_t kLow = kLanes - 1;
  const std::int64_t amount = static_cast<std::int64_t>(by) & kLow;
  const std::int64_t outer = -static_cast<std::int64_t>(width & 31) & kLow;  // bits of the segment
  const std::int64_t first = lane & outer;
  const std::int64_t last = first | (kLow & ~outer);
  switch (callee) {
    case Intrinsic::Shfl:
      return first | (amount & ~outer);
    case Intrinsic::ShflUp:
      return lane - amount < first ? lane : lane - amount;
    case Intrinsic::ShflDown:
      return lane + amount > last ? lane : lane + amount;
    default:
      return (lane ^ amount) > last ? lane : lane ^ amount;
  }
}

ir::ExprOp reduction_of(const Cta& cta, ir::ExprId name) {
  const std::string_view text = ir::literal_text(cta.f, name);
  if (text == "max") return ir::ExprOp::Max;
  return text == "min" ? ir::ExprOp::Min : ir::ExprOp::Add;
}

// Number of each thread among `ts`, or -1.
std::vector<std::int32_t> numbers_of(Threads ts, std::size_t threads) {
  std::vector<std::int32_t> numbers(threads + kLanes, -1);
  for (std::size_t i = 0; i < ts.size(); ++i) numbers[ts[i]] = static_cast<std::int32_t>(i);
  return numbers;
}

Words shuffle_lanes(Cta& cta, const Expr& expr, Threads ts) {
  const Words values = evaluate(cta, expr.args[1], ts);
  const Words by = evaluate(cta, expr.args[2], ts);
  const Words widths = evaluate(cta, expr.args[3], ts);
  const std::vector<std::int32_t> numbers = numbers_of(ts, cta.thread_count());
  const std::size_t n = ts.size();
  Words out(cta.run.pool, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Thread t = ts[i % n];
    const std::int64_t from = source_lane(expr.callee, t % kLanes, by[i % n], widths[i % n]);
    const std::int32_t number = numbers[static_cast<std::size_t>(t / kLanes * kLanes + from)];
    if (number < 0) {
      describe(finding(cta, Check::Barrier),
               "{} of {} reads from lane {} of its warp, which does not take part", thread_text(t),
               cta_text(cta), from);
    }
    out[i] = values[i / n * n + (number < 0 ? i % n : static_cast<std::size_t>(number))];
  }
  return out;
}

Words vote(Cta& cta, const Expr& expr, Threads ts) {
  const bool is_active = expr.callee == Intrinsic::ActiveMask;
  const Words holds = is_active ? constant(cta, 1, ts.size()) : evaluate(cta, expr.args[1], ts);
  std::vector<Word> yes(cta.thread_count() / kLanes + 1, 0);
  std::vector<Word> here(yes.size(), 0);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto warp = static_cast<std::size_t>(ts[i] / kLanes);
    here[warp] |= Word{1} << (ts[i] % kLanes);
    if (holds[i] != 0) yes[warp] |= Word{1} << (ts[i] % kLanes);
  }
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto warp = static_cast<std::size_t>(ts[i] / kLanes);
    if (expr.callee == Intrinsic::AnySync)
      out[i] = yes[warp] != 0 ? 1 : 0;
    else if (expr.callee == Intrinsic::AllSync)
      out[i] = yes[warp] == here[warp] ? 1 : 0;
    else
      out[i] = yes[warp];
  }
  return out;
}

// The tree that xor shuffles make, so that sums of floats are rounded alike.
Words reduce_lanes(Cta& cta, ir::ExprOp op, num::DType type, const Words& values, Threads ts,
                   std::int64_t width) {
  const std::vector<std::int32_t> numbers = numbers_of(ts, cta.thread_count());
  Words out(cta.run.pool, values.size());
  std::copy(values.begin(), values.end(), out.begin());
  for (std::int64_t by = width / 2; by > 0; by /= 2) {
    Words other(cta.run.pool, values.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const std::int32_t number = numbers[static_cast<std::size_t>(ts[i] ^ by)];
      other[i] = out[number < 0 ? i : static_cast<std::size_t>(number)];
    }
    binary(op, type, out, other, out);
  }
  return out;
}

Words warp_reduce(Cta& cta, const Expr& expr, Threads ts) {
  const ir::ExprOp op = reduction_of(cta, expr.args[1]);
  const auto width = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(evaluate(cta, expr.args[2], ts)[0]), 1, kLanes);
  return reduce_lanes(cta, op, expr.type.dtype, evaluate(cta, expr.args[0], ts), ts, width);
}

// Shuffles, votes, elections, reductions of warps.
Words call_exchange(Cta& cta, const Expr& expr, Threads ts) {
  switch (expr.callee) {
    case Intrinsic::ActiveMask:
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
      return vote(cta, expr, ts);
    case Intrinsic::ElectSync:
      return elect(cta, ts);
    case Intrinsic::WarpReduce:
      return warp_reduce(cta, expr, ts);
    default:
      return shuffle_lanes(cta, expr, ts);
  }
}

Words cta_reduce(Cta& cta, const Expr& expr, Threads ts) {
  const ir::ExprOp op = reduction_of(cta, expr.args[1]);
  const num::DType type = expr.type.dtype;
  const int bits = storage_bits(type);
  const Words scratch = evaluate(cta, expr.args[3], ts);
  const Words lanes = reduce_lanes(cta, op, type, evaluate(cta, expr.args[0], ts), ts, kLanes);
  std::vector<Word> warps;
  meet(cta, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (i != 0 && ts[i - 1] / kLanes == ts[i] / kLanes) continue;
    const Address at = pointee(cta, scratch[i]) + ts[i] / kLanes * bits;
    write(cta, element_at(at, ts[i]), bits, {lanes[i], 0}, access_of(cta, ts[i]));
    warps.push_back(lanes[i]);
  }
  meet(cta, ts);
  const bool is_tree = std::has_single_bit(warps.size());
  for (std::size_t by = is_tree ? warps.size() / 2 : 1; by > 0 && by < warps.size();
       by = is_tree ? by / 2 : by + 1) {
    const std::size_t count = is_tree ? by : 1;
    for (std::size_t w = 0; w < count; ++w)
      binary(op, type, {&warps[w], 1}, {&warps[w + by], 1}, {&warps[w], 1});
  }
  return constant(cta, warps.front(), ts.size());
}

// --- functions -----------------------------------------------------------------------------------
//
// Calls of intrinsics, other than barriers (sync/barriers.h).

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
    describe(finding(cta, Check::Operand),
             "`T.{}` is promised one value in {}{}, and gets {} in {}, {} in {}",
             ir::facts_of(expr.callee).name,
             is_of_warp ? fmt::format("warp {} of ", ts[i] / 32) : "", cta_text(cta),
             value_text(type, wanted.word), thread_text(wanted.first), value_text(type, out[i]),
             thread_text(ts[i]));
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

// The threads where a condition has a given value, and their numbers among all.
struct ThreadSubset {
  std::vector<Thread> threads;
  std::vector<std::size_t> numbers;
};

ThreadSubset subset_where(Threads ts, const Words& condition, bool wanted) {
  ThreadSubset part;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if ((condition[i] != 0) != wanted) continue;
    part.threads.push_back(ts[i]);
    part.numbers.push_back(i);
  }
  return part;
}

Words variable_value(Cta& cta, const Expr& expr, Threads ts) {
  const std::size_t n = ts.size();
  Words out(cta.run.pool, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes; ++l) {
    const Word* row = cta.vars.row(expr.var, l);
    for (std::size_t i = 0; i < n; ++i) out[l * n + i] = row[ts[i]];
  }
  return out;
}

Words unary_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words out = evaluate(cta, expr.args[0], ts);
  if (cta.launch.may_overflow[id.index])
    check_overflow(cta, id, constant(cta, 0, out.size()), out, ts);
  unary(expr.op, expr.type.dtype, out, out);
  return out;
}

Words cast_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words out = evaluate(cta, expr.args[0], ts);
  const num::DType from = cta.type_of(expr.args[0]);
  if (cta.launch.may_overflow[id.index]) check_cast(cta, id, out, ts);
  for (Word& word : out) word = convert(from, expr.type.dtype, word);
  return out;
}

Words binary_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  Words a = evaluate(cta, expr.args[0], ts);
  const ir::Type type = cta.f[expr.args[0]].type;
  const num::DType dtype = type.is_pointer() ? num::DType::Uint64 : type.dtype;
  const Expr& right = cta.f[expr.args[1]];
  const bool may_overflow = cta.launch.may_overflow[id.index];
  if (right.op == ExprOp::IntImm && !may_overflow) {
    const Word number = from_int(right.type.dtype, right.integer);
    binary(expr.op, dtype, a, {&number, 1}, a);
    return a;
  }
  const Words b = evaluate(cta, expr.args[1], ts);
  if (may_overflow) check_overflow(cta, id, a, b, ts);
  binary(expr.op, dtype, a, b, a);
  return a;
}

// The right side is evaluated only where the left one does not decide.
Words logic_value(Cta& cta, const Expr& expr, Threads ts) {
  Words out = evaluate(cta, expr.args[0], ts);
  const ThreadSubset rest = subset_where(ts, out, expr.op == ExprOp::And);
  if (rest.threads.empty()) return out;
  const Words right = evaluate(cta, expr.args[1], rest.threads);
  for (std::size_t i = 0; i < rest.numbers.size(); ++i) out[rest.numbers[i]] = right[i];
  return out;
}

Words choice_value(Cta& cta, const Expr& expr, Threads ts) {
  const Words condition = evaluate(cta, expr.args[0], ts);
  const std::size_t lanes = expr.type.lanes;
  if (expr.op == ExprOp::Select) {
    Words yes = evaluate(cta, expr.args[1], ts);
    const Words no = evaluate(cta, expr.args[2], ts);
    const bool per_lane = condition.size() == yes.size();
    for (std::size_t i = 0; i < yes.size(); ++i)
      if (condition[per_lane ? i : i % ts.size()] == 0) yes[i] = no[i];
    return yes;
  }
  Words out(cta.run.pool, ts.size() * lanes);
  for (const bool wanted : {true, false}) {
    const ThreadSubset part = subset_where(ts, condition, wanted);
    if (part.threads.empty()) continue;
    const Words values = evaluate(cta, expr.args[wanted ? 1 : 2], part.threads);
    const std::size_t n = part.numbers.size();
    for (std::size_t l = 0; l < lanes; ++l)
      for (std::size_t i = 0; i < n; ++i) out[l * ts.size() + part.numbers[i]] = values[l * n + i];
  }
  return out;
}

Words load_value(Cta& cta, const Expr& expr, Threads ts) {
  const BufferInfo& info = cta.launch.info(expr.buffer);
  const Located elements(cta, info, expr.args, expr.type.lanes, ts);
  Words out(cta.run.pool, elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element element = elements[i];
    out[i] = element.at.exists()
                 ? read_defined(cta, element, info.bits, access_of(cta, element.owner))
                 : 0;
  }
  return out;
}

Words address_value(Cta& cta, const Expr& expr, Threads ts) {
  const BufferInfo& info = cta.launch.info(expr.buffer);
  if (expr.op == ExprOp::BufferData) {
    // The storage's start: offsets belong to the buffer, not to its data.
    if (info.root == kNoRoot && info.ir->pointer.valid())
      return evaluate(cta, info.ir->pointer, ts);
    return constant(cta, pointer_to({info.root, 0}), ts.size());
  }
  const Located elements(cta, info, expr.args, 1, ts);
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) out[i] = pointer_to(elements[i].at);
  return out;
}

Words ramp_value(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  const Words first = evaluate(cta, expr.args[0], ts);
  const Words stride =
      expr.op == ExprOp::Ramp ? evaluate(cta, expr.args[1], ts) : constant(cta, 0, ts.size());
  const std::size_t n = ts.size();
  const Word mask = low_mask(num::bits_of(expr.type.dtype));
  if (cta.launch.may_overflow[id.index]) check_overflow(cta, id, first, stride, ts);
  Words out(cta.run.pool, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes; ++l)
    for (std::size_t i = 0; i < n; ++i) out[l * n + i] = (first[i] + l * stride[i]) & mask;
  return out;
}

// The lanes' bits one after the other, cut anew.
Words reinterpreted_value(Cta& cta, const Expr& expr, Threads ts) {
  const Words from = evaluate(cta, expr.args[0], ts);
  const auto width = [](ir::Type type) {
    return static_cast<std::size_t>(type.is_pointer() ? 64 : storage_bits(type.dtype));
  };
  const std::size_t in = width(cta.f[expr.args[0]].type);
  const std::size_t to = width(expr.type);
  const std::size_t step = std::min(in, to);
  const std::size_t n = ts.size();
  Words out = constant(cta, 0, n * expr.type.lanes);
  for (std::size_t bit = 0; bit < expr.type.lanes * to && bit / in * n < from.size(); bit += step)
    for (std::size_t i = 0; i < n; ++i) {
      const Word piece = from[bit / in * n + i] >> (bit % in) & low_mask(static_cast<int>(step));
      out[bit / to * n + i] |= piece << (bit % to);
    }
  return out;
}

// Vectors, then the numbers of the lanes wanted.
Words shuffled_value(Cta& cta, const Expr& expr, Threads ts) {
  const std::size_t n = ts.size();
  const auto vectors = static_cast<std::size_t>(expr.integer);
  std::vector<Word> all;
  for (std::size_t v = 0; v < vectors; ++v) {
    Words more = evaluate(cta, expr.args[v], ts);
    all.insert(all.end(), more.begin(), more.end());
  }
  Words out = constant(cta, 0, n * expr.type.lanes);
  for (std::size_t l = 0; l < expr.type.lanes && vectors + l < expr.args.size(); ++l) {
    const Words index = evaluate(cta, expr.args[vectors + l], ts);
    for (std::size_t i = 0; i < n; ++i)
      if (index[i] * n + i < all.size()) out[l * n + i] = all[index[i] * n + i];
  }
  return out;
}

}  // namespace

Words constant(Cta& cta, Word value, std::size_t size) {
  Words out(cta.run.pool, size);
  std::fill(out.begin(), out.end(), value);
  return out;
}

Words evaluate(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  const std::size_t lanes = expr.type.lanes;
  switch (expr.op) {
    case ExprOp::IntImm:
      return constant(cta, from_int(expr.type.dtype, expr.integer), ts.size() * lanes);
    case ExprOp::FloatImm:
      return constant(cta, from_real(expr.type.dtype, expr.real), ts.size() * lanes);
    case ExprOp::TextImm:
      return constant(cta, 0, ts.size());
    case ExprOp::Var:
      return variable_value(cta, expr, ts);
    case ExprOp::Load:
      return load_value(cta, expr, ts);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return address_value(cta, expr, ts);
    case ExprOp::And:
    case ExprOp::Or:
      if (lanes == 1) return logic_value(cta, expr, ts);
      return binary_value(cta, id, ts);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      return unary_value(cta, id, ts);
    case ExprOp::Cast:
      return cast_value(cta, id, ts);
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return choice_value(cta, expr, ts);
    case ExprOp::Reinterpret:
      return reinterpreted_value(cta, expr, ts);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return ramp_value(cta, id, ts);
    case ExprOp::Shuffle:
      return shuffled_value(cta, expr, ts);
    case ExprOp::Call:
      return call_intrinsic(cta, expr, ts);
    default:
      return binary_value(cta, id, ts);
  }
}

Contents evaluate_copied(Cta& cta, ExprId id, Threads ts) {
  const Expr& expr = cta.f[id];
  if (expr.op != ExprOp::Load) {
    Words value = evaluate(cta, id, ts);
    const std::size_t size = value.size();
    return {std::move(value), constant(cta, 0, size)};
  }
  const BufferInfo& info = cta.launch.info(expr.buffer);
  const Located elements(cta, info, expr.args, expr.type.lanes, ts);
  Contents out{Words(cta.run.pool, elements.size()), Words(cta.run.pool, elements.size())};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element element = elements[i];
    out.set(i, element.at.exists() ? read(cta, element, info.bits, access_of(cta, element.owner))
                                   : Content{});
  }
  return out;
}

Contents empty_contents(Cta& cta, std::size_t size) {
  return {constant(cta, 0, size), constant(cta, 0, size)};
}

void check_last(Cta& cta, const ir::Stmt& loop, Thread t, Word first, std::int64_t trips) {
  const DType type = cta.f[loop.var].type.dtype;
  const bool has_step = loop.args.size() > 2 && loop.args[2].valid();
  const std::int64_t step = has_step ? ir::const_int(cta.f, loop.args[2]).value_or(1) : 1;
  const Wide rounds = std::max<std::int64_t>(trips, 1) - 1;
  if (fits(type, whole_number(type, first) + rounds * step)) return;
  Finding* found = finding(cta, Check::Overflow);
  if (found == nullptr) return;
  found->text = fmt::format("`{}` overflows in {} of {}: {} rounds of {} from {} on leave `{}`",
                            cta.f[loop.var].name, thread_text(t), cta_text(cta), trips, step,
                            bits_text(type, first), num::name_of(type));
}

Words elect(Cta& cta, Threads ts) {
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i] = i == 0 || ts[i - 1] / kLanes != ts[i] / kLanes ? 1 : 0;
  return out;
}

}  // namespace ww::eval
