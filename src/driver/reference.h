// SPDX-License-Identifier: Apache-2.0
// The tables of the compiler, for the documents and for other programs: `warpwright reference`.
#pragma once

#include <string>
#include <string_view>

namespace ww::driver {

inline constexpr std::string_view kReferenceTopics[] = {"names",    "not-taken", "primitives",
                                                        "settings", "kinds",     "rules"};

/// One of kReferenceTopics in Markdown; and the same for programs
/// (docs/reference/schema/reference.json).
std::string reference_text(std::string_view topic);
std::string reference_json(std::string_view topic);

}  // namespace ww::driver
