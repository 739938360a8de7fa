// SPDX-License-Identifier: Apache-2.0
// Numbers in the place of values, for the proofs of what computes: what the elements of a region
// are called, what is in the registers while the code is carried out, and which numbers are the
// same because their elements share a register.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/proof/names.h"

namespace ww::lower {

/// Modulo 2^64.
using Number = std::uint64_t;
using ThreadNumbers = std::vector<Number>;  // by thread of the unit

/// SplitMix64.
[[gnu::always_inline]] inline Number mixed(Number x) {
  x += 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return x ^ (x >> 31U);
}
inline Number mixed(Number a, Number b) { return mixed(mixed(a) ^ b); }
/// `hash`, a number that was mixed before, with one more behind it.
[[gnu::always_inline]] inline Number chained(Number hash, Number next) {
  return mixed(hash * 0xD6E8'FEB8'6659'FD93U + next);
}

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
    Reader(const Registers& registers, ir::BufferId storage, int bits)
        : width_(registers.find(storage, bits)) {}
    /// Nothing where nothing has been put.
    [[nodiscard]] const Number* find(std::size_t thread, std::int64_t bit) const;
    /// Where all threads that have put something there keep what is at a bit; nothing where some keep
    /// it elsewhere.
    [[nodiscard]] std::optional<std::size_t> place_of(std::int64_t bit) const;
    [[nodiscard]] const Number* find_in_table(std::size_t thread, std::size_t place) const {
      return table().find(thread, place);
    }

    /// The table, for a loop that reads many places of it.
    struct Table {
      const Cell* cells;
      std::size_t count, row;
      [[nodiscard, gnu::always_inline]] const Number* find(std::size_t thread,
                                                           std::size_t place) const {
        const std::size_t at = thread * row + place;
        return at < count && cells[at].is_known ? &cells[at].number : nullptr;
      }
    };
    /// Of a width that there is.
    [[nodiscard]] Table table() const;

   private:
    const Width* width_;
  };
  /// The same to put many of them, of this storage and width: valid until elements of another come.
  class Writer {
   public:
    Writer(Registers& registers, ir::BufferId storage, int bits)
        : registers_(registers), width_(registers.width_of(storage, bits)) {}
    void put(const RegisterPlace& place, Number value) { registers_.put(width_, place, value); }
    std::optional<Number> put_beside(const RegisterPlace& place, Number value) {
      return Registers::put_beside(width_, place, value);
    }
    /// Where each of so many threads keeps what is at a bit, and there is room for it; nothing where
    /// that is not in the table, or elements of another width may lie there.
    [[nodiscard]] std::optional<std::size_t> place_of(std::int64_t bit, std::size_t threads);
    void put_in_table(std::size_t thread, std::size_t place, Number value) {
      width_.table[thread * width_.row + place] = {value, true};
    }

   private:
    Registers& registers_;
    Width& width_;
  };

  /// Elements of another width that lie there are no longer known.
  void put(const RegisterPlace& place, Number value) {
    put(width_of(place.storage, place.bits), place, value);
  }
  /// What is there beside others: elements of another width stay. Gives what was there before.
  std::optional<Number> put_beside(const RegisterPlace& place, Number value) {
    return put_beside(width_of(place.storage, place.bits), place, value);
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
    std::vector<std::size_t> others = {};  // widths of the same storage, by their numbers
    std::size_t row = 8;                   // places of a thread in the table; threads hold several
    std::vector<Cell> table = {};          // by thread and place
    std::unordered_map<Number, Cell> elsewhere = {};

    [[nodiscard]] bool holds(ir::BufferId in, int wide) const {
      return storage == in && bits == wide;
    }
    // A thread has 255 registers of 32 bits.
    [[nodiscard, gnu::always_inline]] bool is_in_table(std::int64_t bit, std::int64_t at) const {
      return bit >= 0 && bit < 255 * 32 && at * bits == bit;
    }
    static Number key_of(std::size_t thread, std::int64_t bit) {
      return static_cast<Number>(bit) << 16U | thread;  // a cluster has 16 CTAs of 1024
    }
    [[gnu::always_inline]] Cell& cell(std::size_t thread, std::int64_t bit) {
      const std::int64_t at = granule_at(bit, bits);
      const auto place = static_cast<std::size_t>(at);
      if (!is_in_table(bit, at) || place >= row || (thread + 1) * row > table.size())
        return new_cell(thread, bit, at);
      return table[thread * row + place];
    }
    Cell& new_cell(std::size_t thread, std::int64_t bit, std::int64_t at) {
      if (!is_in_table(bit, at)) return elsewhere[key_of(thread, bit)];
      const auto place = static_cast<std::size_t>(at);
      if (place >= row) widen(std::max(place + 1, 2 * row));
      if ((thread + 1) * row > table.size()) table.resize((thread + 1) * row);
      return table[thread * row + place];
    }
    void widen(std::size_t wanted) {
      std::vector<Cell> wider(table.size() / row * wanted);
      for (std::size_t i = 0; i < table.size(); ++i) wider[i / row * wanted + i % row] = table[i];
      table = std::move(wider);
      row = wanted;
    }
    [[nodiscard]] const Cell* find_elsewhere(std::size_t thread, std::int64_t bit) const {
      const auto found = elsewhere.find(key_of(thread, bit));
      return found == elsewhere.end() ? nullptr : &found->second;
    }
    [[nodiscard, gnu::always_inline]] const Cell* find(std::size_t thread, std::int64_t bit) const {
      const std::int64_t at = granule_at(bit, bits);
      if (!is_in_table(bit, at)) return find_elsewhere(thread, bit);
      const auto place = static_cast<std::size_t>(at);
      if (place >= row || (thread + 1) * row > table.size()) return nullptr;
      return &table[thread * row + place];
    }
    template <typename Change>
    void change_all(Change&& change) {
      for (Cell& cell : table)
        if (cell.is_known) cell.number = change(cell.number);
      for (auto& [key, cell] : elsewhere)
        if (cell.is_known) cell.number = change(cell.number);
    }
  };

  [[nodiscard]] const Width* find(ir::BufferId storage, int bits) const {
    if (last_ < widths_.size() && widths_[last_].holds(storage, bits)) return &widths_[last_];
    for (const Width& each : widths_)
      if (each.holds(storage, bits)) return &each;
    return nullptr;
  }
  [[gnu::always_inline]] void put(Width& mine, const RegisterPlace& place, Number value) {
    for (const std::size_t other : mine.others) forget(place, widths_[other]);
    mine.cell(place.thread, place.bit) = {value, true};
  }
  [[gnu::always_inline]] static std::optional<Number> put_beside(Width& mine,
                                                                 const RegisterPlace& place,
                                                                 Number value) {
    Cell& cell = mine.cell(place.thread, place.bit);
    const Cell before = std::exchange(cell, {value, true});
    return before.is_known ? std::optional(before.number) : std::nullopt;
  }
  [[gnu::always_inline]] Width& width_of(ir::BufferId storage, int bits) {
    if (last_ < widths_.size() && widths_[last_].holds(storage, bits)) return widths_[last_];
    return find_or_make(storage, bits);
  }
  Width& find_or_make(ir::BufferId storage, int bits) {
    for (last_ = 0; last_ < widths_.size(); ++last_)
      if (widths_[last_].holds(storage, bits)) return widths_[last_];
    Width made{.storage = storage, .bits = bits};
    for (std::size_t i = 0; i < widths_.size(); ++i)
      if (widths_[i].storage == storage) {
        made.others.push_back(i);
        widths_[i].others.push_back(widths_.size());
      }
    return widths_.emplace_back(std::move(made));
  }

  static void forget(const RegisterPlace& place, Width& other) {
    const std::int64_t first = granule_at(place.bit, other.bits) * other.bits;
    for (std::int64_t bit = first; bit < place.bit + place.bits; bit += other.bits)
      if (other.find(place.thread, bit) != nullptr) other.cell(place.thread, bit).is_known = false;
  }

  std::vector<Width> widths_;  // few
  std::size_t last_ = 0;       // that was asked for to put something
};

[[gnu::always_inline]] inline const Number* Registers::Reader::find(std::size_t thread,
                                                                    std::int64_t bit) const {
  if (width_ == nullptr) return nullptr;
  const Cell* cell = width_->find(thread, bit);
  return cell != nullptr && cell->is_known ? &cell->number : nullptr;
}

inline std::optional<std::size_t> Registers::Reader::place_of(std::int64_t bit) const {
  if (width_ == nullptr) return std::nullopt;
  const std::int64_t at = granule_at(bit, width_->bits);
  const bool is_there = width_->is_in_table(bit, at) && static_cast<std::size_t>(at) < width_->row;
  return is_there ? std::optional(static_cast<std::size_t>(at)) : std::nullopt;
}
inline Registers::Reader::Table Registers::Reader::table() const {
  return {width_->table.data(), width_->table.size(), width_->row};
}

inline std::optional<std::size_t> Registers::Writer::place_of(std::int64_t bit,
                                                              std::size_t threads) {
  const std::int64_t at = granule_at(bit, width_.bits);
  if (!width_.others.empty() || !width_.is_in_table(bit, at)) return std::nullopt;
  width_.cell(threads - 1, bit);  // so that there is room
  return static_cast<std::size_t>(at);
}

/// The names of a region's elements and where they are.
struct RegionElements {
  ir::BufferId storage;
  bool is_private = true;  // to a thread
  int bits = 32;           // of an element
  std::optional<Granules> names = {};

  /// Is the place, of a thread, one of its elements?
  [[nodiscard, gnu::always_inline]] bool has(const RegisterPlace& place, std::size_t thread) const {
    return place.storage == storage && place.bits == bits &&
           names->at(names->row_of(thread), granule_at(place.bit, bits)) != kNobody;
  }
  /// The same for elements as wide that begin with a granule.
  [[nodiscard, gnu::always_inline]] bool has_granule(std::size_t thread,
                                                     std::int64_t granule) const {
    return names->at(names->row_of(thread), granule) != kNobody;
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
