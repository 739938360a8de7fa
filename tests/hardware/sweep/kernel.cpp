// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "hardware/sweep/variants.h"
#include "hardware/sweep/writer.h"
#include "isa/check.h"

namespace ww::sweep {
namespace {

using isa::Binding;
using isa::OperandSpec;
using isa::Role;
using isa::Space;
using isa::Type;

bool is_narrow(Space space) { return space == Space::Shared || space == Space::SharedCluster; }

// --- operands ------------------------------------------------------------------------------------

Use use_of(const Binding& binding, const OperandSpec& spec) {
  const isa::Mnemonic mnemonic = binding.form().mnemonic;
  const std::string_view name = spec.name;
  if (mnemonic.is_one_of({"bfe", "bfi", "bmsk", "szext"}))
    return is_one_of(name, {"pos", "len", "width"}) ? Use::Place : Use::Value;
  if (mnemonic.is_one_of({"shl", "shr"})) return name == "b" ? Use::Place : Use::Value;
  if (mnemonic == "shf") return name == "c" ? Use::Place : Use::Value;
  if (mnemonic == "fns")
    return name == "base" ? Use::Lane : name == "offset" ? Use::SmallSigned : Use::Value;
  if (mnemonic == "shfl")
    return name == "b" ? Use::ShuffleLane : name == "c" ? Use::Clamp : Use::Value;
  return Use::Value;
}

/// The elements in a register of a matrix operand.
Kind fragment_kind(const Binding& binding, const OperandSpec& spec) {
  const std::string slot = std::string(spec.name) + "type";
  const Type element = binding.type(*isa::SlotName::find(slot));
  const Type in_register = *isa::type_of(spec, binding);
  Kind kind{.type = element};
  kind.bytes = static_cast<unsigned>(isa::info(in_register).bits) / 8;
  const bool nibble = element == Type::S4 || element == Type::U4;
  const int bits = element == Type::B1 ? 1 : nibble ? 4 : isa::info(element).bits;
  kind.count = kind.bytes * 8 / static_cast<unsigned>(bits);
  return kind;
}

Kind kind_of_operand(const Binding& binding, const OperandSpec& spec, Type type) {
  if (binding.form().family == "mma") return fragment_kind(binding, spec);
  return kind_of(type, use_of(binding, spec));
}

std::string constant_text(Type type, std::uint64_t value) {
  if (type == Type::F32) return fmt::format("0f{:08X}", static_cast<std::uint32_t>(value));
  if (type == Type::F64) return fmt::format("0d{:016X}", value);
  const int bits = isa::info(type).bits;
  if (isa::info(type).cls != isa::TypeClass::Signed) return fmt::format("0x{:X}", value);
  const auto shift = static_cast<unsigned>(64 - bits);
  return fmt::format("{}", static_cast<std::int64_t>(value << shift) >> shift);
}

/// A wider register that the operand takes too; the exact width if there is none.
int wider_bits(Type type) {
  const int exact = isa::info(type).bits;
  const int wide = exact < 32 ? 32 : 64;
  return isa::accepts(type, isa::bits_type(wide), isa::Width::OrWider) ? wide : exact;
}

// --- one kernel ----------------------------------------------------------------------------------

class Maker {
 public:
  Maker(const Binding& binding, const Variant& variant) : binding_(binding), variant_(variant) {}

  /// Nothing if the variant comes to the same as the plain one.
  std::optional<Kernel> make();

 private:
  struct Result {
    std::string name;
    Type type;
    int bits;
    std::string reg;
  };

  std::string operand(std::size_t i);
  std::string written(const OperandSpec& spec);
  std::string read(std::size_t i);
  std::string list(const OperandSpec& spec, Type type, int count);
  std::string source(const OperandSpec& spec, Type type, const std::string& name);
  std::string result(const OperandSpec& spec, Type type, const std::string& name);
  std::string mask();
  std::string policy();
  // memory
  std::string address(const OperandSpec& spec);
  std::string loaded_from(Space space, const Kind& cell);
  std::string stored_to(Space space, const Kind& cell);
  std::string matrix_rows(Space space);
  void join_block(std::string& address, Space space, unsigned bytes);
  [[nodiscard]] Kind cell_kind() const;
  // around the instruction
  void before();
  void after();
  void skip_lanes();
  [[nodiscard]] bool has_one_source() const;

  const Binding& binding_;
  const Variant& variant_;
  Writer out_;
  std::vector<Result> results_;
  std::string mask_;  // the register with the mask of lanes
  std::string cell_,
      readback_space_;  // memory to be stored as a result once the instruction is done
  Kind cell_shape_{};
  bool widened_ = false;
};

bool Maker::has_one_source() const {
  const auto reads = [&](const OperandSpec& spec) {
    return is_present(binding_, spec) && spec.role != Role::Write;
  };
  return std::ranges::count_if(binding_.form().operands, reads) == 1;
}

std::string Maker::source(const OperandSpec& spec, Type type, const std::string& name) {
  Kind kind = kind_of_operand(binding_, spec, type);
  if (variant_.wide && spec.wider && wider_bits(type) != isa::info(type).bits) {
    widened_ = true;
    kind.bytes = static_cast<unsigned>(wider_bits(type)) / 8;
  }
  kind.exhaustive = has_one_source() && kind.use == Use::Value && kind.bytes <= 4 &&
                    isa::info(kind.type).bits <= 16 && type != Type::Pred;
  if (variant_.some_lanes && kind.use == Use::Clamp) {
    kind.use = Use::Octets;
    kind.goes_up = binding_.word("mode") == "up";
  }
  // A butterfly may leave its segment downwards.
  if (variant_.some_lanes && kind.use == Use::ShuffleLane && binding_.word("mode") == "bfly")
    kind.use = Use::OctetLane;
  return out_.input(name, type, kind);
}

std::string Maker::result(const OperandSpec& spec, Type type, const std::string& name) {
  int bits = isa::info(type).bits;
  if (variant_.wide && spec.wider && wider_bits(type) != bits) {
    widened_ = true;
    bits = wider_bits(type);
  }
  const std::string reg = out_.reg(bits);
  const Type shown = bits == isa::info(type).bits ? type : isa::bits_type(bits);
  results_.push_back({name, shown, bits, reg});
  return reg;
}

std::string Maker::list(const OperandSpec& spec, Type type, int count) {
  std::vector<std::string> parts;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("{}{}", spec.name, i);
    parts.push_back(spec.role == Role::Write ? result(spec, type, name) : source(spec, type, name));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string Maker::written(const OperandSpec& spec) {
  const Type type = isa::type_of(spec, binding_).value_or(Type::B32);
  const std::string name(spec.name);
  if (const auto count = isa::count_of(spec, binding_)) return list(spec, type, *count);
  const std::string main = result(spec, type, name);
  // ptxas 13.0 takes two results of setp for pairs of halves, but not for single ones.
  const bool single_half =
      binding_.form().mnemonic == "setp" && binding_.word("type").is_one_of({"f16", "bf16"});
  if (spec.pair == OperandSpec::Pair::None || single_half) return main;
  const std::string predicate = out_.reg(1);
  results_.push_back({name + "|p", Type::Pred, 1, predicate});
  return main + "|" + predicate;
}

/// The lanes that take part, all of them or a column of masks.
std::string Maker::mask() {
  if (!variant_.some_lanes) return "0xFFFFFFFF";
  const bool shuffles = binding_.form().mnemonic == "shfl";
  mask_ = out_.input("mask", Type::B32,
                     kind_of(Type::B32, shuffles ? Use::WarpMask : Use::AnyWarpMask));
  return mask_;
}

std::string Maker::policy() {
  const std::string reg = out_.reg(64);
  out_.line("createpolicy.fractional.L2::evict_last.b64 {}, 1.0;", reg);
  return reg;
}

std::string Maker::read(std::size_t i) {
  const OperandSpec& spec = binding_.form().operands[i];
  const Type type = isa::type_of(spec, binding_).value_or(Type::B32);
  const std::string_view family = binding_.form().family;
  if (family == "warp" && spec.name == "mask") return mask();
  if (spec.name == "policy") return policy();
  if (family == "barrier" && spec.low <= spec.high) return "0";
  if (variant_.contended && binding_.word("op").is_one_of({"inc", "dec"})) return "37";
  if (const auto count = isa::count_of(spec, binding_)) return list(spec, type, *count);
  if (variant_.as_constant != i) return source(spec, type, std::string(spec.name));
  const Kind kind = kind_of_operand(binding_, spec, type);
  return constant_text(type, value_at(kind, 3, variant_.chance % 65536));
}

std::string Maker::operand(std::size_t i) {
  const OperandSpec& spec = binding_.form().operands[i];
  switch (spec.role) {
    case Role::Write:
      return written(spec);
    case Role::Read:
      return read(i);
    case Role::Immediate:
      return fmt::format("{}", variant_.table.value_or(0));
    case Role::Address:
      return "[" + address(spec) + "]";
    default:
      return "";
  }
}

// --- memory --------------------------------------------------------------------------------------

/// What a thread's cell holds: a value of the instruction's type, or a vector of them.
Kind Maker::cell_kind() const {
  if (binding_.form().family == "matrix") return kind_of(Type::B128);
  const Type type = binding_.type("type");
  Kind kind = kind_of(type);
  if (!binding_.has("vec")) return kind;
  const auto lanes = static_cast<unsigned>(binding_.number("vec"));
  kind.count *= lanes;
  kind.bytes *= lanes;
  return kind;
}

std::string Maker::address(const OperandSpec& spec) {
  const Space space = isa::space_of(spec, binding_);
  if (binding_.form().family == "matrix") return matrix_rows(space);
  const Kind cell = cell_kind();
  if (binding_.form().mnemonic.text().starts_with("ld")) return loaded_from(space, cell);
  return stored_to(space, cell);
}

/// Cells of input: in global memory the column itself.
std::string Maker::loaded_from(Space space, const Kind& cell) {
  const std::string from = out_.input_place("memory", cell.type, cell);
  if (binding_.form().mnemonic == "ldu") {  // one address for the warp
    const std::string lane = out_.reg(32), bytes = out_.reg(64);
    out_.line("mov.u32 {}, %laneid;", lane);
    out_.line("mul.wide.u32 {}, {}, {};", bytes, lane, cell.bytes);
    out_.line("sub.s64 {0}, {0}, {1};", from, bytes);
  }
  if (space == Space::Global || space == Space::Generic) return from;
  const bool narrow = is_narrow(space);
  const std::string to = narrow ? out_.shared_cell(32) : out_.local_cell(32);
  out_.copy("global", from, narrow ? "shared" : "local", to, cell.bytes);
  return to;
}

/// Cells that are changed: filled from a column, and a column of results afterwards.
std::string Maker::stored_to(Space space, const Kind& cell) {
  const std::string from = out_.input_place("memory", cell.type, cell);
  cell_shape_ = cell;
  if (space == Space::Global || space == Space::Generic) {
    std::string to = out_.output_place("memory", cell.type, cell.bytes);
    out_.copy("global", from, "global", to, cell.bytes);
    if (variant_.contended) join_block(to, space, cell.bytes);
    return to;
  }
  readback_space_ = is_narrow(space) ? "shared" : "local";
  cell_ = is_narrow(space) ? out_.shared_cell(32) : out_.local_cell(32);
  out_.copy("global", from, readback_space_, cell_, cell.bytes);
  std::string to = cell_;
  if (variant_.contended) join_block(to, space, 32);
  return to;
}

/// From the thread's cell to the one of the block's first thread, once all cells are filled.
void Maker::join_block(std::string& address, Space space, unsigned bytes) {
  const int bits = is_narrow(space) ? 32 : 64;
  const std::string thread = out_.reg(32), offset = out_.reg(bits), first = out_.reg(bits);
  out_.line("mov.u32 {}, %tid.x;", thread);
  out_.line("mul.{}.u32 {}, {}, {};", bits == 32 ? "lo" : "wide", offset, thread, bytes);
  out_.line("sub.s{} {}, {}, {};", bits, first, address, offset);
  out_.line("bar.sync 0;");
  address = first;
}

/// Rows of 16 bytes in shared memory, 32 for each warp. A load takes any of them, a store each
/// once.
std::string Maker::matrix_rows(Space space) {
  const bool stores = binding_.form().mnemonic == "stmatrix";
  const Kind row = cell_kind();
  const std::string from = out_.input_place("row", Type::B128, row);
  cell_shape_ = row;
  const std::string own = out_.shared_cell(16);
  out_.copy("global", from, "shared", own, 16);
  out_.line("bar.sync 0;");
  const std::string choice =
      out_.input("lane", Type::B32, kind_of(Type::B32, stores ? Use::WarpLane : Use::Lane));
  const std::string thread = out_.reg(32), at = out_.reg(32);
  out_.line("mov.u32 {}, %tid.x;", thread);
  if (!stores) out_.line("and.b32 {0}, {0}, 0xFFFFFFE0;", thread);
  out_.line("xor.b32 {0}, {0}, {1};", thread, choice);
  out_.line("mov.u32 {}, qcells;", at);
  out_.line("mad.lo.u32 {0}, {1}, 16, {0};", at, thread);
  if (stores) {
    cell_ = own;
    readback_space_ = "shared";
  }
  if (space != Space::Generic) return at;
  const std::string generic = out_.reg(64);
  out_.line("cvt.u64.u32 {}, {};", generic, at);
  out_.line("cvta.shared.u64 {0}, {0};", generic);
  return generic;
}

// --- around the instruction ----------------------------------------------------------------------

void Maker::skip_lanes() {
  for (const Result& result : results_) {
    if (result.bits == 1) {
      out_.line("setp.ne.u32 {}, %qi, %qi;", result.reg);
    } else {
      out_.line("mov.b{} {}, 0;", result.bits, result.reg);
    }
  }
  if (mask_.empty()) mask();  // activemask: the lanes that stay
  const std::string lane = out_.reg(32), out = out_.reg(1);
  out_.line("mov.u32 {}, %laneid;", lane);
  out_.line("shr.u32 {0}, {1}, {0};", lane, mask_);
  out_.line("and.b32 {0}, {0}, 1;", lane);
  out_.line("setp.eq.u32 {}, {}, 0;", out, lane);
  out_.line("@{} bra $_skip;", out);
}

void Maker::before() {
  const isa::Mnemonic mnemonic = binding_.form().mnemonic;
  if (variant_.some_lanes) skip_lanes();
  if (!mnemonic.is_one_of({"addc", "subc", "madc"})) return;
  const Kind word = kind_of(Type::U32);
  const std::string x = out_.input("carry x", Type::U32, word);
  const std::string y = out_.input("carry y", Type::U32, word);
  out_.line("{}.cc.u32 {}, {}, {};", mnemonic == "subc" ? "sub" : "add", out_.reg(32), x, y);
}

void Maker::after() {
  const isa::Mnemonic mnemonic = binding_.form().mnemonic;
  if (binding_.has("cc")) {
    const std::string carry = out_.reg(32);
    out_.line("{}.u32 {}, 0, 0;", mnemonic.text().starts_with("sub") ? "subc" : "addc", carry);
    results_.push_back({"carry", Type::U32, 32, carry});
  }
  if (variant_.some_lanes) out_.line("$_skip:");
  if (!variant_.contended)
    for (const Result& result : results_)
      out_.output(result.name, result.type, result.bits, result.reg);
  if (cell_.empty()) return;
  out_.line("bar.sync 0;");
  const std::string to = out_.output_place("memory", cell_shape_.type, cell_shape_.bytes);
  out_.copy(readback_space_, cell_, "global", to, cell_shape_.bytes);
}

std::optional<Kernel> Maker::make() {
  std::vector<std::string> operands;
  for (std::size_t i = 0; i < binding_.form().operands.size(); ++i)
    if (is_present(binding_, binding_.form().operands[i])) operands.push_back(operand(i));
  if (variant_.wide && !widened_) return std::nullopt;
  Kernel kernel;
  kernel.opcode = binding_.opcode();
  kernel.variant = variant_.name;
  kernel.instruction = fmt::format("{} {};", kernel.opcode, fmt::join(operands, ", "));
  kernel.family = binding_.form().family;
  kernel.ptx = isa::lowest_ptx(binding_, target::Arch::Sm90a).value_or(90);
  before();
  out_.line("{}", kernel.instruction);
  after();
  out_.finish(kernel);
  return kernel;
}

// --- what has no recipe --------------------------------------------------------------------------

std::string_view no_memory_recipe(const Binding& binding) {
  const isa::Mnemonic mnemonic = binding.form().mnemonic;
  const std::string_view space = binding.word("space").text();
  if (mnemonic.text().starts_with("multimem")) return "needs several devices";
  if (mnemonic.text().contains(".async") || mnemonic.text().contains(".bulk"))
    return "signals an mbarrier";
  if (mnemonic.text().starts_with("createpolicy")) return "makes a policy, which is opaque";
  if (!mnemonic.is_one_of({"ld", "ldu", "st", "atom", "red"})) return "has no result";
  if (space.starts_with("param") || space == "const")
    return "reads what a launch or module sets up";
  return "";
}

std::string_view no_warp_recipe(const Binding& binding) {
  const isa::Mnemonic mnemonic = binding.form().mnemonic;
  if (mnemonic == "setmaxnreg") return "has no result";
  if (binding.form().family != "mma") return "";
  if (binding.has("sp")) return "sparse: device_numbers.sh compares it";
  const bool broken =
      binding.word("shape") == "m8n8k4" && binding.word("atype").is_one_of({"bf16", "tf32"});
  return broken ? "assembles, but does not multiply" : "";
}

}  // namespace

std::string_view no_recipe(const Binding& binding) {
  const std::string_view family = binding.form().family;
  if (is_one_of(family,
                {"integer", "logic", "compare", "move", "float", "half", "convert", "matrix"}))
    return "";
  if (is_one_of(family, {"atomic", "load_store"})) return no_memory_recipe(binding);
  if (is_one_of(family, {"warp", "mma"})) return no_warp_recipe(binding);
  if (family == "barrier" && binding.has("red")) return "";
  return "its results are not values";
}

std::vector<Kernel> kernels_of(const Binding& binding) {
  std::vector<Kernel> kernels;
  if (!no_recipe(binding).empty()) return kernels;
  for (const Variant& variant : variants_of(binding))
    if (auto kernel = Maker(binding, variant).make()) kernels.push_back(std::move(*kernel));
  return kernels;
}

std::string Kernel::title() const {
  return variant.empty() ? opcode : fmt::format("{} ({})", opcode, variant);
}

std::string module_header(int ptx) {
  return fmt::format(".version {}\n.target sm_90a\n.address_size 64\n",
                     target::ptx_version_text(ptx));
}

std::string kernel_text(const Kernel& kernel, const std::string& name) {
  std::string text;
  for (const char c : kernel.body) {
    if (c == '$') {
      text += name;
    } else {
      text += c;
    }
  }
  return text;
}

std::size_t buffer_bytes(const std::vector<Column>& columns, std::size_t cases) {
  std::size_t bytes = 0;
  for (const Column& column : columns) bytes += column.bytes * cases;
  return bytes;
}

std::vector<std::byte> make_inputs(const Kernel& kernel, std::size_t cases) {
  std::vector<std::byte> all;
  for (const Column& column : kernel.inputs) {
    const std::vector<std::byte> values = make_values(column.kind, column.index, cases);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace ww::sweep
