// SPDX-License-Identifier: Apache-2.0
// printf and assert, by the functions that the driver links to every module: `vprintf` takes a
// format and a pointer to the arguments, which lie one after the other in local memory, 32-bit ones
// in 4 bytes and all others in 8; `__assertfail` does not come back.
#include "emit/ptx/prints.h"

#include "emit/ptx/casts.h"
#include "emit/ptx/exprs.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::string_view kConversions = "diouxXfFeEgGaAcsp";
constexpr std::string_view kReals = "fFeEgGaA";

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

std::string doubled_percents(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

Value text_address(Context& c, std::string_view text) {
  auto found = c.declared.texts.find(text);
  if (found == c.declared.texts.end()) {
    found = c.declared.texts.emplace(std::string(text), unique(c.declared, "text")).first;
    c.declared.outer.push_back(
        {.name = found->second, .space = isa::Space::Global, .bytes = 0, .align = 1});
  }
  const Value at = c.code.pure("mov.u64", Class::Rd, {symbol_arg(found->second)});
  return c.code.pure("cvta.global.u64", Class::Rd, {at});
}

// The call sequence of the PTX ABI: arguments and results are .param variables of a block.
void call_function(Context& c, std::string_view name, std::span<const Value> args,
                   bool has_result) {
  c.declared.functions.emplace(name);
  c.code.add_line({.kind = LineKind::Open});
  std::vector<Arg> names;
  std::vector<std::string> params;
  params.reserve(args.size());  // operands hold views of them
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view param = params.emplace_back(fmt::format("param{}", i));
    const auto bits = static_cast<std::uint32_t>(bits_of(args[i].cls));
    c.code.add_line({.kind = LineKind::Parameter, .line = bits}, param);
    c.code.add(fmt::format("st.param.b{}", bits), {address_arg(symbol_arg(param), 0), args[i]});
    names.push_back(symbol_arg(param));
  }
  std::vector<Arg> operands = {symbol_arg(name), list_arg(std::move(names))};
  if (has_result) {
    c.code.add_line({.kind = LineKind::Parameter, .line = 32}, "result0");
    operands.insert(operands.begin(), list_arg({symbol_arg("result0")}));
  }
  c.code.add("call", std::move(operands));
  c.code.add_line({.kind = LineKind::Close});
}

// --- printf --------------------------------------------------------------------------------------

// The argument as printf reads it, and the conversion for that: `%d` of an int64 is `%lld`.
Value print_argument(Context& c, ExprId expr, char letter, std::string& spec) {
  const ir::Type type = c.f[expr].type;
  const DType dtype = type.is_pointer() ? DType::Uint64 : type.dtype;
  std::erase_if(spec, [](char flag) { return std::string_view("lhzjtL").contains(flag); });
  const Value value = c.code.in_register(eval(c, expr));
  if (kReals.contains(letter)) {
    spec += letter;
    return cast(c, value, dtype, DType::Float64);
  }
  if (is_float(dtype)) {
    const bool is_long = num::bits_of(dtype) == 64;
    spec += (is_long ? "ll" : "") + std::string(1, letter);
    return is_long ? value : raw(c, value, dtype, Class::R);
  }
  const bool is_long = num::bits_of(dtype) == 64 || letter == 'p';
  spec += (is_long && letter != 'p' ? "ll" : "") + std::string(1, letter);
  return cast(c, value, dtype,
              is_long ? (is_signed(dtype) ? DType::Int64 : DType::Uint64)
                      : (is_signed(dtype) ? DType::Int32 : DType::Uint32));
}

// The format as vprintf gets it, with the texts of `%s` in their places, and all other arguments.
struct Printed {
  std::string format = {};
  std::vector<Value> values = {};
};

Printed printed_by(Context& c, const ir::Expr& e) {
  const std::string format = unescaped(text_of(c, e.args[0]));
  Printed out;
  std::size_t next = 1;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || format.compare(at, 2, "%%") == 0) {
      out.format += format[at] == '%' ? "%%" : std::string(1, format[at]);
      if (format[at] == '%') ++at;
      continue;
    }
    const std::size_t end = format.find_first_of(kConversions, at + 1);
    if (end == std::string::npos) break;
    std::string spec = format.substr(at, end - at);
    at = end;
    if (next >= e.args.size()) continue;
    const ExprId arg = e.args[next++];
    if (format[end] == 's') {
      out.format += doubled_percents(text_of(c, arg));
    } else {
      out.values.push_back(print_argument(c, arg, format[end], spec));
      out.format += spec;
    }
  }
  return out;
}

}  // namespace

void print(Context& c, const ir::Expr& e) {
  const Printed printed = printed_by(c, e);
  std::int64_t bytes = 0;
  const std::string space = unique(c.declared, "printf_arguments");
  for (const Value& value : printed.values) {
    const std::int64_t size = bits_of(value.cls) / 8;
    bytes = (bytes + size - 1) / size * size;
    c.code.add(fmt::format("st.local.{}", type_of(value.cls)),
               {address_arg(symbol_arg(space), bytes), c.code.in_register(value)});
    bytes += size;
  }
  Value where = int_value(0, Class::Rd);
  if (!printed.values.empty()) {
    c.declared.arrays.push_back(
        {.name = space, .space = isa::Space::Local, .bytes = bytes, .align = 8});
    where = c.code.pure("cvta.local.u64", Class::Rd,
                        {c.code.pure("mov.u64", Class::Rd, {symbol_arg(space)})});
  }
  const std::vector<Value> args = {text_address(c, printed.format), c.code.in_register(where)};
  call_function(c, "vprintf", args, true);
}

void check_assert(Context& c, const ir::Stmt& s) {
  const Value holds = predicate(c, s.expr);
  if (holds.is_constant() && holds.bits != 0) return;
  c.locals.settle();
  const std::string end = c.code.new_label("end");
  c.code.jump(end, {c.code.in_register(holds)});
  c.code.open_scope(false);
  const bool is_placed = c.options.source != nullptr && s.span.known;
  SourceText::Position at{.line = 0};
  if (is_placed) at = c.options.source->position(s.span.begin);
  const std::vector<Value> args = {
      text_address(c, s.message),
      text_address(c, is_placed ? c.options.source->file_name(at.file) : c.f.name),
      c.code.in_register(int_value(static_cast<std::int64_t>(at.line))), text_address(c, c.f.name),
      c.code.in_register(int_value(1, Class::Rd))};
  call_function(c, "__assertfail", args, false);
  c.code.close_scope();
  c.code.add_label(end);
}

}  // namespace ww::emit::to_ptx
