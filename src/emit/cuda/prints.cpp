// SPDX-License-Identifier: Apache-2.0
// printf.
#include "emit/cuda/prints.h"

#include "emit/cuda/calls.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/types.h"

namespace ww::emit::cuda {
namespace {

constexpr std::string_view kConversions = "%diouxXfFeEgGaAcsp";
constexpr std::string_view kReal = "fFeEgGaA";

// An argument of printf as the type that its conversion takes.
std::string printed(Context& c, ExprId arg, char letter) {
  const ir::Type type = c.f[arg].type;
  if (type.is_pointer())
    return fmt::format("reinterpret_cast<unsigned long long>({})", expr(c, arg));
  if (kReal.find(letter) != std::string_view::npos)
    return c.numbers.cast(type.dtype, DType::Float64, render(c, arg)).text;
  if (letter == 'c') return fmt::format("int({})", expr(c, arg));
  const Text whole =
      type.is_float() ? c.numbers.cast(type.dtype, DType::Int64, render(c, arg)) : render(c, arg);
  return fmt::format("static_cast<long long>({})", whole.text);
}

}  // namespace

// Values are 64 bits wide or double, whatever the format says of their length.
Text print(Context& c, const Expr& e) {
  c.helpers.note_printf();
  const std::string format = text_of(c, e.args[0]);
  std::string text, args;
  std::size_t next = 1;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] == '\\' && at + 1 < format.size()) {
      const char escaped = format[++at];
      text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
      continue;
    }
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    const std::size_t end = format.find_first_of(kConversions, at + 1);
    if (end == std::string::npos) break;
    const char letter = format[end];
    std::string spec = format.substr(at, end - at);
    at = end;
    if (letter == '%') {
      text += "%%";
      continue;
    }
    if (next >= e.args.size()) continue;
    const ExprId arg = e.args[next++];
    if (letter == 's') {
      for (const char each : text_of(c, arg))
        text += each == '%' ? std::string("%%") : std::string(1, each);
      continue;
    }
    std::erase_if(spec, [](char each) {
      return std::string_view("%-+ #.0123456789").find(each) == std::string_view::npos;
    });
    const bool is_real = kReal.find(letter) != std::string_view::npos;
    args += ", " + printed(c, arg, letter);
    text += spec + (is_real || letter == 'c' ? "" : "ll") + (letter == 'p' ? 'x' : letter);
  }
  return {fmt::format("printf({}{})", quoted(text), args)};
}

}  // namespace ww::emit::cuda
