// SPDX-License-Identifier: Apache-2.0
// The printer's parts: the text of literals, of expressions and all that is made of them, and the
// lines of statements and functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/function.h"
#include "ir/print/names.h"
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

// --- buffers, in buffer.cpp ----------------------------------------------------------------------

/// What stands right of the `=` where a buffer is declared or allocated.
std::string declaration(const Context& c, BufferId id);
std::string allocation(const Context& c, const Buffer& buffer);
/// `T.Buffer((8, "n"), "float16")`: run-time extents are declared here, by quoted names, unless
/// they are declared before the kernel.
std::string buffer_annotation(const Context& c, const Buffer& buffer);

// --- calls, in calls.cpp -------------------------------------------------------------------------

std::string tile_call(const Context& c, const TileCall& call);
std::string ptx_call(const Context& c, const PtxCall& call);

// --- statements in stmt.cpp, functions in print.cpp ----------------------------------------------

class FunctionWriter {
 public:
  explicit FunctionWriter(const Function& f) : c_(f) {}

  void stmt(StmtId id);
  void function(PrintOptions options);
  std::string take() { return std::move(out_); }
  /// The place of each line.
  std::vector<Span> take_spans() { return std::move(spans_); }

 private:
  void line(std::string_view text);
  void block(const Block& block);
  void nested(const Block& block);
  void store(const Stmt& s);
  void loop(const Stmt& s);
  void branch(const Stmt& s, std::string_view keyword);
  void scope_ids(const Stmt& s);
  void imports();
  void signature();
  void body();

  Context c_;
  std::string out_;
  std::vector<Span> spans_;  // of the lines
  Span at_ = {};             // of the statement that is being written
  int indent_ = 0;
};

}  // namespace ww::ir::printing
