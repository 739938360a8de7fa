// SPDX-License-Identifier: Apache-2.0
// How a compiled kernel is launched: what `compile --emit launch` prints, and
// what every run of this library, the emitted host program and Python's calls use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/call/call.h"
#include "ir/function.h"
#include "ir/launch/launch.h"
#include "ir/tensor_map.h"

namespace ww::driver {

/// A parameter of the compiled kernel, in its order: those of the source, then extents that are known
/// at the launch, which arrays tell, then tensor maps, which the launch makes.
struct LaunchParam {
  enum class Kind : std::uint8_t { Pointer, Number, Extent, TensorMap };
  /// Dimension `dim` of the array of parameter `param`.
  struct Source {
    std::size_t param = 0;
    std::size_t dim = 0;
  };

  Kind kind = Kind::Pointer;
  CallParam seen = {};         // as callers see it
  std::uint32_t bytes = 8;     // of the argument
  std::uint32_t align = 1;     // Pointer: what addresses are multiples of
  bool is_c_order = true;      // Pointer: elements lie in C order, or as a layout of its own says
  std::vector<Source> from{};  // Extent: arrays that have it
  std::optional<ir::TensorMap> map{};  // TensorMap: in expressions of the lowered program
};

struct LaunchDescription {
  ir::LaunchShape shape = {};         // a grid's expressions are those of the lowered program
  std::uint32_t dynamic_shared = 0;   // bytes
  std::vector<ir::StmtId> lets = {};  // of the lowered program: values that expressions may use
};

/// Of a lowered build. Fails as ir::launch_shape does.
Result<LaunchDescription> describe_launch(const Build& build);

/// Of a build that has PTX.
std::vector<LaunchParam> launch_params(const Build& build);

/// Both as JSON (docs/reference/schema/launch.json), of a build that has PTX.
Result<std::string> launch_json(const Build& build);

}  // namespace ww::driver
