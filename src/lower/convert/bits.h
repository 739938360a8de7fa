// SPDX-License-Identifier: Apache-2.0
// Maps of whole numbers that are linear over their bits: the image of a ^ b is the image of a ^ that
// of b. Layouts of power-of-two tiles are such maps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ww::lower {

using BitVector = std::uint32_t;

/// By what each bit becomes.
struct BitMap {
  std::vector<BitVector> columns;

  [[nodiscard]] BitVector operator()(BitVector x) const;
  [[nodiscard]] bool is_identity() const;
};

/// Vectors such that every sum of some of them differs from every other.
class BitBasis {
 public:
  /// False, and nothing changes, when it is a sum of vectors that are there already.
  bool add(BitVector vector);
  /// The vector less what the basis can take away from it.
  [[nodiscard]] BitVector rest(BitVector vector) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] bool contains(BitVector vector) const { return rest(vector) == 0; }
  /// All sums, 0 first.
  [[nodiscard]] std::vector<BitVector> span() const;

 private:
  std::vector<BitVector> rows_;  // by falling leading bit
};

/// The map with from(l) -> to(l) for all 0 <= l < 2^bits, on numbers of `from_bits` bits; 0 on the
/// rest of them.
/// Nothing when two `from` agree whose `to` differ.
std::optional<BitMap> map_between(const BitMap& from, const BitMap& to, int bits, int from_bits);

}  // namespace ww::lower
