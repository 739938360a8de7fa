// SPDX-License-Identifier: Apache-2.0
// A reduction is proven by carrying it out on multisets of names (proof/fold_replay.h). What must come
// out is folded from the elements in the order that ir/reduction.h gives: an element left out or taken
// twice, a wrong lane, another order or type all give another number.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/reduction.h"
#include "ir/settings.h"
#include "lower/proof/fold_replay.h"
#include "lower/proof/index_key.h"
#include "lower/proof/meaning.h"
#include "lower/proof/proof.h"
#include "lower/proof/trials.h"

namespace ww::lower {
namespace reduce_proof {
namespace {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

constexpr std::size_t kLanes = 32;

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
    FoldReplay replay(call_, values_, dst_, registers_, bags_, trial_.first_thread);
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
                                      name, place.thread, bags_.what_differs(wanted, number));
    });
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
