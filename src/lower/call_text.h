// SPDX-License-Identifier: Apache-2.0
// A call in words: for reports, for the provenance of lowered code, and for errors.
#pragma once

#include <string>

#include "ir/print/printer.h"
#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Made before anything is lowered: it knows the names of the source.
class CallText {
 public:
  explicit CallText(const ir::Function& function)
      : f_(function),
        source_buffers_(function.buffer_count()),
        source_exprs_(function.expr_count()),
        printed_(function) {}

  /// "Tx.warp.copy(R[0:8], A[0:8])"
  [[nodiscard]] std::string whole(const ir::TileCall& tile) const;
  /// A row of the report, up to what the variants say.
  [[nodiscard]] CallReport describe(const Call& call) const;

 private:
  [[nodiscard]] std::string region(const ir::Region& region) const;
  [[nodiscard]] std::string scalar(ir::ExprId scalar) const;

  const ir::Function& f_;
  std::size_t source_buffers_, source_exprs_;
  ir::printing::Context printed_;
};

/// The error of a call that all variants in the row have declined, or that has none.
Diag no_variant(const Call& call, const CallReport& row);

}  // namespace ww::lower
