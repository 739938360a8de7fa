// SPDX-License-Identifier: Apache-2.0
// Values of expressions in each CTA of a cluster, as far as they follow from constants and from where
// the CTA is in its cluster: masks of CTAs, and conditions on a CTA's rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/launch/launch.h"
#include "ir/simplify/fold.h"

namespace ww::ir::verifying {

/// A bit for each CTA of a cluster, by rank.
using CtaMask = std::uint16_t;
inline bool has_cta(CtaMask ctas, std::size_t rank) {
  return (std::uint32_t{ctas} >> rank & 1U) != 0;
}

class ClusterValues {
 public:
  /// `bound`: the values of names (ir/signatures.h).
  ClusterValues(const Function& function, const std::vector<ExprId>& bound,
                const LaunchShape& shape)
      : f_(function), bound_(bound), shape_(shape), ids_(id_bindings(function)) {}

  [[nodiscard]] std::size_t ctas() const { return static_cast<std::size_t>(shape_.cluster_ctas()); }
  [[nodiscard]] CtaMask all() const { return static_cast<CtaMask>((1U << ctas()) - 1); }

  /// The value in the CTA of that rank; nothing when it depends on anything else.
  [[nodiscard]] std::optional<Constant> in_cta(ExprId expr, std::size_t rank) const;
  /// The CTAs in which a condition holds; nothing when it depends on anything else.
  [[nodiscard]] std::optional<CtaMask> where(ExprId condition) const;

 private:
  [[nodiscard]] std::optional<Constant> variable(const Expr& e, std::size_t rank) const;
  [[nodiscard]] std::optional<Constant> operated(const Expr& e, std::size_t rank) const;

  const Function& f_;
  const std::vector<ExprId>& bound_;
  const LaunchShape& shape_;
  std::vector<IdBinding> ids_;
};

}  // namespace ww::ir::verifying
