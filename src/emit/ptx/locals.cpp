// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/locals.h"

#include <fmt/format.h>

#include "base/check.h"

namespace ww::emit::to_ptx {

using ir::BufferId;
using num::DType;
using num::DTypeKind;

// --- cells ---------------------------------------------------------------------------------------

// All cells of a buffer come into being at once, so that none of them moves later.
Locals::Cell& Locals::cell_of(std::size_t storage, std::size_t number) {
  std::vector<Cell>& cells = cells_[storage];
  if (cells.empty()) cells.resize(plans_[storage].is_assigned_once.size());
  WW_CHECK(number < cells.size(), "cell {} of {}", number, cells.size());
  return cells[number];
}

Locals::Cell& Locals::cell_at(BufferId storage, std::int64_t bit) {
  const LocalPlan& plan = plans_[storage.index];
  const auto number = static_cast<std::size_t>(bit / plan.cell_bits);
  Cell& cell = cell_of(storage.index, number);
  if (cell.value.kind == ValueKind::None && !plan.is_assigned_once[number])
    cell.value = code_.new_variable(plan.cls);
  return cell;
}

Value Locals::cell(BufferId storage, std::int64_t bit) {
  Cell& cell = cell_at(storage, bit);
  pack(cell);
  cell.has_word = true;
  if (cell.value.kind == ValueKind::None) return int_value(0, plans_[storage.index].cls);
  return cell.value;
}

Value Locals::cell_to_write(BufferId storage, std::int64_t bit, bool keeps) {
  Cell& cell = cell_at(storage, bit);
  if (keeps) pack(cell);
  cell = {.value = cell.value, .has_word = true};
  code_.touch(cell.value);
  return cell.value;
}

void Locals::settle() {
  for (std::vector<Cell>& cells : cells_) {
    for (Cell& cell : cells) {
      if (cell.piece_bits == 0) continue;
      pack(cell);
      cell.piece_bits = 0;
      cell.pieces = {};
    }
  }
}

Locals::Filled Locals::filled() const {
  Filled out;
  for (std::size_t storage = 0; storage < cells_.size(); ++storage)
    for (std::size_t number = 0; number < cells_[storage].size(); ++number)
      if (cells_[storage][number].has_word) out.emplace_back(storage, number);
  return out;
}

void Locals::set_filled(const Filled& filled) {
  for (std::vector<Cell>& cells : cells_)
    for (Cell& cell : cells) cell.has_word = false;
  add_filled(filled);
}

void Locals::add_filled(const Filled& filled) {
  for (const auto& [storage, number] : filled) cell_of(storage, number).has_word = true;
}

// --- pieces --------------------------------------------------------------------------------------

void Locals::unpack(Cell& cell, int bits, std::size_t number) {
  if (cell.piece_bits != bits) {
    pack(cell);
    cell.piece_bits = bits;
    cell.pieces = {};
  }
  if (cell.pieces[number].kind != ValueKind::None) return;
  if (bits == 16) {
    const auto halves = code_.pure_vector("mov.b32", Class::Rs, 2, {cell.value});
    for (std::size_t i = 0; i < 2; ++i)
      if (cell.pieces[i].kind == ValueKind::None) cell.pieces[i] = halves[i];
    return;
  }
  cell.pieces[number] = code_.pure(
      "bfe.u32", Class::R,
      {cell.value, int_value(static_cast<std::int64_t>(number) * bits), int_value(bits)});
}

Value Locals::read_piece(Cell& cell, int bits, std::size_t number) {
  unpack(cell, bits, number);
  return cell.pieces[number];
}

void Locals::write_piece(Cell& cell, int bits, std::size_t number, Value raw) {
  if (cell.piece_bits != bits) {
    pack(cell);
    cell.piece_bits = bits;
    cell.pieces = {};
  }
  cell.pieces[number] = code_.snapshot(raw);
  cell.written |= static_cast<std::uint8_t>(1U << number);
}

void Locals::pack(Cell& cell) {
  if (cell.written == 0) return;
  if (cell.piece_bits == 16)
    pack_halves(cell);
  else
    pack_small(cell);
  cell.written = 0;
  cell.has_word = true;
}

void Locals::pack_halves(Cell& cell) {
  std::vector<Arg> halves;
  for (std::size_t i = 0; i < 2; ++i) {
    if (cell.pieces[i].kind == ValueKind::None) {
      if (cell.has_word)
        unpack(cell, 16, i);
      else
        cell.pieces[i] = int_value(0, Class::Rs);
    }
    halves.emplace_back(code_.in_register(cell.pieces[i]));
  }
  code_.touch(cell.value);
  code_.add("mov.b32", {cell.value, vector_arg(std::move(halves))});
}

void Locals::pack_small(Cell& cell) {
  const int bits = cell.piece_bits;
  const auto count = static_cast<std::size_t>(32 / bits);
  const bool is_first_whole = cell.written == (1U << count) - 1;
  Value word = cell.has_word && !is_first_whole ? cell.value : int_value(0);
  if (is_first_whole) word = cell.pieces[0];
  const std::uint32_t since = code_.now();
  for (std::size_t i = is_first_whole ? 1 : 0; i < count; ++i) {
    if ((unsigned{cell.written} >> i & 1U) == 0) continue;
    word = code_.pure(
        "bfi.b32", Class::R,
        {cell.pieces[i], word, int_value(static_cast<std::int64_t>(i) * bits), int_value(bits)});
  }
  code_.assign(cell.value, word, since);
}

// --- elements ------------------------------------------------------------------------------------

// The bits of a value as a register of the class; what lies above them does not matter.
Value Locals::to_raw(Value value, Class cls) {
  if (value.cls == cls) return value;
  if (value.is_constant() && cls != Class::P && value.cls != Class::P)
    return int_value(value.bits, cls);
  if (value.cls == Class::P)
    return to_raw(code_.pure("selp.b32", Class::R, {int_value(1), int_value(0), value}), cls);
  return code_.pure(fmt::format("cvt.u{}.u{}", bits_of(cls), bits_of(value.cls)), cls, {value});
}

// The value of a type from its bits, which may have anything above them.
Value Locals::from_raw(Value raw, DType type) {
  if (type == DType::Bool)
    return raw.cls == Class::P
               ? raw
               : code_.pure("setp.ne.s32", Class::P,
                            {code_.pure("and.b32", Class::R, {raw, int_value(255)}), int_value(0)});
  const int bits = storage_bits(type);
  if (num::kind_of(type) == DTypeKind::Float && bits >= 16) return to_raw(raw, class_of(type));
  if (bits >= 32) return raw;
  const bool is_signed = num::kind_of(type) == DTypeKind::Int;
  if (raw.cls == Class::Rs)
    return code_.pure(is_signed ? "cvt.s32.s16" : "cvt.u32.u16", Class::R, {raw});
  if (!is_signed)
    return code_.pure("and.b32", Class::R, {raw, int_value((std::int64_t{1} << bits) - 1)});
  return code_.pure("bfe.s32", Class::R, {raw, int_value(0), int_value(bits)});
}

Value Locals::read(BufferId storage, std::int64_t bit, DType type) {
  const LocalPlan& plan = plans_[storage.index];
  const int bits = storage_bits(type);
  Cell& first = cell_at(storage, bit);
  if (bits == plan.cell_bits && bits < 32) {
    const Value value = cell(storage, bit);
    return plan.type == type ? value : from_raw(value, type);
  }
  if (bits == plan.cell_bits) return cell(storage, bit);
  if (bits > plan.cell_bits) {
    const std::vector<Value> words = {code_.in_register(cell(storage, bit)),
                                      code_.in_register(cell(storage, bit + 32))};
    return code_.pure("mov.b64", Class::Rd, {vector_arg(words)});
  }
  WW_CHECK(plan.cell_bits == 32, "a piece of {} bits of a {}-bit cell", bits, plan.cell_bits);
  return from_raw(read_piece(first, bits, static_cast<std::size_t>(bit % 32 / bits)), type);
}

void Locals::write_cell(Cell& cell, Value raw, bool is_once, std::uint32_t since, Guard guard) {
  cell.has_word = true;
  cell.written = 0;
  cell.piece_bits = 0;
  cell.pieces = {};
  if (is_once)
    cell.value = code_.snapshot(raw);
  else
    code_.assign(cell.value, raw, since, guard);
}

Value Locals::choose(Guard guard, Value yes, Value no) {
  if (guard.is_negated) std::swap(yes, no);
  return code_.pure(fmt::format("selp.{}", type_of(yes.cls)), yes.cls,
                    {code_.in_register(yes), code_.in_register(no), guard.value});
}

void Locals::write(BufferId storage, std::int64_t bit, DType type, Value value, std::uint32_t since,
                   Guard guard) {
  const LocalPlan& plan = plans_[storage.index];
  const int bits = storage_bits(type);
  if (bits > plan.cell_bits) {
    const auto words = code_.pure_vector("mov.b64", Class::R, 2, {code_.in_register(value)});
    for (std::size_t i = 0; i < 2; ++i)
      write(storage, bit + static_cast<std::int64_t>(i) * 32, DType::Uint32, words[i], code_.now(),
            guard);
    return;
  }
  const std::size_t number = static_cast<std::size_t>(bit / plan.cell_bits);
  Cell& cell = cell_at(storage, bit);
  if (bits == plan.cell_bits) {
    write_cell(cell, to_raw(value, plan.cls), plan.is_assigned_once[number], since, guard);
    return;
  }
  const auto piece = static_cast<std::size_t>(bit % 32 / bits);
  Value raw = to_raw(value, bits == 16 ? Class::Rs : Class::R);
  if (guard.present()) raw = choose(guard, raw, read_piece(cell, bits, piece));
  write_piece(cell, bits, piece, raw);
}

}  // namespace ww::emit::to_ptx
