// SPDX-License-Identifier: Apache-2.0
// The launch: scope ids, layouts over its threads, and who reaches a tile call.
#include <algorithm>

#include "ir/launch/dependence.h"
#include "ir/launch/launch.h"
#include "ir/launch/shared_order.h"
#include "ir/launch/thread_flow.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/verify/divergence.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

bool has_launch(const Function& f) {
  bool found = false;
  for_each_stmt(f, f.body, [&](StmtId id) {
    const StmtKind kind = f[id].kind;
    found = found || kind == StmtKind::ScopeIds || kind == StmtKind::LaunchThread ||
            kind == StmtKind::Tile;
  });
  return found;
}

/// The largest value that a thread axis takes in the launch; nothing when that is not known.
std::optional<std::int64_t> most_on(const LaunchShape& shape, layout::Axis axis) {
  const layout::AxisFacts& facts = axis.facts();
  const auto digit = [&](std::int64_t most) {
    const std::int64_t value = most / facts.divisor;
    return facts.modulus > 0 ? std::min(value, facts.modulus - 1) : value;
  };
  const auto grid = [&](std::size_t dim) -> std::optional<std::int64_t> {
    if (!shape.grid[dim].is_constant()) return std::nullopt;
    return shape.grid[dim].value - 1;
  };
  switch (facts.counter) {
    case layout::Counter::CtaThread:
      return digit(shape.threads() - 1);
    case layout::Counter::ClusterX:
      return shape.cluster[0] - 1;
    case layout::Counter::ClusterY:
      return shape.cluster[1] - 1;
    case layout::Counter::ClusterZ:
      return shape.cluster[2] - 1;
    case layout::Counter::GridX:
      return grid(0);
    case layout::Counter::GridY:
      return grid(1);
    case layout::Counter::GridZ:
      return grid(2);
    case layout::Counter::None:
      break;
  }
  return std::nullopt;
}

void check_threads(Context& c, const LaunchShape& shape, const Buffer& buffer, Span span) {
  if (!buffer.layout || buffer.layout->tile().has_unknown_extent()) return;
  const layout::TileLayout& tile = buffer.layout->tile();
  for (const layout::Axis axis : layout::moving_axes(tile)) {
    if (!axis.is_thread()) continue;
    const layout::Range range = tile.range_on(axis);
    const std::optional<std::int64_t> most = most_on(shape, axis);
    if (range.min >= 0 && (!most || range.max <= *most)) continue;
    c.report(DiagKind::BadBuffer, buffer.span.known ? buffer.span : span,
             "`{}` has elements at {} {}, the launch goes {}", buffer.name, axis.name(),
             range.min < 0 ? range.min : range.max,
             most ? fmt::format("from 0 to {}", *most) : "from 0");
    if (range.min >= 0)
      c.findings.back().notes.push_back(
          {fmt::format("a CTA has {} threads here: `tx` counts all of them, `laneid` the 32 of a "
                       "warp, `warpid` the warps",
                       shape.threads()),
           {}});
  }
}

std::size_t unit_size(const LaunchShape& shape, Unit unit) {
  const auto threads = static_cast<std::size_t>(shape.threads());
  if (unit == Unit::Warp) return 32;
  if (unit == Unit::Warpgroup) return 128;
  return threads;
}

/// Are there only whole units among the threads that may be active?
bool has_whole_units(const ActiveSet& set, const LaunchShape& shape, Unit unit) {
  const auto threads = static_cast<std::size_t>(shape.threads());
  const std::size_t size = unit_size(shape, unit);
  for (std::size_t first = 0; first < threads; first += size) {
    std::size_t count = 0;
    for (std::size_t t = first; t < std::min(first + size, threads); ++t) {
      if (set.may[t]) ++count;
    }
    if (count != 0 && count != size) return false;
  }
  return true;
}

/// The same, and all of a unit together?
bool is_whole(const ActiveSet& set, const LaunchShape& shape, Unit unit) {
  return set.together(unit) && has_whole_units(set, shape, unit);
}

// The unit whose threads a barrier waits for, or whose threads a reduction combines.
std::optional<Unit> unit_of_collective(const Function& f, const Expr& call) {
  if (call.op != ExprOp::Call) return std::nullopt;
  if (call.callee == Intrinsic::CtaReduce) return Unit::Cta;
  if (call.callee == Intrinsic::WarpReduce) return Unit::Warp;
  return barrier_unit(f, call);
}

// Is it what decides how often a loop goes round?
bool is_of_loop(const Function& f, ExprId expr) {
  bool found = false;
  for_each_stmt(f, f.body, [&](StmtId id) {
    const Stmt& s = f[id];
    if (s.kind == StmtKind::While) found = found || s.expr == expr;
    if (s.kind == StmtKind::For)
      found = found || std::find(s.args.begin(), s.args.end(), expr) != s.args.end();
  });
  return found;
}

Note what_to_do(const Function& f, ExprId splits, Unit unit) {
  if (splits.valid() && is_of_loop(f, splits))
    return {fmt::format("put it outside the loop, or let whole {}s go round equally often",
                        name_of(unit)),
            {}};
  return {fmt::format("put it outside the `if`, or let the condition hold for whole {}s",
                      name_of(unit)),
          {}};
}

// The barrier or reduction in each expression, by ExprId; ExprId{} where there is none.
std::vector<ExprId> barriers_in(const Function& f) {
  std::vector<ExprId> out(f.expr_count());
  for_each_expr(f, [&](ExprId id) {
    if (unit_of_collective(f, f[id])) out[id.index] = id;
    for (const ExprId arg : f[id].args)
      if (!out[id.index].valid()) out[id.index] = out[arg.index];
  });
  return out;
}

// All warps of a CTA leave a part of the result, so that their number is no choice.
void check_warps(Context& c, const LaunchShape& shape, const Expr& call) {
  if (call.op != ExprOp::Call || call.callee != Intrinsic::CtaReduce) return;
  const std::optional<std::int64_t> warps = const_int(c.f, call.args[2]);
  if (!warps || *warps == shape.warps()) return;
  const Span span = c.f[call.args[2]].span;
  c.report(DiagKind::BadArgument, span.known ? span : call.span,
           "`num_warps` of `T.{}` is {}, the CTA has {}: {} threads", facts_of(call.callee).name,
           *warps, shape.warps(), shape.threads());
}

// A copy between memories can be shared out among any threads that come together; registers belong
// to all threads of a unit.
bool is_for_any_threads(const Function& f, const TileCall& call) {
  if (call.op != TileOp::Copy) return false;
  return std::all_of(call.args.begin(), call.args.end(), [&](const TileArg& arg) {
    const auto* region = std::get_if<Region>(&arg);
    return region == nullptr || f[region->buffer].scope != Scope::Local;
  });
}

/// Operands that a unit has one value of: where regions begin and end, where buffers are, the
/// predicate, the factors of a product, and what memory is filled with. Scalars that go into
/// registers are each thread's own.
class OperandCheck {
 public:
  OperandCheck(Context& c, const LaunchShape& shape) : c_(c), f_(c.f), shape_(shape) {}

  void run(const TileCall& call, const ActiveSet& set, Span span) {
    call_ = &call;
    set_ = &set;
    span_ = span;
    const auto* dst = std::get_if<Region>(&call.args[0]);
    const bool is_own = dst != nullptr && f_[dst->buffer].scope == Scope::Local &&
                        call.op != TileOp::Gemm && call.op != TileOp::GemmAsync;
    const std::vector<TileParam>& params = params_of(call.op);
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      if (const auto* region = std::get_if<Region>(&call.args[i])) check_region(*region);
      if (is_own) continue;
      const auto name = [&] {
        return fmt::format("`{}` of `{}`", params[i].name, name_of(call.op));
      };
      if (const auto* expr = std::get_if<ExprId>(&call.args[i])) check(*expr, name);
      if (const auto* setting = std::get_if<Setting>(&call.args[i])) check(*setting, name);
    }
    for (const std::string_view name : {"predicate", "fill_value"})
      if (const Setting* setting = find_setting(call, name))
        check(*setting, [&] { return fmt::format("`{}` of `{}`", name, name_of(call.op)); });
  }

 private:
  void check_region(const Region& region) {
    const Buffer& buffer = f_[region.buffer];
    const Span at = region.span.known ? region.span : span_;
    for (std::size_t d = 0; d < region.ranges.size(); ++d) {
      const auto of_dimension = [&](std::string_view what) {
        return [&buffer, d, what] {
          return fmt::format("the {} of dimension {} of `{}`", what, d, buffer.name);
        };
      };
      check(region.ranges[d].min, of_dimension("start"), at);
      check(region.ranges[d].extent, of_dimension("extent"), at);
    }
    for (std::size_t d = 0; d < buffer.shape.size(); ++d)
      check(
          buffer.shape[d], [&] { return fmt::format("dimension {} of `{}`", d, buffer.name); }, at);
    for (const ExprId place :
         {buffer.pointer, buffer.elem_offset, buffer.byte_offset, buffer.allocated_addr})
      if (place.valid())  // every CTA has its own memory
        check(
            place, [&] { return fmt::format("the place of `{}`", buffer.name); }, at,
            std::min(call_->scope, Unit::Cta));
  }

  template <typename Name>
  void check(const Setting& setting, const Name& name) {
    if (const auto* expr = std::get_if<ExprId>(&setting)) check(*expr, name);
  }
  template <typename Name>
  void check(ExprId expr, const Name& name, Span at = {}) {
    check(expr, name, at, call_->scope);
  }
  template <typename Name>
  void check(ExprId expr, const Name& name, Span at, Unit unit) {
    const ExprOp op = f_[expr].op;
    if (op == ExprOp::IntImm || op == ExprOp::FloatImm) return;
    if (!dependence_) dependence_.emplace(f_, shape_);
    if (dependence_->of(expr, set_->may) >= unit) return;
    c_.report(DiagKind::BadTileCall, at.known ? at : span_,
              "{} is `{}`, which differs between threads of a {}; `{}` at {} scope needs one value",
              name(), print(f_, expr), name_of(call_->scope), name_of(call_->op),
              name_of(call_->scope));
  }

  Context& c_;
  const Function& f_;
  const LaunchShape& shape_;
  std::optional<Dependence> dependence_;
  const TileCall* call_ = nullptr;
  const ActiveSet* set_ = nullptr;
  Span span_;
};

void note_why(Context& c, const LaunchShape& shape, ThreadFlow& flow, StmtId stmt, Unit unit) {
  std::vector<Note>& notes = c.findings.back().notes;
  for (Note& note : why_apart(c.f, shape, flow, stmt, unit)) notes.push_back(std::move(note));
  const bool is_apart = !flow[stmt].together(unit);
  notes.push_back(what_to_do(c.f, is_apart ? flow.blame(stmt).splits : ExprId{}, unit));
}

// A barrier that some threads of its unit never reach. Conditions of which nothing is known get the
// benefit of the doubt: they may be the same for all.
void check_barrier(Context& c, const LaunchShape& shape, ThreadFlow& flow, ExprId barrier,
                   StmtId stmt) {
  const Stmt& s = c.f[stmt];
  const ActiveSet& set = flow[stmt];
  const Expr& call = c.f[barrier];
  const std::optional<Unit> unit = unit_of_collective(c.f, call);
  if (set.may.none() || has_whole_units(set, shape, *unit)) return;
  c.report(DiagKind::Divergent, s.expr == barrier ? s.span : call.span,
           "`T.{}` is reached by {}, expected whole {}s", facts_of(call.callee).name,
           to_text(set, shape), name_of(*unit));
  note_why(c, shape, flow, stmt, *unit);
}

void check_collective(Context& c, const LaunchShape& shape) {
  ThreadFlow flow(c.f, shape);
  const std::vector<ExprId> barriers = barriers_in(c.f);
  OperandCheck operands(c, shape);
  for_each_stmt(c.f, c.f.body, [&](StmtId id) {
    const Stmt& s = c.f[id];
    for_each_root(c.f, s, [&](ExprId root) {
      const ExprId barrier = barriers[root.index];
      if (barrier.valid()) check_barrier(c, shape, flow, barrier, id);
    });
    if (s.kind != StmtKind::Tile) return;
    const TileCall& call = c.f[s.tile];
    const ActiveSet& set = flow[id];
    if (call.scope == Unit::Thread || set.may.none()) return;
    operands.run(call, set, s.span);
    if (is_whole(set, shape, call.scope)) return;
    if (call.scope != Unit::Warp && set.together(call.scope) && is_for_any_threads(c.f, call))
      return;
    c.report(DiagKind::Divergent, s.span, "`{}` at {} scope is reached by {}, expected whole {}s",
             name_of(call.op), name_of(call.scope), to_text(set, shape), name_of(call.scope));
    note_why(c, shape, flow, id, call.scope);
  });
}

}  // namespace

void check_launch(Context& c) {
  if (!has_launch(c.f)) return;
  Result<LaunchShape> shape = launch_shape(c.f);
  if (!shape) {
    c.findings.push_back(std::move(shape).error());
    return;
  }
  for (const Block* block : {&c.f.host, &c.f.body}) {
    for_each_stmt(c.f, *block, [&](StmtId id) {
      const Stmt& s = c.f[id];
      if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare)
        check_threads(c, *shape, c.f[s.buffer], s.span);
    });
  }
  for_each_expr(c.f, [&](ExprId id) { check_warps(c, *shape, c.f[id]); });
  check_regions(c, *shape);
  if (c.options.check_uniform) check_collective(c, *shape);
  if (c.f.level != Level::Tile) return;
  check_registers(c, *shape);
  check_arrivals(c, *shape);
}

}  // namespace ww::ir::verifying
