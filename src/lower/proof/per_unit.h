// SPDX-License-Identifier: Apache-2.0
// One number for each thread of a unit, for lower/proof/values.h: `base + scale * table[thread]`, modulo
// 2^64. What is the same in all threads has no table, and what is added to a table or multiplied with it
// leaves the table as it is, so that most addresses are copied and moved without looking at the threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/function.h"

namespace ww::lower {

class PerUnit {
 public:
  using Int = std::int64_t;

  /// Of no threads.
  PerUnit() = default;
  /// The same in all threads.
  PerUnit(std::size_t threads, Int value) : threads_(threads), base_(value) {}
  explicit PerUnit(std::vector<Int> values);
  PerUnit(const PerUnit& other) noexcept
      : threads_(other.threads_),
        base_(other.base_),
        scale_(other.scale_),
        values_(other.values_),
        which_(other.which_),
        table_(other.table_) {
    if (table_ != nullptr) ++table_->users;
  }
  PerUnit(PerUnit&& other) noexcept
      : threads_(other.threads_),
        base_(other.base_),
        scale_(std::exchange(other.scale_, 0)),
        values_(std::exchange(other.values_, &kNothing)),
        which_(std::exchange(other.which_, 0)),
        table_(std::exchange(other.table_, nullptr)) {}
  PerUnit& operator=(PerUnit other) noexcept;
  ~PerUnit() {
    if (table_ != nullptr) release();
  }

  [[nodiscard]] std::size_t size() const { return threads_; }
  /// Without a table; values that turn out to be the same have none.
  [[nodiscard]] bool is_uniform() const { return table_ == nullptr; }
  /// How many threads to look at to have seen all values.
  [[nodiscard]] std::size_t distinct() const { return is_uniform() && threads_ > 0 ? 1 : threads_; }
  [[nodiscard, gnu::always_inline]] Int operator[](std::size_t thread) const {
    return wrapped(base_, scale_, values_[thread & which_]);
  }
  [[nodiscard]] Int front() const { return (*this)[0]; }
  /// The same for a loop that writes elsewhere: as long as this one stays what it is.
  class Reader {
   public:
    explicit Reader(const PerUnit& of)
        : base_(of.base_), scale_(of.scale_), values_(of.values_), which_(of.which_) {}
    [[nodiscard, gnu::always_inline]] Int operator[](std::size_t thread) const {
      return wrapped(base_, scale_, values_[thread & which_]);
    }

   private:
    Int base_, scale_;
    const Int* values_;
    std::size_t which_;
  };
  [[nodiscard]] std::vector<Int> expanded() const;
  /// The least and the greatest value, or numbers beyond them; nothing where a value may have wrapped.
  [[nodiscard]] std::optional<std::pair<Int, Int>> bounds() const;
  [[nodiscard]] bool is_within(Int least, Int most) const;
  /// Is each value a multiple of it?
  [[nodiscard]] bool is_multiple_of(Int divisor) const;
  /// The same table, base and scale: then all values are the same.
  [[nodiscard]] bool is_held_like(const PerUnit& other) const {
    return table_ == other.table_ && base_ == other.base_ && scale_ == other.scale_ &&
           threads_ == other.threads_;
  }
  [[nodiscard]] bool shares_table(const PerUnit& other) const { return table_ == other.table_; }
  /// The same number for all that are held alike.
  [[nodiscard]] std::size_t identity() const {
    return (reinterpret_cast<std::size_t>(table_) >> 4U) + static_cast<std::size_t>(base_) * 31 +
           static_cast<std::size_t>(scale_) * 0x1'0001;
  }

  /// This plus `factor` times `other`, modulo 2^64.
  [[nodiscard]] PerUnit plus(const PerUnit& other, Int factor = 1) const;
  [[nodiscard]] PerUnit times(Int factor) const;
  /// Rounded towards 0.
  [[nodiscard]] PerUnit divided_by(Int divisor) const;

  friend bool operator==(const PerUnit& a, const PerUnit& b);

 private:
  struct Table {
    std::vector<Int> values;
    Int least, most;
    std::uint32_t users = 1;
  };
  static constexpr Int kNothing = 0;  // in the place of a table

  [[gnu::always_inline]] static Int wrapped(Int base, Int scale, Int value) {
    using Word = std::uint64_t;
    return static_cast<Int>(static_cast<Word>(base) +
                            static_cast<Word>(scale) * static_cast<Word>(value));
  }
  void release();  // the table, which there is
  void make_uniform();

  std::size_t threads_ = 0;
  Int base_ = 0, scale_ = 0;
  const Int* values_ = &kNothing;  // of the table
  std::size_t which_ = 0;          // bits of a thread's number that choose its value
  Table* table_ = nullptr;
};

/// What indices are made of, for all threads: a op b, of two operands of `type`. Nothing: something
/// else.
std::optional<PerUnit> unit_operated(ir::ExprOp op, num::DType type, num::DType result,
                                     const PerUnit& a, const PerUnit& b);
/// An integer as another type.
std::optional<PerUnit> unit_cast(num::DType from, num::DType to, const PerUnit& value);

/// Numbers of a unit's threads that were computed before. The trials of a unit differ in what is known at
/// run time only, so that most tables, such as `threadIdx_x // 8`, come again in each of them; and what two
/// trials share by its table is seen to be the same without looking at threads.
class UnitTables {
 public:
  /// a op b, of two operands of `type`.
  struct Operation {
    ir::ExprOp op;
    num::DType type, result;
    PerUnit a, b;

    /// Takes it a look at every thread, unlike a sum of two multiples of one table?
    [[nodiscard]] bool is_worth_keeping() const;
    friend bool operator==(const Operation&, const Operation&);
  };

  /// Nothing: it was not computed yet.
  [[nodiscard]] const PerUnit* find(const Operation& operation) const;
  void keep(Operation operation, const PerUnit& value);

  /// A hardware id in the threads of the unit, by its variable.
  [[nodiscard]] const PerUnit* find(ir::VarId id) const;
  void keep(ir::VarId id, PerUnit value) { ids_[id.index] = std::move(value); }

 private:
  struct Hash {
    std::size_t operator()(const Operation& operation) const;
  };
  std::unordered_map<Operation, PerUnit, Hash> known_;  // keeps the tables that its keys tell apart
  std::map<std::uint32_t, PerUnit> ids_;
};

}  // namespace ww::lower
