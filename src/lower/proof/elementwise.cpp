// SPDX-License-Identifier: Apache-2.0
// An elementwise primitive is proven by carrying it out on numbers that stand for values. Every
// element of an operand gets a number of 64 bits that nothing else has but elements in the same
// registers, and so do scalars known at run time only; constants have one by type and value. What
// is computed from numbers is a hash of them, of the operation and of its type, in the order of the
// operands. What must come out for an element is the hash that the table in ir/elementwise.h gives:
// a wrong register or thread, a store too few or in place of another, operands in another order, a
// conversion left out all give another number.
#include <span>
#include <unordered_map>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "isa/form.h"
#include "lower/proof/meaning.h"
#include "lower/proof/proof.h"
#include "lower/proof/register_replay.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

std::optional<ir::Constant> constant_of(const ir::Function& f, ExprId expr) {
  const ir::Expr& e = f[expr];
  if (e.op == ExprOp::FloatImm) return ir::Constant{e.type.dtype, 0, e.real};
  if (e.op == ExprOp::IntImm) return ir::Constant{e.type.dtype, e.integer, 0};
  return std::nullopt;
}

std::optional<ir::Constant> constant_of(const ir::Setting& setting) {
  if (const auto* real = std::get_if<double>(&setting))
    return ir::Constant{DType::Float64, 0, *real};
  if (const auto* whole = std::get_if<std::int64_t>(&setting))
    return ir::Constant{DType::Int64, *whole, 0};
  if (const auto* flag = std::get_if<bool>(&setting))
    return ir::Constant{DType::Bool, *flag ? 1 : 0, 0};
  return std::nullopt;
}

// --- what the code does --------------------------------------------------------------------------

class ElementwiseReplay : public RegisterReplay {
 public:
  ElementwiseReplay(const Call& call, ProofValues& values,
                    const std::vector<ElementwiseOperand>& operands, const RegionElements& dst,
                    Registers& registers)
      : RegisterReplay(call, values, dst, registers), operands_(operands) {}

 private:
  Try<ThreadNumbers> value(ExprId expr, const Mask& mask) override {
    if (const auto constant = constant_of(f_, expr))
      return ThreadNumbers(values_.threads(), hashes::number_of(*constant));
    const ir::Expr& e = f_[expr];
    // Where something has changed, the text of a scalar may mean another value.
    if (!has_changed_ || e.op == ExprOp::Var)
      for (const ElementwiseOperand& operand : operands_)
        if (operand.scalar.valid() && ir::same(f_, operand.scalar, expr))
          return ThreadNumbers(values_.threads(), operand.number);
    if (e.op == ExprOp::Var)
      if (const auto bound = bound_.find(e.var.index); bound != bound_.end()) return bound->second;
    if (e.op == ExprOp::Load && is_operand(e.buffer)) return loaded(e, mask);
    std::vector<ThreadNumbers> args;
    for (const ExprId arg : e.args) args.push_back(WW_TRY(value(arg, mask)));
    return computed(expr, e, args);
  }

  // Registers, and memory that an operand is in.
  [[nodiscard]] bool is_operand(ir::BufferId buffer) const {
    const ir::BufferId storage = ir::storage_of(f_, buffer);
    if (f_[buffer].scope == ir::Scope::Local || storage == dst_.storage) return true;
    return std::ranges::any_of(operands_, [&](const ElementwiseOperand& operand) {
      return operand.elements && operand.elements->storage == storage;
    });
  }

  Try<ThreadNumbers> computed(ExprId expr, const ir::Expr& e,
                              const std::vector<ThreadNumbers>& args) {
    const DType type = e.args.empty() ? e.type.dtype : f_[e.args[0]].type.dtype;
    switch (e.op) {
      case ExprOp::Cast:
        if (type == e.type.dtype) return args[0];
        return hashed(hashes::begun(hashes::kCast, static_cast<Number>(type), e.type.dtype), args);
      case ExprOp::Neg:
      case ExprOp::Not:
      case ExprOp::BitNot:
      case ExprOp::Add:
      case ExprOp::Sub:
      case ExprOp::Mul:
      case ExprOp::Div:
      case ExprOp::Max:
      case ExprOp::Min:
      case ExprOp::BitAnd:
      case ExprOp::BitOr:
      case ExprOp::BitXor:
      case ExprOp::Shl:
      case ExprOp::Shr:
      case ExprOp::Eq:
      case ExprOp::Ne:
      case ExprOp::Lt:
      case ExprOp::Le:
      case ExprOp::Gt:
      case ExprOp::Ge:
        return hashed(hashes::begun(hashes::kOperator, static_cast<Number>(e.op), type), args);
      case ExprOp::Select:
        return hashed(hashes::begun(hashes::kChoice, 0, e.type.dtype), args);
      case ExprOp::Call:
        if (args.empty() || args.size() > 3) break;
        return hashed(hashes::begun(hashes::kCall, static_cast<Number>(e.callee), type), args);
      default:
        break;
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

  // The code has no barriers between its accesses, so that what one thread writes in memory no
  // other may read or write.
  [[nodiscard]] bool is_watched(ir::BufferId storage) const override {
    return !dst_.is_private && storage == dst_.storage;
  }
  Try<void> touch(const RegisterPlace& at, std::size_t thread, bool writes) override {
    const auto mine = static_cast<std::int64_t>(thread);
    const std::int64_t last = granule_at(at.bit + at.bits - 1, dst_.bits);
    for (std::int64_t granule = granule_at(at.bit, dst_.bits); granule <= last; ++granule) {
      Touch& before = touched_[granule];
      const auto is_other = [&](std::int64_t each) { return each != kNoThread && each != mine; };
      if (is_other(before.writer) || (writes && is_other(before.reader)))
        return wrong("byte {} of `{}` changes, and thread {} of the unit is not alone to use it",
                     at.bit / 8, f_[at.storage].name, thread);
      if (writes) before.writer = mine;
      if (!writes) before.reader = is_other(before.reader) ? kSeveral : mine;
    }
    return {};
  }

  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    WW_TRY_VOID(RegisterReplay::store(s, mask));
    has_changed_ = true;
    return {};
  }

  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    const auto is = [&](ir::Intrinsic callee) {
      return e.op == ExprOp::Call && e.callee == callee;
    };
    if (is(ir::Intrinsic::CopyBytes)) return copy_bytes(e, mask);
    if (is(ir::Intrinsic::CtaSync) || is(ir::Intrinsic::WarpSync) ||
        is(ir::Intrinsic::WarpgroupSync))
      return {};
    return unknown("`{}`", ir::print(f_, s.expr));
  }
  // Whole elements, as wide as those of the code's own registers.
  Try<void> copy_bytes(const ir::Expr& e, const Mask& mask) {
    const auto to = WW_TRY(values_.pointer(e.args[0])), from = WW_TRY(values_.pointer(e.args[1]));
    const auto bytes = WW_TRY(values_.uniform(e.args[2]));
    const int bits = num::storage_bits(f_[is_own(to.storage) ? to.storage : from.storage].dtype);
    if (bytes < 1 || bytes > kMaxBytes) return wrong("{} bytes are copied", bytes);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      for (const PointerValue* each : {&to, &from})
        if (each->bit[t] % (bytes * 8) != 0 && !is_own(each->storage))
          return wrong("{} bytes are copied at byte {}", bytes, each->bit[t] / 8);
    }
    for (std::int64_t bit = 0; bit < bytes * 8; bit += bits) {
      WW_TRY_VOID(put_all(to, bit, bits, WW_TRY(read_all(from, bit, bits, mask)), mask));
    }
    has_changed_ = true;
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
    const std::string_view word = binding.word("type"), mnemonic = opcode.mnemonic();
    const DType type = word == "f16x2"    ? DType::Float16
                       : word == "bf16x2" ? DType::Bfloat16
                                          : DType::Float32;
    if (type == DType::Float32 && word != "f32x2") return std::nullopt;
    const bool is_rounded = binding.word("rnd") == "rn";
    if (binding.given_count() != (is_rounded ? 2U : 1U)) return std::nullopt;
    for (const auto& [name, op] : {std::pair("add", ExprOp::Add), std::pair("sub", ExprOp::Sub),
                                   std::pair("mul", ExprOp::Mul), std::pair("min", ExprOp::Min),
                                   std::pair("max", ExprOp::Max)})
      if (mnemonic == name)
        return Packed{type, 2, hashes::begun(hashes::kOperator, static_cast<Number>(op), type)};
    const auto call = [&](ir::Intrinsic callee) {
      return hashes::begun(hashes::kCall, static_cast<Number>(callee), type);
    };
    if (mnemonic == "fma") return Packed{type, 3, call(ir::Intrinsic::Fma)};
    if (mnemonic == "abs") return Packed{type, 1, call(ir::Intrinsic::Abs)};
    if (mnemonic == "neg")
      return Packed{type, 1,
                    hashes::begun(hashes::kOperator, static_cast<Number>(ExprOp::Neg), type)};
    return std::nullopt;
  }
  // Approximations and conversions: all of their operands but the first are values.
  static bool is_function(const isa::Opcode& opcode) {
    constexpr std::string_view kNames[] = {"ex2", "lg2",  "sin",   "cos", "tanh",
                                           "rcp", "sqrt", "rsqrt", "div"};
    const std::string_view name = opcode.mnemonic();
    return name == "cvt" || (std::ranges::find(kNames, name) != std::end(kNames) &&
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
    WW_TRY_VOID(put_all(to, 0, num::storage_bits(type),
                        hashed(hashes::begun(call.opcode.text(), type), args), mask));
    has_changed_ = true;
    return {};
  }

  // Conversions to or from words of two elements.
  struct PairCast {
    DType from, to;
    Number
        begun;  // the hash of a half: of T.Cast where it rounds as that does, or of the instruction
  };
  static std::optional<PairCast> pair_cast_of(const isa::Opcode& opcode) {
    constexpr std::pair<std::string_view, DType> kWords[] = {
        {"f32", DType::Float32},         {"f16x2", DType::Float16},
        {"bf16x2", DType::Bfloat16},     {"e4m3x2", DType::Float8E4M3fn},
        {"e5m2x2", DType::Float8E5M2},   {"e2m3x2", DType::Float6E2M3fn},
        {"e3m2x2", DType::Float6E3M2fn}, {"e2m1x2", DType::Float4E2M1fn},
        {"ue8m0x2", DType::Float8E8M0}};
    if (opcode.mnemonic() != "cvt" || opcode.text().find("x2") == std::string_view::npos)
      return std::nullopt;
    const isa::Binding& binding = opcode.binding();
    const auto type = [&](std::string_view slot) {
      return std::ranges::find(kWords, binding.word(slot),
                               &std::pair<std::string_view, DType>::first);
    };
    const auto *from = type("atype"), *to = type("dtype");
    if (from == std::end(kWords) || to == std::end(kWords)) return std::nullopt;
    const bool is_narrow = num::bits_of(to->second) <= 8;
    const std::string usual =
        fmt::format("cvt.rn{}.{}.{}", is_narrow ? ".satfinite" : "", to->first, from->first);
    const bool is_plain = opcode.text() == usual && to->second != DType::Float8E8M0;
    return PairCast{
        from->second, to->second,
        is_plain ? hashes::begun(hashes::kCast, static_cast<Number>(from->second), to->second)
                 : hashes::begun(hashes::of_one(opcode.text()), to->second)};
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
    WW_TRY_VOID(put_halves(WW_TRY(register_of(call.operands[0], mask)), cast.to, halves, mask));
    has_changed_ = true;
    return {};
  }

  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override {
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
    WW_TRY_VOID(put_halves(WW_TRY(register_of(call.operands[0], mask)), packed->type,
                           {hashed(packed->begun, args[0]), hashed(packed->begun, args[1])}, mask));
    has_changed_ = true;
    return {};
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

  /// Threads that have used an element of the destination.
  static constexpr std::int64_t kNoThread = -1, kSeveral = -2;
  struct Touch {
    std::int64_t reader = kNoThread, writer = kNoThread;
  };

  const std::vector<ElementwiseOperand>& operands_;
  std::unordered_map<std::int64_t, Touch> touched_;  // by element of the destination's storage
  std::unordered_map<std::uint32_t, ThreadNumbers> bound_;  // by variable
  bool has_changed_ = false;                                // any element
  const ir::PtxCall* last_ = nullptr;                       // the last instruction, and what it is
  std::optional<PairCast> cast_;
  std::optional<Packed> packed_;
};

// --- comparison ----------------------------------------------------------------------------------

class ElementwiseProving {
 public:
  ElementwiseProving(const Call& call, const ir::Block& code, Trial trial, Proof& proof)
      : call_(call),
        code_(code),
        trial_(trial),
        proof_(proof),
        values_(call, trial.first_thread, trial.sample, *trial.few, *trial.tables) {}

  TrialOutcome run() {
    auto dst = read_region(call_, values_, call_.region(0), trial_.first_thread);
    if (!dst) return could_not(dst.error());
    if (!*dst) return TrialOutcome::Skipped;
    dst_ = **std::move(dst);
    for (const ir::TileArg* arg : ir::operands_of(call_.tile)) {
      const auto is_inside = read_operand(arg);
      if (!is_inside) return could_not(is_inside.error());
      if (!*is_inside) return TrialOutcome::Skipped;
    }
    if (!shared_.empty())
      registers_.change_all([&](Number number) { return shared_.known_as(number); });
    return compare();
  }

 private:
  TrialOutcome could_not(const Unproven& why) {
    proof_.could_not = why.text;
    return TrialOutcome::Failed;
  }

  Try<bool> read_operand(const ir::TileArg* arg) {
    ElementwiseOperand operand;
    operand.number = operands_.size();
    operand.is_left_out = arg == nullptr;
    if (arg != nullptr) {
      if (const auto* region = std::get_if<ir::Region>(arg)) {
        auto inside = WW_TRY(read_region(call_, values_, *region, trial_.first_thread));
        if (!inside) return false;
        operand.elements = std::move(inside->elements);
        operand.extents = std::move(inside->extents);
        operand.type = call_.f()[region->buffer].dtype;
        fill(operand);
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
    operand.constant = expr != nullptr ? constant_of(call_.f(), *expr) : constant_of(*setting);
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
  void fill(const ElementwiseOperand& operand) {
    const Number begun = operand.begun();
    Registers::Writer writer(registers_, operand.elements->storage, operand.elements->bits);
    operand.elements->for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number number = ElementwiseOperand::number_of(begun, name);
      if (const auto other = writer.put_beside(place, number)) shared_.unite(*other, number);
    });
  }

  TrialOutcome compare() {
    ElementwiseReplay replay(call_, values_, operands_, dst_.elements, registers_);
    if (!carry_out(replay, call_, code_, trial_, values_.threads(), proof_))
      return TrialOutcome::Failed;
    const ElementwiseMeaning meaning(call_, operands_, dst_.extents, shared_);
    const Registers::Reader reader(registers_, dst_.elements.storage, dst_.elements.bits);
    dst_.elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      if (!proof_.difference.empty()) return;
      const Number* const number = reader.find(place.thread, place.bit);
      if (number != nullptr && *number == meaning.of(name)) return;
      proof_.difference =
          fmt::format("element {} of the destination in thread {} of the unit {}", name,
                      place.thread, number ? "is another value" : "is not written");
    });
    if (!proof_.difference.empty()) return TrialOutcome::Failed;
    return values_.has_sampled() ? TrialOutcome::Held : TrialOutcome::HeldAlways;
  }

  const Call& call_;
  const ir::Block& code_;
  Trial trial_;
  Proof& proof_;
  ProofValues values_;
  RegionRead dst_;
  std::vector<ElementwiseOperand> operands_;
  Registers registers_;
  SharedNumbers shared_;
};

}  // namespace

Proof prove_elementwise(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof,
              [&](Trial trial) { return ElementwiseProving(call, code, trial, proof).run(); });
  return proof;
}

}  // namespace ww::lower
