// SPDX-License-Identifier: Apache-2.0
#include "eval/support.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "ir/settings.h"
#include "ir/visit.h"

namespace ww::eval {
namespace {

using ir::Function;
using ir::Stmt;
using ir::StmtKind;

// By the beginning of the opcode, up to a dot or its end; the first row that fits counts.
struct Row {
  std::string_view prefix;
  PtxKind kind;
};
// clang-format off
constexpr std::array kRows = {
    Row{"fence",                           PtxKind::Nothing},
    Row{"membar",                          PtxKind::Nothing},
    Row{"tcgen05.fence::before_thread_sync", PtxKind::Nothing},
    Row{"tcgen05.fence::after_thread_sync", PtxKind::Nothing},
    Row{"setmaxnreg",                      PtxKind::Nothing},
    Row{"griddepcontrol",                  PtxKind::Nothing},
    Row{"prefetch",                        PtxKind::Nothing},
    Row{"nanosleep",                       PtxKind::Nothing},
    Row{"bar.warp.sync",                   PtxKind::WarpSync},
    Row{"bar.sync",                        PtxKind::BarSync},
    Row{"bar.cta.sync",                    PtxKind::BarSync},
    Row{"barrier.sync",                    PtxKind::BarSync},
    Row{"barrier.cta.sync",                PtxKind::BarSync},
    Row{"bar.arrive",                      PtxKind::BarArrive},
    Row{"bar.cta.arrive",                  PtxKind::BarArrive},
    Row{"barrier.arrive",                  PtxKind::BarArrive},
    Row{"barrier.cta.arrive",              PtxKind::BarArrive},
    Row{"cp.async.commit_group",           PtxKind::CommitGroup},
    Row{"cp.async.wait_group",             PtxKind::WaitGroup},
    Row{"cp.async.wait_all",               PtxKind::WaitAll},
    Row{"cp.async.bulk.commit_group",      PtxKind::CommitBulk},
    Row{"cp.async.bulk.wait_group",        PtxKind::WaitBulk},
    Row{"cp.async.ca",                     PtxKind::CopyAsync},
    Row{"cp.async.cg",                     PtxKind::CopyAsync},
    Row{"mbarrier.init",                   PtxKind::MbarInit},
    Row{"mbarrier.inval",                  PtxKind::MbarInval},
    Row{"mbarrier.arrive.expect_tx",       PtxKind::Unknown},
    Row{"mbarrier.arrive",                 PtxKind::MbarArrive},
    Row{"mbarrier.try_wait.parity",        PtxKind::MbarTest},
    Row{"mbarrier.test_wait.parity",       PtxKind::MbarTest},
    Row{"elect.sync",                      PtxKind::Elect},
    Row{"ldmatrix.sync.aligned.m8n8",      PtxKind::LoadMatrix},
    Row{"stmatrix.sync.aligned.m8n8",      PtxKind::StoreMatrix},
    Row{"mma.sync.aligned.m16n8k16",       PtxKind::Mma},
    Row{"mma.sync.aligned.m16n8k8",        PtxKind::Mma},
    Row{"tcgen05.alloc.cta_group::1",      PtxKind::TmemAlloc},
    Row{"tcgen05.dealloc.cta_group::1",    PtxKind::TmemFree},
    Row{"tcgen05.relinquish_alloc_permit", PtxKind::TmemRelinquish},
    Row{"tcgen05.ld.sync",                 PtxKind::TmemLoad},
    Row{"tcgen05.st.sync",                 PtxKind::TmemStore},
    Row{"tcgen05.wait::ld",                PtxKind::TmemWaitLoad},
    Row{"tcgen05.wait::st",                PtxKind::TmemWaitStore},
    Row{"tcgen05.cp.cta_group::1",         PtxKind::TensorCopy},
    Row{"tcgen05.commit.cta_group::1",     PtxKind::TensorCommit},
    Row{"ld.global",                       PtxKind::Load},
    Row{"ld.shared",                       PtxKind::Load},
    Row{"ld.shared::cta",                  PtxKind::Load},
    Row{"st.global",                       PtxKind::Store},
    Row{"st.shared",                       PtxKind::Store},
    Row{"st.shared::cta",                  PtxKind::Store},
    Row{"mov.b32",                         PtxKind::Move},
    Row{"mov.u32",                         PtxKind::Move},
    Row{"mov.s32",                         PtxKind::Move},
    Row{"mov.f32",                         PtxKind::Move},
    Row{"mov.b64",                         PtxKind::Move},
    Row{"mov.u64",                         PtxKind::Move},
    Row{"mov.f64",                         PtxKind::Move},
    Row{"add.u32",                         PtxKind::Add},
    Row{"add.s32",                         PtxKind::Add},
    Row{"add.u64",                         PtxKind::Add},
    Row{"add.s64",                         PtxKind::Add},
    Row{"add.f32",                         PtxKind::Add},
    Row{"add.rn.f32",                      PtxKind::Add},
};
// clang-format on

bool begins(std::string_view opcode, std::string_view prefix) {
  if (!opcode.starts_with(prefix)) return false;
  return opcode.size() == prefix.size() || opcode[prefix.size()] == '.';
}

// Forms that share the beginning of one we execute, but not its meaning.
bool is_other_form(PtxKind kind, std::string_view opcode) {
  switch (kind) {
    case PtxKind::LoadMatrix:
    case PtxKind::StoreMatrix:
      return type_bits(opcode) != 16;
    case PtxKind::Mma:
      return !opcode.ends_with(".row.col.f32.f16.f16.f32") &&
             !opcode.ends_with(".row.col.f32.bf16.bf16.f32");
    case PtxKind::Load:
    case PtxKind::Store:
      return type_bits(opcode) < 8 || type_bits(opcode) > 64;
    case PtxKind::TensorCopy:
      return has_part(opcode, "b8x16");
    case PtxKind::TensorCommit:
      return has_part(opcode, "multicast::cluster");
    case PtxKind::MbarArrive:
      return has_part(opcode, "shared::cluster") || has_part(opcode, "noComplete");
    case PtxKind::CopyAsync:
      return has_part(opcode, "L2::cache_hint");
    case PtxKind::BarSync:
    case PtxKind::BarArrive:
      return has_part(opcode, "red");
    default:
      return false;
  }
}

Diag not_evaluated(std::string text, Span span) {
  return Diag{DiagKind::NotEvaluated, std::move(text), span, {}};
}

Result<void> require_tile_call(const Function& function, const Stmt& stmt) {
  const ir::TileCall& call = function[stmt.tile];
  if (call.op == ir::TileOp::GemmAsync)
    return fail(not_evaluated("`gemm_async` is not evaluated", stmt.span));
  if (call.scope > ir::Unit::Cta)
    return fail(not_evaluated(fmt::format("`{}` of a whole {} is not evaluated",
                                          ir::name_of(call.op), ir::name_of(call.scope)),
                              stmt.span));
  if (call.op != ir::TileOp::CopyAsync) return {};
  for (const auto& [key, setting] : call.config) {
    const ir::SettingFacts* facts = ir::find_setting_facts(call.op, key);
    if (facts != nullptr && (facts->is_of_tensor_maps() || key == "decompress"))
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

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (!opcode.empty()) {
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    parts.push_back(opcode.substr(0, dot));
    opcode.remove_prefix(std::min(dot + 1, opcode.size()));
  }
  return parts;
}

bool has_part(std::string_view opcode, std::string_view part) {
  const std::vector<std::string_view> parts = parts_of(opcode);
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

int type_bits(std::string_view opcode) {
  const std::string_view last = opcode.substr(opcode.rfind('.') + 1);
  const std::size_t digit = last.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 0;
  int bits = 0;
  std::from_chars(last.data() + digit, last.data() + last.size(), bits);
  return bits;
}

int count_of(std::string_view opcode, char letter) {
  for (const std::string_view part : parts_of(opcode)) {
    if (part.size() < 2 || part[0] != letter || !is_digit(part[1])) continue;
    int count = 1;
    const char* end = part.data() + part.size();
    if (std::from_chars(part.data() + 1, end, count).ptr == end) return count;
  }
  return 1;
}

PtxKind ptx_kind(std::string_view opcode) {
  for (const Row& row : kRows)
    if (begins(opcode, row.prefix))
      return is_other_form(row.kind, opcode) ? PtxKind::Unknown : row.kind;
  return PtxKind::Unknown;
}

bool is_warp_collective(std::string_view opcode) {
  switch (ptx_kind(opcode)) {
    case PtxKind::Elect:
    case PtxKind::LoadMatrix:
    case PtxKind::StoreMatrix:
    case PtxKind::Mma:
    case PtxKind::TmemAlloc:
    case PtxKind::TmemFree:
    case PtxKind::TmemRelinquish:
    case PtxKind::TmemLoad:
    case PtxKind::TmemStore:
    case PtxKind::TmemWaitLoad:
    case PtxKind::TmemWaitStore:
      return true;
    default:
      return false;
  }
}

Result<void> require_evaluated(const Function& function, const Stmt& stmt) {
  WW_TRY_VOID(require_calls(function, stmt.expr, stmt.span));
  for (const ir::ExprId arg : stmt.args) WW_TRY_VOID(require_calls(function, arg, stmt.span));
  if (stmt.kind == StmtKind::Tile) return require_tile_call(function, stmt);
  if (stmt.kind != StmtKind::Ptx) return {};
  const std::string& opcode = function[stmt.ptx].opcode;
  if (ptx_kind(opcode) == PtxKind::Unknown)
    return fail(not_evaluated(fmt::format("`{}` is not evaluated", opcode), stmt.span));
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
