// SPDX-License-Identifier: Apache-2.0
#include "ir/param_use.h"

#include "ir/visit.h"

namespace ww::ir {
namespace {

class Uses {
 public:
  explicit Uses(const Function& f) : f_(f), out_(f.params.size()) {}

  std::vector<ParamUse> find() {
    for_each_expr(f_, [&](ExprId id) { expr(f_[id]); });
    for_each_stmt(f_, [&](StmtId id) { stmt(f_[id]); });
    return std::move(out_);
  }

 private:
  ParamUse* use_of(BufferId buffer) {
    const Buffer& storage = f_[storage_of(f_, buffer)];
    if (storage.origin != BufferOrigin::Param) return nullptr;
    for (std::size_t i = 0; i < f_.params.size(); ++i)
      if (f_.params[i].var == storage.param) return &out_[i];
    return nullptr;
  }
  void reads(BufferId buffer) {
    if (ParamUse* use = use_of(buffer)) use->reads = true;
  }
  void writes(BufferId buffer) {
    if (ParamUse* use = use_of(buffer)) use->writes = true;
  }

  void stores(BufferId buffer) {
    if (ParamUse* use = use_of(buffer)) use->writes = use->stores = true;
  }

  void expr(const Expr& e) {
    if (e.op == ExprOp::Load) reads(e.buffer);
    if (!takes_address(e)) return;
    reads(e.buffer);
    writes(e.buffer);
  }

  void stmt(const Stmt& s) {
    if (s.kind == StmtKind::Store) stores(s.buffer);
    if (s.kind == StmtKind::Tile) tile(f_[s.tile]);
  }

  // The first region is written. It is read, too, where an op works in place or adds to it.
  void tile(const TileCall& call) {
    const std::vector<TileParam>& params = params_of(call.op);
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const auto* region = std::get_if<Region>(&call.args[i]);
      if (region == nullptr) continue;
      if (i == 0)
        stores(region->buffer);
      else if (params[i].name != "C" || reads_c(call))
        reads(region->buffer);
    }
    if (reads_target(call)) reads(std::get<Region>(call.args[0]).buffer);
  }

  // The constant given for a parameter; true where it is not known to be nothing.
  static bool is_set(const TileCall& call, std::string_view name) {
    const std::vector<TileParam>& params = params_of(call.op);
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].name != name) continue;
      const auto* value = std::get_if<Setting>(&call.args[i]);
      if (value == nullptr) return true;
      if (const auto* real = std::get_if<double>(value)) return *real != 0;
      if (const auto* truth = std::get_if<bool>(value)) return *truth;
      return true;
    }
    return false;
  }
  static bool reads_c(const TileCall& call) {
    return call.op != TileOp::Gemm || is_set(call, "beta");
  }
  static bool reads_target(const TileCall& call) {
    const std::vector<TileParam>& params = params_of(call.op);
    const bool in_place = params.size() > 1 && params[1].name == "src" && !params[1].required &&
                          std::holds_alternative<std::monostate>(call.args[1]) &&
                          call.op != TileOp::Zero;
    // What no index names stays as it was.
    const bool is_scatter = call.op == TileOp::Scatter || call.op == TileOp::ScatterAdd;
    return in_place || is_scatter || is_set(call, "accum");
  }

  const Function& f_;
  std::vector<ParamUse> out_;
};

}  // namespace

std::vector<ParamUse> param_uses(const Function& function) { return Uses(function).find(); }

const std::string& name_of_param(const Function& function, std::size_t param) {
  const BufferId buffer = buffer_of_param(function, param);
  return buffer.valid() && !function[buffer].name.empty()
             ? function[buffer].name
             : function[function.params[param].var].name;
}

VarId find_extent(const Function& function, std::string_view name) {
  for (std::uint32_t i = 0; i < function.var_count(); ++i) {
    const Var& var = function[VarId{i}];
    if (var.kind == VarKind::Extent && var.name == name) return {i};
  }
  return {};
}

}  // namespace ww::ir
