// SPDX-License-Identifier: Apache-2.0
// What orders accesses to shared memory in a random program.
//
// Before each access a step calls `order_access`, which puts the barrier that is needed, the
// weakest that is enough, or the wait for an asynchronous copy. In some programs one of these is
// left out; `Omission` says what may be found then, and where.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "harness/tape.h"
#include "soak/program_text.h"

namespace ww::test {

struct Draft;
struct Shared;

/// What happened to a tile in shared memory that nothing orders yet.
struct Pending {
  bool own_read = false, own_write = false;    // by the unit that has the part
  bool past_read = false, past_write = false;  // the same, ordered within the unit since
  bool far_read = false, far_write = false;    // by anybody

  [[nodiscard]] bool any() const;
  [[nodiscard]] bool any_far() const { return far_read || far_write; }
  /// What an asynchronous copy does behind a barrier that it was not waited for before.
  [[nodiscard]] Pending writes() const;
  void settle();
  void merge(const Pending& other);
};

/// A barrier or a wait that a program lacks, and the tiles that it stood between.
struct LeftOut {
  std::string what;
  std::set<std::string> between = {};
};

/// Which barrier or wait a program lacks; most programs lack none.
class Omission {
 public:
  enum class Kind : std::uint8_t { Barrier, Wait };

  explicit Omission(Tape& tape);
  /// True for the one to leave out. Call it once for each, when its turn in the program comes.
  bool takes(Kind kind, const std::set<std::string>& between);
  /// Nothing until `takes` has said yes.
  [[nodiscard]] const std::optional<LeftOut>& left_out() const { return left_out_; }

 private:
  std::int64_t countdown_ = -1;  // of that kind; below zero: nothing more is left out
  Kind kind_ = Kind::Barrier;
  std::optional<LeftOut> left_out_;
};

/// A barrier of the CTA, or of the unit.
void sync_all(Draft& draft, const Place& at);
void sync_unit(Draft& draft, const Place& at);
/// For all asynchronous copies.
void wait_all(Draft& draft, const Place& at);
/// Puts what is needed before an access; `is_far`: not of the part's unit alone.
void order_access(Draft& draft, const Place& at, Shared& each, bool is_write, bool is_far);
/// Nothing is pending any more, as far as the place allows.
void clean(Draft& draft, const Place& at);

}  // namespace ww::test
