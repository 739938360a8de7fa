// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/ascii.h"
#include "ir/visit.h"

namespace ww::emit::cuda {
namespace {

using ir::Block;

// Keywords, and what the headers or the generated text itself give a meaning to.
// clang-format off
constexpr std::string_view kTaken[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "class", "compl", "const", "const_cast",
    "constexpr", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
    "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
    "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "return", "reinterpret_cast", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq", "half", "half2", "nv_bfloat16", "uint",
    "uchar", "ushort", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "main",
    "printf", "memcpy", "min", "max", "abs", "isnan", "isinf", "isfinite", "exp", "log", "sqrt",
    "sin", "cos", "tan", "floor", "ceil", "round", "pow", "fma", "fabs", "fmod", "erf",
    "signbit", "std", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
    "uint32_t", "uint64_t", "size_t", "NULL", "INFINITY", "NAN", "linux", "unix", "assert",
    "clock",
};
// clang-format on

bool is_taken(std::string_view name) {
  for (const std::string_view prefix : {"__", "ww_", "ptx_", "tvm_builtin_"})
    if (name.starts_with(prefix)) return true;
  return std::ranges::find(kTaken, name) != std::end(kTaken);
}

}  // namespace

std::string as_identifier(std::string_view name) {
  if (name.empty()) return "v";
  std::string out;
  if (!is_letter(name.front())) out = "v_";
  for (const char c : name) out += is_name_char(c) ? c : '_';
  if (is_taken(out)) out = "v_" + out;
  return out;
}

// What is used, from the statements that do something: what only a name or a view that nothing
// needs is made from does not count, and the writer leaves such names out.
class Names::Uses {
 public:
  explicit Uses(Names& names)
      : n_(names), f_(names.f_), values_(f_.var_count()), seen_(f_.expr_count()) {}

  void note() {
    for_all([&](const Stmt& stmt) {
      if (is_only_a_name(stmt)) values_[stmt.var.index] = stmt.expr;
    });
    for (const ir::Param& param : f_.params)
      if (param.buffer.valid()) ir::for_each_root(f_[param.buffer], use_);
    for_all([&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::Declare || is_only_a_name(stmt)) return;
      ir::for_each_root(f_, stmt, use_);
      if (stmt.kind == StmtKind::Store) use(stmt.buffer);
    });
    while (!open_.empty()) visit();
  }

 private:
  void for_all(const auto& each) {
    ir::for_each_stmt(f_, [&](ir::StmtId id) { each(f_[id]); });
  }
  bool is_only_a_name(const Stmt& stmt) {
    return stmt.kind == StmtKind::Bind && !f_[stmt.expr].has_effect;
  }
  void use(ExprId id) {
    if (!id.valid() || seen_[id.index]) return;
    seen_[id.index] = true;
    open_.push_back(id);
  }
  void use(BufferId id) {
    if (n_.used_buffers_[id.index]) return;
    n_.used_buffers_[id.index] = true;
    const Buffer& buffer = f_[id];
    ir::for_each_root(buffer, use_);
    if (buffer.origin == BufferOrigin::View) read(buffer.base);
  }
  void read(BufferId id) {
    n_.read_buffers_[id.index] = true;
    use(id);
  }
  void visit() {
    const ir::Expr& e = f_[open_.back()];
    open_.pop_back();
    for (const ExprId arg : e.args) use(arg);
    if (e.buffer.valid()) read(e.buffer);
    if (e.op != ExprOp::Var) return;
    n_.used_vars_[e.var.index] = true;
    use(values_[e.var.index]);
  }

  Names& n_;
  const ir::Function& f_;
  std::vector<ExprId> values_;  // of names, which are used when the name is
  std::vector<bool> seen_;
  std::vector<ExprId> open_;
  const std::function<void(ExprId)> use_ = [this](ExprId id) { use(id); };
};

Names::Names(const ir::Function& f)
    : f_(f),
      used_vars_(f.var_count()),
      used_buffers_(f.buffer_count()),
      read_buffers_(f.buffer_count()),
      variables_(f.buffer_count()) {
  for (std::uint32_t i = 0; i < f.var_count(); ++i)
    vars_.push_back(as_identifier(f[VarId{i}].name));
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i)
    buffers_.push_back(as_identifier(f[BufferId{i}].name + "_ptr"));
  Uses(*this).note();
  find_variables();
  frames_.reserve(as_identifier(f.name));
  name_params();
  name_block(f.host);
  name_block(f.body);
}

void Names::find_variables() {
  for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
    const Buffer& b = f_[BufferId{i}];
    variables_[i] = b.is_scalar && b.scope == ir::Scope::Local && b.origin == BufferOrigin::Alloc &&
                    !b.elem_offset.valid() && !b.byte_offset.valid();
  }
  for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) {
    const Buffer& b = f_[BufferId{i}];
    if (b.origin == BufferOrigin::View) variables_[b.base.index] = false;
  }
  ir::for_each_expr(f_, [&](ExprId id) {
    const ir::Expr& e = f_[id];
    const bool is_pointer = e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
    if (is_pointer || (e.op == ExprOp::Load && e.type.lanes > 1))
      variables_[e.buffer.index] = false;
  });
  for (std::uint32_t i = 0; i < f_.buffer_count(); ++i)
    if (variables_[i]) buffers_[i] = as_identifier(f_[BufferId{i}].name);
}

// A parameter is called as the storage of the first buffer matched to it. Buffers that stand
// elsewhere in that storage, or hold other elements, get pointers of their own.
void Names::name_params() {
  for (std::size_t i = 0; i < f_.params.size(); ++i) {
    const VarId var = f_.params[i].var;
    const BufferId matched = ir::buffer_of_param(f_, i);
    if (matched.valid()) vars_[var.index] = buffers_[matched.index];
    bind(var);
    for (std::uint32_t b = 0; b < f_.buffer_count(); ++b) {
      const Buffer& buffer = f_[BufferId{b}];
      if (buffer.origin != BufferOrigin::Param || buffer.param != var) continue;
      const bool is_moved = buffer.elem_offset.valid() || buffer.byte_offset.valid();
      if (is_moved || buffer.dtype != f_[matched].dtype)
        bind(BufferId{b});
      else
        buffers_[b] = of(var);
    }
  }
}

void Names::name_block(const Block& block) {
  for (const ir::StmtId id : block) name_stmt(f_[id]);
}

void Names::name_stmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Bind:
    case StmtKind::LaunchThread:
      bind(stmt.var);
      break;
    case StmtKind::Alloc:
    case StmtKind::Declare:
      if (f_[stmt.buffer].origin != BufferOrigin::Param) bind(stmt.buffer);
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

void Names::name_frame(const Block& block, VarId loop_var) {
  frames_.in_frame([&] {
    if (loop_var.valid()) bind(loop_var);
    name_block(block);
  });
}

void Names::bind(VarId var) { vars_[var.index] = frames_.bind(vars_[var.index]); }
void Names::bind(BufferId buffer) { buffers_[buffer.index] = frames_.bind(buffers_[buffer.index]); }

}  // namespace ww::emit::cuda
