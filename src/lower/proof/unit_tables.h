// SPDX-License-Identifier: Apache-2.0
// Numbers of a unit's threads that were computed before. The trials of a unit differ in what is known at
// run time only, so that most tables of lower/proof/per_unit.h, such as `threadIdx_x // 8`, come again in
// each of them; and what two trials share by its table is seen to be the same without looking at threads.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "ir/function.h"
#include "lower/proof/per_unit.h"

namespace ww::lower {

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
