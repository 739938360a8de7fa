// SPDX-License-Identifier: Apache-2.0
// Choices by chance, from a seed, and how many a test makes: WW_RANDOM_COUNT=n and WW_RANDOM_SEED=n in
// the environment for more and other ones.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>

#include "engines/programs.h"

namespace ww::test {

struct Chance {
  explicit Chance(std::uint64_t seed) : random(seed) {}
  std::int64_t upto(std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  }
  bool coin() { return upto(1) == 1; }
  template <typename T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[upto(std::ssize(all) - 1)];
  }
  std::mt19937_64 random;
};

inline std::int64_t number_of(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// A program, and the call in it that the variant is meant for.
struct ProgramByChance {
  Program program;
  std::size_t call = 0;
  std::string variant;
  std::string wrong =
      {};  // the check by which every engine finds the program wrong; empty: it is right
};
/// Runs `count` programs, or as many as the environment says, on all engines. What is declined is counted
/// by rule; more than half is a failure. Engines must agree on what is wrong, too.
void run_by_chance(const std::string& name, std::int64_t count,
                   const std::function<ProgramByChance(std::uint64_t)>& make);

}  // namespace ww::test
