// SPDX-License-Identifier: Apache-2.0
// Statements.
#include "emit/cuda/stmts.h"

#include <algorithm>

#include "base/printable.h"
#include "base/wide.h"
#include "emit/cuda/calls.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/ptx_call.h"
#include "emit/cuda/types.h"
#include "ir/tensor_map.h"

namespace ww::emit::cuda {
namespace {

using ir::LoopKind;

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

void nested(Context& c, const ir::Block& inner) {
  ++c.indent;
  emit_block(c, inner);
  --c.indent;
}

// `int row = tid / 4;` for a scalar and the store that follows it.
bool init(Context& c, const Stmt& alloc, const Stmt& next) {
  if (alloc.kind != StmtKind::Alloc || next.kind != StmtKind::Store ||
      next.buffer != alloc.buffer || !c.names.is_variable(alloc.buffer))
    return false;
  const auto reads = [&](auto&& self, ExprId id) -> bool {
    const Expr& e = c.f[id];
    if (e.buffer == alloc.buffer && e.op == ExprOp::Load) return true;
    return std::ranges::any_of(e.args, [&](ExprId arg) { return self(self, arg); });
  };
  if (reads(reads, next.expr)) return false;
  line(c, "{}{} {} = {};", c.names.is_read(alloc.buffer) ? "" : "[[maybe_unused]] ",
       value_type(c.f[alloc.buffer].dtype), c.names.of(alloc.buffer), expr(c, next.expr));
  return true;
}

void bind(Context& c, const Stmt& s) {
  if (ir::tensor_map_of(c.f, s.expr)) return;  // a parameter
  const ir::Type type = c.f[s.var].type;
  const bool is_used = c.names.is_used(s.var);
  if (type == ir::Type::text() || (!is_used && !c.f[s.expr].has_effect)) return;
  line(c, "{}{}{} {} = {};", is_used ? "" : "[[maybe_unused]] ", type.is_pointer() ? "" : "const ",
       type_text(type), c.names.of(s.var),
       type.is_pointer() ? pointer_as(c, s.expr, type) : expr(c, s.expr));
}

void store(Context& c, const Stmt& s) {
  if (c.f[s.expr].type.lanes > 1) return vector_store(c, s);
  if (store_packed(c, s)) return;
  const std::string place = element(c, s.buffer, s.args, s.span);
  line(c, "{} = {};", place, expr(c, s.expr));
}

// --- control -------------------------------------------------------------------------------------

// Is one step behind the last value still a number of the type? Then the variable can be compared
// with it.
bool has_end(const Context& c, const Stmt& s, std::int64_t step) {
  const auto first = ir::const_int(c.f, s.args[0]);
  if (step == 1 && first == 0) return true;
  const Wide low = c.ranges.range(s.args[0]).min;
  const Wide high = c.ranges.range(s.args[0]).max;
  const ir::Range trips = c.ranges.range(s.args[1]);
  const DType dtype = c.f[s.var].type.dtype;
  constexpr Wide kOne = 1;
  const int bits = num::bits_of(dtype);
  const Wide least = is_signed(dtype) ? -(kOne << (bits - 1)) : 0;
  const Wide most = (kOne << (is_signed(dtype) ? bits - 1 : bits)) - 1;
  return low + Wide{trips.min} * step >= least && high + Wide{trips.max} * step <= most;
}

// The bounds are evaluated once, so what reads memory there gets a name before the loop.
std::string loop_end(Context& c, const Stmt& s, std::int64_t step) {
  const std::optional<std::int64_t> min = ir::const_int(c.f, s.args[0]);
  const std::optional<std::int64_t> count = ir::const_int(c.f, s.args[1]);
  if (min && count) return fmt::format("{}", *min + *count * step);
  std::string end;
  if (step == 1 && min == 0) {
    end = expr(c, s.args[1], kSum);
  } else {
    const std::string times = step == 1
                                  ? expr(c, s.args[1], kProduct)
                                  : fmt::format("{} * {}", expr(c, s.args[1], kProduct), step);
    end = fmt::format("{} + {}", expr(c, s.args[0], kSum), times);
  }
  if (!c.f[s.args[0]].reads_memory && !c.f[s.args[1]].reads_memory) return end;
  const std::string name = c.names.fresh(fmt::format("ww_{}_end", c.names.of(s.var)));
  line(c, "const {} {} = {};", type_text(c.f[s.var].type), name, end);
  return name;
}

void unroll(Context& c, const Stmt& s) {
  bool is_unrolled = s.loop == LoopKind::Unroll || s.loop == LoopKind::Vectorized;
  bool is_kept = false;
  for (const auto& [key, value] : s.settings) {
    const bool* flag = std::get_if<bool>(&value);
    if (key == "unroll" && flag != nullptr) (*flag ? is_unrolled : is_kept) = true;
  }
  if (is_unrolled) line(c, "#pragma unroll");
  if (is_kept && !is_unrolled) line(c, "#pragma unroll 1");
}

void loop(Context& c, const Stmt& s) {
  if (s.loop == LoopKind::ThreadBinding)
    return static_cast<void>(
        refuse(c, s.span, "a loop over `{}`, expected a lowered program", name_of(s.hardware)));
  const std::int64_t step =
      s.args.size() > 2 ? ir::const_int(c.f, s.args[2]).value_or(1) : std::int64_t{1};
  const bool counts_up = has_end(c, s, step);
  const std::string end = counts_up ? loop_end(c, s, step) : "";
  unroll(c, s);
  const std::string& name = c.names.of(s.var);
  const std::string advance = step == 1    ? fmt::format("++{}", name)
                              : step == -1 ? fmt::format("--{}", name)
                                           : fmt::format("{} += {}", name, step);
  const std::optional<std::int64_t> first = ir::const_int(c.f, s.args[0]);
  const std::string start = fmt::format("{} {} = {}", type_text(c.f[s.var].type), name,
                                        first ? fmt::format("{}", *first) : expr(c, s.args[0]));
  if (counts_up) {
    line(c, "for ({}; {} {} {}; {}) {{", start, name, step < 0 ? ">" : "<", end, advance);
  } else {
    const DType dtype = c.f[s.var].type.dtype;
    const Text next = c.numbers.binary(ExprOp::Add, dtype, {name}, {fmt::format("{}", step)});
    const std::string left = c.names.fresh(fmt::format("ww_{}_left", name));
    line(c, "for ({}, {} = {}; {} > 0; --{}, {} = {}) {{", start, left, expr(c, s.args[1]), left,
         left, name, next.text);
  }
  nested(c, s.body);
  line(c, "}");
}

void branch(Context& c, const Stmt& s, std::string_view keyword) {
  line(c, "{} ({}) {{", keyword, expr(c, s.expr));
  nested(c, s.body);
  if (s.other.empty()) return;
  const Stmt& first = c.f[s.other[0]];
  if (s.other.size() == 1 && first.kind == StmtKind::If) return branch(c, first, "} else if");
  line(c, "} else {");
  nested(c, s.other);
}

// "gemm.py:14"; nothing when the place is not known.
std::string place_of(const Context& c, Span span) {
  if (c.options.source == nullptr || !span.known) return "";
  const SourceText::Position at = c.options.source->position(span.begin);
  return fmt::format("{}:{}", path_in_code(c.options.source->file_name(at.file)), at.line);
}

void assertion(Context& c, const Stmt& s) {
  c.helpers.note_printf();
  const std::string where = place_of(c, s.span);
  const std::string text = s.message.empty() ? "the assertion does not hold" : s.message;
  std::string message;
  for (const char each : fmt::format("{}{}{}\n", where, where.empty() ? "" : ": ", text))
    message += each == '%' ? std::string("%%") : std::string(1, each);
  line(c, "if (!({})) {{", expr(c, s.expr));
  line(c, "  printf({});", quoted(message));
  line(c, "  __trap();");
  line(c, "}");
}

void attr(Context& c, const Stmt& s) {
  if (const auto* text = std::get_if<std::string>(&s.setting);
      text && s.attr == ir::kPrimitiveAttr) {
    std::string comment = place_of(c, s.span);
    comment += (comment.empty() ? "" : ": ") + *text;
    std::ranges::replace(comment, '\n', ' ');
    comment = printable(comment, Breaks::Spell);
    while (comment.ends_with('\\')) comment.pop_back();  // would continue the comment
    line(c, "// " + comment);
  }
  if (s.is_open || s.body.empty()) return;
  if (!declares(c.f, s.body)) return emit_block(c, s.body);
  line(c, "{");
  nested(c, s.body);
  line(c, "}");
}

void launch_thread(Context& c, const Stmt& s) {
  if (!c.names.is_used(s.var)) return;
  const std::string type = type_text(c.f[s.var].type);
  std::string value = fmt::format("{}({})", type, name_of(s.hardware));
  if (s.hardware.kind == ir::HardwareId::Kind::ClusterCtaIdx) {
    check_feature(c, target::Feature::Sm90, "a cluster", s.span);
    value = fmt::format(
        "{}()", c.helpers.use(fmt::format("tvm_builtin_cluster_ctaid_{}", "xyz"[s.hardware.dim])));
  }
  line(c, "const {} {} = {};", type, c.names.of(s.var), value);
}

void stmt(Context& c, const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Bind:
      return bind(c, s);
    case StmtKind::Alloc:
      return alloc(c, s);
    case StmtKind::Declare:
      return declare(c, s);
    case StmtKind::Store:
      return store(c, s);
    case StmtKind::For:
      return loop(c, s);
    case StmtKind::While:
      line(c, "while ({}) {{", expr(c, s.expr));
      nested(c, s.body);
      return line(c, "}");
    case StmtKind::If:
      branch(c, s, "if");
      return line(c, "}");
    case StmtKind::Assert:
      return assertion(c, s);
    case StmtKind::Evaluate:
      if (c.f[s.expr].op == ExprOp::Call && c.f[s.expr].has_effect)
        return line(c, "{};", expr(c, s.expr));
      return line(c, "static_cast<void>({});", expr(c, s.expr));
    case StmtKind::Break:
      return line(c, "break;");
    case StmtKind::Continue:
      return line(c, "continue;");
    case StmtKind::Return:
      return line(c, "return;");
    case StmtKind::Attr:
      return attr(c, s);
    case StmtKind::LaunchThread:
      return launch_thread(c, s);
    case StmtKind::Ptx:
      return ptx_call(c, s);
    case StmtKind::ScopeIds:
    case StmtKind::Tile:
      refuse(c, s.span, "a `{}` statement, expected a lowered program", ir::name_of(s.kind));
  }
}

}  // namespace

// What stands behind a jump is never reached, and nvcc warns about it.
void emit_block(Context& c, const ir::Block& block) {
  const Span outer = c.at;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Stmt& s = c.f[block[i]];
    c.at = s.span.known ? s.span : outer;
    if (i + 1 < block.size() && init(c, s, c.f[block[i + 1]])) {
      settle(c, c.f[block[++i]]);
      continue;
    }
    stmt(c, s);
    settle(c, s);
    if (is_jump(s.kind)) break;
  }
  c.at = outer;
}

}  // namespace ww::emit::cuda
