// SPDX-License-Identifier: Apache-2.0
// Which local array a buffer or a pointer leads into.
#pragma once

#include <vector>

#include "ir/function.h"

namespace ww::ir {

class LocalStorage {
 public:
  explicit LocalStorage(const Function& f);

  /// The array; none for other memory.
  [[nodiscard]] BufferId of(BufferId buffer) const;
  [[nodiscard]] BufferId at(ExprId pointer) const;
  /// What a variable is bound to; none where no Bind makes it.
  [[nodiscard]] ExprId value_of(VarId var) const { return values_[var.index]; }

 private:
  const Function& f_;
  std::vector<ExprId> values_;  // by variable
};

}  // namespace ww::ir
