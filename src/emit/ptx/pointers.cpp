// SPDX-License-Identifier: Apache-2.0
// Pointers. What a pointer leads to is kept as base + terms + constant for as long as possible: the
// constant goes into the instruction, and terms are added to the base from the outermost scope
// inwards, so that what does not change in a loop is added before it.
//
// Index arithmetic does not overflow (ir/indices.h), so sums may be taken apart. Addresses of
// shared memory have 32 bits, all others 64.
#include "emit/ptx/pointers.h"

#include <algorithm>
#include <limits>

#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::int64_t kUnsignedEnd = std::int64_t{1} << 32;

bool fits_in_32(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

// --- index arithmetic ----------------------------------------------------------------------------

// Sums and products that are no index arithmetic wrap around, unless their range says not.
bool may_wrap(const Context& c, ExprId expr) {
  const DType type = c.f[expr].type.dtype;
  if (num::bits_of(type) < 32) return true;
  if (is_signed(type)) return !c.f[expr].no_wrap && !c.ranges.stays_in_type(expr);
  const auto in_bounds = [&](ExprId id) {
    const ir::Range r = c.ranges.range(id);
    return r.min >= 0 && r.max < kUnsignedEnd;
  };
  return !in_bounds(expr) || !std::ranges::all_of(c.f[expr].args, in_bounds);
}

void add_term(Context& c, Address& to, ExprId atom, std::int64_t scale) {
  const Value value = eval(c, atom);
  if (value.is_constant()) {
    to.bits += value.bits * scale * 8;
    return;
  }
  for (Term& term : to.terms) {
    if (term.value != value) continue;
    term.scale += scale;
    return;
  }
  const std::int64_t divisor = c.ranges.divisor(atom);
  const DType type = c.f[atom].type.dtype;
  to.terms.push_back({.value = value,
                      .scale = scale,
                      .divisor = divisor == 0 ? kUnsignedEnd : divisor,
                      .is_signed = is_signed(type) || num::bits_of(type) < 32});
}

void add_linear(Context& c, Address& to, ExprId index, std::int64_t scale) {
  if (const auto number = constant_of(c, index)) {
    to.bits += *number * scale * 8;
    return;
  }
  const ir::Expr& e = c.f[index];
  const auto number = e.args.size() == 2 ? constant_of(c, e.args[1]) : std::nullopt;
  const bool is_sum = e.op == ExprOp::Add || e.op == ExprOp::Sub;
  const bool is_scaled = number && (e.op == ExprOp::Mul || (e.op == ExprOp::Shl && *number < 31));
  if ((is_sum || is_scaled) && !may_wrap(c, index)) {
    if (is_scaled)
      return add_linear(c, to, e.args[0],
                        scale * (e.op == ExprOp::Mul ? *number : std::int64_t{1} << *number));
    add_linear(c, to, e.args[0], scale);
    return add_linear(c, to, e.args[1], e.op == ExprOp::Add ? scale : -scale);
  }
  if (e.op == ExprOp::Cast && c.f[e.args[0]].type.is_int()) {
    const DType from = c.f[e.args[0]].type.dtype;
    const bool is_wider =
        num::bits_of(e.type.dtype) > num::bits_of(from) && is_signed(e.type.dtype);
    if (is_wider) return add_linear(c, to, e.args[0], scale);
  }
  add_term(c, to, index, scale);
}

// --- registers -----------------------------------------------------------------------------------

Value add_to_base(Context& c, const Address& address, Value base, const Term& term) {
  Value value = term.value;
  if (address.space == Space::Shared) {
    if (value.cls == Class::Rd) value = c.code.pure("cvt.u32.u64", Class::R, {value});
    if (term.scale == 1) return c.code.pure("add.s32", Class::R, {base, value});
    return c.code.pure("mad.lo.s32", Class::R, {value, int_value(term.scale), base});
  }
  const bool is_exact = fits_in_32(term.scale) && (term.is_signed || term.scale >= 0);
  if (value.cls == Class::R && is_exact)
    return c.code.pure(term.is_signed ? "mad.wide.s32" : "mad.wide.u32", Class::Rd,
                       {value, int_value(term.scale), base});
  if (value.cls == Class::R)
    value = c.code.pure(term.is_signed ? "cvt.s64.s32" : "cvt.u64.u32", Class::Rd, {value});
  if (term.scale == 1) return c.code.pure("add.s64", Class::Rd, {base, value});
  return c.code.pure("mad.lo.s64", Class::Rd, {value, int_value(term.scale, Class::Rd), base});
}

// Base and terms, without the constant.
Value base_of(Context& c, const Address& address) {
  Value base = address.base;
  if (!address.symbol.empty())
    base = address.space == Space::Shared
               ? c.code.pure("mov.u32", Class::R, {symbol_arg(address.symbol)})
               : c.code.pure("mov.u64", Class::Rd, {symbol_arg(address.symbol)});
  std::vector<Term> terms = address.terms;
  if (terms.size() > 1)
    std::ranges::stable_sort(terms, {},
                             [&](const Term& term) { return c.code.level_of(term.value); });
  for (const Term& term : terms)
    if (term.scale != 0) base = add_to_base(c, address, base, term);
  return base;
}

}  // namespace

// --- what a pointer leads to ---------------------------------------------------------------------

Address address(Context& c, ExprId pointer) {
  const ir::Expr& e = c.f[pointer];
  switch (e.op) {
    case ExprOp::Var:
      if (c.vars[e.var.index].address) return *c.vars[e.var.index].address;
      break;
    case ExprOp::AddressOf:
      return element(c, e.buffer, e.args);
    case ExprOp::BufferData: {
      const ir::Buffer& storage = c.f[ir::storage_of(c.f, e.buffer)];
      if (storage.origin == ir::BufferOrigin::Pointer) return address(c, storage.pointer);
      return start_of(c, ir::storage_of(c.f, e.buffer));
    }
    case ExprOp::Cast:
    case ExprOp::Reinterpret:
      if (c.f[e.args[0]].type.is_pointer()) return address(c, e.args[0]);
      break;
    case ExprOp::Call:
      if (e.callee == Intrinsic::PointerOffset || e.callee == Intrinsic::ByteOffset)
        return offset_address(c, e);
      break;
    default:
      break;
  }
  return {.space = Space::Generic,
          .base = c.code.in_register(eval(c, pointer)),
          .align = std::max(1, storage_bits(e.type.dtype) / 8)};
}

Address offset_address(Context& c, const ir::Expr& e) {
  Address out = address(c, e.args[0]);
  const bool is_bytes = e.callee == Intrinsic::ByteOffset;
  add_index(c, out, e.args[1], is_bytes ? 8 : storage_bits(c.f[e.args[0]].type.dtype));
  return out;
}

Address start_of(Context& c, BufferId id) {
  const ir::Buffer& buffer = c.f[id];
  Address out;
  switch (buffer.origin) {
    case ir::BufferOrigin::Param:
      out = c.vars[buffer.param.index].address.value_or(Address{});
      break;
    case ir::BufferOrigin::View:
      out = start_of(c, buffer.base);
      break;
    case ir::BufferOrigin::Pointer:
      out = address(c, buffer.pointer);
      break;
    case ir::BufferOrigin::Alloc:
      out.symbol = c.in_array[id.index].symbol;
      out.bits = c.in_array[id.index].offset * 8;
      out.storage = id;
      out.align = 16;
      out.space = ir::is_shared(buffer.scope)      ? Space::Shared
                  : c.locals.plan(id).in_registers ? Space::Registers
                                                   : Space::Local;
      break;
  }
  if (buffer.elem_offset.valid()) add_index(c, out, buffer.elem_offset, storage_bits(buffer.dtype));
  if (buffer.byte_offset.valid()) add_index(c, out, buffer.byte_offset, 8);
  return out;
}

Address element(Context& c, BufferId id, std::span<const ExprId> indices) {
  const ir::Buffer& buffer = c.f[id];
  Address out = start_of(c, id);
  const Strides strides = strides_of(c.f, buffer);
  if (strides.size() != indices.size()) {
    refuse(c, "`{}` has {} dimensions whose extents are not all constant", buffer.name,
           buffer.shape.size());
    return out;
  }
  for (std::size_t i = 0; i < indices.size(); ++i)
    add_index(c, out, indices[i], strides[i] * storage_bits(buffer.dtype));
  return out;
}

// --- index arithmetic ----------------------------------------------------------------------------

void add_index(Context& c, Address& to, ExprId index, std::int64_t scale_bits) {
  if (const auto number = constant_of(c, index)) {
    to.bits += *number * scale_bits;
  } else if (scale_bits % 8 == 0) {
    add_linear(c, to, index, scale_bits / 8);
  } else {  // two elements to a byte; bits would leave int32 long before bytes do
    const DType type = c.f[index].type.dtype;
    Value elements = eval(c, index);
    if (scale_bits != 4)
      elements = product(c, arith_type(type), elements, int_value(scale_bits / 4, class_of(type)));
    to.terms.push_back({.value = shift(c, ExprOp::Shr, type, elements, int_value(1))});
  }
}

Address settled(Context& c, Address address) {
  for (Term& term : address.terms) term.value = c.code.snapshot(term.value);
  address.base = c.code.snapshot(address.base);
  return address;
}

// --- registers -----------------------------------------------------------------------------------

Arg operand(Context& c, const Address& address) {
  if (address.space == Space::Registers) {
    refuse(c, "the address of `{}`, which is in registers", c.f[address.storage].name);
    return address_arg(int_value(0), 0);
  }
  const std::int64_t bytes = address.bits / 8;
  if (address.terms.empty() && !address.symbol.empty())
    return address_arg(symbol_arg(address.symbol), bytes);
  const Value base = base_of(c, address);
  if (fits_in_32(bytes)) return address_arg(base, bytes);
  return address_arg(sum(c, "s64", base, int_value(bytes, Class::Rd)), 0);
}

// The whole address in a register, in the state space that it has.
Value window(Context& c, const Address& address, Space space) {
  Address from = address;
  if (from.space == Space::Generic && space == Space::Shared) {
    const Value whole = window(c, from, Space::Generic);
    return c.code.pure("cvt.u32.u64", Class::R,
                       {c.code.pure("cvta.to.shared.u64", Class::Rd, {whole})});
  }
  if (from.space == Space::Generic && space != Space::Generic)
    return c.code.pure(fmt::format("cvta.to{}.u64", suffix_of(space)), Class::Rd,
                       {window(c, from, Space::Generic)});
  if (from.space == Space::Registers) operand(c, from);
  const bool is_short = from.space == Space::Shared;
  return sum(c, is_short ? "s32" : "s64", base_of(c, from),
             int_value(from.bits / 8, is_short ? Class::R : Class::Rd));
}

Value generic(Context& c, const Address& address) {
  if (address.space == Space::Registers) {
    operand(c, address);
    return int_value(0, Class::Rd);
  }
  Value whole = window(c, address, address.space);
  if (address.space == Space::Generic) return whole;
  if (whole.cls == Class::R) whole = c.code.pure("cvt.u64.u32", Class::Rd, {whole});
  return c.code.pure(fmt::format("cvta{}.u64", suffix_of(address.space)), Class::Rd, {whole});
}

Arg operand_in(Context& c, const Address& address, isa::Space space) {
  const bool is_shared = space == isa::Space::Shared || space == isa::Space::SharedCluster;
  const Space wanted = is_shared                     ? Space::Shared
                       : space == isa::Space::Global ? Space::Global
                       : space == isa::Space::Local  ? Space::Local
                                                     : Space::Generic;
  if (address.space == wanted) return operand(c, address);
  if (wanted == Space::Generic) return address_arg(generic(c, address), 0);
  if (address.space == Space::Generic) return address_arg(window(c, address, wanted), 0);
  refuse(c, "an address in {} memory, expected one in {} memory",
         address.space == Space::Registers ? ".register" : suffix_of(address.space),
         suffix_of(wanted));
  return address_arg(int_value(0), 0);
}

}  // namespace ww::emit::to_ptx
