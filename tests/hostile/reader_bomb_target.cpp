// SPDX-License-Identifier: Apache-2.0
// Texts and files that are small for what they ask, or deep: nested brackets and signs, endless
// numbers and names, extents beyond any memory, lengths that lie. Whoever reads them refuses them
// or takes them, soon and in bounded memory. The bytes choose the reader, the text and how often a
// piece of it is repeated.
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "hostile/targets.h"

namespace ww::fuzz {
namespace {

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t below(std::size_t n) {
    if (bytes_.empty()) return 0;
    const auto next = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return next % n;
  }
  template <typename T, std::size_t kCount>
  const T& pick(const T (&of)[kCount]) {
    return of[below(kCount)];
  }

 private:
  std::string_view bytes_;
};

/// `front`, `open` many times, `middle`, `close` as often, `end`.
struct Repeated {
  std::string_view front, open, middle = "", close = "", end = "";
};

std::string text_of(const Repeated& row, std::size_t count) {
  std::string out(row.front);
  out.reserve(out.size() + count * (row.open.size() + row.close.size()) + 64);
  for (std::size_t i = 0; i < count; ++i) out += row.open;
  out += row.middle;
  for (std::size_t i = 0; i < count; ++i) out += row.close;
  return out += row.end;
}

constexpr std::size_t kCounts[] = {3, 70, 300, 2000, 30'000, 200'000};

// --- expectations --------------------------------------------------------------------------------

constexpr Repeated kExpectations[] = {
    {"B == ", "(", "A", ")"},
    {"B == ", "("},
    {"B == ", "-", "A"},
    {"B == ", "abs(", "A", ")"},
    {"B == ", "float16(", "A", ")"},
    {"B == A", "+A"},
    {"C == A", "@B@A"},
    {"A == A", ".T"},
    {"A == (A", "+(A", "", ")", ")"},
    {"B == ", "9"},
    {"B == 1e", "9"},
    {"B == 1e-", "9"},
    {"B == 0.", "0", "1"},
    {"B == $", "9"},
    {"B == ", "A"},
    {"B == ", "a", "(A)"},
    {"B ~= A within ", "9"},
    {"B ~= A within ", "rtol=1,"},
    {"", "B == "},
    {"B == max(A", ",A", ")"},
    {"B == sum(A,", "9", ")"},
};

// --- PTX -----------------------------------------------------------------------------------------

constexpr Repeated kStatements[] = {
    {"", "{", "", "}"},
    {"", "{"},
    {"", "}"},
    {"", "{ .reg .b32 %r; ", "", "}"},
    {".reg .b32 %r; mov.u32 %r, ", "(", "1", ")", ";"},
    {".reg .b32 %r; mov.u32 %r, ", "-", "1", "", ";"},
    {".reg .b32 %r; mov.u32 %r, 1", "+1", "", "", ";"},
    {".reg .b32 %r; mov.u32 %r, ", "1?", "1", ":1", ";"},
    {".reg .b32 %r; mov.u32 %r, ", "(.s64)", "1", "", ";"},
    {".reg .b32 %r; mov.b64 %r, ", "{", "%r", "}", ";"},
    {".reg .b32 %r; ld.u32 %r, ", "[", "0", "]", ";"},
    {".reg .b32 %r<", "9", ">;"},
    {".reg .b32 ", "%r, ", "%s;"},
    {"mov", ".u32", " %r, 1;"},
    {"", "L: "},
    {"@", "!", "%p bra L;"},
    {"call ", "(", "f", ")", ";"},
    {".pragma \"", "x", "\";"},
    {".local .b8 a", "[2]", ";"},
    {".local .b8 a[", "9", "];"},
    {".local .align ", "9", " .b8 a;"},
};
constexpr Repeated kDeclarations[] = {
    {".global .u32 x = ", "(", "1", ")", ";"},
    {".global .u32 x = ", "~", "1", "", ";"},
    {".global .u32 x[] = ", "{", "1", "}", ";"},
    {".global .u32 x[] = {1", ",1", "};"},
    {".global .u64 x = ", "generic(", "x", ")", ";"},
    {".global .u64 x = ", "9", ";"},
    {".global .f64 x = 1e", "9", ";"},
    {".global .f64 x = 0d", "F", ";"},
    {".global .b8 x", "[4294967296]", ";"},
    {".global .u32 ", "x", ";"},
    {".global .u32 x", ", x", ";"},
    {".func f(", ".param .u32 p, ", ") { ret; }"},
    {".section .debug_info {", "{"},
    {"/", "*"},
};

std::string ptx_bomb(Bytes& bytes) {
  constexpr std::string_view kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const bool is_inside = bytes.below(2) == 0;
  const std::size_t count = bytes.pick(kCounts);
  if (!is_inside) return fmt::format("{}{}\n", kHead, text_of(bytes.pick(kDeclarations), count));
  return fmt::format("{}.visible .entry k()\n{{\n{}\nret;\n}}\n", kHead,
                     text_of(bytes.pick(kStatements), count));
}

// --- files ---------------------------------------------------------------------------------------

constexpr Repeated kShapes[] = {
    {"(", "9", ",)"},   {"(-", "9", ",)"}, {"(", "1,", ")"},
    {"(", "0,", ")"},   {"(", "2,", ")"},  {"(", "4294967296,", "0)"},
    {"", "(", "", ")"}, {"(8", " ", ",)"}, {"(0,", "9", ")"},
};
constexpr std::string_view kDescrs[] = {"'<f4'", "'|O'",      "'<f99999999'", "'|V65535'",
                                        "'<V2'", "[('a', 1)", "'<f4",         "'>u2'"};

std::string npy_bomb(Bytes& bytes) {
  const std::string header = fmt::format(
      "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}\n", bytes.pick(kDescrs),
      bytes.below(2) == 0 ? "False" : "True", text_of(bytes.pick(kShapes), bytes.pick(kCounts)));
  const std::size_t said[] = {header.size(), 0, 5, header.size() + 1, 0xFFFF'FFFF};
  const std::size_t length = bytes.pick(said);
  std::string out = "\x93NUMPY\x02";
  out += '\0';
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(length >> shift & 0xFFU);
  return out + header + std::string(bytes.below(200), '\1');
}

constexpr Repeated kJson[] = {
    {"", "["},
    {"", "[", "", "]"},
    {"", "{\"a\":", "1", "}"},
    {"{\"kernel\": ", "[", "", "]", "}"},
    {"{\"kernel\": \"", "(", "\"}"},
    {"{\"kernel\": \"", "\\u0000", "\"}"},
    {"{\"kernel\": \"", "-", "1\"}"},
    {"{\"kernel\": ", "9", "}"},
    {"{\"kernel\": \"f\"", ", \"kernel\": \"g\"", "}"},
};

// --- notations -----------------------------------------------------------------------------------

constexpr Repeated kLayouts[] = {
    {"", "S["},           {"S[", "(", "8", ")", "]"}, {"S[8:1]", "+R[1:1]"},
    {"S[", "9", ":1]"},   {"S[(8,", "1,", "1):1]"},   {"", "ComposeLayout(3,3,3,", "S[8]", ")"},
    {"S[8:1", "@m", "]"},
};
constexpr Repeated kKernels[] = {
    {"", "(", "f", ")"},  {"", "-", "1"},      {"f", "(1)"},          {"", "9"},
    {"9", "**9"},         {"[0]*", "9"},       {"", "lambda: ", "1"}, {"f(", "a=1,", ")"},
    {"f(\"", "x", "\")"}, {"[[0]", "*9", "]"}, {"f", ".a"},
};
constexpr Repeated kLimits[] = {
    {"limits memory=", "9", "K"},
    {"limits ", "seconds=1,"},
    {"dims ", "1,"},
    {"dims ", "9"},
    {"sim_arg 0=", "["},
    {"sim_arg 0=f32[", "9,", "9]:arange"},
    {"sim_arg 0=bytes:", "0"},
    {"array full:", "9"},
    {"array randint:", "9,"},
    {"type float32[", "1,", "1]"},
    {"var n=", "("},
    {"sim_arg 0=@", "x:"},
};

struct Bomb {
  Law law;
  std::string text;
};

Bomb bomb_of(std::string_view chosen) {
  Bytes bytes(chosen);
  const auto text = [&](const auto& rows) {
    const std::size_t count = bytes.pick(kCounts);
    return text_of(bytes.pick(rows), count);
  };
  switch (bytes.below(7)) {
    case 0:
      return {arguments_law, "expect " + text(kExpectations)};
    case 1:
      return {ptx_law, ptx_bomb(bytes)};
    case 2:
      return {npy_law, npy_bomb(bytes)};
    case 3:
      return {kernel_file_law, text(kJson)};
    case 4:
      return {layout_law, "layout " + text(kLayouts)};
    case 5:
      return {kernel_law, "kernel " + text(kKernels)};
    default:
      return {arguments_law, text(kLimits)};
  }
}

}  // namespace

std::string reader_bomb_text(std::string_view bytes) { return bomb_of(bytes).text; }

std::string reader_bomb_law(std::string_view bytes) {
  const Bomb bomb = bomb_of(bytes);
  return bomb.law(bomb.text);
}

}  // namespace ww::fuzz
