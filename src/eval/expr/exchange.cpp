// SPDX-License-Identifier: Apache-2.0
#include "eval/expr/exchange.h"

#include <algorithm>
#include <bit>

#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/expr/intrinsics.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/sync/barriers.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::Intrinsic;

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
  const std::string_view text = literal_text(cta, name);
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
      if (Finding* found = finding(cta, Check::Barrier); found != nullptr)
        found->text =
            fmt::format("{} of {} reads from lane {} of its warp, which does not take part",
                        thread_text(t), cta_text(cta), from);
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

}  // namespace

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

Words elect(Cta& cta, Threads ts) {
  Words out(cta.run.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i] = i == 0 || ts[i - 1] / kLanes != ts[i] / kLanes ? 1 : 0;
  return out;
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

}  // namespace ww::eval
