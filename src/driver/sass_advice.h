// SPDX-License-Identifier: Apache-2.0
// What `--sass` adds to a report: remarks on the machine code of a kernel, each with its instruction of
// PTX and the source that this comes from. Where the tools are missing, the reason stands in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/source_place.h"
#include "runtime/assembler.h"
#include "target/target.h"

namespace ww::driver {

struct SassNote {
  runtime::SassRemark remark;
  std::string instruction = {};  // the line of PTX
  std::optional<ptx::SourceLine> source = {};
};
struct SassAdvice {
  std::string not_read = {};  // why; empty: it was read
  std::vector<SassNote> notes = {};
};

/// Runs the tools on a PTX text that parses.
SassAdvice sass_advice(const runtime::SassTools& tools, std::string_view ptx, target::Arch arch,
                       const std::string& kernel);

/// How a report names the place of a remark: by the line of PTX, or by that of the source.
enum class SassPlaces : std::uint8_t { Ptx, Source };
/// Lines for the section `slow`; places of one reason are listed once.
std::string sass_text(const SassAdvice& advice, SassPlaces places);

}  // namespace ww::driver
