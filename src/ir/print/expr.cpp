// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/equal.h"
#include "ir/print/printer.h"
#include "ir/simplify/fold.h"
#include "num/float_format.h"

namespace ww::ir::printing {
namespace {

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

std::string Writer::expr(ExprId id, Precedence at_least) const {
  Text text = render(id);
  return text.precedence < at_least ? fmt::format("({})", text.text) : std::move(text.text);
}

Text Writer::render(ExprId id) const {
  const Expr& e = f_[id];
  switch (e.op) {
    case ExprOp::IntImm:
      return int_imm(e);
    case ExprOp::FloatImm:
      return {fmt::format("T.{}({})", num::name_of(e.type.dtype), shortest(e.type.dtype, e.real))};
    case ExprOp::TextImm:
      return {quoted(f_.texts[e.text])};
    case ExprOp::Var:
      return {names_.of(e.var)};
    case ExprOp::Load:
      return {load(e)};
    case ExprOp::AddressOf:
      return {fmt::format("T.address_of({})", element(e.buffer, e.args))};
    case ExprOp::BufferData:
      return {fmt::format("{}.data", names_.of(e.buffer))};
    case ExprOp::Call:
      return {call(e)};
    default:
      return group_of(e.op) == ExprGroup::Function ? Text{named_function(e)} : infix(e);
  }
}

Text Writer::int_imm(const Expr& e) const {
  if (e.type.is_bool()) return {e.integer != 0 ? "T.bool(True)" : "T.bool(False)"};
  const std::string digits = int_text(e.type.dtype, e.integer);
  if (e.type.dtype == num::DType::Int32) return {digits, e.integer < 0 ? kUnary : kAtom};
  return {fmt::format("T.{}({})", num::name_of(e.type.dtype), digits)};
}

// Operators group to the left; comparisons do not group at all, since Python would chain them.
Text Writer::infix(const Expr& e) const {
  const Precedence own = precedence_of(e.op);
  const std::string_view sign = spelling_of(e.op);
  if (e.args.size() == 1)
    return {fmt::format("{}{}{}", sign, e.op == ExprOp::Not ? " " : "", expr(e.args[0], own)), own};
  const Precedence left = own == kCompare ? tighter(own) : own;
  return {fmt::format("{} {} {}", expr(e.args[0], left), sign, expr(e.args[1], tighter(own))), own};
}

bool Writer::is_zero(const SmallVec<ExprId, 3>& indices) const {
  return std::ranges::all_of(indices, [&](ExprId index) { return const_int(f_, index) == 0; });
}

// `B[i, j]`; a scalar by its name.
std::string Writer::element(BufferId buffer, const SmallVec<ExprId, 3>& indices) const {
  const std::string& name = names_.of(buffer);
  if (f_[buffer].is_scalar && is_zero(indices)) return name;
  if (indices.empty()) return fmt::format("{}[()]", name);
  return fmt::format("{}[{}]", name, list(indices, 0, indices.size()));
}

std::string Writer::load(const Expr& e) const {
  const bool is_run = e.type.lanes > 1 && (e.args.empty() || f_[e.args.back()].type.lanes == 1);
  if (!is_run) return element(e.buffer, e.args);
  return fmt::format("{}.vload([{}], dtype=\"{}\")", names_.of(e.buffer),
                     list(e.args, 0, e.args.size()), to_text(e.type));
}

std::string Writer::named_function(const Expr& e) const {
  const std::string_view name = spelling_of(e.op);
  const std::string args = list(e.args, 0, e.args.size());
  switch (e.op) {
    case ExprOp::Cast:
    case ExprOp::Reinterpret:
      return fmt::format("T.{}(\"{}\", {})", name, to_text(e.type), args);
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return fmt::format("T.{}({}, {})", name, args, e.type.lanes);
    case ExprOp::Shuffle: {
      const std::size_t vectors = e.args.size() - e.type.lanes;
      return fmt::format("T.Shuffle([{}], [{}])", list(e.args, 0, vectors),
                         list(e.args, vectors, e.args.size()));
    }
    default:
      return fmt::format("T.{}({})", name, args);
  }
}

std::string Writer::call(const Expr& e) const {
  const std::string_view name = facts_of(e.callee).name;
  if (e.callee == Intrinsic::ByteOffset) {
    const std::string to(e.type.opaque ? "void" : num::name_of(e.type.dtype));
    return fmt::format("T.{}({}, \"{}\")", name, list(e.args, 0, e.args.size()), to);
  }
  if (e.callee != Intrinsic::FuncCall)
    return fmt::format("T.{}({})", name, list(e.args, 0, e.args.size()));
  const std::string args = list(e.args, 2, e.args.size());
  return fmt::format("T.{}({}{}{}, source_code={}, return_type=\"{}\")", name, expr(e.args[0]),
                     args.empty() ? "" : ", ", args, expr(e.args[1]), to_text(e.type));
}

std::string Writer::list(const SmallVec<ExprId, 3>& ids, std::size_t from, std::size_t to) const {
  std::string out;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from) out += ", ";
    out += expr(ids[i]);
  }
  return out;
}

// min + extent: one number when both are constant, and otherwise exactly this sum, from which a
// reader recovers the extent.
std::string Writer::end_of(ExprId min, ExprId extent) const {
  const std::optional<std::int64_t> low = const_int(f_, min);
  const std::optional<std::int64_t> count = const_int(f_, extent);
  if (low && count) {
    Expr end = f_[min];
    end.integer = *low + *count;
    return int_imm(end).text;
  }
  if (low == 0) return expr(extent);
  // `i : n` where the extent is n - i; leaves only, so that it reads back as the same extent.
  const Expr& e = f_[extent];
  const auto is_leaf = [&](ExprId id) {
    return f_[id].op == ExprOp::Var || f_[id].op == ExprOp::IntImm;
  };
  if (e.op == ExprOp::Sub && is_leaf(e.args[0]) && is_leaf(min) && same(f_, e.args[1], min))
    return expr(e.args[0]);
  return fmt::format("{} + {}", expr(min, kSum), expr(extent, kProduct));
}

std::string Writer::region(const Region& region) const {
  if (region.ranges.empty()) return fmt::format("{}[()]", names_.of(region.buffer));
  std::string out;
  for (const RangeExpr& range : region.ranges) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}:{}", expr(range.min), end_of(range.min, range.extent));
  }
  return fmt::format("{}[{}]", names_.of(region.buffer), out);
}

std::string Writer::setting(const Setting& setting) const {
  if (const bool* flag = std::get_if<bool>(&setting)) return *flag ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&setting)) return fmt::format("{}", *number);
  if (const double* real = std::get_if<double>(&setting)) return python_float(*real);
  if (const auto* text = std::get_if<std::string>(&setting)) return quoted(*text);
  const ExprId id = std::get<ExprId>(setting);
  // Bare digits would read back as a plain number.
  const Expr& e = f_[id];
  if (e.op == ExprOp::IntImm && e.type.dtype == num::DType::Int32)
    return fmt::format("T.int32({})", e.integer);
  return expr(id);
}

std::string Writer::settings(const std::vector<std::pair<std::string, Setting>>& settings) const {
  std::string out;
  for (const auto& [key, value] : settings) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}: {}", quoted(key), setting(value));
  }
  return fmt::format("{{{}}}", out);
}

}  // namespace ww::ir::printing
