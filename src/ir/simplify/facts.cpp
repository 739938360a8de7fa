// SPDX-License-Identifier: Apache-2.0
// What is known about variables, as far as the function itself tells.
#include <map>
#include <numeric>
#include <unordered_map>

#include "ir/launch/launch.h"
#include "ir/simplify/range.h"
#include "ir/simplify/simplify.h"
#include "ir/simplify/sum.h"
#include "ir/visit.h"

namespace ww::ir {

void Facts::set_range(VarId var, Range range) {
  if (rows_.size() <= var.index) rows_.resize(var.index + 1);
  rows_[var.index].range = range;
}

void Facts::set_divisor(VarId var, std::int64_t n) {
  WW_CHECK(n >= 1, "a variable is a multiple of {}", n);
  if (rows_.size() <= var.index) rows_.resize(var.index + 1);
  rows_[var.index].divisor = n;
}

void Facts::set_value(VarId var, ExprId value) {
  if (rows_.size() <= var.index) rows_.resize(var.index + 1);
  rows_[var.index].value = value;
}

std::optional<Range> Facts::range(VarId var) const {
  return var.index < rows_.size() ? rows_[var.index].range : std::nullopt;
}

std::int64_t Facts::divisor(VarId var) const {
  return var.index < rows_.size() ? rows_[var.index].divisor : 1;
}

ExprId Facts::value(VarId var) const {
  return var.index < rows_.size() ? rows_[var.index].value : ExprId{};
}

namespace {

std::optional<std::int64_t> total(const std::array<Extent, 3>& extents) {
  std::int64_t out = 1;
  for (const Extent& e : extents) {
    const auto next = e.is_constant() ? checked_mul(out, e.value) : std::nullopt;
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

// How many values dimension `dim` of an id has; nothing when the grid is known at launch only.
std::optional<std::int64_t> values_of(const LaunchShape& shape, const Stmt& stmt, std::size_t dim) {
  const bool linear = stmt.vars.size() == 1;
  const std::int64_t in_cluster = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  const std::int64_t fixed = facts_of(stmt.scope_id).fixed_extent;
  const auto ctas = linear ? total(shape.grid) : std::optional(shape.grid[dim].value);
  const bool known = linear ? ctas.has_value() : shape.grid[dim].is_constant();
  switch (stmt.scope_id) {
    case ScopeIdKind::CtaId:
      return known ? ctas : std::nullopt;
    case ScopeIdKind::ClusterId:
      return known ? std::optional(*ctas / (linear ? in_cluster : shape.cluster[dim]))
                   : std::nullopt;
    case ScopeIdKind::CtaIdInCluster:
      return linear ? in_cluster : shape.cluster[dim];
    case ScopeIdKind::WarpgroupId:
      return (shape.threads() + 127) / 128;
    case ScopeIdKind::WarpId:
      return shape.warps();
    case ScopeIdKind::ThreadId:
      return linear ? shape.threads() : shape.block[dim];
    default:
      return std::min(fixed, std::max<std::int64_t>(1, shape.threads()));
  }
}

class Gather {
 public:
  explicit Gather(const Function& f) : f_(f) {
    for (std::uint32_t i = 0; i < f.var_count(); ++i)
      if (f[VarId{i}].kind == VarKind::Extent) out_.set_range(VarId{i}, {0, range::kFar});
    if (const auto shape = launch_shape(f)) shape_ = *shape;
  }

  Facts all() {
    for_each_stmt(f_, [&](StmtId id) { look_at(f_[id]); });
    return std::move(out_);
  }

 private:
  void look_at(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::ScopeIds:
        for (std::size_t d = 0; d < stmt.vars.size(); ++d) {
          const auto count = shape_ ? values_of(*shape_, stmt, d) : std::nullopt;
          out_.set_range(stmt.vars[d], {0, count ? *count - 1 : range::kFar});
        }
        break;
      case StmtKind::LaunchThread: {
        const Range extent = ranges_.range(stmt.args[0]);
        out_.set_range(stmt.var, {0, range::add_bounds(extent.max, -1)});
        break;
      }
      case StmtKind::For:
        set_loop(stmt);
        break;
      case StmtKind::Bind:
        if (is_index(f_[stmt.var].type)) {
          out_.set_range(stmt.var, ranges_.range(stmt.expr));
          if (is_fixed(stmt.expr)) out_.set_value(stmt.var, stmt.expr);
        }
        break;
      default:
        break;
    }
  }

  void set_loop(const Stmt& stmt) {
    const Range start = ranges_.range(stmt.first());
    const Range trips = ranges_.range(stmt.trips());
    const bool has_step = !stmt.step().valid() || const_int(f_, stmt.step());
    if (!has_step || trips.max < 1) return;  // nothing known, or never executed
    const std::int64_t step = step_of(f_, stmt);
    const Range moved = range::scale({0, range::add_bounds(trips.max, -1)}, step);
    out_.set_range(stmt.var, range::add(start, moved));
    const std::int64_t d = std::gcd(ranges_.divisor(stmt.first()), step);
    out_.set_divisor(stmt.var, std::max<std::int64_t>(1, d));
  }

  // The same value wherever it is written: nothing that reads memory or asks other threads.
  bool is_fixed(ExprId expr) {
    if (const auto found = fixed_.find(expr.index); found != fixed_.end()) return found->second;
    const Expr& e = f_[expr];
    bool out =
        e.op != ExprOp::Load && (e.op != ExprOp::Call || facts_of(e.callee).effect == Effect::Pure);
    for (const ExprId arg : e.args) out = is_fixed(arg) && out;
    fixed_.emplace(expr.index, out);
    return out;
  }

  const Function& f_;
  std::optional<LaunchShape> shape_;
  Facts out_;
  Ranges ranges_{f_, out_};  // a variable is bound before it is read
  std::unordered_map<std::uint32_t, bool> fixed_;
};

ExprId replaced(Function& f, ExprId expr, const std::function<ExprId(VarId)>& replace,
                std::map<std::uint32_t, ExprId>& done) {
  if (const auto found = done.find(expr.index); found != done.end()) return found->second;
  ExprId out = expr;
  if (f[expr].op == ExprOp::Var) {
    if (const ExprId value = replace(f[expr].var); value.valid()) {
      WW_CHECK(f[value].type == f[expr].type, "a variable of type {} is replaced by {}",
               to_text(f[expr].type), to_text(f[value].type));
      out = value;
    }
  } else {
    out = with_operands(f, expr, [&](ExprId arg) { return replaced(f, arg, replace, done); });
  }
  done.emplace(expr.index, out);
  return out;
}

}  // namespace

Facts facts_of(const Function& function) { return Gather(function).all(); }

ExprId substitute(Function& function, ExprId expr, const std::function<ExprId(VarId)>& replace) {
  std::map<std::uint32_t, ExprId> done;
  return replaced(function, expr, replace, done);
}

}  // namespace ww::ir
