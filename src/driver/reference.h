// SPDX-License-Identifier: Apache-2.0
// The tables of the compiler, for the documents and for other programs: `warpwright reference`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace ww::driver {

inline constexpr std::string_view kReferenceTopics[] = {
    "names", "not-taken", "primitives", "settings", "kinds", "rules", "library"};

/// A row of a topic. What the parts are depends on the topic: of `names` the title above it, the
/// name, the call as people read it ("T.cast(value, dtype)") and the parameters as they are declared.
struct ReferenceRow {
  std::string group = {};  // the title it belongs under
  std::string name;
  std::string text = {};
  std::vector<std::string> words = {};
};
std::vector<ReferenceRow> reference_rows(std::string_view topic);

/// One of kReferenceTopics in Markdown, `library` in Python; and the same for programs
/// (docs/reference/schema/reference.json).
std::string reference_text(std::string_view topic);
Json reference_json(std::string_view topic);

// --- variants ------------------------------------------------------------------------------------
//
// The ways that there are to carry out tile primitives: `warpwright variants`.

/// A line for each, in the order in which they are tried; and the same for programs
/// (docs/reference/schema/variants.json).
std::string variants_text();
Json variants_json();

}  // namespace ww::driver
