// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/shared_matrix.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kCoreRowBytes = 16;  // of a row of a core matrix, which has eight

}  // namespace

std::int64_t descriptor_field(std::uint64_t bits, unsigned low, unsigned width) {
  return static_cast<std::int64_t>(bits >> low & ((std::uint64_t{1} << width) - 1));
}

Try<DescribedMatrix> DescribedMatrix::read(std::uint64_t descriptor, std::int64_t element_bytes,
                                           bool is_mn_major) {
  // Bits 14 and 15, 30 and 31, 46 to 48, 52 to 61.
  constexpr std::uint64_t kZero = 0x3FF1'C000'C000'C000;
  if ((descriptor & kZero) != 0)
    return wrong("a matrix descriptor {:#018x} with bits {:#x}, which must be 0", descriptor,
                 descriptor & kZero);
  if (const std::int64_t base = descriptor_field(descriptor, 49, 3); base != 0)
    return unknown("a matrix descriptor with base offset {}", base);
  if (is_mn_major && element_bytes != 2)
    return wrong("a matrix of {} bytes an element that is not K-major", element_bytes);
  constexpr std::int64_t kWidths[] = {0, 128, 64, 32};
  return DescribedMatrix(descriptor_field(descriptor, 0, 14) * 16,
                         descriptor_field(descriptor, 16, 14) * 16,
                         descriptor_field(descriptor, 32, 14) * 16,
                         kWidths[descriptor_field(descriptor, 62, 2)], element_bytes, is_mn_major);
}

std::int64_t DescribedMatrix::byte(std::int64_t line, std::int64_t k) const {
  // Along: bytes in the direction in which elements are neighbours; across: the other direction.
  const std::int64_t along = (is_mn_major_ ? line : k) * element_;
  const std::int64_t across = is_mn_major_ ? k : line;
  if (swizzle_ == 0) {
    // Core matrices of 8 x 16 bytes. K-major ones follow each other along K by the leading offset and
    // along the lines by the stride offset; of MN-major ones the stride offset is along the lines.
    const std::int64_t next_along = is_mn_major_ ? stride_ : leading_;
    const std::int64_t next_across = is_mn_major_ ? leading_ : stride_;
    return start_ + across % 8 * kCoreRowBytes + across / 8 * next_across +
           along / kCoreRowBytes * next_along + along % kCoreRowBytes;
  }
  const std::int64_t plain = start_ + across % 8 * swizzle_ + across / 8 * stride_ +
                             along / swizzle_ * leading_ + along % swizzle_;
  // Of the address, bits 7 and up are added without carry to those from bit 4 on.
  return plain ^ ((plain >> 7 & (swizzle_ / kCoreRowBytes - 1)) << 4);
}

}  // namespace ww::lower
