// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/supported.h"

#include <algorithm>

#include "eval/ptx/instruction.h"
#include "ir/reduction.h"
#include "ir/settings.h"
#include "ir/visit.h"

namespace ww::eval {
namespace {

using ir::Function;
using ir::Stmt;
using ir::StmtKind;

Diag not_evaluated(std::string text, Span span) {
  return Diag{DiagKind::NotEvaluated, std::move(text), span, {}};
}

bool is_cluster_reduction(const ir::TileCall& call) {
  return call.scope == ir::Unit::Cluster && ir::is_reduction(call.op);
}

// Into tensor memory, or with factors from there, or with scales of blocks.
bool is_tensor_product(const Function& function, const ir::TileCall& call) {
  for (const std::size_t i : {0U, 1U, 2U})
    if (function[std::get<ir::Region>(call.args[i]).buffer].scope == ir::Scope::Tmem) return true;
  return std::holds_alternative<ir::Region>(call.args[3]) ||
         std::holds_alternative<ir::Region>(call.args[4]);
}

// How the copy engine makes a copy does not change what it means, but for who hears of it.
bool is_known_of_maps(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "mbar",       "mbarrier_addr",         "cache_hint", "remote_cta_id", "cta_mask",
      "tensor_map", "tensormap_l2_promotion"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

Result<void> require_tile_call(const Function& function, const Stmt& stmt) {
  const ir::TileCall& call = function[stmt.tile];
  if (call.op == ir::TileOp::GemmAsync && is_tensor_product(function, call))
    return fail(not_evaluated("`gemm_async` into tensor memory is not evaluated", stmt.span));
  if (call.scope > ir::Unit::Cta && !is_cluster_reduction(call))
    return fail(not_evaluated(fmt::format("`{}` of a whole {} is not evaluated",
                                          ir::name_of(call.op), ir::name_of(call.scope)),
                              stmt.span));
  if (call.op != ir::TileOp::CopyAsync) return {};
  for (const auto& [key, setting] : call.config) {
    const ir::SettingFacts* facts = ir::find_setting_facts(call.op, key);
    if (facts != nullptr && (facts->is_of_tensor_maps() || key == "decompress") &&
        !is_known_of_maps(key))
      return fail(
          not_evaluated(fmt::format("`copy_async` with `{}=` is not evaluated", key), stmt.span));
    if (key == "cta_group" && setting != ir::Setting(std::int64_t{1}))
      return fail(not_evaluated("`copy_async` of two CTAs together is not evaluated", stmt.span));
  }
  return {};
}

Result<void> require_calls(const Function& function, ir::ExprId root, Span span) {
  if (!root.valid()) return {};
  const ir::Expr& expr = function[root];
  if (expr.op == ir::ExprOp::Call && expr.callee == ir::Intrinsic::FuncCall)
    return fail(not_evaluated("`T.cuda.func_call` is not evaluated: its source is C++",
                              expr.span.known ? expr.span : span));
  for (const ir::ExprId arg : expr.args) WW_TRY_VOID(require_calls(function, arg, span));
  return {};
}

}  // namespace

Result<void> require_evaluated(const Function& function, const Stmt& stmt) {
  WW_TRY_VOID(require_calls(function, stmt.expr, stmt.span));
  for (const ir::ExprId arg : stmt.args) WW_TRY_VOID(require_calls(function, arg, stmt.span));
  if (stmt.kind == StmtKind::Tile) return require_tile_call(function, stmt);
  if (stmt.kind != StmtKind::Ptx) return {};
  const ir::PtxCall& call = function[stmt.ptx];
  if (decode(call).kind == PtxKind::Unknown)
    return fail(not_evaluated(fmt::format("`{}` is not evaluated{}", call.opcode.text(),
                                          call.opcode.mnemonic() == "wgmma.mma_async"
                                              ? ": write `Tx.wg.gemm_async`, whose descriptors "
                                                "the compiler makes, or run it on the virtual GPU"
                                              : ""),
                              stmt.span));
  return {};
}

bool is_evaluated(const Function& function) {
  bool out = true;
  ir::for_each_stmt(function, function.body, [&](ir::StmtId id) {
    out = out && require_evaluated(function, function[id]).has_value();
  });
  return out;
}

}  // namespace ww::eval
