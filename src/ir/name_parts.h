// SPDX-License-Identifier: Apache-2.0
// Host functions make expressions of any size: ten thousand operations inside each other, or a sum
// of itself with itself sixty times over. As graphs they are small, because parts are shared, but
// written out they are endless. After `name_parts`, every later pass may walk an expression as a
// tree.
//
//     B[i] = ((x + x) + (x + x)) + …        part: T.let = …
//                                           B[i] = part + part
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/function.h"

namespace ww::ir {

/// The most operations inside each other, and the most nodes when each shared part is written out
/// as often as it is used, of any expression of a function.
inline constexpr std::uint32_t kMaxDepth = 1000;
inline constexpr std::uint64_t kMaxWritten = std::uint64_t{1} << 20U;
/// Parts of deeper expressions get no names: simplifying a chain of names takes time for each.
inline constexpr std::uint32_t kMaxNamedDepth = 40'000;

/// Depth and written size of expressions. One pass computes them for all nodes of a function:
/// operands have smaller numbers than their users.
class Measures {
 public:
  /// `names`, by VarId, are the expressions that variables mean, if those count too.
  explicit Measures(const Function& function, const std::vector<ExprId>& names = {});

  [[nodiscard]] std::uint32_t depth(ExprId id) const { return depths_[id.index]; }
  /// Saturates at 2^62.
  [[nodiscard]] std::uint64_t written(ExprId id) const { return written_[id.index]; }

 private:
  std::vector<std::uint32_t> depths_;
  std::vector<std::uint64_t> written_;
};

/// Budget, at its place, for the first expression that is beyond kMaxDepth or kMaxWritten.
Result<void> check_measures(const Function& function);

/// Names (by `T.let`, before the statement) parts of expressions that are nested deeply or used
/// many times, then does the work of check_measures. A part gets a name only where computing it
/// there is the same: without effects, and where it reads memory or divides, always computed by the
/// statement.
Result<void> name_parts(Function& function);

}  // namespace ww::ir
