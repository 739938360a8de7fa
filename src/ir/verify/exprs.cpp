// SPDX-License-Identifier: Apache-2.0
// Types of expressions, and accesses to buffers.
#include <algorithm>
#include <cmath>

#include "ir/signatures.h"
#include "ir/simplify/fold.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

using num::DType;

/// Looks at one expression; its operands have had their turn.
class ExprCheck {
 public:
  ExprCheck(Context& c, const Expr& e) : c_(c), f_(c.f), e_(e) {}

  void run() {
    switch (e_.op) {
      case ExprOp::IntImm:
        return int_imm();
      case ExprOp::FloatImm:
        return float_imm();
      case ExprOp::TextImm:
        return wants_type(Type::text());
      case ExprOp::Var:
        return wants_type(f_[e_.var].type);
      case ExprOp::Load:
        return load();
      case ExprOp::AddressOf:
        check_access(c_, e_.buffer, e_.args, 1, e_.span);
        return wants_type(Type::pointer(f_[e_.buffer].dtype));
      case ExprOp::BufferData:
        return wants_type(Type::pointer(f_[e_.buffer].dtype));
      case ExprOp::Cast:
        if (!arg(0).is_value() || !e_.type.is_value() || arg(0).lanes != e_.type.lanes)
          conversion();
        return;
      case ExprOp::Reinterpret:
        return reinterpret();
      case ExprOp::Select:
      case ExprOp::IfThenElse:
        if (!arg(0).is_bool()) wrong(0, "a condition");
        if (arg(1) != arg(2)) mixed(1, 2);
        return wants_type(arg(1));
      case ExprOp::Ramp:
        if (!arg(0).is_int() || !arg(0).is_scalar()) wrong(0, "an integer");
        if (arg(0) != arg(1)) mixed(0, 1);
        return wants_type(Type::of(arg(0).dtype, e_.type.lanes));
      case ExprOp::Broadcast:
        if (!arg(0).is_scalar()) wrong(0, "one value");
        return wants_type(Type::of(arg(0).dtype, e_.type.lanes));
      case ExprOp::Shuffle:
        return shuffle();
      case ExprOp::Call:
        return call();
      default:
        return arithmetic();
    }
  }

 private:
  [[nodiscard]] Type arg(std::size_t i) const { return f_[e_.args[i]].type; }
  [[nodiscard]] std::string name() const {
    if (e_.op == ExprOp::Call) return fmt::format("T.{}", facts_of(e_.callee).name);
    const std::string_view spelling = spelling_of(e_.op);
    return std::string(spelling.empty() ? name_of(e_.op) : spelling);
  }

  void wants_type(Type wanted) {
    if (e_.type == wanted) return;
    c_.report(DiagKind::BadType, e_.span, "`{}` has type `{}`, its operands make it `{}`", name(),
              to_text(e_.type), to_text(wanted));
  }
  void wrong(std::size_t i, std::string_view wanted) {
    c_.report(DiagKind::BadType, e_.span, "`{}` of `{}`, expected {}", name(), to_text(arg(i)),
              wanted);
  }
  void mixed(std::size_t i, std::size_t k) {
    c_.report(DiagKind::BadType, e_.span, "`{}` of `{}` and `{}`", name(), to_text(arg(i)),
              to_text(arg(k)));
  }
  void conversion() {
    c_.report(DiagKind::BadType, e_.span, "`{}` from `{}` to `{}`", name(), to_text(arg(0)),
              to_text(e_.type));
  }

  void int_imm() {
    const bool is_whole = (e_.type.is_int() || e_.type.is_bool()) && e_.type.is_scalar();
    if (is_whole && wrap(e_.type.dtype, e_.integer) == e_.integer) return;
    c_.report(DiagKind::BadType, e_.span, "the constant {} has type `{}`", e_.integer,
              to_text(e_.type));
  }

  void float_imm() {
    const bool is_float = e_.type.is_float() && e_.type.is_scalar();
    if (is_float && (std::isnan(e_.real) || round_to(e_.type.dtype, e_.real) == e_.real)) return;
    c_.report(DiagKind::BadType, e_.span, "the constant {} has type `{}`", e_.real,
              to_text(e_.type));
  }

  void load() {
    const bool by_vector = !e_.args.empty() && f_[e_.args.back()].type.lanes > 1;
    check_access(c_, e_.buffer, e_.args, by_vector ? 1 : e_.type.lanes, e_.span);
    wants_type(
        Type::of(f_[e_.buffer].dtype, by_vector ? f_[e_.args.back()].type.lanes : e_.type.lanes));
  }

  void reinterpret() {
    const Type from = arg(0);
    const Type to = e_.type;
    const bool same_bits =
        from.is_value() && to.is_value() &&
        num::storage_bits(from.dtype) * from.lanes == num::storage_bits(to.dtype) * to.lanes;
    const bool of_pointer = from.is_pointer() && (to.is_pointer() || to == Type::of(DType::Uint64));
    if (!same_bits && !of_pointer) conversion();
  }

  void shuffle() {
    const std::size_t vectors = e_.args.size() - e_.type.lanes;
    int lanes = 0;
    for (std::size_t i = 0; i < vectors; ++i) {
      if (!arg(i).is_value() || arg(i).dtype != e_.type.dtype)
        wrong(i, fmt::format("`{}`", num::name_of(e_.type.dtype)));
      lanes += arg(i).lanes;
    }
    for (std::size_t i = vectors; i < e_.args.size(); ++i) {
      const std::optional<std::int64_t> index = const_int(f_, e_.args[i]);
      if (!index || *index < 0 || *index >= lanes)
        c_.report(DiagKind::BadType, e_.span, "a lane of `Shuffle` is not a constant from 0 to {}",
                  lanes - 1);
    }
  }

  // --- operators ---

  void arithmetic() {
    if (e_.args.size() == 2 && arg(0) != arg(1)) return mixed(0, 1);
    if (!takes(e_.op, arg(0))) {
      c_.report(DiagKind::BadType, e_.span, "`{}` of `{}`", name(), to_text(arg(0)));
      return;
    }
    const bool compares = group_of(e_.op) == ExprGroup::Compare;
    wants_type(compares ? Type::of(DType::Bool, arg(0).lanes) : arg(0));
  }

  // --- functions ---

  void call() {
    const IntrinsicFacts& facts = facts_of(e_.callee);
    if (std::optional<Diag> fault = fault_of_call(f_, e_, c_.bound)) {
      c_.findings.push_back(std::move(*fault));
      return;
    }
    switch (facts.result) {
      case ResultRule::Same:
        return wants_type(arg(0));
      case ResultRule::Value:
        return wants_type(arg(1));
      case ResultRule::Bool:
        return wants_type(
            Type::of(DType::Bool, facts.effect == Effect::Pure ? arg(0).lanes : std::uint16_t{1}));
      case ResultRule::Int32:
        return wants_type(Type::of(DType::Int32));
      case ResultRule::Uint32:
        return wants_type(Type::of(DType::Uint32));
      case ResultRule::Void:
        return wants_type(Type::none());
      case ResultRule::Pointee:
        return wants_type(Type::of(arg(0).dtype));
      case ResultRule::Pointer:
        if (!e_.type.is_pointer()) wants_type(arg(0));
        return;
      case ResultRule::Declared:
        return;
    }
  }

  Context& c_;
  const Function& f_;
  const Expr& e_;
};

/// The constant indices that a vector or scalar index runs over, first and last.
std::optional<std::pair<std::int64_t, std::int64_t>> constant_range(const Function& f, ExprId index,
                                                                    int lanes) {
  if (const auto value = const_int(f, index)) return std::pair(*value, *value + lanes - 1);
  const Expr& e = f[index];
  if (e.op != ExprOp::Ramp) return std::nullopt;
  const auto base = const_int(f, e.args[0]);
  const auto stride = const_int(f, e.args[1]);
  if (!base || !stride) return std::nullopt;
  return std::minmax(*base, *base + *stride * (e.type.lanes - 1));
}

std::string thread_axes_text(const Buffer& buffer) {
  std::string out;
  for (const layout::Axis axis : layout::moving_axes(buffer.layout->tile())) {
    if (axis.is_thread()) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", axis.name());
  }
  return out;
}

void check_index(Context& c, const Buffer& buffer, std::size_t dim, ExprId index, int lanes,
                 Span span) {
  const Type type = c.f[index].type;
  const bool is_last = dim + 1 == buffer.shape.size();
  if (!type.is_int() || (type.lanes > 1 && !is_last)) {
    c.report(DiagKind::BadType, span, buffer,
             "the index of dimension {} of `{}` has type `{}`, expected an integer", dim,
             buffer.name, to_text(type));
    return;
  }
  // Lowering makes constants of indices in code that a condition keeps from running.
  if (c.f.level == Level::Lowered) return;
  const auto range = constant_range(c.f, index, is_last ? lanes : 1);
  const auto extent = const_int(c.f, buffer.shape[dim]);
  if (!range || (range->first >= 0 && (!extent || range->second < *extent))) return;
  c.report(DiagKind::OutOfBounds, span, buffer, "index {} in dimension {} of `{}`, which has {}",
           range->first < 0 ? range->first : range->second, dim, buffer.name,
           extent ? fmt::format("extent {}", *extent) : "no negative ones");
}

}  // namespace

void check_access(Context& c, BufferId id, const SmallVec<ExprId, 3>& indices, int lanes,
                  Span span) {
  const Buffer& buffer = c.f[id];
  if (has_thread_axes(buffer)) {
    c.report(DiagKind::BadBuffer, span, buffer,
             "an element of `{}` is accessed, which is spread over {}; a thread's part is "
             "`{}.local()`",
             buffer.name, thread_axes_text(buffer), buffer.name);
  } else if (buffer.scope == Scope::Tmem) {
    c.report(DiagKind::BadBuffer, span, buffer,
             "an element of `{}` is accessed, which is in tensor memory; only tcgen05 reaches it",
             buffer.name);
  }
  if (indices.size() != buffer.shape.size()) {
    c.report(DiagKind::RankMismatch, span, buffer, "{} for `{}`, which has {}",
             counted(indices.size(), "index", "indices"), buffer.name,
             counted(buffer.shape.size(), "dimension", "dimensions"));
    return;
  }
  for (std::size_t dim = 0; dim < indices.size(); ++dim)
    check_index(c, buffer, dim, indices[dim], lanes, span);
}

void check_exprs(Context& c) {
  for_each_expr(c.f, [&](ExprId id) { ExprCheck(c, c.f[id]).run(); });
}

}  // namespace ww::ir::verifying
