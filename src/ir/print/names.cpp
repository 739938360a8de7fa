// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "ir/print/printer.h"
#include "ir/visit.h"

namespace ww::ir::printing {
namespace {

constexpr std::array<std::string_view, 35> kKeywords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// What the printed text itself refers to.
constexpr std::array<std::string_view, 9> kOwn = {
    "T", "Tx", "S", "R", "TileLayout", "ComposeLayout", "Axis", "range", "float"};

std::string as_identifier(std::string_view name) {
  if (name.empty()) return "v";
  std::string out;
  if (!is_letter(name.front())) out = "_";
  for (const char c : name) out += is_name_char(c) ? c : '_';
  if (std::ranges::find(kKeywords, out) != kKeywords.end()) out += '_';
  return out;
}

}  // namespace

Names::Names(const Function& f) : f_(f), used_(f.var_count()) {
  for (std::uint32_t i = 0; i < f.var_count(); ++i)
    vars_.push_back(as_identifier(f[VarId{i}].name));
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i)
    buffers_.push_back(as_identifier(f[BufferId{i}].name));
  for (const auto& name : kOwn) frames_.reserve(std::string(name));
  note_uses();
  for (const std::string& axis : axes_) frames_.reserve(axis);
  name_params();
  name_block(f.host);
  name_block(f.body);
}

void Names::note_uses() {
  for_each_expr(f_, [&](ExprId id) {
    if (f_[id].op == ExprOp::Var) used_[f_[id].var.index] = true;
  });
  for (const Param& param : f_.params) {
    if (param.buffer.valid()) note_layout(f_[param.buffer]);
  }
  for_each_stmt(f_, [&](StmtId id) {
    const Stmt& s = f_[id];
    if (s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare) note_layout(f_[s.buffer]);
  });
}

void Names::note_layout(const Buffer& buffer) {
  if (buffer.layout_kind != LayoutKind::Explicit || !buffer.layout) return;
  has_layouts_ = true;
  const layout::TileLayout& tile = buffer.layout->tile();
  for (const layout::Iter& iter : tile.shard()) note_axis(iter.axis, false);
  for (const layout::Iter& iter : tile.replica()) note_axis(iter.axis, false);
  for (const layout::Axis axis : tile.offset().axes())
    note_axis(axis, !tile.offset().on(axis).is_constant());
}

void Names::note_axis(layout::Axis axis, bool named_even_if_m) {
  if (axis == layout::Axis() && !named_even_if_m) return;
  if (!layout::Axis::builtin(axis.name())) {
    has_own_axes_ = true;
    return;
  }
  const std::string name(axis.name());
  if (std::ranges::find(axes_, name) == axes_.end()) axes_.push_back(name);
}

void Names::name_params() {
  std::vector<bool> declared(f_.var_count());  // extents that an annotation declares
  for (const Param& param : f_.params) {
    if (!param.buffer.valid()) {
      bind(param.var);
      continue;
    }
    bind(param.buffer);
    vars_[param.var.index] = of(param.buffer) + ".data";
    for (const ExprId extent : f_[param.buffer].shape) {
      const Expr& e = f_[extent];
      if (e.op == ExprOp::Var && f_[e.var].kind == VarKind::Extent && !declared[e.var.index]) {
        declared[e.var.index] = true;
        bind(e.var);
        host_extents_.push_back(e.var);
      }
    }
  }
  for (std::uint32_t i = 0; i < f_.var_count(); ++i) {
    if (!used_[i] || declared[i] || f_[VarId{i}].kind != VarKind::Extent) continue;
    bind(VarId{i});
    extents_.push_back(VarId{i});
  }
  const bool has_other_type = std::ranges::any_of(
      host_extents_, [&](VarId var) { return f_[var].type != Type::of(num::DType::Int32); });
  if (!has_other_type) {
    host_extents_.clear();
    return;
  }
  host_extents_.insert(host_extents_.end(), extents_.begin(), extents_.end());
  extents_.clear();
}

void Names::name_block(const Block& block) {
  for (const StmtId id : block) name_stmt(f_[id]);
}

void Names::name_stmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Bind:
    case StmtKind::LaunchThread:
      bind(stmt.var);
      break;
    case StmtKind::Alloc:
    case StmtKind::Declare:
      bind(stmt.buffer);
      break;
    case StmtKind::ScopeIds:
      if (is_named(stmt)) {
        for (const VarId var : stmt.vars) bind(var);
      }
      break;
    case StmtKind::For:
      name_frame(stmt.body, stmt.var);
      break;
    default:
      name_frame(stmt.body);
      name_frame(stmt.other);
      break;
  }
}

bool Names::is_named(const Stmt& scope_ids) const {
  return std::ranges::any_of(scope_ids.vars,
                             [&](VarId var) { return is_used(var) || !f_[var].name.empty(); });
}

void Names::name_frame(const Block& block, VarId loop_var) {
  frames_.in_frame([&] {
    if (loop_var.valid()) bind(loop_var);
    name_block(block);
  });
}

void Names::bind(VarId var) { vars_[var.index] = frames_.bind(vars_[var.index]); }
void Names::bind(BufferId buffer) { buffers_[buffer.index] = frames_.bind(buffers_[buffer.index]); }

}  // namespace ww::ir::printing
