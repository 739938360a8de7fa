// SPDX-License-Identifier: Apache-2.0
// `--export page.html`: one file that holds the page, its modules, and the answers about a program, to
// be sent around. It needs no server and no network, and asks nothing.
#pragma once

#include <string>

#include "base/result.h"
#include "explore/session.h"

namespace ww::explore {

/// The file as text, for the file that the session was opened with. BadArgument where there is none,
/// or the page has no modules of the form that is put together here.
Result<std::string> exported_page(Session& session);

}  // namespace ww::explore
