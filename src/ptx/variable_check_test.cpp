// SPDX-License-Identifier: Apache-2.0
// Sizes, extents, initial values, and calls. Verdicts are those of ptxas 13.0, but where it lets
// sizes wrap around.
#include "ptx/variable_check.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ptx/test_check.h"

namespace ww::ptx::variable_check_test {
namespace {

Findings said(std::string_view text) {
  Findings all = findings(module_text(text));
  for (std::string& one : all) one = one.substr(one.find(": ") + 2);
  return all;
}

void expect_good(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) EXPECT_EQ(said(text), Findings{}) << text;
}
void expect_bad(const std::vector<std::pair<std::string, std::string>>& table) {
  for (const auto& [text, problem] : table) EXPECT_EQ(said(text), Findings{problem}) << text;
}

// --- sizes ---------------------------------------------------------------------------------------

std::uint64_t bytes_of(const std::string& text) {
  const ParseResult parsed = parse(module_text(text));
  EXPECT_TRUE(parsed.ok());
  return size_in_bytes(parsed.module.variables.at(0));
}

TEST(VariableSize, Bytes) {
  EXPECT_EQ(bytes_of(".global .b32 a;"), 4U);
  EXPECT_EQ(bytes_of(".global .v4 .b32 a[3][5];"), 240U);
  EXPECT_EQ(bytes_of(".extern .shared .b32 a[];"), 0U);
  EXPECT_EQ(bytes_of(".global .b32 a[][2] = {{1}, {2}, {3}};"), 24U);
  EXPECT_EQ(bytes_of(".global .b32 a<6>;"), 24U);
  EXPECT_EQ(bytes_of(".global .align 16 .b32 a<6>;"), 96U);
  EXPECT_EQ(bytes_of(".global .texref a;"), 8U);
  EXPECT_EQ(bytes_of(".global .b8 a[1099511627776];"), kMaxVariableBytes);
}

// What is built and not read may be larger; nothing wraps around.
TEST(VariableSize, OfWhatWasBuiltSaturates) {
  Variable variable;
  variable.type = isa::Type::B64;
  variable.dims = {std::uint64_t{1} << 32U, std::uint64_t{1} << 32U};
  EXPECT_EQ(size_in_bytes(variable), kMaxVariableBytes);
  variable.count = 1U << 20U;
  EXPECT_EQ(size_in_bytes(variable), kMaxVariableBytes);
}

TEST(VariableSize, Limits) {
  expect_bad({
      {".const .b32 a[16384]; .const .b8 b;",
       "with `b` the `.const` variables take 65537 bytes; at most 65536 fit"},
      {".shared .b8 s[1099511627776]; .entry k() { .reg .b32 %r; mov.u32 %r, s; }",
       "`k` uses 1099511627776 bytes of static shared memory; sm_90a allows 232448"},
      {".entry k(.param .b8 a[32765]) { ret; }",
       "the parameters of `k` take 32765 bytes; at most 32764 are allowed for PTX 9.0"},
  });
  expect_good({".const .b32 a[16384];", ".global .b8 a[1099511627776];"});
}

TEST(VariableCheck, Extents) {
  const std::string open = "`a` has no size; give its first extent, or declare it `.extern`";
  expect_bad({
      {".global .b32 a[];", open},
      {".global .b32 a[0];", open},
      {".shared .b32 a[][4];", open},
      {".entry k() { .local .b32 a[0]; ret; }", open},
      {".global .b32 a[4][0];", "extent 2 of `a` is missing or 0; only the first can be left out"},
      {".extern .global .b32 a[4][];",
       "extent 2 of `a` is missing or 0; only the first can be left out"},
      {".entry k(.param .b8 a[]) { ret; }",
       "the parameter `a` has no size; parameters of a kernel need one"},
      {".entry k(.param .b8 a[2][2]) { ret; }", "the parameter `a` has 2 extents; one is allowed"},
      {".entry k(.reg .b32 a) { ret; }",
       "the parameter `a` of a kernel is in `.reg`, expected `.param`"},
  });
  expect_good({".extern .shared .b32 a[];", ".func f(.param .b8 a[]) { ret; }",
               ".global .b32 a[] = {1, 2};", ".global .b32 a[WARP_SZ];"});
}

TEST(VariableCheck, Types) {
  expect_bad({
      {".global .v4 .f64 a;", "`.v4 .f64` has 256 bits; vectors are `.v2` or `.v4` of at most 128"},
      {".global .v8 .b8 a;", "`.v8 .b8` has 64 bits; vectors are `.v2` or `.v4` of at most 128"},
      {".entry k() { .reg .v4 .b64 a; ret; }", "`.v4 .b64` has 256 bits; vectors have at most 128"},
      {".entry k(.param .v2 .b32 a) { ret; }",
       "the parameter `a` is a vector; give it as `.align 8 .b8 a[8]`"},
      {".local .b32 a;", "`a` is in `.local`, which only functions have; declare it in one"},
      {".param .b32 a;", "`a` is in `.param`, which only functions have; declare it in one"},
  });
}

// --- initial values ------------------------------------------------------------------------------

TEST(Initializers, Shapes) {
  expect_good({
      ".global .u32 a[2][2] = {{1, 2}, {3, 4}};",
      ".global .u32 a[2][2] = {{1}};",
      ".global .u32 a[2] = {};",
      ".global .v2 .u32 a = {1, 2};",
      ".global .v2 .u32 a[2] = {{1, 2}, {3, 4}};",
      ".global .u8 a = 300;",
      ".global .u32 a = WARP_SZ+1;",
  });
  expect_bad({
      {".global .u32 a[2] = {1, 2, 3};", "the initial value of `a` has 3 elements in braces for 2"},
      {".global .u32 a[2][2] = {{1, 2, 3}};",
       "the initial value of `a` has 3 elements in braces for 2"},
      {".global .v2 .u32 a = {1};", "the initial value of `a` has 1 elements in braces for 2"},
      {".global .u32 a[2] = 1;", "the initial value of `a` has a number where braces are expected"},
      {".global .u32 a[2][2] = {1, {3, 4}};",
       "the initial value of `a` has a number where braces are expected"},
      {".global .u32 a = {1};", "the initial value of `a` has braces where a number is expected"},
      {".global .u32 a[2] = {{1, 2}};",
       "the initial value of `a` has braces where a number is expected"},
  });
}

TEST(Initializers, Types) {
  expect_good({".global .f32 a = 1.5;", ".global .b32 a = 0f3F800000;", ".global .b16 a = 1.5;"});
  expect_bad({
      {".global .f32 a = 1;", "the integer 1 is not a `.f32` value"},
      {".global .u32 a = 1.5;", "a floating-point number is not a `.u32` value"},
      {".global .f16 a = 1.5;", "a `.f16` variable cannot have an initial value"},
      {".entry k() { .const .f32 a = 1; ret; }", "the integer 1 is not a `.f32` value"},
  });
}

TEST(Initializers, Addresses) {
  expect_good({
      ".global .b32 g[4]; .global .u64 a[3] = {g, g+4, generic(g)+-4};",
      ".global .b32 g; .global .u8 a[2] = {0xFF(g), 0xFF00(g)};",
      ".func f() { ret; } .global .u64 a = f;",
      ".global .b32 g<4>; .global .u64 a = g2;",
  });
  const std::string unknown =
      "the initial value `g` is not an address that is known before the launch: a `.global` or "
      "`.const` "
      "variable or a function declared above";
  const std::string wrong =
      "the address of `g` is not a `.b64` value; it fits `.u64`, or byte by byte `.u8`";
  expect_bad({
      {".global .u64 a = g;", unknown},
      {".global .u64 a = g; .global .b32 g;", unknown},
      {".shared .b32 g; .global .u64 a = g;", unknown},
      {".func g() { ret; } .global .u64 a = g+4;", unknown},
      {".global .b32 g; .global .b64 a = g;", wrong},
      {".global .b32 g; .global .u8 a = 0xF(g);",
       "the mask 0xf does not select one byte of an address"},
  });
}

// --- calls ---------------------------------------------------------------------------------------

constexpr std::string_view kFunctions =
    ".func (.param .b32 r) fp(.param .b32 a) { ret; }\n"
    ".func (.reg .b32 r) fr(.reg .b32 a) { ret; }\n"
    ".func (.reg .pred r) fq(.reg .pred a) { ret; }\n"
    ".func (.reg .f32 r) ff(.reg .f32 a) { ret; }\n"
    ".func (.param .b8 r[12]) fa(.param .b8 a[12]) { ret; }\n"
    ".func f0() { ret; }\n";

Findings of_call(std::string_view call) {
  return said(
      fmt::format("{}.entry k(.param .u64 o) {{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred "
                  "%p<4>; .reg .f32 f; "
                  ".reg .u32 u;\n{{ .param .b32 p; .param .b32 r; .param .b64 q; .param .b8 "
                  "a12[12]; .param .b8 "
                  "a16[16]; .param .align 4 .b8 w12[12];\n{} }} ret; }}",
                  kFunctions, call));
}

TEST(Calls, Good) {
  for (const std::string_view call :
       {"call (r), fp, (p);", "call (%r1), fp, (%r2);", "call (r), fr, (p);",
        "call (%r1), fr, (5);", "call (%p1), fq, (%p2);", "call (f), ff, (1.5);",
        "call (%r1), ff, (%r2);", "call (_), fp, (p);", "call (a12), fa, (a12);", "call f0;",
        "call (), f0, ();", "call (%r1), fr, (WARP_SZ);", "@%p1 call.uni f0;",
        "t: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u64 %d1, fp; call (r), %d1, (p), "
        "t;",
        "t: .calltargets fp; mov.u64 %d1, fp; call (r), %d1, (p), t;"})
    EXPECT_EQ(of_call(call), Findings{}) << call;
}

TEST(Calls, Bad) {
  const std::pair<std::string_view, std::string> table[] = {
      {"call (r), fp, (p, p);", "the call has 2 arguments, `fp` has 1"},
      {"call (r), fp;", "the call has 0 arguments, `fp` has 1"},
      {"call fp, (p);", "the call has 0 results, `fp` has 1"},
      {"call (%r1), fq, (%p2);", "result 1, `%r1`, is a `.b32`, expected a `.pred`"},
      {"call (%p1), fq, (1);", "argument 1 is a number, expected a `.pred`"},
      {"call (f), ff, (1);", "argument 1 is a number, expected a `.f32`"},
      {"call (u), ff, (f);", "result 1, `u`, is a `.u32`, expected a `.f32`"},
      {"call (r), fp, (q);", "argument 1, `q`, is a `.b64`, expected a `.b32`"},
      {"call (r), fp, (_);", "argument 1 is `_`, expected a `.b32`"},
      {"call (a12), fa, (a16);", "argument 1, `a16`, is a `.b8[16]`, expected a `.b8[12]`"},
      {"call (a12), fa, (w12);",
       "argument 1, `w12`, is a `.align 4 .b8[12]`, expected a `.align 1 .b8[12]`"},
      {"call (%r1), fr, (%laneid);",
       "argument 1, `%laneid`, is neither a register nor a `.param` variable of the function"},
      {"call k, (%d1);", "`k` is a kernel; only functions can be called"},
      {"call %d1, ();",
       "a call by the address in `%d1` needs a `.callprototype` or `.calltargets` as its last "
       "operand"},
      {"t: .callprototype _ (); call f0, (), t;",
       "the call of `f0` has a `t` behind its arguments, which is for calls by address"},
      {"call (%r1), fr, (nothing);", "`nothing` is not declared"},
      {"call %d1, (), %d2;", "`%d2` is neither a prototype nor a list of functions"},
      {"L: call L;", "`L` is neither a function nor a 64-bit register"},
  };
  for (const auto& [call, text] : table) EXPECT_EQ(of_call(call), Findings{text}) << call;
}

}  // namespace
}  // namespace ww::ptx::variable_check_test
