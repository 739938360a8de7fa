// SPDX-License-Identifier: Apache-2.0
// The printer's parts, for the print*.cpp files: names, and a writer whose methods are spread over
// them by subject (expressions, buffers, calls, statements, the function).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/function.h"
#include "ir/print/name_frames.h"
#include "ir/print/print.h"

namespace ww::ir::printing {

/// The names under which a function's variables and buffers are printed: identifiers, unique among
/// what is visible where they stand, and none that the program text needs itself.
class Names {
 public:
  explicit Names(const Function& f);

  [[nodiscard]] const std::string& of(VarId var) const { return vars_[var.index]; }
  [[nodiscard]] const std::string& of(BufferId buffer) const { return buffers_[buffer.index]; }
  /// Does an expression read the variable?
  [[nodiscard]] bool is_used(VarId var) const { return used_[var.index]; }
  /// Do the ids of a ScopeIds statement need names, because one has one or is read?
  [[nodiscard]] bool is_named(const Stmt& scope_ids) const;
  /// Extents to be declared in the body: used ones that no annotation declares.
  [[nodiscard]] const std::vector<VarId>& extents() const { return extents_; }
  /// Extents to declare in front of the kernel: all of them where an annotation has one that is no
  /// int32, which a quoted name would be.
  [[nodiscard]] const std::vector<VarId>& host_extents() const { return host_extents_; }
  /// The axes to be imported, by name, in the order of their first use.
  [[nodiscard]] const std::vector<std::string>& axes() const { return axes_; }
  [[nodiscard]] bool has_layouts() const { return has_layouts_; }
  [[nodiscard]] bool has_own_axes() const { return has_own_axes_; }

 private:
  void note_uses();
  void note_layout(const Buffer& buffer);
  void note_axis(layout::Axis axis, bool named_even_if_m);
  void name_params();
  void name_block(const Block& block);
  void name_stmt(const Stmt& stmt);
  void name_frame(const Block& block, VarId loop_var = {});
  void bind(VarId var);
  void bind(BufferId buffer);

  const Function& f_;
  std::vector<std::string> vars_;
  std::vector<std::string> buffers_;
  std::vector<bool> used_;
  std::vector<VarId> extents_, host_extents_;
  std::vector<std::string> axes_;
  bool has_layouts_ = false;
  bool has_own_axes_ = false;
  NameFrames frames_;
};

/// How tightly an expression's outermost operator binds, as in Python.
enum Precedence : int {
  kAnything,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom
};

struct Text {
  std::string text;
  Precedence precedence = kAtom;
};

/// `"a\n"`, as Python reads it.
std::string quoted(std::string_view text);
/// A float as Python reads it, with a point or an exponent.
std::string python_float(double value);
/// The shortest text that reads back as the same value of the type.
std::string shortest(num::DType dtype, double value);
/// `TileLayout(S[(8, 4) : (4 @ laneid, 1)])`.
std::string layout_text(const layout::Layout& layout);
/// `T.int32`, `T.handle("float32")`.
std::string annotation(Type type);

class Writer {
 public:
  explicit Writer(const Function& f) : f_(f), names_(f) {}

  std::string expr(ExprId id, Precedence at_least = kAnything) const;
  std::string region(const Region& region) const;
  std::string setting(const Setting& setting) const;
  void stmt(StmtId id);
  void function(PrintOptions options);
  std::string take() { return std::move(out_); }

 private:
  // print_expr.cpp
  Text render(ExprId id) const;
  Text int_imm(const Expr& e) const;
  Text infix(const Expr& e) const;
  std::string load(const Expr& e) const;
  std::string element(BufferId buffer, const SmallVec<ExprId, 3>& indices) const;
  std::string named_function(const Expr& e) const;
  std::string call(const Expr& e) const;
  std::string list(const SmallVec<ExprId, 3>& ids, std::size_t from, std::size_t to) const;
  std::string end_of(ExprId min, ExprId extent) const;
  std::string settings(const std::vector<std::pair<std::string, Setting>>& settings) const;
  bool is_zero(const SmallVec<ExprId, 3>& indices) const;

  // print_buffer.cpp
  std::string shape(const Buffer& buffer) const;
  std::string declaration(BufferId id) const;
  std::string allocation(const Buffer& buffer) const;
  std::string buffer_annotation(const Buffer& buffer) const;
  void append_fields(std::vector<std::string>& args, const Buffer& buffer) const;

  // print_calls.cpp
  std::string tile_call(const TileCall& call) const;
  std::string tile_arg(const TileArg& arg) const;
  std::string ptx_call(const PtxCall& call) const;
  std::string ptx_operand(const PtxOperand& operand) const;
  std::string plain_ptx(const PtxCall& call) const;
  std::string matrix_copy(const PtxCall& call) const;
  std::string mma(const PtxCall& call) const;
  std::string tensor_copy(const PtxCall& call) const;

  // print_stmt.cpp
  void line(std::string_view text);
  void block(const Block& block);
  void nested(const Block& block);
  bool is_scalar_init(const Stmt& alloc, const Stmt& next) const;
  void store(const Stmt& s);
  void loop(const Stmt& s);
  void branch(const Stmt& s, std::string_view keyword);
  void scope_ids(const Stmt& s);
  std::string range(const Stmt& s) const;

  // print.cpp
  void imports();
  void signature();
  void body();

  const Function& f_;
  Names names_;
  std::string out_;
  int indent_ = 0;
};

}  // namespace ww::ir::printing
