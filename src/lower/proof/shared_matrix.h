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

  /// Of these offsets in bytes, the width of a swizzle (0: none), and elements of that many bytes.
  DescribedMatrix(std::int64_t start, std::int64_t leading, std::int64_t stride,
                  std::int64_t swizzle, std::int64_t element_bytes, bool is_mn_major)
      : start_(start),
        leading_(leading),
        stride_(stride),
        swizzle_(swizzle),
        element_(element_bytes),
        is_mn_major_(is_mn_major) {}

  /// The byte of the shared window where the element of a line (row of A, column of B) at `k` begins.
  [[nodiscard]] std::int64_t byte(std::int64_t line, std::int64_t k) const;

 private:
  std::int64_t start_, leading_, stride_, swizzle_;  // bytes
  std::int64_t element_;
  bool is_mn_major_;
};

/// A field of a descriptor.
std::int64_t descriptor_field(std::uint64_t bits, unsigned low, unsigned width);

}  // namespace ww::lower
