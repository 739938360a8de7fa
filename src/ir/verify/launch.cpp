// SPDX-License-Identifier: Apache-2.0
// The launch: scope ids, layouts over its threads, and who reaches a tile call.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/diag.h"
#include "ir/launch/launch.h"
#include "ir/launch/shared_order.h"
#include "ir/launch/thread_flow.h"
#include "ir/launch/uniformity.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

// --- why threads part ----------------------------------------------------------------------------
//
// Why not all threads of a unit reach a statement: the condition, and the value in it that differs.

constexpr std::size_t kMaxNotes = 5;

class Origin {
 public:
  Origin(const Function& f, const LaunchShape& shape, ThreadFlow& flow, const ActiveSet& set,
         Unit unit)
      : f_(f), shape_(shape), flow_(flow), set_(set), unit_(unit) {}

  // From the condition down to the value that nothing below explains.
  std::vector<Note> notes(ExprId condition) {
    std::vector<Note> out;
    out.push_back({fmt::format("`{}` may differ between threads of a {}", print(f_, condition),
                               name_of(unit_)),
                   f_[condition].span});
    ExprId at = condition;
    while (seen_.insert(at.index).second) {
      if (const ExprId part = differing_part(at); part.valid()) {
        note_assignment(out, at, definition_of(f_, flow_.definitions(), at).stmt);
        at = part;
        continue;
      }
      const StmtId store = store_behind(at);
      if (!store.valid()) break;
      if (!is_whole(flow_[store])) {
        out.push_back({fmt::format("`{}` is assigned here by {}, expected whole {}s", print(f_, at),
                                   to_text(flow_[store], shape_), name_of(unit_)),
                       f_[store].span});
        return out;
      }
      note_assignment(out, at, store);
      at = f_[store].expr;
    }
    if (Note reason = reason_of(at); !reason.text.empty()) out.push_back(std::move(reason));
    const ExprOp op = f_[at].op;
    if (op == ExprOp::Load || op == ExprOp::Call)
      out.push_back({fmt::format("`T.{}({})` promises that it is the same; runs check it",
                                 unit_ == Unit::Warp ? "warp_uniform" : "uniform", print(f_, at)),
                     {}});
    return out;
  }

 private:
  bool differs(ExprId expr) { return flow_.uniformity(expr, set_.may) < unit_; }

  bool is_whole(const ActiveSet& set) const {
    const Threads all = first_threads(static_cast<std::size_t>(shape_.threads()));
    return set.together(unit_) && coarsest(set.may, all, unit_) >= unit_;
  }

  void note_assignment(std::vector<Note>& out, ExprId name, StmtId stmt) const {
    if (!stmt.valid() || !f_[stmt].span.known || out.size() >= kMaxNotes) return;
    out.push_back({fmt::format("`{}` is assigned here", print(f_, name)), f_[stmt].span});
  }

  ExprId differing_part(ExprId expr) {
    ExprId out;
    for_each_decider(f_, flow_.definitions(), expr, [&](ExprId part) {
      if (!out.valid() && !seen_.contains(part.index) && differs(part)) out = part;
    });
    return out;
  }

  // The store that makes a load of private memory differ.
  StmtId store_behind(ExprId expr) {
    const Expr& e = f_[expr];
    if (e.op != ExprOp::Load || f_[e.buffer].scope != Scope::Local) return {};
    const StmtId why = flow_.memory().of(expr).why;
    return why.valid() && f_[why].kind == StmtKind::Store ? why : StmtId{};
  }

  Note reason_of(ExprId expr) {
    const Expr& e = f_[expr];
    if (e.op == ExprOp::Var) return {of_variable(e.var), f_[e.var].span};
    if (e.op == ExprOp::Load) return of_load(expr);
    if (e.op != ExprOp::Call) return {};
    return {fmt::format("`T.{}` may give each thread a value of its own", facts_of(e.callee).name),
            e.span};
  }

  std::string of_variable(VarId var) {
    const Var& v = f_[var];
    switch (v.kind) {
      case VarKind::ScopeId:
      case VarKind::Launch:
        return fmt::format("`{}` numbers {}", v.name, numbered(var));
      default:
        return {};
    }
  }

  // What an id numbers, as far as it matters inside a CTA.
  std::string numbered(VarId var) {
    const StmtId stmt = flow_.definitions().ids[var.index].stmt;
    if (!stmt.valid() || f_[stmt].kind != StmtKind::ScopeIds) return "threads";
    return fmt::format("{}s", name_of(facts_of(f_[stmt].scope_id).child));
  }

  Note of_load(ExprId expr) {
    const Expr& e = f_[expr];
    const Buffer& buffer = f_[e.buffer];
    const StmtId why = flow_.memory().of(expr).why;
    if (buffer.scope == Scope::Global)
      return {fmt::format("`{}` reads memory that this kernel writes or takes addresses of, so it "
                          "may change between two threads' reads; let one thread read it, and "
                          "pass it on through shared memory, between barriers",
                          print(f_, expr)),
              e.span};
    if (!is_shared(buffer.scope))
      return {fmt::format("`{}` is each thread's own", print(f_, expr)), e.span};
    if (!why.valid())
      return {fmt::format("`{}` is read where threads of a {} do not come together",
                          print(f_, expr), name_of(unit_)),
              e.span};
    return {fmt::format("`{}` is written here, and no barrier that whole {}s reach keeps that "
                        "apart from the read of `{}`; put one before the read, and one after it",
                        buffer.name, name_of(unit_), print(f_, expr)),
            f_[why].span};
  }

  const Function& f_;
  const LaunchShape& shape_;
  ThreadFlow& flow_;
  const ActiveSet& set_;
  Unit unit_;
  std::set<std::uint32_t> seen_;
};

// Notes for an error about a statement that threads of such a unit do not reach together: the
// condition that separates them, and where its value comes from.
std::vector<Note> why_apart(const Function& function, const LaunchShape& shape, ThreadFlow& flow,
                            StmtId stmt, Unit unit) {
  const Blame& blame = flow.blame(stmt);
  const ActiveSet& set = flow[stmt];
  if (!set.together(unit) && blame.splits.valid())
    return Origin(function, shape, flow, set, unit).notes(blame.splits);
  if (!blame.leaves_out.valid()) return {};
  return {{fmt::format("`{}` leaves out the others", print(function, blame.leaves_out)),
           function[blame.leaves_out].span}};
}

bool has_launch(const Function& f) {
  return any_stmt(f, f.body, [](const Stmt& s) {
    return s.kind == StmtKind::ScopeIds || s.kind == StmtKind::LaunchThread ||
           s.kind == StmtKind::Tile;
  });
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
  if (is_call(call, Intrinsic::CtaReduce)) return Unit::Cta;
  if (is_call(call, Intrinsic::WarpReduce)) return Unit::Warp;
  return barrier_unit(f, call);
}

// Is it what decides how often a loop goes round?
bool is_of_loop(const Function& f, ExprId expr) {
  return any_stmt(f, f.body, [&](const Stmt& s) {
    return (s.kind == StmtKind::While && s.expr == expr) ||
           (s.kind == StmtKind::For && std::ranges::find(s.args, expr) != s.args.end());
  });
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
  if (!is_call(call, Intrinsic::CtaReduce)) return;
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
  for_each_stmt(c.f, [&](StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare)
      check_threads(c, *shape, c.f[s.buffer], s.span);
  });
  for_each_expr(c.f, [&](ExprId id) { check_warps(c, *shape, c.f[id]); });
  check_regions(c, *shape);
  if (c.options.check_uniform) check_collective(c, *shape);
  if (c.f.level != Level::Tile) return;
  check_registers(c, *shape);
  check_arrivals(c, *shape);
}

}  // namespace ww::ir::verifying
