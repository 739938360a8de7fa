// SPDX-License-Identifier: Apache-2.0
// What is known at run time only (parameters, CTA ids, loop variables around the call, memory), in one
// trial of a proof. Each such thing has a key, and keeps the value that was chosen when it was first
// asked for. Which values those are depends on the number of the sample: 0 takes the least, 1 the
// greatest (or a large one), others choose by chance, but one after the other where there are few.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/simplify/simplify.h"
#include "lower/proof/per_unit.h"

namespace ww::lower {

/// Of what has few values, such as a loop variable: which of them were chosen, by key.
using FewValues = std::map<std::string, std::vector<bool>>;

class SampledValues {
 public:
  /// Choices among few values are noted in `few`, which must outlive this.
  SampledValues(int sample, FewValues& few);

  /// Has nothing been chosen yet?
  [[nodiscard]] bool empty() const { return chosen_.empty(); }
  /// A number of the range that `divisor` divides.
  std::int64_t within(const std::string& key, ir::Range range, std::int64_t divisor = 1);
  /// A scalar as in lower/proof/scalars.h: a float (of any range), a number of the range, or an
  /// address if it is a large uint32.
  std::int64_t of_type(ir::Type type, const std::string& key, ir::Range range);
  /// Chooses this value, unless one was chosen before.
  void prefer(const std::string& key, std::int64_t value) { chosen_.try_emplace(key, value); }
  /// How far behind a region of `extent` elements its buffer should end: at once, or almost, or by far;
  /// with `may_leave` also before it. `salt` makes dimensions differ.
  [[nodiscard]] std::int64_t room_behind(std::int64_t extent, bool may_leave,
                                         std::size_t salt) const;
  /// Notes the outcomes of a condition that no choice among few values makes: both should be tried.
  void note_outcome(const std::string& condition, const PerUnit& outcome);

 private:
  std::int64_t choose(const std::string& key, ir::Range range, std::int64_t divisor);
  [[nodiscard]] std::int64_t address(const std::string& key) const;

  int sample_;
  FewValues& few_;
  std::uint64_t random_;
  std::map<std::string, std::int64_t> chosen_;
};

}  // namespace ww::lower
