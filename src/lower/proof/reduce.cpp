// SPDX-License-Identifier: Apache-2.0
// A reduction is proven by carrying it out on multisets of names. A value has the elements that are
// folded into it, each as often as it is, and a number: of an element by its name, of a conversion
// by the types, of two folded values by what they are. Where the order does not matter (integers,
// max, min), all ways to fold the same elements have one number; sums of floats have one for each
// way that rounds differently. What must come out is folded from the elements in the order that
// ir/reduction.h gives: an element left out or taken twice, a wrong lane, another order or type all
// give another number.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "ir/print/print.h"
#include "ir/reduction.h"
#include "ir/settings.h"
#include "lower/proof/index_key.h"
#include "lower/proof/meaning.h"
#include "lower/proof/proof.h"
#include "lower/proof/register_replay.h"
#include "lower/proof/scratch_order.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace reduce_proof {
namespace {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

constexpr std::size_t kLanes = 32;

/// The elements in a value: how many, and the sum of their hashes; and what has folded them.
struct Bag {
  std::int64_t count = 0;
  Number sum = 0;
  std::optional<ExprOp> by = {};  // none: a single element
  bool is_mixed = false;          // by several operations or types, or with a constant
  friend bool operator==(const Bag& a, const Bag& b) {
    return a.count == b.count && a.sum == b.sum;
  }
};

/// Values by their numbers.
class Bags {
 public:
  explicit Bags(ExprOp op, DType type) : op_(op), type_(type) {
    is_ordered_ = ir::is_ordered_fold(op, type);
  }

  Number element(Number number) {
    bags_[number] = {.count = 1, .sum = mixed(number)};
    return number;
  }
  Number cast(DType from, DType to, Number x) {
    const Number out = hashes::cast(from, to, x);
    const Bag of = bag(x);  // before the table may grow
    bags_[out] = of;
    return out;
  }
  Number folded(ExprOp op, DType type, Number a, Number b) {
    if (is_neutral(op, type, a)) return b;
    if (is_neutral(op, type, b)) return a;
    const Bag x = bag(a), y = bag(b);
    Bag out{.count = x.count + y.count, .sum = x.sum + y.sum, .by = op};
    const auto is_other = [&](const Bag& each) {
      return each.is_mixed || (each.by && each.by != op);
    };
    out.is_mixed = is_other(x) || is_other(y) || op != op_ || type != type_;
    const Number number = is_ordered_ || out.is_mixed
                              ? hashes::operated(op, type, std::min(a, b), std::max(a, b))
                              : hashes::hashed(hashes::kOperator, static_cast<Number>(op), type,
                                               {out.sum, static_cast<Number>(out.count)});
    bags_[number] = out;
    return number;
  }
  /// Without elements for a constant, which nothing but a neutral one may be.
  [[nodiscard]] Bag bag(Number x) const {
    const auto found = bags_.find(x);
    return found == bags_.end() ? Bag{.is_mixed = true} : found->second;
  }
  /// What is computed from others has the elements of the first that has any.
  Number derived(Number number, std::initializer_list<Number> from) {
    for (const Number each : from)
      if (const auto found = bags_.find(each); found != bags_.end()) {
        const Bag of = found->second;
        bags_.emplace(number, of);
        break;
      }
    return number;
  }
  void constant(const ir::Constant& constant, Number number) { constants_[number] = constant; }

 private:
  [[nodiscard]] bool is_neutral(ExprOp op, DType type, Number x) const {
    const auto found = constants_.find(x);
    if (found == constants_.end() || found->second.dtype != type) return false;
    const ir::Constant& c = found->second;
    if (op == ExprOp::Mul) return is_float(type) ? c.real == 1 : c.integer == 1;
    if (is_float(type))
      return op == ExprOp::Add ? c.real == 0 && std::signbit(c.real) : std::isnan(c.real);
    if (op == ExprOp::Add) return c.integer == 0;
    const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
    const int bits = num::bits_of(type);
    const std::uint64_t ones = ~std::uint64_t{0} >> static_cast<unsigned>(64 - bits);
    const auto value = static_cast<std::uint64_t>(c.integer);
    if (!is_signed) return value == (op == ExprOp::Max ? 0 : ones);
    return value == (op == ExprOp::Max ? ~(ones >> 1U) : ones >> 1U);
  }

  ExprOp op_;
  DType type_;
  bool is_ordered_ = false;
  std::unordered_map<Number, Bag> bags_;
  std::unordered_map<Number, ir::Constant> constants_;
};

// --- what the code does --------------------------------------------------------------------------

class Replay : public RegisterReplay {
 public:
  Replay(const Call& call, ProofValues& values, const RegionElements& dst, Registers& registers,
         Bags& bags, std::int64_t first_thread)
      : RegisterReplay(call, values, dst, registers),
        has_keys_(ir::gives_index(call.tile.op)),
        bags_(bags),
        scratch_(call, values, first_thread) {}

 private:
  Try<ThreadNumbers> value(ExprId expr, const Mask& mask) override {
    const ir::Expr& e = f_[expr];
    if (e.op == ExprOp::FloatImm || e.op == ExprOp::IntImm) {
      const ir::Constant constant{e.type.dtype, e.op == ExprOp::IntImm ? e.integer : 0,
                                  e.op == ExprOp::FloatImm ? e.real : 0};
      const Number number = hashes::number_of(constant);
      bags_.constant(constant, number);
      return ThreadNumbers(values_.threads(), number);
    }
    if (e.op == ExprOp::Load && f_[e.buffer].scope == ir::Scope::Local) return loaded(e, mask);
    if (e.op == ExprOp::Load && scratch_.is_scratch(ir::storage_of(f_, e.buffer)))
      return fetched(e, mask);
    if (e.op == ExprOp::Call) return exchanged(expr, e, mask);
    if (has_keys_ && is_of_threads(expr)) return counted(expr);
    const bool is_fold = e.op == ExprOp::Max || e.op == ExprOp::Min ||
                         (!has_keys_ && (e.op == ExprOp::Add || e.op == ExprOp::Mul));
    if (has_keys_ && !is_fold && e.op != ExprOp::Cast) return computed(expr, e, mask);
    if (!is_fold && e.op != ExprOp::Cast) return unknown("`{}`", ir::print(f_, expr));
    const DType type = f_[e.args[0]].type.dtype;
    ThreadNumbers out = WW_TRY(value(e.args[0], mask));
    const ThreadNumbers other = is_fold ? WW_TRY(value(e.args[1], mask)) : ThreadNumbers{};
    for (std::size_t t = 0; t < out.size(); ++t)
      if (mask[t])
        out[t] = is_fold ? bags_.folded(e.op, type, out[t], other[t])
                         : bags_.cast(type, e.type.dtype, out[t]);
    return out;
  }

  // Made of constants and numbers of threads only.
  [[nodiscard]] bool is_of_threads(ExprId expr) const {
    const ir::Expr& e = f_[expr];
    if (e.op == ExprOp::Load || e.op == ExprOp::Call || !e.type.is_int()) return false;
    return std::ranges::all_of(e.args, [&](ExprId arg) { return is_of_threads(arg); });
  }
  Try<ThreadNumbers> counted(ExprId expr) {
    const auto numbers = WW_TRY(values_.of(expr));
    ThreadNumbers out;
    for (const std::int64_t number : numbers)
      out.push_back(hashes::number_of(ir::Constant{f_[expr].type.dtype, number, 0}));
    return out;
  }
  // What keys of elements and indices are made by.
  Try<ThreadNumbers> computed(ExprId expr, const ir::Expr& e, const Mask& mask) {
    std::vector<ThreadNumbers> args;
    for (const ExprId arg : e.args) args.push_back(WW_TRY(value(arg, mask)));
    const DType type = f_[e.args[0]].type.dtype;
    ThreadNumbers out(values_.threads());
    for (std::size_t t = 0; t < out.size(); ++t) {
      if (!mask[t]) continue;
      if (e.op == ExprOp::Reinterpret && args.size() == 1)
        out[t] = bags_.derived(
            hashes::hashed(hashes::kCast, static_cast<Number>(e.op), e.type.dtype, {args[0][t]}),
            {args[0][t]});
      else if (e.op == ExprOp::Select && args.size() == 3)
        out[t] = bags_.derived(
            hashes::hashed(hashes::kChoice, 0, e.type.dtype, {args[0][t], args[1][t], args[2][t]}),
            {args[1][t], args[2][t]});
      else if (args.size() == 2 && e.op != ExprOp::Load)
        out[t] = bags_.derived(hashes::operated(e.op, type, args[0][t], args[1][t]),
                               {args[0][t], args[1][t]});
      else
        return unknown("`{}`", ir::print(f_, expr));
    }
    return out;
  }

  // shfl.sync.bfly and .idx with all lanes of a warp.
  Try<ThreadNumbers> exchanged(ExprId expr, const ir::Expr& e, const Mask& mask) {
    const bool is_xor = e.callee == ir::Intrinsic::ShflXor;
    if (!is_xor && e.callee != ir::Intrinsic::Shfl) return unknown("`{}`", ir::print(f_, expr));
    const auto members = ir::const_int(f_, e.args[0]);
    const auto width = ir::const_int(f_, e.args[3]), all = ir::const_int(f_, e.args[4]);
    if (!members || static_cast<std::uint32_t>(*members) != 0xFFFF'FFFFU || width != 32 ||
        all != 32)
      return unknown("`{}` in parts of a warp", ir::print(f_, expr));
    const ThreadNumbers from = WW_TRY(value(e.args[1], mask));
    const auto by = WW_TRY(values_.of(e.args[2]));
    const auto warps = WW_TRY(whole_warps(mask, "shfl.sync"));
    ThreadNumbers out(values_.threads());
    for (const std::size_t first : warps)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto operand = static_cast<std::size_t>(by[first + lane] & 31);
        out[first + lane] = from[first + (is_xor ? lane ^ operand : operand)];
      }
    return out;
  }

  // From scratch memory, which no thread may be writing.
  Try<ThreadNumbers> fetched(const ir::Expr& e, const Mask& mask) {
    const auto from = WW_TRY(element(e, mask));
    for (std::size_t t = 0; t < mask.size(); ++t)
      if (mask[t]) WW_TRY_VOID(scratch_.read(from.storage, from.bit[t], t));
    return loaded(e, mask);
  }
  Try<void> store(const ir::Stmt& s, const Mask& mask) override {
    if (!scratch_.is_scratch(ir::storage_of(f_, s.buffer))) return RegisterReplay::store(s, mask);
    const auto number = WW_TRY(value(s.expr, mask));
    const auto to = WW_TRY(element(s, mask));
    const int bits = num::bits_of(f_[s.buffer].dtype);
    for (std::size_t t = 0; t < mask.size(); ++t) {
      if (!mask[t]) continue;
      WW_TRY_VOID(scratch_.write(to.storage, to.bit[t], t));
      registers_.put(place(to, t, bits), number[t]);
    }
    return {};
  }
  Try<void> evaluate(const ir::Stmt& s, const Mask& mask) override {
    const ir::Expr& e = f_[s.expr];
    const bool is_barrier = e.op == ExprOp::Call && (e.callee == ir::Intrinsic::CtaSync ||
                                                     e.callee == ir::Intrinsic::WarpgroupSync);
    return is_barrier ? scratch_.barrier(e, mask) : unknown("`{}`", ir::print(f_, s.expr));
  }
  // redux.sync of integers with all lanes: every lane gets what all of them have.
  Try<void> ptx(const ir::PtxCall& call, const Mask& mask) override {
    const isa::Binding& binding = call.opcode.binding();
    const std::string_view op = binding.word("op"), type = binding.word("type");
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
    for (const std::size_t first : warps) {
      std::optional<Number> all;
      for (std::size_t t = first; t < first + kLanes; ++t) {
        const auto number = registers_.at(place(from, t, 32));
        if (!number) return wrong("thread {} of the unit gives a register that is not filled", t);
        all = all ? bags_.folded(with, folded, *all, *number) : *number;
      }
      for (std::size_t t = first; t < first + kLanes; ++t)
        WW_TRY_VOID(put(place(to, t, 32), t, *all));
    }
    return {};
  }

  bool has_keys_;
  Bags& bags_;
  ScratchOrder scratch_;
};

// --- what the call means -------------------------------------------------------------------------

/// The parts of one sum: by thread, in the order of the elements.
using Parts = std::map<std::size_t, Number>;

class Proving {
 public:
  Proving(const Call& call, const ir::Block& code, Trial trial, Proof& proof)
      : call_(call),
        code_(code),
        trial_(trial),
        proof_(proof),
        values_(call, trial.first_thread, trial.sample, *trial.few),
        has_keys_(ir::gives_index(call.tile.op)),
        op_(has_keys_ ? ExprOp::Max : ir::folding_operator(call.tile.op)),
        dtype_(call.buffer(1).dtype),
        type_(has_keys_ ? DType::Uint64 : ir::fold_type(dtype_)),
        bags_(op_, type_) {}

  TrialOutcome run() {
    for (RegionElements* side : {&dst_, &src_}) {
      const auto is_inside = read(side == &dst_ ? 0 : 1, *side);
      if (!is_inside) {
        proof_.could_not = is_inside.error().text;
        return TrialOutcome::Failed;
      }
      if (!*is_inside) return TrialOutcome::Skipped;
    }
    fill();
    const std::vector<Number> meant = meaning();
    Replay replay(call_, values_, dst_, registers_, bags_, trial_.first_thread);
    if (!carry_out(replay, call_, code_, trial_, values_.threads(), proof_))
      return TrialOutcome::Failed;
    compare(meant);
    if (!proof_.difference.empty()) return TrialOutcome::Failed;
    return values_.has_sampled() ? TrialOutcome::Held : TrialOutcome::HeldAlways;
  }

 private:
  // False: the sampled values put the region outside its buffer.
  Try<bool> read(std::size_t argument, RegionElements& out) {
    const ir::Buffer& buffer = call_.buffer(argument);
    if (buffer.scope != ir::Scope::Local) return unknown("`{}` outside registers", buffer.name);
    auto inside = WW_TRY(read_region(call_, values_, call_.region(argument), trial_.first_thread));
    if (!inside) return false;
    out = std::move(inside->elements);
    if (argument == 1) src_extents_ = std::move(inside->extents);
    return true;
  }

  Number number_of(Number operand, Name name) {
    return hashes::hashed(hashes::kElement, operand, dtype_, {static_cast<Number>(name)});
  }
  void fill() {
    src_.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      registers_.put_beside(place, bags_.element(number_of(1, name)));
      holders_.emplace(name, place.thread);  // the first
    });
    if (!ir::accumulates(call_.tile)) return;
    // What the destination was; in registers of the source, that is an element of it.
    dst_.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      const auto other = registers_.at(place);
      const Number number = other ? *other : bags_.element(number_of(0, name));
      if (!other) registers_.put_beside(place, number);
      old_.emplace(name, number);
    });
  }

  // The elements of the source in order, by the element of the destination that they go into: its
  // number is made of the coordinates that are not folded.
  [[nodiscard]] std::vector<std::vector<Name>> members_of(
      const std::vector<bool>& is_folded) const {
    std::int64_t count = 1, results = 1;
    for (std::size_t d = 0; d < src_extents_.size(); ++d) {
      count *= src_extents_[d];
      if (!is_folded[d]) results *= src_extents_[d];
    }
    std::vector<std::vector<Name>> out(static_cast<std::size_t>(results));
    for (std::int64_t x = 0; x < count; ++x) {
      std::int64_t into = 0, scale = 1, rest = x;
      for (std::size_t d = src_extents_.size(); d-- > 0; rest /= src_extents_[d]) {
        if (is_folded[d]) continue;
        into += rest % src_extents_[d] * scale;
        scale *= src_extents_[d];
      }
      out[static_cast<std::size_t>(into)].push_back(static_cast<Name>(x));
    }
    return out;
  }
  // By element of the destination.
  std::vector<Number> meaning() {
    const std::vector<bool> is_folded = ir::folded_dimensions(call_.tile);
    const std::vector<std::vector<Name>> members = members_of(is_folded);
    std::vector<Number> out;
    for (std::size_t into = 0; into < members.size(); ++into) {
      Parts parts;
      for (std::size_t i = 0; i < members[into].size(); ++i) {
        const Name name = src_.names->known_as(members[into][i]);
        const Number leaf = leaf_of(name, static_cast<std::int64_t>(i));
        const auto [part, is_first] = parts.emplace(holders_[name], leaf);
        if (!is_first) part->second = folded_value(part->second, leaf);
      }
      Number all = over_lanes(std::move(parts));
      if (const auto old = old_.find(static_cast<Name>(into)); old != old_.end())
        all = folded_value(all, bags_.cast(dtype_, type_, old->second));
      out.push_back(result_of(all));
    }
    return out;
  }
  Number leaf_of(Name name, std::int64_t index) {
    const Number element = number_of(1, name);
    if (!has_keys_) return bags_.cast(dtype_, type_, element);
    const DType folded = ir::fold_type(dtype_);
    return bags_.element(
        key_number(call_.tile.op, folded, hashes::cast(dtype_, folded, element), index));
  }
  Number result_of(Number all) {
    if (!has_keys_) return bags_.cast(type_, dtype_, all);
    const DType to = call_.buffer(0).dtype;
    return bags_.derived(hashes::cast(DType::Int32, to, index_number(all)), {all});
  }
  Number folded_value(Number a, Number b) { return bags_.folded(op_, type_, a, b); }

  // Lanes that differ in bit 0, then in bit 1, …; then the warps.
  Number over_lanes(Parts parts) {
    for (std::size_t bit = 1; bit < kLanes; bit *= 2) {
      Parts next;
      for (const auto& [thread, part] : parts) {
        const auto [pair, is_first] = next.emplace(thread & ~bit, part);
        if (!is_first) pair->second = folded_value(pair->second, part);
      }
      parts = std::move(next);
    }
    Number all = parts.begin()->second;
    for (auto next = std::next(parts.begin()); next != parts.end(); ++next)
      all = folded_value(all, next->second);
    return all;
  }

  void compare(const std::vector<Number>& meant) {
    dst_.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
      if (!proof_.difference.empty()) return;
      const Number wanted = meant[static_cast<std::size_t>(name)];
      const auto number = registers_.at(place);
      if (number == wanted) return;
      proof_.difference = fmt::format("element {} of the destination in thread {} of the unit {}",
                                      name, place.thread, what_differs(wanted, number));
    });
  }
  [[nodiscard]] std::string what_differs(Number wanted, std::optional<Number> number) const {
    if (!number) return "is not written";
    const Bag is = bags_.bag(*number), meant = bags_.bag(wanted);
    if (is.count != meant.count)
      return fmt::format("has {} elements folded into it, expected {}", is.count, meant.count);
    if (!(is == meant)) return "has other elements folded into it";
    return "is folded in another order, or otherwise";
  }

  const Call& call_;
  const ir::Block& code_;
  Trial trial_;
  Proof& proof_;
  ProofValues values_;
  bool has_keys_;
  ExprOp op_;
  DType dtype_, type_;  // of elements, and of what is folded
  Bags bags_;
  RegionElements dst_, src_;
  std::vector<std::int64_t> src_extents_;
  Registers registers_;
  std::unordered_map<Name, std::size_t> holders_;  // the first thread that has an element
  std::unordered_map<Name, Number> old_;           // what elements of the destination were
};

}  // namespace
}  // namespace reduce_proof

Proof prove_reduction(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof,
              [&](Trial trial) { return reduce_proof::Proving(call, code, trial, proof).run(); });
  return proof;
}

}  // namespace ww::lower
