// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/fold_proof.h"

namespace ww::lower {

FoldProof::FoldProof(const Call& call, const ir::Block& code, Trial trial, Proof& proof,
                     ir::ExprOp op, num::DType type, bool says_elements)
    : call_(call),
      values_(call, trial.first_thread, trial.sample, *trial.few, *trial.tables),
      op_(op),
      dtype_(call.buffer(1).dtype),
      type_(type),
      bags_(op, type, says_elements),
      code_(code),
      trial_(trial),
      proof_(proof) {}

TrialOutcome FoldProof::run() {
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
  for (int round = 0; round < kRounds && (round == 0 || replay.is_repeated()); ++round) {
    if (round > 0) refill();
    if (!carry_out(replay, call_, code_, trial_, values_.threads(), proof_))
      return TrialOutcome::Failed;
    compare(meant);
    if (!proof_.difference.empty()) return TrialOutcome::Failed;
  }
  proof_.difference = replay.what_is_left();
  if (!proof_.difference.empty()) return TrialOutcome::Failed;
  return values_.has_sampled() ? TrialOutcome::Held : TrialOutcome::HeldAlways;
}

// What registers and memory held before is forgotten, so that reading it is found.
void FoldProof::refill() {
  registers_ = {};
  holders_.clear();
  fill();
}

// False: the sampled values put the region outside its buffer.
Try<bool> FoldProof::read(std::size_t argument, RegionElements& out) {
  const ir::Buffer& buffer = call_.buffer(argument);
  if (buffer.scope != ir::Scope::Local) return unknown("`{}` outside registers", buffer.name);
  auto inside = WW_TRY(read_region(call_, values_, call_.region(argument), trial_.first_thread));
  if (!inside) return false;
  out = std::move(inside->elements);
  if (argument == 1) src_extents_ = std::move(inside->extents);
  return true;
}

Number FoldProof::number_of(Number operand, Name name) const {
  return hashes::hashed(hashes::kElement, operand, dtype_, {static_cast<Number>(name)});
}

void FoldProof::fill() {
  std::size_t elements = 1;
  for (const std::int64_t extent : src_extents_) elements *= static_cast<std::size_t>(extent);
  bags_.reserve(2 * elements);  // each, and what it is folded into
  holders_.resize(elements);
  src_.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
    registers_.put_beside(place, bags_.element(number_of(1, name)));
    const auto at = static_cast<std::size_t>(name);
    if (holders_[at] == 0) holders_[at] = place.thread + 1;
  });
}

void FoldProof::compare(const std::vector<Number>& meant) {
  dst_.for_each(values_.threads(), [&](const RegisterPlace& place, Name name) {
    if (!proof_.difference.empty()) return;
    const Number wanted = meant[static_cast<std::size_t>(name)];
    const auto number = registers_.at(place);
    if (number == wanted) return;
    proof_.difference = fmt::format("element {} of the destination in thread {} of the unit {}",
                                    name, place.thread, bags_.what_differs(wanted, number));
  });
}

}  // namespace ww::lower
