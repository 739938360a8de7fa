// SPDX-License-Identifier: Apache-2.0
// What `warpwright tune` chooses from: a kernel expression with gaps, `build(BM=?, stages=?)`, and
// the values for each of them, `BM=64,128`. A gap is named by the keyword that it is the value of.
// docs/guide/tuning.md has the notation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/diag.h"
#include "script/interp/host_expr.h"

namespace ww::driver {

/// A name with its values: as they were written, and what they are.
struct SpaceAxis {
  std::string name;
  std::vector<std::string> texts;
  std::vector<script::HostValue> values;
};

/// One value per axis, by its place there.
using Combination = std::vector<std::size_t>;

struct SpaceRequest {
  std::string kernel;
  std::vector<std::string> spaces = {};  // NAME=VALUE,VALUE...
  std::vector<std::string> wheres = {};  // host expressions over the names
};

class TuneSpace {
 public:
  /// What is wrong is added to `errors`, rendered, each with its place in the option; nothing is
  /// returned then.
  static std::optional<TuneSpace> read(const SpaceRequest& request, std::string& errors);

  /// In the order in which they were given.
  [[nodiscard]] const std::vector<SpaceAxis>& axes() const { return axes_; }
  /// Those that no `--where` leaves out; the last axis changes first.
  [[nodiscard]] const std::vector<Combination>& combinations() const { return combinations_; }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// The kernel expression with the values in place of the gaps.
  [[nodiscard]] std::string kernel(const Combination& combination) const;

 private:
  friend class SpaceReader;
  /// A `?` of the kernel expression.
  struct Gap {
    std::string name;
    Span span;  // from the name to the `?`
  };

  std::string kernel_;
  std::vector<Gap> gaps_;
  std::vector<SpaceAxis> axes_;
  std::vector<Combination> combinations_;
  std::size_t left_out_ = 0;
};

}  // namespace ww::driver
