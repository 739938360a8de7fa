// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/address.h"

#include <cstdlib>
#include <numeric>

namespace ww::emit::to_ptx {

std::string_view suffix_of(Space space) {
  return word_for(
      space, {{Space::Global, ".global"}, {Space::Shared, ".shared"}, {Space::Local, ".local"}},
      "");
}

Address moved(Address address, std::int64_t bytes) {
  address.bits += bytes * 8;
  return address;
}

std::int64_t align_of(const Address& address) {
  std::int64_t align = std::gcd(address.align, address.bits / 8);
  for (const Term& term : address.terms) align = std::gcd(align, term.scale * term.divisor);
  return std::abs(align);
}

}  // namespace ww::emit::to_ptx
