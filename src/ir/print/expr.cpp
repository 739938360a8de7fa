// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/join.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/simplify/fold.h"
#include "ir/tensor_map.h"
#include "isa/catalogue.h"
#include "num/dtype.h"
#include "num/float_format.h"

namespace ww::ir::printing {
namespace {

struct Text {
  std::string text;
  Precedence precedence = kAtom;
};

Precedence precedence_of(ExprOp op) {
  static constexpr Precedence kPrecedences[] = {
#define WW_EXPR_OP(id, spelling, arguments, group, takes, precedence) precedence,
#include "ir/expr_ops.def"
#undef WW_EXPR_OP
  };
  return kPrecedences[static_cast<std::size_t>(op)];
}

Precedence tighter(Precedence precedence) { return static_cast<Precedence>(precedence + 1); }

bool reads_as(num::DType dtype, const std::string& text, double value) {
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return num::encode(dtype, read) == num::encode(dtype, value);
}

// Python takes a number without point and exponent for an integer.
std::string with_point(const std::string& text) {
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

Text int_imm(const Expr& e) {
  if (e.type.is_bool()) return {e.integer != 0 ? "T.bool(True)" : "T.bool(False)"};
  const std::string digits = int_text(e.type.dtype, e.integer);
  if (e.type.dtype == num::DType::Int32) return {digits, e.integer < 0 ? kUnary : kAtom};
  return {fmt::format("T.{}({})", num::name_of(e.type.dtype), digits)};
}

// Operators group to the left; comparisons do not group at all, since Python would chain them.
Text infix(const Context& c, const Expr& e) {
  const Precedence own = precedence_of(e.op);
  const std::string_view sign = spelling_of(e.op);
  if (e.args.size() == 1)
    return {fmt::format("{}{}{}", sign, e.op == ExprOp::Not ? " " : "", expr(c, e.args[0], own)),
            own};
  const Precedence left = own == kCompare ? tighter(own) : own;
  return {fmt::format("{} {} {}", expr(c, e.args[0], left), sign, expr(c, e.args[1], tighter(own))),
          own};
}

std::string load_text(const Context& c, const Expr& e) {
  const bool is_run = e.type.lanes > 1 && (e.args.empty() || c.f[e.args.back()].type.lanes == 1);
  if (!is_run) return element(c, e.buffer, e.args);
  return fmt::format("{}.vload([{}], dtype=\"{}\")", c.names.of(e.buffer),
                     expr_list(c, e.args, 0, e.args.size()), to_text(e.type));
}

std::string named_function(const Context& c, const Expr& e) {
  const std::string_view name = spelling_of(e.op);
  const std::string args = expr_list(c, e.args, 0, e.args.size());
  switch (e.op) {
    case ExprOp::Cast:
    case ExprOp::Reinterpret:
      return fmt::format("T.{}(\"{}\", {})", name, to_text(e.type), args);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return fmt::format("T.{}({}, {})", name, args, e.type.lanes);
    case ExprOp::Shuffle: {
      const std::size_t vectors = e.args.size() - e.type.lanes;
      return fmt::format("T.Shuffle([{}], [{}])", expr_list(c, e.args, 0, vectors),
                         expr_list(c, e.args, vectors, e.args.size()));
    }
    default:
      return fmt::format("T.{}({})", name, args);
  }
}

// In the order of the array's extents, the innermost dimension last.
template <typename List, typename Show>
std::string reversed(const List& list, const Show& show) {
  std::string out = "(";
  for (std::size_t i = list.size(); i-- > 0;)
    out += fmt::format("{}{}", show(list[i]), i > 0 ? ", " : list.size() == 1 ? "," : "");
  return out + ")";
}

std::string tensor_map(const Context& c, const TensorMap& map) {
  const auto shown = [&](ExprId id) { return expr(c, id); };
  std::string out = fmt::format("T.tensor_map({}, box={}, dims={}", expr(c, map.pointer),
                                reversed(map.box, [](std::int64_t extent) { return extent; }),
                                reversed(map.dims, shown));
  if (map.rank() > 1) out += fmt::format(", strides={}", reversed(map.strides, shown));
  if (map.rank() == 1) out += ", strides=()";
  if (map.swizzle != 0) out += fmt::format(", swizzle={}", map.swizzle);
  out += fmt::format(", promotion={}", map.promotion);
  if (map.fill != MapFill::Zero) out += fmt::format(", fill=\"{}\"", name_of(map.fill));
  return out + ")";
}

std::string intrinsic_call(const Context& c, const Expr& e, ExprId id) {
  if (const auto map = tensor_map_of(c.f, id)) return tensor_map(c, *map);
  const std::string_view name = facts_of(e.callee).name;
  if (e.callee == Intrinsic::ByteOffset) {
    const std::string to(e.type.opaque ? "void" : num::name_of(e.type.dtype));
    return fmt::format("T.{}({}, \"{}\")", name, expr_list(c, e.args, 0, e.args.size()), to);
  }
  if (e.callee != Intrinsic::FuncCall)
    return fmt::format("T.{}({})", name, expr_list(c, e.args, 0, e.args.size()));
  const std::string args = expr_list(c, e.args, 2, e.args.size());
  return fmt::format("T.{}({}{}{}, source_code={}, return_type=\"{}\")", name, expr(c, e.args[0]),
                     args.empty() ? "" : ", ", args, expr(c, e.args[1]), to_text(e.type));
}

Text render(const Context& c, ExprId id) {
  const Expr& e = c.f[id];
  switch (e.op) {
    case ExprOp::IntImm:
      return int_imm(e);
    case ExprOp::FloatImm:
      return {fmt::format("T.{}({})", num::name_of(e.type.dtype), shortest(e.type.dtype, e.real))};
    case ExprOp::TextImm:
      return {quoted(c.f.texts[e.text])};
    case ExprOp::Var:
      return {c.names.of(e.var)};
    case ExprOp::Load:
      return {load_text(c, e)};
    case ExprOp::AddressOf:
      return {fmt::format("T.address_of({})", element(c, e.buffer, e.args))};
    case ExprOp::BufferData:
      return {fmt::format("{}.data", c.names.of(e.buffer))};
    case ExprOp::Call:
      return {intrinsic_call(c, e, id)};
    default:
      return group_of(e.op) == ExprGroup::Function ? Text{named_function(c, e)} : infix(c, e);
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string python_float(double value) {
  if (!std::isfinite(value)) return fmt::format("float(\"{}\")", value);
  return with_point(fmt::format("{}", value));
}

std::string shortest(num::DType dtype, double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  constexpr double kReadable = 1e15;  // whole numbers up to here are written out
  if (std::trunc(value) == value && std::abs(value) < kReadable)
    return fmt::format("{:.1f}", value);
  for (int digits = 1; digits < 17; ++digits) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    if (reads_as(dtype, text, value)) return with_point(text);
  }
  return python_float(value);
}

std::string expr(const Context& c, ExprId id, Precedence at_least) {
  Text text = render(c, id);
  return text.precedence < at_least ? fmt::format("({})", text.text) : std::move(text.text);
}

bool is_zero(const Context& c, const SmallVec<ExprId, 3>& indices) {
  return std::ranges::all_of(indices, [&](ExprId index) { return const_int(c.f, index) == 0; });
}

std::string element(const Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices) {
  const std::string& name = c.names.of(buffer);
  if (c.f[buffer].is_scalar && is_zero(c, indices)) return name;
  if (indices.empty()) return fmt::format("{}[()]", name);
  return fmt::format("{}[{}]", name, expr_list(c, indices, 0, indices.size()));
}

std::string expr_list(const Context& c, const SmallVec<ExprId, 3>& ids, std::size_t from,
                      std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from) out += ", ";
    out += expr(c, ids[i]);
  }
  return out;
}

std::string end_of(const Context& c, ExprId min, ExprId extent) {
  const std::optional<std::int64_t> low = const_int(c.f, min);
  const std::optional<std::int64_t> count = const_int(c.f, extent);
  if (low && count) {
    Expr end = c.f[min];
    end.integer = *low + *count;
    return int_imm(end).text;
  }
  if (low == 0) return expr(c, extent);
  // `i : n` where the extent is n - i; leaves only, so that it reads back as the same extent.
  const Expr& e = c.f[extent];
  const auto is_leaf = [&](ExprId id) {
    return c.f[id].op == ExprOp::Var || c.f[id].op == ExprOp::IntImm;
  };
  if (e.op == ExprOp::Sub && is_leaf(e.args[0]) && is_leaf(min) && same(c.f, e.args[1], min))
    return expr(c, e.args[0]);
  return fmt::format("{} + {}", expr(c, min, kSum), expr(c, extent, kProduct));
}

std::string region(const Context& c, const Region& region) {
  if (region.ranges.empty()) return fmt::format("{}[()]", c.names.of(region.buffer));
  std::string out;
  for (const RangeExpr& range : region.ranges) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}:{}", expr(c, range.min), end_of(c, range.min, range.extent));
  }
  return fmt::format("{}[{}]", c.names.of(region.buffer), out);
}

std::string setting(const Context& c, const Setting& setting) {
  if (const bool* flag = std::get_if<bool>(&setting)) return *flag ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&setting)) return fmt::format("{}", *number);
  if (const double* real = std::get_if<double>(&setting)) return python_float(*real);
  if (const auto* text = std::get_if<std::string>(&setting)) return quoted(*text);
  const ExprId id = std::get<ExprId>(setting);
  // Bare digits would read back as a plain number.
  const Expr& e = c.f[id];
  if (e.op == ExprOp::IntImm && e.type.dtype == num::DType::Int32)
    return fmt::format("T.int32({})", e.integer);
  return expr(c, id);
}

std::string settings(const Context& c,
                     const std::vector<std::pair<std::string, Setting>>& settings) {
  std::string out;
  for (const auto& [key, value] : settings) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}: {}", quoted(key), setting(c, value));
  }
  return fmt::format("{{{}}}", out);
}

// --- layouts -------------------------------------------------------------------------------------
//
// Layouts as Python text; layout/text.h has the same parts in the notation of the command line.

namespace {

using layout::Axis;

std::string axis_text(Axis axis) {
  if (Axis::builtin(axis.name())) return std::string(axis.name());
  return fmt::format("Axis.get({})", quoted(axis.name()));
}

std::string on_axis(const std::string& amount, Axis axis) {
  return axis == Axis() ? amount : fmt::format("{} @ {}", amount, axis_text(axis));
}

template <typename Item>
std::string tuple_of(const layout::Iters& iters, Item item) {
  std::string out;
  for (const layout::Iter& iter : iters) {
    if (!out.empty()) out += ", ";
    out += item(iter);
  }
  return iters.size() == 1 ? out : fmt::format("({})", out);
}

std::string iters_text(std::string_view name, const layout::Iters& iters) {
  const std::string extents =
      tuple_of(iters, [](const layout::Iter& iter) { return fmt::format("{}", iter.extent); });
  if (iters.empty()) return fmt::format("{}[{}]", name, extents);
  const std::string strides = tuple_of(iters, [](const layout::Iter& iter) {
    return on_axis(fmt::format("{}", iter.stride), iter.axis);
  });
  return fmt::format("{}[{} : {}]", name, extents, strides);
}

std::string atom_text(const layout::Atom& atom) {
  std::string out(atom.var.name());
  if (atom.div != 1) out += fmt::format(" // {}", atom.div);
  if (atom.mod != 0) out += fmt::format(" % {}", atom.mod);
  return atom.div == 1 && atom.mod == 0 ? out : fmt::format("({})", out);
}

std::string sum_text(const layout::Expr& sum) {
  std::string out;
  for (const layout::Term& term : sum.terms()) {
    if (!out.empty()) out += " + ";
    if (term.coef != 1) out += fmt::format("{} * ", term.coef);
    out += atom_text(term.atom);
  }
  if (sum.constant() != 0) out += fmt::format(" + {}", sum.constant());
  return out;
}

std::string tile_text(const layout::TileLayout& tile) {
  std::string out = iters_text("S", tile.shard());
  if (!tile.replica().empty()) out += " + " + iters_text("R", tile.replica());
  for (const Axis axis : tile.offset().axes()) {
    const layout::Expr amount = tile.offset().on(axis);
    out += amount.is_constant()
               ? fmt::format(" + {}", on_axis(fmt::format("{}", amount.constant()), axis))
               : fmt::format(" + ({}) @ {}", sum_text(amount), axis_text(axis));
  }
  return fmt::format("TileLayout({})", out);
}

}  // namespace

std::string layout_text(const layout::Layout& layout) {
  const std::string tile = tile_text(layout.tile());
  if (!layout.is_swizzled()) return tile;
  const layout::Swizzle& s = layout.swizzle();
  return fmt::format("ComposeLayout({}, {}, {}, {}{})", s.per_element(), s.len(), s.atom(), tile,
                     s.inner() ? "" : ", swizzle_inner=False");
}

// --- buffers -------------------------------------------------------------------------------------

namespace {

// float32 is what a declaration without a type means.
void append_dtype(std::vector<std::string>& args, num::DType dtype) {
  if (dtype != num::DType::Float32) args.push_back(fmt::format("\"{}\"", num::name_of(dtype)));
}

std::string tuple_text(const std::vector<std::string>& items) {
  return fmt::format("({}{})", join(items, ", "), items.size() == 1 ? "," : "");
}

// In one dimension, no layout and the plain one are the same.
bool is_flat(const Buffer& buffer) {
  return buffer.layout_kind != LayoutKind::Explicit && buffer.shape.size() == 1;
}

std::string shape_text(const Context& c, const Buffer& buffer) {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) extents.push_back(expr(c, extent));
  return tuple_text(extents);
}

// Scope, layout, offsets and alignment, as far as they are not the default.
void append_fields(const Context& c, std::vector<std::string>& args, const Buffer& buffer) {
  const auto add = [&](std::string_view key, const std::string& value) {
    args.push_back(fmt::format("{}={}", key, value));
  };
  if (buffer.elem_offset.valid()) add("elem_offset", expr(c, buffer.elem_offset));
  if (buffer.byte_offset.valid()) add("byte_offset", expr(c, buffer.byte_offset));
  if (buffer.scope != Scope::Global) add("scope", fmt::format("\"{}\"", name_of(buffer.scope)));
  if (buffer.allocated_addr.valid()) add("allocated_addr", expr(c, buffer.allocated_addr));
  if (buffer.layout_kind == LayoutKind::None) add("layout", "None");
  if (buffer.layout_kind == LayoutKind::Explicit && buffer.layout)
    add("layout", layout_text(*buffer.layout));
  if (buffer.align != 0) add("align", fmt::format("{}", buffer.align));
}

}  // namespace

std::string annotation(Type type) {
  if (!type.is_pointer()) return "T." + to_text(type);
  return type.opaque ? "T.handle" : fmt::format("T.handle(\"{}\")", num::name_of(type.dtype));
}

std::string buffer_annotation(const Context& c, const Buffer& buffer) {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) {
    const std::string text = expr(c, extent);
    const bool is_declared = const_int(c.f, extent) || !c.names.host_extents().empty();
    extents.push_back(is_declared ? text : quoted(text));
  }
  std::vector<std::string> args = {tuple_text(extents)};
  append_dtype(args, buffer.dtype);
  append_fields(c, args, buffer);
  return fmt::format("T.Buffer({})", join(args, ", "));
}

std::string allocation(const Context& c, const Buffer& buffer) {
  std::vector<std::string> args = {shape_text(c, buffer)};
  append_dtype(args, buffer.dtype);
  const bool has_short = buffer.scope == Scope::Shared || buffer.scope == Scope::Local;
  if (is_flat(buffer) && has_short && !buffer.elem_offset.valid() && !buffer.byte_offset.valid()) {
    if (buffer.align != 0) args.push_back(fmt::format("align={}", buffer.align));
    return fmt::format("T.alloc_{}({})", name_of(buffer.scope), join(args, ", "));
  }
  append_fields(c, args, buffer);
  return fmt::format("T.alloc_buffer({})", join(args, ", "));
}

std::string declaration(const Context& c, BufferId id) {
  const Buffer& buffer = c.f[id];
  std::vector<std::string> args;
  std::string_view function = "decl_buffer";
  if (buffer.origin == BufferOrigin::Param) {
    function = "match_buffer";
    args.push_back(c.names.of(buffer.param));
  }
  args.push_back(shape_text(c, buffer));
  append_dtype(args, buffer.dtype);
  if (buffer.origin == BufferOrigin::View)
    args.push_back(fmt::format("data={}.data", c.names.of(buffer.base)));
  if (buffer.origin == BufferOrigin::Pointer && buffer.pointer.valid())
    args.push_back(fmt::format("data={}", expr(c, buffer.pointer)));
  append_fields(c, args, buffer);
  return fmt::format("T.{}({})", function, join(args, ", "));
}

// --- calls ---------------------------------------------------------------------------------------
//
// Tile primitives and PTX instructions. The instructions that the language has functions of its own
// for (matrix copies, mma, tensor memory) print as those; all others by their opcode.

namespace {

using Operands = std::span<const PtxOperand>;

bool all_of_kind(Operands operands, PtxOperandKind kind) {
  return std::ranges::all_of(operands,
                             [kind](const PtxOperand& operand) { return operand.kind == kind; });
}

bool is_plain_address(const PtxOperand& operand) {
  return operand.kind == PtxOperandKind::Address && !operand.offset.valid();
}

/// The address and the registers of a load or store between memory and registers.
struct Copy {
  PtxOperand address;
  Operands registers;
};
std::optional<Copy> split_copy(const PtxCall& call, bool address_first) {
  const Operands all = call.operands;
  if (all.size() < 2) return std::nullopt;
  Copy copy{address_first ? all.front() : all.back(),
            address_first ? all.subspan(1) : all.first(all.size() - 1)};
  if (!is_plain_address(copy.address)) return std::nullopt;
  return copy;
}

/// The words of a dense mma that has no more than these; empty for any other instruction.
std::vector<std::string_view> plain_mma_words(const isa::Opcode& opcode) {
  if (opcode.mnemonic() != "mma") return {};
  std::vector<std::string_view> words;
  const isa::Binding& binding = opcode.binding();
  static constexpr isa::SlotName kSlots[] = {"sync",  "aligned", "shape", "alayout", "blayout",
                                             "dtype", "atype",   "btype", "ctype"};
  for (const isa::SlotName slot : kSlots)
    if (binding.has(slot)) words.push_back(binding.word(slot).text());
  return words.size() == 9 && binding.given_count() == 9 ? words : std::vector<std::string_view>();
}

/// Registers per operand of an mma, d a b c; nothing when there is more than one form or operand.
std::optional<std::vector<int>> mma_counts(const isa::Opcode& opcode) {
  if (opcode.forms().size() != 1) return std::nullopt;
  std::vector<int> counts;
  for (const isa::OperandSpec& spec : opcode.binding().form().operands)
    counts.push_back(isa::count_of(spec, opcode.binding()).value_or(1));
  if (counts.size() != 4) return std::nullopt;
  return counts;
}

std::string tile_arg(const Context& c, const TileArg& arg) {
  if (const auto* where = std::get_if<Region>(&arg)) return region(c, *where);
  if (const auto* id = std::get_if<ExprId>(&arg)) return expr(c, *id);
  // Several axes of a reduction.
  if (const auto* axes = std::get_if<std::string>(&std::get<Setting>(arg)))
    return fmt::format("({})", *axes);
  return setting(c, std::get<Setting>(arg));
}

std::string ptx_operand(const Context& c, const PtxOperand& operand) {
  switch (operand.kind) {
    case PtxOperandKind::Value:
      break;
    case PtxOperandKind::At:
      return fmt::format("T.ptx.at({})", expr(c, operand.expr));
    case PtxOperandKind::Address:
      if (!operand.offset.valid()) break;
      return fmt::format("T.ptx.addr({}, {})", expr(c, operand.expr), expr(c, operand.offset));
    case PtxOperandKind::Sink:
      return "T.ptx.SINK";
    case PtxOperandKind::Predicate:
      return fmt::format("T.ptx.pred({})", expr(c, operand.expr));
  }
  return expr(c, operand.expr);
}

std::string plain_ptx(const Context& c, const PtxCall& call) {
  std::vector<std::string> args;
  for (const PtxOperand& operand : call.operands) args.push_back(ptx_operand(c, operand));
  if (call.predicate.valid()) args.push_back(fmt::format("pred={}", expr(c, call.predicate)));
  if (call.keep) args.emplace_back("keep=True");
  return fmt::format("T.ptx[{}]({})", quoted(call.opcode.text()), join(args, ", "));
}

// ldmatrix and stmatrix of 8x8 matrices of 16-bit elements; "" for anything else, as below.
std::string matrix_copy(const Context& c, const PtxCall& call) {
  const isa::Mnemonic called = call.opcode.mnemonic();
  const bool is_store = called == "stmatrix";
  if (called != "ldmatrix" && !is_store) return "";
  const isa::Binding& binding = call.opcode.binding();
  if (binding.word("shape") != "m8n8" || binding.word("space") != "shared") return "";
  const std::optional<Copy> copy = split_copy(call, is_store);
  if (!copy || !all_of_kind(copy->registers, PtxOperandKind::At)) return "";
  std::vector<std::string> args = {expr(c, copy->address.expr)};
  for (const PtxOperand& reg : copy->registers) args.push_back(expr(c, reg.expr));
  return fmt::format("T.ptx.{}(T.bool({}), {}, \".b16\", {})", called,
                     binding.has("trans") ? "True" : "False", binding.number("num"),
                     join(args, ", "));
}

std::string mma_call(const Context& c, const PtxCall& call) {
  const std::vector<std::string_view> words = plain_mma_words(call.opcode);
  if (words.empty() || !all_of_kind(call.operands, PtxOperandKind::At)) return "";
  std::vector<std::string> args = {quoted(words[2]), quoted(words[3]), quoted(words[4])};
  for (std::size_t i = 5; i < words.size(); ++i) {
    const Result<num::DType> dtype = num::parse_dtype(words[i]);
    if (!dtype) return "";
    args.push_back(quoted(num::name_of(*dtype)));
  }
  const std::optional<std::vector<int>> counts = mma_counts(call.opcode);
  if (!counts) return "";
  std::size_t total = 0;
  for (const int count : *counts) {
    total += static_cast<std::size_t>(count);
    args.push_back(fmt::format("{}", count));
  }
  if (total != call.operands.size()) return "";
  args.emplace_back("False");  // no saturation
  for (const PtxOperand& reg : call.operands) args.push_back(expr(c, reg.expr));
  return fmt::format("T.ptx.mma({})", join(args, ", "));
}

// tcgen05.ld and .st at an address that is made of base, row and column.
std::string tensor_copy(const Context& c, const PtxCall& call) {
  const bool is_store = call.opcode.mnemonic() == "tcgen05.st";
  if (call.opcode.mnemonic() != "tcgen05.ld" && !is_store) return "";
  const isa::Binding& binding = call.opcode.binding();
  if (!binding.has("aligned") || binding.word("shape") == "16x32bx2") return "";
  const std::optional<Copy> copy = split_copy(call, is_store);
  if (!copy || !all_of_kind(copy->registers, PtxOperandKind::Value)) return "";
  const Expr& address = c.f[copy->address.expr];
  if (address.op != ExprOp::Call || address.callee != Intrinsic::TmemAddr) return "";
  std::vector<std::string> args;
  for (const PtxOperand& reg : copy->registers) args.push_back(expr(c, reg.expr));
  const bool is_packed = binding.has("pack") || binding.has("unpack");
  return fmt::format("T.ptx.{}({}, {}, {}, {}, {})", call.opcode.mnemonic(),
                     expr_list(c, address.args, 0, 3), quoted(binding.word("shape").text()),
                     binding.number("num"), is_packed ? "True" : "False", join(args, ", "));
}

}  // namespace

std::string tile_call(const Context& c, const TileCall& call) {
  const std::vector<TileParam>& params = params_of(call.op);
  std::vector<std::string> args;
  std::vector<std::string> keywords;
  for (std::size_t i = 0; i < params.size() && i < call.args.size(); ++i) {
    if (std::holds_alternative<std::monostate>(call.args[i])) continue;
    std::string text = tile_arg(c, call.args[i]);
    if (params[i].required) {
      args.push_back(std::move(text));
    } else if (text != params[i].default_text) {
      keywords.push_back(fmt::format("{}={}", params[i].name, text));
    }
  }
  for (const auto& [key, value] : call.config)
    keywords.push_back(fmt::format("{}={}", key, setting(c, value)));
  if (!call.dispatch.empty()) keywords.push_back(fmt::format("dispatch={}", quoted(call.dispatch)));
  if (!call.workspace.empty()) {
    std::vector<std::string> buffers;
    for (const auto& [key, buffer] : call.workspace)
      buffers.push_back(fmt::format("{}: {}", quoted(key), c.names.of(buffer)));
    keywords.push_back(fmt::format("workspace={{{}}}", join(buffers, ", ")));
  }
  args.insert(args.end(), keywords.begin(), keywords.end());
  return fmt::format("{}({})", tile_name(call), join(args, ", "));
}

std::string ptx_call(const Context& c, const PtxCall& call) {
  if (!call.predicate.valid() && !call.keep) {
    for (std::string text : {matrix_copy(c, call), mma_call(c, call), tensor_copy(c, call)}) {
      if (!text.empty()) return text;
    }
  }
  return plain_ptx(c, call);
}

}  // namespace ww::ir::printing
