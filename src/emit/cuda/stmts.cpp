// SPDX-License-Identifier: Apache-2.0
// Statements.
#include "emit/cuda/stmts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/join.h"
#include "base/printable.h"
#include "base/result.h"
#include "base/wide.h"
#include "emit/cuda/calls.h"
#include "emit/cuda/context.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/names.h"
#include "emit/cuda/pending.h"
#include "emit/cuda/types.h"
#include "ir/equal.h"
#include "ir/known_words.h"
#include "ir/tensor_map.h"
#include "isa/check.h"
#include "target/target.h"

namespace ww::emit::cuda {
namespace {

using ir::LoopKind;
using ir::PlacedOperand;
using ir::PtxCall;
using ir::PtxOperand;
using ir::PtxOperandKind;
using isa::OperandSpec;
using isa::Role;

// --- instructions --------------------------------------------------------------------------------
//
// PTX instructions: a call of the function that holds the instruction.

// --- ptx helper ----------------------------------------------------------------------------------
//
// A PTX instruction as a function with one `asm` statement. Its parameters are the operands of the
// call in their order: destinations by reference (or as a pointer to the register's 32 bits),
// addresses as pointers or numbers, values by their types, predicates as bool.
//
//     __forceinline__ __device__ void ptx_ld_shared_v2_f32(float& d0, float& d1, void* a) {
//       const uint32_t a_addr = static_cast<uint32_t>(__cvta_generic_to_shared(a));
//       float d0_reg, d1_reg;
//       asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
//                    : "=f"(d0_reg), "=f"(d1_reg) : "r"(a_addr) : "memory");
//       d0 = d0_reg;
//       d1 = d1_reg;
//     }

/// A call's operands in their places of the instruction.
struct PlacedCall {
  isa::Binding binding;
  std::vector<ir::PlacedOperand> operands;
};

/// The first form and placement that the operands fit. NotOnTarget where the target has none of the
/// forms, NotEmitted where the operands fit none.
Result<PlacedCall> place_call(const ir::Function& f, const ir::PtxCall& call,
                              target::Target target);

/// The function for a call.
struct PtxHelper {
  std::string name;
  std::string text;
  std::vector<std::size_t> order;  // which of the call's operands each parameter stands for
  bool needs_bitcast = false;
  bool hides_words = false;  // needs `ww_hidden_zero`
};
/// `waits`: a `tcgen05.ld` with the wait for it, see pending.h. Words that `known` wants hidden come
/// out of `ww_hidden_zero`. Fails with NotEmitted for registers
/// that CUDA C++ cannot pass.
Result<PtxHelper> ptx_helper(const ir::Function& f, const ir::PtxCall& call,
                             const PlacedCall& placed, const ir::KnownWords& known, bool waits);

/// A constant that stands in the instruction itself.
bool is_immediate(const ir::Function& f, const ir::PtxOperand& operand,
                  const isa::OperandSpec& spec);

// A register of the asm statement: its constraint and the C++ type bound to it.
struct Register {
  char constraint = 'r';
  std::string_view type = "uint32_t";
};

Register int_register(int bits) {
  if (bits == 16) return {'h', "uint16_t"};
  if (bits == 64) return {'l', "uint64_t"};
  return {};
}

constexpr Register kWide = {'q', "unsigned __int128"};

Register register_of(ir::Type type, std::optional<isa::Type> wanted) {
  if (wanted == isa::Type::B128) return kWide;
  const bool is_bits = !wanted || isa::info(*wanted).cls == isa::TypeClass::Bits;
  const bool is_float = type.is_float() && type.lanes == 1;
  if (is_float && type.dtype == num::DType::Float32 && (is_bits || wanted == isa::Type::F32))
    return {'f', "float"};
  if (is_float && type.dtype == num::DType::Float64 && (is_bits || wanted == isa::Type::F64))
    return {'d', "double"};
  return int_register(register_bits(type));
}

/// The helper while it is made: the operands' parameters, and what stands around and in the asm.
struct Draft {
  const ir::Function& f;
  const PtxCall& call;
  const PlacedCall& placed;
  const ir::KnownWords& known;
  bool is_tensor_load = false;
  bool adds_in_place = false;
  bool reads_destination = false;  // keeps or adds to what it holds
  bool is_matrix_copy = false;     // with the names that such copies have always had
  bool touches_memory = false;
  bool is_hidden = false;  // the operand being written, from ptxas
  PtxHelper out = {};
  std::string name = {}, suffix = {};
  std::string problem = {};
  std::string sums = {};  // the text of operand `d`
  std::vector<std::string> templates = {}, params = {};
  std::vector<std::string> before = {}, after = {};  // statements of C++
  std::vector<std::string> outputs = {}, inputs = {};
  std::vector<std::string> declarations = {}, prologue = {}, epilogue = {};  // of PTX
  std::size_t next_output = 0, next_input = 0;
};

std::size_t count_outputs(const Draft& h) {
  std::size_t count = 0;
  for (const PlacedOperand& operand : h.placed.operands)
    for (std::size_t i = 0; i < operand.count; ++i)
      if (operand.spec->role == Role::Write &&
          h.call.operands[operand.first + i].kind != PtxOperandKind::Sink)
        ++count;
  return count;
}

// A product whose sums are taken from the registers that they go into: `d += a · b`.
bool adds_in_place(const Draft& h) {
  if (h.call.opcode.mnemonic() != "mma" || h.placed.binding.has("sp")) return false;
  const auto named = [&](std::string_view name) {
    return std::ranges::find_if(h.placed.operands, [&](const PlacedOperand& operand) {
      return operand.spec->name == name;
    });
  };
  const auto d = named("d"), c = named("c");
  if (d == h.placed.operands.end() || c == h.placed.operands.end() || d->count != c->count)
    return false;
  for (std::size_t i = 0; i < d->count; ++i) {
    const PtxOperand& to = h.call.operands[d->first + i];
    const PtxOperand& from = h.call.operands[c->first + i];
    const bool is_same = to.kind == from.kind && to.kind != PtxOperandKind::Sink &&
                         ir::same(h.f, to.expr, from.expr) &&
                         to.offset.valid() == from.offset.valid();
    if (!is_same || (to.offset.valid() && !ir::same(h.f, to.offset, from.offset))) return false;
  }
  return true;
}

// A copy of 8x8 matrices between shared memory and registers behind pointers.
bool is_matrix_copy(const Draft& h) {
  const isa::Binding& binding = h.placed.binding;
  const isa::Mnemonic called = h.call.opcode.mnemonic();
  return (called == "ldmatrix" || called == "stmatrix") && binding.word("shape") == "m8n8" &&
         binding.word("type") == "b16" &&
         binding.word("space").is_one_of({"shared", "shared::cta"}) && !h.call.predicate.valid() &&
         std::ranges::all_of(h.call.operands, [](const PtxOperand& operand) {
           return operand.kind == PtxOperandKind::At || operand.kind == PtxOperandKind::Address;
         });
}

std::string too_wide(Draft& h, ir::Type type) {
  h.problem = fmt::format("`{}` takes a register of `{}`, which is wider than 64 bits",
                          h.call.opcode.text(), ir::to_text(type));
  return "0";
}

// --- parameters and registers --------------------------------------------------------------------

void add_parameter(Draft& h, std::size_t number, const std::string& text) {
  h.out.order.push_back(number);
  h.params.push_back(text);
}

std::string add_output(Draft& h, const Register& reg, const std::string& name) {
  h.outputs.push_back(
      fmt::format("\"{}{}\"({})", h.reads_destination ? '+' : '=', reg.constraint, name));
  return fmt::format("%{}", h.next_output++);
}

std::string add_input(Draft& h, const Register& reg, const std::string& value) {
  const std::string hidden =
      h.is_hidden ? fmt::format("static_cast<{}>({} ^ zero)", reg.type, value) : value;
  h.inputs.push_back(fmt::format("\"{}\"({})", reg.constraint, hidden));
  return fmt::format("%{}", h.next_input++);
}

// --- between C++ values and registers ------------------------------------------------------------

std::string_view bits_type(ir::Type type, const Register& reg) {
  return reg.constraint == kWide.constraint ? reg.type : unsigned_type(register_bits(type));
}

// A pointer, float or integer is the register; other values are its bits.
std::string raw_text(Draft& h, ir::Type type, const std::string& name, const Register& reg) {
  if (type.is_pointer()) return fmt::format("reinterpret_cast<uint64_t>({})", name);
  if (reg.constraint == 'f' || reg.constraint == 'd') return name;
  const bool is_plain = type.lanes == 1 && !type.is_float();
  if (is_plain) return fmt::format("static_cast<{}>({})", reg.type, name);
  h.out.needs_bitcast = true;
  const std::string_view bits = bits_type(type, reg);
  const std::string cast = fmt::format("ww_bitcast<{}>({})", bits, name);
  return bits == reg.type ? cast : fmt::format("static_cast<{}>({})", reg.type, cast);
}

std::string value_text(Draft& h, ir::Type type, const std::string& lvalue, const std::string& name,
                       const Register& reg) {
  if (type.is_bool()) return name + " != 0";
  if (reg.constraint == 'f' || reg.constraint == 'd') return name;
  if (type.lanes == 1 && !type.is_float()) return fmt::format("static_cast<{}>({})", lvalue, name);
  h.out.needs_bitcast = true;
  const std::string_view bits = bits_type(type, reg);
  return bits == reg.type ? fmt::format("ww_bitcast<{}>({})", lvalue, name)
                          : fmt::format("ww_bitcast<{}>({}({}))", lvalue, bits, name);
}

std::string predicate_in(Draft& h, const std::string& place, const std::string& name) {
  h.declarations.push_back(fmt::format(".reg .pred p_{};", name));
  h.prologue.push_back(fmt::format("setp.ne.b32 p_{}, {}, 0;", name, place));
  return "p_" + name;
}

std::string predicate_out(Draft& h, const std::string& place, const std::string& name) {
  h.declarations.push_back(fmt::format(".reg .pred p_{};", name));
  if (h.reads_destination)
    h.prologue.push_back(fmt::format("setp.ne.b32 p_{}, {}, 0;", name, place));
  h.epilogue.push_back(fmt::format("selp.b32 {}, 1, 0, p_{};", place, name));
  return "p_" + name;
}

// asm has no constraint for registers of 8 bits.
bool is_byte(ir::Type type, std::optional<isa::Type> wanted) {
  return wanted && isa::info(*wanted).bits == 8 && register_bits(type) == 8;
}

std::string byte_in(Draft& h, const std::string& place, const std::string& name) {
  h.declarations.push_back(fmt::format(".reg .b8 b_{};", name));
  h.prologue.push_back(fmt::format("cvt.u8.u32 b_{}, {};", name, place));
  return "b_" + name;
}

std::string byte_out(Draft& h, const std::string& place, const std::string& name) {
  h.declarations.push_back(fmt::format(".reg .b8 b_{};", name));
  if (h.reads_destination) h.prologue.push_back(fmt::format("cvt.u8.u32 b_{}, {};", name, place));
  h.epilogue.push_back(fmt::format("cvt.u32.u8 {}, b_{};", place, name));
  return "b_" + name;
}

// --- operands ------------------------------------------------------------------------------------

// Four words behind a pointer, which need not be aligned as one.
std::string wide_at(Draft& h, std::size_t number, const OperandSpec& spec,
                    const std::string& name) {
  add_parameter(h, number, fmt::format("void* {}", name));
  const bool is_written = spec.role == Role::Write;
  h.before.push_back(fmt::format("{} {}_reg;", kWide.type, name));
  if (!is_written || h.reads_destination)
    h.before.push_back(fmt::format("memcpy(&{0}_reg, {0}, sizeof {0}_reg);", name));
  if (!is_written) return add_input(h, kWide, name + "_reg");
  h.after.push_back(fmt::format("memcpy({0}, &{0}_reg, sizeof {0}_reg);", name));
  return add_output(h, kWide, name + "_reg");
}

// A register behind a pointer.
std::string register_at(Draft& h, std::size_t number, const OperandSpec& spec,
                        std::optional<isa::Type> wanted, const std::string& name) {
  if (wanted == isa::Type::B128) return wide_at(h, number, spec, name);
  const bool is_float = wanted == isa::Type::F32 && !h.is_tensor_load;
  const Register reg = is_float ? Register{'f', "float"} : Register{};
  add_parameter(h, number, fmt::format("void* {}", name));
  const std::string place = fmt::format("*static_cast<{}*>({})", reg.type, name);
  if (spec.role != Role::Write) return add_input(h, reg, place);
  h.before.push_back(
      fmt::format("{} {}_reg{};", reg.type, name, h.reads_destination ? " = " + place : ""));
  h.after.push_back(fmt::format("{} = {}_reg;", place, name));
  return add_output(h, reg, name + "_reg");
}

// An element of a buffer, by reference. A plain scalar is a bool, an element in memory a byte.
std::string written_element(Draft& h, std::size_t number, std::optional<isa::Type> wanted,
                            const std::string& name) {
  const ir::Type type = h.f[h.call.operands[number].expr].type;
  const bool is_pred = wanted == isa::Type::Pred;
  // Words to nvcc until they are there: turning them into floats would be a use.
  const Register reg = is_pred || h.is_tensor_load ? Register{} : register_of(type, wanted);
  if (register_bits(type) > 64 && wanted != isa::Type::B128) return too_wide(h, type);
  std::string lvalue = memory_type(type);
  if (type.is_bool()) {
    lvalue = fmt::format("T{}", h.templates.size());
    h.templates.push_back("typename " + lvalue);
  }
  add_parameter(h, number, fmt::format("{}& {}", lvalue, name));
  h.before.push_back(fmt::format("{} {}_reg{};", reg.type, name,
                                 h.reads_destination ? " = " + raw_text(h, type, name, reg) : ""));
  h.after.push_back(fmt::format("{} = {};", name, value_text(h, type, lvalue, name + "_reg", reg)));
  const std::string place = add_output(h, reg, name + "_reg");
  if (is_pred) return predicate_out(h, place, name);
  return is_byte(type, wanted) ? byte_out(h, place, name) : place;
}

std::string read_value(Draft& h, std::size_t number, std::optional<isa::Type> wanted,
                       const std::string& name) {
  const PtxOperand& operand = h.call.operands[number];
  const ir::Type type = h.f[operand.expr].type;
  if (wanted == isa::Type::Pred || operand.kind == PtxOperandKind::Predicate) {
    add_parameter(h, number, fmt::format("bool {}", name));
    return predicate_in(h, add_input(h, {}, fmt::format("static_cast<uint32_t>({})", name)), name);
  }
  if (register_bits(type) > 64 && wanted != isa::Type::B128) return too_wide(h, type);
  add_parameter(h, number, fmt::format("{} {}", type_text(type), name));
  const Register reg = register_of(type, wanted);
  const std::string place = add_input(h, reg, raw_text(h, type, name, reg));
  return is_byte(type, wanted) ? byte_in(h, place, name) : place;
}

// From a generic pointer to an address of the state space.
std::string window_address(isa::Space space, std::string_view type, const std::string& name) {
  std::string_view window;
  if (space == isa::Space::Shared || space == isa::Space::SharedCluster) window = "shared";
  if (space == isa::Space::Global) window = "global";
  if (space == isa::Space::Local) window = "local";
  if (space == isa::Space::Const) window = "constant";
  if (window.empty()) return fmt::format("reinterpret_cast<{}>({})", type, name);
  return fmt::format("static_cast<{}>(__cvta_generic_to_{}({}))", type, window, name);
}

std::string base_address(Draft& h, const PlacedOperand& placed) {
  const ir::Type type = h.f[h.call.operands[placed.first].expr].type;
  const std::string name = h.is_matrix_copy ? "smem_ptr" : as_identifier(placed.spec->name);
  // That of a tensor map, which coordinates follow, is a generic one.
  const isa::Space space =
      placed.count > 1 ? isa::Space::Generic : isa::space_of(*placed.spec, h.placed.binding);
  h.touches_memory |= space != isa::Space::Tensor;
  if (!type.is_pointer()) {
    add_parameter(h, placed.first, fmt::format("{} {}", type_text(type), name));
    const Register reg = int_register(register_bits(type));
    return add_input(h, reg, fmt::format("static_cast<{}>({})", reg.type, name));
  }
  add_parameter(h, placed.first, fmt::format("void* {}", name));
  const bool is_shared = space == isa::Space::Shared || space == isa::Space::SharedCluster;
  const std::string_view type_text = is_shared ? "uint32_t" : "uint64_t";
  h.before.push_back(fmt::format("const {} {}_addr = {};", type_text, name,
                                 window_address(space, type_text, name)));
  return add_input(h, int_register(is_shared ? 32 : 64), name + "_addr");
}

std::string address_text(Draft& h, const PlacedOperand& placed) {
  const std::string base = base_address(h, placed);
  std::vector<std::string> coordinates;
  for (std::size_t i = 1; i < placed.count; ++i)
    coordinates.push_back(
        read_value(h, placed.first + i, isa::Type::S32,
                   fmt::format("{}_at{}", as_identifier(placed.spec->name), i - 1)));
  if (coordinates.empty()) return fmt::format("[{}]", base);
  return fmt::format("[{}, {{{}}}]", base, join(coordinates, ", "));
}

std::string register_text(Draft& h, std::size_t number, const OperandSpec& spec,
                          std::optional<isa::Type> wanted, const std::string& name) {
  const PtxOperand& operand = h.call.operands[number];
  if (operand.kind == PtxOperandKind::Sink) {
    h.suffix += "_sink";
    return "_";
  }
  if (is_immediate(h.f, operand, spec)) {
    const std::int64_t value = h.f[operand.expr].integer;
    h.suffix += value < 0 ? fmt::format("_m{}", -value) : fmt::format("_{}", value);
    return fmt::format("{}", value);
  }
  if (operand.kind == PtxOperandKind::At) return register_at(h, number, spec, wanted, name);
  if (spec.role == Role::Write) return written_element(h, number, wanted, name);
  return read_value(h, number, wanted, name);
}

std::string part_name(const Draft& h, const OperandSpec& spec, std::size_t i, bool is_list) {
  std::string name = as_identifier(spec.name);
  if (h.is_matrix_copy) name = spec.role == Role::Write ? "dst" : "src";
  return is_list ? fmt::format("{}{}", name, i) : name;
}

std::string operand_text(Draft& h, const PlacedOperand& placed) {
  const OperandSpec& spec = *placed.spec;
  if (h.adds_in_place && spec.name == "c") {
    h.suffix += "_in_place";
    return h.sums;
  }
  if (spec.role == Role::Address) return address_text(h, placed);
  const auto type = isa::type_of(spec, h.placed.binding);
  const bool is_list = isa::count_of(spec, h.placed.binding).has_value();
  h.is_hidden = h.known.must_hide(h.call, h.placed.binding, placed);
  if (h.is_hidden) {
    if (!h.out.hides_words) h.before.emplace_back("const uint32_t zero = ww_hidden_zero();");
    h.out.hides_words = true;
    h.suffix += fmt::format("_hidden_{}", spec.name);
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < placed.main; ++i)
    parts.push_back(register_text(h, placed.first + i, spec, type, part_name(h, spec, i, is_list)));
  h.is_hidden = false;
  std::string out = is_list ? fmt::format("{{{}}}", join(parts, ", ")) : parts[0];
  if (placed.count > placed.main)
    out += "|" + register_text(h, placed.first + placed.main, spec, isa::Type::Pred,
                               std::string(spec.name) + "_is_set");
  if (spec.name == "d") h.sums = out;
  return out;
}

std::string guarded_text(Draft& h, const std::string& instruction) {
  h.suffix += "_pred";
  h.params.emplace_back("bool pred");
  return fmt::format("@{} {}",
                     predicate_in(h, add_input(h, {}, "static_cast<uint32_t>(pred)"), "pred"),
                     instruction);
}

// --- the whole -----------------------------------------------------------------------------------

std::string asm_text(const Draft& h) {
  std::vector<std::string> lines = h.declarations;
  lines.insert(lines.end(), h.prologue.begin(), h.prologue.end());
  lines.insert(lines.end(), h.epilogue.begin(), h.epilogue.end());
  if (lines.size() == 1) return fmt::format("\"{}\"", lines[0]);
  std::string out = "\"{\\n\"\n";
  for (const std::string& line : lines) out += fmt::format("               \"{}\\n\"\n", line);
  return out + "               \"}\"";
}

std::string helper_text(const Draft& h) {
  std::string out;
  if (!h.templates.empty()) out = fmt::format("template <{}>\n", join(h.templates, ", "));
  out +=
      fmt::format("__forceinline__ __device__ void {}({}) {{\n", h.out.name, join(h.params, ", "));
  for (const std::string& line : h.before) out += fmt::format("  {}\n", line);
  out += fmt::format("  asm volatile({}\n", asm_text(h));
  const bool clobbers = h.touches_memory || h.outputs.empty();
  out += fmt::format("               : {}\n", join(h.outputs, ", "));
  out += fmt::format("               : {}{});\n", join(h.inputs, ", "),
                     clobbers ? "\n               : \"memory\"" : "");
  for (const std::string& line : h.after) out += fmt::format("  {}\n", line);
  return out + "}\n";
}

// The pointer to shared memory comes first.
void name_matrix_copy(Draft& h) {
  const isa::Binding& binding = h.placed.binding;
  const int trans = binding.has("trans") ? 1 : 0;
  const int number = binding.number("num");
  if (h.call.opcode.mnemonic() == "stmatrix") {
    h.name = fmt::format("stmatrix_m8n8_{}_{}_shared_b16", number, trans);
    return;
  }
  h.name = fmt::format("ldmatrix_{}_b16_{}", number, trans);
  std::rotate(h.params.begin(), h.params.end() - 1, h.params.end());
  std::rotate(h.out.order.begin(), h.out.order.end() - 1, h.out.order.end());
}

Result<PtxHelper> finished(Draft& h, bool waits) {
  h.next_input = count_outputs(h);
  h.name = h.call.opcode.text();
  std::string instruction = h.call.opcode.text();
  bool is_first = true;
  for (const PlacedOperand& operand : h.placed.operands) {
    instruction += fmt::format("{}{}", is_first ? " " : ", ", operand_text(h, operand));
    is_first = false;
  }
  if (h.call.predicate.valid()) instruction = guarded_text(h, instruction);
  if (!h.problem.empty()) return fail(DiagKind::NotEmitted, "{}", h.problem);
  h.prologue.push_back(instruction + ";");
  if (waits) {
    h.prologue.emplace_back("tcgen05.wait::ld.sync.aligned;");
    h.suffix += "_and_wait";
  }
  if (h.is_matrix_copy) name_matrix_copy(h);
  h.out.name = "ptx_" + as_identifier(h.name + h.suffix);
  h.out.text = helper_text(h);
  return std::move(h.out);
}

Result<PtxHelper> ptx_helper(const ir::Function& f, const PtxCall& call, const PlacedCall& placed,
                             const ir::KnownWords& known, bool waits) {
  Draft draft{f, call, placed, known, ir::is_tensor_load(call)};
  draft.adds_in_place = adds_in_place(draft);
  draft.is_matrix_copy = is_matrix_copy(draft);
  draft.reads_destination =
      call.predicate.valid() || ir::is_async_product(call) || draft.adds_in_place;
  return finished(draft, waits);
}

// --- place call ----------------------------------------------------------------------------------
//
// Which operand of a call goes where in its instruction.

bool fits_register(const ir::Function& f, const PtxOperand& operand, const OperandSpec& spec,
                   std::optional<isa::Type> wanted) {
  if (operand.kind == PtxOperandKind::Sink) return spec.role == Role::Write;
  const ir::Type type = f[operand.expr].type;
  if (!wanted) return true;
  if (*wanted == isa::Type::Pred) return type.is_value() && !type.is_float();
  const int bits = isa::info(*wanted).bits;
  if (operand.kind == PtxOperandKind::At) return bits == 32 || *wanted == isa::Type::B128;
  if (f[operand.expr].op == ExprOp::IntImm && spec.role != Role::Write) return true;
  return register_bits(type) == bits || (spec.wider && register_bits(type) > bits);
}

bool fits(const ir::Function& f, const PtxCall& call, const PlacedOperand& placed,
          const isa::Binding& binding) {
  const OperandSpec& spec = *placed.spec;
  const auto wanted = isa::type_of(spec, binding);
  for (std::size_t i = 0; i < placed.count; ++i) {
    const PtxOperand& operand = call.operands[placed.first + i];
    const bool is_base = spec.role == Role::Address && i == 0;
    if (is_base != (operand.kind == PtxOperandKind::Address)) return false;
    if (is_base || spec.role == Role::Address) continue;
    if (spec.role == Role::Immediate && f[operand.expr].op != ExprOp::IntImm) return false;
    if (spec.role == Role::Label || spec.role == Role::Rest) return false;
    const auto type = i < placed.main ? wanted : std::optional(isa::Type::Pred);
    if (spec.role != Role::Immediate && !fits_register(f, operand, spec, type)) return false;
  }
  return true;
}

bool is_immediate(const ir::Function& f, const PtxOperand& operand, const OperandSpec& spec) {
  const bool is_limited = !spec.values.empty() || spec.low <= spec.high;
  return operand.expr.valid() && f[operand.expr].op == ExprOp::IntImm &&
         operand.kind == PtxOperandKind::Value && (spec.role == Role::Immediate || is_limited);
}

Result<PlacedCall> place_call(const ir::Function& f, const PtxCall& call, target::Target target) {
  if (call.opcode.forms().empty())
    return fail(DiagKind::NotEmitted, "{}", call.opcode.misfit().text);
  std::optional<Diag> missing;
  for (const isa::Binding& binding : call.opcode.forms()) {
    PlacedCall out{binding, {}};
    const bool is_placed = ir::place_operands(
        binding, call.operands.size(), [&](std::span<const PlacedOperand> placed) {
          out.operands.assign(placed.begin(), placed.end());
          return std::ranges::all_of(placed, [&](const PlacedOperand& operand) {
            return fits(f, call, operand, binding);
          });
        });
    if (!is_placed) continue;
    std::optional<Diag> problem = isa::missing_on(binding, target);
    if (!problem) return out;
    if (!missing) missing = std::move(problem);
  }
  if (missing) return fail(*std::move(missing));
  return fail(DiagKind::NotEmitted, "the operands of `{}` fit no form of it, such as `{}`",
              call.opcode.text(), isa::syntax_line(call.opcode.binding().form()));
}

// Destinations are passed by reference.
std::string ptx_operand(Context& c, const PtxOperand& operand, const PlacedCall& placed,
                        std::size_t number) {
  const Expr& e = c.f[operand.expr];
  if (operand.kind == PtxOperandKind::Address && operand.offset.valid()) {
    if (!e.type.is_pointer())
      return fmt::format("{} + {}", expr(c, operand.expr, kSum), expr(c, operand.offset, kProduct));
    return fmt::format("{}<uint8_t>({}, {})", c.helpers.use("tvm_builtin_byte_offset"),
                       expr(c, operand.expr), expr(c, operand.offset));
  }
  bool is_written = false;
  for (const ir::PlacedOperand& group : placed.operands)
    is_written |= group.spec->role == isa::Role::Write && number >= group.first &&
                  number < group.first + group.count;
  if (!is_written || operand.kind != PtxOperandKind::Value) return expr(c, operand.expr);
  if (e.op != ExprOp::Load)
    return refuse(c, e.span, "a PTX instruction writes to an expression, expected an element");
  return element(c, e.buffer, e.args, e.span);
}

void ptx_call(Context& c, const Stmt& s) {
  const ir::PtxCall& call = c.f[s.ptx];
  auto placed = place_call(c.f, call, c.options.target);
  if (!placed) return static_cast<void>(refuse(c, std::move(placed).error().with_span(s.span)));
  const bool waits = ir::is_tensor_load(call) && c.pending.waits_itself(call);
  if (ir::is_async_product(call) && c.pending.waits_itself(call))
    return static_cast<void>(refuse(
        c, s.span, "`{}` writes to memory, expected registers: its sums are indexed at run time",
        call.opcode.text()));
  auto helper = ptx_helper(c.f, call, *placed, c.known, waits);
  if (!helper) return static_cast<void>(refuse(c, std::move(helper).error().with_span(s.span)));
  if (helper->needs_bitcast) c.helpers.use("ww_bitcast");
  if (helper->hides_words) c.helpers.use("ww_hidden_zero");
  c.helpers.add(helper->name, helper->text);
  std::vector<std::string> args;
  for (const std::size_t number : helper->order)
    args.push_back(ptx_operand(c, call.operands[number], *placed, number));
  if (call.predicate.valid()) args.push_back(expr(c, call.predicate));
  line(c, "{}({});", helper->name, join(args, ", "));
}

// What follows a statement that waits for registers of `tcgen05.ld`.
void settle(Context& c, const Stmt& s) {
  for (const BufferId storage : c.pending.settled_by(s)) {
    const DType dtype = c.f[storage].dtype;
    std::int64_t bits = is_packed(dtype) ? num::bits_of(dtype) : bytes_of(dtype) * 8;
    for (const ExprId extent : c.f[storage].shape) bits *= ir::const_int(c.f, extent).value_or(0);
    const bool is_float = dtype == DType::Float32 && s.kind == StmtKind::Ptx &&
                          c.f[s.ptx].opcode.mnemonic() == "wgmma.wait_group";
    line(c, "{}<{}>({}{});", c.helpers.use(is_float ? "ww_settle_floats" : "ww_settle"), bits / 32,
         c.names.is_variable(storage) ? "&" : "", c.names.of(storage));
  }
}

bool is_jump(StmtKind kind) {
  return kind == StmtKind::Break || kind == StmtKind::Continue || kind == StmtKind::Return;
}

bool declares(const ir::Function& f, const ir::Block& block) {
  return std::ranges::any_of(block, [&](ir::StmtId id) {
    const StmtKind kind = f[id].kind;
    return kind == StmtKind::Bind || kind == StmtKind::Alloc || kind == StmtKind::Declare ||
           kind == StmtKind::LaunchThread;
  });
}

void nested(Context& c, const ir::Block& inner) {
  ++c.indent;
  emit_block(c, inner);
  --c.indent;
}

// `int row = tid / 4;` for a scalar and the store that follows it.
bool init(Context& c, const Stmt& alloc, const Stmt& next) {
  if (alloc.kind != StmtKind::Alloc || next.kind != StmtKind::Store ||
      next.buffer != alloc.buffer || !c.names.is_variable(alloc.buffer))
    return false;
  const auto reads = [&](auto&& self, ExprId id) -> bool {
    const Expr& e = c.f[id];
    if (e.buffer == alloc.buffer && e.op == ExprOp::Load) return true;
    return std::ranges::any_of(e.args, [&](ExprId arg) { return self(self, arg); });
  };
  if (reads(reads, next.expr)) return false;
  line(c, "{}{} {} = {};", c.names.is_read(alloc.buffer) ? "" : "[[maybe_unused]] ",
       value_type(c.f[alloc.buffer].dtype), c.names.of(alloc.buffer), expr(c, next.expr));
  return true;
}

void bind(Context& c, const Stmt& s) {
  if (ir::tensor_map_of(c.f, s.expr)) return;  // a parameter
  const ir::Type type = c.f[s.var].type;
  const bool is_used = c.names.is_used(s.var);
  if (type == ir::Type::text() || (!is_used && !c.f[s.expr].has_effect)) return;
  line(c, "{}{}{} {} = {};", is_used ? "" : "[[maybe_unused]] ", type.is_pointer() ? "" : "const ",
       type_text(type), c.names.of(s.var),
       type.is_pointer() ? pointer_as(c, s.expr, type) : expr(c, s.expr));
}

void store(Context& c, const Stmt& s) {
  if (c.f[s.expr].type.lanes > 1) return vector_store(c, s);
  if (store_packed(c, s)) return;
  const std::string place = element(c, s.buffer, s.args, s.span);
  line(c, "{} = {};", place, expr(c, s.expr));
}

// --- control -------------------------------------------------------------------------------------

// Is one step behind the last value still a number of the type? Then the variable can be compared
// with it.
bool has_end(const Context& c, const Stmt& s, std::int64_t step) {
  const auto first = ir::const_int(c.f, s.args[0]);
  if (step == 1 && first == 0) return true;
  const Wide low = c.ranges.range(s.args[0]).min;
  const Wide high = c.ranges.range(s.args[0]).max;
  const ir::Range trips = c.ranges.range(s.args[1]);
  const DType dtype = c.f[s.var].type.dtype;
  constexpr Wide kOne = 1;
  const int bits = num::bits_of(dtype);
  const Wide least = is_signed(dtype) ? -(kOne << (bits - 1)) : 0;
  const Wide most = (kOne << (is_signed(dtype) ? bits - 1 : bits)) - 1;
  return low + Wide{trips.min} * step >= least && high + Wide{trips.max} * step <= most;
}

// The bounds are evaluated once, so what reads memory there gets a name before the loop.
std::string loop_end(Context& c, const Stmt& s, std::int64_t step) {
  const std::optional<std::int64_t> min = ir::const_int(c.f, s.args[0]);
  const std::optional<std::int64_t> count = ir::const_int(c.f, s.args[1]);
  if (min && count) return fmt::format("{}", *min + *count * step);
  std::string end;
  if (step == 1 && min == 0) {
    end = expr(c, s.args[1], kSum);
  } else {
    const std::string times = step == 1
                                  ? expr(c, s.args[1], kProduct)
                                  : fmt::format("{} * {}", expr(c, s.args[1], kProduct), step);
    end = fmt::format("{} + {}", expr(c, s.args[0], kSum), times);
  }
  if (!c.f[s.args[0]].reads_memory && !c.f[s.args[1]].reads_memory) return end;
  const std::string name = c.names.fresh(fmt::format("ww_{}_end", c.names.of(s.var)));
  line(c, "const {} {} = {};", type_text(c.f[s.var].type), name, end);
  return name;
}

void unroll(Context& c, const Stmt& s) {
  bool is_unrolled = s.loop == LoopKind::Unroll || s.loop == LoopKind::Vectorized;
  bool is_kept = false;
  for (const auto& [key, value] : s.settings) {
    const bool* flag = std::get_if<bool>(&value);
    if (key == "unroll" && flag != nullptr) (*flag ? is_unrolled : is_kept) = true;
  }
  if (is_unrolled) line(c, "#pragma unroll");
  if (is_kept && !is_unrolled) line(c, "#pragma unroll 1");
}

void loop(Context& c, const Stmt& s) {
  if (s.loop == LoopKind::ThreadBinding)
    return static_cast<void>(
        refuse(c, s.span, "a loop over `{}`, expected a lowered program", name_of(s.hardware)));
  const std::int64_t step = ir::step_of(c.f, s);
  const bool counts_up = has_end(c, s, step);
  const std::string end = counts_up ? loop_end(c, s, step) : "";
  unroll(c, s);
  const std::string& name = c.names.of(s.var);
  const std::string advance = step == 1    ? fmt::format("++{}", name)
                              : step == -1 ? fmt::format("--{}", name)
                                           : fmt::format("{} += {}", name, step);
  const std::optional<std::int64_t> first = ir::const_int(c.f, s.args[0]);
  const std::string start = fmt::format("{} {} = {}", type_text(c.f[s.var].type), name,
                                        first ? fmt::format("{}", *first) : expr(c, s.args[0]));
  if (counts_up) {
    line(c, "for ({}; {} {} {}; {}) {{", start, name, step < 0 ? ">" : "<", end, advance);
  } else {
    const DType dtype = c.f[s.var].type.dtype;
    const Text next = c.numbers.binary(ExprOp::Add, dtype, {name}, {fmt::format("{}", step)});
    const std::string left = c.names.fresh(fmt::format("ww_{}_left", name));
    line(c, "for ({}, {} = {}; {} > 0; --{}, {} = {}) {{", start, left, expr(c, s.args[1]), left,
         left, name, next.text);
  }
  nested(c, s.body);
  line(c, "}");
}

void branch(Context& c, const Stmt& s, std::string_view keyword) {
  line(c, "{} ({}) {{", keyword, expr(c, s.expr));
  nested(c, s.body);
  if (s.other.empty()) return;
  const Stmt& first = c.f[s.other[0]];
  if (s.other.size() == 1 && first.kind == StmtKind::If) return branch(c, first, "} else if");
  line(c, "} else {");
  nested(c, s.other);
}

// "gemm.py:14"; nothing when the place is not known.
std::string place_of(const Context& c, Span span) {
  if (c.options.source == nullptr || !span.known) return "";
  const SourceText::Position at = c.options.source->position(span.begin);
  return fmt::format("{}:{}", path_in_code(c.options.source->file_name(at.file)), at.line);
}

void assertion(Context& c, const Stmt& s) {
  c.helpers.note_printf();
  const std::string where = place_of(c, s.span);
  const std::string text = s.message.empty() ? "the assertion does not hold" : s.message;
  std::string message;
  for (const char each : fmt::format("{}{}{}\n", where, where.empty() ? "" : ": ", text))
    message += each == '%' ? std::string("%%") : std::string(1, each);
  line(c, "if (!({})) {{", expr(c, s.expr));
  line(c, "  printf({});", quoted(message));
  line(c, "  __trap();");
  line(c, "}");
}

void attr(Context& c, const Stmt& s) {
  if (const auto* text = std::get_if<std::string>(&s.setting);
      text && s.attr == ir::kPrimitiveAttr) {
    std::string comment = place_of(c, s.span);
    comment += (comment.empty() ? "" : ": ") + *text;
    std::ranges::replace(comment, '\n', ' ');
    comment = printable(comment, Breaks::Spell);
    while (comment.ends_with('\\')) comment.pop_back();  // would continue the comment
    line(c, "// " + comment);
  }
  if (s.is_open || s.body.empty()) return;
  if (!declares(c.f, s.body)) return emit_block(c, s.body);
  line(c, "{");
  nested(c, s.body);
  line(c, "}");
}

void launch_thread(Context& c, const Stmt& s) {
  if (!c.names.is_used(s.var)) return;
  const std::string type = type_text(c.f[s.var].type);
  std::string value = fmt::format("{}({})", type, name_of(s.hardware));
  if (s.hardware.kind == ir::HardwareId::Kind::ClusterCtaIdx) {
    check_feature(c, target::Feature::Sm90, "a cluster", s.span);
    value = fmt::format(
        "{}()", c.helpers.use(fmt::format("tvm_builtin_cluster_ctaid_{}", "xyz"[s.hardware.dim])));
  }
  line(c, "const {} {} = {};", type, c.names.of(s.var), value);
}

void stmt(Context& c, const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Bind:
      return bind(c, s);
    case StmtKind::Alloc:
      return alloc(c, s);
    case StmtKind::Declare:
      return declare(c, s);
    case StmtKind::Store:
      return store(c, s);
    case StmtKind::For:
      return loop(c, s);
    case StmtKind::While:
      line(c, "while ({}) {{", expr(c, s.expr));
      nested(c, s.body);
      return line(c, "}");
    case StmtKind::If:
      branch(c, s, "if");
      return line(c, "}");
    case StmtKind::Assert:
      return assertion(c, s);
    case StmtKind::Evaluate:
      if (c.f[s.expr].op == ExprOp::Call && c.f[s.expr].has_effect)
        return line(c, "{};", expr(c, s.expr));
      return line(c, "static_cast<void>({});", expr(c, s.expr));
    case StmtKind::Break:
      return line(c, "break;");
    case StmtKind::Continue:
      return line(c, "continue;");
    case StmtKind::Return:
      return line(c, "return;");
    case StmtKind::Attr:
      return attr(c, s);
    case StmtKind::LaunchThread:
      return launch_thread(c, s);
    case StmtKind::Ptx:
      return ptx_call(c, s);
    case StmtKind::ScopeIds:
    case StmtKind::Tile:
      refuse(c, s.span, "a `{}` statement, expected a lowered program", ir::name_of(s.kind));
  }
}

}  // namespace

// What stands behind a jump is never reached, and nvcc warns about it.
void emit_block(Context& c, const ir::Block& block) {
  const Span outer = c.at;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Stmt& s = c.f[block[i]];
    c.at = s.span.known ? s.span : outer;
    if (i + 1 < block.size() && init(c, s, c.f[block[i + 1]])) {
      settle(c, c.f[block[++i]]);
      continue;
    }
    stmt(c, s);
    settle(c, s);
    if (is_jump(s.kind)) break;
  }
  c.at = outer;
}

}  // namespace ww::emit::cuda
