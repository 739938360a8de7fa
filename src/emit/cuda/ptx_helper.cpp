// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/ptx_helper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/names.h"
#include "emit/cuda/pending.h"
#include "emit/cuda/types.h"
#include "ir/equal.h"

namespace ww::emit::cuda {
namespace {

using ir::ExprOp;
using ir::PlacedOperand;
using ir::PtxCall;
using ir::PtxOperand;
using isa::OperandSpec;
using isa::Role;
using Kind = PtxOperand::Kind;

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

class Maker {
 public:
  Maker(const ir::Function& f, const PtxCall& call, const PlacedCall& placed)
      : f_(f), call_(call), placed_(placed), is_tensor_load_(is_tensor_load(call)) {
    adds_in_place_ = adds_in_place();
    reads_destination_ =
        call.predicate.valid() || call.opcode.starts_with("wgmma.mma_async") || adds_in_place_;
  }

  Result<PtxHelper> make(bool waits) {
    next_input_ = count_outputs();
    name_ = call_.opcode;
    std::string instruction = call_.opcode;
    bool is_first = true;
    for (const PlacedOperand& operand : placed_.operands) {
      instruction += fmt::format("{}{}", is_first ? " " : ", ", group(operand));
      is_first = false;
    }
    if (call_.predicate.valid()) instruction = guarded(instruction);
    if (!problem_.empty()) return fail(DiagKind::NotEmitted, "{}", problem_);
    prologue_.push_back(instruction + ";");
    if (waits) {
      prologue_.emplace_back("tcgen05.wait::ld.sync.aligned;");
      suffix_ += "_and_wait";
    }
    rename_matrix_copy();
    out_.name = "ptx_" + as_identifier(name_ + suffix_);
    out_.text = text();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t count_outputs() const {
    std::size_t count = 0;
    for (const PlacedOperand& operand : placed_.operands)
      for (std::size_t i = 0; i < operand.count; ++i)
        if (operand.spec->role == Role::Write &&
            call_.operands[operand.first + i].kind != Kind::Sink)
          ++count;
    return count;
  }

  // A product whose sums are taken from the registers that they go into: `d += a · b`.
  [[nodiscard]] bool adds_in_place() const {
    if (!call_.opcode.starts_with("mma.sync.")) return false;
    const auto named = [&](std::string_view name) {
      return std::ranges::find_if(placed_.operands, [&](const PlacedOperand& operand) {
        return operand.spec->name == name;
      });
    };
    const auto d = named("d"), c = named("c");
    if (d == placed_.operands.end() || c == placed_.operands.end() || d->count != c->count)
      return false;
    for (std::size_t i = 0; i < d->count; ++i) {
      const PtxOperand& to = call_.operands[d->first + i];
      const PtxOperand& from = call_.operands[c->first + i];
      const bool is_same = to.kind == from.kind && to.kind != Kind::Sink &&
                           ir::same(f_, to.expr, from.expr) &&
                           to.offset.valid() == from.offset.valid();
      if (!is_same || (to.offset.valid() && !ir::same(f_, to.offset, from.offset))) return false;
    }
    return true;
  }

  // --- operands ---

  std::string group(const PlacedOperand& placed) {
    const OperandSpec& spec = *placed.spec;
    if (adds_in_place_ && spec.name == "c") {
      suffix_ += "_in_place";
      return sums_;
    }
    if (spec.role == Role::Address) return address(placed);
    const auto type = isa::type_of(spec, placed_.binding);
    const bool is_list = isa::count_of(spec, placed_.binding).has_value();
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < placed.main; ++i)
      parts.push_back(one(placed.first + i, spec, type, name_of(spec, i, is_list)));
    std::string out = is_list ? fmt::format("{{{}}}", fmt::join(parts, ", ")) : parts[0];
    if (placed.count > placed.main)
      out += "|" + one(placed.first + placed.main, spec, isa::Type::Pred,
                       std::string(spec.name) + "_is_set");
    if (spec.name == "d") sums_ = out;
    return out;
  }

  static std::string name_of(const OperandSpec& spec, std::size_t i, bool is_list) {
    const std::string name = as_identifier(spec.name);
    return is_list ? fmt::format("{}{}", name, i) : name;
  }

  std::string one(std::size_t number, const OperandSpec& spec, std::optional<isa::Type> wanted,
                  const std::string& name) {
    const PtxOperand& operand = call_.operands[number];
    if (operand.kind == Kind::Sink) {
      suffix_ += "_sink";
      return "_";
    }
    if (is_immediate(f_, operand, spec)) {
      const std::int64_t value = f_[operand.expr].integer;
      suffix_ += value < 0 ? fmt::format("_m{}", -value) : fmt::format("_{}", value);
      return fmt::format("{}", value);
    }
    if (operand.kind == Kind::At) return at(number, spec, wanted, name);
    if (spec.role == Role::Write) return written(number, wanted, name);
    return read(number, wanted, name);
  }

  void parameter(std::size_t number, const std::string& text) {
    out_.order.push_back(number);
    params_.push_back(text);
  }
  std::string output(const Register& reg, const std::string& name) {
    outputs_.push_back(
        fmt::format("\"{}{}\"({})", reads_destination_ ? '+' : '=', reg.constraint, name));
    return fmt::format("%{}", next_output_++);
  }
  std::string input(const Register& reg, const std::string& value) {
    inputs_.push_back(fmt::format("\"{}\"({})", reg.constraint, value));
    return fmt::format("%{}", next_input_++);
  }

  // A register behind a pointer.
  std::string at(std::size_t number, const OperandSpec& spec, std::optional<isa::Type> wanted,
                 const std::string& name) {
    if (wanted == isa::Type::B128) return wide_at(number, spec, name);
    const bool is_float = wanted == isa::Type::F32 && !is_tensor_load_;
    const Register reg = is_float ? Register{'f', "float"} : Register{};
    parameter(number, fmt::format("void* {}", name));
    const std::string place = fmt::format("*static_cast<{}*>({})", reg.type, name);
    if (spec.role != Role::Write) return input(reg, place);
    before_.push_back(
        fmt::format("{} {}_reg{};", reg.type, name, reads_destination_ ? " = " + place : ""));
    after_.push_back(fmt::format("{} = {}_reg;", place, name));
    return output(reg, name + "_reg");
  }

  // Four words behind a pointer, which need not be aligned as one.
  std::string wide_at(std::size_t number, const OperandSpec& spec, const std::string& name) {
    parameter(number, fmt::format("void* {}", name));
    const bool is_written = spec.role == Role::Write;
    before_.push_back(fmt::format("{} {}_reg;", kWide.type, name));
    if (!is_written || reads_destination_)
      before_.push_back(fmt::format("memcpy(&{0}_reg, {0}, sizeof {0}_reg);", name));
    if (!is_written) return input(kWide, name + "_reg");
    after_.push_back(fmt::format("memcpy({0}, &{0}_reg, sizeof {0}_reg);", name));
    return output(kWide, name + "_reg");
  }

  // An element of a buffer, by reference. A plain scalar is a bool, an element in memory a byte.
  std::string written(std::size_t number, std::optional<isa::Type> wanted,
                      const std::string& name) {
    const ir::Type type = f_[call_.operands[number].expr].type;
    const bool is_pred = wanted == isa::Type::Pred;
    // Words to nvcc until they are there: turning them into floats would be a use.
    const Register reg = is_pred || is_tensor_load_ ? Register{} : register_of(type, wanted);
    if (register_bits(type) > 64 && wanted != isa::Type::B128) return too_wide(type);
    std::string lvalue = memory_type(type);
    if (type.is_bool()) {
      lvalue = fmt::format("T{}", templates_.size());
      templates_.push_back("typename " + lvalue);
    }
    parameter(number, fmt::format("{}& {}", lvalue, name));
    before_.push_back(fmt::format("{} {}_reg{};", reg.type, name,
                                  reads_destination_ ? " = " + raw(type, name, reg) : ""));
    after_.push_back(fmt::format("{} = {};", name, value_of(type, lvalue, name + "_reg", reg)));
    const std::string place = output(reg, name + "_reg");
    if (is_pred) return predicate_out(place, name);
    return is_byte(type, wanted) ? byte_out(place, name) : place;
  }

  std::string read(std::size_t number, std::optional<isa::Type> wanted, const std::string& name) {
    const PtxOperand& operand = call_.operands[number];
    const ir::Type type = f_[operand.expr].type;
    if (wanted == isa::Type::Pred || operand.kind == Kind::Predicate) {
      parameter(number, fmt::format("bool {}", name));
      return predicate_in(input({}, fmt::format("static_cast<uint32_t>({})", name)), name);
    }
    if (register_bits(type) > 64 && wanted != isa::Type::B128) return too_wide(type);
    parameter(number, fmt::format("{} {}", type_text(type), name));
    const Register reg = register_of(type, wanted);
    const std::string place = input(reg, raw(type, name, reg));
    return is_byte(type, wanted) ? byte_in(place, name) : place;
  }

  std::string address(const PlacedOperand& placed) {
    const std::string base = base_address(placed);
    std::vector<std::string> coordinates;
    for (std::size_t i = 1; i < placed.count; ++i)
      coordinates.push_back(read(placed.first + i, isa::Type::S32,
                                 fmt::format("{}_at{}", as_identifier(placed.spec->name), i - 1)));
    if (coordinates.empty()) return fmt::format("[{}]", base);
    return fmt::format("[{}, {{{}}}]", base, fmt::join(coordinates, ", "));
  }

  std::string base_address(const PlacedOperand& placed) {
    const ir::Type type = f_[call_.operands[placed.first].expr].type;
    const std::string name = as_identifier(placed.spec->name);
    const isa::Space space = isa::space_of(*placed.spec, placed_.binding);
    touches_memory_ |= space != isa::Space::Tensor;
    if (!type.is_pointer()) {
      parameter(placed.first, fmt::format("{} {}", type_text(type), name));
      const Register reg = int_register(register_bits(type));
      return input(reg, fmt::format("static_cast<{}>({})", reg.type, name));
    }
    parameter(placed.first, fmt::format("void* {}", name));
    const bool is_shared = space == isa::Space::Shared || space == isa::Space::SharedCluster;
    const std::string_view type_text = is_shared ? "uint32_t" : "uint64_t";
    before_.push_back(
        fmt::format("const {} {}_addr = {};", type_text, name, converted(space, type_text, name)));
    return input(int_register(is_shared ? 32 : 64), name + "_addr");
  }

  // From a generic pointer to an address of the state space.
  static std::string converted(isa::Space space, std::string_view type, const std::string& name) {
    std::string_view window = "";
    if (space == isa::Space::Shared || space == isa::Space::SharedCluster) window = "shared";
    if (space == isa::Space::Global) window = "global";
    if (space == isa::Space::Local) window = "local";
    if (space == isa::Space::Const) window = "constant";
    if (window.empty()) return fmt::format("reinterpret_cast<{}>({})", type, name);
    return fmt::format("static_cast<{}>(__cvta_generic_to_{}({}))", type, window, name);
  }

  // --- between C++ values and registers ---

  static std::string_view bits_type(ir::Type type, const Register& reg) {
    return reg.constraint == kWide.constraint ? reg.type : unsigned_type(register_bits(type));
  }

  // A pointer, float or integer is the register; other values are its bits.
  std::string raw(ir::Type type, const std::string& name, const Register& reg) {
    if (type.is_pointer()) return fmt::format("reinterpret_cast<uint64_t>({})", name);
    if (reg.constraint == 'f' || reg.constraint == 'd') return name;
    const bool is_plain = type.lanes == 1 && !type.is_float();
    if (is_plain) return fmt::format("static_cast<{}>({})", reg.type, name);
    out_.needs_bitcast = true;
    const std::string_view bits = bits_type(type, reg);
    const std::string cast = fmt::format("ww_bitcast<{}>({})", bits, name);
    return bits == reg.type ? cast : fmt::format("static_cast<{}>({})", reg.type, cast);
  }

  std::string value_of(ir::Type type, const std::string& lvalue, const std::string& name,
                       const Register& reg) {
    if (type.is_bool()) return name + " != 0";
    if (reg.constraint == 'f' || reg.constraint == 'd') return name;
    if (type.lanes == 1 && !type.is_float())
      return fmt::format("static_cast<{}>({})", lvalue, name);
    out_.needs_bitcast = true;
    const std::string_view bits = bits_type(type, reg);
    return bits == reg.type ? fmt::format("ww_bitcast<{}>({})", lvalue, name)
                            : fmt::format("ww_bitcast<{}>({}({}))", lvalue, bits, name);
  }

  std::string predicate_in(const std::string& place, const std::string& name) {
    declarations_.push_back(fmt::format(".reg .pred p_{};", name));
    prologue_.push_back(fmt::format("setp.ne.b32 p_{}, {}, 0;", name, place));
    return "p_" + name;
  }
  std::string predicate_out(const std::string& place, const std::string& name) {
    declarations_.push_back(fmt::format(".reg .pred p_{};", name));
    if (reads_destination_)
      prologue_.push_back(fmt::format("setp.ne.b32 p_{}, {}, 0;", name, place));
    epilogue_.push_back(fmt::format("selp.b32 {}, 1, 0, p_{};", place, name));
    return "p_" + name;
  }

  // asm has no constraint for registers of 8 bits.
  static bool is_byte(ir::Type type, std::optional<isa::Type> wanted) {
    return wanted && isa::info(*wanted).bits == 8 && register_bits(type) == 8;
  }
  std::string byte_in(const std::string& place, const std::string& name) {
    declarations_.push_back(fmt::format(".reg .b8 b_{};", name));
    prologue_.push_back(fmt::format("cvt.u8.u32 b_{}, {};", name, place));
    return "b_" + name;
  }
  std::string byte_out(const std::string& place, const std::string& name) {
    declarations_.push_back(fmt::format(".reg .b8 b_{};", name));
    if (reads_destination_) prologue_.push_back(fmt::format("cvt.u8.u32 b_{}, {};", name, place));
    epilogue_.push_back(fmt::format("cvt.u32.u8 {}, b_{};", place, name));
    return "b_" + name;
  }

  std::string too_wide(ir::Type type) {
    problem_ = fmt::format("`{}` takes a register of `{}`, which is wider than 64 bits",
                           call_.opcode, ir::to_text(type));
    return "0";
  }

  std::string guarded(const std::string& instruction) {
    suffix_ += "_pred";
    params_.emplace_back("bool pred");
    return fmt::format("@{} {}", predicate_in(input({}, "static_cast<uint32_t>(pred)"), "pred"),
                       instruction);
  }

  // --- the whole ---

  // The names that generated code has always had for the copies of 8x8 matrices.
  void rename_matrix_copy() {
    const std::vector<std::string_view> words = isa::opcode_words(call_.opcode);
    const bool is_load = words[0] == "ldmatrix";
    const bool is_plain =
        suffix_.empty() && (is_load || words[0] == "stmatrix") &&
        placed_.binding.word("shape") == "m8n8" && placed_.binding.word("type") == "b16" &&
        std::ranges::none_of(call_.operands,
                             [](const PtxOperand& operand) { return operand.kind == Kind::Value; });
    const bool is_shared = placed_.binding.word("space").starts_with("shared");
    if (!is_plain || !is_shared || call_.operands.size() != out_.order.size()) return;
    const int trans = placed_.binding.has("trans") ? 1 : 0;
    const int number = placed_.binding.number("num");
    name_ = is_load ? fmt::format("ldmatrix_{}_b16_{}", number, trans)
                    : fmt::format("stmatrix_m8n8_{}_{}_shared_b16", number, trans);
    rename(is_load);
  }

  // The pointer to shared memory comes first and says what it is.
  void rename(bool is_load) {
    const std::size_t address = is_load ? params_.size() - 1 : 0;
    std::vector<std::pair<std::string, std::string>> names;
    std::size_t next = 0;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      std::string old = params_[i].substr(params_[i].rfind(' ') + 1);
      std::string name =
          i == address ? "smem_ptr" : fmt::format("{}{}", is_load ? "dst" : "src", next++);
      names.emplace_back(std::move(old), std::move(name));
      params_[i] = params_[i].substr(0, params_[i].rfind(' ') + 1) + names.back().second;
    }
    for (auto* lines : {&before_, &after_, &inputs_, &outputs_})
      for (std::string& line : *lines) line = renamed(line, names);
    std::rotate(params_.begin(), params_.begin() + static_cast<std::ptrdiff_t>(address),
                params_.begin() + static_cast<std::ptrdiff_t>(address) + 1);
    std::rotate(out_.order.begin(), out_.order.begin() + static_cast<std::ptrdiff_t>(address),
                out_.order.begin() + static_cast<std::ptrdiff_t>(address) + 1);
  }

  // Whole identifiers only; those with `_reg` or `_addr` behind follow their names.
  static std::string renamed(const std::string& line,
                             const std::vector<std::pair<std::string, std::string>>& names) {
    std::string out;
    std::size_t at = 0;
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    while (at < line.size()) {
      std::size_t end = at;
      while (end < line.size() && is_word(line[end])) ++end;
      if (end == at) {
        out += line[at++];
        continue;
      }
      std::string word = line.substr(at, end - at);
      for (const auto& [old, name] : names)
        for (const std::string_view tail : {"", "_reg", "_addr"})
          if (word == old + std::string(tail)) {
            word = name + std::string(tail);
            break;
          }
      out += word;
      at = end;
    }
    return out;
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    if (!templates_.empty()) out = fmt::format("template <{}>\n", fmt::join(templates_, ", "));
    out += fmt::format("__forceinline__ __device__ void {}({}) {{\n", out_.name,
                       fmt::join(params_, ", "));
    for (const std::string& line : before_) out += fmt::format("  {}\n", line);
    out += fmt::format("  asm volatile({}\n", asm_text());
    const bool clobbers = touches_memory_ || outputs_.empty();
    out += fmt::format("               : {}\n", fmt::join(outputs_, ", "));
    out += fmt::format("               : {}{});\n", fmt::join(inputs_, ", "),
                       clobbers ? "\n               : \"memory\"" : "");
    for (const std::string& line : after_) out += fmt::format("  {}\n", line);
    return out + "}\n";
  }

  [[nodiscard]] std::string asm_text() const {
    std::vector<std::string> lines = declarations_;
    lines.insert(lines.end(), prologue_.begin(), prologue_.end());
    lines.insert(lines.end(), epilogue_.begin(), epilogue_.end());
    if (lines.size() == 1) return fmt::format("\"{}\"", lines[0]);
    std::string out = "\"{\\n\"\n";
    for (const std::string& line : lines) out += fmt::format("               \"{}\\n\"\n", line);
    return out + "               \"}\"";
  }

  const ir::Function& f_;
  const PtxCall& call_;
  const PlacedCall& placed_;
  PtxHelper out_;
  std::string name_, suffix_, problem_, sums_;
  std::vector<std::string> templates_, params_, before_, after_, outputs_, inputs_;
  std::vector<std::string> declarations_, prologue_, epilogue_;
  std::size_t next_output_ = 0, next_input_ = 0;
  bool is_tensor_load_ = false, reads_destination_ = false, touches_memory_ = false,
       adds_in_place_ = false;
};

}  // namespace

Result<PtxHelper> ptx_helper(const ir::Function& f, const PtxCall& call, const PlacedCall& placed,
                             bool waits) {
  return Maker(f, call, placed).make(waits);
}

}  // namespace ww::emit::cuda
