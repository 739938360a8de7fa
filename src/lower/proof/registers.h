// SPDX-License-Identifier: Apache-2.0
// Numbers in the place of values, for the proofs of what computes: what the elements of a region
// are called, what is in the registers while the code is carried out, and which numbers are the
// same because their elements share a register.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lower/proof/names.h"

namespace ww::lower {

/// Modulo 2^64.
using Number = std::uint64_t;
using ThreadNumbers = std::vector<Number>;  // by thread of the unit

/// SplitMix64.
inline Number mixed(Number x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31U);
}
inline Number mixed(Number a, Number b) { return mixed(mixed(a) ^ b); }

/// Where an element lies: in registers of its own for each thread, or in memory.
struct RegisterPlace {
  ir::BufferId storage;
  std::size_t thread;
  std::int64_t bit;
  int bits;  // of the element

  friend bool operator==(const RegisterPlace&, const RegisterPlace&) = default;
};

/// What the registers of all threads of the unit hold, element by element.
class Registers {
  struct Cell {
    Number number = 0;
    bool is_known = false;
  };
  struct Width;

 public:
  /// The elements of one width in a storage, to read many of them: valid until the next `put`.
  class Reader {
   public:
    Reader(const Registers& registers, ir::BufferId storage, int bits);
    /// Nothing where nothing has been put.
    [[nodiscard]] const Number* find(std::size_t thread, std::int64_t bit) const;

   private:
    const Width* width_ = nullptr;
  };

  /// Elements of another width that lie there are no longer known.
  void put(const RegisterPlace& place, Number value) {
    Width& mine = width_of(place);
    for (Width& each : widths_)
      if (each.storage == place.storage && each.bits != place.bits) forget(place, each);
    mine.cell(place) = {value, true};
  }
  /// What is there beside others: elements of another width stay.
  void put_beside(const RegisterPlace& place, Number value) {
    width_of(place).cell(place) = {value, true};
  }
  /// Nothing where nothing has been put.
  [[nodiscard]] std::optional<Number> at(const RegisterPlace& place) const {
    const Number* number = Reader(*this, place.storage, place.bits).find(place.thread, place.bit);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }
  template <typename Change>
  void change_all(Change&& change) {
    for (Width& each : widths_) each.change_all(change);
  }

 private:
  /// The elements of one width in a storage: in a table where registers are, by hash elsewhere.
  struct Width {
    ir::BufferId storage;
    int bits;
    std::vector<std::vector<Cell>> table = {};  // by thread and place
    std::unordered_map<Number, Cell> others = {};

    [[nodiscard]] bool holds(const RegisterPlace& place) const {
      return storage == place.storage && bits == place.bits;
    }
    // A thread has 255 registers of 32 bits.
    [[nodiscard]] bool is_in_table(std::int64_t bit) const {
      return bit >= 0 && bit < 255 * 32 && granule_at(bit, bits) * bits == bit;
    }
    static Number key_of(std::size_t thread, std::int64_t bit) {
      return static_cast<Number>(bit) << 16U | thread;  // a cluster has 16 CTAs of 1024
    }
    Cell& cell(const RegisterPlace& place) {
      if (!is_in_table(place.bit)) return others[key_of(place.thread, place.bit)];
      if (table.size() <= place.thread) table.resize(place.thread + 1);
      std::vector<Cell>& row = table[place.thread];
      const auto at = static_cast<std::size_t>(granule_at(place.bit, bits));
      // Most threads hold several, and they come one by one.
      if (row.size() <= at) row.resize(std::max(at + 1, std::max<std::size_t>(8, 2 * row.size())));
      return row[at];
    }
    [[nodiscard]] const Cell* find(std::size_t thread, std::int64_t bit) const {
      if (!is_in_table(bit)) {
        const auto found = others.find(key_of(thread, bit));
        return found == others.end() ? nullptr : &found->second;
      }
      const auto at = static_cast<std::size_t>(granule_at(bit, bits));
      if (table.size() <= thread || table[thread].size() <= at) return nullptr;
      return &table[thread][at];
    }
    template <typename Change>
    void change_all(Change&& change) {
      for (std::vector<Cell>& row : table)
        for (Cell& cell : row)
          if (cell.is_known) cell.number = change(cell.number);
      for (auto& [key, cell] : others)
        if (cell.is_known) cell.number = change(cell.number);
    }
  };

  Width& width_of(const RegisterPlace& place) {
    for (Width& each : widths_)
      if (each.holds(place)) return each;
    return widths_.emplace_back(Width{.storage = place.storage, .bits = place.bits});
  }

  static void forget(const RegisterPlace& place, Width& other) {
    const std::int64_t first = granule_at(place.bit, other.bits) * other.bits;
    for (std::int64_t bit = first; bit < place.bit + place.bits; bit += other.bits)
      if (const RegisterPlace at{place.storage, place.thread, bit, other.bits};
          other.find(at.thread, at.bit) != nullptr)
        other.cell(at).is_known = false;
  }

  std::vector<Width> widths_;  // few
};

inline Registers::Reader::Reader(const Registers& registers, ir::BufferId storage, int bits) {
  for (const Width& each : registers.widths_)
    if (each.storage == storage && each.bits == bits) width_ = &each;
}

inline const Number* Registers::Reader::find(std::size_t thread, std::int64_t bit) const {
  if (width_ == nullptr) return nullptr;
  const Cell* cell = width_->find(thread, bit);
  return cell != nullptr && cell->is_known ? &cell->number : nullptr;
}

/// The names of a region's elements and where they are.
struct RegionElements {
  ir::BufferId storage;
  bool is_private = true;  // to a thread
  int bits = 32;           // of an element
  std::optional<Granules> names = {};

  /// Is the place, of a thread, one of its elements?
  [[nodiscard]] bool has(const RegisterPlace& place, std::size_t thread) const {
    return place.storage == storage && place.bits == bits &&
           names->at(names->row_of(thread), granule_at(place.bit, bits)) != kNobody;
  }
  /// visit(place, name) for each element, in that many threads.
  template <typename Visit>
  void for_each(std::size_t threads, Visit&& visit) const {
    for (std::size_t t = 0; t < (is_private ? threads : 1); ++t)
      names->for_each_in(names->row_of(t), [&](std::int64_t granule, Name name) {
        visit(RegisterPlace{storage, t, granule * bits, bits}, name);
      });
  }
};

/// Numbers of elements that share a register, which are one number.
class SharedNumbers {
 public:
  [[nodiscard]] Number known_as(Number x) const {
    if (as_.empty()) return x;
    for (auto at = as_.find(x); at != as_.end(); at = as_.find(x)) x = at->second;
    return x;
  }
  void unite(Number x, Number y) {
    x = known_as(x);
    y = known_as(y);
    if (x != y) as_[x] = y;
  }
  [[nodiscard]] bool empty() const { return as_.empty(); }

 private:
  std::unordered_map<Number, Number> as_;
};

}  // namespace ww::lower
