// SPDX-License-Identifier: Apache-2.0
// The 64-bit matrix descriptors of wgmma and tcgen05: where in shared memory the 16-byte chunks of a
// matrix operand lie.
//
//   bits 13:0    start address / 16       bits 51:49   base offset: row of the swizzle pattern
//   bits 29:16   leading offset / 16                   at which the pattern starts
//   bits 45:32   stride offset / 16
//   wgmma        bits 63:62   swizzle: 0 none, 1 128, 2 64, 3 32 bytes
//   tcgen05      bits 63:61   swizzle: 0 none, 1 128 bytes in atoms of 32, 2 128, 4 64, 6 32 bytes
//                bit 52       the leading offset is an address
//                bits 48:46   1
//
// All other bits are 0. A matrix has lines (rows of A, columns of B) of K elements. K-major: a
// chunk is 16 bytes of one line. MN-major: a chunk is 16 bytes across lines, at one k. With W the
// bytes of the swizzle and G = 8 (4 in atoms of 32 bytes), a chunk is at the start address plus
//
//   K-major,  none   (line % 8) * 16 + (line / 8) * stride + chunk * leading
//   K-major,  W      (line % 8) * W + (line / 8) * stride + chunk % (W / 16) * 16
//                    + chunk / (W / 16) * leading
//   MN-major, none   chunk * stride + (k % 8) * 16 + (k / 8) * leading
//   MN-major, W      chunk % (W / 16) * 16 + chunk / (W / 16) * leading + (k % G) * W
//                    + (k / G) * stride
//
// and then bits 4 to 6 of the address (as many as the swizzle has) are xored with bits 7 to 9; in
// atoms of 32 bytes, bits 5 and 6 with bits 7 and 8.
#pragma once

#include <bit>
#include <cstdint>

namespace ww::sim {

class MatrixDescriptor {
 public:
  static constexpr std::uint32_t kChunk = 16;  // bytes
  static constexpr std::uint64_t kReserved = 0x3FF1'C000'C000'C000U;
  static constexpr std::uint64_t kReservedTcgen05 = 0x1FE0'0000'C000'C000U;

  /// Of wgmma.
  explicit constexpr MatrixDescriptor(std::uint64_t bits)
      : MatrixDescriptor(bits, kReserved, (bits >> 62U) == 0 ? kChunk : 256U >> (bits >> 62U)) {}
  static constexpr MatrixDescriptor of_tcgen05(std::uint64_t bits) {
    const auto code = static_cast<std::uint32_t>(bits >> 61U);
    MatrixDescriptor out(bits, kReservedTcgen05, code == 0 ? kChunk : 256U >> (code + 1) / 2);
    if (code == 1) out.atom_ = 2 * kChunk;
    return out;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  /// Bits that must be 0 and are not.
  [[nodiscard]] constexpr std::uint64_t reserved() const { return bits_ & reserved_; }
  [[nodiscard]] constexpr std::uint32_t start() const { return start_; }
  [[nodiscard]] constexpr std::uint32_t leading() const { return leading_; }
  [[nodiscard]] constexpr std::uint32_t stride() const { return stride_; }
  [[nodiscard]] constexpr std::uint32_t base_offset() const {
    return static_cast<std::uint32_t>(bits_ >> 49U) & 7U;
  }
  /// Bytes of the swizzle; 16: none.
  [[nodiscard]] constexpr std::uint32_t width() const { return width_; }
  /// Bytes that the swizzle moves together: 16, or 32.
  [[nodiscard]] constexpr std::uint32_t atom() const { return atom_; }
  /// Of tcgen05: the swizzle as it is written, bits 48:46, and bit 52.
  [[nodiscard]] constexpr unsigned swizzle_code() const {
    return static_cast<unsigned>(bits_ >> 61U);
  }
  [[nodiscard]] constexpr unsigned version() const {
    return static_cast<unsigned>(bits_ >> 46U) & 7U;
  }
  [[nodiscard]] constexpr bool leads_by_address() const { return ((bits_ >> 52U) & 1U) != 0; }

  /// The address of a chunk of a line: bytes 16 * chunk and on of its K elements.
  [[nodiscard]] constexpr std::uint32_t k_major(std::uint32_t line, std::uint32_t chunk) const {
    const std::uint32_t across = width_ / kChunk;  // a power of two
    return swizzled(start_ + line % 8 * width_ + line / 8 * stride_ +
                    (chunk & (across - 1)) * kChunk + (chunk >> across_bits_) * leading_);
  }
  /// The address of a chunk at k: lines chunk * (16 / element size) and on.
  [[nodiscard]] constexpr std::uint32_t mn_major(std::uint32_t chunk, std::uint32_t k) const {
    if (width_ == kChunk) return start_ + chunk * stride_ + k % 8 * kChunk + k / 8 * leading_;
    const std::uint32_t across = width_ / kChunk;
    const std::uint32_t group = atom_ == kChunk ? 8 : 4;
    return swizzled(start_ + (chunk & (across - 1)) * kChunk + (chunk >> across_bits_) * leading_ +
                    k % group * width_ + k / group * stride_);
  }
  /// Where the byte is that would be at that address without swizzle; and the other way round.
  [[nodiscard]] constexpr std::uint32_t swizzled(std::uint32_t at) const {
    const std::uint32_t row = at - base_offset() * 128;
    if (atom_ != kChunk) return at ^ ((row >> 2U) & 0x60U);
    return at ^ ((row >> 3U) & (width_ - kChunk));
  }

 private:
  constexpr MatrixDescriptor(std::uint64_t bits, std::uint64_t reserved, std::uint32_t width)
      : bits_(bits),
        reserved_(reserved),
        start_(field(bits, 0)),
        leading_(field(bits, 16)),
        stride_(field(bits, 32)),
        width_(width),
        across_bits_(static_cast<std::uint32_t>(std::countr_zero(width_ / kChunk))) {}
  static constexpr std::uint32_t field(std::uint64_t bits, unsigned at) {
    return (static_cast<std::uint32_t>(bits >> at) & 0x3FFFU) * kChunk;
  }

  std::uint64_t bits_, reserved_;
  std::uint32_t start_, leading_, stride_, width_, across_bits_;
  std::uint32_t atom_ = kChunk;
};

}  // namespace ww::sim
