// SPDX-License-Identifier: Apache-2.0
#include "lower/convert/bits.h"

#include <algorithm>
#include <bit>

namespace ww::lower {

BitVector BitMap::operator()(BitVector x) const {
  BitVector out = 0;
  for (std::size_t b = 0; b < columns.size(); ++b)
    if ((x >> b & 1U) != 0) out ^= columns[b];
  return out;
}

bool BitMap::is_identity() const {
  for (std::size_t b = 0; b < columns.size(); ++b)
    if (columns[b] != BitVector{1} << b) return false;
  return true;
}

BitVector BitBasis::rest(BitVector vector) const {
  for (const BitVector row : rows_) vector = std::min(vector, vector ^ row);
  return vector;
}

bool BitBasis::add(BitVector vector) {
  vector = rest(vector);
  if (vector == 0) return false;
  rows_.push_back(vector);
  std::ranges::sort(rows_, std::greater{});
  return true;
}

std::vector<BitVector> BitBasis::span() const {
  std::vector<BitVector> out{0};
  for (const BitVector row : rows_) {
    const std::size_t size = out.size();
    for (std::size_t i = 0; i < size; ++i) out.push_back(out[i] ^ row);
  }
  return out;
}

std::optional<BitMap> map_between(const BitMap& from, const BitMap& to, int bits, int from_bits) {
  // Rows (image under `from`, image under `to`), brought to leading bits by elimination.
  struct Row {
    BitVector key, value;
  };
  std::vector<Row> rows;
  const auto reduce = [&](Row row) {
    for (const Row& each : rows)
      if ((row.key ^ each.key) < row.key) row = {row.key ^ each.key, row.value ^ each.value};
    return row;
  };
  for (int b = 0; b < bits; ++b) {
    const Row row = reduce({from(BitVector{1} << b), to(BitVector{1} << b)});
    if (row.key == 0 && row.value != 0) return std::nullopt;
    if (row.key == 0) continue;
    rows.push_back(row);
    std::ranges::sort(rows, std::greater{}, &Row::key);
  }
  BitMap out;
  for (int b = 0; b < from_bits; ++b) {
    // What is left over is outside the image, where the map is 0.
    out.columns.push_back(reduce({BitVector{1} << b, 0}).value);
  }
  return out;
}

}  // namespace ww::lower
