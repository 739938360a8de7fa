// SPDX-License-Identifier: Apache-2.0
// The harness: run a law over many cases; on the first complaint look for a smaller case that still
// complains, and report that one as text to paste, with the seed that leads back to it.
//
// A law looks at a case and returns a complaint, or nothing. A case that does not meet what the law
// asks for (a shape with the wrong number of elements, say) is no complaint: shrinking relies on
// that.
//
//   WW_SEED=n    another seed for every random run
//   WW_CASES=n   another number of random cases
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "property/generate.h"
#include "property/oracle.h"

namespace ww::test {

struct RegionSide {
  std::int64_t begin = 0;
  std::int64_t extent = 1;
  friend bool operator==(const RegionSide&, const RegionSide&) = default;
};

/// A layout with the shape and the region that go with it, where the law wants them.
struct Operand {
  OLayout parts = {};
  Ints shape = {};
  std::vector<RegionSide> region = {};
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Case {
  std::vector<Operand> operands = {};
  Ints numbers = {};
  friend bool operator==(const Case&, const Case&) = default;
};

/// A case of that many numbers, for a Tape (harness/tape.h).
Case random_numbers(Rng& rng, std::size_t count);

using Complaint = std::optional<std::string>;
using Law = std::function<Complaint(const Case&)>;
using Generator = std::function<Case(Rng&)>;

/// The case as text.
std::string text(const Case& c);
/// Is every layout valid, every shape admitted, every region inside?
bool is_sound(const Case& c);

struct Failure {
  Case smallest;
  std::string complaint;
  std::string origin;  // how to come back to it
};

/// The law's complaint about a case; an exception is a complaint, too.
Complaint complaint_of(const Law& law, const Case& c);
/// A smallest case that still complains, reached by single steps.
Failure shrink(const Law& law, Case c, std::string complaint, std::string origin);

/// Runs `count` random cases. Case k depends on seed and k only.
std::optional<Failure> find_failure(std::uint64_t seed, std::int64_t count,
                                    const Generator& generator, const Law& law);
/// The same, reported to GoogleTest. The environment may override seed and count.
void for_all(std::uint64_t seed, std::int64_t count, const Generator& generator, const Law& law);

/// Runs the law on the cases that `cases` makes of every layout of the space.
using Cases = std::function<void(const OLayout&, const std::function<void(const Case&)>&)>;
void for_all_small(const Space& space, const Cases& cases, const Law& law);
/// The same with the bare layout as the only operand.
void for_all_small(const Space& space, const Law& law);

/// A single case given by hand.
void for_one(const Case& c, const Law& law);

}  // namespace ww::test
