// SPDX-License-Identifier: Apache-2.0
// Statements.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/wide.h"
#include "emit/cuda/types.h"
#include "emit/cuda/writer.h"
#include "ir/effects.h"

namespace ww::emit::cuda {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::LoopKind;
using ir::Stmt;
using ir::StmtKind;
using num::DType;

bool is_jump(StmtKind kind) {
  return kind == StmtKind::Break || kind == StmtKind::Continue || kind == StmtKind::Return;
}

bool declares(const ir::Function& f, const ir::Block& block) {
  return std::ranges::any_of(block, [&](ir::StmtId id) {
    const StmtKind kind = f[id].kind;
    return kind == StmtKind::Bind || kind == StmtKind::Alloc || kind == StmtKind::Declare ||
           kind == StmtKind::LaunchThread;
  });
}

}  // namespace

void Writer::line(std::string_view text) {
  out_.append(static_cast<std::size_t>(indent_) * 2, ' ').append(text).append("\n");
}

void Writer::nested(const ir::Block& inner) {
  ++indent_;
  block(inner);
  --indent_;
}

// What stands behind a jump is never reached, and nvcc warns about it.
void Writer::block(const ir::Block& block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Stmt& s = f_[block[i]];
    if (i + 1 < block.size() && init(s, f_[block[i + 1]])) {
      settle(f_[block[++i]]);
      continue;
    }
    stmt(s);
    settle(s);
    if (is_jump(s.kind)) return;
  }
}

void Writer::stmt(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Bind:
      return bind(s);
    case StmtKind::Alloc:
      return alloc(s);
    case StmtKind::Declare:
      return declare(s);
    case StmtKind::Store:
      return store(s);
    case StmtKind::For:
      return loop(s);
    case StmtKind::While:
      line(fmt::format("while ({}) {{", expr(s.expr)));
      nested(s.body);
      return line("}");
    case StmtKind::If:
      branch(s, "if");
      return line("}");
    case StmtKind::Assert:
      return assertion(s);
    case StmtKind::Evaluate:
      if (f_[s.expr].op == ExprOp::Call && has_effect(s.expr))
        return line(fmt::format("{};", expr(s.expr)));
      return line(fmt::format("static_cast<void>({});", expr(s.expr)));
    case StmtKind::Break:
      return line("break;");
    case StmtKind::Continue:
      return line("continue;");
    case StmtKind::Return:
      return line("return;");
    case StmtKind::Attr:
      return attr(s);
    case StmtKind::LaunchThread:
      return launch_thread(s);
    case StmtKind::Ptx:
      return ptx(s);
    case StmtKind::ScopeIds:
    case StmtKind::Tile:
      refuse(s.span,
             fmt::format("a `{}` statement, expected a lowered program", ir::name_of(s.kind)));
  }
}

// `int row = tid / 4;` for a scalar and the store that follows it.
bool Writer::init(const Stmt& alloc, const Stmt& next) {
  if (alloc.kind != StmtKind::Alloc || next.kind != StmtKind::Store ||
      next.buffer != alloc.buffer || !names_.is_variable(alloc.buffer))
    return false;
  const auto reads = [&](auto&& self, ExprId id) -> bool {
    const Expr& e = f_[id];
    if (e.buffer == alloc.buffer && e.op == ExprOp::Load) return true;
    return std::ranges::any_of(e.args, [&](ExprId arg) { return self(self, arg); });
  };
  if (reads(reads, next.expr)) return false;
  line(fmt::format("{}{} {} = {};", names_.is_read(alloc.buffer) ? "" : "[[maybe_unused]] ",
                   value_type(f_[alloc.buffer].dtype), names_.of(alloc.buffer), expr(next.expr)));
  return true;
}

void Writer::bind(const Stmt& s) {
  const ir::Type type = f_[s.var].type;
  const bool is_used = names_.is_used(s.var);
  if (type == ir::Type::text() || (!is_used && !has_effect(s.expr))) return;
  line(fmt::format("{}{}{} {} = {};", is_used ? "" : "[[maybe_unused]] ",
                   type.is_pointer() ? "" : "const ", type_text(type), names_.of(s.var),
                   type.is_pointer() ? pointer_as(s.expr, type) : expr(s.expr)));
}

void Writer::store(const Stmt& s) {
  if (f_[s.expr].type.lanes > 1) return vector_store(s);
  const std::string place = flat_index(s.buffer, s.args, s.span);
  line(fmt::format("{} = {};", element_at(s.buffer, place, s.span), expr(s.expr)));
}

// --- control -------------------------------------------------------------------------------------

// The bounds are evaluated once, so what reads memory there gets a name before the loop.
std::string Writer::loop_end(const Stmt& s, std::int64_t step) {
  const std::optional<std::int64_t> min = ir::const_int(f_, s.args[0]);
  const std::optional<std::int64_t> count = ir::const_int(f_, s.args[1]);
  if (min && count) return fmt::format("{}", *min + *count * step);
  std::string end;
  if (step == 1 && min == 0) {
    end = expr(s.args[1], kSum);
  } else {
    const std::string times = step == 1 ? expr(s.args[1], kProduct)
                                        : fmt::format("{} * {}", expr(s.args[1], kProduct), step);
    end = fmt::format("{} + {}", expr(s.args[0], kSum), times);
  }
  if (!ir::reads_memory(f_, s.args[0]) && !ir::reads_memory(f_, s.args[1])) return end;
  const std::string name = names_.fresh(fmt::format("ww_{}_end", names_.of(s.var)));
  line(fmt::format("const {} {} = {};", type_text(f_[s.var].type), name, end));
  return name;
}

// Is one step behind the last value still a number of the type? Then the variable can be compared
// with it.
bool Writer::has_end(const Stmt& s, std::int64_t step) const {
  const auto first = ir::const_int(f_, s.args[0]);
  if (step == 1 && first == 0) return true;
  const Wide low = ranges_.range(s.args[0]).min;
  const Wide high = ranges_.range(s.args[0]).max;
  const ir::Range trips = ranges_.range(s.args[1]);
  const DType dtype = f_[s.var].type.dtype;
  constexpr Wide kOne = 1;
  const int bits = num::bits_of(dtype);
  const Wide least = is_signed(dtype) ? -(kOne << (bits - 1)) : 0;
  const Wide most = (kOne << (is_signed(dtype) ? bits - 1 : bits)) - 1;
  return low + Wide{trips.min} * step >= least && high + Wide{trips.max} * step <= most;
}

void Writer::loop(const Stmt& s) {
  if (s.loop == LoopKind::ThreadBinding)
    return static_cast<void>(
        refuse(s.span, fmt::format("a loop over `{}`, expected a lowered program", s.name)));
  const std::int64_t step =
      s.args.size() > 2 ? ir::const_int(f_, s.args[2]).value_or(1) : std::int64_t{1};
  const bool counts_up = has_end(s, step);
  const std::string end = counts_up ? loop_end(s, step) : "";
  bool is_unrolled = s.loop == LoopKind::Unroll || s.loop == LoopKind::Vectorized;
  bool is_kept = false;
  for (const auto& [key, value] : s.settings) {
    const bool* flag = std::get_if<bool>(&value);
    if (key == "unroll" && flag != nullptr) (*flag ? is_unrolled : is_kept) = true;
  }
  if (is_unrolled) line("#pragma unroll");
  if (is_kept && !is_unrolled) line("#pragma unroll 1");
  const std::string& name = names_.of(s.var);
  const std::string advance = step == 1    ? fmt::format("++{}", name)
                              : step == -1 ? fmt::format("--{}", name)
                                           : fmt::format("{} += {}", name, step);
  const std::optional<std::int64_t> first = ir::const_int(f_, s.args[0]);
  const std::string start = fmt::format("{} {} = {}", type_text(f_[s.var].type), name,
                                        first ? fmt::format("{}", *first) : expr(s.args[0]));
  if (counts_up) {
    line(fmt::format("for ({}; {} {} {}; {}) {{", start, name, step < 0 ? ">" : "<", end, advance));
  } else {
    const DType dtype = f_[s.var].type.dtype;
    const Text next = numbers_.binary(ExprOp::Add, dtype, {name}, {fmt::format("{}", step)});
    const std::string left = names_.fresh(fmt::format("ww_{}_left", name));
    line(fmt::format("for ({}, {} = {}; {} > 0; --{}, {} = {}) {{", start, left, expr(s.args[1]),
                     left, left, name, next.text));
  }
  nested(s.body);
  line("}");
}

void Writer::branch(const Stmt& s, std::string_view keyword) {
  line(fmt::format("{} ({}) {{", keyword, expr(s.expr)));
  nested(s.body);
  if (s.other.empty()) return;
  const Stmt& first = f_[s.other[0]];
  if (s.other.size() == 1 && first.kind == StmtKind::If) return branch(first, "} else if");
  line("} else {");
  nested(s.other);
}

void Writer::assertion(const Stmt& s) {
  helpers_.note_printf();
  const std::string where = place_of(s.span);
  const std::string text = s.name.empty() ? "the assertion does not hold" : s.name;
  std::string message;
  for (const char c : fmt::format("{}{}{}\n", where, where.empty() ? "" : ": ", text))
    message += c == '%' ? std::string("%%") : std::string(1, c);
  line(fmt::format("if (!({})) {{", expr(s.expr)));
  line(fmt::format("  printf({});", quoted(message)));
  line("  __trap();");
  line("}");
}

// "gemm.py:14"; nothing when the place is not known.
std::string Writer::place_of(Span span) const {
  if (options_.source == nullptr || !span.known) return "";
  return fmt::format("{}:{}", path_in_code(options_.source->name()),
                     options_.source->line_number(span.begin));
}

void Writer::attr(const Stmt& s) {
  if (const auto* text = std::get_if<std::string>(&s.setting); text && s.name == "primitive") {
    std::string comment = place_of(s.span);
    comment += (comment.empty() ? "" : ": ") + *text;
    std::ranges::replace(comment, '\n', ' ');
    comment = printable(comment, Breaks::Spell);
    while (comment.ends_with('\\')) comment.pop_back();  // would continue the comment
    line("// " + comment);
  }
  if (s.is_open || s.body.empty()) return;
  if (!declares(f_, s.body)) return block(s.body);
  line("{");
  nested(s.body);
  line("}");
}

void Writer::launch_thread(const Stmt& s) {
  if (!names_.is_used(s.var)) return;
  const std::string_view tag = s.name;
  const std::string type = type_text(f_[s.var].type);
  std::string value = fmt::format("{}({})", type, tag);
  if (tag.starts_with("clusterCtaIdx.")) {
    check_feature(target::Feature::Sm90, "a cluster", s.span);
    value =
        fmt::format("{}()", helpers_.use(fmt::format("tvm_builtin_cluster_ctaid_{}", tag.back())));
  }
  line(fmt::format("const {} {} = {};", type, names_.of(s.var), value));
}

// --- questions -----------------------------------------------------------------------------------

bool Writer::has_effect(ExprId id) const { return ir::has_effect(f_, id, effects_); }

}  // namespace ww::emit::cuda
