// SPDX-License-Identifier: Apache-2.0
// An elementwise primitive is proven by carrying it out on numbers that stand for values. Every
// element of an operand gets a number of 64 bits that nothing else has but elements in the same
// registers, and so do scalars known at run time only; constants have one by type and value. What
// is computed from numbers is a hash of them, of the operation and of its type, in the order of the
// operands. What must come out for an element is the hash that the table in ir/elementwise.h gives:
// a wrong register or thread, a store too few or in place of another, operands in another order, a
// conversion left out all give another number.
#include <functional>
#include <span>
#include <unordered_map>

#include "ir/equal.h"
#include "ir/print/print.h"
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
    ThreadNumbers out(values_.threads());
    for (std::size_t t = 0; t < out.size(); ++t) {
      const auto arg = [&](std::size_t i) { return args[i][t]; };
      const DType type = e.args.empty() ? e.type.dtype : f_[e.args[0]].type.dtype;
      switch (e.op) {
        case ExprOp::Cast:
          out[t] = hashes::cast(type, e.type.dtype, arg(0));
          break;
        case ExprOp::Neg:
        case ExprOp::Not:
        case ExprOp::BitNot:
          out[t] = hashes::changed(e.op, type, arg(0));
          break;
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
          out[t] = hashes::operated(e.op, type, arg(0), arg(1));
          break;
        case ExprOp::Select:
          out[t] = hashes::hashed(hashes::kChoice, 0, e.type.dtype, {arg(0), arg(1), arg(2)});
          break;
        case ExprOp::Call:
          if (args.size() == 1) out[t] = hashes::called(e.callee, type, {arg(0)});
          if (args.size() == 2) out[t] = hashes::called(e.callee, type, {arg(0), arg(1)});
          if (args.size() == 3) out[t] = hashes::called(e.callee, type, {arg(0), arg(1), arg(2)});
          if (!args.empty() && args.size() <= 3) break;
          [[fallthrough]];
        default:
          return unknown("`{}`", ir::print(f_, expr));
      }
    }
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
      WW_TRY_VOID(copy_element(to, from, bit, bits, mask));
    }
    has_changed_ = true;
    return {};
  }
  Try<void> copy_element(const PointerValue& to, const PointerValue& from, std::int64_t bit,
                         int bits, const Mask& mask) {
    ThreadNumbers numbers(values_.threads());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      RegisterPlace read = place(from, t, bits);
      read.bit += bit;
      numbers[t] = WW_TRY(read_at(read, t));
    }
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      RegisterPlace written = place(to, t, bits);
      written.bit += bit;
      WW_TRY_VOID(put(written, t, numbers[t]));
    }
    return {};
  }

  // Instructions on words of two elements, which compute each half by itself.
  struct Packed {
    DType type;
    std::size_t operands;
    std::function<Number(std::span<const Number>)> half;
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
        return Packed{type, 2, [type, op = op](std::span<const Number> v) {
                        return hashes::operated(op, type, v[0], v[1]);
                      }};
    if (mnemonic == "fma")
      return Packed{type, 3, [type](std::span<const Number> v) {
                      return hashes::called(ir::Intrinsic::Fma, type, {v[0], v[1], v[2]});
                    }};
    if (mnemonic == "neg")
      return Packed{type, 1, [type](std::span<const Number> v) {
                      return hashes::changed(ExprOp::Neg, type, v[0]);
                    }};
    if (mnemonic == "abs")
      return Packed{type, 1, [type](std::span<const Number> v) {
                      return hashes::called(ir::Intrinsic::Abs, type, {v[0]});
                    }};
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
    std::vector<Number> numbers(args.size());
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      for (std::size_t i = 0; i < args.size(); ++i) numbers[i] = args[i][t];
      WW_TRY_VOID(put(place(to, t, num::storage_bits(type)), t,
                      hashes::instructed(call.opcode.text(), type, numbers)));
    }
    has_changed_ = true;
    return {};
  }

  // Conversions to or from words of two elements.
  struct PairCast {
    DType from, to;
    bool is_plain;       // rounds as T.Cast does
    std::string single;  // else: the instruction for one element
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
    PairCast out{from->second, to->second, false, hashes::of_one(opcode.text())};
    const std::string usual =
        fmt::format("cvt.rn{}.{}.{}", is_narrow ? ".satfinite" : "", to->first, from->first);
    out.is_plain = opcode.text() == usual && to->second != DType::Float8E8M0;
    return out;
  }
  // The upper element is the first of two operands.
  Try<void> convert_pair(const PairCast& cast, const ir::PtxCall& call, const Mask& mask) {
    const bool is_split = cast.from == DType::Float32;
    if (call.operands.size() != (is_split ? 3U : 2U)) return unknown("`{}`", call.opcode.text());
    std::vector<ThreadNumbers> parts;
    for (std::size_t i = 2; is_split && i > 0; --i)
      parts.push_back(WW_TRY(value(call.operands[i].expr, mask)));
    const auto from =
        is_split ? Try<PointerValue>(PointerValue{}) : register_of(call.operands[1], mask);
    if (!from) return std::unexpected(from.error());
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      Number halves[2] = {};
      for (const std::int64_t half : {0, 1}) {
        const Number x =
            is_split ? parts[static_cast<std::size_t>(half)][t]
                     : WW_TRY(read_at(half_of(*from, t, half, num::storage_bits(cast.from)), t));
        halves[half] = cast.is_plain ? hashes::cast(cast.from, cast.to, x)
                                     : hashes::instructed(cast.single, cast.to, {&x, 1});
      }
      for (const std::int64_t half : {0, 1})
        WW_TRY_VOID(put(half_of(to, t, half, num::storage_bits(cast.to)), t, halves[half]));
    }
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
    std::vector<PointerValue> words;
    for (const ir::PtxOperand& operand : call.operands)
      words.push_back(WW_TRY(register_of(operand, mask)));
    const int bits = num::storage_bits(packed->type);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      Number halves[2] = {};
      for (const std::int64_t half : {0, 1}) {
        std::vector<Number> numbers;
        for (std::size_t i = 1; i < words.size(); ++i)
          numbers.push_back(WW_TRY(read_at(half_of(words[i], t, half, bits), t)));
        halves[half] = packed->half(numbers);
      }
      for (const std::int64_t half : {0, 1})
        WW_TRY_VOID(put(half_of(words[0], t, half, bits), t, halves[half]));
    }
    has_changed_ = true;
    return {};
  }
  [[nodiscard]] RegisterPlace half_of(const PointerValue& word, std::size_t thread,
                                      std::int64_t half, int bits) const {
    RegisterPlace out = place(word, thread, bits);
    out.bit += half * bits;
    return out;
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
        values_(call, trial.first_thread, trial.sample, *trial.few) {}

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
    operand.elements->for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number number = operand.number_of(name);
      if (const auto other = registers_.put_beside(place, number)) shared_.unite(*other, number);
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
