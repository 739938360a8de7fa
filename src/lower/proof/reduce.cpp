// SPDX-License-Identifier: Apache-2.0
// A reduction is proven by carrying it out on multisets of names (proof/fold_replay.h). What must come
// out is folded from the elements in the order that ir/reduction.h gives: an element left out or taken
// twice, a wrong lane, another order or type all give another number.
#include <algorithm>
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

/// The parts of one sum, sorted by thread.
using Parts = std::vector<std::pair<std::size_t, Number>>;

class ReductionProof : public FoldProof {
 public:
  ReductionProof(const Call& call, const ir::Block& code, Trial trial, Proof& proof,
                 bool says_elements)
      : FoldProof(call, code, trial, proof, operator_of(call), type_of(call), says_elements) {}

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

  /// The elements of the source in order, by the element of the destination that they go into: its
  /// number is made of the coordinates that are not folded. Each has as many.
  struct Members {
    std::size_t results = 1, each = 1;
    std::vector<Name> names = {};
  };
  [[nodiscard]] Members members_of(const std::vector<bool>& is_folded) const {
    Members out;
    for (std::size_t d = 0; d < src_extents_.size(); ++d)
      (is_folded[d] ? out.each : out.results) *= static_cast<std::size_t>(src_extents_[d]);
    out.names.resize(out.results * out.each);
    std::vector<std::size_t> next(out.results);
    for (std::size_t x = 0; x < out.names.size(); ++x) {
      std::size_t into = 0, scale = 1, rest = x;
      for (std::size_t d = src_extents_.size(); d-- > 0;) {
        const auto extent = static_cast<std::size_t>(src_extents_[d]);
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
        const Name name = src_.names->known_as(members.names[into * members.each + i]);
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
    for (std::size_t bit = 1; bit < kFoldLanes; bit *= 2) {
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

}  // namespace
}  // namespace reduce_proof

Proof prove_reduction(const Call& call, const ir::Block& code) {
  return prove_fold<reduce_proof::ReductionProof>(call, code);
}

}  // namespace ww::lower
