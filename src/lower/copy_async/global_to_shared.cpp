// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/global_to_shared.h"

#include "ir/settings.h"
#include "lower/checks.h"

namespace ww::lower {

Match<void> check_global_to_shared(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const auto scope = [&](std::size_t i) { return call.f()[call.region(i).buffer].scope; };
  if (scope(1) != ir::Scope::Global || !ir::is_shared(scope(0)))
    return decline("scope", "{} to {}, expected global to shared memory", ir::name_of(scope(1)),
                   ir::name_of(scope(0)));
  return check_workers(call);
}

bool is_direct(const Call& call) { return ir::is_true(call.setting("direct")); }

}  // namespace ww::lower
