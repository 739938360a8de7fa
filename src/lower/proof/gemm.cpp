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
#include <set>
#include <unordered_map>

#include "ir/print/print.h"
#include "ir/settings.h"
#include "isa/catalogue.h"
#include "isa/fragment.h"
#include "lower/proof/factors.h"
#include "lower/proof/number_matrix.h"
#include "lower/proof/proof.h"
#include "lower/proof/registers.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;

// The number of an element: `begun` is the same for all of an operand.
Number begun(GemmTag tag) { return mixed(tag); }
Number number_of(Number begun, Name name) { return mixed(begun ^ static_cast<Number>(name)); }

// --- what the code does --------------------------------------------------------------------------

class GemmReplay : public ProofWalk {
 public:
  GemmReplay(const Call& call, ProofValues& values, const Factors& factors, const RegionElements& d,
             Registers& registers)
      : ProofWalk(call, values), call_(call), factors_(factors), d_(d), registers_(registers) {}

 private:
  // --- scalars and elements ---

  Try<ThreadNumbers> value(ExprId expr, const Mask& mask) {
    if (const auto number = factors_.constant_of(expr))
      return ThreadNumbers(values_.threads(), *number);
    if (const auto number = factors_.runtime_of(expr, has_changed_))
      return ThreadNumbers(values_.threads(), *number);
    const ir::Expr& e = f_[expr];
    switch (e.op) {
      case ExprOp::Var:
        if (const auto bound = bound_.find(e.var.index); bound != bound_.end())
          return ThreadNumbers(values_.threads(), bound->second);
        break;
      case ExprOp::Load:
        if (f_[e.buffer].scope == ir::Scope::Local) return loaded(e, mask);
        break;
      case ExprOp::Cast:
        if (factors_.keeps(e.type)) return value(e.args[0], mask);
        break;
      case ExprOp::Add:
      case ExprOp::Sub:
      case ExprOp::Mul:
        return operated(e, mask);
      case ExprOp::Ne:
        if (factors_.is_zero(e.args[1])) return value(e.args[0], mask);
        break;
      case ExprOp::Select:
      case ExprOp::IfThenElse:
        return chosen(e, mask);
      case ExprOp::Call:
        if (e.callee == ir::Intrinsic::Fma) return multiplied_and_added(e, mask);
        break;
      default:
        break;
    }
    return unknown("`{}`", ir::print(f_, expr));
  }

  Try<ThreadNumbers> loaded(const ir::Expr& e, const Mask& mask) {
    const auto from = WW_TRY(element(e, mask));
    const int bits = num::storage_bits(f_[e.buffer].dtype);
    ThreadNumbers out(values_.threads());
    for (std::size_t t = 0; t < out.size(); ++t)
      if (mask[t]) out[t] = WW_TRY(read({from.storage, t, from.bit[t], bits}));
    return out;
  }
  Try<Number> read(const RegisterPlace& place) const {
    if (const auto number = registers_.at(place)) return *number;
    return wrong("thread {} of the unit reads byte {} of `{}`, which holds nothing", place.thread,
                 place.bit / 8, f_[place.storage].name);
  }
  Try<ThreadNumbers> multiplied_and_added(const ir::Expr& e, const Mask& mask) {
    auto a = WW_TRY(value(e.args[0], mask));
    const auto b = WW_TRY(value(e.args[1], mask)), c = WW_TRY(value(e.args[2], mask));
    for (std::size_t t = 0; t < a.size(); ++t) a[t] = a[t] * b[t] + c[t];
    return a;
  }
  Try<ThreadNumbers> operated(const ir::Expr& e, const Mask& mask) {
    auto a = WW_TRY(value(e.args[0], mask));
    const auto b = WW_TRY(value(e.args[1], mask));
    for (std::size_t t = 0; t < a.size(); ++t) {
      Number& x = a[t];
      const Number y = b[t];
      x = e.op == ExprOp::Add ? x + y : e.op == ExprOp::Sub ? x - y : x * y;
    }
    return a;
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

  // --- writes ---

  // Only D and what the code has allocated for itself may change.
  Try<void> put(const RegisterPlace& place, Number number) {
    const bool is_own = place.storage != d_.storage && is_allocated_here(place.storage);
    if (!is_own && !d_.has(place, place.thread))
      return wrong("byte {} of `{}` is written by thread {} of the unit", place.bit / 8,
                   f_[place.storage].name, place.thread);
    registers_.put(place, number);
    has_changed_ = true;
    return {};
  }
  // Operands of the call were there before it.
  [[nodiscard]] bool is_allocated_here(ir::BufferId storage) const {
    for (std::size_t i = 0; i < 4; ++i)
      if (storage == ir::storage_of(f_, call_.region(i).buffer)) return false;
    return allocated_.contains(storage.index);
  }

  Try<void> allocate(const ir::Stmt& s) override {
    allocated_.insert(s.buffer.index);
    return {};
  }

  // A factor that is read once, for later.
  Try<void> bind(const ir::Stmt& s, const Mask& mask) override {
    const auto number = factors_.runtime_of(s.expr, has_changed_);
    if (!number) return ProofWalk::bind(s, mask);
    bound_[s.var.index] = *number;
    return {};
  }

  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    const auto number = WW_TRY(value(s.expr, mask));
    const auto to = WW_TRY(element(s, mask));
    const int bits = num::storage_bits(f_[s.buffer].dtype);
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) WW_TRY_VOID(put({to.storage, t, to.bit[t], bits}, number[t]));
    return {};
  }

  Try<void> evaluate(const ir::Stmt& s, const Mask&) override {
    return unknown("`{}`", ir::print(f_, s.expr));
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

  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override {
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
    for (const std::string_view more : {"rnd", "satfinite", "sp", "kind", "block_scale"})
      if (binding.has(more)) return unknown("`{}`", call.opcode.text());
    constexpr std::pair<std::string_view, std::size_t> kOperands[] = {
        {"dtype", 0}, {"atype", 1}, {"btype", 2}, {"ctype", 0}};
    for (const auto& [slot, argument] : kOperands) {
      const auto type = num::parse_dtype(binding.word(slot));
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

  // By register and part, where all threads keep it, as the reader or writer of the first register's
  // storage says by `place_of`; empty: they differ.
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
    const Registers::Reader reader(registers_, matrix.registers[0].storage, matrix.bits);
    const auto places = places_of(matrix, [&](std::int64_t bit) { return reader.place_of(bit); });
    out.resize(matrix.fragment->places.size());
    Number* to = out.data();
    if (places.empty()) {
      for (const isa::FragmentPlace& at : matrix.fragment->places)
        *to++ = WW_TRY(read(matrix.at(at, first)));
      return {};
    }
    const Registers::Reader::Table table = reader.table();
    for (const isa::FragmentPlace& at : matrix.fragment->places) {
      const std::size_t thread = first + static_cast<std::size_t>(at.lane);
      const Number* const number = table.find(thread, places[matrix.index_of(at)]);
      *to++ = number != nullptr ? *number : WW_TRY(read(matrix.at(at, first)));
    }
    return {};
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
    Registers::Writer writer(registers_, d_.storage, d_.bits);
    if (d.bits == d_.bits && d.registers[0].storage == d_.storage)
      places =
          places_of(d, [&](std::int64_t bit) { return writer.place_of(bit, values_.threads()); });
    const Granules::Table names = d_.names->table();
    const Number* number = numbers.data();
    for (const isa::FragmentPlace& at : d.fragment->places) {
      const std::size_t thread = first + static_cast<std::size_t>(at.lane);
      const std::size_t place = places.empty() ? 0 : places[d.index_of(at)];
      const Name* const name = names.find(thread, static_cast<std::int64_t>(place));
      if (!places.empty() && name != nullptr && *name != kNobody)
        writer.put_in_table(thread, place, *number++);
      else
        WW_TRY_VOID(put(d.at(at, first), *number++));
    }
    has_changed_ = true;
    return {};
  }

  const Call& call_;
  const Factors& factors_;
  const RegionElements& d_;
  Registers& registers_;
  std::set<std::uint32_t> allocated_;
  std::unordered_map<std::uint32_t, Number> bound_;  // by variable: factors
  bool has_changed_ = false;                         // any register
  const ir::PtxCall* checked_ = nullptr;             // the last mma, and what it multiplies
  std::vector<isa::Fragment> fragments_;
};

// --- what the call means -------------------------------------------------------------------------

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

Try<Sizes> sizes_of(const Call& call, ProofValues& values) {
  Sizes out{.turns_a = ir::is_true(call.tile.args[4]), .turns_b = ir::is_true(call.tile.args[5])};
  const auto d = WW_TRY(matrix_extents(values, call.region(0)));
  const auto a = WW_TRY(matrix_extents(values, call.region(1)));
  out.m = d.first;
  out.n = d.second;
  out.k = out.turns_a ? a.first : a.second;
  return out;
}

// What the elements of D must be, in their order.
ThreadNumbers meant(const Sizes& s, const Factors& factors, const SharedNumbers& shared) {
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
  Sizes sizes;
  Number alpha = 0, beta = 0;
  ThreadNumbers sums = {};
};

// --- comparison ----------------------------------------------------------------------------------

class GemmProving {
 public:
  GemmProving(const Call& call, const ir::Block& code, Trial trial, bool is_beta_zero, Proof& proof,
              std::optional<KnownSums>& known)
      : known_(known),
        call_(call),
        code_(code),
        trial_(trial),
        proof_(proof),
        values_(call, trial.first_thread, trial.sample, *trial.few, *trial.tables),
        factors_(call, is_beta_zero) {}

  TrialOutcome run() {
    const auto sizes = sizes_of(call_, values_);
    if (!sizes) return could_not(sizes.error());
    for (const std::size_t i : {0U, 1U, 2U, 3U}) {
      const bool counts = i != 3 || factors_.beta() != 0;  // C is not read where beta is 0
      const auto read = counts ? read_operand(i) : Try<bool>(true);
      if (!read) return could_not(read.error());
      if (!*read) return TrialOutcome::Skipped;
    }
    if (!shared_.empty())
      registers_.change_all([&](Number number) { return shared_.known_as(number); });
    return compare(*sizes);
  }
  [[nodiscard]] bool is_beta_runtime() const { return factors_.is_beta_runtime(); }

 private:
  TrialOutcome could_not(const Unproven& why) {
    proof_.could_not = why.text;
    return TrialOutcome::Failed;
  }
  TrialOutcome differs(std::string how) {
    proof_.difference = std::move(how);
    return TrialOutcome::Failed;
  }

  // False: the sampled values put it outside its buffer.
  Try<bool> read_operand(std::size_t i) {
    const ir::Region& region = call_.region(i);
    const int bits = num::storage_bits(call_.f()[region.buffer].dtype);
    auto names = WW_TRY(names_of(call_, values_, region, bits, trial_.first_thread));
    if (!names) return false;
    operands_[i] = {.storage = ir::storage_of(call_.f(), region.buffer),
                    .bits = bits,
                    .names = std::move(names->granules)};
    constexpr GemmTag kTags[] = {kOfD, kOfA, kOfB, kOfC};
    if (i != 0) fill(operands_[i], kTags[i]);
    return true;
  }
  void fill(const RegionElements& operand, GemmTag tag) {
    const Number first = begun(tag);
    Registers::Writer writer(registers_, operand.storage, operand.bits);
    operand.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number number = number_of(first, name);
      if (const auto other = writer.put_beside(place, number)) shared_.unite(*other, number);
    });
  }

  const ThreadNumbers& meant_here(const Sizes& sizes) {
    const bool is_known = known_ && shared_.empty() && known_->sizes == sizes &&
                          known_->alpha == factors_.alpha() && known_->beta == factors_.beta();
    if (is_known) return known_->sums;
    ThreadNumbers sums = meant(sizes, factors_, shared_);
    if (!shared_.empty()) return own_sums_ = std::move(sums);
    known_ = {sizes, factors_.alpha(), factors_.beta(), std::move(sums)};
    return known_->sums;
  }

  TrialOutcome compare(const Sizes& sizes) {
    GemmReplay replay(call_, values_, factors_, operands_[0], registers_);
    if (!carry_out(replay, call_, code_, trial_, values_.threads(), proof_))
      return TrialOutcome::Failed;
    const ThreadNumbers& wanted = meant_here(sizes);
    std::string difference;
    const Registers::Reader reader(registers_, operands_[0].storage, operands_[0].bits);
    operands_[0].for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const Number* const number = reader.find(place.thread, place.bit);
      const bool is_right = number != nullptr && *number == wanted[static_cast<std::size_t>(name)];
      if (difference.empty() && !is_right)
        difference = fmt::format("element ({}, {}) of D in thread {} of the unit is another sum",
                                 name / sizes.n, name % sizes.n, place.thread);
    });
    if (!difference.empty()) return differs(std::move(difference));
    return values_.has_sampled() ? TrialOutcome::Held : TrialOutcome::HeldAlways;
  }

  std::optional<KnownSums>& known_;
  ThreadNumbers own_sums_;
  const Call& call_;
  const ir::Block& code_;
  Trial trial_;
  Proof& proof_;
  ProofValues values_;
  Factors factors_;
  RegionElements operands_[4];
  Registers registers_;
  SharedNumbers shared_;
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
    GemmProving proving(call, code, trial, false, proof, known);
    const TrialOutcome outcome = proving.run();
    if (!proving.is_beta_runtime() || outcome == TrialOutcome::Failed) return outcome;
    return GemmProving(call, code, trial, true, proof, known).run();
  };
  make_trials(call, proof, attempt);
  return proof;
}

}  // namespace ww::lower
