// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/tcgen05_zero_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace ww::sim {

std::string ZeroColumns::fault(unsigned m, unsigned most_shift) const {
  constexpr std::uint64_t kReserved = 0xC000'0070'0000'0000;
  if ((bits_ & kReserved) != 0)
    return fmt::format("bits 0x{:016x} are set, which must be 0", bits_ & kReserved);
  const unsigned most = m == 32 ? 16 : 32;
  if (shift() > most)
    return fmt::format("a shift by {}; with M = {} it is at most {}", shift(), m, most);
  if (shift() > most_shift)
    return fmt::format("a shift by {}; the instruction descriptor allows {}", shift(), most_shift);
  return "";
}

bool ZeroColumns::skips_a_span() const {
  if (!has_zeros()) return false;
  for (unsigned part = 0; part < n_ / part_; ++part) {
    if (start(part) >= (starts_with_zeros(part) ? zeros() : used())) return true;
  }
  return false;
}

bool ZeroColumns::is_zero(unsigned column) const {
  if (!has_zeros()) return false;
  const unsigned part = column / part_;
  const unsigned at = (column % part_ + start(part)) % (zeros() + used());
  return starts_with_zeros(part) ? at < zeros() : at >= used();
}

std::vector<unsigned> ZeroColumns::columns() const {
  std::vector<unsigned> all(n_);
  for (unsigned column = 0; column < n_; ++column)
    all[column] = is_zero(column) ? kZero : column + shift();
  return all;
}

}  // namespace ww::sim
