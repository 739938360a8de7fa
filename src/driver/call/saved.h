// SPDX-License-Identifier: Apache-2.0
// A build as text, to be kept between processes: what a call needs, and no more. Reading it back
// takes a tenth of the time of compiling, because nothing is lowered or proven again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/source.h"
#include "driver/build.h"

namespace ww::driver {

/// Of a build that has PTX.
std::string save_build(const Build& build);

/// The build that was saved: tile program, lowered program, PTX and target, with an empty report;
/// `source` is what it was compiled from. Syntax or BadArgument when the text is not one that
/// save_build of this version has written.
Result<Build> load_build(std::string_view saved, const SourceText& source);

}  // namespace ww::driver
