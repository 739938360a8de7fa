// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/locals.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.h"
#include "ir/visit.h"
#include "isa/form.h"

namespace ww::emit::to_ptx {

// --- local plan ----------------------------------------------------------------------------------

namespace {

/// A place in a local buffer: bits from its start, or none when it is not constant.
struct LocalPlace {
  BufferId storage = {};
  std::optional<std::int64_t> bit;
};

/// How one access sees the storage.
struct Use {
  std::int64_t bit = 0;
  int bits = 0;
  std::optional<DType> type;  // none: raw bits
  bool is_alone = true;       // one element, not a vector
};

struct Record {
  bool is_constant = true;
  std::vector<Use> uses;
  const ir::Block* block = nullptr;  // of the Alloc
  struct Writes {
    int count = 0;
    bool is_beside = false;  // the last one stands in the block of the Alloc
  };
  std::map<std::int64_t, Writes> writes;  // by first bit
};

class Planner {
 public:
  Planner(const ir::Function& f, const ir::Ranges& ranges)
      : f_(f),
        ranges_(ranges),
        records_(f.buffer_count()),
        values_(f.var_count()),
        starts_(f.buffer_count()) {}

  std::vector<LocalPlan> run() {
    ir::for_each_stmt(f_, f_.body, [&](ir::StmtId id) {
      if (f_[id].kind == StmtKind::Bind) values_[f_[id].var.index] = f_[id].expr;
    });
    look_at(f_.body);
    ir::for_each_expr(f_, [&](ExprId id) { look_at(f_[id]); });
    std::vector<LocalPlan> plans(f_.buffer_count());
    for (std::uint32_t i = 0; i < plans.size(); ++i) {
      const ir::Buffer& buffer = f_[BufferId{i}];
      if (buffer.scope != ir::Scope::Local || buffer.origin != BufferOrigin::Alloc) continue;
      plans[i] = plan_of(buffer, records_[i]);
    }
    return plans;
  }

 private:
  // --- places ---

  [[nodiscard]] std::optional<std::int64_t> constant(ExprId expr) const {
    return expr.valid() ? constant_of(f_, expr, ranges_) : std::optional<std::int64_t>(0);
  }

  // The start of a buffer in its storage; nothing when that is not a local buffer.
  [[nodiscard]] std::optional<LocalPlace> start_of(BufferId id) {
    Start& known = starts_[id.index];
    if (!known.is_known) known = {true, found_start(id)};
    return known.place;
  }
  [[nodiscard]] std::optional<LocalPlace> found_start(BufferId id) {
    const ir::Buffer& buffer = f_[id];
    LocalPlace place{id, 0};
    if (buffer.origin == BufferOrigin::View) {
      const auto base = start_of(buffer.base);
      if (!base) return std::nullopt;
      place = *base;
    } else if (buffer.origin == BufferOrigin::Pointer) {
      const auto base = place_of(buffer.pointer);
      if (!base) return std::nullopt;
      place = *base;
    }
    if (f_[place.storage].scope != ir::Scope::Local) return std::nullopt;
    move(place, buffer.elem_offset, storage_bits(buffer.dtype));
    move(place, buffer.byte_offset, 8);
    return place;
  }

  void move(LocalPlace& place, ExprId by, int bits) const {
    const auto number = constant(by);
    place.bit = place.bit && number ? std::optional(*place.bit + *number * bits) : std::nullopt;
  }

  // What a pointer leads to; nothing when that is not a local buffer.
  [[nodiscard]] std::optional<LocalPlace> place_of(ExprId id) {
    const Expr& e = f_[id];
    switch (e.op) {
      case ExprOp::Var:
        return values_[e.var.index].valid() ? place_of(values_[e.var.index]) : std::nullopt;
      case ExprOp::BufferData: {
        const BufferId storage = ir::storage_of(f_, e.buffer);
        if (f_[storage].origin == BufferOrigin::Pointer) return place_of(f_[storage].pointer);
        if (f_[storage].scope != ir::Scope::Local) return std::nullopt;
        return LocalPlace{storage, 0};
      }
      case ExprOp::AddressOf:
        return element(e.buffer, {e.args.begin(), e.args.size()});
      case ExprOp::Call: {
        if (!moves_pointer(e)) return std::nullopt;
        auto place = place_of(e.args[0]);
        const bool is_bytes = e.callee == Intrinsic::ByteOffset;
        if (place) move(*place, e.args[1], is_bytes ? 8 : storage_bits(f_[e.args[0]].type.dtype));
        return place;
      }
      case ExprOp::Reinterpret:
      case ExprOp::Cast:
        return f_[e.args[0]].type.is_pointer() ? place_of(e.args[0]) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<LocalPlace> element(BufferId id, std::span<const ExprId> indices) {
    auto place = start_of(id);
    if (!place) return std::nullopt;
    const auto index = constant_index(f_, f_[id], indices, ranges_);
    place->bit = place->bit && index
                     ? std::optional(*place->bit + *index * storage_bits(f_[id].dtype))
                     : std::nullopt;
    return place;
  }

  // --- accesses ---

  void look_at(const ir::Block& block) {
    for (const ir::StmtId id : block) {
      const Stmt& s = f_[id];
      if (s.kind == StmtKind::Alloc) records_[s.buffer.index].block = &block;
      if (s.kind == StmtKind::Store) store(s, block);
      if (s.kind == StmtKind::Ptx) look_at(f_[s.ptx]);
      look_at(s.body);
      look_at(s.other);
    }
  }

  void store(const Stmt& s, const ir::Block& block) {
    const int lanes = f_[s.expr].type.lanes;
    const auto place = element_use(s.buffer, {s.args.begin(), s.args.size()}, lanes);
    if (!place || !place->bit) return;
    Record& record = records_[place->storage.index];
    Record::Writes& writes = record.writes[*place->bit];
    ++writes.count;
    writes.is_beside = record.block == &block && lanes == 1;
  }

  std::optional<LocalPlace> element_use(BufferId id, std::span<const ExprId> indices, int lanes) {
    const bool is_ramp = !indices.empty() && f_[indices.back()].type.lanes > 1;
    auto place = start_of(id);
    if (!place) return std::nullopt;
    const DType type = f_[id].dtype;
    if (!is_ramp) {
      place = element(id, indices);
    } else if (const Expr& ramp = f_[indices.back()];
               ramp.op == ExprOp::Ramp && constant(ramp.args[1]) == 1) {
      std::vector<ExprId> first(indices.begin(), indices.end());
      first.back() = ramp.args[0];
      place = element(id, first);
    } else {
      place->bit = std::nullopt;
    }
    use(*place, storage_bits(type) * lanes, type, lanes == 1);
    return place;
  }

  void use(const LocalPlace& place, int bits, std::optional<DType> type, bool is_alone) {
    Record& record = records_[place.storage.index];
    if (!place.bit) {
      record.is_constant = false;
      return;
    }
    record.uses.push_back({*place.bit, bits, type, is_alone});
  }

  // Bits behind a pointer that are written without a Store.
  void raw_use(ExprId pointer, int bits, int from = 0) {
    auto place = place_of(pointer);
    if (!place) return;
    if (place->bit) *place->bit += from;
    use(*place, bits, std::nullopt, bits <= 64);
    if (place->bit) records_[place->storage.index].writes[*place->bit].count += 2;
  }

  static bool is_of_b128(const ir::PtxCall& call) {
    if (call.opcode.forms().empty()) return false;
    const isa::Binding& binding = call.opcode.binding();
    const std::size_t slots = binding.form().slots.size();
    return slots != 0 && binding.word(slots - 1) == "b128";
  }
  // How many words an operand of `.b128` takes by address: four, but for the parts of which
  // `mov.b128` makes one.
  static int words_of(const ir::PtxCall& call, std::size_t operand) {
    const bool is_part = call.opcode.mnemonic() == "mov" && call.operands.size() > 3 && operand > 0;
    return is_part ? 1 : 4;
  }

  void look_at(const ir::PtxCall& call) {
    const bool is_wide = is_of_b128(call);
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const ir::PtxOperand& operand = call.operands[i];
      if (operand.kind == ir::PtxOperandKind::Sink) continue;
      const bool is_at = operand.kind == ir::PtxOperandKind::At;
      const int words = !is_at ? 0 : is_wide ? words_of(call, i) : 1;
      for (int w = 0; w < words; ++w) raw_use(operand.expr, 32, 32 * w);
      if (operand.kind == ir::PtxOperandKind::Address) escape(operand.expr);
      const Expr& e = f_[operand.expr];
      if (e.op != ExprOp::Load) continue;
      const auto place = element_use(e.buffer, {e.args.begin(), e.args.size()}, e.type.lanes);
      if (place && place->bit) records_[place->storage.index].writes[*place->bit].count += 2;
    }
  }

  void escape(ExprId pointer) {
    if (!f_[pointer].type.is_pointer()) return;
    if (const auto place = place_of(pointer)) records_[place->storage.index].is_constant = false;
  }

  void look_at(const Expr& e) {
    if (e.op == ExprOp::Load) element_use(e.buffer, {e.args.begin(), e.args.size()}, e.type.lanes);
    if (moves_pointer(e) || retypes_pointer(e)) return;
    if (is_call(e, Intrinsic::CopyBytes)) {
      const auto bytes = constant(e.args[2]).value_or(0);
      for (std::size_t i = 0; i < 2; ++i) raw_use(e.args[i], static_cast<int>(bytes) * 8);
      return;
    }
    for (const ExprId arg : e.args) escape(arg);
  }

  // --- decisions ---

  [[nodiscard]] LocalPlan plan_of(const ir::Buffer& buffer, const Record& record) const {
    LocalPlan plan{.is_local = true};
    std::int64_t size = 1;
    for (const ExprId extent : buffer.shape) size *= constant(extent).value_or(0);
    plan.bytes = (size * storage_bits(buffer.dtype) + 7) / 8;
    plan.cell_bits = cell_bits(record);
    const auto fits = [&](const Use& use) { return fits_cells(use, plan); };
    plan.in_registers = record.is_constant && std::ranges::all_of(record.uses, fits);
    plan.cls = cell_class(record, plan.cell_bits);
    plan.type = common_type(record);
    const std::int64_t cells = (plan.bytes * 8 + plan.cell_bits - 1) / plan.cell_bits;
    plan.is_assigned_once.resize(static_cast<std::size_t>(cells));
    for (const auto& [bit, writes] : record.writes) {
      if (writes.count != 1 || !writes.is_beside || !is_element_cell(record, plan, bit)) continue;
      const auto cell = static_cast<std::size_t>(bit / plan.cell_bits);
      if (cell < plan.is_assigned_once.size()) plan.is_assigned_once[cell] = true;
    }
    return plan;
  }

  static int cell_bits(const Record& record) {
    if (record.uses.empty()) return 32;
    const int first = record.uses[0].bits;
    const auto same = [&](const Use& use) { return use.bits == first && use.is_alone; };
    if (first <= 64 && first >= 4 && std::ranges::all_of(record.uses, same)) return first;
    const auto whole = [](const Use& use) { return use.bits % 64 == 0 && use.bit % 64 == 0; };
    return std::ranges::all_of(record.uses, whole) && wide_elements(record) ? 64 : 32;
  }
  static bool wide_elements(const Record& record) {
    return std::ranges::any_of(
        record.uses, [](const Use& use) { return use.type && storage_bits(*use.type) == 64; });
  }

  static std::optional<DType> common_type(const Record& record) {
    if (record.uses.empty()) return std::nullopt;
    const auto first = record.uses[0].type;
    const auto same = [&](const Use& use) { return use.type == first; };
    return std::ranges::all_of(record.uses, same) ? first : std::nullopt;
  }

  static bool fits_cells(const Use& use, const LocalPlan& plan) {
    if (use.bit < 0 || use.bit + use.bits > plan.bytes * 8) return false;
    if (use.bits >= plan.cell_bits) {
      const bool is_narrow = use.type && storage_bits(*use.type) < 8 && plan.cell_bits == 32;
      return use.bit % plan.cell_bits == 0 && use.bits % plan.cell_bits == 0 && !is_narrow;
    }
    const int piece = use.type ? storage_bits(*use.type) : use.bits;
    return (piece == 4 || piece == 8 || piece == 16) && use.bit % piece == 0;
  }

  static Class cell_class(const Record& record, int bits) {
    if (bits == 64) return Class::Rd;
    const auto all_of = [&](auto&& wanted) {
      return !record.uses.empty() && std::ranges::all_of(record.uses, [&](const Use& use) {
        return use.type && wanted(*use.type);
      });
    };
    if (all_of([](DType type) { return type == DType::Bool; }) && bits == 8) return Class::P;
    if (bits != 16) return Class::R;
    const bool ints =
        all_of([](DType type) { return num::kind_of(type) != num::DTypeKind::Float; });
    return ints ? Class::R : Class::Rs;
  }

  // The only accesses of the cell are those of one element that is as wide as the cell.
  static bool is_element_cell(const Record& record, const LocalPlan& plan, std::int64_t bit) {
    return std::ranges::all_of(record.uses, [&](const Use& use) {
      const bool is_apart = use.bit + use.bits <= bit || use.bit >= bit + plan.cell_bits;
      return is_apart || (use.type && use.bit == bit && use.bits == plan.cell_bits);
    });
  }

  const ir::Function& f_;
  const ir::Ranges& ranges_;
  struct Start {
    bool is_known = false;
    std::optional<LocalPlace> place = {};
  };
  std::vector<Record> records_;  // by buffer
  std::vector<ExprId> values_;   // by variable
  std::vector<Start> starts_;    // by buffer: where it begins in its storage
};

}  // namespace

std::vector<LocalPlan> plan_locals(const ir::Function& function, const ir::Ranges& ranges) {
  return Planner(function, ranges).run();
}

std::optional<std::int64_t> constant_of(const ir::Function& function, ExprId expr,
                                        const ir::Ranges& ranges) {
  if (const auto number = ir::const_int(function, expr)) return number;
  const ir::Type type = function[expr].type;
  if (!type.is_scalar() || !type.is_int()) return std::nullopt;
  const ir::Range range = ranges.range(expr);
  return range.min == range.max ? std::optional(range.min) : std::nullopt;
}

Strides strides_of(const ir::Function& function, const ir::Buffer& buffer) {
  Strides strides;
  for (std::size_t i = 0; i < buffer.shape.size(); ++i) strides.push_back(1);
  for (std::size_t i = strides.size(); i-- > 1;) {
    const auto extent = ir::const_int(function, buffer.shape[i]);
    if (!extent) return {};
    strides[i - 1] = strides[i] * *extent;
  }
  return strides;
}

std::optional<std::int64_t> constant_index(const ir::Function& function, const ir::Buffer& buffer,
                                           std::span<const ExprId> indices,
                                           const ir::Ranges& ranges) {
  if (indices.size() == 1 && buffer.shape.size() == 1)
    return constant_of(function, indices[0], ranges);
  const Strides strides = strides_of(function, buffer);
  if (strides.size() != indices.size()) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto number = constant_of(function, indices[i], ranges);
    if (!number) return std::nullopt;
    sum += *number * strides[i];
  }
  return sum;
}

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
