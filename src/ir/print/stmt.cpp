// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/below.h"
#include "ir/print/printer.h"
#include "ir/visit.h"

namespace ww::ir::printing {
namespace {

bool is_bare_scalar(const Buffer& buffer) {
  return buffer.is_scalar && buffer.scope == Scope::Local &&
         buffer.layout_kind != LayoutKind::Explicit && buffer.align == 0;
}

bool mentions(const Function& f, ExprId id, BufferId buffer) {
  return any_below(f, id, [&](const Expr& e) {
    const bool is_access =
        e.op == ExprOp::Load || e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
    return is_access && e.buffer == buffer;
  });
}

}  // namespace

void Writer::line(std::string_view text) {
  out_.append(static_cast<std::size_t>(indent_) * 4, ' ').append(text).append("\n");
}

void Writer::nested(const Block& inner) {
  ++indent_;
  if (inner.empty()) line("pass");
  block(inner);
  --indent_;
}

void Writer::block(const Block& block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Stmt& s = f_[block[i]];
    if (i + 1 < block.size() && is_scalar_init(s, f_[block[i + 1]])) {
      const Stmt& init = f_[block[++i]];
      line(fmt::format("{}: {} = {}", names_.of(s.buffer), annotation(Type::of(f_[s.buffer].dtype)),
                       expr(init.expr)));
      continue;
    }
    stmt(block[i]);
  }
}

// Does `next` give the scalar that `alloc` brings into being its first value?
bool Writer::is_scalar_init(const Stmt& alloc, const Stmt& next) const {
  return alloc.kind == StmtKind::Alloc && next.kind == StmtKind::Store &&
         next.buffer == alloc.buffer && is_bare_scalar(f_[alloc.buffer]) && is_zero(next.args) &&
         !mentions(f_, next.expr, alloc.buffer);
}

void Writer::stmt(StmtId id) {
  const Stmt& s = f_[id];
  switch (s.kind) {
    case StmtKind::Bind: {
      const Type type = f_[s.var].type;
      const std::string what =
          type == Type::text() ? "T.let" : fmt::format("T.let[{}]", annotation(type));
      return line(fmt::format("{}: {} = {}", names_.of(s.var), what, expr(s.expr)));
    }
    case StmtKind::Alloc: {
      const Buffer& buffer = f_[s.buffer];
      const std::string& name = names_.of(s.buffer);
      if (is_bare_scalar(buffer))
        return line(fmt::format("{}: {}", name, annotation(Type::of(buffer.dtype))));
      if (buffer.is_scalar)
        return line(fmt::format("{} = T.alloc_scalar(\"{}\", \"{}\")", name,
                                num::name_of(buffer.dtype), name_of(buffer.scope)));
      return line(fmt::format("{} = {}", name, allocation(buffer)));
    }
    case StmtKind::Declare:
      return line(fmt::format("{} = {}", names_.of(s.buffer), declaration(s.buffer)));
    case StmtKind::Store:
      return store(s);
    case StmtKind::For:
      return loop(s);
    case StmtKind::While:
      line(fmt::format("while {}:", expr(s.expr)));
      return nested(s.body);
    case StmtKind::If:
      return branch(s, "if");
    case StmtKind::Assert:
      if (s.message.empty()) return line(fmt::format("assert {}", expr(s.expr)));
      return line(fmt::format("assert {}, {}", expr(s.expr), quoted(s.message)));
    case StmtKind::Evaluate:
      if (f_[s.expr].type == Type::none()) return line(expr(s.expr));
      return line(fmt::format("T.evaluate({})", expr(s.expr)));
    case StmtKind::Break:
      return line("break");
    case StmtKind::Continue:
      return line("continue");
    case StmtKind::Return:
      return line("return");
    case StmtKind::Attr: {
      const std::string attr = fmt::format("T.attr({})", settings({{s.attr, s.setting}}));
      if (s.is_open) return line(attr);
      line(fmt::format("with {}:", attr));
      return nested(s.body);
    }
    case StmtKind::ScopeIds:
      return scope_ids(s);
    case StmtKind::LaunchThread:
      return line(fmt::format("{} = T.launch_thread({}, {})", names_.of(s.var),
                              quoted(name_of(s.hardware)), expr(s.args[0])));
    case StmtKind::Tile:
      return line(tile_call(f_[s.tile]));
    case StmtKind::Ptx:
      return line(ptx_call(f_[s.ptx]));
  }
}

void Writer::store(const Stmt& s) {
  const bool is_run =
      f_[s.expr].type.lanes > 1 && (s.args.empty() || f_[s.args.back()].type.lanes == 1);
  if (is_run)
    return line(fmt::format("{}.vstore([{}], {})", names_.of(s.buffer),
                            list(s.args, 0, s.args.size()), expr(s.expr)));
  line(fmt::format("{} = {}", element(s.buffer, s.args), expr(s.expr)));
}

void Writer::loop(const Stmt& s) {
  line(fmt::format("for {} in {}:", names_.of(s.var), range(s)));
  nested(s.body);
}

// `range(8)` where that says all, else the function of the loop's kind.
std::string Writer::range(const Stmt& s) const {
  const num::DType dtype = f_[s.var].type.dtype;
  const std::optional<std::int64_t> min = const_int(f_, s.args[0]);
  const std::optional<std::int64_t> count = const_int(f_, s.args[1]);
  const std::int64_t step =
      s.args.size() > 2 ? const_int(f_, s.args[2]).value_or(1) : std::int64_t{1};
  const auto text = [&](ExprId id) {  // the loop's type makes constants' types plain
    const std::optional<std::int64_t> value = const_int(f_, id);
    return value ? fmt::format("{}", *value) : expr(id);
  };
  std::vector<std::string> args;
  if (min != 0 || step != 1) args.push_back(text(s.args[0]));
  if (min && count) {
    args.push_back(fmt::format("{}", *min + *count * step));
  } else if (step == 1) {
    args.push_back(end_of(s.args[0], s.args[1]));
  } else {
    args.push_back(
        fmt::format("{} + {} * {}", expr(s.args[0], kSum), expr(s.args[1], kProduct), step));
  }
  if (s.loop == LoopKind::ThreadBinding) args.push_back(quoted(name_of(s.hardware)));
  const bool is_plain =
      s.loop == LoopKind::Serial && step == 1 && s.settings.empty() && dtype == num::DType::Int32;
  if (step != 1) args.push_back(fmt::format("step={}", step));
  if (dtype != num::DType::Int32) args.push_back(fmt::format("dtype=\"{}\"", num::name_of(dtype)));
  if (!s.settings.empty()) args.push_back(fmt::format("annotations={}", settings(s.settings)));
  return fmt::format("{}({})", is_plain ? "range" : fmt::format("T.{}", name_of(s.loop)),
                     fmt::join(args, ", "));
}

void Writer::branch(const Stmt& s, std::string_view keyword) {
  line(fmt::format("{} {}:", keyword, expr(s.expr)));
  nested(s.body);
  if (s.other.empty()) return;
  if (s.other.size() == 1 && f_[s.other[0]].kind == StmtKind::If)
    return branch(f_[s.other[0]], "elif");
  line("else:");
  nested(s.other);
}

void Writer::scope_ids(const Stmt& s) {
  std::vector<std::string> targets;
  if (names_.is_named(s)) {
    for (const VarId var : s.vars) targets.push_back(names_.of(var));
  }
  std::vector<std::string> extents;
  for (const ExprId extent : s.args) {
    if (extent.valid()) extents.push_back(expr(extent));
  }
  std::vector<std::string> args;
  if (!extents.empty()) args.push_back(fmt::format("[{}]", fmt::join(extents, ", ")));
  std::vector<std::string> preferred;
  for (const auto& [key, value] : s.settings) preferred.push_back(setting(value));
  if (!preferred.empty()) args.push_back(fmt::format("preferred=[{}]", fmt::join(preferred, ", ")));
  const num::DType dtype = s.vars.empty() ? num::DType::Int32 : f_[s.vars[0]].type.dtype;
  if (dtype != num::DType::Int32) args.push_back(fmt::format("dtype=\"{}\"", num::name_of(dtype)));
  line(fmt::format("{}{}T.{}({})", fmt::join(targets, ", "), targets.empty() ? "" : " = ",
                   facts_of(s.scope_id).name, fmt::join(args, ", ")));
}

}  // namespace ww::ir::printing
