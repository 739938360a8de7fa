// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp exchange values. The scheduler has brought the lanes of the mask together before.
#include <algorithm>
#include <bit>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::Intrinsic;

constexpr std::int64_t kLanes = 32;

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

ir::ExprOp reduction_of(std::string_view op) {
  if (op == "max") return ir::ExprOp::Max;
  return op == "min" ? ir::ExprOp::Min : ir::ExprOp::Add;
}

// Number of each thread among `ts`, or -1.
std::vector<std::int32_t> numbers_of(Threads ts, std::size_t threads) {
  std::vector<std::int32_t> numbers(threads + kLanes, -1);
  for (std::size_t i = 0; i < ts.size(); ++i) numbers[ts[i]] = static_cast<std::int32_t>(i);
  return numbers;
}

}  // namespace

Words Cta::call_exchange(const Expr& expr, Threads ts) {
  switch (expr.callee) {
    case Intrinsic::ActiveMask:
    case Intrinsic::Ballot:
    case Intrinsic::AnySync:
    case Intrinsic::AllSync:
      return vote(expr, ts);
    case Intrinsic::ElectSync:
      return elect(ts);
    case Intrinsic::WarpReduce:
      return warp_reduce(expr, ts);
    default:
      return shuffle_lanes(expr, ts);
  }
}

Words Cta::shuffle_lanes(const Expr& expr, Threads ts) {
  const Words values = eval(expr.args[1], ts);
  const Words by = eval(expr.args[2], ts);
  const Words widths = eval(expr.args[3], ts);
  const std::vector<std::int32_t> numbers = numbers_of(ts, thread_count());
  const std::size_t n = ts.size();
  Words out(run_.pool, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Thread t = ts[i % n];
    const std::int64_t from = source_lane(expr.callee, t % kLanes, by[i % n], widths[i % n]);
    const std::int32_t number = numbers[static_cast<std::size_t>(t / kLanes * kLanes + from)];
    if (number < 0) {
      if (Finding* found = finding(Check::Barrier); found != nullptr)
        found->text =
            fmt::format("{} of {} reads from lane {} of its warp, which does not take part",
                        thread_text(t), cta_text(), from);
    }
    out[i] = values[i / n * n + (number < 0 ? i % n : static_cast<std::size_t>(number))];
  }
  return out;
}

Words Cta::vote(const Expr& expr, Threads ts) {
  const bool is_active = expr.callee == Intrinsic::ActiveMask;
  const Words holds = is_active ? constant(1, ts.size()) : eval(expr.args[1], ts);
  std::vector<Word> yes(thread_count() / kLanes + 1, 0);
  std::vector<Word> here(yes.size(), 0);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto warp = static_cast<std::size_t>(ts[i] / kLanes);
    here[warp] |= Word{1} << (ts[i] % kLanes);
    if (holds[i] != 0) yes[warp] |= Word{1} << (ts[i] % kLanes);
  }
  Words out(run_.pool, ts.size());
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

// The first lane that is there; hardware may take another.
Words Cta::elect(Threads ts) {
  Words out(run_.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i] = i == 0 || ts[i - 1] / kLanes != ts[i] / kLanes ? 1 : 0;
  return out;
}

// The tree that xor shuffles make, so that sums of floats are rounded alike.
Words Cta::reduce_lanes(std::string_view op, num::DType type, const Words& values, Threads ts,
                        std::int64_t width) {
  const std::vector<std::int32_t> numbers = numbers_of(ts, thread_count());
  Words out(run_.pool, values.size());
  std::copy(values.begin(), values.end(), out.begin());
  for (std::int64_t by = width / 2; by > 0; by /= 2) {
    Words other(run_.pool, values.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const std::int32_t number = numbers[static_cast<std::size_t>(ts[i] ^ by)];
      other[i] = out[number < 0 ? i : static_cast<std::size_t>(number)];
    }
    binary(reduction_of(op), type, out, other, out);
  }
  return out;
}

Words Cta::warp_reduce(const Expr& expr, Threads ts) {
  const Expr& op = (*f_)[expr.args[1]];
  const std::string name = op.op == ir::ExprOp::TextImm ? f_->texts[op.text] : "sum";
  const auto width =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(eval(expr.args[2], ts)[0]), 1, kLanes);
  return reduce_lanes(name, expr.type.dtype, eval(expr.args[0], ts), ts, width);
}

Words Cta::cta_reduce(const Expr& expr, Threads ts) {
  const Expr& op = (*f_)[expr.args[1]];
  const std::string name = op.op == ir::ExprOp::TextImm ? f_->texts[op.text] : "sum";
  const num::DType type = expr.type.dtype;
  const int bits = storage_bits(type);
  const Words scratch = eval(expr.args[3], ts);
  const Words lanes = reduce_lanes(name, type, eval(expr.args[0], ts), ts, kLanes);
  std::vector<Word> warps;
  meet(ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (i != 0 && ts[i - 1] / kLanes == ts[i] / kLanes) continue;
    Element element = element_at(place_at(scratch[i]), ts[i]);
    element.place.bit += std::int64_t{ts[i] / kLanes} * bits;
    write(element, bits, lanes[i], 0, access_of(thread_agent(ts[i])));
    warps.push_back(lanes[i]);
  }
  meet(ts);
  const bool is_tree = std::has_single_bit(warps.size());
  for (std::size_t by = is_tree ? warps.size() / 2 : 1; by > 0 && by < warps.size();
       by = is_tree ? by / 2 : by + 1) {
    const std::size_t count = is_tree ? by : 1;
    for (std::size_t w = 0; w < count; ++w)
      binary(reduction_of(name), type, {&warps[w], 1}, {&warps[w + by], 1}, {&warps[w], 1});
  }
  return constant(warps.front(), ts.size());
}

}  // namespace ww::eval
