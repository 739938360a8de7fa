// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies. A run of elements moves in pieces of up to 16 bytes, each as wide as
// its place is known to be aligned.
#include <algorithm>
#include <bit>
#include <numeric>

#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

constexpr std::int64_t kMostBytes = 16;

Address moved(Address address, std::int64_t bytes) {
  address.bits += bytes * 8;
  return address;
}

// Bytes of the next piece of a run.
std::int64_t piece_bytes(std::int64_t align, std::int64_t left, std::int64_t element) {
  std::int64_t bytes = element;
  while (bytes * 2 <= std::min(kMostBytes, left) && align % (bytes * 2) == 0) bytes *= 2;
  return bytes;
}

std::string vector_word(std::size_t count) { return count == 1 ? "" : fmt::format(".v{}", count); }

Arg list_or_one(std::span<const Value> values) {
  return values.size() == 1 ? Arg(values[0]) : vector_arg(values);
}

}  // namespace

// --- loads ---------------------------------------------------------------------------------------

// Where the lanes of a vector of indices are: one place when they follow each other.
std::vector<Address> Emitter::gather(BufferId buffer, std::span<const ExprId> indices) {
  const ir::Expr& last = f_[indices.back()];
  std::vector<ExprId> first(indices.begin(), indices.end());
  if (last.op == ExprOp::Ramp && constant_of(f_, last.args[1], ranges_) == 1) {
    first.back() = last.args[0];
    return {element(buffer, first)};
  }
  const std::int64_t bits = storage_bits(f_[buffer].dtype);
  Address start = start_of(buffer);
  const std::vector<std::int64_t> strides = strides_of(f_, f_[buffer]);
  for (std::size_t i = 0; i + 1 < indices.size() && i < strides.size(); ++i)
    add_index(start, indices[i], strides[i] * bits);
  std::vector<Address> out;
  for (const Value& value : lanes(indices.back())) {
    Address place = start;
    if (value.is_constant())
      place.bits += value.bits * bits;
    else
      place.terms.push_back({.value = value, .scale = bits / 8});
    out.push_back(std::move(place));
  }
  return out;
}

Emitter::Lanes Emitter::load(const ir::Expr& e) {
  const std::span<const ExprId> indices(e.args.begin(), e.args.size());
  const DType type = f_[e.buffer].dtype;
  const bool is_gather = !indices.empty() && f_[indices.back()].type.lanes > 1;
  if (!is_gather) return load_run(element(e.buffer, indices), type, e.type.lanes);
  const std::vector<Address> places = gather(e.buffer, indices);
  if (places.size() == 1) return load_run(places[0], type, e.type.lanes);
  Lanes out;
  for (const Address& place : places) out.push_back(load_run(place, type, 1)[0]);
  return out;
}

Emitter::Lanes Emitter::load_run(const Address& from, DType type, std::size_t count,
                                 bool is_constant) {
  const std::int64_t bits = storage_bits(type);
  Lanes out;
  if (from.space == Space::Registers) {
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(
          locals_.read(from.storage, from.bits + static_cast<std::int64_t>(i) * bits, type));
    return out;
  }
  if (bits < 8) {
    refuse(DiagKind::NotEmitted, "an element of type `{}` in memory", num::name_of(type));
    return Lanes(count, int_value(0));
  }
  const std::int64_t align = align_of(from);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(count) * bits / 8;) {
    const std::int64_t left = static_cast<std::int64_t>(count) * bits / 8 - at;
    const std::int64_t bytes = piece_bytes(std::gcd(align, at), left, bits / 8);
    const Lanes piece =
        load_piece(moved(from, at), type, static_cast<std::size_t>(bytes * 8 / bits), is_constant);
    out.insert(out.end(), piece.begin(), piece.end());
    at += bytes;
  }
  return out;
}

Emitter::Lanes Emitter::load_piece(const Address& from, DType type, std::size_t count,
                                   bool is_constant) {
  const bool is_packed = count > 4;  // more than a vector holds: in words
  const std::size_t registers =
      is_packed ? count * static_cast<std::size_t>(storage_bits(type)) / 32 : count;
  const Class cls = is_packed || type == DType::Bool ? Class::R : class_of(type);
  const Arg where = operand(from);
  Lanes out;
  for (std::size_t i = 0; i < registers; ++i) out.push_back(code_.new_register(cls));
  code_.add(fmt::format("ld{}{}{}.{}", suffix_of(from.space),
                        is_constant && from.space == Space::Global ? ".nc" : "",
                        vector_word(registers), is_packed ? "b32" : memory_type(type)),
            {list_or_one(out), where});
  if (is_packed) return lanes_of(out, type, count);
  if (type == DType::Bool)
    for (Value& value : out) value = compare(ExprOp::Ne, DType::Int32, value, int_value(0));
  return out;
}

// --- stores --------------------------------------------------------------------------------------

void Emitter::store_run(const Address& to, DType type, const Lanes& values, std::uint32_t since,
                        Guard guard) {
  const std::int64_t bits = storage_bits(type);
  if (to.space == Space::Registers) {
    for (std::size_t i = 0; i < values.size(); ++i)
      locals_.write(to.storage, to.bits + static_cast<std::int64_t>(i) * bits, type, values[i],
                    since, guard);
    return;
  }
  if (bits < 8) {
    refuse(DiagKind::NotEmitted, "an element of type `{}` in memory", num::name_of(type));
    return;
  }
  const std::int64_t align = align_of(to);
  const auto all = static_cast<std::int64_t>(values.size()) * bits / 8;
  for (std::int64_t at = 0; at < all;) {
    const std::int64_t bytes = piece_bytes(std::gcd(align, at), all - at, bits / 8);
    const auto piece = std::span(values).subspan(static_cast<std::size_t>(at * 8 / bits),
                                                 static_cast<std::size_t>(bytes * 8 / bits));
    store_piece(moved(to, at), type, piece, guard);
    at += bytes;
  }
}

void Emitter::store_piece(const Address& to, DType type, std::span<const Value> values,
                          Guard guard) {
  const bool is_packed = values.size() > 4;
  Lanes registers(values.begin(), values.end());
  if (is_packed)
    registers = words_of(registers, type);
  else if (type == DType::Bool)
    std::ranges::transform(registers, registers.begin(), [&](Value v) { return as_int(v); });
  for (Value& value : registers) value = code_.in_register(value);
  const Arg where = operand(to);
  code_.add(fmt::format("st{}{}.{}", suffix_of(to.space), vector_word(registers.size()),
                        is_packed ? "b32" : memory_type(type)),
            {where, list_or_one(registers)}, guard);
}

// --- copies of bytes -----------------------------------------------------------------------------

void Emitter::copy_bytes(const ir::Expr& e) {
  const Address to = address(e.args[0]);
  const Address from = address(e.args[1]);
  const std::int64_t bytes = constant_of(f_, e.args[2], ranges_).value_or(0);
  if (bytes < 1 || bytes > 32 || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
    refuse(DiagKind::NotEmitted, "a copy of {} bytes, expected 1, 2, 4, 8, 16 or 32", bytes);
    return;
  }
  const std::int64_t step = std::min(bytes, copy_width(to, from));
  for (const Address* side : {&to, &from})
    if (side->param) param_aligns_[*side->param] = std::max(param_aligns_[*side->param], step);
  // All of the source is read before anything is written.
  std::vector<std::vector<Value>> pieces;
  const bool is_into_registers = to.space == Space::Registers && from.space != Space::Registers;
  for (std::int64_t at = 0; at < bytes; at += step) {
    if (is_into_registers) {
      copy_piece(moved(to, at), moved(from, at), step);
      continue;
    }
    pieces.push_back(source_cells(moved(from, at), step));
    const bool may_overlap = to.space == Space::Registers && to.storage == from.storage;
    for (Value& cell : pieces.back())
      if (may_overlap) cell = code_.snapshot(cell);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    put_cells(moved(to, static_cast<std::int64_t>(i) * step), pieces[i], step);
}

// The most bytes that one instruction moves between these places.
std::int64_t Emitter::copy_width(const Address& to, const Address& from) const {
  const auto is_near = [](const Address& a) {
    return a.space == Space::Global || a.space == Space::Registers;
  };
  const bool has_wide = options_.target.has(target::Feature::Sm100) && options_.target.ptx >= 88;
  return has_wide && is_near(to) && is_near(from) ? 32 : 16;
}

// Registers of 32 bits (64 where the array has such cells), or one narrower one.
Class Emitter::cell_class(const Address& place, std::int64_t bytes) const {
  if (place.space == Space::Registers && locals_.plan(place.storage).cell_bits == 64)
    return Class::Rd;
  return bytes == 2 ? Class::Rs : Class::R;
}

std::string Emitter::cell_word(Class cls, std::int64_t bytes) {
  if (bytes == 1) return ".u8";
  const std::int64_t count = bytes * 8 / bits_of(cls);
  return fmt::format("{}.{}", vector_word(static_cast<std::size_t>(count)), type_of(cls));
}

// A load whose results are the cells themselves.
void Emitter::copy_piece(const Address& to, const Address& from, std::int64_t bytes) {
  const LocalPlan& plan = locals_.plan(to.storage);
  if (bytes * 8 < plan.cell_bits || plan.cell_bits < 32) {
    const std::uint32_t since = code_.now();
    const DType type = bytes == 1 ? DType::Uint8 : DType::Uint16;
    return store_run(to, type, load_run(from, type, 1), since);
  }
  const Arg where = operand(from);
  std::vector<Value> cells;
  for (std::int64_t at = 0; at < bytes * 8; at += plan.cell_bits)
    cells.push_back(locals_.cell_to_write(to.storage, to.bits + at, false));
  code_.add(fmt::format("ld{}{}", suffix_of(from.space), cell_word(plan.cls, bytes)),
            {list_or_one(cells), where});
}

std::vector<Value> Emitter::source_cells(const Address& from, std::int64_t bytes) {
  if (bytes < 4) {
    const DType type = bytes == 1 ? DType::Uint8 : DType::Uint16;
    return {code_.snapshot(load_run(from, type, 1)[0])};
  }
  const Class cls = cell_class(from, bytes);
  std::vector<Value> cells;
  if (from.space == Space::Registers) {
    for (std::int64_t at = 0; at < bytes * 8; at += bits_of(cls))
      cells.push_back(code_.in_register(locals_.cell(from.storage, from.bits + at)));
    return cells;
  }
  const Arg where = operand(from);
  for (std::int64_t at = 0; at < bytes * 8; at += bits_of(cls))
    cells.push_back(code_.new_register(cls));
  code_.add(fmt::format("ld{}{}", suffix_of(from.space), cell_word(cls, bytes)),
            {list_or_one(cells), where});
  return cells;
}

void Emitter::put_cells(const Address& to, const std::vector<Value>& cells, std::int64_t bytes) {
  if (bytes < 4) {
    const DType type = bytes == 1 ? DType::Uint8 : DType::Uint16;
    return store_run(to, type, cells, code_.now());
  }
  const DType type = cells[0].cls == Class::Rd ? DType::Uint64 : DType::Uint32;
  if (to.space == Space::Registers) {
    const bool is_wider = locals_.plan(to.storage).cell_bits == 64 && type == DType::Uint32;
    if (!is_wider) return store_run(to, type, cells, code_.now());
    return store_run(to, DType::Uint64, lanes_of(cells, DType::Uint64, cells.size() / 2),
                     code_.now());
  }
  const Arg where = operand(to);
  code_.add(fmt::format("st{}{}", suffix_of(to.space), cell_word(cells[0].cls, bytes)),
            {where, list_or_one(cells)});
}

}  // namespace ww::emit::to_ptx
