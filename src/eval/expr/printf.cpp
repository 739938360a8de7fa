// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "eval/expr/expressions.h"
#include "eval/expr/intrinsics.h"

namespace ww::eval {
namespace {

// One conversion of printf: "%-5.2f". The length letters are ours: values are 64 bits wide.
// Anything but flags, width and precision is dropped, so that the program's text cannot ask for
// other arguments.
std::string format_one(std::string spec, num::DType type, Word value) {
  const char letter = spec.back();
  spec.pop_back();
  std::erase_if(spec, [](char c) {
    return std::string_view("%-+ #.0123456789").find(c) == std::string_view::npos;
  });
  char out[512];
  if (std::string_view("fFeEgGaA").find(letter) != std::string_view::npos) {
    spec += letter;
    std::snprintf(out, sizeof out, spec.c_str(), as_real(type, value));  // NOLINT
  } else if (letter == 'c') {
    return std::string(1, static_cast<char>(value));
  } else {
    spec += "ll";
    spec += letter == 'p' ? 'x' : letter;
    std::snprintf(out, sizeof out, spec.c_str(),
                  static_cast<long long>(as_int(type, value)));  // NOLINT
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return out;
}

}  // namespace

void print_text(Cta& cta, const ir::Expr& expr, Threads ts) {
  const std::string format = unescaped(literal_text(cta, expr.args[0]));
  std::vector<Words> args;
  for (std::size_t a = 1; a < expr.args.size(); ++a)
    args.push_back(evaluate(cta, expr.args[a], ts));
  for (std::size_t i = 0; i < ts.size(); ++i) {
    std::size_t next = 0;
    for (std::size_t at = 0; at < format.size(); ++at) {
      if (format[at] != '%') {
        cta.run.printed += format[at];
        continue;
      }
      const std::size_t end = format.find_first_of("%diouxXfFeEgGaAcsp", at + 1);
      if (end == std::string::npos) break;
      const ir::ExprId arg = next < args.size() ? expr.args[next + 1] : ir::ExprId{};
      if (format[end] == '%') {
        cta.run.printed += '%';
      } else if (format[end] == 's') {
        if (arg.valid()) cta.run.printed += literal_text(cta, arg);
        ++next;
      } else if (arg.valid()) {
        const ir::Type type = cta.f[arg].type;
        cta.run.printed +=
            format_one(format.substr(at, end - at + 1),
                       type.is_pointer() ? num::DType::Uint64 : type.dtype, args[next][i]);
        ++next;
      }
      at = end;
    }
  }
}

}  // namespace ww::eval
