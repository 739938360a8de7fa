// SPDX-License-Identifier: Apache-2.0
// Copies by the copy engine, by chance. WW_RANDOM_COUNT=n and WW_RANDOM_SEED=n for more and other ones.
#pragma once

#include <cstdint>
#include <string>

#include "engines/box_programs.h"

namespace ww::test {

/// A tile whose last dimension is made of rows of the swizzle, the others in any order, with or without
/// gaps; a region of an array that has it, or leaves it.
BoxCase box_by_chance(std::uint64_t seed);
/// The same to several CTAs of a cluster: shares of all of them, one sender, or pairs.
BoxCase multicast_by_chance(std::uint64_t seed);

/// A store that combines with what is there.
BoxCase reduce_by_chance(std::uint64_t seed);
/// One with a value to fill with, and settings that change no element: hints to caches, the map
/// prefetched.
BoxCase hinted_by_chance(std::uint64_t seed);

/// One of up to five dimensions, for any target with a copy engine, that may lie beside the array, with
/// or without the setting that lets it.
struct OutsideCase {
  BoxCase box;
  bool is_wrong = false;  // it leaves the array, and has no such setting
};
OutsideCase outside_by_chance(std::uint64_t seed);

/// One with such settings for a target without a copy engine, where one thread makes the copy.
BoxCase fallback_by_chance(std::uint64_t seed);

/// Runs `count` of the former, or as many as the environment says, on all engines, which must agree on
/// what is wrong.
void run_outside_by_chance(std::int64_t count);

/// Runs `count` cases, or as many as the environment says, on all engines. What is declined is counted
/// by rule; more than half is a failure.
void run_by_chance(const std::string& name, std::int64_t count, BoxCase (*make)(std::uint64_t));

}  // namespace ww::test
