// SPDX-License-Identifier: Apache-2.0
// A product by wgmma: which instructions it takes, and their code. lower/gemm_async/wgmma.cpp says how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lower/gemm_async/register_parts.h"
#include "lower/gemm_async/shared_factor.h"
#include "lower/variant.h"

namespace ww::lower {

/// Columns of an instruction: blocks of the warpgroup's part of C, from `first` on.
struct WgmmaColumns {
  std::size_t first = 0, blocks = 0;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(blocks) * 8; }
};

/// One instruction.
struct WgmmaIssue {
  std::size_t row = 0;  // of ResultParts
  WgmmaColumns columns;
  bool is_first = false;  // along K
  FactorDescriptor a, b;
  std::vector<std::int64_t> a_registers;
};

struct WgmmaPlan {
  AsyncProduct product;
  ResultParts parts;
  std::vector<WgmmaIssue> issues;
  std::int64_t a_step = 0, b_step = 0;  // chunks from warpgroup to warpgroup
  std::int64_t registers_d = 0, registers_a = 0;
};

/// Of a `gemm_async` call.
Match<WgmmaPlan> plan_wgmma(const Call& call);
/// The instructions alone, without fence, commit and wait.
void write_wgmma(const WgmmaPlan& plan, const Call& call, CodeWriter& code);
PlanReport report_wgmma(const WgmmaPlan& plan, const Call& call);

}  // namespace ww::lower
