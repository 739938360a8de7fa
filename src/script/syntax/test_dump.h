// SPDX-License-Identifier: Apache-2.0
// For this folder's tests: a syntax tree as one line of text.
//
//   a + b * 2          (+ a (* b 2))
//   f(x, k=1, *y)      (call f x k=1 *y)
//   if a: b            (if a {b} {})
//
// Operators, attributes and the like are lists with their name first; blocks stand in braces; `_`
// is what is not there. Values that a reader could take for something else are quoted.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "script/syntax/ast.h"

namespace ww::script {

class Dump {
 public:
  Dump(const Ast& ast, const SymbolTable& symbols) : ast_(ast), symbols_(symbols) {}

  [[nodiscard]] std::string operator()(ExprId id) const {
    return id.valid() ? expr(ast_[id]) : "_";
  }
  [[nodiscard]] std::string operator()(StmtId id) const { return stmt(ast_[id]); }

  /// Statements, with `; ` between them.
  [[nodiscard]] std::string operator()(ListOf<StmtId> list) const {
    std::string out;
    for (const StmtId id : ast_.list(list)) out += (out.empty() ? "" : "; ") + (*this)(id);
    return out;
  }

 private:
  [[nodiscard]] std::string name(Symbol symbol) const { return std::string(symbols_.text(symbol)); }
  [[nodiscard]] std::string block(ListOf<StmtId> list) const { return "{" + (*this)(list) + "}"; }

  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        out += std::string("\\") + c;
      else if (byte < 0x20 || byte == 0x7F)
        out += fmt::format("\\x{:02x}", byte);
      else
        out += c;
    }
    return out + "\"";
  }

  // "(word a b c)", where `items` is " a b c".
  static std::string form(std::string_view word, const std::string& items) {
    return fmt::format("({}{})", word, items);
  }
  [[nodiscard]] std::string items(ListOf<ExprId> list) const {
    std::string out;
    for (const ExprId id : ast_.list(list)) out += " " + (*this)(id);
    return out;
  }
  [[nodiscard]] std::string args(ListOf<Arg> list) const {
    std::string out;
    for (const Arg& arg : ast_.list(list)) {
      out += " ";
      if (arg.kind == Arg::Kind::Keyword) out += name(arg.name) + "=";
      if (arg.kind == Arg::Kind::Star) out += "*";
      if (arg.kind == Arg::Kind::DoubleStar) out += "**";
      out += (*this)(arg.value);
    }
    return out;
  }
  // "(a /b *c d: int = 1 **e)": a plain, b positional only, d keyword only as `!d`.
  [[nodiscard]] std::string params(ListOf<Param> list) const {
    static constexpr std::string_view kMarks[] = {"/", "", "*", "!", "**"};
    std::string out;
    for (const Param& param : ast_.list(list)) {
      out += out.empty() ? "" : " ";
      out += kMarks[static_cast<std::size_t>(param.kind)];
      out += name(param.name);
      if (param.annotation.valid()) out += ":" + (*this)(param.annotation);
      if (param.default_value.valid()) out += "=" + (*this)(param.default_value);
    }
    return "(" + out + ")";
  }
  [[nodiscard]] std::string clauses(ListOf<Clause> list) const {
    std::string out;
    for (const Clause& clause : ast_.list(list))
      out += " " + form("for", " " + (*this)(clause.target) + " " + (*this)(clause.iterable) +
                                   items(clause.conditions));
    return out;
  }
  [[nodiscard]] std::string dict(const Expr& e) const {
    std::string out;
    const auto list = ast_.list(e.items);
    for (std::size_t i = 0; i + 1 < list.size(); i += 2)
      out += list[i].valid() ? " " + (*this)(list[i]) + ":" + (*this)(list[i + 1])
                             : " **" + (*this)(list[i + 1]);
    return form("dict", out);
  }
  [[nodiscard]] std::string compare(const Expr& e) const {
    std::string out;
    const auto operands = ast_.list(e.items);
    const auto ops = ast_.list(e.compares);
    for (std::size_t i = 0; i < operands.size(); ++i)
      out += (i == 0 ? "" : fmt::format(" {} ", text_of(ops[i - 1]))) + (*this)(operands[i]);
    return "(" + out + ")";
  }
  [[nodiscard]] std::string formatted(const Expr& e) const {
    std::string out = "{" + (*this)(e.a);
    if (e.conversion != 0) out += std::string("!") + e.conversion;
    if (e.b.valid()) out += ":" + (*this)(e.b);
    return out + "}";
  }

  [[nodiscard]] std::string expr(const Expr& e) const {
    const std::string a = " " + (*this)(e.a);
    const std::string b = " " + (*this)(e.b);
    const std::string c = " " + (*this)(e.c);
    switch (e.kind) {
      case ExprKind::Name:
        return name(e.name);
      case ExprKind::Int:
        return fmt::format("{}", e.integer);
      case ExprKind::Float:
        return fmt::format("{:#}", e.real);
      case ExprKind::String:
        return quoted(ast_.strings[e.text]);
      case ExprKind::FString:
        return form("f", items(e.items));
      case ExprKind::Formatted:
        return formatted(e);
      case ExprKind::True:
        return "True";
      case ExprKind::False:
        return "False";
      case ExprKind::None:
        return "None";
      case ExprKind::Ellipsis:
        return "...";
      case ExprKind::Tuple:
        return form("tuple", items(e.items));
      case ExprKind::List:
        return form("list", items(e.items));
      case ExprKind::Set:
        return form("set", items(e.items));
      case ExprKind::Dict:
        return dict(e);
      case ExprKind::Unary:
        return form(text_of(e.op), a);
      case ExprKind::Binary:
        return form(text_of(e.op), a + b);
      case ExprKind::And:
        return form("and", items(e.items));
      case ExprKind::Or:
        return form("or", items(e.items));
      case ExprKind::Compare:
        return compare(e);
      case ExprKind::Conditional:
        return form("if", b + a + c);
      case ExprKind::Lambda:
        return form("lambda ", params(e.params) + a);
      case ExprKind::Call:
        return form("call", a + args(e.args));
      case ExprKind::Attribute:
        return form(".", a + " " + name(e.name));
      case ExprKind::Subscript:
        return form("[]", a + b);
      case ExprKind::Slice:
        return form(":", a + b + c);
      case ExprKind::Starred:
        return form("star", a);
      case ExprKind::ListComp:
        return form("listcomp", a + clauses(e.clauses));
      case ExprKind::SetComp:
        return form("setcomp", a + clauses(e.clauses));
      case ExprKind::GeneratorExp:
        return form("generator", a + clauses(e.clauses));
      case ExprKind::DictComp:
        return form("dictcomp", a + b + clauses(e.clauses));
      case ExprKind::Walrus:
        return form(":=", " " + name(e.name) + a);
      case ExprKind::Unsupported:
        return form(name(e.name), a);
    }
    return "?";
  }

  [[nodiscard]] std::string imports(ListOf<Import> list) const {
    std::string out;
    for (const Import& import : ast_.list(list)) out += " " + import.path + "=" + name(import.as);
    return out;
  }
  [[nodiscard]] std::string withs(ListOf<WithItem> list) const {
    std::string out;
    for (const WithItem& item : ast_.list(list))
      out += " " + (*this)(item.value) + (item.target.valid() ? "=" + (*this)(item.target) : "");
    return out;
  }
  [[nodiscard]] std::string names(ListOf<Symbol> list) const {
    std::string out;
    for (const Symbol symbol : ast_.list(list)) out += " " + name(symbol);
    return out;
  }
  [[nodiscard]] std::string decorated(const Stmt& s, const std::string& inner) const {
    std::string out;
    for (const ExprId id : ast_.list(s.decorators)) out += "@" + (*this)(id) + " ";
    return out + inner;
  }

  [[nodiscard]] std::string stmt(const Stmt& s) const {
    const std::string a = " " + (*this)(s.a);
    const std::string b = " " + (*this)(s.b);
    const std::string blocks = " " + block(s.body) + " " + block(s.other);
    switch (s.kind) {
      case StmtKind::Expression:
        return (*this)(s.a);
      case StmtKind::Assign:
        return form("=", items(s.items) + a);
      case StmtKind::AugAssign:
        return form(fmt::format("{}=", text_of(s.op)), items(s.items) + a);
      case StmtKind::AnnAssign:
        return form("annotate", items(s.items) + b + a);
      case StmtKind::If:
        return form("if", a + blocks);
      case StmtKind::While:
        return form("while", a + blocks);
      case StmtKind::For:
        return form("for", items(s.items) + a + blocks);
      case StmtKind::With:
        return form("with", withs(s.withs) + " " + block(s.body));
      case StmtKind::FunctionDef:
        return decorated(
            s, form("def ", name(s.name) + " " + params(s.params) + b + " " + block(s.body)));
      case StmtKind::ClassDef:
        return decorated(
            s, form("class ", name(s.name) + " " + form("", args(s.args)) + " " + block(s.body)));
      case StmtKind::Return:
        return form("return", a);
      case StmtKind::Assert:
        return form("assert", a + b);
      case StmtKind::Raise:
        return form("raise", a + b);
      case StmtKind::Delete:
        return form("del", items(s.items));
      case StmtKind::Global:
        return form("global", names(s.names));
      case StmtKind::Nonlocal:
        return form("nonlocal", names(s.names));
      case StmtKind::Import:
        return form("import", imports(s.imports));
      case StmtKind::ImportFrom:
        return form("from ", quoted(ast_.strings[s.module]) + imports(s.imports));
      case StmtKind::Pass:
        return "pass";
      case StmtKind::Break:
        return "break";
      case StmtKind::Continue:
        return "continue";
      case StmtKind::Try:
        return form("try", blocks);
      case StmtKind::Unsupported:
        return form("unsupported ", name(s.name));
    }
    return "?";
  }

  const Ast& ast_;
  const SymbolTable& symbols_;
};

}  // namespace ww::script
