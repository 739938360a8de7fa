// SPDX-License-Identifier: Apache-2.0
// A launch as CUDA C++ writes it,
//
//   scale<<<2, 64>>>(x, i32:100)
//   add<<<(2,2), (32,4), 1024, cluster=(2,1,1), programmatic>>>(x, y, null)
//
// grid, block and bytes of dynamic shared memory, then settings: `cluster=` and `programmatic`, which
// lets it start before the launches before it have ended. Each argument is a name or a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "sim/launch.h"

namespace ww::driver {

struct LaunchText {
  std::string text;  // the spans below are places in it
  Span kernel{};
  sim::Dim3 grid{}, block{};
  std::optional<sim::Dim3> cluster{};
  std::uint32_t shared_bytes = 0;
  bool is_programmatic = false;
  std::vector<Span> args{};

  [[nodiscard]] std::string_view part(Span span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }
};
/// Reads one. Syntax, UnknownName or BadArgument, located in the text.
Result<LaunchText> parse_launch(std::string_view text);

}  // namespace ww::driver
