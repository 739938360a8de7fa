// SPDX-License-Identifier: Apache-2.0
// Each error with its place, what is refused for its size, and texts that are damaged at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "script/syntax/parser.h"
#include "script/test_program.h"

namespace ww::script::parser_errors_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// "2:3: found ..., expected ... [Syntax]", then the notes; "" when the text parses.
std::string error_of(std::string_view text) {
  SymbolTable symbols;
  const auto ast = parse_file(text, symbols);
  if (ast) return "";
  const SourceText source("", std::string(text));
  const auto at = [&](Span span) {
    const auto position = source.position(span.begin);
    return fmt::format("{}:{}: ", position.line, position.column);
  };
  const Diag& error = ast.error();
  std::string out = fmt::format("{}{} [{}]", at(error.span), error.text, name_of(error.kind));
  for (const Note& note : error.notes)
    out += fmt::format(" | {}{}", note.span.known ? at(note.span) : "", note.text);
  return out;
}

struct Row {
  std::string text;
  std::string error;
};
void expect_errors(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(error_of(row.text), row.error) << row.text;
}
// Rows without the kind, which is Syntax.
void expect_syntax(std::vector<Row> rows) {
  for (Row& row : rows) {
    const std::size_t notes = row.error.find(" | ");
    row.error.insert(notes == std::string::npos ? row.error.size() : notes, " [Syntax]");
  }
  expect_errors(rows);
}

TEST(ScriptErrors, Rendered) {
  SymbolTable symbols;
  const std::string text = "x = f(a,\n      b\ny = 1\n";
  const auto ast = parse_file(text, symbols);
  ASSERT_FALSE(ast);
  EXPECT_EQ(render(ast.error(), SourceText("k.py", text)),
            "k.py:3:1: error: found `y`, expected `,` or `)` [Syntax]\n"
            "    y = 1\n"
            "    ^\n"
            "k.py:1:6: note: `(` is opened here\n"
            "    x = f(a,\n"
            "         ^\n");
}

TEST(ScriptErrors, RenderedExpression) {
  SymbolTable symbols;
  ExprId root;
  const auto ast = parse_expression("make(1, 2) x", symbols, root);
  ASSERT_FALSE(ast);
  EXPECT_EQ(
      render(ast.error(), SourceText("--kernel", "make(1, 2) x")),
      "--kernel:1:12: error: found `x`, expected an operator or the end of the text [Syntax]\n"
      "    make(1, 2) x\n"
      "               ^\n");
  EXPECT_EQ(parse_expression("", symbols, root).error().text,
            "found the end of the text, expected an expression");
}

TEST(ScriptErrors, Characters) {
  expect_syntax(
      {{"a = $", "1:5: found `$`, which has no meaning outside a string"},
       {"a = ?",
        "1:5: found `?`, which has no meaning outside a string | a choice is `a if condition else "
        "b`"},
       {"!a", "1:1: found `!`, which has no meaning outside a string | did you mean `not`?"},
       {"a = “x”",
        "1:5: found `“` (U+201C), which has no meaning outside a string | strings are "
        "quoted by `\"` or `'`"},
       {"a =\u00A0"
        "1",
        "1:4: found `\u00A0` (U+00A0), which has no meaning outside a string | "
        "this is a blank that looks like a space; write a plain one"},
       {"a → b", "1:3: found `→` (U+2192), which has no meaning outside a string"},
       {"a = \x01", "1:5: found the control character `\\x01`"},
       {std::string("a = \0", 5), "1:5: found the byte `\\x00`, expected UTF-8 text without NUL"},
       {"a = '\xff'", "1:6: found the byte `\\xff`, expected UTF-8 text without NUL"},
       {"a = \\ b", "1:5: found text after `\\`, expected the end of the line"},
       {"a = \\", "1:5: found the end of the text, expected a line after `\\`"}});
}

TEST(ScriptErrors, Literals) {
  expect_syntax(
      {{"a = 1x", "1:5: found `1x`, which is neither a number nor a name"},
       {"a = 1j", "1:5: found `1j`, which is imaginary; complex numbers are not supported"},
       {"a = 'b", "1:7: found the end of the text, expected `'` | 1:5: the string begins here"},
       {"a = 'b\nc", "1:7: found the end of the line, expected `'` | 1:5: the string begins here"},
       {"a = '''b\nc",
        "2:2: found the end of the text, expected `'''` | 1:5: the string begins here"},
       {"a = 'b\\x4'", "1:7: found `\\x4`, expected 2 hexadecimal digits after `\\x`"},
       {"a = f'b\\x4'", "1:8: found `\\x4`, expected 2 hexadecimal digits after `\\x`"},
       {"a = f'\\N{DASH}'",
        "1:7: found `\\N`, which is not supported; write the character itself "
        "or its `\\u` code"},
       {"a = b'x' 'y'", "1:10: found bytes and text strings side by side"}});
  expect_errors({{"a = 18446744073709551616",
                  "1:5: `18446744073709551616` is too large for an integer, which is at most "
                  "18446744073709551615 [Overflow]"}});
}

TEST(ScriptErrors, FormatStrings) {
  expect_syntax(
      {{"f'{'", "1:5: found the end of the text, expected `'` | 1:4: the string begins here"},
       {"f'{a'", "1:6: found the end of the text, expected `'` | 1:5: the string begins here"},
       {"f'{}'", "1:4: found `}`, expected an expression"},
       {"f'{a b}'", "1:6: found `b`, expected `!`, `:` or `}` | 1:3: `{` is opened here"},
       {"f'{a!x}'", "1:6: found `x`, expected `r`, `s` or `a` after `!`"},
       {"f'{a!}'", "1:6: found `}`, expected `r`, `s` or `a` after `!`"},
       {"f'a}'", "1:4: found `}` in an f-string, expected `}}`"},
       {"f'{a:>3'",
        "1:8: found the end of the string, expected `}` | 1:3: the field is opened here"},
       {"f'{a:\nb}'", "1:6: found the end of the line, expected `'` | 1:1: the string begins here"},
       {"f'{a\n}'", "1:5: found the end of the line, expected `'` | 1:1: the string begins here"},
       {"f'{(a}'", "1:6: found `}`, expected `)` | 1:4: `(` is opened here"},
       {"f'''{a",
        "1:7: found the end of the text, expected `}` | 1:5: `{` is opened here and "
        "never closed"},
       {"f'{lambda x: 1}'", "1:13: found ` 1`, expected an expression"}});
}

TEST(ScriptErrors, Brackets) {
  expect_syntax(
      {{"f(a",
        "1:4: found the end of the text, expected `)` | 1:2: `(` is opened here and never "
        "closed"},
       {"x = [1,\n",
        "2:1: found the end of the text, expected `]` | 1:5: `[` is opened here and "
        "never closed"},
       {"f(a]", "1:4: found `]`, expected `)` | 1:2: `(` is opened here"},
       {"a)", "1:2: found `)` without a bracket that it closes"},
       {"f(a b)", "1:5: found `b`, expected `,` or `)` | 1:2: `(` is opened here"},
       {"f(,)", "1:3: found `,`, expected an expression"},
       {"[a b]", "1:4: found `b`, expected `,` or `]` | 1:1: `[` is opened here"},
       {"a[b c]", "1:5: found `c`, expected `,` or `]` | 1:2: `[` is opened here"},
       {"a[]", "1:3: found `]`, expected an expression"},
       {"{a: b, c}", "1:9: found `}`, expected `:` and the value for this key"},
       {"{a, b: c}", "1:6: found `:`, expected `,` or `}` | 1:1: `{` is opened here"},
       {"(a = b)",
        "1:4: found `=`, expected `,` or `)` | 1:1: `(` is opened here | `=` compares "
        "nothing; did you mean `==`?"},
       {"(*a)", "1:2: found a starred expression, expected it in a tuple, list, set or call"},
       {"a = *b", "1:5: found a starred expression, expected it in a tuple, list, set or call"},
       {"[*a for a in b]",
        "1:2: found a starred expression, expected it in a tuple, list, set or call"},
       {"[a for a in b if c else d]",
        "1:20: found `else`, expected `for`, `if` or `]` | 1:1: `[` is opened here"},
       {"[a for b]", "1:9: found `]`, expected `in`"},
       {"[a for f() in b]", "1:8: cannot assign to a call"},
       {"[a async for a in b]", "1:4: found `async` in a comprehension, which is not supported"},
       {"f(\ndef g(): pass", "2:1: found `def`, expected an expression"}});
}

TEST(ScriptErrors, Expressions) {
  expect_syntax(
      {{"a = )", "1:5: found `)` without a bracket that it closes"},
       {"a +", "1:4: found the end of the line, expected an expression"},
       {"a = ", "1:5: found the end of the line, expected an expression"},
       {"a && b", "1:4: found `&`, expected an expression | did you mean `and`?"},
       {"a || b", "1:4: found `|`, expected an expression | did you mean `or`?"},
       {"i++",
        "1:4: found the end of the line, expected an expression | there is no `++`; write "
        "`+= 1`"},
       {"i--\n",
        "1:4: found the end of the line, expected an expression | there is no `--`; "
        "write `-= 1`"},
       {"a + not b", "1:5: found `not`, expected an expression"},
       {"a if b", "1:7: found the end of the line, expected `else` of the conditional expression"},
       {"a not b", "1:3: found `not`, expected an operator or the end of the line"},
       {"a.1", "1:2: found `.1`, expected an operator or the end of the line"},
       {"a.", "1:3: found the end of the line, expected the name of an attribute"},
       {"a.class", "1:3: found the keyword `class`, expected the name of an attribute"},
       {"a := 1",
        "1:3: found `:=`, expected an operator or the end of the line | a statement "
        "assigns by `=`; `:=` needs parentheses"},
       {"lambda a:", "1:10: found the end of the line, expected an expression"},
       {"lambda a b: c", "1:10: found `b`, expected `,` or `:`"},
       {"lambda a: int: c", "1:1: cannot annotate a lambda"},
       {"a = yield = b", "1:5: cannot assign to `yield`"},
       {"= 1", "1:1: found `=`, expected a statement"}});
}

TEST(ScriptErrors, Calls) {
  expect_syntax({{"f(a=1, b)", "1:8: found a positional argument after a keyword argument"},
                 {"f(a=1, *b, c)", "1:12: found a positional argument after a keyword argument"},
                 {"f(**a, b)", "1:8: found a positional argument after one with `**`"},
                 {"f(**a, *b)", "1:9: found an argument with `*` after one with `**`"},
                 {"f(a.b=1)",
                  "1:6: found `=`, expected `,` or `)` | 1:2: `(` is opened here | a keyword "
                  "argument has a plain name before `=`; `==` compares"},
                 {"f(class=1)", "1:3: found the keyword `class`, expected the name of an argument"},
                 {"f(True=1)", "1:3: found the keyword `True`, expected the name of an argument"},
                 {"f(a=)", "1:5: found `)`, expected an expression"},
                 {"f(a for a in b, c)",
                  "1:3: found a generator beside other arguments, expected it in parentheses"},
                 {"f(c, a for a in b)",
                  "1:6: found a generator beside other arguments, expected it in parentheses"}});
}

TEST(ScriptErrors, Targets) {
  expect_syntax(
      {{"f(x) = 1", "1:1: cannot assign to a call"},
       {"a = f() = 1", "1:5: cannot assign to a call"},
       {"1 = a", "1:1: cannot assign to a literal"},
       {"a, 'b' = c", "1:4: cannot assign to a literal"},
       {"f'' = a", "1:1: cannot assign to an f-string"},
       {"None = a", "1:1: cannot assign to `None`"},
       {"True = a", "1:1: cannot assign to `True`"},
       {"... = a", "1:1: cannot assign to `...`"},
       {"a + b = c", "1:1: cannot assign to an operator's result"},
       {"-a = c", "1:1: cannot assign to an operator's result"},
       {"a < b = c", "1:1: cannot assign to a comparison"},
       {"a if b else c = d", "1:1: cannot assign to a conditional expression"},
       {"[a for a in b] = c", "1:1: cannot assign to a comprehension"},
       {"(a for a in b) = c", "1:2: cannot assign to a generator"},
       {"{a} = c", "1:1: cannot assign to a set"},
       {"{} = c", "1:1: cannot assign to a dict"},
       {"(lambda: 0) = c", "1:2: cannot assign to a lambda"},
       {"(a := 1) = c", "1:2: cannot assign to a named expression"},
       {"(yield) = c", "1:2: cannot assign to `yield`"},
       {"*a = b", "1:1: found a starred expression, expected it in a tuple, list, set or call"},
       {"*a, *b = c", "1:5: found a second starred target, expected one"},
       {"a, b += 1", "1:1: cannot use `+=` on a tuple"},
       {"f() -= 1", "1:1: cannot use `-=` on a call"},
       {"a, b: int", "1:1: cannot annotate a tuple"},
       {"f(): int", "1:1: cannot annotate a call"},
       {"del f()", "1:5: cannot delete a call"},
       {"del a, 1", "1:8: cannot delete a literal"},
       {"del *a, b", "1:5: cannot delete a starred expression"},
       {"for 1 in a: pass", "1:5: cannot assign to a literal"},
       {"with a as f(): pass", "1:11: cannot assign to a call"}});
}

TEST(ScriptErrors, Statements) {
  expect_syntax(
      {{"print x",
        "1:7: found `x`, expected an operator or the end of the line | 1:1: `print` is "
        "a function; did you mean `print(...)`?"},
       {"print 'x'",
        "1:7: found `'x'`, expected an operator or the end of the line | 1:1: "
        "`print` is a function; did you mean `print(...)`?"},
       {"fro i in x: pass",
        "1:5: found `i`, expected an operator or the end of the line | 1:1: did you mean `for`?"},
       {"retrun x",
        "1:8: found `x`, expected an operator or the end of the line | 1:1: did you "
        "mean `return`?"},
       {"spam eggs", "1:6: found `eggs`, expected an operator or the end of the line"},
       {"a b", "1:3: found `b`, expected an operator or the end of the line"},
       {"a = 1 2", "1:7: found `2`, expected an operator or the end of the line"},
       {";", "1:1: found `;`, expected a statement"},
       {"pass pass", "1:6: found `pass`, expected the end of the line"},
       {"global a b", "1:10: found `b`, expected the end of the line"},
       {"import a b", "1:10: found `b`, expected the end of the line"},
       {"class = 1", "1:7: found `=`, expected the name of a class"},
       {"def = 1", "1:5: found `=`, expected the name of a function"},
       {"global 1", "1:8: found `1`, expected a name"},
       {"global if", "1:8: found the keyword `if`, expected a name"},
       {"import", "1:7: found the end of the line, expected the name of a module"},
       {"import a.", "1:10: found the end of the line, expected the name of a module"},
       {"import a as", "1:12: found the end of the line, expected a name"},
       {"from a import", "1:14: found the end of the line, expected a name to import"},
       {"from a import b,", "1:17: found the end of the line, expected a name to import"},
       {"from a import (b c)", "1:18: found `c`, expected `,` or `)` | 1:15: `(` is opened here"},
       {"from a", "1:7: found the end of the line, expected `import`"},
       {"from import a", "1:6: found the keyword `import`, expected the name of a module"},
       {"assert a = b",
        "1:10: found `=`, expected `,` or the end of the line | `=` compares "
        "nothing; did you mean `==`?"},
       {"raise a, b", "1:8: found `,`, expected an operator or the end of the line"}});
}

TEST(ScriptErrors, Blocks) {
  expect_syntax(
      {{"if a", "1:5: found the end of the line, expected `:`"},
       {"if a = 1: b", "1:6: found `=`, expected `:` | `=` compares nothing; did you mean `==`?"},
       {"while a = 1: b",
        "1:9: found `=`, expected `:` | `=` compares nothing; did you mean `==`?"},
       {"if a: b\nelif c = 1: d",
        "2:8: found `=`, expected `:` | `=` compares nothing; did you mean `==`?"},
       {"if: b", "1:3: found `:`, expected an expression"},
       {"if a:\nb", "2:1: found `b`, expected an indented block | 1:1: the block of this `if`"},
       {"if a:\n",
        "2:1: found the end of the text, expected an indented block | 1:1: the block "
        "of this `if`"},
       {"def f():\n\n# c\nx",
        "4:1: found `x`, expected an indented block | 1:1: the block of "
        "this `def`"},
       {"if a:\n  for b in c:\n  d",
        "3:3: found `d`, expected an indented block | 2:3: the block of this `for`"},
       {"for a in b:\n  c\nelse:\nd",
        "4:1: found `d`, expected an indented block | 3:1: the block of this `else`"},
       {"  a", "1:1: found an indented line, but no block opened before it"},
       {"a\n  b", "2:1: found an indented line, but no block opened before it"},
       {"if a:\n    b\n  c", "3:1: found an indentation of 2 columns, expected 0 or 4"},
       {"if a:\n\tb\n        c",
        "3:1: found tabs and spaces mixed in a way that makes the "
        "indentation depend on the width of a tab"},
       {"else: a", "1:1: found `else`, but no block before it that it continues"},
       {"if a: b\nc\nelif d: e", "3:1: found `elif`, but no block before it that it continues"},
       {"if a: b\nelse if c: d", "2:6: found `if`, expected `:` | did you mean `elif`?"},
       {"if a: if b: c", "1:7: found `if`, expected a statement"},
       {"for a b: c", "1:7: found `b`, expected `in`"},
       {"for a in: c", "1:9: found `:`, expected an expression"},
       {"for a in b c: d", "1:12: found `c`, expected `:`"},
       {"try: a\nb",
        "2:1: found `b`, expected `except` or `finally` | 1:1: the block of this `try`"},
       {"try: a\nelse: b",
        "2:1: found `else`, expected `except` or `finally` | 1:1: the block of this `try`"},
       {"try: a\nexcept A, B: c",
        "2:9: found `,`, expected `:` | several exceptions need parentheses around them"},
       {"try: a\nexcept*: b", "2:8: found `:`, expected an expression"},
       {"with a as: b", "1:10: found `:`, expected an expression"},
       {"with (a as b, c: d", "1:16: found `:`, expected `,` or `)` | 1:6: `(` is opened here"},
       {"async a", "1:7: found `a`, expected `def`, `for` or `with` after `async`"},
       {"async def f():\n  a = 'b",
        "2:9: found the end of the text, expected `'` | 2:7: the "
        "string begins here"}});
}

TEST(ScriptErrors, Functions) {
  expect_syntax(
      {{"def f: pass", "1:6: found `:`, expected `(` and parameters"},
       {"def class(): pass", "1:5: found the keyword `class`, expected the name of a function"},
       {"def f(1): pass", "1:7: found `1`, expected the name of a parameter"},
       {"def f(a b): pass", "1:9: found `b`, expected `,` or `)` | 1:6: `(` is opened here"},
       {"def f(if): pass", "1:7: found the keyword `if`, expected the name of a parameter"},
       {"def f(a=1, b): pass", "1:12: found a parameter without a default after one that has one"},
       {"def f(a, b, a): pass", "1:13: found a second parameter `a`"},
       {"def f(a, *a): pass", "1:11: found a second parameter `a`"},
       {"lambda a, a: 1", "1:11: found a second parameter `a`"},
       {"def f(/, a): pass", "1:7: found `/`, expected a parameter before `/`"},
       {"def f(a, /, b, /): pass", "1:16: found `/`, expected one `/`, before `*`"},
       {"def f(*a, /): pass", "1:11: found `/`, expected one `/`, before `*`"},
       {"def f(*a, *b): pass", "1:11: found `*`, expected no second `*`"},
       {"def f(*): pass", "1:8: found `)`, expected the name of a parameter"},
       {"def f(*, **a): pass", "1:10: found `**`, expected a parameter after `*,`"},
       {"def f(**a, b): pass", "1:12: found `b`, expected no parameter after the one with `**`"},
       {"def f(*a=1): pass", "1:9: found `=`, expected no default for a parameter with `*`"},
       {"def f() ->: pass", "1:11: found `:`, expected an expression"},
       {"def f() pass", "1:9: found `pass`, expected `:`"},
       {"@a\nb", "2:1: found `b`, expected `def` or `class` after a decorator"},
       {"@a b\ndef f(): pass", "1:4: found `b`, expected the end of the line"},
       {"class A(: pass", "1:9: found `:`, expected an expression"},
       {"class 1: pass", "1:7: found `1`, expected the name of a class"}});
}

// --- limits -------------------------------------------------------------------------------------

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}
std::string around(std::string_view before, std::string_view inner, std::string_view after,
                   int count) {
  return repeat(before, count) + std::string(inner) + repeat(after, count) + "\n";
}

TEST(ScriptLimits, NestedExpressions) {
  struct Case {
    std::string_view before, inner, after;
  };
  const std::vector<Case> cases = {{"(", "a", ")"},
                                   {"[", "a", "]"},
                                   {"f(", "a", ")"},
                                   {"a[", "b", "]"},
                                   {"{1: ", "a", "}"},
                                   {"f(k=", "a", ")"},
                                   {"-", "a", ""},
                                   {"not ", "a", ""},
                                   {"", "a", ".b"},
                                   {"", "a", "()"},
                                   {"", "a", "[0]"},
                                   {"a ** ", "b", ""},
                                   {"lambda: ", "a", ""},
                                   {"lambda a=", "b", ": c"},
                                   {"a if b else ", "c", ""},
                                   {"", "a", " + b"},
                                   {"[*", "a", "]"},
                                   {"(yield ", "a", ")"},
                                   {"[a for a in ", "b", "]"},
                                   {"[a for a in b if ", "c", "]"}};
  for (const Case& c : cases) {
    EXPECT_EQ(error_of(around(c.before, c.inner, c.after, 60)), "") << c.before << c.after;
    EXPECT_THAT(error_of(around(c.before, c.inner, c.after, kMaxNesting + 1)),
                HasSubstr("nested deeper than 200 levels [TooLarge]"))
        << c.before << c.after;
    EXPECT_THAT(error_of(around(c.before, c.inner, c.after, 50'000)),
                HasSubstr("nested deeper than 200 levels [TooLarge]"))
        << c.before << c.after;
  }
  EXPECT_EQ(error_of(around("(", "a", ")", kMaxNesting)), "");
  EXPECT_EQ(error_of(around("", "a", ".b", kMaxNesting)), "");
}

TEST(ScriptLimits, NestedFormatStrings) {
  EXPECT_EQ(error_of(around("f'{", "a", "}'", 60)), "");
  EXPECT_THAT(error_of(around("f'{", "a", "}'", 5000)), HasSubstr("[TooLarge]"));
  EXPECT_THAT(error_of("f'" + around("{a:", "", "}", 5000)), HasSubstr("[TooLarge]"));
}

TEST(ScriptLimits, MixedOperators) {
  const std::string_view all = "a or b and not c == d | e ^ f & g << h + i * -j ** [k, *(";
  EXPECT_EQ(error_of(around(all, "1", ")]", 10)), "");
  EXPECT_THAT(error_of(around(all, "1", ")]", 1000)), HasSubstr("[TooLarge]"));
}

TEST(ScriptLimits, LongListsAreNotNested) {
  EXPECT_EQ(error_of("a = " + repeat("b, ", 5000) + "\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("b and ", 5000) + "c\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("b < ", 5000) + "c\n"), "");
  EXPECT_EQ(error_of("a = " + repeat("'b' ", 5000) + "\n"), "");
  EXPECT_EQ(error_of(repeat("a = ", 5000) + "b\n"), "");
  EXPECT_EQ(error_of("[a" + repeat(" for a in b", 2000) + "]\n"), "");
}

TEST(ScriptLimits, Elifs) {
  EXPECT_EQ(error_of("if a: b\n" + repeat("elif a: b\n", 1000)), "");
  EXPECT_EQ(error_of("if a: b\n" + repeat("elif a: b\n", 1001)),
            "1002:1: the `if` has more than 1000 `elif` [TooLarge]");
}

std::string nested_blocks(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += std::string(static_cast<std::size_t>(i), ' ') + "if a:\n";
  return out + std::string(static_cast<std::size_t>(count), ' ') + "b\n";
}

TEST(ScriptLimits, NestedBlocks) {
  EXPECT_EQ(error_of(nested_blocks(kMaxNesting)), "");
  EXPECT_THAT(error_of(nested_blocks(kMaxNesting + 1)),
              HasSubstr("blocks are nested deeper than 200 levels [TooLarge]"));
}

TEST(ScriptLimits, TextSize) {
  SymbolTable symbols;
  const auto ast = parse_file(std::string(kMaxSourceBytes + 1, ' '), symbols);
  ASSERT_FALSE(ast);
  EXPECT_EQ(ast.error().text, "the text has 16777217 bytes, more than the 16777216 that are read");
}

// Quadratic behaviour would take minutes; the bound is generous for sanitizers and busy machines.
TEST(ScriptLimits, TimeGrowsWithTheText) {
  const int count = 1 << 16;
  const std::vector<std::string> texts = {repeat("x = 1\n", count),
                                          repeat("x = 1; ", count) + "\n",
                                          "x = [" + repeat("1, ", count) + "]\n",
                                          "x = '" + repeat("abc ", count) + "'\n",
                                          repeat("#\n", count),
                                          repeat("match\n", count),
                                          repeat("with (a): b\n", count),
                                          "f'" + repeat("{a}", count) + "'\n",
                                          repeat("\n \n", count),
                                          repeat("(", count)};
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& text : texts) error_of(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// --- damaged texts ------------------------------------------------------------------------------

// Bytes that matter to the lexer, more often than others.
std::string damaged(std::mt19937& random) {
  static constexpr std::string_view kBytes = "()[]{}'\"\\\n\t :;,.=!#@*f0x\xc3\x80";
  std::string text(kProgram);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t count = 1 + below(4); count > 0; --count) {
    const std::size_t at = below(text.size());
    const char byte = kBytes[below(kBytes.size())];
    switch (below(5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + below(20));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.resize(at + 1);
    }
  }
  return text;
}

TEST(ScriptMutations, NeitherCrashNorMisplace) {
  std::mt19937 random(20240607);  // NOLINT(cert-msc51-cpp): the same texts each time
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged(random);
    SymbolTable symbols;
    const auto ast = parse_file(text, symbols);
    if (ast) {
      ++good;
      for (const Expr& expr : ast->exprs) {
        ASSERT_LE(expr.place.begin, expr.place.end);
        ASSERT_LE(expr.place.end, text.size());
      }
      continue;
    }
    const Diag& error = ast.error();
    ASSERT_TRUE(error.span.known) << error.text << "\n" << text;
    ASSERT_LE(error.span.begin, error.span.end) << error.text;
    ASSERT_LE(error.span.end, text.size()) << error.text;
    ASSERT_FALSE(error.text.empty());
    ASSERT_NE(error.text.back(), '.') << error.text;
  }
  EXPECT_GT(good, 100);
  EXPECT_LT(good, 2900);
}

}  // namespace
}  // namespace ww::script::parser_errors_test
