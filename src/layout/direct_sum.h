// SPDX-License-Identifier: Apache-2.0
// Direct sum: two layouts over interleaved dimensions, places added. Over (a_0, b_0, a_1, b_1, …),
// (A ⊕ B)(a, b) = A(a) + B(b), replicas and offsets included.
#pragma once

#include <span>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// A ⊕ B. Shapes of equal rank. Canonical. At most one of the two may be swizzled, and then the
/// other must not touch `m`.
Result<Layout> direct_sum(const Layout& a, std::span<const std::int64_t> a_shape, const Layout& b,
                          std::span<const std::int64_t> b_shape);

/// A such that A ⊕ B has the places of `sum` over the interleaved shape (a_0, b_0, …). Verified.
Result<Layout> left_of_sum(const Layout& sum, std::span<const std::int64_t> interleaved,
                           const Layout& b, std::span<const std::int64_t> b_shape);
/// B such that A ⊕ B has the places of `sum`. Verified.
Result<Layout> right_of_sum(const Layout& sum, std::span<const std::int64_t> interleaved,
                            const Layout& a, std::span<const std::int64_t> a_shape);

}  // namespace ww::layout
