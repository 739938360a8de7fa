// SPDX-License-Identifier: Apache-2.0
// Layouts, shapes and regions for the laws: all small ones, and seeded random larger ones.
//
// Everything starts from `OLayout`, the oracle's plain parts; `build` turns them into a layout
// through the public constructors. Random numbers come from std::mt19937_64, whose output the
// standard fixes, and from mappings of our own, so that a seed means the same cases on every host.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/text.h"
#include "property/oracle.h"

namespace ww::test {

// ---- From parts to values -----------------------------------------------------------------------

/// The axis of that name: a built-in one, or one of those declared for these tests: `reg` (memory),
/// `gpu` (device), `worker` (thread, its own counter), `quad` ((t/4)%8), `lane_in_quad` (t%4); any
/// other name is an axis of unknown kind.
layout::Axis axis_named(std::string_view name);
/// The declared axes, for reading notation.
layout::Names declared_names();
Result<layout::Layout> build(const OLayout& parts);
/// The layout of a notation; fails the test and returns an empty layout when it does not read.
layout::Layout parsed(std::string_view notation);
layout::Shape shape_of(const Ints& values);

// ---- Chance -------------------------------------------------------------------------------------

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [0, n).
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low) + 1));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// What random layouts may contain.
struct Wish {
  std::size_t max_rank = 4;
  std::int64_t max_size = 128;
  std::vector<std::int64_t> extents = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
  std::vector<std::string> axes = {"m", "laneid", "warpid"};
  bool negative = true;  // strides and offsets below 0
  bool replica = true;
  bool offset = true;
  bool swizzle = false;
};

OLayout random_layout(Rng& rng, const Wish& wish);
/// A layout that hits every number of [0, size) on one axis once: nested strides in a random order.
OLayout random_permutation(Rng& rng, std::int64_t size, const std::string& axis = "m");
/// Strides that nest without overlap on each axis, in a random order of iters.
OLayout random_injective(Rng& rng, const Wish& wish);
/// A shape with that many elements, of rank 1 to 4; sometimes with unit extents.
Ints random_shape(Rng& rng, std::int64_t size);
/// A shape that follows the iters' boundaries, so that grouping often succeeds.
Ints shape_along(Rng& rng, const OLayout& layout);
/// Random order of 0 … n-1.
Ints random_order(Rng& rng, std::size_t n);
/// A swizzle that may stand over addresses of any size.
OSwizzle random_swizzle(Rng& rng);

// ---- All small ones -----------------------------------------------------------------------------

/// All layouts of up to `max_rank` iters. Axes are taken up to renaming (first axis seen is
/// axes[0], …) unless `all_axes`; each replica and offset of the lists is tried with each shard.
struct Space {
  std::size_t max_rank = 3;
  std::vector<std::int64_t> extents = {1, 2, 3, 4};
  std::vector<std::int64_t> strides = {-1, 0, 1, 2, 4};
  std::vector<std::string> axes = {"m", "laneid", "warpid"};
  bool all_axes = false;
  std::vector<std::vector<OIter>> replicas = {{}};
  std::vector<std::map<std::string, std::int64_t>> offsets = {{}};
};

void for_each_layout(const Space& space, const std::function<void(const OLayout&)>& visit);
/// Rank 3, shard only.
Space shards_of_rank_3();
/// Rank 2 with replicas and offsets.
Space full_of_rank_2();
/// All ordered ways to write n as a product of at most `max_rank` factors above 1 ((1) for n = 1).
std::vector<Ints> all_shapes(std::int64_t n, std::size_t max_rank);

}  // namespace ww::test
