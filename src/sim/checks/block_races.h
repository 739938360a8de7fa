// SPDX-License-Identifier: Apache-2.0
// Races between units of kernels in which nothing can order units: any two of them at one word, one
// writing, unless both do it by strong accesses that suit each other.
#pragma once

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
  /// The strong writes of a unit to a page: ops plus one, which bytes, and in what manner. Nothing
  /// reads strongly in kernels that come here.
  struct Strong {
    std::array<std::uint32_t, kPageWords> op{};
    std::array<std::uint8_t, kPageWords> bytes{};
    std::array<Manner, kPageWords> manner{};
    std::array<bool, kPageWords> is_mixed{};  // sizes or scopes differ
  };
  /// The weak accesses of a unit to a page: ops plus one (0: none), and which bytes of each word.
  struct Accesses {
    std::array<std::uint32_t, kPageWords> wrote{}, read{};
    std::array<std::uint8_t, kPageWords> wrote_bytes{}, read_bytes{};
    std::unique_ptr<Strong> strong;

    /// A weak access of the unit to bytes of a word.
    void note(unsigned slot, std::uint8_t which, bool is_read, std::uint32_t op) {
      std::uint32_t& by = is_read ? read[slot] : wrote[slot];
      if (by == 0) by = op + 1;
      std::uint8_t& touched = (is_read ? read_bytes : wrote_bytes)[slot];
      touched = which == kWholeWord ? which : touched | which;
    }
    void note_strong_write(unsigned slot, std::uint8_t which, const Manner& manner,
                           std::uint32_t op);
    /// An op plus one that wrote to one of these bytes, or 0.
    [[nodiscard]] std::uint32_t writer_of(unsigned slot, std::uint8_t which) const;
  };
  /// May be called from several threads at once.
  void note(std::uint64_t page, std::uint64_t unit, const Accesses& accesses);
  void report(Findings& findings, const RunContext& context) const;
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// Unit in the upper half, op in the lower.
  struct Span {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    void add(std::uint64_t access) {
      first = access < first ? access : first;
      last = access > last ? access : last;
    }
    [[nodiscard]] bool empty() const { return first > last; }
  };
  /// The accesses of all units to a word, or to a byte.
  struct Entry {
    Span writes, reads;
  };
  struct StrongEntry {
    Span writes;
    Manner manner{};
    bool is_mixed = false;
  };
  struct Page {
    std::array<Entry, kPageWords> words;
    std::unique_ptr<std::array<StrongEntry, kPageWords>> strong;
  };
  struct Both {
    Entry weak;
    StrongEntry strong;
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
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> words;
    std::unordered_map<std::uint64_t, Both> bytes;  // of words that are touched in parts
  };
  void note_bytes(Part& part, std::uint64_t word, std::uint64_t unit, const Accesses& accesses,
                  unsigned slot);
  static void add_strong(StrongEntry& entry, std::uint64_t unit, const Strong& strong,
                         unsigned slot);
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> apart(const Span& a, const Span& b);
  static std::optional<Conflict> conflict_of(const Entry& entry, const StrongEntry* strong,
                                             std::uint64_t address);
  static void add_conflict(Causes& causes, const std::optional<Conflict>& found);
  static void find_conflicts(const Part& part, Causes& causes);

  std::array<Part, 64> parts_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace ww::sim
