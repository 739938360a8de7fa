// SPDX-License-Identifier: Apache-2.0
// A matrix in shared memory as wgmma finds it by its descriptor, for lower/proof/proof.h: from the bits
// to the byte of each element, by the definition in the PTX manual ("Matrix descriptor").
#pragma once

#include <cstdint>

#include "lower/proof/unproven.h"

namespace ww::lower {

class DescribedMatrix {
 public:
  /// `element_bytes` long elements, along the lines if `is_mn_major`. Wrong: bits that must be 0;
  /// Unknown: a pattern that begins elsewhere (base offset).
  static Try<DescribedMatrix> read(std::uint64_t descriptor, std::int64_t element_bytes,
                                   bool is_mn_major);

  /// The byte of the shared window where the element of a line (row of A, column of B) at `k` begins.
  [[nodiscard]] std::int64_t byte(std::int64_t line, std::int64_t k) const;

 private:
  std::int64_t start_ = 0, leading_ = 0, stride_ = 0;  // bytes
  std::int64_t swizzle_ = 0;                           // bytes; 0: none
  std::int64_t element_ = 2;
  bool is_mn_major_ = false;
};

}  // namespace ww::lower
