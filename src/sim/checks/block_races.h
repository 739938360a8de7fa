// SPDX-License-Identifier: Apache-2.0
// Races between units of kernels in which nothing can order units: any two units that access one
// word race if one writes, unless both use strong accesses of matching scope and size.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/order/manner.h"

namespace ww::sim {

struct RunContext;

/// Words of global memory that more than one unit touched. Units hand over what they did when they
/// end, in any order; what is kept of them (the first and the last by number) and so what is
/// reported does not depend on it.
class BlockRaces {
 public:
  static constexpr unsigned kPageWords = 128;
  static constexpr std::uint8_t kWholeWord = 15;  // all bytes of a word
  /// A program has fewer ops.
  static constexpr std::uint32_t kMaxOps = (1U << 28U) - 1;
  /// The strong writes of a unit to a word. Nothing reads strongly in kernels that come here.
  struct StrongWrite {
    std::uint32_t op = 0;  // plus one, of the first; 0: none
    std::uint8_t bytes = 0;
    bool is_mixed = false;  // sizes or scopes differ
    Manner manner{};
  };
  using Strong = std::array<StrongWrite, kPageWords>;
  /// The weak accesses of a unit to a page: for each word the first op, and which bytes.
  struct Accesses {
    struct Word {
      std::uint32_t bits = 0;  // bytes in the lowest four, the op plus one above; 0: none

      void note(std::uint8_t which, std::uint32_t op) {
        if ((bits & which) == which) return;
        bits |= bits == 0 ? (op + 1) << 4U | which : which;
      }
      [[nodiscard]] bool empty() const { return bits == 0; }
      [[nodiscard]] std::uint32_t op() const { return (bits >> 4U) - 1; }
      [[nodiscard]] std::uint8_t bytes() const { return bits & kWholeWord; }
    };
    std::array<Word, kPageWords> wrote{}, read{};
    std::unique_ptr<Strong> strong;

    /// A weak access of the unit to bytes of a word.
    void note(unsigned slot, std::uint8_t which, bool is_read, std::uint32_t op) {
      (is_read ? read : wrote)[slot].note(which, op);
    }
    void note_strong_write(unsigned slot, std::uint8_t which, const Manner& manner,
                           std::uint32_t op);
    [[nodiscard]] bool has(unsigned slot, std::uint8_t which) const;
    /// Whether the unit touched some bytes of a word otherwise than others.
    [[nodiscard]] bool has_parts(unsigned slot) const;
    /// Whether it did the same to two words.
    [[nodiscard]] bool are_alike(unsigned a, unsigned b) const {
      return strong == nullptr && wrote[a].bits == wrote[b].bits && read[a].bits == read[b].bits;
    }
    /// An op plus one that wrote to one of these bytes, or 0.
    [[nodiscard]] std::uint32_t writer_of(unsigned slot, std::uint8_t which) const;
  };
  /// Adds what a unit did to a page. May be called from several threads at once.
  void note(std::uint64_t page, std::uint64_t unit, const Accesses& accesses);
  void report(Findings& findings, const RunContext& context) const;
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// Unit in the upper half, op in the lower.
  struct Span {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    void add(std::uint64_t access) {
      first = std::min(first, access);
      last = std::max(last, access);
    }
    void add(const Span& other) {
      first = std::min(first, other.first);
      last = std::max(last, other.last);
    }
    [[nodiscard]] bool empty() const { return first > last; }
    friend bool operator==(const Span&, const Span&) = default;
  };
  /// The accesses of all units to a word, or to a byte.
  struct Entry {
    Span writes, reads, strong;  // strong: writes
    Manner manner{};             // of these; the narrowest scope
    bool is_mixed = false;       // sizes or scopes of these differ
    friend bool operator==(const Entry&, const Entry&) = default;

    void add(std::uint64_t unit, const Accesses& accesses, unsigned slot, std::uint8_t which);
    void add_strong(const Span& by, const Manner& how, bool is_other);
  };
  /// Most words have the accesses that their neighbours have: these go up to `end`.
  struct Run {
    unsigned end = kPageWords;
    Entry entry{};
  };
  struct Conflict {
    std::uint64_t address, earlier, later;
    bool is_write_write;
    Agreement why;
    Manner manner;
  };
  /// Conflicts of one pair of ops: the one at the lowest address, and how many there are.
  struct Cause {
    Conflict first;
    std::uint64_t count = 0;
  };
  using Causes = std::map<std::pair<std::uint32_t, std::uint32_t>, Cause>;
  // Pages are spread over parts, each with its lock.
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::vector<Run>> words;
    std::unordered_map<std::uint64_t, Entry> bytes;  // of words that are touched in parts
  };
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> apart(const Span& a, const Span& b);
  static std::optional<Conflict> conflict_of(const Entry& entry, std::uint64_t address);
  static void add_conflict(Causes& causes, const std::optional<Conflict>& found);
  static void find_conflicts(const Part& part, Causes& causes);

  std::array<Part, 64> parts_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace ww::sim
