// SPDX-License-Identifier: Apache-2.0
// The predicate of a copy as a tile of bools, for lower/proof/proof.h: which of them hold in a
// trial, what the threads read of them, and which elements of the copy they decide.
#pragma once

#include <optional>
#include <vector>

#include "lower/proof/names.h"

namespace ww::lower {

class PredicateTile {
 public:
  /// Of the call, for the unit that begins with thread `first_thread`. The first two samples are
  /// that all bools hold and that none does; the others are mixed. Nothing when the sampled values
  /// put the region outside its buffer.
  static Try<std::optional<PredicateTile>> make(const Call& call, ProofValues& values,
                                                std::int64_t first_thread, int sample);

  [[nodiscard]] ir::BufferId storage() const { return storage_; }
  /// What a thread reads there; Wrong outside the tile.
  [[nodiscard]] Try<bool> read(std::size_t thread, std::int64_t bit) const;
  /// By granule of the copy: is it left out? Fails when the elements of one do not agree.
  [[nodiscard]] Try<std::vector<bool>> left_out(int element_bits, int granule) const;

 private:
  PredicateTile(ir::BufferId storage, Granules names)
      : storage_(storage), names_(std::move(names)) {}
  [[nodiscard]] bool holds(Name name) const;

  ir::BufferId storage_;
  Granules names_;             // of the bools, where they are
  std::vector<Name> decides_;  // by element of the copy: the bool
  int sample_ = 0;
};

}  // namespace ww::lower
