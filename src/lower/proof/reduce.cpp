// SPDX-License-Identifier: Apache-2.0
// A reduction is proven by carrying it out on multisets of names (proof/fold_replay.h). What must come
// out is folded from the elements in the order that ir/reduction.h gives: an element left out or taken
// twice, a wrong lane, another order or type all give another number.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/reduction.h"
#include "ir/settings.h"
#include "lower/proof/fold_proof.h"
#include "lower/proof/index_key.h"
#include "lower/proof/meaning.h"

namespace ww::lower {
namespace reduce_proof {
namespace {

using ir::ExprOp;
using num::DType;

// --- what the call means -------------------------------------------------------------------------

/// The parts of one sum: by thread, in the order of the elements.
using Parts = std::map<std::size_t, Number>;

class ReductionProof : public FoldProof {
 public:
  ReductionProof(const Call& call, const ir::Block& code, Trial trial, Proof& proof)
      : FoldProof(call, code, trial, proof, operator_of(call), type_of(call)) {}

 private:
  // Indices are found by keys, of which the greatest is taken.
  static ExprOp operator_of(const Call& call) {
    const ir::TileOp op = call.tile.op;
    return ir::gives_index(op) ? ExprOp::Max : ir::folding_operator(op);
  }
  static DType type_of(const Call& call) {
    return ir::gives_index(call.tile.op) ? DType::Uint64 : ir::fold_type(call.buffer(1).dtype);
  }

  void fill() override {
    FoldProof::fill();
    old_.clear();
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
  std::vector<Number> meaning() override {
    const std::vector<bool> is_folded = ir::folded_dimensions(call_.tile);
    const std::vector<std::vector<Name>> members = members_of(is_folded);
    std::vector<Number> out;
    for (std::size_t into = 0; into < members.size(); ++into) {
      Parts parts;
      for (std::size_t i = 0; i < members[into].size(); ++i) {
        const Name name = src_.names->known_as(members[into][i]);
        const Number leaf = leaf_of(name, static_cast<std::int64_t>(i));
        const auto [part, is_first] = parts.emplace(holder_of(name), leaf);
        if (!is_first) part->second = folded(part->second, leaf);
      }
      Number all = over_lanes(std::move(parts));
      if (const auto old = old_.find(static_cast<Name>(into)); old != old_.end())
        all = folded(all, bags_.cast(dtype_, type_, old->second));
      out.push_back(result_of(all));
    }
    return out;
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
    for (std::size_t bit = 1; bit < kFoldLanes; bit *= 2) {
      Parts next;
      for (const auto& [thread, part] : parts) {
        const auto [pair, is_first] = next.emplace(thread & ~bit, part);
        if (!is_first) pair->second = folded(pair->second, part);
      }
      parts = std::move(next);
    }
    const auto of_cta = static_cast<std::size_t>(call_.context.launch.threads());
    Parts of_ctas;
    for (const auto& [thread, part] : parts) {
      const auto [cta, is_first] = of_ctas.emplace(thread / of_cta, part);
      if (!is_first) cta->second = folded(cta->second, part);
    }
    Number all = of_ctas.begin()->second;
    for (auto next = std::next(of_ctas.begin()); next != of_ctas.end(); ++next)
      all = folded(all, next->second);
    return all;
  }

  bool has_keys_ = ir::gives_index(call_.tile.op);
  std::unordered_map<Name, Number> old_;  // what elements of the destination were
};

}  // namespace
}  // namespace reduce_proof

Proof prove_reduction(const Call& call, const ir::Block& code) {
  Proof proof;
  make_trials(call, proof, [&](Trial trial) {
    return reduce_proof::ReductionProof(call, code, trial, proof).run();
  });
  return proof;
}

}  // namespace ww::lower
