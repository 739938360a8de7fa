// SPDX-License-Identifier: Apache-2.0
// Folds between registers, reductions and scans, are proven by carrying them out on multisets of names. A
// value has the elements that are folded into it, each as often as it is, and a number: of an element by
// its name, of a conversion by the types, of two folded values by what they are. Where the order does not
// matter (integers, max, min), all ways to fold the same elements have one number; sums of floats have
// one for each way that rounds differently. What must come out is folded from the elements in the order
// that ir/reduction.h and ir/scan.h give: an element left out or taken twice, a wrong lane, another order
// or type all give another number.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <unordered_map>

#include "ir/print/print.h"
#include "ir/reduction.h"
#include "ir/scan.h"
#include "ir/settings.h"
#include "isa/form.h"
#include "lower/proof/machine.h"
#include "lower/proof/proof.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

// --- the algebra ---------------------------------------------------------------------------------

/// The elements in a value: how many, and the sum of their hashes; and what has folded them.
struct Bag {
  std::int64_t count = 0;
  Number sum = 0;
  std::optional<ir::ExprOp> by = {};  // none: a single element
  bool is_mixed = false;              // by several operations or types, or with a constant
  friend bool operator==(const Bag& a, const Bag& b) {
    return a.count == b.count && a.sum == b.sum;
  }
};

/// Values by their numbers. Where the order matters, a number follows from the numbers of its parts, and
/// the elements are kept only to say what differs.
class Bags {
 public:
  Bags(ExprOp op, DType type, bool says_elements)
      : op_(op),
        type_(type),
        is_ordered_(ir::is_ordered_fold(op, type)),
        keeps_(says_elements || !is_ordered_) {}

  /// Room for so many values.
  void reserve(std::size_t count) {
    if (keeps_) bags_.reserve(count);
  }
  Number element(Number number) {
    if (!keeps_) return number;
    bags_.put(number, {.count = 1, .sum = mixed(number)});
    return number;
  }
  Number cast(DType from, DType to, Number x) {
    if (const ir::Constant* found = constants_.find(x)) {
      const ir::Constant converted = ir::convert(*found, to);
      const Number out = hashes::number_of(converted);
      constants_.put(out, converted);
      return out;
    }
    if (!keeps_) return hashes::cast(from, to, x);
    if (from == to && bags_.find(x) != nullptr) return x;
    const Number out = hashes::cast(from, to, x);
    bags_.put(out, bag(x));
    return out;
  }
  Number folded(ExprOp op, DType type, Number a, Number b) {
    if (is_neutral(op, type, a)) return b;
    if (is_neutral(op, type, b)) return a;
    if (!keeps_) return hashes::operated(op, type, {std::min(a, b), std::max(a, b)});
    const Bag x = bag(a), y = bag(b);
    Bag out{.count = x.count + y.count, .sum = x.sum + y.sum, .by = op};
    const auto is_other = [&](const Bag& each) {
      return each.is_mixed || (each.by && each.by != op);
    };
    out.is_mixed = is_other(x) || is_other(y) || op != op_ || type != type_;
    const Number number = is_ordered_ || out.is_mixed
                              ? hashes::operated(op, type, {std::min(a, b), std::max(a, b)})
                              : hashes::hashed(hashes::kOperator, static_cast<Number>(op), type,
                                               {out.sum, static_cast<Number>(out.count)});
    bags_.put(number, out);
    return number;
  }
  /// What is computed from others has the elements of the first that has any.
  Number derived(Number number, std::initializer_list<Number> from) {
    if (!keeps_) return number;
    for (const Number each : from)
      if (const Bag* found = bags_.find(each)) {
        const Bag of = *found;  // the table may grow
        if (bags_.find(number) == nullptr) bags_.put(number, of);
        break;
      }
    return number;
  }
  void constant(const ir::Constant& constant, Number number) { constants_.put(number, constant); }
  /// How a value differs from what is meant.
  [[nodiscard]] std::string what_differs(Number wanted, const Number* number) const {
    if (!number) return "is not written";
    const Bag is = bag(*number), meant = bag(wanted);
    if (is.count != meant.count)
      return fmt::format("has {} elements folded into it, expected {}", is.count, meant.count);
    if (!(is == meant)) return "has other elements folded into it";
    return "is folded in another order, or otherwise";
  }

 private:
  // Without elements for a constant, which nothing but a neutral one may be.
  [[nodiscard]] Bag bag(Number x) const {
    const Bag* found = bags_.find(x);
    return found == nullptr ? Bag{.is_mixed = true} : *found;
  }
  [[nodiscard]] bool is_neutral(ExprOp op, DType type, Number x) const {
    const ir::Constant* found = constants_.find(x);
    if (found == nullptr || found->dtype != type) return false;
    const ir::Constant& c = *found;
    if (op == ExprOp::Mul) return is_float(type) ? c.real == 1 : c.integer == 1;
    if (is_float(type))
      return op == ExprOp::Add ? c.real == 0 && std::signbit(c.real) : std::isnan(c.real);
    if (op == ExprOp::Add) return c.integer == 0;
    const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
    const int bits = num::storage_bits(type);
    const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - bits);
    const auto value = static_cast<std::uint64_t>(c.integer);
    if (!is_signed) return value == (op == ExprOp::Max ? 0 : ones);
    return value == (op == ExprOp::Max ? ~(ones >> 1U) : ones >> 1U);
  }

  ExprOp op_;
  DType type_;
  bool is_ordered_;
  bool keeps_;  // the elements of values
  NumberMap<Bag> bags_;
  NumberMap<ir::Constant> constants_;
};

// --- what the code does --------------------------------------------------------------------------

class FoldMachine : public Machine {
 public:
  FoldMachine(const Call& call, ProofValues& values, Trial trial, const RegionElements& dst,
              Registers& registers, Bags& bags)
      : Machine(call, values, trial.first_thread, dst, registers),
        has_keys_(ir::gives_index(call.tile.op)),
        bags_(bags),
        turns_(call.context.turns) {
    for (const ir::BufferId each : turns_) values_.count(each, 0);
  }
  /// What is wrong in the end, beside the results.
  [[nodiscard]] std::string what_is_left() const { return scratch_.what_is_left(); }
  /// Must the code be right again and again? It is in a loop, and an mbarrier is in another phase then.
  [[nodiscard]] bool is_repeated() const { return call_.is_in_loop && scratch_.has_mbarriers(); }

 private:
  std::optional<Number> known(ExprId expr) override {
    const auto constant = hashes::constant_of(f_, expr);
    if (!constant) return std::nullopt;
    const Number number = hashes::number_of(*constant);
    bags_.constant(*constant, number);
    return number;
  }

  Try<ThreadNumbers> operated(ExprId expr, const Mask& mask) override {
    const ir::Expr& e = f_[expr];
    if (has_keys_ && is_of_threads(expr)) return counted(expr);
    const bool is_fold = e.op == ExprOp::Max || e.op == ExprOp::Min ||
                         (!has_keys_ && (e.op == ExprOp::Add || e.op == ExprOp::Mul));
    if (e.op == ExprOp::Call || (!has_keys_ && !is_fold && e.op != ExprOp::Cast))
      return unknown("`{}`", ir::print(f_, expr));
    auto args = WW_TRY(values_of(e, mask));
    const DType type = f_[e.args[0]].type.dtype;
    ThreadNumbers& out = args[0];
    for (std::size_t t = 0; t < out.size(); ++t) {
      if (!mask[t]) continue;
      if (is_fold)
        out[t] = bags_.folded(e.op, type, args[0][t], args[1][t]);
      else if (e.op == ExprOp::Cast)
        out[t] = bags_.cast(type, e.type.dtype, args[0][t]);
      // What keys of elements and indices are made by.
      else if (e.op == ExprOp::Reinterpret)
        out[t] = bags_.derived(
            hashes::hashed(hashes::kCast, static_cast<Number>(e.op), e.type.dtype, {args[0][t]}),
            {args[0][t]});
      else if (e.op == ExprOp::Select)
        out[t] = bags_.derived(
            hashes::hashed(hashes::kChoice, 0, e.type.dtype, {args[0][t], args[1][t], args[2][t]}),
            {args[1][t], args[2][t]});
      else if (args.size() == 2)
        out[t] = bags_.derived(hashes::operated(e.op, type, {args[0][t], args[1][t]}),
                               {args[0][t], args[1][t]});
      else
        return unknown("`{}`", ir::print(f_, expr));
    }
    return std::move(out);
  }
  // Made of constants and numbers of threads only.
  [[nodiscard]] bool is_of_threads(ExprId expr) const {
    const ir::Expr& e = f_[expr];
    if (e.op == ExprOp::Load || e.op == ExprOp::Call) return false;
    if (!e.type.is_int() && !e.type.is_bool()) return false;  // conditions choose between numbers
    return std::ranges::all_of(e.args, [&](ExprId arg) { return is_of_threads(arg); });
  }
  Try<ThreadNumbers> counted(ExprId expr) {
    const PerUnit& numbers = *WW_TRY(values_.known(expr));
    ThreadNumbers out;
    for (std::size_t t = 0; t < numbers.size(); ++t)
      out.push_back(hashes::number_of(ir::Constant{f_[expr].type.dtype, numbers[t], 0}));
    return out;
  }

  // A register that counts turns does so in all threads alike.
  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    if (std::ranges::find(turns_, s.buffer) == turns_.end()) return Machine::store(s, mask);
    const auto come = std::count(mask.begin(), mask.end(), true);
    if (come != std::ssize(mask)) return wrong("{} of {} threads count a turn", come, mask.size());
    values_.count(s.buffer, WW_TRY(values_.uniform(s.expr)));
    return {};
  }

  // redux.sync of integers with all lanes: every lane gets what all of them have.
  Try<void> instruct(const ir::PtxCall& call, const Mask& mask) override {
    const isa::Binding& binding = call.opcode.binding();
    const isa::Word op = binding.word("op"), type = binding.word("type");
    const bool is_known = call.opcode.mnemonic() == "redux" && !call.predicate.valid() &&
                          (op == "add" || op == "max" || op == "min") &&
                          (type == "s32" || type == "u32");
    if (!is_known) return unknown("`{}`", call.opcode.text());
    const auto members = ir::const_int(f_, call.operands[2].expr);
    if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU)
      return unknown("`{}` in parts of a warp", call.opcode.text());
    const ExprOp with = op == "add" ? ExprOp::Add : op == "max" ? ExprOp::Max : ExprOp::Min;
    const DType folded = type == "s32" ? DType::Int32 : DType::Uint32;
    const auto to = WW_TRY(register_of(call.operands[0], mask));
    const auto from = WW_TRY(register_of(call.operands[1], mask));
    const auto warps = WW_TRY(whole_warps(mask, call.opcode.text()));
    ThreadNumbers numbers = WW_TRY(read_all(from, 0, 32, mask));
    for (const std::size_t first : warps) {
      Number all = numbers[first];
      for (std::size_t t = first + 1; t < first + kWarpThreads; ++t)
        all = bags_.folded(with, folded, all, numbers[t]);
      std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), kWarpThreads, all);
    }
    return put_all(to, 0, 32, numbers, mask);
  }

  bool has_keys_;  // what is folded are keys of elements and indices
  Bags& bags_;
  const std::vector<ir::BufferId>& turns_;  // registers that count
};

// --- what the call means -------------------------------------------------------------------------

class FoldGoal : public NumberGoal {
 public:
  /// `op` folds values of `type`. With `says_elements` a difference tells how many elements went where.
  FoldGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof, ExprOp op,
           DType type, bool says_elements)
      : NumberGoal(call, code, trial, proof),
        op_(op),
        dtype_(call.buffer(1).dtype),
        type_(type),
        bags_(op, type, says_elements) {}

 protected:
  /// What registers hold before the code: the elements of the source.
  virtual void fill_registers() {
    std::size_t elements = 1;
    for (const std::int64_t extent : src_.extents) elements *= static_cast<std::size_t>(extent);
    bags_.reserve(2 * elements);  // each, and what it is folded into
    holders_.assign(elements, 0);
    src_.elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      registers_.put_beside(place, bags_.element(number_of(1, name)));
      const auto at = static_cast<std::size_t>(name);
      if (holders_[at] == 0) holders_[at] = place.thread + 1;
    });
  }
  /// By element of the destination.
  virtual std::vector<Number> meaning() = 0;

  /// An element of an operand: of argument 1 the source.
  [[nodiscard]] Number number_of(Number operand, Name name) const {
    return hashes::hashed(hashes::kElement, operand, dtype_, {static_cast<Number>(name)});
  }
  Number folded(Number a, Number b) { return bags_.folded(op_, type_, a, b); }
  /// The first thread that has an element; 0 where none has.
  [[nodiscard]] std::size_t holder_of(Name name) const {
    const std::size_t holder = holders_[static_cast<std::size_t>(name)];
    return holder > 0 ? holder - 1 : 0;
  }

  ExprOp op_;
  DType dtype_, type_;  // of elements, and of what is folded
  Bags bags_;
  RegionRead dst_, src_;

 private:
  Try<bool> prepare() override {
    for (const std::size_t argument : {0U, 1U}) {
      const ir::Buffer& buffer = call_.buffer(argument);
      if (buffer.scope != ir::Scope::Local) return unknown("`{}` outside registers", buffer.name);
      auto inside = WW_TRY(read(call_.region(argument)));
      if (!inside) return false;
      (argument == 0 ? dst_ : src_) = *std::move(inside);
    }
    return true;
  }

  /// How often code in a loop is carried out that has mbarriers: all turns, and the first again.
  static constexpr int kRounds = 5;
  Try<void> compare() override {
    fill_registers();
    const std::vector<Number> meant = meaning();
    FoldMachine machine(call_, values_, trial_, dst_.elements, registers_, bags_);
    for (int round = 0; round < kRounds && (round == 0 || machine.is_repeated()); ++round) {
      if (round > 0) {
        registers_ = {};  // so that reading what was there before is found
        fill_registers();
      }
      WW_TRY_VOID(carry_out(machine));
      const auto wanted = [&](Name name) { return meant[static_cast<std::size_t>(name)]; };
      WW_TRY_VOID(first_other(
          dst_.elements, wanted, [&](const RegisterPlace& place, Name name, const Number* number) {
            return fmt::format("element {} of the destination in thread {} of the unit {}", name,
                               place.thread, bags_.what_differs(wanted(name), number));
          }));
    }
    if (const std::string left = machine.what_is_left(); !left.empty()) return wrong("{}", left);
    return {};
  }

  std::vector<std::size_t> holders_;  // by element: the first thread that has it, from 1 on
};

/// The proof of a fold by a subclass of FoldGoal. A trial that finds a difference is made again, to say
/// more about it.
template <typename GoalOf>
Proof prove_fold(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof, [&](Trial trial) {
    const TrialOutcome outcome = GoalOf(call, code, trial, proof, false).run();
    if (outcome != TrialOutcome::Failed || proof.difference.empty()) return outcome;
    proof = {};
    trial.few->clear();
    return GoalOf(call, code, trial, proof, true).run();
  });
  return proof;
}

// --- reductions ----------------------------------------------------------------------------------

// What `argmax` and `argmin` fold: a key of an element, given its number in float32, int32 or uint32, and
// its index.
Number key_number(ir::TileOp op, num::DType type, Number x, std::int64_t index) {
  const auto operated = [](ExprOp with, DType of, Number a, Number b) {
    return hashes::operated(with, of, {a, b});
  };
  const auto constant = [](DType of, std::int64_t value) {
    return hashes::number_of(ir::Constant{of, value, 0});
  };
  const auto word = [&](std::int64_t value) { return constant(DType::Uint32, value); };
  const Number bits = type == DType::Uint32
                          ? x
                          : hashes::hashed(hashes::kCast, static_cast<Number>(ExprOp::Reinterpret),
                                           DType::Uint32, {x});
  Number high = bits;
  if (type == DType::Int32) high = operated(ExprOp::BitXor, DType::Uint32, bits, word(0x8000'0000));
  if (type == DType::Float32) {
    const Number sign = operated(ExprOp::Shr, DType::Uint32, bits, word(31));
    const Number all = operated(ExprOp::Sub, DType::Uint32, word(0), sign);
    high = operated(ExprOp::BitXor, DType::Uint32, bits,
                    operated(ExprOp::BitOr, DType::Uint32, all, word(0x8000'0000)));
  }
  if (op == ir::TileOp::Argmin)
    high = operated(ExprOp::BitXor, DType::Uint32, high, word(0xFFFF'FFFF));
  if (type == DType::Float32)
    high = hashes::hashed(hashes::kChoice, 0, DType::Uint32,
                          {operated(ExprOp::Eq, type, x, x), high, word(0)});
  const Number above =
      operated(ExprOp::Shl, DType::Uint64, hashes::cast(DType::Uint32, DType::Uint64, high),
               constant(DType::Uint64, 32));
  return operated(ExprOp::BitOr, DType::Uint64, above,
                  constant(DType::Uint64, 0x7FFF'FFFF - index));
}
// The index in a key, as int32.
Number index_number(Number key) {
  return hashes::operated(ExprOp::Sub, DType::Int32,
                          {hashes::number_of(ir::Constant{DType::Int32, 0x7FFF'FFFF, 0}),
                           hashes::cast(DType::Uint64, DType::Int32, key)});
}

/// The parts of one sum, sorted by thread.
using Parts = std::vector<std::pair<std::size_t, Number>>;

class ReductionGoal final : public FoldGoal {
 public:
  ReductionGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof,
                bool says_elements)
      : FoldGoal(call, code, trial, proof, operator_of(call), type_of(call), says_elements) {}

 private:
  // Indices are found by keys, of which the greatest is taken.
  static ExprOp operator_of(const Call& call) {
    const ir::TileOp op = call.tile.op;
    return ir::gives_index(op) ? ExprOp::Max : ir::folding_operator(op);
  }
  static DType type_of(const Call& call) {
    return ir::gives_index(call.tile.op) ? DType::Uint64 : ir::fold_type(call.buffer(1).dtype);
  }

  void fill_registers() override {
    FoldGoal::fill_registers();
    old_.clear();
    if (!ir::accumulates(call_.tile)) return;
    // What the destination was; in registers of the source, that is an element of it.
    dst_.elements.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const auto other = registers_.at(place);
      const Number number = other ? *other : bags_.element(number_of(0, name));
      if (!other) registers_.put_beside(place, number);
      old_.emplace(name, number);
    });
  }

  /// The elements of the source in order, by the element of the destination that they go into: its
  /// number is made of the coordinates that are not folded. Each has as many.
  struct Members {
    std::size_t results = 1, each = 1;
    std::vector<Name> names = {};
  };
  [[nodiscard]] Members members_of(const std::vector<bool>& is_folded) const {
    Members out;
    for (std::size_t d = 0; d < src_.extents.size(); ++d)
      (is_folded[d] ? out.each : out.results) *= static_cast<std::size_t>(src_.extents[d]);
    out.names.resize(out.results * out.each);
    std::vector<std::size_t> next(out.results);
    for (std::size_t x = 0; x < out.names.size(); ++x) {
      std::size_t into = 0, scale = 1, rest = x;
      for (std::size_t d = src_.extents.size(); d-- > 0;) {
        const auto extent = static_cast<std::size_t>(src_.extents[d]);
        const std::size_t above = rest / extent;
        if (!is_folded[d]) {
          into += (rest - above * extent) * scale;
          scale *= extent;
        }
        rest = above;
      }
      out.names[into * out.each + next[into]++] = static_cast<Name>(x);
    }
    return out;
  }
  // By element of the destination.
  std::vector<Number> meaning() override {
    const std::vector<bool> is_folded = ir::folded_dimensions(call_.tile);
    const Members members = members_of(is_folded);
    std::vector<Number> out;
    for (std::size_t into = 0; into < members.results; ++into) {
      Parts parts;
      for (std::size_t i = 0; i < members.each; ++i) {
        const Name name = src_.elements.names->known_as(members.names[into * members.each + i]);
        add(parts, holder_of(name), leaf_of(name, static_cast<std::int64_t>(i)));
      }
      Number all = over_lanes(std::move(parts));
      if (const auto old = old_.find(static_cast<Name>(into)); old != old_.end())
        all = folded(all, bags_.cast(dtype_, type_, old->second));
      out.push_back(result_of(all));
    }
    return out;
  }
  // The part of a thread comes before those of later ones; elements of one are folded in order.
  void add(Parts& parts, std::size_t thread, Number number) {
    const auto later = [](const auto& part, std::size_t than) { return part.first < than; };
    const bool is_last = parts.empty() || parts.back().first < thread;
    const auto at =
        is_last ? parts.end() : std::lower_bound(parts.begin(), parts.end(), thread, later);
    if (at != parts.end() && at->first == thread)
      at->second = folded(at->second, number);
    else
      parts.insert(at, {thread, number});
  }
  Number leaf_of(Name name, std::int64_t index) {
    const Number element = number_of(1, name);
    if (!has_keys_) return bags_.cast(dtype_, type_, element);
    const DType to = ir::fold_type(dtype_);
    return bags_.element(key_number(call_.tile.op, to, hashes::cast(dtype_, to, element), index));
  }
  Number result_of(Number all) {
    if (!has_keys_) return bags_.cast(type_, dtype_, all);
    const DType to = call_.buffer(0).dtype;
    return bags_.derived(hashes::cast(DType::Int32, to, index_number(all)), {all});
  }

  // Lanes that differ in bit 0, then in bit 1, …; then the warps of each CTA; then the CTAs.
  Number over_lanes(Parts parts) {
    for (std::size_t bit = 1; bit < kWarpThreads; bit *= 2) {
      Parts next;
      for (const auto& [thread, part] : parts) add(next, thread & ~bit, part);
      parts = std::move(next);
    }
    const auto of_cta = static_cast<std::size_t>(call_.context.launch.threads());
    Parts of_ctas;
    for (const auto& [thread, part] : parts) add(of_ctas, thread / of_cta, part);
    Number all = of_ctas.begin()->second;
    for (auto next = std::next(of_ctas.begin()); next != of_ctas.end(); ++next)
      all = folded(all, next->second);
    return all;
  }

  bool has_keys_ = ir::gives_index(call_.tile.op);
  std::unordered_map<Name, Number> old_;  // what elements of the destination were
};

// --- scans ---------------------------------------------------------------------------------------

/// What elements of a row are folded to; nothing: there are none.
using Part = std::optional<Number>;

/// One row, in the order of the definition.
class RowMeaning {
 public:
  RowMeaning(Bags& bags, ExprOp op, DType type) : bags_(bags), op_(op), type_(type) {}

  /// Element after element, with the first thread that holds it.
  void add(std::size_t thread, Number leaf) {
    const bool is_same = !sweeps_.empty() && sweeps_.back().back().thread == thread;
    if (!is_same) {
      const bool goes_on = !sweeps_.empty() && sweeps_.back().back().thread < thread &&
                           sweeps_.back().back().thread / kWarpThreads == thread / kWarpThreads;
      if (!goes_on) sweeps_.emplace_back();
      sweeps_.back().push_back({thread, {}});
    }
    std::vector<Part>& run = sweeps_.back().back().prefixes;
    run.push_back(folded(run.empty() ? Part{} : run.back(), leaf));
  }

  /// By element. Exclusive: without itself.
  [[nodiscard]] std::vector<Part> results(bool is_exclusive) {
    std::vector<Part> out;
    Part base;
    for (const Sweep& sweep : sweeps_) {
      const std::vector<Part> swept = over_lanes(sweep);
      for (std::size_t p = 0; p < sweep.size(); ++p) {
        const Part before = folded(base, p == 0 ? Part{} : swept[p - 1]);
        const std::vector<Part>& run = sweep[p].prefixes;
        for (std::size_t j = 0; j < run.size(); ++j)
          out.push_back(folded(before, !is_exclusive ? run[j] : j == 0 ? Part{} : run[j - 1]));
      }
      base = folded(base, swept.back());
    }
    return out;
  }

 private:
  struct Run {
    std::size_t thread;
    std::vector<Part> prefixes;
  };
  using Sweep = std::vector<Run>;

  Part folded(Part a, Part b) {
    if (!a || !b) return a ? a : b;
    return bags_.folded(op_, type_, *a, *b);
  }
  // What each run of a sweep has when the lanes are done.
  std::vector<Part> over_lanes(const Sweep& sweep) {
    std::vector<Part> now;
    for (const Run& run : sweep) now.push_back(run.prefixes.back());
    for (std::size_t d = 1; d < now.size(); d *= 2) {
      std::vector<Part> next = now;
      for (std::size_t p = d; p < now.size(); ++p) next[p] = folded(now[p - d], now[p]);
      now = std::move(next);
    }
    return now;
  }

  Bags& bags_;
  ExprOp op_;
  DType type_;
  std::vector<Sweep> sweeps_;
};

class ScanGoal final : public FoldGoal {
 public:
  ScanGoal(const Call& call, const ir::Block& code, Trial trial, Proof& proof, bool says_elements)
      : FoldGoal(call, code, trial, proof, ir::scanning_operator(call.tile.op),
                 ir::fold_type(call.buffer(1).dtype), says_elements) {}

 private:
  // By element of the destination, which has the number of that of the source.
  std::vector<Number> meaning() override {
    const std::size_t axis = ir::scanned_dimension(call_.tile);
    std::int64_t count = 1, stride = 1;
    for (std::size_t d = 0; d < src_.extents.size(); ++d) {
      count *= src_.extents[d];
      if (d > axis) stride *= src_.extents[d];
    }
    const std::int64_t length = src_.extents[axis];
    const Number nothing = hashes::number_of(ir::convert(ir::scan_identity(op_, dtype_), dtype_));
    std::vector<Number> out(static_cast<std::size_t>(count));
    for (std::int64_t first = 0; first < count; ++first) {
      if (first / stride % length != 0) continue;  // not the first of a row
      RowMeaning row(bags_, op_, type_);
      for (std::int64_t i = 0; i < length; ++i) {
        const Name name = src_.elements.names->known_as(static_cast<Name>(first + i * stride));
        row.add(holder_of(name), bags_.cast(dtype_, type_, number_of(1, name)));
      }
      std::int64_t i = 0;
      for (const Part& part : row.results(ir::is_exclusive(call_.tile)))
        out[static_cast<std::size_t>(first + i++ * stride)] =
            part ? bags_.cast(type_, dtype_, *part) : nothing;
    }
    return out;
  }
};

}  // namespace

Proof prove_reduction(const Call& call, const ir::Block& code) {
  return prove_fold<ReductionGoal>(call, code);
}

Proof prove_scan(const Call& call, const ir::Block& code) {
  return prove_fold<ScanGoal>(call, code);
}

}  // namespace ww::lower
