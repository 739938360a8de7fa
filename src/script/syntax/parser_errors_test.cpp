// SPDX-License-Identifier: Apache-2.0
// Each error with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "script/syntax/parser.h"
#include "script/syntax/test_errors.h"

namespace ww::script::parser_errors_test {
namespace {

using ::testing::StartsWith;

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
       {"a, b += 1", "1:1: cannot use `+=` on a tuple | write one statement for each name"},
       {"f() -= 1", "1:1: cannot use `-=` on a call"},
       {"a, b: int", "1:1: cannot annotate a tuple | write one statement for each name"},
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

}  // namespace
}  // namespace ww::script::parser_errors_test
