// SPDX-License-Identifier: Apache-2.0
// Pointers. What a pointer leads to is kept as base + terms + constant for as long as possible: the
// constant goes into the instruction, and terms are added to the base from the outermost scope
// inwards, so that what does not change in a loop is added before it.
//
// Index arithmetic does not overflow (ir/indices.h), so sums may be taken apart. Addresses of
// shared memory have 32 bits, all others 64.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::int64_t kUnsignedEnd = std::int64_t{1} << 32;

bool fits_in_32(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::string_view suffix_of(Space space) {
  switch (space) {
    case Space::Global:
      return ".global";
    case Space::Shared:
      return ".shared";
    case Space::Local:
      return ".local";
    case Space::Generic:
    case Space::Registers:
      return "";
  }
  return "";
}

// --- what a pointer leads to ---------------------------------------------------------------------

Address Emitter::opaque(Value pointer, DType type) const {
  return {.space = Space::Generic,
          .base = pointer,
          .align = std::max<std::int64_t>(1, storage_bits(type) / 8)};
}

Address Emitter::address(ExprId pointer) {
  const ir::Expr& e = f_[pointer];
  switch (e.op) {
    case ExprOp::Var:
      if (vars_[e.var.index].address) return *vars_[e.var.index].address;
      break;
    case ExprOp::AddressOf:
      return element(e.buffer, {e.args.begin(), e.args.size()});
    case ExprOp::BufferData: {
      const ir::Buffer& storage = f_[ir::storage_of(f_, e.buffer)];
      if (storage.origin == ir::BufferOrigin::Pointer) return address(storage.pointer);
      return start_of(ir::storage_of(f_, e.buffer));
    }
    case ExprOp::Cast:
    case ExprOp::Reinterpret:
      if (f_[e.args[0]].type.is_pointer()) return address(e.args[0]);
      break;
    case ExprOp::Call:
      if (e.callee == Intrinsic::PointerOffset || e.callee == Intrinsic::ByteOffset) {
        Address out = address(e.args[0]);
        const bool is_bytes = e.callee == Intrinsic::ByteOffset;
        add_index(out, e.args[1], is_bytes ? 8 : storage_bits(f_[e.args[0]].type.dtype));
        return out;
      }
      break;
    default:
      break;
  }
  return opaque(code_.in_register(eval(pointer)), e.type.dtype);
}

Address Emitter::start_of(BufferId id) {
  const ir::Buffer& buffer = f_[id];
  Address out;
  switch (buffer.origin) {
    case ir::BufferOrigin::Param:
      out = vars_[buffer.param.index].address.value_or(Address{});
      break;
    case ir::BufferOrigin::View:
      out = start_of(buffer.base);
      break;
    case ir::BufferOrigin::Pointer:
      out = address(buffer.pointer);
      break;
    case ir::BufferOrigin::Alloc:
      out.symbol = symbols_[id.index];
      out.bits = offsets_[id.index] * 8;
      out.storage = id;
      out.align = 16;
      out.space = ir::is_shared(buffer.scope)     ? Space::Shared
                  : locals_.plan(id).in_registers ? Space::Registers
                                                  : Space::Local;
      break;
  }
  if (buffer.elem_offset.valid()) add_index(out, buffer.elem_offset, storage_bits(buffer.dtype));
  if (buffer.byte_offset.valid()) add_index(out, buffer.byte_offset, 8);
  return out;
}

Address Emitter::element(BufferId id, std::span<const ExprId> indices) {
  const ir::Buffer& buffer = f_[id];
  Address out = start_of(id);
  const std::vector<std::int64_t> strides = strides_of(f_, buffer);
  if (strides.size() != indices.size()) {
    refuse(DiagKind::NotEmitted, "`{}` has {} dimensions whose extents are not all constant",
           buffer.name, buffer.shape.size());
    return out;
  }
  for (std::size_t i = 0; i < indices.size(); ++i)
    add_index(out, indices[i], strides[i] * storage_bits(buffer.dtype));
  return out;
}

// --- index arithmetic ----------------------------------------------------------------------------

void Emitter::add_index(Address& to, ExprId index, std::int64_t scale_bits) {
  if (const auto number = constant_of(f_, index, ranges_)) {
    to.bits += *number * scale_bits;
  } else if (scale_bits % 8 == 0) {
    add_linear(to, index, scale_bits / 8);
  } else {  // two elements to a byte
    const DType type = f_[index].type.dtype;
    const Value elements =
        product(arith_type(type), eval(index), int_value(scale_bits, class_of(type)));
    to.terms.push_back({.value = shift(ExprOp::Shr, type, elements, int_value(3))});
  }
}

// Sums and products that are no index arithmetic wrap around, unless their range says not.
bool Emitter::may_wrap(ExprId expr) const {
  const DType type = f_[expr].type.dtype;
  if (num::bits_of(type) < 32) return true;
  if (is_signed(type)) return !f_[expr].no_wrap && !ranges_.stays_in_type(expr);
  const auto in_bounds = [&](ExprId id) {
    const ir::Range r = range(id);
    return r.min >= 0 && r.max < kUnsignedEnd;
  };
  return !in_bounds(expr) || !std::ranges::all_of(f_[expr].args, in_bounds);
}

void Emitter::add_linear(Address& to, ExprId index, std::int64_t scale) {
  if (const auto number = constant_of(f_, index, ranges_)) {
    to.bits += *number * scale * 8;
    return;
  }
  const ir::Expr& e = f_[index];
  const auto number = e.args.size() == 2 ? constant_of(f_, e.args[1], ranges_) : std::nullopt;
  const bool is_sum = e.op == ExprOp::Add || e.op == ExprOp::Sub;
  const bool is_scaled = number && (e.op == ExprOp::Mul || (e.op == ExprOp::Shl && *number < 31));
  if ((is_sum || is_scaled) && !may_wrap(index)) {
    if (is_scaled)
      return add_linear(to, e.args[0],
                        scale * (e.op == ExprOp::Mul ? *number : std::int64_t{1} << *number));
    add_linear(to, e.args[0], scale);
    return add_linear(to, e.args[1], e.op == ExprOp::Add ? scale : -scale);
  }
  if (e.op == ExprOp::Cast && f_[e.args[0]].type.is_int()) {
    const DType from = f_[e.args[0]].type.dtype;
    const bool is_wider =
        num::bits_of(e.type.dtype) > num::bits_of(from) && is_signed(e.type.dtype);
    if (is_wider) return add_linear(to, e.args[0], scale);
  }
  add_term(to, index, scale);
}

void Emitter::add_term(Address& to, ExprId atom, std::int64_t scale) {
  const Value value = eval(atom);
  if (value.is_constant()) {
    to.bits += value.bits * scale * 8;
    return;
  }
  for (Term& term : to.terms) {
    if (term.value != value) continue;
    term.scale += scale;
    return;
  }
  const std::int64_t divisor = ranges_.divisor(atom);
  const DType type = f_[atom].type.dtype;
  to.terms.push_back({.value = value,
                      .scale = scale,
                      .divisor = divisor == 0 ? kUnsignedEnd : divisor,
                      .is_signed = is_signed(type) || num::bits_of(type) < 32});
}

Address Emitter::settled(Address address) {
  for (Term& term : address.terms) term.value = code_.snapshot(term.value);
  address.base = code_.snapshot(address.base);
  return address;
}

std::int64_t Emitter::align_of(const Address& address) {
  std::int64_t align = std::gcd(address.align, address.bits / 8);
  for (const Term& term : address.terms) align = std::gcd(align, term.scale * term.divisor);
  return std::abs(align);
}

// --- registers -----------------------------------------------------------------------------------

Value Emitter::add_to_base(const Address& address, Value base, const Term& term) {
  Value value = term.value;
  if (address.space == Space::Shared) {
    if (value.cls == Class::Rd) value = code_.pure("cvt.u32.u64", Class::R, {value});
    if (term.scale == 1) return code_.pure("add.s32", Class::R, {base, value});
    return code_.pure("mad.lo.s32", Class::R, {value, int_value(term.scale), base});
  }
  const bool is_exact = fits_in_32(term.scale) && (term.is_signed || term.scale >= 0);
  if (value.cls == Class::R && is_exact)
    return code_.pure(term.is_signed ? "mad.wide.s32" : "mad.wide.u32", Class::Rd,
                      {value, int_value(term.scale), base});
  if (value.cls == Class::R)
    value = code_.pure(term.is_signed ? "cvt.s64.s32" : "cvt.u64.u32", Class::Rd, {value});
  if (term.scale == 1) return code_.pure("add.s64", Class::Rd, {base, value});
  return code_.pure("mad.lo.s64", Class::Rd, {value, int_value(term.scale, Class::Rd), base});
}

// Base and terms, without the constant.
Value Emitter::base_of(const Address& address) {
  Value base = address.base;
  if (!address.symbol.empty())
    base = address.space == Space::Shared
               ? code_.pure("mov.u32", Class::R, {symbol_arg(address.symbol)})
               : code_.pure("mov.u64", Class::Rd, {symbol_arg(address.symbol)});
  std::vector<Term> terms = address.terms;
  std::ranges::stable_sort(terms, {}, [&](const Term& term) { return code_.level_of(term.value); });
  for (const Term& term : terms)
    if (term.scale != 0) base = add_to_base(address, base, term);
  return base;
}

Arg Emitter::operand(const Address& address) {
  if (address.space == Space::Registers) {
    refuse(DiagKind::NotEmitted, "the address of `{}`, which is in registers",
           f_[address.storage].name);
    return address_arg(int_value(0), 0);
  }
  const std::int64_t bytes = address.bits / 8;
  if (address.terms.empty() && !address.symbol.empty())
    return address_arg(symbol_arg(address.symbol), bytes);
  const Value base = base_of(address);
  if (fits_in_32(bytes)) return address_arg(base, bytes);
  return address_arg(sum("s64", base, int_value(bytes, Class::Rd)), 0);
}

// The whole address in a register, in the state space that it has.
Value Emitter::window(const Address& address, Space space) {
  Address from = address;
  if (from.space == Space::Generic && space == Space::Shared) {
    const Value whole = window(from, Space::Generic);
    return code_.pure("cvt.u32.u64", Class::R,
                      {code_.pure("cvta.to.shared.u64", Class::Rd, {whole})});
  }
  if (from.space == Space::Generic && space != Space::Generic)
    return code_.pure(fmt::format("cvta.to{}.u64", suffix_of(space)), Class::Rd,
                      {window(from, Space::Generic)});
  if (from.space == Space::Registers) operand(from);
  const bool is_short = from.space == Space::Shared;
  return sum(is_short ? "s32" : "s64", base_of(from),
             int_value(from.bits / 8, is_short ? Class::R : Class::Rd));
}

Value Emitter::generic(const Address& address) {
  if (address.space == Space::Registers) {
    operand(address);
    return int_value(0, Class::Rd);
  }
  Value whole = window(address, address.space);
  if (address.space == Space::Generic) return whole;
  if (whole.cls == Class::R) whole = code_.pure("cvt.u64.u32", Class::Rd, {whole});
  return code_.pure(fmt::format("cvta{}.u64", suffix_of(address.space)), Class::Rd, {whole});
}

}  // namespace ww::emit::to_ptx
