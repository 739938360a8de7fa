// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/operands.h"

#include <bit>
#include <utility>

namespace ww::emit::to_ptx {

Value int_value(std::int64_t number, Class cls) {
  return {.kind = ValueKind::Int, .cls = cls, .bits = number};
}
Value f32_value(float number) {
  return {.kind = ValueKind::F32,
          .cls = Class::R,
          .bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(number))};
}
Value f64_value(double number) {
  return {.kind = ValueKind::F64, .cls = Class::Rd, .bits = std::bit_cast<std::int64_t>(number)};
}

namespace {

Arg named(ArgKind kind, std::string_view name) {
  Arg arg;
  arg.kind = kind;
  arg.name = name;
  return arg;
}

Arg composite(ArgKind kind, std::vector<Arg> parts) {
  Arg arg;
  arg.kind = kind;
  arg.parts = std::move(parts);
  return arg;
}

}  // namespace

Arg symbol_arg(std::string_view name) { return named(ArgKind::Symbol, name); }
Arg special_arg(std::string_view name) { return named(ArgKind::Special, name); }
Arg label_arg(std::string_view name) { return named(ArgKind::Label, name); }
Arg vector_arg(std::vector<Arg> parts) { return composite(ArgKind::Vector, std::move(parts)); }
Arg vector_arg(std::span<const Value> values) {
  return vector_arg(std::vector<Arg>(values.begin(), values.end()));
}
Arg list_arg(std::vector<Arg> parts) { return composite(ArgKind::List, std::move(parts)); }
Arg pair_arg(Arg first, Arg second) {
  Arg arg = composite(ArgKind::Pair, {});
  arg.parts.reserve(2);
  arg.parts.push_back(std::move(first));
  arg.parts.push_back(std::move(second));
  return arg;
}
Arg address_arg(Arg base, std::int64_t offset) {
  Arg arg = composite(ArgKind::Address, {});
  arg.parts.push_back(std::move(base));
  arg.offset = offset;
  return arg;
}

}  // namespace ww::emit::to_ptx
