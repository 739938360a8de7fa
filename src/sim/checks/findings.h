// SPDX-License-Identifier: Apache-2.0
// The findings of the checks. A finding is an outcome of the simulated program, not an error of
// ours: the run continues if it can. Findings of one cause (same check, same instruction, same
// other instruction) are one entry with a count, and their order does not depend on how many
// threads of the host took part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sim/lanes.h"

namespace ww::sim {

enum class Check : std::uint8_t {
#define WW_SIM_CHECK(id, name, meaning) id,
#include "sim/checks/checks.def"
#undef WW_SIM_CHECK
};

/// The name that `--check` takes: "bounds".
std::string_view name_of(Check check);
std::string_view meaning_of(Check check);
std::vector<Check> all_checks();

/// A set of checks.
class CheckSet {
 public:
  constexpr CheckSet() = default;
  static CheckSet all();  // all that are on by default
  static CheckSet nothing() { return {}; }
  [[nodiscard]] bool has(Check check) const { return (bits_ & bit(check)) != 0; }
  [[nodiscard]] bool any() const { return bits_ != 0; }
  void add(Check check) { bits_ |= bit(check); }
  void remove(Check check) { bits_ &= ~bit(check); }

  /// As parse_checks reads it.
  [[nodiscard]] std::string_view written_name(Check check) const;

  /// With `uninit`: accuse the first computation with an undefined value, not what it decides in the end.
  bool undefined_early = false;

 private:
  static constexpr std::uint32_t bit(Check check) { return 1U << static_cast<unsigned>(check); }
  std::uint32_t bits_ = 0;
};

/// "all", "none", "bounds,race", "all,-race", "all,numbers", "all,uninit=early".
Result<CheckSet> parse_checks(std::string_view text);

constexpr std::uint32_t kNoOp = ~std::uint32_t{0};

/// Who did something: an op, executed by lanes of a warp of a block.
struct Party {
  std::uint32_t op = kNoOp;
  std::uint64_t block = 0;  // linear
  std::uint32_t warp = 0;
  Mask lanes = 0;
};

/// Where an undefined value came from.
struct FoundOrigin {
  std::string text{};                // empty: not known
  std::uint32_t op = kNoOp;          // that the text is about; kNoOp: none
  std::vector<std::uint32_t> way{};  // ops that it went through, first to last
  std::uint32_t cause = kNoOp;  // values with the same one have one cause, wherever they are used
};

struct Finding {
  Check check = Check::Bounds;
  Party who{};
  Party other{};  // other.op == kNoOp: none
  FoundOrigin origin{};
  std::string text;  // what was seen, of the first occurrence
  std::uint64_t address = 0;
  bool has_address = false;
  std::uint64_t count = 1;  // occurrences, lanes counted one by one
};

/// The findings of one unit of work, and the merge of several in their order.
class Findings {
 public:
  /// What `other_op` is where `op` is a FoundOrigin::cause.
  static constexpr std::uint32_t kOfOrigin = kNoOp - 1;

  /// Adds, or counts up an earlier one of the same cause: by the same op with the same other, or of the
  /// same FoundOrigin::cause.
  void add(Finding finding);
  /// Whether one of this cause is there already, counting it up by `count`: spares its text.
  bool count_up(Check check, std::uint32_t op, std::uint32_t other_op, std::uint64_t count);
  void merge(const Findings& later);
  /// Drops undefined values whose origin is an instruction that a race or an asynchronous access is about:
  /// it read too early, and that is the mistake.
  void drop_explained();
  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  /// How much memory they take, about.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void clear();

 private:
  struct Key {
    std::uint64_t ops;
    Check check;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.ops * 0x9E37'79B9'7F4A'7C15U) ^
                                      static_cast<std::uint64_t>(key.check));
    }
  };
  static Key key_of(Check check, std::uint32_t op, std::uint32_t other) {
    return {(std::uint64_t{op} << 32U) | other, check};
  }
  static Key key_of(const Finding& finding) {
    return finding.origin.cause != kNoOp ? key_of(finding.check, finding.origin.cause, kOfOrigin)
                                         : key_of(finding.check, finding.who.op, finding.other.op);
  }
  bool count_up(const Key& key, std::uint64_t count);

  std::vector<Finding> list_;
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::uint64_t bytes_ = 0;
};

}  // namespace ww::sim
