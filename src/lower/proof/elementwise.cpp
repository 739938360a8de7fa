// SPDX-License-Identifier: Apache-2.0
// An elementwise primitive is proven by carrying it out on numbers that stand for values. Every
// element of an operand gets a number of 64 bits that nothing else has but elements in the same
// registers, and so do scalars known at run time only; constants have one by type and value. What
// is computed from numbers is a hash of them, of the operation and of its type, in the order of the
// operands. What must come out for an element is the hash that the table in ir/elementwise.h gives:
// a wrong register or thread, a store too few or in place of another, operands in another order, a
// conversion left out all give another number.
#include <bit>
#include <span>
#include <string>

#include "base/check.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "isa/form.h"
#include "lower/elementwise/forms.h"
#include "lower/proof/machine.h"
#include "lower/proof/proof.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;
using num::DType;

std::optional<ir::Constant> constant_of(const ir::Setting& setting) {
  if (const auto* real = std::get_if<double>(&setting))
    return ir::Constant{DType::Float64, 0, *real};
  if (const auto* whole = std::get_if<std::int64_t>(&setting))
    return ir::Constant{DType::Int64, *whole, 0};
  if (const auto* flag = std::get_if<bool>(&setting))
    return ir::Constant{DType::Bool, *flag ? 1 : 0, 0};
  return std::nullopt;
}

/// Whole numbers are divided for indices only.
bool is_value_operator(ExprOp op) {
  const ir::ExprGroup group = ir::group_of(op);
  return op == ExprOp::Min || op == ExprOp::Max || group == ir::ExprGroup::Compare ||
         group == ir::ExprGroup::Prefix ||
         (group == ir::ExprGroup::Infix && op != ExprOp::FloorDiv && op != ExprOp::FloorMod);
}

/// Does an instruction convert into a word of two elements?
bool is_of_two(std::string_view opcode) {
  const bool may_be = !opcode.empty() && opcode[0] == 'c';  // asked for every element
  return may_be && opcode.starts_with("cvt.") && opcode.find("x2") != std::string_view::npos;
}
/// The name under which such a conversion is known for each of them.
std::string of_one(std::string_view opcode) {
  std::string out(opcode);
  if (is_of_two(opcode)) out.erase(out.find("x2"), 2);
  return out;
}

/// What the primitive reads: a region, or a scalar.
struct ElementwiseOperand {
  num::DType type = num::DType::Float32;
  std::optional<RegionElements> elements = {};
  std::vector<std::int64_t> extents = {};  // of the region
  std::optional<ir::Constant> constant = {};
  ir::ExprId scalar = {};  // known at run time only
  Number number = 0;       // of the scalar; of elements, what tells this operand from others
  bool is_left_out = false;

  /// What the numbers of its elements begin with.
  [[nodiscard]] Number begun() const { return hashes::begun(hashes::kElement, number, type); }
  /// The number of an element.
  [[nodiscard, gnu::always_inline]] static Number number_of(Number begun, std::int64_t name) {
    return chained(begun, static_cast<Number>(name));
  }
};

// --- what the code does --------------------------------------------------------------------------

class ElementwiseMachine : public Machine {
 public:
  ElementwiseMachine(const Call& call, ProofValues& values, Trial trial,
                     const std::vector<ElementwiseOperand>& operands, const RegionElements& dst,
                     Registers& registers)
      : Machine(call, values, trial.first_thread, dst, registers), operands_(operands) {}

 private:
  std::optional<Number> known(ExprId expr) override {
    if (const auto constant = hashes::constant_of(f_, expr)) return hashes::number_of(*constant);
    // Where something has changed, the text of a scalar may mean another value.
    if (!has_changed_ || f_[expr].op == ExprOp::Var)
      for (const ElementwiseOperand& operand : operands_)
        if (operand.scalar.valid() && ir::same(f_, operand.scalar, expr)) return operand.number;
    return std::nullopt;
  }

  Try<ThreadNumbers> operated(ExprId expr, const Mask& mask) override {
    const ir::Expr& e = f_[expr];
    const auto args = WW_TRY(values_of(e, mask));
    const DType type = e.args.empty() ? e.type.dtype : f_[e.args[0]].type.dtype;
    switch (e.op) {
      case ExprOp::Cast:
        if (type == e.type.dtype) return args[0];
        return hashed(hashes::begun(hashes::kCast, static_cast<Number>(type), e.type.dtype), args);
      case ExprOp::Select:
        return hashed(hashes::begun(hashes::kChoice, 0, e.type.dtype), args);
      case ExprOp::Call:
        if (args.empty() || args.size() > 3) break;
        return hashed(hashes::begun(hashes::kCall, static_cast<Number>(e.callee), type), args);
      default:
        if (!is_value_operator(e.op)) break;
        return hashed(hashes::begun(hashes::kOperator, static_cast<Number>(e.op), type), args);
    }
    return unknown("`{}`", ir::print(f_, expr));
  }
  // The hash that begins so, of the arguments of each thread.
  [[nodiscard]] ThreadNumbers hashed(Number begun, const std::vector<ThreadNumbers>& args) const {
    ThreadNumbers out(values_.threads(), begun);
    for (const ThreadNumbers& arg : args)
      for (std::size_t t = 0; t < out.size(); ++t) out[t] = chained(out[t], arg[t]);
    return out;
  }

  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    auto number = value(s.expr, mask);
    if (!number) return ProofWalk::bind(s, mask);
    bound_[s.var.index] = *std::move(number);
    return {};
  }

  // Instructions on words of two elements, which compute each half by itself.
  struct Packed {
    DType type;
    std::size_t operands;
    Number begun;  // the hash of a half
  };
  static std::optional<Packed> packed_of(const isa::Opcode& opcode) {
    const isa::Binding& binding = opcode.binding();
    const isa::Word word = binding.word("type");
    const isa::Mnemonic mnemonic = opcode.mnemonic();
    if (!word.is_one_of({"f16x2", "bf16x2", "f32x2"})) return std::nullopt;
    const DType type = isa::info(*parse_type(word)).number;
    const bool is_rounded = binding.word("rnd") == "rn";
    if (binding.given_count() != (is_rounded ? 2U : 1U)) return std::nullopt;
    const auto op = mnemonic.as<ExprOp>({{"add", ExprOp::Add},
                                         {"sub", ExprOp::Sub},
                                         {"mul", ExprOp::Mul},
                                         {"min", ExprOp::Min},
                                         {"max", ExprOp::Max},
                                         {"neg", ExprOp::Neg}});
    if (op)
      return Packed{type, *op == ExprOp::Neg ? 1U : 2U,
                    hashes::begun(hashes::kOperator, static_cast<Number>(*op), type)};
    const bool is_fma = mnemonic == "fma";
    if (!is_fma && mnemonic != "abs") return std::nullopt;
    const auto callee = is_fma ? ir::Intrinsic::Fma : ir::Intrinsic::Abs;
    return Packed{type, is_fma ? 3U : 1U,
                  hashes::begun(hashes::kCall, static_cast<Number>(callee), type)};
  }
  // Approximations and conversions: all of their operands but the first are values.
  static bool is_function(const isa::Opcode& opcode) {
    const isa::Mnemonic name = opcode.mnemonic();
    return name == "cvt" ||
           (name.is_one_of({"ex2", "lg2", "sin", "cos", "tanh", "rcp", "sqrt", "rsqrt", "div"}) &&
            opcode.text().find(".approx.") != std::string_view::npos);
  }
  Try<void> compute(const ir::PtxCall& call, const Mask& mask) {
    const ir::Expr& target = f_[call.operands[0].expr];
    if (target.op != ExprOp::Load) return unknown("`{}`", call.opcode.text());
    std::vector<ThreadNumbers> args;
    for (std::size_t i = 1; i < call.operands.size(); ++i)
      args.push_back(WW_TRY(value(call.operands[i].expr, mask)));
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    const DType type = f_[target.buffer].dtype;
    return put_all(to, 0, num::storage_bits(type),
                   hashed(hashes::begun(call.opcode.text(), type), args), mask);
  }

  // Conversions to or from words of two elements.
  struct PairCast {
    DType from, to;
    Number
        begun;  // the hash of a half: of T.Cast where it rounds as that does, or of the instruction
  };
  static std::optional<PairCast> pair_cast_of(const isa::Opcode& opcode) {
    if (opcode.mnemonic() != "cvt" || opcode.text().find("x2") == std::string_view::npos)
      return std::nullopt;
    const isa::Binding& binding = opcode.binding();
    const isa::Word from_word = binding.word("atype"), to_word = binding.word("dtype");
    for (const isa::Word word : {from_word, to_word})
      if (!word.is_one_of({"f32", "f16x2", "bf16x2", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2",
                           "e2m1x2", "ue8m0x2"}))
        return std::nullopt;
    const DType from = isa::info(*parse_type(from_word)).number;
    const DType to = isa::info(*parse_type(to_word)).number;
    const std::string usual = fmt::format(
        "cvt.rn{}.{}.{}", num::bits_of(to) <= 8 ? ".satfinite" : "", to_word, from_word);
    const bool is_plain = opcode.text() == usual && to != DType::Float8E8M0;
    return PairCast{from, to,
                    is_plain ? hashes::begun(hashes::kCast, static_cast<Number>(from), to)
                             : hashes::begun(of_one(opcode.text()), to)};
  }
  // The upper element is the first of two operands.
  Try<void> convert_pair(const PairCast& cast, const ir::PtxCall& call, const Mask& mask) {
    const bool is_split = cast.from == DType::Float32;
    if (call.operands.size() != (is_split ? 3U : 2U)) return unknown("`{}`", call.opcode.text());
    std::vector<ThreadNumbers> halves;
    if (is_split) {
      for (const std::size_t i : {2U, 1U})
        halves.push_back(WW_TRY(value(call.operands[i].expr, mask)));
    } else {
      halves = WW_TRY(read_halves(WW_TRY(register_of(call.operands[1], mask)), cast.from, mask));
    }
    for (ThreadNumbers& half : halves) half = hashed(cast.begun, {half});
    return put_halves(WW_TRY(register_of(call.operands[0], mask)), cast.to, halves, mask);
  }

  Try<void> instruct(const ir::PtxCall& call, const Mask& mask) override {
    if (&call != last_) {  // a loop comes to the same one again and again
      last_ = &call;
      cast_ = pair_cast_of(call.opcode);
      packed_ = packed_of(call.opcode);
    }
    if (cast_) return convert_pair(*cast_, call, mask);
    if (is_function(call.opcode)) return compute(call, mask);
    const auto& packed = packed_;
    if (!packed || call.operands.size() != packed->operands + 1)
      return unknown("`{}`", call.opcode.text());
    std::vector<ThreadNumbers> args[2];  // by half
    for (std::size_t i = 1; i < call.operands.size(); ++i) {
      const auto word = WW_TRY(register_of(call.operands[i], mask));
      auto halves = WW_TRY(read_halves(word, packed->type, mask));
      for (const std::size_t half : {0U, 1U}) args[half].push_back(std::move(halves[half]));
    }
    return put_halves(WW_TRY(register_of(call.operands[0], mask)), packed->type,
                      {hashed(packed->begun, args[0]), hashed(packed->begun, args[1])}, mask);
  }
  // The two elements of a word.
  Try<std::vector<ThreadNumbers>> read_halves(const PointerValue& word, DType type,
                                              const Mask& mask) {
    const int bits = num::storage_bits(type);
    std::vector<ThreadNumbers> out;
    for (const int half : {0, 1}) out.push_back(WW_TRY(read_all(word, half * bits, bits, mask)));
    return out;
  }
  Try<void> put_halves(const PointerValue& word, DType type,
                       const std::vector<ThreadNumbers>& halves, const Mask& mask) {
    const int bits = num::storage_bits(type);
    for (const int half : {0, 1})
      WW_TRY_VOID(put_all(word, half * bits, bits, halves[static_cast<std::size_t>(half)], mask));
    return {};
  }

  const std::vector<ElementwiseOperand>& operands_;
  const ir::PtxCall* last_ = nullptr;  // the last instruction, and what it is
  std::optional<PairCast> cast_;
  std::optional<Packed> packed_;
};

// --- what the call means -------------------------------------------------------------------------

// What the steps of fast forms and of casts give, of numbers that stand for values.
struct StepNumbers {
  using Value = Number;
  static constexpr DType kReal = DType::Float32;

  static Value constant(const ir::Constant& value) { return hashes::number_of(value); }
  static Value binary(ExprOp op, DType type, Value a, Value b) {
    return hashes::operated(op, type, {a, b});
  }
  static Value call(ir::Intrinsic callee, DType type, std::initializer_list<Value> args) {
    return hashes::called(callee, type, args);
  }
  static Value cast(DType from, DType to, Value x) { return hashes::cast(from, to, x); }
  static Value unpacked(Value x) { return cast(DType::Float8E8M0, DType::Bfloat16, x); }
  static Value choose(Value condition, DType type, Value yes, Value no) {
    return hashes::hashed(hashes::kChoice, 0, type, {condition, yes, no});
  }
  static Value instruct(std::string_view opcode, DType type, std::initializer_list<Value> args) {
    Value out =
        is_of_two(opcode) ? hashes::begun(of_one(opcode), type) : hashes::begun(opcode, type);
    for (const Value arg : args) out = chained(out, arg);
    return out;
  }

  static Value number(float value) { return constant({kReal, 0, double{value}}); }
  static Value mul(Value a, Value b) { return binary(ExprOp::Mul, kReal, a, b); }
  static Value add(Value a, Value b) { return binary(ExprOp::Add, kReal, a, b); }
  static Value fma(Value a, Value b, Value c) { return call(ir::Intrinsic::Fma, kReal, {a, b, c}); }
  static Value abs(Value a) { return call(ir::Intrinsic::Abs, kReal, {a}); }
  static Value copysign(Value size, Value sign) {
    return call(ir::Intrinsic::Copysign, kReal, {size, sign});
  }
  static Value approx(std::string_view opcode, std::initializer_list<Value> args) {
    return instruct(opcode, kReal, args);
  }
};

/// The numbers that the table of ir/elementwise.h gives.
class ElementwiseMeaning {
 public:
  /// `extents` of the destination.
  ElementwiseMeaning(const Call& call, const std::vector<ElementwiseOperand>& operands,
                     const std::vector<std::int64_t>& extents, const SharedNumbers& shared)
      : op_(call.tile.op),
        operands_(operands),
        shared_(shared),
        dst_(call.buffer(0).dtype),
        in_(ir::compute_type(call.f(), call.tile)),
        is_fast_(is_fast(call.tile, in_)) {
    if (op_ == TileOp::Cast) cast_ = cast_form(call).value();
    for (const ElementwiseOperand& operand : operands) {
      stretches_.emplace_back(extents, operand.elements ? operand.extents : extents);
      begun_.push_back(operand.begun());
    }
  }

  /// Of element x of the destination.
  [[nodiscard]] Number of(std::int64_t x) const {
    if (op_ == TileOp::Zero) return zero(dst_);
    switch (ir::group_of(op_)) {
      case ir::ElementGroup::Move: {
        StepNumbers values;
        return cast_ ? cast_value(values, *cast_, own(0, x)) : as(dst_, 0, x);
      }
      case ir::ElementGroup::Choice:
        return chosen(x);
      case ir::ElementGroup::Logic:
        return hashes::cast(DType::Bool, dst_, decided(x));
      case ir::ElementGroup::Comparison:
        return hashes::cast(
            DType::Bool, dst_,
            hashes::operated(ir::operator_of(op_), in_, {as(in_, 0, x), as(in_, 1, x)}));
      default:
        return hashes::cast(in_, dst_, computed(x));
    }
  }

 private:
  // --- operands ---

  [[nodiscard]] Number as(DType type, std::size_t i, std::int64_t x) const {
    const ElementwiseOperand& operand = operands_[i];
    if (operand.constant) return converted(*operand.constant, type);
    return hashes::cast(operand.type, type, own(i, x));
  }
  [[nodiscard]] Number own(std::size_t i, std::int64_t x) const {
    if (!operands_[i].elements) return operands_[i].number;
    return shared_.known_as(ElementwiseOperand::number_of(begun_[i], stretches_[i](x)));
  }
  // Is the operand not 0?
  [[nodiscard]] Number truth(std::size_t i, std::int64_t x) const {
    const ElementwiseOperand& operand = operands_[i];
    if (operand.constant) return converted(*operand.constant, DType::Bool);
    if (operand.type == DType::Bool) return own(i, x);
    return hashes::operated(ExprOp::Ne, operand.type, {own(i, x), zero(operand.type)});
  }
  [[nodiscard]] Number zero(DType type) const { return converted({DType::Int32, 0, 0}, type); }
  [[nodiscard]] Number converted(const ir::Constant& constant, DType type) const {
    const auto real = std::bit_cast<std::uint64_t>(constant.real);
    for (const Converted& known : converted_)
      if (known.from == constant.dtype && known.to == type && known.integer == constant.integer &&
          known.real == real)
        return known.number;
    const Number number = hashes::number_of(ir::convert(constant, type));
    converted_.push_back({constant.dtype, type, constant.integer, real, number});
    return number;
  }

  // --- groups of primitives ---

  [[nodiscard]] Number chosen(std::int64_t x) const {
    const ElementwiseOperand& choice = operands_[2];
    if (choice.constant)
      return as(dst_, ir::convert(*choice.constant, DType::Bool).integer != 0 ? 0 : 1, x);
    return hashes::hashed(hashes::kChoice, 0, dst_, {truth(2, x), as(dst_, 0, x), as(dst_, 1, x)});
  }
  [[nodiscard]] Number decided(std::int64_t x) const {
    if (op_ == TileOp::LogicalNot) return hashes::operated(ExprOp::Not, DType::Bool, {truth(0, x)});
    return hashes::operated(ir::operator_of(op_), DType::Bool, {truth(0, x), truth(1, x)});
  }
  [[nodiscard]] Number computed(std::int64_t x) const {
    const auto arg = [&](std::size_t i) { return as(in_, i, x); };
    if (is_fast_)
      return ir::is_function(op_) ? fast(argument(x), 0)
                                  : fast(as(DType::Float32, 0, x), as(DType::Float32, 1, x));
    switch (ir::group_of(op_)) {
      case ir::ElementGroup::Function:
        return function(argument(x));
      case ir::ElementGroup::Number:
        return of_number(arg(0));
      case ir::ElementGroup::Power:
        return hashes::called(ir::Intrinsic::Pow, in_, {arg(0), arg(1)});
      default:
        break;
    }
    if (op_ == TileOp::BitwiseNot) return hashes::operated(ExprOp::BitNot, in_, {arg(0)});
    if (op_ == TileOp::Fma) return fused(arg(0), arg(1), arg(2));
    if (op_ == TileOp::Clamp)
      return hashes::operated(ExprOp::Min, in_,
                              {hashes::operated(ExprOp::Max, in_, {arg(0), arg(1)}), arg(2)});
    return hashes::operated(ir::operator_of(op_), in_, {arg(0), arg(1)});
  }
  // Whole numbers are rounded already.
  [[nodiscard]] Number of_number(Number x) const {
    switch (op_) {
      case TileOp::Relu:
        return hashes::operated(ExprOp::Max, in_, {x, zero(in_)});
      case TileOp::Neg:
        return hashes::operated(ExprOp::Neg, in_, {x});
      case TileOp::Abs:
        return hashes::called(ir::Intrinsic::Abs, in_, {x});
      default:
        return is_float(in_) ? hashes::called(*ir::callee_of(op_), in_, {x}) : x;
    }
  }
  [[nodiscard]] Number fused(Number a, Number b, Number c) const {
    if (is_float(in_)) return hashes::called(ir::Intrinsic::Fma, in_, {a, b, c});
    return hashes::operated(ExprOp::Add, in_, {hashes::operated(ExprOp::Mul, in_, {a, b}), c});
  }
  [[nodiscard]] Number argument(std::int64_t x) const {
    const bool is_scaled = !operands_[1].is_left_out, is_moved = !operands_[2].is_left_out;
    const auto arg = [&](std::size_t i) { return as(in_, i, x); };
    if (is_scaled && is_moved) return fused(arg(0), arg(1), arg(2));
    if (is_scaled) return hashes::operated(ExprOp::Mul, in_, {arg(0), arg(1)});
    if (is_moved) return hashes::operated(ExprOp::Add, in_, {arg(0), arg(2)});
    return arg(0);
  }
  [[nodiscard]] Number function(Number x) const {
    if (const auto callee = ir::callee_of(op_)) return hashes::called(*callee, in_, {x});
    const Number one = hashes::number_of({in_, 0, 1});
    if (op_ == TileOp::Reciprocal) return hashes::operated(ExprOp::Div, in_, {one, x});
    WW_CHECK(op_ == TileOp::Silu, "`{}` has no proof", ir::name_of(op_));
    const Number minus = hashes::operated(ExprOp::Neg, in_, {x});  // x / (1 + exp(-x))
    const Number power = hashes::called(ir::Intrinsic::Exp, in_, {minus});
    return hashes::operated(ExprOp::Div, in_,
                            {x, hashes::operated(ExprOp::Add, in_, {one, power})});
  }
  [[nodiscard]] Number fast(Number x, Number y) const {
    StepNumbers values;
    return hashes::cast(DType::Float32, in_, FastForm<StepNumbers>(values, x, y).of(op_));
  }

  TileOp op_;
  const std::vector<ElementwiseOperand>& operands_;
  const SharedNumbers& shared_;
  DType dst_, in_;
  bool is_fast_;
  std::optional<CastForm> cast_ = {};  // of `cast`
  std::vector<Stretch> stretches_;     // by operand
  std::vector<Number> begun_;          // by operand: its elements' numbers
  /// Constants that were converted: few, and each is asked for with every element.
  struct Converted {
    DType from, to;
    std::int64_t integer;
    std::uint64_t real;  // its bits
    Number number;
  };
  mutable std::vector<Converted> converted_;
};

class ElementwiseGoal final : public NumberGoal {
 public:
  using NumberGoal::NumberGoal;

 private:
  Try<bool> prepare() override {
    auto dst = WW_TRY(read(call_.region(0)));
    if (!dst) return false;
    dst_ = *std::move(dst);
    for (const ir::TileArg* arg : ir::operands_of(call_.tile))
      if (!WW_TRY(read_operand(arg))) return false;
    unite_shared();
    return true;
  }
  Try<bool> read_operand(const ir::TileArg* arg) {
    ElementwiseOperand operand{.number = operands_.size(), .is_left_out = arg == nullptr};
    if (arg != nullptr) {
      if (const auto* region = std::get_if<ir::Region>(arg)) {
        auto inside = WW_TRY(read(*region));
        if (!inside) return false;
        operand.elements = std::move(inside->elements);
        operand.extents = std::move(inside->extents);
        operand.type = call_.f()[region->buffer].dtype;
        fill(*operand.elements, [begun = operand.begun()](Name name) {
          return ElementwiseOperand::number_of(begun, name);
        });
      } else {
        read_scalar(*arg, operand);
      }
    }
    operands_.push_back(std::move(operand));
    return true;
  }
  void read_scalar(const ir::TileArg& arg, ElementwiseOperand& operand) {
    const auto* expr = std::get_if<ExprId>(&arg);
    const auto* setting = std::get_if<ir::Setting>(&arg);
    if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
    operand.constant =
        expr != nullptr ? hashes::constant_of(call_.f(), *expr) : constant_of(*setting);
    if (operand.constant) {
      operand.type = operand.constant->dtype;
      return;
    }
    operand.scalar = *expr;
    operand.type = call_.f()[*expr].type.dtype;
    operand.number = hashes::hashed(hashes::kScalar, operand.number, operand.type, {});
    for (const ElementwiseOperand& other : operands_)
      if (other.scalar.valid() && ir::same(call_.f(), other.scalar, *expr))
        operand.number = other.number;
  }

  Try<void> compare() override {
    ElementwiseMachine machine(call_, values_, trial_, operands_, dst_.elements, registers_);
    WW_TRY_VOID(carry_out(machine));
    const ElementwiseMeaning meaning(call_, operands_, dst_.extents, shared_);
    return first_other(
        dst_.elements, [&](Name name) { return meaning.of(name); },
        [](const RegisterPlace& place, Name name, const Number* number) {
          return fmt::format("element {} of the destination in thread {} of the unit {}", name,
                             place.thread, number ? "is another value" : "is not written");
        });
  }

  RegionRead dst_;
  std::vector<ElementwiseOperand> operands_;
};

}  // namespace

Proof prove_elementwise(const Call& call, const ir::Block& code) {
  return prove_with<ElementwiseGoal>(call, code);
}

}  // namespace ww::lower
