// SPDX-License-Identifier: Apache-2.0
#include "sim/order/locations.h"

namespace ww::sim {

void Location::publish(Scope scope, const Home& from, const Clocks& what) {
  if (what.empty()) return;
  for (Part& part : parts_) {
    const Scope apart = scope_of(part.from, from);
    if (part.scope != scope || apart > (scope == Scope::Gpu ? Scope::Gpu : Scope::Cta)) continue;
    part.spread = std::max(part.spread, apart);
    part.clocks.join(what);
    return;
  }
  parts_.push_back({.scope = scope, .spread = Scope::Cta, .from = from, .clocks = what});
}

void Location::join(const Location& other) {
  for (const Part& part : other.parts_) publish(part.scope, part.from, part.clocks);
}

}  // namespace ww::sim
