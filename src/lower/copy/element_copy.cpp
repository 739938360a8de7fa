// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/element_copy.h"

#include "base/check.h"
#include "ir/settings.h"
#include "lower/copy/problem.h"

namespace ww::lower {

using ir::ExprId;

std::optional<std::int64_t> element_count(const Call& call) {
  std::int64_t count = 1;
  for (const ir::RangeExpr& range : call.region(0).ranges) {
    const auto extent = ir::const_int(call.f(), range.extent);
    if (!extent) return std::nullopt;
    count *= *extent;
  }
  return count;
}

TileElements::TileElements(const Call& call, CodeWriter& code)
    : call_(call),
      code_(code),
      predicate_(predicate_of(call, code)),
      settings_(ir::copy_settings(call.tile)) {
  for (const ir::RangeExpr& range : call.region(0).ranges)
    if (const ExprId extent = code.simplify(range.extent); code.constant(extent) != 1)
      extents_.push_back(extent);
  if (settings_.fills && predicate_.valid()) predicate_ = code.let("predicate", predicate_);
  if (settings_.fills) fill_value_ = fill_value_of(call, code, settings_.fill_value);
}

ExprId TileElements::count() {
  ExprId out = code_.n(1);
  for (const ExprId extent : extents_) out = wide_mul(code_, out, extent);
  return out;
}

std::vector<ExprId> TileElements::digits_of(ExprId q) {
  std::vector<ExprId> digits(extents_.size());
  for (std::size_t d = extents_.size(); d-- > 0;) {
    digits[d] = d == 0 ? q : code_.index(ir::ExprOp::FloorMod, q, extents_[d]);
    q = code_.index(ir::ExprOp::FloorDiv, q, extents_[d]);
  }
  return digits;
}

std::vector<ExprId> TileElements::indices(std::size_t operand, ExprId q) {
  const std::vector<ExprId> digits = digits_of(q);
  std::vector<ExprId> out;
  std::size_t next = 0;
  for (const ir::RangeExpr& range : call_.region(operand).ranges) {
    const bool is_unit = code_.constant(code_.simplify(range.extent)) == 1;
    out.push_back(is_unit ? range.min : code_.add(range.min, digits[next++]));
  }
  return out;
}

// As an operand of an elementwise primitive is stretched: extents of 1 do not count if the others
// agree; otherwise the last dimensions stand below each other.
std::vector<ExprId> TileElements::mask_indices(ExprId q) {
  const auto& ranges = call_.region(kMask).ranges;
  const auto constant = [&](ExprId extent) { return code_.constant(code_.simplify(extent)); };
  std::size_t next = 0;
  bool is_alike = true;
  for (const ir::RangeExpr& range : ranges) {
    const auto extent = constant(range.extent);
    if (extent == 1) continue;
    const auto other =
        next < extents_.size() ? constant(extents_[next++]) : std::optional<std::int64_t>(-1);
    is_alike = is_alike && (!extent || !other || *extent == *other);
  }
  if (is_alike && next == extents_.size()) return indices(kMask, q);
  const std::vector<ExprId> digits = digits_of(q);
  const auto& whole = call_.region(0).ranges;
  std::vector<ExprId> by_dimension;  // of the destination
  next = 0;
  for (const ir::RangeExpr& range : whole)
    by_dimension.push_back(constant(range.extent) == 1 ? code_.n(0) : digits[next++]);
  std::vector<ExprId> out;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const bool is_unit = constant(ranges[d].extent) == 1;
    out.push_back(is_unit
                      ? ranges[d].min
                      : code_.add(ranges[d].min, by_dimension[d + whole.size() - ranges.size()]));
  }
  return out;
}

// None: there is no mask.
ExprId TileElements::mask(ExprId q) {
  if (settings_.predicate_tile == nullptr) return {};
  const auto loaded = ir::load(code_.f(), call_.region(kMask).buffer, mask_indices(q));
  WW_CHECK(loaded.has_value(), "a predicate is not loaded: {}", loaded.error().text);
  return code_.let("mask", *loaded);
}

void TileElements::where_copied(ExprId q, const std::function<void()>& body) {
  code_.guarded(settings_.fills ? ExprId{} : mask(q), body);
}

// None: always.
ExprId TileElements::is_inside(std::size_t operand, const std::vector<ExprId>& indices) {
  ExprId out = {};
  if (!settings_.may_leave(operand)) return out;
  const ir::Region& region = call_.region(operand);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!begins_inside(code_, region, d))
      out = code_.both(out, code_.index(ir::ExprOp::Le, code_.n(0), indices[d]));
    if (!ends_inside(code_, region, d))
      out = code_.both(out,
                       code_.index(ir::ExprOp::Lt, indices[d], code_.f()[region.buffer].shape[d]));
  }
  return out;
}

// By a number: nothing there can be loaded, and something else arrives.
bool TileElements::is_outside(ir::BufferId buffer, const std::vector<ExprId>& indices) {
  if (!settings_.fills) return false;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto index = ir::const_int(code_.f(), indices[d]);
    const auto extent = ir::const_int(code_.f(), code_.f()[buffer].shape[d]);
    if (index && (*index < 0 || (extent && *index >= *extent))) return true;
  }
  return false;
}

ExprId TileElements::source(ExprId q) {
  const ir::BufferId buffer = call_.region(1).buffer;
  const std::vector<ExprId> at = indices(1, q);
  if (is_outside(buffer, at)) return fill_value_;
  const auto loaded = ir::load(code_.f(), buffer, at);
  WW_CHECK(loaded.has_value(), "an element is not loaded: {}", loaded.error().text);
  return filled(q, *loaded, is_inside(1, at));
}

ExprId TileElements::filled(ExprId q, ExprId value, ExprId condition) {
  if (!settings_.fills) return value;
  condition = code_.both(predicate_, code_.both(mask(q), condition));
  if (!condition.valid()) return value;
  return code_.choose(ir::ExprOp::IfThenElse, code_.simplify(condition), value, fill_value_);
}

void TileElements::store(ExprId q, ExprId value) {
  const std::vector<ExprId> at = indices(0, q);
  code_.guarded(is_inside(0, at), [&] { code_.store(call_.region(0).buffer, at, value); });
}

void TileElements::copy(ExprId q) {
  where_copied(q, [&] { store(q, source(q)); });
}

void loop_over(CodeWriter& code, ExprId trips, const std::function<void(ExprId)>& body) {
  if (const auto number = code.constant(trips))
    return code.loop("f", *number, ir::LoopKind::Serial, body);
  const ir::VarId f = code.loop_var("f", ir::range_of(code.f(), trips, code.facts()).max - 1,
                                    code.f()[trips].type.dtype);
  ir::Block outer = code.take();
  body(code.var(f));
  code.finish_loop(f, trips, ir::LoopKind::Serial, std::move(outer));
}

Match<void> check_one_place(const Call& call) {
  for (std::size_t i = 0; i < (has_mask(call) ? 3U : 2U); ++i)
    if (const ir::Buffer& buffer = call.buffer(i);
        buffer.scope != ir::Scope::Local && buffer.layout && buffer.layout->copies() > 1)
      return decline("replica", "`{}` holds each element at {} places in memory", buffer.name,
                     buffer.layout->copies());
  return {};
}

Match<void> check_mask_reached(const Call& call) {
  if (!has_mask(call) || !ir::has_thread_axes(call.buffer(kMask))) return {};
  return decline("owner",
                 "the predicate `{}` is in registers of certain threads, and others would need it",
                 call.buffer(kMask).name);
}

void copy_shared_out(const Call& call, CodeWriter& code) {
  TileElements elements(call, code);
  const ExprId u = call.worker(code);
  const ExprId count = elements.count();
  const auto threads = std::ssize(call.workers());
  const ExprId trips = code.simplify(code.div(code.add(count, threads - 1), threads));
  code.guarded(elements.guard(), [&] {
    loop_over(code, trips, [&](ExprId f) {
      const ExprId q = code.add(code.mul(f, threads), u);
      code.guarded(code.index(ir::ExprOp::Lt, q, count), [&] { elements.copy(code.let("q", q)); });
    });
  });
}

void copy_one_by_one(const Call& call, CodeWriter& code, bool only_first) {
  TileElements elements(call, code);
  const ExprId u = call.worker(code);
  const ExprId first = only_first ? code.index(ir::ExprOp::Eq, u, code.n(0)) : ExprId{};
  const ExprId count = elements.count();
  code.guarded(code.both(elements.guard(), first),
               [&] { loop_over(code, count, [&](ExprId q) { elements.copy(q); }); });
}

PlanReport elements_report(const Call& call, ElementOrder order) {
  PlanReport out;
  const int bits = num::storage_bits(call.buffer(0).dtype);
  out.elements = element_count(call).value_or(0);
  out.bytes = (out.elements * bits + 7) / 8;
  out.threads = order == ElementOrder::FirstThread ? 1 : std::ssize(call.workers());
  out.vector_bits = bits;
  out.rounds = order == ElementOrder::SharedOut ? (out.elements + out.threads - 1) / out.threads
                                                : out.elements;
  out.summary = order == ElementOrder::SharedOut
                    ? "element by element, shared out among the threads"
                : order == ElementOrder::FirstThread ? "element by element, by the first thread"
                                                     : "element by element, in each thread";
  return out;
}

}  // namespace ww::lower
