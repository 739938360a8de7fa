// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel as they are given on the command line: `NAME=SPEC` for parameters and
// for extents known at launch, `NAME=FILE` for what is written afterwards, expectations by names.
// What is not given gets contents of its own: nothing for buffers that are only written, `randn`
// for floats, `arange` for integers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/launch/launch.h"
#include "ir/function.h"

namespace ww::driver {

/// Bytes of arrays that the virtual GPU and the evaluator take: their checks need ten to forty
/// times as much memory of the host.
inline constexpr std::int64_t kMaxHostBytes = std::int64_t{1} << 30;

struct ByteLimit {
  std::int64_t bytes = 0;
  std::string whose;  // "the virtual GPU"
};

struct ArgRequest {
  std::vector<std::string> args = {};     // NAME=SPEC
  std::vector<std::string> outs = {};     // NAME=FILE
  std::vector<std::string> expects = {};  // driver/expect/expect.h
  /// What all arrays together may take, and who says so; asked when they take more than
  /// kMaxHostBytes. Empty when nothing does.
  std::function<ByteLimit()> most_bytes = {};
  /// Shows a place of the kernel's source. Empty: places are left out.
  std::function<std::string(const Diag&)> show = {};
};

/// Reads all texts and makes arrays for all parameters of a kernel. What is wrong is added to `errors`,
/// rendered; nothing is returned then. The function must outlive the result.
std::optional<LaunchValues> read_kernel_args(const ir::Function& function,
                                             const ArgRequest& request, std::string& errors);

}  // namespace ww::driver
