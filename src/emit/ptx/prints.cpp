// SPDX-License-Identifier: Apache-2.0
// printf and assert, by the functions that the driver links to every module: `vprintf` takes a
// format and a pointer to the arguments, which lie one after the other in local memory, 32-bit ones
// in 4 bytes and all others in 8; `__assertfail` does not come back.
#include <algorithm>

#include "emit/ptx/emitter.h"

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

}  // namespace

Value Emitter::text_address(std::string_view text) {
  auto found = texts_.find(text);
  if (found == texts_.end()) {
    found = texts_.emplace(std::string(text), unique("text")).first;
    outer_.push_back({.name = found->second, .space = isa::Space::Global, .bytes = 0, .align = 1});
  }
  const Value at = code_.pure("mov.u64", Class::Rd, {symbol_arg(found->second)});
  return code_.pure("cvta.global.u64", Class::Rd, {at});
}

// The call sequence of the PTX ABI: arguments and results are .param variables of a block.
void Emitter::call_function(std::string_view name, std::span<const Value> args, bool has_result) {
  functions_.emplace(name);
  code_.add_line({.kind = Line::Kind::Open});
  std::vector<Arg> names;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string param = fmt::format("param{}", i);
    const auto bits = static_cast<std::uint32_t>(bits_of(args[i].cls));
    code_.add_line({.kind = Line::Kind::Parameter, .text = param, .line = bits});
    code_.add(fmt::format("st.param.b{}", bits), {address_arg(symbol_arg(param), 0), args[i]});
    names.push_back(symbol_arg(param));
  }
  std::vector<Arg> operands = {symbol_arg(std::string(name)), list_arg(std::move(names))};
  if (has_result) {
    code_.add_line({.kind = Line::Kind::Parameter, .text = "result0", .line = 32});
    operands.insert(operands.begin(), list_arg({symbol_arg("result0")}));
  }
  code_.add("call", std::move(operands));
  code_.add_line({.kind = Line::Kind::Close});
}

// --- printf --------------------------------------------------------------------------------------

// The argument as printf reads it, and the conversion for that: `%d` of an int64 is `%lld`.
Value Emitter::print_argument(ExprId expr, char letter, std::string& spec) {
  const ir::Type type = f_[expr].type;
  const DType dtype = type.is_pointer() ? DType::Uint64 : type.dtype;
  std::erase_if(spec, [](char c) { return std::string_view("lhzjtL").contains(c); });
  const Value value = code_.in_register(eval(expr));
  if (kReals.contains(letter)) {
    spec += letter;
    return cast(value, dtype, DType::Float64);
  }
  if (is_float(dtype)) {
    const bool is_long = num::bits_of(dtype) == 64;
    spec += (is_long ? "ll" : "") + std::string(1, letter);
    return is_long ? value : raw(value, dtype, Class::R);
  }
  const bool is_long = num::bits_of(dtype) == 64 || letter == 'p';
  spec += (is_long && letter != 'p' ? "ll" : "") + std::string(1, letter);
  return cast(value, dtype,
              is_long ? (is_signed(dtype) ? DType::Int64 : DType::Uint64)
                      : (is_signed(dtype) ? DType::Int32 : DType::Uint32));
}

void Emitter::print(const ir::Expr& e) {
  const std::string format = unescaped(text_of(e.args[0]));
  std::string text;
  std::vector<Value> values;
  std::size_t next = 1;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || format.compare(at, 2, "%%") == 0) {
      text += format[at] == '%' ? "%%" : std::string(1, format[at]);
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
      text += doubled_percents(text_of(arg));
    } else {
      values.push_back(print_argument(arg, format[end], spec));
      text += spec;
    }
  }
  std::int64_t bytes = 0;
  const std::string space = unique("printf_arguments");
  for (const Value& value : values) {
    const std::int64_t size = bits_of(value.cls) / 8;
    bytes = (bytes + size - 1) / size * size;
    code_.add(fmt::format("st.local.{}", type_of(value.cls)),
              {address_arg(symbol_arg(space), bytes), code_.in_register(value)});
    bytes += size;
  }
  Value where = int_value(0, Class::Rd);
  if (!values.empty()) {
    arrays_.push_back({.name = space, .space = isa::Space::Local, .bytes = bytes, .align = 8});
    where = code_.pure("cvta.local.u64", Class::Rd,
                       {code_.pure("mov.u64", Class::Rd, {symbol_arg(space)})});
  }
  const std::vector<Value> args = {text_address(text), code_.in_register(where)};
  call_function("vprintf", args, true);
}

// --- assert --------------------------------------------------------------------------------------

void Emitter::check_assert(const ir::Stmt& s) {
  const Value holds = predicate(s.expr);
  if (holds.is_constant() && holds.bits != 0) return;
  locals_.settle();
  const std::string end = code_.new_label("end");
  code_.add("bra", {label_arg(end)}, {code_.in_register(holds)});
  code_.open_scope(false);
  const bool is_placed = options_.source != nullptr && s.span.known;
  const std::size_t line = is_placed ? options_.source->position(s.span.begin).line : 0;
  const std::vector<Value> args = {
      text_address(s.name), text_address(is_placed ? options_.source->name() : f_.name),
      code_.in_register(int_value(static_cast<std::int64_t>(line))), text_address(f_.name),
      code_.in_register(int_value(1, Class::Rd))};
  call_function("__assertfail", args, false);
  code_.close_scope();
  code_.add_label(end);
}

}  // namespace ww::emit::to_ptx
