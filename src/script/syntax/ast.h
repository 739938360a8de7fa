// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a source file: all of Python that can stand around and inside a kernel.
//
// Nodes live in vectors and are named by ids; children that come in lists are ranges of one pool.
// A node is one struct for all kinds, and the comment beside each kind says which fields it uses.
// Names are interned: two names are the same text exactly when their `Symbol` is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/diag.h"
#include "base/id.h"

namespace ww::script {

using ExprId = Id<struct ExprTag>;
using StmtId = Id<struct StmtTag>;
using Symbol = Id<struct SymbolTag>;  // an interned name

/// A range of a pool.
template <typename T>
struct ListOf {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Bytes of the source text.
struct Place {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] Span span() const { return Span::at(begin, end); }
};

// clang-format off
enum class ExprKind : std::uint8_t {
  Name,         // name
  Int,          // integer (magnitude up to 2^64 - 1; a larger literal is an error)
  Float,        // real
  String,       // text (escapes resolved, adjacent literals joined; bytes literals too)
  FString,      // items: String and Formatted parts
  Formatted,    // a: value; op `r`, `s`, `a` or 0 in `conversion`; b: the format spec (FString) or none
  True, False, None, Ellipsis,
  Tuple, List, Set,  // items
  Dict,         // items: key, value, key, value ...; a key that is none: `**value`
  Unary,        // op; a
  Binary,       // op; a, b
  And, Or,      // items: two or more operands
  Compare,      // items: operands, one more than comparisons; `compares` pool range for the operators
  Conditional,  // a if b else c
  Lambda,       // params; a: body
  Call,         // a: callee; args
  Attribute,    // a: object; name; name_place
  Subscript,    // a: object; b: index (a Tuple without parentheses for `x[i, j]`)
  Slice,        // a:b:c, each may be none
  Starred,      // *a
  ListComp, SetComp, GeneratorExp,  // a: element; clauses
  DictComp,     // a: key, b: value; clauses
  Walrus,       // name := a
  Unsupported,  // `await`, `yield`: name tells which
};
// clang-format on

// clang-format off
enum class Op : std::uint8_t {
  None,
  Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, Shl, Shr, BitAnd, BitOr, BitXor,  // binary
  Neg, Pos, Invert, Not,                                                         // unary
  Eq, Ne, Lt, Le, Gt, Ge, In, NotIn, Is, IsNot,                                  // comparisons
};
// clang-format on
/// As written: "+", "not in".
std::string_view text_of(Op op);

/// One argument of a call.
struct Arg {
  enum class Kind : std::uint8_t { Plain, Keyword, Star, DoubleStar };
  Kind kind = Kind::Plain;
  Symbol name = {};  // Keyword only
  Place name_place = {};
  ExprId value = {};
};

/// One parameter of a function or lambda.
struct Param {
  enum class Kind : std::uint8_t {
    PositionalOnly,
    Plain,
    Star,
    KeywordOnly,
    DoubleStar  // Star: `*args`
  };
  Kind kind = Kind::Plain;
  Symbol name = {};
  Place place = {};
  ExprId annotation = {};     // or none
  ExprId default_value = {};  // or none
};

/// `for target in iterable if c if d` of a comprehension.
struct Clause {
  ExprId target = {};
  ExprId iterable = {};
  ListOf<ExprId> conditions = {};
};

struct Expr {
  ExprKind kind = ExprKind::None;
  Op op = Op::None;
  char conversion = 0;
  Place place = {};
  Place name_place = {};
  Symbol name = {};
  ExprId a = {}, b = {}, c = {};
  ListOf<ExprId> items = {};
  ListOf<Op> compares = {};
  ListOf<Arg> args = {};
  ListOf<Param> params = {};
  ListOf<Clause> clauses = {};
  std::uint64_t integer = 0;
  double real = 0;
  std::uint32_t text = 0;  // index into Ast::strings
  bool parenthesized = false;
};

// clang-format off
enum class StmtKind : std::uint8_t {
  Expression,   // a
  Assign,       // items: targets (a = b = c has two); a: value
  AugAssign,    // items[0]: target; op; a: value
  AnnAssign,    // items[0]: target; b: annotation; a: value or none
  If,           // a: condition; body; other (an `elif` is a single If in `other`)
  While,        // a: condition; body; other
  For,          // items[0]: target; a: iterable; body; other
  With,         // withs; body
  FunctionDef,  // name; params; decorators; b: return annotation or none; body
  ClassDef,     // name; decorators; args: bases and keywords; body
  Return,       // a or none
  Assert,       // a: condition; b: message or none
  Raise,        // a or none; b: cause or none
  Delete,       // items
  Global, Nonlocal,  // names
  Import,       // imports: `import a.b as c`
  ImportFrom,   // module (dotted, leading dots kept); imports; `*` as a name `*`
  Pass, Break, Continue,
  Try,          // body; handlers and the other blocks are not kept apart: other
  Unsupported,  // name tells which (`async`, `match`, `type`); its block is skipped
};
// clang-format on

/// One name of an import: `path` is dotted for `import a.b`, `as` is what it is bound to.
struct Import {
  std::string path;
  Symbol as = {};
  Place place = {};
};

/// `with value as target`.
struct WithItem {
  ExprId value = {};
  ExprId target = {};  // or none
};

struct Stmt {
  StmtKind kind = StmtKind::Pass;
  Op op = Op::None;
  Place place = {};       // the whole statement
  Place head = {};        // up to the colon, for compound statements; else the same as place
  Place name_place = {};  // of the defined name
  Symbol name = {};
  ExprId a = {}, b = {};
  ListOf<ExprId> items = {};
  ListOf<ExprId> decorators = {};
  ListOf<Param> params = {};
  ListOf<Arg> args = {};
  ListOf<WithItem> withs = {};
  ListOf<Import> imports = {};
  ListOf<Symbol> names = {};
  ListOf<StmtId> body = {};
  ListOf<StmtId> other = {};
  std::uint32_t module = 0;  // ImportFrom: index into Ast::strings
};

/// A parsed file. Plain data; `list` turns ranges into spans.
struct Ast {
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<std::string> strings;
  std::tuple<std::vector<ExprId>, std::vector<StmtId>, std::vector<Op>, std::vector<Arg>,
             std::vector<Param>, std::vector<Clause>, std::vector<WithItem>, std::vector<Import>,
             std::vector<Symbol>>
      lists;
  ListOf<StmtId> body = {};  // the file's statements

  [[nodiscard]] const Expr& operator[](ExprId id) const { return exprs[id.index]; }
  [[nodiscard]] const Stmt& operator[](StmtId id) const { return stmts[id.index]; }
  template <typename T>
  [[nodiscard]] std::span<const T> list(ListOf<T> range) const {
    return std::span<const T>(std::get<std::vector<T>>(lists)).subspan(range.first, range.count);
  }
  /// The elements of all lists of a type.
  template <typename T>
  [[nodiscard]] std::vector<T>& pool() {
    return std::get<std::vector<T>>(lists);
  }
};

/// Calls `visit` with each name that an assignment to `target` binds: `a, (b, *c)` has three.
template <typename Visit>
void for_each_bound_name(const Ast& ast, ExprId target, const Visit& visit) {
  const Expr& e = ast[target];
  if (e.kind == ExprKind::Name) visit(e);
  if (e.kind == ExprKind::Starred) for_each_bound_name(ast, e.a, visit);
  if (e.kind == ExprKind::Tuple || e.kind == ExprKind::List)
    for (const ExprId item : ast.list(e.items)) for_each_bound_name(ast, item, visit);
}

/// Names as numbers. One table serves a file and every expression parsed beside it.
class SymbolTable {
 public:
  SymbolTable() = default;
  SymbolTable(SymbolTable&&) = default;  // `texts_` points into the nodes of `ids_`, which stay
  SymbolTable& operator=(SymbolTable&&) = default;
  Symbol intern(std::string_view name);
  [[nodiscard]] std::string_view text(Symbol symbol) const { return *texts_[symbol.index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::map<std::string, Symbol, std::less<>> ids_;
  std::vector<const std::string*> texts_;
};

}  // namespace ww::script
