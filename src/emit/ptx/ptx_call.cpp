// SPDX-License-Identifier: Apache-2.0
// Instructions that the program gives itself. The operands are flat; each form that the opcode may
// be of is tried until the checker likes the instruction (as ir/verify/verify.h does, which has
// accepted the program before).
#include <algorithm>

#include "emit/ptx/emitter.h"
#include "isa/check.h"

namespace ww::emit::to_ptx {
namespace {

using ir::PtxOperand;
using isa::OperandSpec;
using isa::Role;

Class class_for(isa::Type type) {
  switch (isa::info(type).bits) {
    case 1:
      return Class::P;
    case 8:
    case 16:
      return Class::Rs;
    case 64:
      return Class::Rd;
    case 128:
      return Class::Rq;
    default:
      return Class::R;
  }
}

Address word_of(Address place, int word) {
  place.bits += std::int64_t{32} * word;
  return place;
}

bool is_shared(isa::Space space) {
  return space == isa::Space::Shared || space == isa::Space::SharedCluster;
}

}  // namespace

// The forms and placements are judged by their shape alone, before anything is written.
bool Emitter::try_form(const ir::PtxCall& call, const isa::Binding& binding,
                       std::span<const ir::PlacedOperand> placed, Guard guard) {
  if (!is_fitting(call, binding, placed)) return false;
  std::vector<Output> outputs;
  std::vector<Arg> args(placed.size());
  // Sources first: a register may be both, and writing gives up what it holds.
  for (const bool is_written : {false, true}) {
    for (std::size_t i = 0; i < placed.size(); ++i)
      if ((placed[i].spec->role == Role::Write) == is_written)
        args[i] = ptx_operand(call, placed[i], binding, guard, outputs);
  }
  code_.add(call.opcode, std::move(args), guard);
  // Registers of this instruction are there after a wait, and may be put elsewhere no earlier.
  if (call.opcode.starts_with("tcgen05.ld.") && !outputs.empty())
    code_.add("tcgen05.wait::ld.sync.aligned", {}, guard);
  for (const Output& output : outputs) write_back(output, guard);
  return true;
}

void Emitter::ptx_call(const ir::PtxCall& call) {
  Guard guard;
  if (call.predicate.valid())
    guard.value = code_.snapshot(code_.in_register(predicate(call.predicate)));
  const isa::Bindings bindings = isa::bind_opcode(call.opcode);
  for (const isa::Binding& binding : bindings.fits) {
    const bool is_done = ir::place_operands(binding, call.operands.size(),
                                            [&](std::span<const ir::PlacedOperand> placed) {
                                              return try_form(call, binding, placed, guard);
                                            });
    if (is_done) return;
  }
  refuse(DiagKind::NotEmitted, "no form of `{}` takes {} operands like these", call.opcode,
         call.operands.size());
}

// Do the operands go where this placement puts them? Addresses must be where addresses are wanted,
// and widths must agree.
bool Emitter::is_fitting(const ir::PtxCall& call, const isa::Binding& binding,
                         std::span<const ir::PlacedOperand> placed) const {
  for (const ir::PlacedOperand& one : placed) {
    const OperandSpec& spec = *one.spec;
    const auto type = isa::type_of(spec, binding);
    for (std::size_t i = 0; i < one.count; ++i) {
      const PtxOperand& operand = call.operands[one.first + i];
      const bool wants_address = spec.role == Role::Address && i == 0;
      const bool is_address = operand.kind == PtxOperand::Kind::Address;
      if (wants_address ? !is_address : is_address) return false;
      if (wants_address || spec.role == Role::Address || !type) continue;
      if (!fits_type(operand, spec, i >= one.main ? isa::Type::Pred : *type)) return false;
    }
  }
  return true;
}

bool Emitter::fits_type(const PtxOperand& operand, const OperandSpec& spec, isa::Type type) const {
  const bool wants_predicate = type == isa::Type::Pred;
  if (operand.kind == PtxOperand::Kind::Sink) return true;
  if (operand.kind == PtxOperand::Kind::Predicate) return wants_predicate;
  if (operand.kind == PtxOperand::Kind::At)
    return isa::info(type).bits == 32 || type == isa::Type::B128;
  const ir::Expr& e = f_[operand.expr];
  if (e.op == ExprOp::IntImm && spec.role != Role::Write) return true;
  if (wants_predicate) return e.type.is_bool() || e.type.is_int();
  const int bits = e.type.is_pointer() ? 64 : storage_bits(e.type.dtype) * e.type.lanes;
  return bits == isa::info(type).bits || (spec.wider && bits > isa::info(type).bits);
}

// --- operands ------------------------------------------------------------------------------------

Arg Emitter::ptx_operand(const ir::PtxCall& call, const ir::PlacedOperand& placed,
                         const isa::Binding& binding, Guard guard, std::vector<Output>& outputs) {
  const std::span<const PtxOperand> own =
      std::span(call.operands).subspan(placed.first, placed.count);
  const OperandSpec& spec = *placed.spec;
  if (spec.role == Role::Address) return ptx_address(own, spec, binding);
  const auto type = isa::type_of(spec, binding);
  const bool is_listed = isa::count_of(spec, binding).has_value();
  std::vector<Arg> parts;
  for (std::size_t i = 0; i < placed.main; ++i)
    parts.push_back(ptx_one(own[i], spec, type, is_listed, guard, outputs));
  Arg main = is_listed ? vector_arg(std::move(parts)) : std::move(parts[0]);
  if (placed.count == placed.main) return main;
  return pair_arg(std::move(main),
                  ptx_one(own[placed.main], spec, isa::Type::Pred, true, guard, outputs));
}

Arg Emitter::ptx_one(const PtxOperand& operand, const OperandSpec& spec,
                     std::optional<isa::Type> type, bool is_listed, Guard guard,
                     std::vector<Output>& outputs) {
  if (operand.kind == PtxOperand::Kind::Sink) return {};
  if (spec.role == Role::Write) return ptx_target(operand, type, guard, outputs);
  return ptx_source(operand, spec, type, is_listed);
}

// The 32 bits of private memory at a place.
Value Emitter::word_at(const Address& place) {
  if (place.space == Space::Registers)
    return code_.in_register(locals_.cell(place.storage, place.bits));
  return load_run(place, DType::Uint32, 1)[0];
}

Arg Emitter::ptx_source(const PtxOperand& operand, const OperandSpec& spec,
                        std::optional<isa::Type> type, bool is_listed) {
  if (operand.kind == PtxOperand::Kind::At) {
    const Address place = address(operand.expr);
    if (type != isa::Type::B128) return word_at(place);
    std::vector<Value> words;
    for (int i = 0; i < 4; ++i) words.push_back(word_at(word_of(place, i)));
    return code_.pure("mov.b128", Class::Rq, {vector_arg(words)});
  }
  const ir::Expr& e = f_[operand.expr];
  const bool is_predicate = type == isa::Type::Pred || operand.kind == PtxOperand::Kind::Predicate;
  if (is_predicate) return code_.in_register(predicate(operand.expr));
  const bool is_number = e.op == ExprOp::IntImm && (!type || isa::is_whole(*type));
  if (is_number && (spec.role == Role::Immediate || (!is_listed && !spec.register_only)))
    return int_value(e.integer, type ? class_for(*type) : Class::R);
  return in_class(operand.expr, type ? class_for(*type) : Class::R);
}

// The bits of an expression in a register of that class.
Value Emitter::in_class(ExprId expr, Class cls) {
  const ir::Type type = f_[expr].type;
  if (type.is_pointer()) return generic(address(expr));
  const Lanes values = lanes(expr);
  if (values.size() == 1) return code_.in_register(raw(values[0], type.dtype, cls));
  const std::vector<Value> words = words_of(values, type.dtype);
  if (words.size() == 1) return words[0];
  if (cls == Class::Rq) return code_.pure("mov.b128", cls, {vector_arg(words)});
  return code_.pure("mov.b64", Class::Rd, {vector_arg(words)});
}

// A cell of a register array is written by the instruction itself, everything else afterwards.
Arg Emitter::ptx_target(const PtxOperand& operand, std::optional<isa::Type> type, Guard guard,
                        std::vector<Output>& outputs) {
  const ir::Expr& e = f_[operand.expr];
  const bool is_at = operand.kind == PtxOperand::Kind::At;
  const bool is_wide = type == isa::Type::B128;
  const Class cls = (is_at && !is_wide) || !type ? Class::R : class_for(*type);
  const Address place =
      is_at ? address(operand.expr) : element(e.buffer, {e.args.begin(), e.args.size()});
  if (place.space == Space::Registers) {
    const LocalPlan& plan = locals_.plan(place.storage);
    const int bits = is_at ? 32 : storage_bits(f_[e.buffer].dtype);
    if (plan.cls == cls && plan.cell_bits == bits && bits >= 32)
      return locals_.cell_to_write(place.storage, place.bits, guard.present());
  }
  outputs.push_back({operand, code_.new_register(cls)});
  return outputs.back().value;
}

void Emitter::write_back(const Output& output, Guard guard) {
  const ir::Expr& e = f_[output.operand.expr];
  const bool is_at = output.operand.kind == PtxOperand::Kind::At;
  const DType type = is_at ? DType::Uint32 : f_[e.buffer].dtype;
  const Address place =
      is_at ? address(output.operand.expr) : element(e.buffer, {e.args.begin(), e.args.size()});
  Value value = output.value;
  if (value.cls == Class::Rq) {
    const std::vector<Value> words = code_.pure_vector("mov.b128", Class::R, 4, {value});
    for (int i = 0; i < 4; ++i)
      store_run(word_of(place, i), type, {words[static_cast<std::size_t>(i)]}, code_.now(), guard);
    return;
  }
  if (value.cls == Class::P && type != DType::Bool)
    value = cast(value, DType::Bool, type);
  else if (value.cls != Class::P)
    value = type == DType::Bool ? is_not_zero(DType::Uint32, value) : from_raw(value, type);
  store_run(place, type, {value}, code_.now(), guard);
}

// --- addresses -----------------------------------------------------------------------------------

Arg Emitter::ptx_address(std::span<const PtxOperand> own, const OperandSpec& spec,
                         const isa::Binding& binding) {
  const PtxOperand& base = own[0];
  const ir::Expr& e = f_[base.expr];
  const isa::Space space = isa::space_of(spec, binding);
  Arg out;
  if (e.type.is_pointer()) {
    Address place = address(base.expr);
    if (base.offset.valid()) add_index(place, base.offset, 8);
    out = space_address(std::move(place), space);
  } else {
    const Class cls = num::bits_of(e.type.dtype) == 64 ? Class::Rd : Class::R;
    Address place{.space = cls == Class::R ? Space::Shared : Space::Generic};
    place.base = code_.in_register(eval(base.expr));
    if (base.offset.valid()) add_index(place, base.offset, 8);
    out = operand(place);
  }
  if (own.size() == 1) return out;
  std::vector<Arg> coordinates;
  for (const PtxOperand& one : own.subspan(1))
    coordinates.emplace_back(in_class(one.expr, Class::R));
  out.parts.push_back(vector_arg(std::move(coordinates)));
  return out;
}

// The address as the instruction's state space counts it.
Arg Emitter::space_address(Address place, isa::Space space) {
  const Space wanted = is_shared(space)              ? Space::Shared
                       : space == isa::Space::Global ? Space::Global
                       : space == isa::Space::Local  ? Space::Local
                                                     : Space::Generic;
  if (place.space == wanted) return operand(place);
  if (wanted == Space::Generic) return address_arg(generic(place), 0);
  if (place.space == Space::Generic) return address_arg(window(place, wanted), 0);
  refuse(DiagKind::NotEmitted, "an address in {} memory, expected one in {} memory",
         place.space == Space::Registers ? ".register" : suffix_of(place.space), suffix_of(wanted));
  return address_arg(int_value(0), 0);
}

}  // namespace ww::emit::to_ptx
