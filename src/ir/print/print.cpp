// SPDX-License-Identifier: Apache-2.0
// Statements and functions.
#include "ir/print/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/join.h"
#include "ir/below.h"
#include "ir/print/printer.h"
#include "ir/visit.h"

namespace ww::ir {

namespace printing {
namespace {

// What `@T.prim_func(…)` takes; other attributes stand in the body.
constexpr std::array<std::string_view, 4> kDecoratorArgs = {"private", "check_well_formed", "s_tir",
                                                            "persistent"};

bool is_decorator_arg(std::string_view key) {
  return std::ranges::find(kDecoratorArgs, key) != kDecoratorArgs.end();
}

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

// Does `next` give the scalar that `alloc` brings into being its first value?
bool is_scalar_init(const Context& c, const Stmt& alloc, const Stmt& next) {
  return alloc.kind == StmtKind::Alloc && next.kind == StmtKind::Store &&
         next.buffer == alloc.buffer && is_bare_scalar(c.f[alloc.buffer]) &&
         is_zero(c, next.args) && !mentions(c.f, next.expr, alloc.buffer);
}

// `loop_range(c_, 8)` where that says all, else the function of the loop's kind.
std::string loop_range(const Context& c, const Stmt& s) {
  const num::DType dtype = c.f[s.var].type.dtype;
  const std::optional<std::int64_t> min = const_int(c.f, s.first());
  const std::optional<std::int64_t> count = const_int(c.f, s.trips());
  const std::int64_t step = step_of(c.f, s);
  const auto text = [&](ExprId id) {  // the loop's type makes constants' types plain
    const std::optional<std::int64_t> value = const_int(c.f, id);
    return value ? fmt::format("{}", *value) : expr(c, id);
  };
  std::vector<std::string> args;
  if (min != 0 || step != 1) args.push_back(text(s.args[0]));
  if (min && count) {
    args.push_back(fmt::format("{}", *min + *count * step));
  } else if (step == 1) {
    args.push_back(end_of(c, s.args[0], s.args[1]));
  } else {
    args.push_back(
        fmt::format("{} + {} * {}", expr(c, s.args[0], kSum), expr(c, s.args[1], kProduct), step));
  }
  if (s.loop == LoopKind::ThreadBinding) args.push_back(quoted(name_of(s.hardware)));
  const bool is_plain =
      s.loop == LoopKind::Serial && step == 1 && s.settings.empty() && dtype == num::DType::Int32;
  if (step != 1) args.push_back(fmt::format("step={}", step));
  if (dtype != num::DType::Int32) args.push_back(fmt::format("dtype=\"{}\"", num::name_of(dtype)));
  if (!s.settings.empty()) args.push_back(fmt::format("annotations={}", settings(c, s.settings)));
  return fmt::format("{}({})", is_plain ? "range" : fmt::format("T.{}", name_of(s.loop)),
                     join(args, ", "));
}

class FunctionWriter {
 public:
  explicit FunctionWriter(const Function& f) : c_(f) {}

  void stmt(StmtId id) {
    const Stmt& s = c_.f[id];
    switch (s.kind) {
      case StmtKind::Bind: {
        const Type type = c_.f[s.var].type;
        const std::string what =
            type == Type::text() ? "T.let" : fmt::format("T.let[{}]", annotation(type));
        return line(fmt::format("{}: {} = {}", c_.names.of(s.var), what, expr(c_, s.expr)));
      }
      case StmtKind::Alloc: {
        const Buffer& buffer = c_.f[s.buffer];
        const std::string& name = c_.names.of(s.buffer);
        if (is_bare_scalar(buffer))
          return line(fmt::format("{}: {}", name, annotation(Type::of(buffer.dtype))));
        if (buffer.is_scalar)
          return line(fmt::format("{} = T.alloc_scalar(\"{}\", \"{}\")", name,
                                  num::name_of(buffer.dtype), name_of(buffer.scope)));
        return line(fmt::format("{} = {}", name, allocation(c_, buffer)));
      }
      case StmtKind::Declare:
        return line(fmt::format("{} = {}", c_.names.of(s.buffer), declaration(c_, s.buffer)));
      case StmtKind::Store:
        return store(s);
      case StmtKind::For:
        return loop(s);
      case StmtKind::While:
        line(fmt::format("while {}:", expr(c_, s.expr)));
        return nested(s.body);
      case StmtKind::If:
        return branch(s, "if");
      case StmtKind::Assert:
        if (s.message.empty()) return line(fmt::format("assert {}", expr(c_, s.expr)));
        return line(fmt::format("assert {}, {}", expr(c_, s.expr), quoted(s.message)));
      case StmtKind::Evaluate:
        if (c_.f[s.expr].type == Type::none()) return line(expr(c_, s.expr));
        return line(fmt::format("T.evaluate({})", expr(c_, s.expr)));
      case StmtKind::Break:
        return line("break");
      case StmtKind::Continue:
        return line("continue");
      case StmtKind::Return:
        return line("return");
      case StmtKind::Attr: {
        const std::string attr = fmt::format("T.attr({})", settings(c_, {{s.attr, s.setting}}));
        if (s.is_open) return line(attr);
        line(fmt::format("with {}:", attr));
        return nested(s.body);
      }
      case StmtKind::ScopeIds:
        return scope_ids(s);
      case StmtKind::LaunchThread:
        return line(fmt::format("{} = T.launch_thread({}, {})", c_.names.of(s.var),
                                quoted(name_of(s.hardware)), expr(c_, s.args[0])));
      case StmtKind::Tile:
        return line(tile_call(c_, c_.f[s.tile]));
      case StmtKind::Ptx:
        return line(ptx_call(c_, c_.f[s.ptx]));
    }
  }

  void function(PrintOptions options) {
    if (options.header) imports();
    signature();
    ++indent_;
    body();
    --indent_;
  }

  std::string take() { return std::move(out_); }
  /// The place of each line.
  std::vector<Span> take_spans() { return std::move(spans_); }

 private:
  void line(std::string_view text) {
    out_.append(static_cast<std::size_t>(indent_) * 4, ' ').append(text).append("\n");
    spans_.push_back(at_);
  }

  void block(const Block& block) {
    const Span outer = at_;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Stmt& s = c_.f[block[i]];
      at_ = s.span.known ? s.span : outer;
      if (i + 1 < block.size() && is_scalar_init(c_, s, c_.f[block[i + 1]])) {
        const Stmt& init = c_.f[block[++i]];
        line(fmt::format("{}: {} = {}", c_.names.of(s.buffer),
                         annotation(Type::of(c_.f[s.buffer].dtype)), expr(c_, init.expr)));
        continue;
      }
      stmt(block[i]);
    }
    at_ = outer;
  }

  void nested(const Block& inner) {
    ++indent_;
    if (inner.empty()) line("pass");
    block(inner);
    --indent_;
  }

  void store(const Stmt& s) {
    const bool is_run =
        c_.f[s.expr].type.lanes > 1 && (s.args.empty() || c_.f[s.args.back()].type.lanes == 1);
    if (is_run)
      return line(fmt::format("{}.vstore([{}], {})", c_.names.of(s.buffer),
                              expr_list(c_, s.args, 0, s.args.size()), expr(c_, s.expr)));
    line(fmt::format("{} = {}", element(c_, s.buffer, s.args), expr(c_, s.expr)));
  }

  void loop(const Stmt& s) {
    line(fmt::format("for {} in {}:", c_.names.of(s.var), loop_range(c_, s)));
    nested(s.body);
  }

  void branch(const Stmt& s, std::string_view keyword) {
    line(fmt::format("{} {}:", keyword, expr(c_, s.expr)));
    nested(s.body);
    if (s.other.empty()) return;
    if (s.other.size() == 1 && c_.f[s.other[0]].kind == StmtKind::If)
      return branch(c_.f[s.other[0]], "elif");
    line("else:");
    nested(s.other);
  }

  void scope_ids(const Stmt& s) {
    std::vector<std::string> targets;
    if (c_.names.is_named(s)) {
      for (const VarId var : s.vars) targets.push_back(c_.names.of(var));
    }
    std::vector<std::string> extents;
    for (const ExprId extent : s.args) {
      if (extent.valid()) extents.push_back(expr(c_, extent));
    }
    std::vector<std::string> args;
    if (!extents.empty()) args.push_back(fmt::format("[{}]", join(extents, ", ")));
    std::vector<std::string> preferred;
    for (const auto& [key, value] : s.settings) preferred.push_back(setting(c_, value));
    if (!preferred.empty()) args.push_back(fmt::format("preferred=[{}]", join(preferred, ", ")));
    const num::DType dtype = s.vars.empty() ? num::DType::Int32 : c_.f[s.vars[0]].type.dtype;
    if (dtype != num::DType::Int32)
      args.push_back(fmt::format("dtype=\"{}\"", num::name_of(dtype)));
    line(fmt::format("{}{}T.{}({})", join(targets, ", "), targets.empty() ? "" : " = ",
                     facts_of(s.scope_id).name, join(args, ", ")));
  }

  // The second line is what tells the reader which spelling of the language follows.
  void imports() {
    line("from tvm.script import tirx as T");
    line("from tvm.script.tirx import tile as Tx");
    if (c_.names.has_layouts()) {
      std::vector<std::string> names = {"S", "R", "TileLayout", "ComposeLayout"};
      if (c_.names.has_own_axes()) names.emplace_back("Axis");
      names.insert(names.end(), c_.names.axes().begin(), c_.names.axes().end());
      line(fmt::format("from tvm.tirx.layout import {}", join(names, ", ")));
    }
    line("");
  }

  void signature() {
    std::vector<std::string> arguments;
    for (const auto& [key, value] : c_.f.attrs) {
      if (is_decorator_arg(key)) arguments.push_back(fmt::format("{}={}", key, setting(c_, value)));
    }
    for (const VarId extent : c_.names.host_extents())
      line(fmt::format("{} = {}()", c_.names.of(extent), annotation(c_.f[extent].type)));
    line(arguments.empty() ? "@T.prim_func"
                           : fmt::format("@T.prim_func({})", join(arguments, ", ")));
    std::vector<std::string> params;
    for (const Param& param : c_.f.params) {
      params.push_back(param.buffer.valid() ? fmt::format("{}: {}", c_.names.of(param.buffer),
                                                          buffer_annotation(c_, c_.f[param.buffer]))
                                            : fmt::format("{}: {}", c_.names.of(param.var),
                                                          annotation(c_.f[param.var].type)));
    }
    line(fmt::format("def {}({}):", c_.f.name, join(params, ", ")));
  }

  void body() {
    const std::size_t before = out_.size();
    std::vector<std::pair<std::string, Setting>> attrs;
    for (const auto& attr : c_.f.attrs) {
      if (!is_decorator_arg(attr.first)) attrs.push_back(attr);
    }
    if (!attrs.empty()) line(fmt::format("T.func_attr({})", settings(c_, attrs)));
    for (const VarId extent : c_.names.extents())
      line(fmt::format("{} = {}()", c_.names.of(extent), annotation(c_.f[extent].type)));
    block(c_.f.host);
    if (c_.f.has_device_entry) line("T.device_entry()");
    block(c_.f.body);
    if (out_.size() == before) line("pass");
  }

  Context c_;
  std::string out_;
  std::vector<Span> spans_;  // of the lines
  Span at_ = {};             // of the statement that is being written
  int indent_ = 0;
};

}  // namespace
}  // namespace printing

std::string print(const Function& function, PrintOptions options) {
  printing::FunctionWriter writer(function);
  writer.function(options);
  return writer.take();
}

PrintedLines print_lines(const Function& function, PrintOptions options) {
  printing::FunctionWriter writer(function);
  writer.function(options);
  return {writer.take(), writer.take_spans()};
}

std::string print(const Function& function, ExprId expr) {
  return printing::expr(printing::Context(function), expr);
}

std::string print(const Function& function, StmtId stmt) {
  printing::FunctionWriter writer(function);
  writer.stmt(stmt);
  return writer.take();
}

std::string print(const Function& function, const Region& region) {
  return printing::region(printing::Context(function), region);
}

std::string tile_name(const TileCall& call) {
  if (call.scope == Unit::Thread) return fmt::format("Tx.{}", name_of(call.op));
  const bool is_short = call.scope == Unit::Warpgroup;
  return fmt::format("Tx.{}.{}", is_short ? "wg" : name_of(call.scope), name_of(call.op));
}

}  // namespace ww::ir
