// SPDX-License-Identifier: Apache-2.0
// What the ids of a thread are in terms of hardware ids; ir/launch/launch.cpp (`scope_id_value`)
// says the same in numbers. Dimensions of one CTA or thread take no part in any of it.
#include "lower/launch_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/visit.h"

namespace ww::lower {
namespace {

using ir::Block;
using ir::ExprId;
using ir::ExprOp;
using ir::ScopeIdKind;
using ir::StmtKind;
using ir::VarId;

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kWarpgroup = 128;
constexpr std::int64_t kWarpsOfGroup = 4;
constexpr std::int64_t kPair = 2;

/// A coordinate in three dimensions and how far each goes; none where there is only one value.
struct Coordinate {
  std::array<ExprId, 3> at;
  std::array<ExprId, 3> size;
};

class Resolver {
 public:
  Resolver(ir::Function& f, const ir::LaunchShape& shape) : f_(f), shape_(shape) {}

  LaunchVars run() {
    find_uses();
    make_params();
    Block body;
    launch(body);
    replace(f_.body, body);
    f_.body = std::move(body);
    return ids_;
  }

 private:
  // --- what is there ---

  void find_uses() {
    is_used_.resize(f_.var_count());
    ir::for_each_expr(f_, [&](ExprId id) {
      if (f_[id].op == ExprOp::Var) is_used_[f_[id].var.index] = true;
    });
    lets_.resize(f_.var_count());
    ir::for_each_stmt(f_, f_.body, [&](ir::StmtId id) {
      if (f_[id].kind == StmtKind::Bind) lets_[f_[id].var.index] = f_[id].expr;
    });
  }

  // Extents that the launch tells become scalars that it passes.
  void make_params() {
    for (std::uint32_t i = 0; i < f_.var_count(); ++i) {
      const VarId var{i};
      if (f_[var].kind != ir::VarKind::Extent || !is_used_[i]) continue;
      f_.at(var).kind = ir::VarKind::Param;
      f_.params.push_back({.var = var, .buffer = {}});
    }
  }

  // --- arithmetic on ids ---

  ExprId number(std::int64_t value) { return ir::int_imm(f_, num::DType::Int32, value); }
  ExprId ref(VarId var) { return ir::var_ref(f_, var); }
  // The operands are integers, so that nothing can fail.
  ExprId op(ExprOp kind, ExprId a, ExprId b) { return ir::index_binary(f_, kind, a, b); }
  ExprId divided(ExprId a, std::int64_t by) {
    return by == 1 ? a : op(ExprOp::FloorDiv, a, number(by));
  }
  ExprId reduced(ExprId a, std::int64_t by) { return op(ExprOp::FloorMod, a, number(by)); }

  // x + size x·(y + size y·z)
  ExprId linear(const Coordinate& c) {
    ExprId out;
    for (std::size_t d = 3; d-- > 0;) {
      if (!c.at[d].valid()) continue;
      const bool is_first = !out.valid();
      out = is_first ? c.at[d] : op(ExprOp::Add, c.at[d], op(ExprOp::Mul, out, c.size[d]));
    }
    return out.valid() ? out : number(0);
  }

  // --- the launch ---

  // Values that are bound in the body are not yet bound where the launch stands.
  ExprId outside(ExprId expr) {
    return ir::substitute(f_, expr, [&](VarId var) {
      if (var.index >= lets_.size() || !lets_[var.index].valid()) return ExprId{};
      ExprId& value = outside_[var];
      if (!value.valid()) value = outside(lets_[var.index]);
      return value;
    });
  }
  ExprId size_of(const ir::Extent& extent) {
    return extent.is_constant() ? number(extent.value) : outside(extent.expr);
  }

  VarId launch(Block& block, ir::HardwareId hardware, ExprId extent) {
    ir::Var var{.name = fmt::format("{}_{}", name_of(hardware.kind), "xyz"[hardware.dim]),
                .type = ir::Type::of(num::DType::Int32),
                .kind = ir::VarKind::Launch};
    ir::Stmt stmt{
        .kind = StmtKind::LaunchThread, .var = f_.add(std::move(var)), .hardware = hardware};
    stmt.args = {extent};
    const VarId id = stmt.var;
    const ir::Range all = ir::range_of(f_, extent, facts_);
    facts_.set_range(id, {0, std::max<std::int64_t>(0, all.max - 1)});
    block.push_back(f_.add(std::move(stmt)));
    return id;
  }

  static bool is_one(const ir::Extent& extent) { return extent.is_constant() && extent.value == 1; }

  // x is always there: a launch has a block of at least one thread, in a grid of at least one CTA.
  void launch(Block& block) {
    using Kind = ir::HardwareId::Kind;
    for (std::size_t d = 0; d < 3; ++d)
      if (d == 0 || !is_one(shape_.grid[d]))
        ids_.block[d] = launch(block, {Kind::BlockIdx, d}, size_of(shape_.grid[d]));
    for (std::size_t d = 0; d < 3; ++d)
      if (d == 0 || shape_.block[d] != 1)
        ids_.thread[d] = launch(block, {Kind::ThreadIdx, d}, number(shape_.block[d]));
    for (std::size_t d = 0; d < 3 && shape_.has_clusters; ++d)
      if (d == 0 || shape_.cluster[d] != 1)
        ids_.cta_in_cluster[d] = launch(block, {Kind::ClusterCtaIdx, d}, number(shape_.cluster[d]));
    number_threads(block);
  }

  void number_threads(Block& block) {
    ids_.linear_thread = ids_.thread[0];
    if (!ids_.thread[1].valid() && !ids_.thread[2].valid()) return;
    const ir::Var var{.name = "linear_thread", .type = ir::Type::of(num::DType::Int32)};
    ir::Stmt stmt{.kind = StmtKind::Bind, .expr = linear(threads()), .var = f_.add(var)};
    ids_.linear_thread = stmt.var;
    facts_.set_range(stmt.var, {0, shape_.threads() - 1});
    block.push_back(f_.add(std::move(stmt)));
  }

  template <typename Size>
  Coordinate coordinate(const std::array<VarId, 3>& ids, Size&& size) {
    Coordinate out;
    for (std::size_t d = 0; d < 3; ++d) {
      if (ids[d].valid()) out.at[d] = ref(ids[d]);
      out.size[d] = size(d);
    }
    return out;
  }
  Coordinate threads() {
    return coordinate(ids_.thread, [&](std::size_t d) { return number(shape_.block[d]); });
  }
  Coordinate ctas() {
    return coordinate(ids_.block, [&](std::size_t d) { return size_of(shape_.grid[d]); });
  }
  Coordinate ranks() {
    return coordinate(ids_.cta_in_cluster,
                      [&](std::size_t d) { return number(shape_.cluster[d]); });
  }
  Coordinate clusters() {
    Coordinate out = ctas();
    for (std::size_t d = 0; d < 3; ++d) {
      if (out.at[d].valid()) out.at[d] = divided(out.at[d], shape_.cluster[d]);
      out.size[d] = divided(out.size[d], shape_.cluster[d]);
    }
    return out;
  }

  // --- scope ids ---

  ExprId part(const Coordinate& c, std::size_t dim, std::size_t dims) {
    if (dims == 1) return linear(c);
    return c.at[dim].valid() ? c.at[dim] : number(0);
  }

  ExprId value_of(ScopeIdKind kind, std::size_t dim, std::size_t dims) {
    const auto thread = [&] { return ref(ids_.linear_thread); };
    switch (kind) {
      case ScopeIdKind::ClusterId:
        return part(clusters(), dim, dims);
      case ScopeIdKind::CtaId:
        return part(ctas(), dim, dims);
      case ScopeIdKind::CtaIdInCluster:
        return part(ranks(), dim, dims);
      case ScopeIdKind::CtaIdInPair:
        return reduced(linear(ranks()), kPair);
      case ScopeIdKind::WarpgroupId:
        return divided(thread(), kWarpgroup);
      case ScopeIdKind::WarpId:
        return divided(thread(), kWarp);
      case ScopeIdKind::WarpIdInWg:
        return reduced(divided(thread(), kWarp), kWarpsOfGroup);
      case ScopeIdKind::LaneId:
        return reduced(thread(), kWarp);
      case ScopeIdKind::ThreadId:
        return dims == 1 ? thread() : part(threads(), dim, dims);
      case ScopeIdKind::ThreadIdInWg:
        return reduced(thread(), kWarpgroup);
    }
    return number(0);
  }

  ExprId bound_id(ir::HardwareId id) {
    const bool is_thread = id.kind == ir::HardwareId::Kind::ThreadIdx;
    const VarId var = (is_thread ? ids_.thread : ids_.block)[id.dim];
    return var.valid() ? ref(var) : number(0);
  }

  // --- statements ---

  void bind(VarId var, ExprId value, Span span, Block& out) {
    if (!is_used_[var.index]) return;
    f_.at(var).kind = ir::VarKind::Let;
    value = ir::simplify(f_, value, facts_);
    value = ir::cast(f_, value, f_[var].type).value();
    out.push_back(
        f_.add(ir::Stmt{.kind = StmtKind::Bind, .span = span, .expr = value, .var = var}));
  }

  void replace(const Block& in, Block& out) {
    for (const ir::StmtId id : in) {
      const ir::Stmt& stmt = f_[id];
      if (stmt.kind == StmtKind::ScopeIds) {
        for (std::size_t d = 0; d < stmt.vars.size(); ++d)
          bind(stmt.vars[d], value_of(stmt.scope_id, d, stmt.vars.size()), stmt.span, out);
        continue;
      }
      if (stmt.kind == StmtKind::For && stmt.loop == ir::LoopKind::ThreadBinding) {
        bind(stmt.var, bound_id(stmt.hardware), stmt.span, out);
        replace(stmt.body, out);
        continue;
      }
      out.push_back(id);
      if (!stmt.body.empty()) f_.at(id).body = replaced(stmt.body);
      if (!stmt.other.empty()) f_.at(id).other = replaced(stmt.other);
    }
  }
  Block replaced(const Block& in) {
    Block out;
    replace(in, out);
    return out;
  }

  ir::Function& f_;
  const ir::LaunchShape& shape_;
  LaunchVars ids_;
  ir::Facts facts_;
  std::vector<bool> is_used_;
  std::vector<ExprId> lets_;         // by VarId: what the body binds
  std::map<VarId, ExprId> outside_;  // the same where nothing of the body is bound
};

}  // namespace

LaunchVars resolve_scope_ids(ir::Function& function, const ir::LaunchShape& shape) {
  return Resolver(function, shape).run();
}

}  // namespace ww::lower
