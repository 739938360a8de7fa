// SPDX-License-Identifier: Apache-2.0
// Barriers between the calls that one call stands for (lower/lowered_op.h): a copy reads elements of
// memory into registers, and a later one writes the same elements. Those that read one need not be
// those that write it. `ldmatrix` reads rows for all lanes of a warp; of threads that hold the same element,
// all read it and one writes it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "lower/lowered_op.h"
#include "lower/variant.h"

namespace ww::lower {

/// Goes through the calls of an expansion in order: `before` and `add` for each.
class InPlaceOrder {
 public:
  explicit InPlaceOrder(const Expansion& expansion) : expansion_(expansion) {}

  /// A barrier, of a warp where that is enough or else of the call's unit; nothing where none is needed.
  struct Barrier {
    ir::Block code = {};
    std::string note = {};                 // for the report of the call
    std::optional<EarlierRead> read = {};  // of what the call writes
  };
  /// What stands before the next call's code. Declines where not all threads of the unit arrive.
  Match<Barrier> before(const Variant& variant, const std::any& plan, const Call& call);
  /// The code of this call. A barrier in it orders what was read before.
  void add(const ir::Function& f, const ir::Block& code);

 private:
  struct Read {
    Reach by;
    EarlierRead what;
  };
  static void order(const ir::Function& f, const ir::Block& code, EarlierRead& read);

  const Expansion& expansion_;
  std::size_t next_ = 0;
  std::map<std::size_t, Read> reads_;  // by call
};

}  // namespace ww::lower
