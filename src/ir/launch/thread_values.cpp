// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/thread_values.h"

#include <algorithm>

#include "ir/below.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"
#include "ir/simplify/sum.h"
#include "ir/visit.h"

namespace ww::ir {

// --- names ---------------------------------------------------------------------------------------
//
// Which names and scalars stand for one expression.

namespace {

// Scalars written once. The walk goes in program order and knows at each place which of them are
// certainly written: those stored to earlier in an enclosing block. A use anywhere else, or
// anything that could write behind our back, takes a scalar off the list.
class Scalars {
 public:
  explicit Scalars(const Function& f)
      : f_(f), stores_(f.buffer_count()), bad_(f.buffer_count()), written_(f.buffer_count()) {}

  std::vector<Definition> all() {
    for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
      const Buffer& b = f_[BufferId{i}];
      if (b.base.valid()) bad_[b.base.index] = true;
      if (b.scope != Scope::Local || b.origin != BufferOrigin::Alloc || !is_single(b))
        bad_[i] = true;
    }
    walk(f_.body);
    for (std::size_t i = 0; i < stores_.size(); ++i)
      if (bad_[i]) stores_[i] = {};
    return std::move(stores_);
  }

 private:
  [[nodiscard]] bool is_single(const Buffer& b) const {
    for (const ExprId extent : b.shape)
      if (const_int(f_, extent) != 1) return false;
    return true;
  }

  void walk(const Block& block) {
    std::vector<std::uint32_t> here;
    for (const StmtId id : block) {
      const Stmt& stmt = f_[id];
      for_each_root(f_, stmt, [&](ExprId root) { look_at(root); });
      if (stmt.kind == StmtKind::Tile) touch(f_[stmt.tile]);
      if (stmt.kind == StmtKind::Ptx) touch(f_[stmt.ptx]);
      walk(stmt.body);
      walk(stmt.other);
      if (stmt.kind == StmtKind::Store && store(id, stmt)) here.push_back(stmt.buffer.index);
    }
    for (const std::uint32_t i : here) written_[i] = false;
  }

  bool store(StmtId id, const Stmt& stmt) {
    Definition& only = stores_[stmt.buffer.index];
    if (only.stmt.valid() || f_[stmt.expr].type != Type::of(f_[stmt.buffer].dtype)) {
      bad_[stmt.buffer.index] = true;
      return false;
    }
    only = {stmt.expr, id};
    written_[stmt.buffer.index] = true;
    return true;
  }

  void look_at(ExprId root) {
    any_below(f_, root, [&](const Expr& e) {
      if (takes_address(e) || (e.op == ExprOp::Load && !written_[e.buffer.index]))
        bad_[e.buffer.index] = true;
      return false;
    });
  }

  void touch(const TileCall& call) {
    for (const TileArg& arg : call.args)
      if (const auto* region = std::get_if<Region>(&arg)) bad_[region->buffer.index] = true;
    for (const auto& [name, buffer] : call.workspace) bad_[buffer.index] = true;
  }

  // An operand that is a load may be a destination.
  void touch(const PtxCall& call) {
    for (const PtxOperand& operand : call.operands)
      if (operand.expr.valid() && f_[operand.expr].op == ExprOp::Load)
        bad_[f_[operand.expr].buffer.index] = true;
  }

  const Function& f_;
  std::vector<Definition> stores_;
  std::vector<bool> bad_;
  std::vector<bool> written_;
};

}  // namespace

Definitions definitions_of(const Function& function) {
  Definitions out;
  out.lets.resize(function.var_count());
  out.loops.resize(function.var_count());
  out.ids = id_bindings(function);
  for_each_stmt(function, [&](StmtId id) {
    const Stmt& stmt = function[id];
    if (stmt.kind == StmtKind::Bind) out.lets[stmt.var.index] = {stmt.expr, id};
    if (stmt.kind == StmtKind::For) out.loops[stmt.var.index] = id;
  });
  out.scalars = Scalars(function).all();
  return out;
}

Definition definition_of(const Function& function, const Definitions& definitions, ExprId expr) {
  const Expr& e = function[expr];
  if (e.op == ExprOp::Var) return definitions.lets[e.var.index];
  if (e.op == ExprOp::Load && e.type.is_scalar()) return definitions.scalars[e.buffer.index];
  return {};
}

std::optional<Unit> given_unit(const Function& function, const Definitions& definitions,
                               VarId var) {
  const auto bound_unit = [&](StmtId stmt) {
    return function[stmt].hardware.kind == HardwareId::Kind::ThreadIdx ? Unit::Thread : Unit::Cta;
  };
  const StmtId id = definitions.ids[var.index].stmt, loop = definitions.loops[var.index];
  switch (function[var].kind) {
    case VarKind::Param:
    case VarKind::Extent:
      return Unit::Kernel;
    case VarKind::Launch:
      return id.valid() ? bound_unit(id) : Unit::Thread;
    case VarKind::ScopeId: {
      const Unit child = id.valid() ? facts_of(function[id].scope_id).child : Unit::Thread;
      return child == Unit::Cluster || child == Unit::Cta ? child : Unit::Thread;
    }
    case VarKind::Loop:
      if (loop.valid() && function[loop].loop == LoopKind::ThreadBinding) return bound_unit(loop);
      return std::nullopt;
    case VarKind::Let:
      break;
  }
  return std::nullopt;
}

namespace {

using KnownInt = std::optional<std::int64_t>;

// A value in each thread takes some kilobytes. With more of them than the first number, old answers
// go; beyond the second, the rest of an expression counts as unknown.
constexpr std::size_t kMaxKept = 4096;
constexpr std::size_t kMaxKnown = 16384;

// The least number is its own.
std::int64_t negative(std::int64_t a) {
  return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
}

KnownInt one(const Expr& e, std::int64_t a) {
  switch (e.op) {
    case ExprOp::Neg:
      return negative(a);
    case ExprOp::BitNot:
      return ~a;
    case ExprOp::Not:
      return a == 0 ? 1 : 0;
    case ExprOp::Cast:
      return a;
    case ExprOp::Call:
      if (e.callee == Intrinsic::Likely) return a;
      if (e.callee != Intrinsic::Abs || e.type.dtype == num::DType::Uint64) return std::nullopt;
      return a >= 0 ? a : negative(a);
    default:
      return std::nullopt;
  }
}

}  // namespace

void ThreadValues::make_room() {
  if (done_.size() <= kMaxKept) return;
  done_.clear();
  given_up_.clear();
}

const PerThread& ThreadValues::of(ExprId expr) {
  bottom_up(
      expr, [&](ExprId id, auto&& add) { for_each_part(id, add); },
      [&](ExprId id) { return is_done(id); },
      [&](ExprId id) {
        if (done_.size() < kMaxKnown)
          done_.emplace(id.index, compute(id));
        else
          given_up_.insert(id.index);
      });
  return known(expr);
}

const PerThread& ThreadValues::known(ExprId expr) const {
  const auto found = done_.find(expr.index);
  return found == done_.end() ? nothing_ : found->second;
}

// The expressions that `compute` asks for.
template <typename Add>
void ThreadValues::for_each_part(ExprId expr, const Add& add) const {
  const Expr& e = f_[expr];
  if (!is_index(e.type)) return;
  if (const Definition name = definition_of(f_, definitions_, expr); name.value.valid())
    return add(name.value);
  if (e.op == ExprOp::Var) {
    if (const StmtId loop = one_round(e.var); loop.valid()) add(f_[loop].first());
    return;
  }
  if (e.op == ExprOp::Load) return;
  for (const ExprId arg : e.args) add(arg);
}

// The loop of a variable that has one value.
StmtId ThreadValues::one_round(VarId var) const {
  const StmtId loop = definitions_.loops[var.index];
  const bool is_one = loop.valid() && f_[loop].loop != LoopKind::ThreadBinding &&
                      const_int(f_, f_[loop].trips()) == 1;
  return is_one ? loop : StmtId{};
}

PerThread ThreadValues::unknown() const { return {std::vector<std::int64_t>(count_), {}}; }

PerThread ThreadValues::constant(std::int64_t value) const {
  return {std::vector<std::int64_t>(count_, value), first_threads(count_)};
}

PerThread ThreadValues::compute(ExprId expr) {
  const Expr& e = f_[expr];
  if (!is_index(e.type)) return unknown();
  switch (e.op) {
    case ExprOp::IntImm:
      return constant(e.integer);
    case ExprOp::Var:
      return variable(e);
    case ExprOp::Load: {
      const Definition once = definition_of(f_, definitions_, expr);
      return once.value.valid() ? known(once.value) : unknown();
    }
    case ExprOp::And:
    case ExprOp::Or:
      return logic(e);
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return chosen(e);
    case ExprOp::Call:
      if (e.callee == Intrinsic::Shfl) return shuffled(e);
      return e.args.size() == 1 ? operated(e) : unknown();
    default:
      return e.args.empty() || e.args.size() > 2 ? unknown() : operated(e);
  }
}

PerThread ThreadValues::variable(const Expr& e) {
  if (definitions_.ids[e.var.index].stmt.valid()) return scope_id(e.var);
  if (definitions_.lets[e.var.index].value.valid())
    return known(definitions_.lets[e.var.index].value);
  const StmtId loop = one_round(e.var);
  return loop.valid() ? known(f_[loop].first()) : unknown();
}

PerThread ThreadValues::scope_id(VarId var) {
  const IdBinding& binding = definitions_.ids[var.index];
  const Stmt& stmt = f_[binding.stmt];
  if (stmt.kind == StmtKind::LaunchThread) return launch_id(stmt);
  std::array<std::int64_t, 3> grid{};
  bool is_one_cta = true;
  for (std::size_t d = 0; d < 3; ++d) {
    grid[d] = shape_.grid[d].is_constant() ? shape_.grid[d].value : 0;
    is_one_cta = is_one_cta && grid[d] == 1;
  }
  const bool in_cta = facts_of(stmt.scope_id).parent <= Unit::Cta;
  // An id of the grid is known where it has one value only.
  const std::size_t dims = stmt.vars.size();
  const bool is_one = is_one_cta ||
                      (stmt.scope_id == ScopeIdKind::CtaId && dims > 1 && grid[binding.dim] == 1) ||
                      (stmt.scope_id == ScopeIdKind::ClusterId && dims > 1 &&
                       grid[binding.dim] == shape_.cluster[binding.dim]) ||
                      (stmt.scope_id == ScopeIdKind::CtaIdInCluster && dims > 1 &&
                       shape_.cluster[binding.dim] == 1);
  if (!in_cta) return is_one ? constant(0) : unknown();
  PerThread out = constant(0);
  for (std::size_t t = 0; t < count_; ++t)
    out.value[t] = scope_id_value(shape_, stmt.scope_id, binding.dim, dims, {1, 1, 1},
                                  {static_cast<std::int64_t>(t), {0, 0, 0}});
  return out;
}

PerThread ThreadValues::launch_id(const Stmt& stmt) const {
  const auto [kind, d] = stmt.hardware;
  if (kind != HardwareId::Kind::ThreadIdx)
    return const_int(f_, stmt.args[0]) == 1 ? constant(0) : unknown();
  PerThread out = constant(0);
  for (std::size_t t = 0; t < count_; ++t)
    out.value[t] = scope_id_value(shape_, ScopeIdKind::ThreadId, d, 3, {1, 1, 1},
                                  {static_cast<std::int64_t>(t), {0, 0, 0}});
  return out;
}

// One side alone may tell.
PerThread ThreadValues::logic(const Expr& e) {
  const PerThread a = known(e.args[0]);
  const PerThread& b = known(e.args[1]);
  const bool is_and = e.op == ExprOp::And;
  PerThread out = unknown();
  for (std::size_t t = 0; t < count_; ++t) {
    const bool a_tells = a.known[t] && (a.value[t] != 0) != is_and;
    const bool b_tells = b.known[t] && (b.value[t] != 0) != is_and;
    if (!a_tells && !b_tells && !(a.known[t] && b.known[t])) continue;
    out.known.set(t);
    out.value[t] = (a_tells || b_tells) != is_and ? 1 : 0;
  }
  return out;
}

PerThread ThreadValues::chosen(const Expr& e) {
  if (!is_index(f_[e.args[0]].type)) return unknown();
  const PerThread condition = known(e.args[0]);
  const PerThread yes = known(e.args[1]);
  const PerThread& no = known(e.args[2]);
  PerThread out = unknown();
  for (std::size_t t = 0; t < count_; ++t) {
    if (!condition.known[t]) continue;
    const PerThread& side = condition.value[t] != 0 ? yes : no;
    out.known[t] = side.known[t];
    out.value[t] = side.value[t];
  }
  return out;
}

// Every lane of a whole warp asks the same lane: how lowered programs spell the number of a warp.
PerThread ThreadValues::shuffled(const Expr& e) {
  PerThread out = unknown();
  const PerThread value = known(e.args[1]);
  const PerThread& lane = known(e.args[2]);
  if (const_int(f_, e.args[3]) != 32) return out;
  for (std::size_t t = 0; t < count_; ++t) {
    if (!lane.known[t] || lane.value[t] < 0 || lane.value[t] >= 32) continue;
    const std::size_t from = t / 32 * 32 + static_cast<std::size_t>(lane.value[t]);
    if (from >= count_ || !value.known[from]) continue;
    out.known.set(t);
    out.value[t] = value.value[from];
  }
  return out;
}

PerThread ThreadValues::operated(const Expr& e) {
  PerThread out = unknown();
  const Type operands = f_[e.args[0]].type;
  if (!is_index(operands)) return out;
  const PerThread a = known(e.args[0]);
  const PerThread b = e.args.size() == 2 ? known(e.args[1]) : a;
  for (std::size_t t = 0; t < count_; ++t) {
    if (!a.known[t] || !b.known[t]) continue;
    const KnownInt v = e.args.size() == 2 ? int_result(e.op, a.value[t], b.value[t], operands)
                                          : one(e, a.value[t]);
    if (!v) continue;
    out.known.set(t);
    out.value[t] = wrap(e.type.dtype, *v);
  }
  return out;
}

}  // namespace ww::ir
