// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies. A run of elements moves in pieces of up to 16 bytes, each as wide as
// its place is known to be aligned.
#include "emit/ptx/memory.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

#include "emit/ptx/casts.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"

namespace ww::emit::to_ptx {

namespace {

constexpr std::int64_t kMaxBytes = 16;

// Cuts a run of elements into what one instruction moves each: visits its place, the number of its
// first element, and how many it has.
template <typename Visit>
void each_piece(const Address& start, std::size_t count, std::int64_t element, const Visit& visit) {
  const std::int64_t align = align_of(start);
  const std::int64_t end = static_cast<std::int64_t>(count) * element;
  for (std::int64_t at = 0; at < end;) {
    const std::int64_t known = std::gcd(align, at);
    std::int64_t bytes = element;
    while (bytes * 2 <= std::min(kMaxBytes, end - at) && known % (bytes * 2) == 0) bytes *= 2;
    visit(moved(start, at), static_cast<std::size_t>(at / element),
          static_cast<std::size_t>(bytes / element));
    at += bytes;
  }
}

std::string vector_word(std::size_t count) { return count == 1 ? "" : fmt::format(".v{}", count); }

Arg list_or_one(std::span<const Value> values) {
  return values.size() == 1 ? Arg(values[0]) : vector_arg(values);
}

// Where the lanes that the indices stand for are: one place when they follow each other.
std::vector<Address> places_of(Context& c, BufferId buffer, std::span<const ExprId> indices) {
  if (indices.empty() || c.f[indices.back()].type.lanes == 1) return {element(c, buffer, indices)};
  const ir::Expr& last = c.f[indices.back()];
  std::vector<ExprId> first(indices.begin(), indices.end());
  if (last.op == ExprOp::Ramp && constant_of(c, last.args[1]) == 1) {
    first.back() = last.args[0];
    return {element(c, buffer, first)};
  }
  const std::int64_t bits = storage_bits(c.f[buffer].dtype);
  Address start = start_of(c, buffer);
  const Strides strides = strides_of(c.f, c.f[buffer]);
  for (std::size_t i = 0; i + 1 < indices.size() && i < strides.size(); ++i)
    add_index(c, start, indices[i], strides[i] * bits);
  std::vector<Address> out;
  for (const Value& value : lanes(c, indices.back())) {
    Address place = start;
    if (value.is_constant())
      place.bits += value.bits * bits;
    else
      place.terms.push_back({.value = value, .scale = bits / 8});
    out.push_back(std::move(place));
  }
  return out;
}

// --- loads ---------------------------------------------------------------------------------------

Lanes load_piece(Context& c, const Address& from, DType type, std::size_t count, bool is_constant) {
  const bool is_packed = count > 4;  // more than a vector holds: in words
  const std::size_t registers =
      is_packed ? count * static_cast<std::size_t>(storage_bits(type)) / 32 : count;
  const Class cls = is_packed || type == DType::Bool ? Class::R : class_of(type);
  const Arg where = operand(c, from);
  Lanes out;
  for (std::size_t i = 0; i < registers; ++i) out.push_back(c.code.new_register(cls));
  c.code.add(fmt::format("ld{}{}{}.{}", suffix_of(from.space),
                         is_constant && from.space == Space::Global ? ".nc" : "",
                         vector_word(registers), is_packed ? "b32" : memory_type(type)),
             {list_or_one(out), where});
  if (is_packed) return lanes_of(c, out, type, count);
  if (type == DType::Bool)
    for (Value& value : out) value = is_not_zero(c, DType::Int32, value);
  return out;
}

// --- stores --------------------------------------------------------------------------------------

void store_piece(Context& c, const Address& to, DType type, std::span<const Value> values,
                 Guard guard) {
  const bool is_packed = values.size() > 4;
  Lanes registers(values.begin(), values.end());
  if (is_packed)
    registers = words_of(c, registers, type);
  else if (type == DType::Bool)
    std::ranges::transform(registers, registers.begin(), [&](Value v) { return as_int(c, v); });
  for (Value& value : registers) value = c.code.in_register(value);
  const Arg where = operand(c, to);
  c.code.add(fmt::format("st{}{}.{}", suffix_of(to.space), vector_word(registers.size()),
                         is_packed ? "b32" : memory_type(type)),
             {where, list_or_one(registers)}, guard);
}

// --- copies of bytes -----------------------------------------------------------------------------

// The most bytes that one instruction moves between these places.
std::int64_t copy_width(const Context& c, const Address& to, const Address& from) {
  const auto is_near = [](const Address& a) {
    return a.space == Space::Global || a.space == Space::Registers;
  };
  const bool has_wide = c.options.target.has(target::Feature::Sm100) && c.options.target.ptx >= 88;
  return has_wide && is_near(to) && is_near(from) ? 32 : 16;
}

// Registers of 32 bits (64 where the array has such cells), or one narrower one.
Class cell_class(const Context& c, const Address& place, std::int64_t bytes) {
  if (place.space == Space::Registers && c.locals.plan(place.storage).cell_bits == 64)
    return Class::Rd;
  return bytes == 2 ? Class::Rs : Class::R;
}

DType narrow_type(std::int64_t bytes) { return bytes == 1 ? DType::Uint8 : DType::Uint16; }

std::string cell_word(Class cls, std::int64_t bytes) {
  if (bytes == 1) return ".u8";
  const std::int64_t count = bytes * 8 / bits_of(cls);
  return fmt::format("{}.{}", vector_word(static_cast<std::size_t>(count)), type_of(cls));
}

// A load whose results are the cells themselves.
void copy_piece(Context& c, const Address& to, const Address& from, std::int64_t bytes) {
  const LocalPlan& plan = c.locals.plan(to.storage);
  if (bytes * 8 < plan.cell_bits || plan.cell_bits < 32) {
    const std::uint32_t since = c.code.now();
    const DType type = narrow_type(bytes);
    return store_run(c, to, type, load_run(c, from, type, 1), since);
  }
  const Arg where = operand(c, from);
  std::vector<Value> cells;
  for (std::int64_t at = 0; at < bytes * 8; at += plan.cell_bits)
    cells.push_back(c.locals.cell_to_write(to.storage, to.bits + at, false));
  c.code.add(fmt::format("ld{}{}", suffix_of(from.space), cell_word(plan.cls, bytes)),
             {list_or_one(cells), where});
}

std::vector<Value> source_cells(Context& c, const Address& from, std::int64_t bytes) {
  if (bytes < 4) return {c.code.snapshot(load_run(c, from, narrow_type(bytes), 1)[0])};
  const Class cls = cell_class(c, from, bytes);
  std::vector<Value> cells;
  if (from.space == Space::Registers) {
    for (std::int64_t at = 0; at < bytes * 8; at += bits_of(cls))
      cells.push_back(c.code.in_register(c.locals.cell(from.storage, from.bits + at)));
    return cells;
  }
  const Arg where = operand(c, from);
  for (std::int64_t at = 0; at < bytes * 8; at += bits_of(cls))
    cells.push_back(c.code.new_register(cls));
  c.code.add(fmt::format("ld{}{}", suffix_of(from.space), cell_word(cls, bytes)),
             {list_or_one(cells), where});
  return cells;
}

void put_cells(Context& c, const Address& to, const std::vector<Value>& cells, std::int64_t bytes) {
  if (bytes < 4) return store_run(c, to, narrow_type(bytes), cells, c.code.now());
  const DType type = cells[0].cls == Class::Rd ? DType::Uint64 : DType::Uint32;
  if (to.space == Space::Registers) {
    const bool is_wider = c.locals.plan(to.storage).cell_bits == 64 && type == DType::Uint32;
    if (!is_wider) return store_run(c, to, type, cells, c.code.now());
    const Lanes lanes = lanes_of(c, cells, DType::Uint64, cells.size() / 2);
    return store_run(c, to, DType::Uint64, lanes, c.code.now());
  }
  const Arg where = operand(c, to);
  c.code.add(fmt::format("st{}{}", suffix_of(to.space), cell_word(cells[0].cls, bytes)),
             {where, list_or_one(cells)});
}

}  // namespace

// --- loads ---------------------------------------------------------------------------------------

Lanes load(Context& c, const ir::Expr& e) {
  const DType type = c.f[e.buffer].dtype;
  const std::vector<Address> places = places_of(c, e.buffer, e.args);
  if (places.size() == 1) return load_run(c, places[0], type, e.type.lanes);
  Lanes out;
  for (const Address& place : places) out.push_back(load_run(c, place, type, 1)[0]);
  return out;
}

Lanes load_run(Context& c, const Address& from, DType type, std::size_t count, bool is_constant) {
  const std::int64_t bits = storage_bits(type);
  Lanes out;
  if (from.space == Space::Registers) {
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(
          c.locals.read(from.storage, from.bits + static_cast<std::int64_t>(i) * bits, type));
    return out;
  }
  if (bits < 8) {
    refuse(c, "an element of type `{}` in memory", num::name_of(type));
    return Lanes(count, int_value(0));
  }
  each_piece(from, count, bits / 8, [&](const Address& at, std::size_t, std::size_t own) {
    std::ranges::copy(load_piece(c, at, type, own, is_constant), std::back_inserter(out));
  });
  return out;
}

// --- stores --------------------------------------------------------------------------------------

void store_run(Context& c, const Address& to, DType type, const Lanes& values, std::uint32_t since,
               Guard guard) {
  const std::int64_t bits = storage_bits(type);
  if (to.space == Space::Registers) {
    for (std::size_t i = 0; i < values.size(); ++i)
      c.locals.write(to.storage, to.bits + static_cast<std::int64_t>(i) * bits, type, values[i],
                     since, guard);
    return;
  }
  if (bits < 8) {
    refuse(c, "an element of type `{}` in memory", num::name_of(type));
    return;
  }
  each_piece(to, values.size(), bits / 8,
             [&](const Address& at, std::size_t first, std::size_t own) {
               store_piece(c, at, type, std::span(values).subspan(first, own), guard);
             });
}

void store(Context& c, const ir::Stmt& s) {
  std::uint32_t since = c.code.now();
  Lanes values = lanes(c, s.expr);
  const DType type = c.f[s.buffer].dtype;
  // The lanes may be registers that the first stores would change, or all the same one.
  if (values.size() > 1) {
    for (Value& value : values) value = c.code.snapshot(value);
    since = c.code.now();
  }
  const std::vector<Address> places = places_of(c, s.buffer, s.args);
  if (places.size() == 1) return store_run(c, places[0], type, values, since);
  for (std::size_t i = 0; i < places.size(); ++i) store_run(c, places[i], type, {values[i]}, since);
}

// --- copies of bytes -----------------------------------------------------------------------------

void copy_bytes(Context& c, const ir::Expr& e) {
  const Address to = address(c, e.args[0]);
  const Address from = address(c, e.args[1]);
  const std::int64_t bytes = constant_of(c, e.args[2]).value_or(0);
  if (bytes < 1 || bytes > 32 || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
    refuse(c, "a copy of {} bytes, expected 1, 2, 4, 8, 16 or 32", bytes);
    return;
  }
  const std::int64_t step = std::min(bytes, copy_width(c, to, from));
  for (const Address* side : {&to, &from})
    if (side->param) c.params[*side->param].align = std::max(c.params[*side->param].align, step);
  // All of the source is read before anything is written.
  std::vector<std::vector<Value>> pieces;
  const bool is_into_registers = to.space == Space::Registers && from.space != Space::Registers;
  for (std::int64_t at = 0; at < bytes; at += step) {
    if (is_into_registers) {
      copy_piece(c, moved(to, at), moved(from, at), step);
      continue;
    }
    pieces.push_back(source_cells(c, moved(from, at), step));
    const bool may_overlap = to.space == Space::Registers && to.storage == from.storage;
    for (Value& cell : pieces.back())
      if (may_overlap) cell = c.code.snapshot(cell);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    put_cells(c, moved(to, static_cast<std::int64_t>(i) * step), pieces[i], step);
}

// --- pointers ------------------------------------------------------------------------------------
//
// Pointers. What a pointer leads to is kept as base + terms + constant for as long as possible: the
// constant goes into the instruction, and terms are added to the base from the outermost scope
// inwards, so that what does not change in a loop is added before it.
//
// Index arithmetic does not overflow (ir/indices.h), so sums may be taken apart. Addresses of
// shared memory have 32 bits, all others 64.

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
