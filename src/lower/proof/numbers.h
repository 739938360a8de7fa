// SPDX-License-Identifier: Apache-2.0
// Numbers in the place of values, for the proofs of what computes: how they are made, what the registers
// hold while the code is carried out, and which numbers are the same because their elements share a
// register.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/simplify/fold.h"
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

/// The hashes, which what the code does and what the call means are both made of: of an element by its
/// operand and name, of a constant by its type and value; of what is computed from numbers by them, the
/// operation and its type, in the order of the operands.
namespace hashes {

using ir::ExprOp;
using num::DType;

enum Tag : Number { kElement, kScalar, kConstant, kCast, kOperator, kCall, kChoice, kInstruction };

/// What a hash begins with, which is the same for all elements.
[[gnu::always_inline]] inline Number begun(Tag tag, Number what, DType type) {
  return chained(chained(tag, what), static_cast<Number>(type));
}
[[gnu::always_inline]] inline Number hashed(Tag tag, Number what, DType type,
                                            std::initializer_list<Number> args) {
  Number out = begun(tag, what, type);
  for (const Number arg : args) out = chained(out, arg);
  return out;
}
inline Number number_of(const ir::Constant& constant) {
  const bool is_real = is_float(constant.dtype);
  return hashed(
      kConstant, 0, constant.dtype,
      {is_real ? std::bit_cast<Number>(constant.real) : static_cast<Number>(constant.integer)});
}
/// The constant that an expression is, if it is one.
inline std::optional<ir::Constant> constant_of(const ir::Function& f, ir::ExprId expr) {
  const ir::Expr& e = f[expr];
  if (e.op == ExprOp::FloatImm) return ir::Constant{e.type.dtype, 0, e.real};
  if (e.op == ExprOp::IntImm) return ir::Constant{e.type.dtype, e.integer, 0};
  return std::nullopt;
}
inline Number cast(DType from, DType to, Number x) {
  return from == to ? x : hashed(kCast, static_cast<Number>(from), to, {x});
}
inline Number operated(ExprOp op, DType type, std::initializer_list<Number> args) {
  return hashed(kOperator, static_cast<Number>(op), type, args);
}
inline Number called(ir::Intrinsic callee, DType type, std::initializer_list<Number> args) {
  return hashed(kCall, static_cast<Number>(callee), type, args);
}

/// What all that a PTX instruction gives begins with.
inline Number begun(std::string_view opcode, DType type) {
  Number out = begun(kInstruction, opcode.size(), type);
  for (; !opcode.empty(); opcode.remove_prefix(std::min(opcode.size(), sizeof(Number)))) {
    Number word = 0;
    std::memcpy(&word, opcode.data(), std::min(opcode.size(), sizeof(Number)));
    out = chained(out, word);
  }
  return out;
}

}  // namespace hashes

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

 public:
  /// The elements of one width in a storage: in a table where registers are, by hash elsewhere.
  class Width {
   public:
    Width(ir::BufferId storage, int bits) : storage_(storage), bits_(bits) {}

    /// Nothing where nothing has been put.
    [[nodiscard, gnu::always_inline]] const Number* find(std::size_t thread,
                                                         std::int64_t bit) const {
      const Cell* const cell = cell_at(thread, bit);
      return cell != nullptr && cell->is_known ? &cell->number : nullptr;
    }
    /// Elements of another width that lie there are no longer known.
    [[gnu::always_inline]] void put(std::size_t thread, std::int64_t bit, Number value) {
      for (Width* const other : others_) other->forget(thread, bit, bits_);
      cell(thread, bit) = {value, true};
    }
    /// What is there beside others: elements of another width stay. Gives what was there before.
    [[gnu::always_inline]] std::optional<Number> put_beside(std::size_t thread, std::int64_t bit,
                                                            Number value) {
      const Cell before = std::exchange(cell(thread, bit), {value, true});
      return before.is_known ? std::optional(before.number) : std::nullopt;
    }

    /// The table, for a loop that reads many places of it: valid until the next `put`.
    struct Table {
      const Cell* cells;
      std::size_t count, row;
      [[nodiscard, gnu::always_inline]] const Number* find(std::size_t thread,
                                                           std::size_t place) const {
        const std::size_t at = thread * row + place;
        return at < count && cells[at].is_known ? &cells[at].number : nullptr;
      }
    };
    [[nodiscard]] Table table() const { return {table_.data(), table_.size(), row_}; }
    /// Where all threads that have put something there keep what is at a bit; nothing where some keep
    /// it elsewhere.
    [[nodiscard]] std::optional<std::size_t> place_of(std::int64_t bit) const {
      const std::int64_t at = granule_at(bit, bits_);
      const auto place = static_cast<std::size_t>(at);
      return is_in_table(bit, at) && place < row_ ? std::optional(place) : std::nullopt;
    }
    /// The same for so many threads, with room for it; nothing also where elements of another width may
    /// lie there.
    [[nodiscard]] std::optional<std::size_t> room_at(std::int64_t bit, std::size_t threads) {
      const std::int64_t at = granule_at(bit, bits_);
      if (!others_.empty() || !is_in_table(bit, at)) return std::nullopt;
      cell(threads - 1, bit);
      return static_cast<std::size_t>(at);
    }
    void put_in_table(std::size_t thread, std::size_t place, Number value) {
      table_[thread * row_ + place] = {value, true};
    }

   private:
    friend class Registers;

    // A thread has 255 registers of 32 bits.
    [[nodiscard, gnu::always_inline]] bool is_in_table(std::int64_t bit, std::int64_t at) const {
      return bit >= 0 && bit < 255 * 32 && at * bits_ == bit;
    }
    static Number key_of(std::size_t thread, std::int64_t bit) {
      return static_cast<Number>(bit) << 16U | thread;  // a cluster has 16 CTAs of 1024
    }
    [[gnu::always_inline]] Cell& cell(std::size_t thread, std::int64_t bit) {
      const std::int64_t at = granule_at(bit, bits_);
      const auto place = static_cast<std::size_t>(at);
      if (!is_in_table(bit, at) || place >= row_ || (thread + 1) * row_ > table_.size())
        return new_cell(thread, bit, at);
      return table_[thread * row_ + place];
    }
    Cell& new_cell(std::size_t thread, std::int64_t bit, std::int64_t at) {
      if (!is_in_table(bit, at)) return elsewhere_[key_of(thread, bit)];
      const auto place = static_cast<std::size_t>(at);
      if (place >= row_) widen(std::max(place + 1, 2 * row_));
      if ((thread + 1) * row_ > table_.size()) table_.resize((thread + 1) * row_);
      return table_[thread * row_ + place];
    }
    void widen(std::size_t wanted) {
      std::vector<Cell> wider(table_.size() / row_ * wanted);
      for (std::size_t i = 0; i < table_.size(); ++i)
        wider[i / row_ * wanted + i % row_] = table_[i];
      table_ = std::move(wider);
      row_ = wanted;
    }
    [[nodiscard, gnu::always_inline]] const Cell* cell_at(std::size_t thread,
                                                          std::int64_t bit) const {
      const std::int64_t at = granule_at(bit, bits_);
      if (!is_in_table(bit, at)) {
        const auto found = elsewhere_.find(key_of(thread, bit));
        return found == elsewhere_.end() ? nullptr : &found->second;
      }
      const auto place = static_cast<std::size_t>(at);
      return place < row_ && (thread + 1) * row_ <= table_.size() ? &table_[thread * row_ + place]
                                                                  : nullptr;
    }
    void forget(std::size_t thread, std::int64_t from, int bits) {
      for (std::int64_t bit = granule_at(from, bits_) * bits_; bit < from + bits; bit += bits_)
        if (find(thread, bit) != nullptr) cell(thread, bit).is_known = false;
    }

    ir::BufferId storage_;
    int bits_;
    std::vector<Width*> others_;  // widths of the same storage
    std::size_t row_ = 8;         // places of a thread in the table; threads hold several
    std::vector<Cell> table_;     // by thread and place
    std::unordered_map<Number, Cell> elsewhere_;
  };

  /// Stays where it is.
  [[gnu::always_inline]] Width& width(ir::BufferId storage, int bits) {
    if (last_ != nullptr && last_->storage_ == storage && last_->bits_ == bits) return *last_;
    return find_or_make(storage, bits);
  }
  void put(const RegisterPlace& place, Number value) {
    width(place.storage, place.bits).put(place.thread, place.bit, value);
  }
  std::optional<Number> put_beside(const RegisterPlace& place, Number value) {
    return width(place.storage, place.bits).put_beside(place.thread, place.bit, value);
  }
  /// Nothing where nothing has been put.
  [[nodiscard]] std::optional<Number> at(const RegisterPlace& place) {
    const Number* number = width(place.storage, place.bits).find(place.thread, place.bit);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }
  template <typename Change>
  void change_all(Change&& change) {
    const auto change_cell = [&](Cell& cell) {
      if (cell.is_known) cell.number = change(cell.number);
    };
    for (const auto& each : widths_) {
      for (Cell& cell : each->table_) change_cell(cell);
      for (auto& [key, cell] : each->elsewhere_) change_cell(cell);
    }
  }

 private:
  Width& find_or_make(ir::BufferId storage, int bits) {
    for (const auto& each : widths_)
      if (each->storage_ == storage && each->bits_ == bits) return *(last_ = each.get());
    const auto& made = widths_.emplace_back(std::make_unique<Width>(storage, bits));
    for (const auto& each : widths_)
      if (each != made && each->storage_ == storage) {
        made->others_.push_back(each.get());
        each->others_.push_back(made.get());
      }
    return *(last_ = made.get());
  }

  std::vector<std::unique_ptr<Width>> widths_;  // few
  Width* last_ = nullptr;                       // that was asked for
};

/// The names of a region's elements and where they are.
struct RegionElements {
  ir::BufferId storage;
  bool is_private = true;  // to a thread
  int bits = 32;           // of an element
  std::optional<Granules> names = {};

  /// Is the place, of a thread, one of its elements?
  [[nodiscard, gnu::always_inline]] bool has(const RegisterPlace& place, std::size_t thread) const {
    return place.storage == storage && place.bits == bits &&
           has_granule(thread, granule_at(place.bit, bits));
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

/// A table by numbers that are hashes already, in one piece of memory: a proof of a fold puts thousands of
/// values in and finds each of them a few times.
template <typename Value>
class NumberMap {
 public:
  /// Nothing where there is none; valid until the next `put`.
  [[nodiscard]] const Value* find(Number key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(key)];
    return slot.value == 0 ? nullptr : &values_[slot.value - 1];
  }
  /// Room for so many.
  void reserve(std::size_t count) {
    values_.reserve(count);
    std::size_t slots = std::max(kMinSlots, slots_.size());
    while (4 * count > 3 * slots) slots *= 2;
    if (slots > slots_.size()) resize(slots);
  }
  void put(Number key, const Value& value) {
    if (!has_room_for(values_.size() + 1)) grow();
    Slot& slot = slots_[place_of(key)];
    if (slot.value != 0) {
      values_[slot.value - 1] = value;
      return;
    }
    values_.push_back(value);
    slot = {key, static_cast<std::uint32_t>(values_.size())};
  }

 private:
  static constexpr std::size_t kMinSlots = 256;

  struct Slot {
    Number key = 0;
    std::uint32_t value = 0;  // its number, from 1 on; 0: the slot is free
  };

  // At most three of four slots are used.
  [[nodiscard]] bool has_room_for(std::size_t count) const {
    return 4 * count <= 3 * slots_.size();
  }

  // Where the key is, or belongs: some slot is free.
  [[nodiscard]] std::size_t place_of(Number key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(key) & mask;
    while (slots_[at].value != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() { resize(std::max(kMinSlots, 2 * slots_.size())); }
  void resize(std::size_t count) {
    std::vector<Slot> before(count);
    std::swap(before, slots_);
    for (const Slot& slot : before)
      if (slot.value != 0) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::vector<Value> values_;
};

// --- products of matrices, row-major -------------------------------------------------------------

namespace number_matrix {

/// d[0:8] += a[0:depth] @ b[0:depth, 0:8], where the rows of b are `cols` numbers apart.
inline void add_row_of_eight(const Number* a, const Number* b, std::size_t depth, std::size_t cols,
                             Number* d) {
  Number d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5], d6 = d[6], d7 = d[7];
  for (const Number* const end = a + depth; a != end; ++a, b += cols) {
    const Number left = *a;
    d0 += left * b[0];
    d1 += left * b[1];
    d2 += left * b[2];
    d3 += left * b[3];
    d4 += left * b[4];
    d5 += left * b[5];
    d6 += left * b[6];
    d7 += left * b[7];
  }
  d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3, d[4] = d4, d[5] = d5, d[6] = d6, d[7] = d7;
}

}  // namespace number_matrix

/// d += a @ b, with `depth` columns in a and `cols` in b and d.
inline void add_product(const ThreadNumbers& a, const ThreadNumbers& b, std::size_t depth,
                        std::size_t cols, ThreadNumbers& d) {
  for (std::size_t row = 0; row * depth < a.size(); ++row) {
    const Number* const left = a.data() + row * depth;
    Number* const sums = d.data() + row * cols;
    std::size_t col = 0;
    for (; col + 8 <= cols; col += 8)
      number_matrix::add_row_of_eight(left, b.data() + col, depth, cols, sums + col);
    for (; col < cols; ++col)
      for (std::size_t k = 0; k < depth; ++k) sums[col] += left[k] * b[k * cols + col];
  }
}

/// A matrix with `cols` columns, turned.
inline ThreadNumbers turned(const ThreadNumbers& matrix, std::size_t cols) {
  ThreadNumbers out(matrix.size());
  const std::size_t rows = cols == 0 ? 0 : matrix.size() / cols;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) out[j * rows + i] = matrix[i * cols + j];
  return out;
}

}  // namespace ww::lower
