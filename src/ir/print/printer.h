// SPDX-License-Identifier: Apache-2.0
// The printer's parts: the text of literals, of expressions and all that is made of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/function.h"
#include "ir/print/name_frames.h"
#include "ir/print/print.h"

namespace ww::ir::printing {

// --- literals ------------------------------------------------------------------------------------

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

// --- names, in names.cpp -------------------------------------------------------------------------

/// The names under which a function's variables and buffers are printed: identifiers, unique among
/// the visible ones, and never a name that the program text needs itself.
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
  /// Extents to declare before the kernel: all of them if an annotation has one that is not int32,
  /// the type of a quoted name.
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

// --- expressions, in expr.cpp --------------------------------------------------------------------

/// What is printed, and the names in it.
struct Context {
  explicit Context(const Function& function) : f(function), names(function) {}
  const Function& f;
  Names names;
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

std::string expr(const Context& c, ExprId id, Precedence at_least = kAnything);
/// `a, b, c`: those from `from` to before `to`.
std::string expr_list(const Context& c, const SmallVec<ExprId, 3>& ids, std::size_t from,
                      std::size_t to);
/// `B[i, j]`; a scalar by its name.
std::string element(const Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices);
bool is_zero(const Context& c, const SmallVec<ExprId, 3>& indices);
/// min + extent: one number when both are constant, and otherwise exactly this sum, from which a
/// reader recovers the extent.
std::string end_of(const Context& c, ExprId min, ExprId extent);
std::string region(const Context& c, const Region& region);
std::string setting(const Context& c, const Setting& setting);
/// `{"key": value}`.
std::string settings(const Context& c,
                     const std::vector<std::pair<std::string, Setting>>& settings);

// --- buffers -------------------------------------------------------------------------------------

/// What stands right of the `=` where a buffer is declared or allocated.
std::string declaration(const Context& c, BufferId id);
std::string allocation(const Context& c, const Buffer& buffer);
/// `T.Buffer((8, "n"), "float16")`: run-time extents are declared here, by quoted names, unless
/// they are declared before the kernel.
std::string buffer_annotation(const Context& c, const Buffer& buffer);

// --- calls ---------------------------------------------------------------------------------------

std::string tile_call(const Context& c, const TileCall& call);
std::string ptx_call(const Context& c, const PtxCall& call);

}  // namespace ww::ir::printing
