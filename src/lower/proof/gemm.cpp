// SPDX-License-Identifier: Apache-2.0
// A product is proven by doing it with other numbers. Every element of A, B and C gets a number
// modulo 2^64 that nothing else has but elements in the same registers, and so do alpha and beta
// unless they are whole; other registers hold nothing and must not be read. The code is carried out
// on them: mma multiplies and adds, with the places of its elements taken from the catalogue. What
// must come out for an element of D is the sum of products that the call means. Both are
// polynomials in these numbers with small coefficients; two different ones agree in all elements
// with a chance of about 2^-64.
//
// Only the ring of integers modulo 2^64 is used, in which sums have no order: rounding is not what
// is proven here.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/equal.h"
#include "ir/gemm_factors.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "lower/proof/machine.h"
#include "lower/proof/proof.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;

/// What a number of the proof stands for: numbers of different things are different.
enum GemmTag : Number { kOfD, kOfA, kOfB, kOfC, kOfFactor, kOfText };

// The number of an element: `begun` is the same for all of an operand.
Number begun(GemmTag tag) { return mixed(tag); }
Number number_of(Number begun, Name name) { return mixed(begun ^ static_cast<Number>(name)); }

/// alpha and beta, as numbers: whole ones stand for themselves, those that are known at run time only get
/// a number that nothing else has, and are known again by their text.
class Factors {
 public:
  /// `is_beta_zero`: a beta known at run time only is 0.
  Factors(const Call& call, bool is_beta_zero)
      : f_(call.f()),
        type_(call.buffer(0).dtype),
        alpha_(read(call.tile.args[ir::kGemmAlpha], 1, 1)),
        beta_(read(call.tile.args[ir::kGemmBeta], 0, 2)) {
    if (is_beta_zero) beta_.number = 0;
    if (is_runtime(alpha_) && is_runtime(beta_) && ir::same(f_, alpha_.expr, beta_.expr))
      alpha_.number = beta_.number;
  }

  [[nodiscard]] Number alpha() const { return alpha_.number; }
  [[nodiscard]] Number beta() const { return beta_.number; }
  [[nodiscard]] bool is_beta_runtime() const { return is_runtime(beta_); }
  /// Can a type hold what D holds?
  [[nodiscard]] bool keeps(ir::Type type) const {
    const bool is_alike = type.is_scalar() && num::kind_of(type.dtype) == num::kind_of(type_);
    return is_alike && num::bits_of(type.dtype) >= num::bits_of(type_);
  }
  [[nodiscard]] bool is_zero(ExprId expr) const { return constant(expr) == Number{0}; }
  /// A constant; nothing for anything else.
  [[nodiscard]] std::optional<Number> constant_of(ExprId expr) const {
    return constant(without_casts(expr));
  }
  /// One of the two, by its text; nothing for anything else. Where something `has_changed` since
  /// the call began, the text may mean another number, unless it is a variable.
  [[nodiscard]] std::optional<Number> runtime_of(ExprId expr, bool has_changed) const {
    expr = without_casts(expr);
    if (has_changed && f_[expr].op != ExprOp::Var) return std::nullopt;
    for (const Factor* one : {&alpha_, &beta_})
      if (is_runtime(*one) && ir::same(f_, one->expr, expr)) return one->number;
    return std::nullopt;
  }

 private:
  struct Factor {
    ExprId expr;  // where it is known at run time only
    Number number;
  };
  static bool is_runtime(const Factor& factor) { return factor.expr.valid(); }

  // Whole numbers stand for themselves; others are told apart by their value in the precision in
  // which D is computed.
  [[nodiscard]] Number number_of(double value) const {
    value = ir::gemm_number(value, type_);
    if (value == std::floor(value) && std::abs(value) < 1e15)
      return static_cast<Number>(static_cast<std::int64_t>(value));
    return mixed(kOfFactor, std::bit_cast<Number>(value)) | 1U;
  }
  [[nodiscard]] ExprId without_casts(ExprId expr) const {
    while (f_[expr].op == ExprOp::Cast && keeps(f_[expr].type)) expr = f_[expr].args[0];
    return expr;
  }
  [[nodiscard]] std::optional<Number> constant(ExprId expr) const {
    if (f_[expr].op == ExprOp::FloatImm) return number_of(f_[expr].real);
    if (const auto whole = ir::const_int(f_, expr)) return static_cast<Number>(*whole);
    return std::nullopt;
  }
  [[nodiscard]] Factor read(const ir::TileArg& arg, double otherwise, Number id) const {
    const auto* expr = std::get_if<ExprId>(&arg);
    const auto* setting = std::get_if<ir::Setting>(&arg);
    if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
    if (expr != nullptr) {
      const ExprId inner = without_casts(*expr);
      if (const auto number = constant(inner)) return {{}, *number};
      return {inner, mixed(kOfText, id) | 1U};
    }
    if (setting == nullptr) return {{}, number_of(otherwise)};
    if (const auto* real = std::get_if<double>(setting)) return {{}, number_of(*real)};
    if (const auto* whole = std::get_if<std::int64_t>(setting))
      return {{}, static_cast<Number>(*whole)};
    const auto* flag = std::get_if<bool>(setting);
    return {{}, number_of(flag != nullptr ? double(*flag) : otherwise)};
  }

  const ir::Function& f_;
  num::DType type_;  // of D
  Factor alpha_, beta_;
};

// --- what the code does --------------------------------------------------------------------------

class GemmMachine : public Machine {
 public:
  GemmMachine(const Call& call, ProofValues& values, Trial trial, const Factors& factors,
              const RegionElements& d, Registers& registers)
      : Machine(call, values, trial.first_thread, d, registers), factors_(factors) {
    unheld_ = "holds nothing";
  }

 private:
  std::optional<Number> known(ExprId expr) override {
    const auto constant = factors_.constant_of(expr);
    return constant ? constant : factors_.runtime_of(expr, has_changed_);
  }

  Try<ThreadNumbers> operated(ExprId expr, const Mask& mask) override {
    const ir::Expr& e = f_[expr];
    switch (e.op) {
      case ExprOp::Cast:
        if (factors_.keeps(e.type)) return value(e.args[0], mask);
        break;
      case ExprOp::Add:
      case ExprOp::Sub:
      case ExprOp::Mul:
        return combined(e, mask);
      case ExprOp::Ne:
        if (factors_.is_zero(e.args[1])) return value(e.args[0], mask);
        break;
      case ExprOp::Select:
      case ExprOp::IfThenElse:
        return chosen(e, mask);
      case ExprOp::Call:
        if (e.callee == ir::Intrinsic::Fma) return combined(e, mask);
        break;
      default:
        break;
    }
    return unknown("`{}`", ir::print(f_, expr));
  }
  Try<ThreadNumbers> combined(const ir::Expr& e, const Mask& mask) {
    auto args = WW_TRY(values_of(e, mask));
    for (std::size_t t = 0; t < args[0].size(); ++t) {
      Number& x = args[0][t];
      const Number y = args[1][t];
      x = e.op == ExprOp::Add ? x + y : e.op == ExprOp::Sub ? x - y : x * y;
      if (args.size() == 3) x += args[2][t];
    }
    return std::move(args[0]);
  }
  // Only the chosen side counts: what the other one would be, an infinity for instance, is lost.
  Try<ThreadNumbers> chosen(const ir::Expr& e, const Mask& mask) {
    const auto condition = WW_TRY(value(e.args[0], mask));
    Mask yes = mask, no = mask;
    for (std::size_t t = 0; t < mask.size(); ++t) {
      yes[t] = mask[t] && condition[t] != 0;
      no[t] = mask[t] && condition[t] == 0;
    }
    auto out = WW_TRY(value(e.args[1], yes));
    const auto other = WW_TRY(value(e.args[2], no));
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (no[t]) out[t] = other[t];
    return out;
  }

  // A factor that is read once, for later.
  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    const auto number = factors_.runtime_of(s.expr, has_changed_);
    if (!number) return ProofWalk::bind(s, mask);
    bound_[s.var.index].assign(values_.threads(), *number);
    return {};
  }

  // --- mma ---

  /// An operand of the instruction: its registers and where in them the elements are.
  struct Matrix {
    const isa::Fragment* fragment = nullptr;
    int bits = 32;  // of an element
    std::vector<PointerValue> registers;

    [[nodiscard]] RegisterPlace at(const isa::FragmentPlace& place, std::size_t first_lane) const {
      const std::size_t thread = first_lane + static_cast<std::size_t>(place.lane);
      const PointerValue& reg = registers[static_cast<std::size_t>(place.reg)];
      return {reg.storage, thread, reg.bit[thread] + place.part * bits, bits};
    }
    /// Among the parts of all registers.
    [[nodiscard]] std::size_t index_of(const isa::FragmentPlace& place) const {
      return static_cast<std::size_t>(place.reg * fragment->parts + place.part);
    }
  };

  Try<void> instruct(const ir::PtxCall& call, const Mask& mask) override {
    if (&call != checked_) {  // a loop comes to the same one again and again
      if (call.opcode.mnemonic() != "mma" || call.predicate.valid())
        return unknown("`{}`", call.opcode.text());
      WW_TRY_VOID(check_types(call));
      fragments_ = isa::fragments_of(call.opcode.binding());
      checked_ = &call;
    }
    const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
    std::vector<Matrix> matrices;
    std::size_t next = 0;
    for (const std::string_view name : {"d", "a", "b", "c"}) {
      for (const isa::Fragment& fragment : fragments_)
        if (fragment.operand == name) matrices.push_back({.fragment = &fragment, .registers = {}});
      WW_TRY_VOID(read_registers(call, mask, matrices.back(), next));
    }
    for (const std::size_t first : warps) WW_TRY_VOID(multiply(matrices, first));
    return {};
  }

  // The instruction must take the registers for what they are, and do nothing but multiply and add.
  Try<void> check_types(const ir::PtxCall& call) const {
    const isa::Binding& binding = call.opcode.binding();
    static constexpr isa::SlotName kMore[] = {"rnd", "satfinite", "sp", "kind", "block_scale"};
    for (const isa::SlotName more : kMore)
      if (binding.has(more)) return unknown("`{}`", call.opcode.text());
    struct TypeSlot {
      isa::SlotName name;
      std::size_t argument;
    };
    static constexpr TypeSlot kTypes[] = {{"dtype", 0}, {"atype", 1}, {"btype", 2}, {"ctype", 0}};
    for (const auto& [slot, argument] : kTypes) {
      const auto type = num::parse_dtype(binding.word(slot).text());
      const num::DType held = f_[call_.region(argument).buffer].dtype;
      const bool is_cut = held == num::DType::Float32 && type && *type == num::DType::Tfloat32;
      if (!type || (*type != held && !is_cut))
        return wrong("{} on {}", call.opcode.text(), num::name_of(held));
    }
    return {};
  }

  Try<void> read_registers(const ir::PtxCall& call, const Mask& mask, Matrix& matrix,
                           std::size_t& next) {
    for (int r = 0; r < matrix.fragment->regs; ++r) {
      if (next == call.operands.size()) return wrong("{} operands of {}", next, call.opcode.text());
      const ir::PtxOperand& operand = call.operands[next++];
      auto pointer = WW_TRY(register_of(operand, mask));
      const bool is_word = operand.kind == ir::PtxOperandKind::At;
      const int width = is_word ? 32 : num::storage_bits(f_[operand.expr].type.dtype);
      matrix.bits = width / matrix.fragment->parts;
      const bool is_whole = pointer.bit.is_uniform() && pointer.bit.front() % width == 0;
      for (std::size_t t = 0; !is_whole && t < mask.size(); ++t)
        if (mask[t] && pointer.bit[t] % width != 0)
          return wrong("a register of {} begins at bit {}", call.opcode.text(), pointer.bit[t]);
      matrix.registers.push_back(std::move(pointer));
    }
    return {};
  }

  // By register and part, where all threads keep it, as place_of(bit) says; empty: they differ.
  template <typename PlaceOf>
  static std::vector<std::size_t> places_of(const Matrix& matrix, PlaceOf&& place_of) {
    std::vector<std::size_t> out;
    for (const PointerValue& reg : matrix.registers)
      for (int part = 0; part < matrix.fragment->parts; ++part) {
        if (!reg.bit.is_uniform() || reg.storage != matrix.registers[0].storage) return {};
        const auto place = place_of(reg.bit.front() + part * matrix.bits);
        if (!place) return {};
        out.push_back(*place);
      }
    return out;
  }

  Try<void> gather(const Matrix& matrix, std::size_t first, ThreadNumbers& out) {
    const Registers::Width& width = registers_.width(matrix.registers[0].storage, matrix.bits);
    const auto places = places_of(matrix, [&](std::int64_t bit) { return width.place_of(bit); });
    out.resize(matrix.fragment->places.size());
    Number* to = out.data();
    const auto table = width.table();
    for (const isa::FragmentPlace& at : matrix.fragment->places) {
      const std::size_t thread = first + static_cast<std::size_t>(at.lane);
      const Number* const number =
          places.empty() ? nullptr : table.find(thread, places[matrix.index_of(at)]);
      *to++ = number != nullptr ? *number : WW_TRY(read(matrix.at(at, first)));
    }
    return {};
  }
  Try<Number> read(const RegisterPlace& place) {
    if (const auto number = registers_.at(place)) return *number;
    return not_held(place, place.thread);
  }

  // All is read before anything is written.
  Try<void> multiply(const std::vector<Matrix>& matrices, std::size_t first) {
    const Matrix &d = matrices[0], &a = matrices[1], &b = matrices[2], &c = matrices[3];
    ThreadNumbers left, right, sums;
    for (const auto& [matrix, numbers] : {std::pair(&a, &left), {&b, &right}, {&c, &sums}})
      WW_TRY_VOID(gather(*matrix, first, *numbers));
    add_product(left, right, static_cast<std::size_t>(a.fragment->cols),
                static_cast<std::size_t>(d.fragment->cols), sums);
    return scatter(d, first, sums);
  }

  Try<void> scatter(const Matrix& d, std::size_t first, const ThreadNumbers& numbers) {
    std::vector<std::size_t> places;
    Registers::Width& width = registers_.width(dst_.storage, dst_.bits);
    if (d.bits == dst_.bits && d.registers[0].storage == dst_.storage)
      places =
          places_of(d, [&](std::int64_t bit) { return width.room_at(bit, values_.threads()); });
    const Granules::Table names = dst_.names->table();
    const Number* number = numbers.data();
    for (const isa::FragmentPlace& at : d.fragment->places) {
      const std::size_t thread = first + static_cast<std::size_t>(at.lane);
      const std::size_t place = places.empty() ? 0 : places[d.index_of(at)];
      const Name* const name = names.find(thread, static_cast<std::int64_t>(place));
      if (!places.empty() && name != nullptr && *name != kNobody)
        width.put_in_table(thread, place, *number++);
      else
        WW_TRY_VOID(put(d.at(at, first), *number++));
    }
    has_changed_ = true;
    return {};
  }

  const Factors& factors_;
  const ir::PtxCall* checked_ = nullptr;  // the last mma, and what it multiplies
  std::vector<isa::Fragment> fragments_;
};

// --- what the call means -------------------------------------------------------------------------

// What the elements of D must be, in their order.
ThreadNumbers meant(const ProductSizes& s, const Factors& factors, const SharedNumbers& shared) {
  const auto numbers = [&](GemmTag tag, std::int64_t count) {
    const Number first = begun(tag);
    ThreadNumbers out(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = shared.known_as(number_of(first, static_cast<Name>(i)));
    return out;
  };
  const auto n = static_cast<std::size_t>(s.n), k = static_cast<std::size_t>(s.k);
  ThreadNumbers a = numbers(kOfA, s.m * s.k), b = numbers(kOfB, s.k * s.n);
  const ThreadNumbers c = numbers(kOfC, s.m * s.n);
  if (s.turns_a) a = turned(a, static_cast<std::size_t>(s.m));
  if (s.turns_b) b = turned(b, k);
  ThreadNumbers out(c.size());
  add_product(a, b, k, n, out);
  for (std::size_t x = 0; x < out.size(); ++x)
    out[x] = factors.alpha() * out[x] + factors.beta() * c[x];
  return out;
}

/// What was meant in a trial before, and all that it depends on where no two elements share a
/// register.
struct KnownSums {
  ProductSizes sizes;
  Number alpha = 0, beta = 0;
  ThreadNumbers sums = {};
};

class GemmGoal final : public NumberGoal {
 public:
  GemmGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof, bool is_beta_zero,
           std::optional<KnownSums>& known)
      : NumberGoal(call, code, trial, proof), known_(known), factors_(call, is_beta_zero) {}

  [[nodiscard]] bool is_beta_runtime() const { return factors_.is_beta_runtime(); }

 private:
  Try<bool> prepare() override {
    sizes_ = WW_TRY(product_sizes(call_, values_, 4));
    for (const std::size_t i : {0U, 1U, 2U, 3U}) {
      if (i == 3 && factors_.beta() == 0) continue;  // C is not read
      auto inside = WW_TRY(read(call_.region(i)));
      if (!inside) return false;
      constexpr GemmTag kTags[] = {kOfD, kOfA, kOfB, kOfC};
      if (i != 0)
        fill(inside->elements,
             [first = begun(kTags[i])](Name name) { return number_of(first, name); });
      else
        d_ = std::move(inside->elements);
    }
    unite_shared();
    return true;
  }

  const ThreadNumbers& meant_here() {
    const bool is_known = known_ && shared_.empty() && known_->sizes == sizes_ &&
                          known_->alpha == factors_.alpha() && known_->beta == factors_.beta();
    if (is_known) return known_->sums;
    ThreadNumbers sums = meant(sizes_, factors_, shared_);
    if (!shared_.empty()) return own_sums_ = std::move(sums);
    known_ = {sizes_, factors_.alpha(), factors_.beta(), std::move(sums)};
    return known_->sums;
  }

  Try<void> compare() override {
    GemmMachine machine(call_, values_, trial_, factors_, d_, registers_);
    WW_TRY_VOID(carry_out(machine));
    const ThreadNumbers& wanted = meant_here();
    return first_other(
        d_, [&](Name name) { return wanted[static_cast<std::size_t>(name)]; },
        [&](const RegisterPlace& place, Name name, const Number*) {
          return fmt::format("element ({}, {}) of D in thread {} of the unit is another sum",
                             name / sizes_.n, name % sizes_.n, place.thread);
        });
  }

  std::optional<KnownSums>& known_;
  ThreadNumbers own_sums_;
  Factors factors_;
  ProductSizes sizes_;
  RegionElements d_;
};

}  // namespace

Proof prove_gemm(const Call& call, const ir::Block& code) {
  const auto is_async = [&](ir::StmtId id) {
    const ir::Stmt& s = call.f()[id];
    return s.kind == ir::StmtKind::Ptx && call.f()[s.ptx].opcode.mnemonic() == "wgmma.mma_async";
  };
  if (std::ranges::any_of(code, is_async)) return prove_waited_gemm(call, code);
  Proof proof;
  std::optional<KnownSums> known;
  const auto attempt = [&](Trial trial) {
    GemmGoal goal(call, code, trial, proof, false, known);
    const TrialOutcome outcome = goal.run();
    if (!goal.is_beta_runtime() || outcome == TrialOutcome::Failed) return outcome;
    return GemmGoal(call, code, trial, proof, true, known).run();
  };
  make_trials(call, proof, attempt);
  return proof;
}

}  // namespace ww::lower
