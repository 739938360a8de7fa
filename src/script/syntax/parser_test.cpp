// SPDX-License-Identifier: Apache-2.0
// What each construct becomes, where it stands, and a whole file.
#include "script/syntax/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "script/syntax/test_dump.h"
#include "script/test_program.h"

namespace ww::script::parser_test {
namespace {

struct Row {
  std::string_view text;
  std::string_view tree;
};

std::string file_tree(std::string_view text) {
  SymbolTable symbols;
  const auto ast = parse_file(text, symbols);
  if (!ast) return render(ast.error(), SourceText("text", std::string(text)));
  return Dump(*ast, symbols)(ast->body);
}
std::string expr_tree(std::string_view text) {
  SymbolTable symbols;
  ExprId root;
  const auto ast = parse_expression(text, symbols, root);
  if (!ast) return render(ast.error(), SourceText("text", std::string(text)));
  return Dump(*ast, symbols)(root);
}
void expect_exprs(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(expr_tree(row.text), row.tree) << row.text;
}
void expect_files(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(file_tree(row.text), row.tree) << row.text;
}

// --- expressions --------------------------------------------------------------------------------

TEST(ScriptExpr, Atoms) {
  expect_exprs({{"x", "x"},
                {" \n x \n", "x"},
                {"0x10", "16"},
                {"18446744073709551615", "18446744073709551615"},
                {"1.5", "1.5"},
                {"1e3", "1000.0"},
                {"None", "None"},
                {"True", "True"},
                {"False", "False"},
                {"...", "..."},
                {"match", "match"}});
}

TEST(ScriptExpr, Precedence) {
  expect_exprs({{"a + b * c", "(+ a (* b c))"},
                {"a * b + c", "(+ (* a b) c)"},
                {"a - b - c", "(- (- a b) c)"},
                {"a << b + c", "(<< a (+ b c))"},
                {"a | b ^ c & d << e", "(| a (^ b (& c (<< d e))))"},
                {"a & b == c", "((& a b) == c)"},
                {"a // b % c @ d / e", "(/ (@ (% (// a b) c) d) e)"},
                {"-a ** -b", "(- (** a (- b)))"},
                {"a ** b ** c", "(** a (** b c))"},
                {"~-+a", "(~ (- (+ a)))"},
                {"-a.b[c](d)", "(- (call ([] (. a b) c) d))"},
                {"not a == b", "(not (a == b))"},
                {"not not a", "(not (not a))"},
                {"a or b and not c or d", "(or a (and b (not c)) d)"},
                {"a and b and c", "(and a b c)"},
                {"(a and b) and c", "(and (and a b) c)"},
                {"await_ + (a)", "(+ await_ a)"}});
}

TEST(ScriptExpr, Comparisons) {
  expect_exprs({{"a < b <= c != d", "(a < b <= c != d)"},
                {"a in b not in c", "(a in b not in c)"},
                {"a is b is not c", "(a is b is not c)"},
                {"a is (not b)", "(a is (not b))"},
                {"(a < b) < c", "((a < b) < c)"},
                {"a > b >= c == d", "(a > b >= c == d)"}});
}

TEST(ScriptExpr, ConditionalLambdaWalrus) {
  expect_exprs({{"a if b else c", "(if b a c)"},
                {"a if b else c if d else e", "(if b a (if d c e))"},
                {"(a if b else c) if d else e", "(if d (if b a c) e)"},
                {"a or b if c and d else e", "(if (and c d) (or a b) e)"},
                {"lambda: 0", "(lambda () 0)"},
                {"lambda a, b=1, *c, d, e=2, **f: a", "(lambda (a b=1 *c !d !e=2 **f) a)"},
                {"lambda a, /, b, *, c: (a, b)", "(lambda (/a b !c) (tuple a b))"},
                {"lambda x: lambda y: x if y else 0", "(lambda (x) (lambda (y) (if y x 0)))"},
                {"(a := b)", "(:= a b)"},
                {"f(a := 1, b)", "(call f (:= a 1) b)"},
                {"[a := 1, a]", "(list (:= a 1) a)"},
                {"x[a := 1]", "([] x (:= a 1))"}});
}

TEST(ScriptExpr, Brackets) {
  expect_exprs({{"()", "(tuple)"},
                {"(a)", "a"},
                {"(a,)", "(tuple a)"},
                {"a,", "(tuple a)"},
                {"a, *b, c", "(tuple a (star b) c)"},
                {"(a, b), [c], []", "(tuple (tuple a b) (list c) (list))"},
                {"[a, *b | c,]", "(list a (star (| b c)))"},
                {"{}", "(dict)"},
                {"{a}", "(set a)"},
                {"{*a, b,}", "(set (star a) b)"},
                {"{a: b, **c, d: e,}", "(dict a:b **c d:e)"},
                {"{**a}", "(dict **a)"},
                {"{a: b if c else d}", "(dict a:(if c b d))"}});
}

TEST(ScriptExpr, Comprehensions) {
  expect_exprs({{"[a for a in b]", "(listcomp a (for a b))"},
                {"{a for a in b if c if d}", "(setcomp a (for a b c d))"},
                {"{a: b for a, b in c}", "(dictcomp a b (for (tuple a b) c))"},
                {"(a for a in b for c in d if e)", "(generator a (for a b) (for c d e))"},
                {"f(a for a in b)", "(call f (generator a (for a b)))"},
                {"[a for a, in b]", "(listcomp a (for (tuple a) b))"},
                {"[x for a.b, *c[0] in d or e]",
                 "(listcomp x (for (tuple (. a b) (star ([] c 0))) (or d e)))"},
                {"[(a if b else c) for a in d if (e if f else g)]",
                 "(listcomp (if b a c) (for a d (if f e g)))"},
                {"[a if b else c for a in d]", "(listcomp (if b a c) (for a d))"}});
}

TEST(ScriptExpr, Calls) {
  expect_exprs({{"f()", "(call f)"},
                {"f(a, b=c, *d, **e, g=h,)", "(call f a b=c *d **e g=h)"},
                {"f(*a, b)", "(call f *a b)"},
                {"f(*a or b, **c if d else e)", "(call f *(or a b) **(if d c e))"},
                {"f(a)(b).c(d)", "(call (. (call (call f a) b) c) d)"},
                {"f(a, (b for b in c))", "(call f a (generator b (for b c)))"},
                {"f(a == b)", "(call f (a == b))"},
                {"f(match=1, type=2)", "(call f match=1 type=2)"}});
}

TEST(ScriptExpr, Subscripts) {
  expect_exprs({{"a[b]", "([] a b)"},
                {"a[b, c]", "([] a (tuple b c))"},
                {"a[b,]", "([] a (tuple b))"},
                {"a[(b, c)]", "([] a (tuple b c))"},
                {"a[:]", "([] a (: _ _ _))"},
                {"a[b:]", "([] a (: b _ _))"},
                {"a[:b]", "([] a (: _ b _))"},
                {"a[::b]", "([] a (: _ _ b))"},
                {"a[b:c:d]", "([] a (: b c d))"},
                {"a[b:c:]", "([] a (: b c _))"},
                {"a[:, b::2, ...]", "([] a (tuple (: _ _ _) (: b _ 2) ...))"},
                {"a[:, :]", "([] a (tuple (: _ _ _) (: _ _ _)))"},
                {"a[*b]", "([] a (tuple (star b)))"},
                {"a[b, *c]", "([] a (tuple b (star c)))"},
                {"a[b if c else d : -e]", "([] a (: (if c b d) (- e) _))"},
                {"a[b][c]", "([] ([] a b) c)"}});
}

TEST(ScriptExpr, Strings) {
  expect_exprs({{R"("a" 'b' """c""")", R"("abc")"},
                {R"("a\tb")", R"("a\x09b")"},
                {R"(b"a" rb"\n")", R"("a\\n")"},
                {R"(u"é")", R"("é")"},
                {R"(f"")", "(f)"},
                {R"(f"a")", R"((f "a"))"},
                {R"(f"{a}")", "(f {a})"},
                {R"(f"x{a!r}y")", R"((f "x" {a!r} "y"))"},
                {R"(f"{a:>8}")", R"((f {a:(f ">8")}))"},
                {R"(f"{a:}")", "(f {a:(f)})"},
                {R"(f"{a!s:{w}.{p}f}")", R"((f {a!s:(f {w} "." {p} "f")}))"},
                {R"(f"{a=}")", R"((f "a=" {a!r}))"},
                {R"(f"x{ a + 1 = }")", R"((f "x a + 1 = " {(+ a 1)!r}))"},
                {R"(f"{a=:>3}")", R"((f "a=" {a:(f ">3")}))"},
                {R"(f"{a = !s}")", R"((f "a = " {a!s}))"},
                {R"(f"{{{a}}}")", R"((f "{" {a} "}"))"},
                {R"("a" f"b{c}d" "e")", R"((f "ab" {c} "de"))"},
                {R"(f"{a, b}")", "(f {(tuple a b)})"},
                {R"(f"{f'{a}'}")", "(f {(f {a})})"},
                {R"(f"{a['b']}")", R"((f {([] a "b")}))"},
                {R"(f"{(lambda x: x)(1)}")", "(f {(call (lambda (x) x) 1)})"},
                {R"(f"{ {1: 2}[1] }")", "(f {([] (dict 1:2) 1)})"},
                {R"(rf"\d{a}")", R"((f "\\d" {a}))"},
                {R"(f"\{a}\x41")", R"((f "\\" {a} "A"))"},
                {R"(f"{a!r:^{w!s}}")", R"((f {a!r:(f "^" {w!s})}))"}});
}

TEST(ScriptExpr, Unsupported) {
  expect_exprs({{"(yield)", "(yield _)"},
                {"(yield a, b)", "(yield (tuple a b))"},
                {"(yield from a)", "(yield a)"},
                {"await a.b(c)", "(await (call (. a b) c))"},
                {"-await a ** b", "(- (** (await a) b))"}});
}

// --- statements ---------------------------------------------------------------------------------

TEST(ScriptStmt, Assignments) {
  expect_files({{"a = 1", "(= a 1)"},
                {"a = b = c", "(= a b c)"},
                {"a, b = b, a", "(= (tuple a b) (tuple b a))"},
                {"a, (b, *c), [d] = e", "(= (tuple a (tuple b (star c)) (list d)) e)"},
                {"*a, = b", "(= (tuple (star a)) b)"},
                {"(a) = 1", "(= a 1)"},
                {"() = a", "(= (tuple) a)"},
                {"a.b[c] = d", "(= ([] (. a b) c) d)"},
                {"a = yield", "(= a (yield _))"},
                {"a = *b, c", "(= a (tuple (star b) c))"},
                {"a += 1", "(+= a 1)"},
                {"a.b **= c, d", "(**= (. a b) (tuple c d))"},
                {"a //= b; a >>= c; a @= d; a |= e", "(//= a b); (>>= a c); (@= a d); (|= a e)"},
                {"a: int", "(annotate a int _)"},
                {"a: T.int32 = 0", "(annotate a (. T int32) 0)"},
                {"(a): int = 1, 2", "(annotate a int (tuple 1 2))"},
                {"a.b: c", "(annotate (. a b) c _)"},
                {"match = type = 1", "(= match type 1)"},
                {"match: int = 1", "(annotate match int 1)"},
                {"match[a] = 1", "(= ([] match a) 1)"},
                {"type(a)", "(call type a)"}});
}

TEST(ScriptStmt, Small) {
  expect_files({{"", ""},
                {"pass", "pass"},
                {"a; b;", "a; b"},
                {"f(x)\n\n\ny", "(call f x); y"},
                {"return", "(return _)"},
                {"return a, *b", "(return (tuple a (star b)))"},
                {"assert a", "(assert a _)"},
                {"assert a, b", "(assert a b)"},
                {"assert (a, b)", "(assert (tuple a b) _)"},
                {"raise", "(raise _ _)"},
                {"raise a", "(raise a _)"},
                {"raise a from b", "(raise a b)"},
                {"del a", "(del a)"},
                {"del a, b.c, d[0]", "(del a (. b c) ([] d 0))"},
                {"del (a, b)", "(del (tuple a b))"},
                {"del a,", "(del a)"},
                {"global a, b", "(global a b)"},
                {"nonlocal a", "(nonlocal a)"},
                {"break", "break"},
                {"continue", "continue"},
                {"yield a", "(yield a)"},
                {"\"doc\"", "\"doc\""}});
}

TEST(ScriptStmt, Imports) {
  expect_files({{"import a", "(import a=a)"},
                {"import a.b.c", "(import a.b.c=a)"},
                {"import a.b as c, d", "(import a.b=c d=d)"},
                {"from a import b", "(from \"a\" b=b)"},
                {"from a.b import c as d, e", "(from \"a.b\" c=d e=e)"},
                {"from a import (b,\n  c as d,\n)", "(from \"a\" b=b c=d)"},
                {"from a import *", "(from \"a\" *=*)"},
                {"from . import a", "(from \".\" a=a)"},
                {"from .... a import b", "(from \"....a\" b=b)"}});
}

TEST(ScriptStmt, Control) {
  expect_files(
      {{"if a: b", "(if a {b} {})"},
       {"if a:\n  b\n  c\nd", "(if a {b; c} {}); d"},
       {"if a: b\nelif c: d\nelif e: f\nelse: g", "(if a {b} {(if c {d} {(if e {f} {g})})})"},
       {"if (a := b): c", "(if (:= a b) {c} {})"},
       {"if a := b: c", "(if (:= a b) {c} {})"},
       {"while a: b; c", "(while a {b; c} {})"},
       {"while a:\n  b\nelse:\n  c", "(while a {b} {c})"},
       {"for a in b: c; d", "(for a b {c; d} {})"},
       {"for a, (b, c) in d, e:\n  f\nelse: g", "(for (tuple a (tuple b c)) (tuple d e) {f} {g})"},
       {"for a, in b: pass", "(for (tuple a) b {pass} {})"},
       {"for a[i] in b: pass", "(for ([] a i) b {pass} {})"},
       {"for x in *a, b: pass", "(for x (tuple (star a) b) {pass} {})"},
       {"if a:\n  if b:\n    c\n  else:\n    d\nelse:\n  e", "(if a {(if b {c} {d})} {e})"}});
}

TEST(ScriptStmt, TryAndWith) {
  expect_files({{"try: a\nexcept: b", "(try {a} {b})"},
                {"try: a\nfinally: b", "(try {a} {b})"},
                {"try: a\nexcept A: b\nexcept (B, C) as e: c\nelse: d\nfinally: f",
                 "(try {a} {b; c; d; f})"},
                {"try: a\nexcept* A: b", "(try {a} {b})"},
                {"with a: b", "(with a {b})"},
                {"with a as b: c", "(with a=b {c})"},
                {"with a as b, c, d as (e, f): g", "(with a=b c d=(tuple e f) {g})"},
                {"with (a as b, c): d", "(with a=b c {d})"},
                {"with (a as b,\n  c as d,\n): e", "(with a=b c=d {e})"},
                {"with (a): b", "(with a {b})"},
                {"with (a, b): c", "(with a b {c})"},
                {"with (a, b) as c: d", "(with (tuple a b)=c {d})"},
                {"with (a).b() as c: d", "(with (call (. a b))=c {d})"},
                {"with (a), (b): c", "(with a b {c})"},
                {"with (a for a in b): c", "(with (generator a (for a b)) {c})"},
                {"with (a := b): c", "(with (:= a b) {c})"},
                {"with (yield a): c", "(with (yield a) {c})"},
                {"with (): c", "(with (tuple) {c})"},
                {"with (*a, b): c", "(with (tuple (star a) b) {c})"},
                {"with (a * b, f(*c)): d", "(with (* a b) (call f *c) {d})"},
                {"with a as b.c: d", "(with a=(. b c) {d})"}});
}

TEST(ScriptStmt, FunctionsAndClasses) {
  expect_files({{"def f(): pass", "(def f () _ {pass})"},
                {"def f(a, b: int = 1, *c: d, e, g=2, **h: i) -> j: pass",
                 "(def f (a b:int=1 *c:d !e !g=2 **h:i) j {pass})"},
                {"def f(a, /, b, *, c,): pass", "(def f (/a b !c) _ {pass})"},
                {"def f(a=1, /, b=2): pass", "(def f (/a=1 b=2) _ {pass})"},
                {"def f(*a: *b): pass", "(def f (*a:(star b)) _ {pass})"},
                {"def f(*, a, **b): pass", "(def f (!a **b) _ {pass})"},
                {"def f():\n  def g():\n    return 1\n  return g",
                 "(def f () _ {(def g () _ {(return 1)}); (return g)})"},
                {"@a\n@b.c(1)\ndef f(): pass", "@a @(call (. b c) 1) (def f () _ {pass})"},
                {"@a\n\n# c\nclass B: pass", "@a (class B () {pass})"},
                {"class A(): pass", "(class A () {pass})"},
                {"class A(B, c=D, *E):\n  x = 1\n  def f(self): pass",
                 "(class A ( B c=D *E) {(= x 1); (def f (self) _ {pass})})"}});
}

TEST(ScriptStmt, Unsupported) {
  expect_files(
      {{"async def f():\n  await a\n  if b:\n    c\nd", "(unsupported async); d"},
       {"async def f(): await a\nd", "(unsupported async); d"},
       {"async with a: pass; b\nd", "(unsupported async); d"},
       {"async for a in b:\n  c\nelse:\n  d\ne", "(unsupported async); e"},
       {"@a\nasync def f():\n  pass", "(unsupported async)"},
       {"match a:\n  case 1: pass\n  case [b, *c]:\n    pass\nd", "(unsupported match); d"},
       {"match a, b:\n  case _: pass", "(unsupported match)"},
       {"match (a):\n  case _: pass", "(unsupported match)"},
       {"match -a:\n  case _: pass", "(unsupported match)"},
       {"match(a)", "(call match a)"},
       {"match - a", "(- match a)"},
       {"match * a, b", "(tuple (* match a) b)"},
       {"type A = int; b", "(unsupported type); b"},
       {"type A[B] = int\nb", "(unsupported type); b"},
       {"type = 1", "(= type 1)"},
       {"def f():\n  match a:\n    case 1:\n      pass\n  return b",
        "(def f () _ {(unsupported match); (return b)})"}});
}

TEST(ScriptStmt, LineEnds) {
  const std::string_view wanted = "(if a {(= b \"x\\x0ay\")} {}); c";
  EXPECT_EQ(file_tree("if a:\n  b = '''x\ny'''\nc\n"), wanted);
  EXPECT_EQ(file_tree("if a:\r\n  b = '''x\r\ny'''\r\nc\r\n"), wanted);
  EXPECT_EQ(file_tree("\xEF\xBB\xBFif a:\n\tb = '''x\ny'''\nc"), wanted);
}

// --- places -------------------------------------------------------------------------------------

// The text of every expression, children first.
std::vector<std::string> expr_texts(std::string_view text) {
  SymbolTable symbols;
  const auto ast = parse_file(text, symbols);
  std::vector<std::string> out;
  if (!ast) return {ast.error().text};
  for (const Expr& expr : ast->exprs)
    out.emplace_back(text.substr(expr.place.begin, expr.place.end - expr.place.begin));
  return out;
}

TEST(ScriptPlaces, Expressions) {
  using ::testing::ElementsAre;
  EXPECT_THAT(expr_texts("(a + b) * c"), ElementsAre("a", "b", "a + b", "c", "(a + b) * c"));
  EXPECT_THAT(expr_texts("f( x ,k = 1 ).y[ 2: ]"),
              ElementsAre("f", "x", "1", "f( x ,k = 1 )", "f( x ,k = 1 ).y", "2",
                          "2:", "f( x ,k = 1 ).y[ 2: ]"));
  EXPECT_THAT(expr_texts("( (a), b )"), ElementsAre("a", "b", "(a), b"));
  EXPECT_THAT(expr_texts("x = ()"), ElementsAre("x", "()"));
  EXPECT_THAT(expr_texts("[ a , ]"), ElementsAre("a", "[ a , ]"));
  EXPECT_THAT(expr_texts("((a) for a in b)"), ElementsAre("a", "a", "b", "(a) for a in b"));
  EXPECT_THAT(expr_texts("not  (a)"), ElementsAre("a", "not  (a)"));
  EXPECT_THAT(expr_texts("(a) if (b) else (c)"), ElementsAre("a", "b", "c", "(a) if (b) else (c)"));
  EXPECT_THAT(expr_texts("lambda x: (x)"), ElementsAre("x", "lambda x: (x)"));
  EXPECT_THAT(expr_texts("'a'  \"b\"  # c"), ElementsAre("'a'  \"b\""));
  EXPECT_THAT(
      expr_texts("f'a{ b !r:>{c}}d'"),
      ElementsAre("b", "a", "c", ">", "{c}", ">{c}", "{ b !r:>{c}}", "d", "f'a{ b !r:>{c}}d'"));
  EXPECT_THAT(expr_texts("é = 'ü'"), ElementsAre("é", "'ü'"));
}

TEST(ScriptPlaces, Parenthesized) {
  SymbolTable symbols;
  const auto ast = parse_file("((a)), b, (c, d), (e for e in f), g(h for h in i)", symbols);
  ASSERT_TRUE(ast);
  std::string marked;
  for (const Expr& expr : ast->exprs)
    if (expr.parenthesized) marked += fmt::format("{} ", static_cast<int>(expr.kind));
  EXPECT_EQ(marked, fmt::format("{} {} {} ", static_cast<int>(ExprKind::Name),
                                static_cast<int>(ExprKind::Tuple),
                                static_cast<int>(ExprKind::GeneratorExp)));
}

TEST(ScriptPlaces, Statements) {
  const std::string_view text =
      "@d\n"
      "def f(x, *y: int):  # c\n"
      "  if x:  # c\n"
      "    return x ; pass\n"
      "  elif y: z\n"
      "\n"
      "a = 1 # c\n";
  SymbolTable symbols;
  const auto ast = parse_file(text, symbols);
  ASSERT_TRUE(ast) << ast.error().text;
  const auto at = [&](Place place) { return text.substr(place.begin, place.end - place.begin); };
  const Stmt& def = (*ast)[ast->list(ast->body)[0]];
  EXPECT_EQ(at(def.place), text.substr(0, text.find("\n\na = 1")));
  EXPECT_EQ(at(def.head), "def f(x, *y: int)");
  EXPECT_EQ(at(def.name_place), "f");
  EXPECT_EQ(at(ast->list(def.params)[0].place), "x");
  EXPECT_EQ(at(ast->list(def.params)[1].place), "*y: int");
  const Stmt& branch = (*ast)[ast->list(def.body)[0]];
  EXPECT_EQ(at(branch.head), "if x");
  const Stmt& elif = (*ast)[ast->list(branch.other)[0]];
  EXPECT_EQ(at(elif.head), "elif y");
  EXPECT_EQ(at(elif.place), "elif y: z");
  EXPECT_EQ(at((*ast)[ast->list(branch.body)[0]].place), "return x");
  const Stmt& assign = (*ast)[ast->list(ast->body)[1]];
  EXPECT_EQ(at(assign.place), "a = 1");
  EXPECT_EQ(at(assign.head), "a = 1");
}

TEST(ScriptPlaces, NamesOfArgumentsAndAttributes) {
  const std::string_view text = "f(key = a.b)";
  SymbolTable symbols;
  ExprId root;
  const auto ast = parse_expression(text, symbols, root);
  ASSERT_TRUE(ast);
  const Arg& arg = ast->list((*ast)[root].args)[0];
  EXPECT_EQ(text.substr(arg.name_place.begin, 3), "key");
  EXPECT_EQ(symbols.text(arg.name), "key");
  const Expr& value = (*ast)[arg.value];
  EXPECT_EQ(value.name_place.begin, text.find(".b") + 1);
  EXPECT_EQ(symbols.text(value.name), "b");
}

// --- symbols, whole files -----------------------------------------------------------------------

TEST(ScriptSymbols, OneForEachText) {
  SymbolTable symbols;
  const Symbol a = symbols.intern("a");
  const Symbol b = symbols.intern("b");
  EXPECT_EQ(symbols.intern("a"), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(symbols.text(b), "b");
  EXPECT_EQ(symbols.size(), 2U);
  SymbolTable moved = std::move(symbols);
  EXPECT_EQ(moved.text(a), "a");
}

TEST(ScriptOps, HaveTexts) {
  EXPECT_EQ(text_of(Op::None), "");
  EXPECT_EQ(text_of(Op::NotIn), "not in");
  for (int i = 1; i <= static_cast<int>(Op::IsNot); ++i)
    EXPECT_FALSE(text_of(static_cast<Op>(i)).empty()) << i;
}

TEST(ScriptFile, AProgramParses) {
  SymbolTable symbols;
  const auto ast = parse_file(kProgram, symbols);
  ASSERT_TRUE(ast) << render(ast.error(), SourceText("program", std::string(kProgram)));
  EXPECT_EQ(ast->list(ast->body).size(), 21U);
  const std::string tree = Dump(*ast, symbols)(ast->body);
  EXPECT_THAT(tree, ::testing::HasSubstr("@(call (. T prim_func) tirx=True) (def kernel ("));
  EXPECT_THAT(tree, ::testing::HasSubstr("(with (call (. T cta)) {"));
  EXPECT_THAT(tree, ::testing::HasSubstr("(^= phase 1); (call (. T sync))"));
  EXPECT_THAT(tree, ::testing::HasSubstr("(unsupported match)"));
}

}  // namespace
}  // namespace ww::script::parser_test
