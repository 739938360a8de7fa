// SPDX-License-Identifier: Apache-2.0
// A factor of a product in shared memory as a matrix descriptor of wgmma finds it. It has lines (rows
// of A, columns of B) of K elements, in chunks of 16 bytes: along K (K-major), or, of 16-bit elements,
// along the lines (MN-major). In chunks, from the start on, with w those of the swizzle's width (1:
// no swizzle):
//
//     K-major           line % 8 · w + line / 8 · stride + chunk · (w > 1 ? 1 : leading)
//     MN-major, w = 1   chunk · stride + k % 8 + k / 8 · leading
//     MN-major, w > 1   chunk % w + chunk / w · leading + k % 8 · w + k / 8 · stride
//
// and then the swizzle, by address: the layout's own, so that only what comes before it is compared.
// PTX manual, "Matrix descriptor", "Shared memory matrix layout".
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lower/operand_places.h"

namespace ww::lower {

inline constexpr std::int64_t kChunkBytes = 16;
inline constexpr std::int64_t kMaxOffset = 0x3FFF;  // chunks, in a field of the descriptor

/// What a descriptor says but for where the factor's base is.
struct FactorDescriptor {
  bool is_mn_major = false;
  std::int64_t width = 1;  // chunks of the swizzle
  std::int64_t start = 0;  // chunks behind the base
  std::int64_t leading = 0, stride = 0;

  /// Bits 16 to 31, and 32 to 63.
  [[nodiscard]] std::uint32_t low_fields() const;
  [[nodiscard]] std::uint32_t high_fields() const;
  /// "K-major, swizzle of 128 bytes, 8 lines every 1024 bytes"
  [[nodiscard]] std::string text() const;
};

/// Part of a factor: lines by depth elements, and where they are among its elements.
struct FactorPart {
  std::int64_t lines = 0, depth = 0;
  std::function<std::size_t(std::int64_t line, std::int64_t k)> at;
};

class SharedFactor {
 public:
  /// Declines swizzles that no descriptor has (`swizzle`), storage that does not begin a pattern or a
  /// base that is no whole chunk (`alignment`), and places known at run time only (`layout`).
  static Match<SharedFactor> read(const Call& call, const OperandPlaces& side,
                                  std::string_view name);
  /// Declines (`major`, `descriptor`) with the places seen.
  [[nodiscard]] Match<FactorDescriptor> find(const FactorPart& part, bool may_turn) const;

 private:
  SharedFactor(const OperandPlaces& side, std::string_view name) : side_(&side), name_(name) {}

  /// The chunk that begins with an element and goes on with `next`; nothing: they lie apart.
  template <typename At>
  [[nodiscard]] std::optional<std::int64_t> chunk(const At& at) const;
  [[nodiscard]] std::optional<FactorDescriptor> k_major(const FactorPart& part) const;
  [[nodiscard]] std::optional<FactorDescriptor> mn_major(const FactorPart& part) const;
  [[nodiscard]] std::string seen(const FactorPart& part) const;

  const OperandPlaces* side_;
  std::string_view name_;
  std::int64_t width_ = 1;
};

}  // namespace ww::lower
