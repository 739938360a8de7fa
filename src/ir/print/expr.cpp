// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/equal.h"
#include "ir/print/printer.h"
#include "ir/simplify/fold.h"
#include "ir/tensor_map.h"
#include "num/float_format.h"

namespace ww::ir::printing {
namespace {

struct Text {
  std::string text;
  Precedence precedence = kAtom;
};

Precedence precedence_of(ExprOp op) {
  switch (op) {
    case ExprOp::Or:
      return kOr;
    case ExprOp::And:
      return kAnd;
    case ExprOp::Not:
      return kNot;
    case ExprOp::BitOr:
      return kBitOr;
    case ExprOp::BitXor:
      return kBitXor;
    case ExprOp::BitAnd:
      return kBitAnd;
    case ExprOp::Shl:
    case ExprOp::Shr:
      return kShift;
    case ExprOp::Add:
    case ExprOp::Sub:
      return kSum;
    case ExprOp::Mul:
    case ExprOp::Div:
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
      return kProduct;
    case ExprOp::Neg:
    case ExprOp::BitNot:
      return kUnary;
    default:
      return group_of(op) == ExprGroup::Compare ? kCompare : kAtom;
  }
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

}  // namespace ww::ir::printing
