// SPDX-License-Identifier: Apache-2.0
#include "driver/run/host_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/source.h"
#include "driver/expect/expect.h"
#include "driver/run/device_run.h"

namespace ww::driver {
namespace {

// Leaves the results in the arrays. No, when there are none that mean something.
Result<bool> evaluate(const ir::Function& tile, LaunchValues& values, const eval::Limits& limits) {
  auto report = eval::run(tile, eval_arguments(values), {.limits = limits});
  if (!report && report.error().kind == DiagKind::RunLimit) return std::move(report).failure();
  return report && report->good();
}

emit::HostArgument array_argument(const LaunchValue& value, std::vector<std::byte> contents) {
  emit::HostArgument out;
  out.name = value.name;
  out.dtype = value.array.dtype;
  out.elements = static_cast<std::int64_t>(contents.size()) * 8 / num::storage_bits(out.dtype);
  out.contents = std::move(contents);
  return out;
}

emit::HostArgument scalar_argument(const ir::Var& var, std::uint64_t bits) {
  emit::HostArgument out;
  out.name = var.name;
  out.dtype = var.type.dtype;
  out.is_array = false;
  out.scalar_bits = bits;
  return out;
}

emit::HostMap host_map(const runtime::MapArgument& given) {
  const sim::TensorMap& map = given.map;
  emit::HostMap out{.name = given.name,
                    .array = given.array,
                    .offset = given.offset,
                    .type = static_cast<int>(map.type)};
  out.dims.assign(map.dims.begin(), map.dims.begin() + map.rank);
  out.strides.assign(map.strides.begin(), map.strides.begin() + (map.rank - 1));
  out.box.assign(map.box.begin(), map.box.begin() + map.rank);
  out.swizzle = static_cast<int>(map.swizzle);
  out.promotion = static_cast<int>(map.promotion);
  out.fill = sim::driver_code(map.fill);
  return out;
}

void set_launch(emit::HostProgram& program, const runtime::Launch& launch) {
  for (std::size_t d = 0; d < 3; ++d) {
    program.grid[d] = launch.grid[d];
    program.block[d] = launch.block[d];
    if (launch.cluster) program.cluster[d] = (*launch.cluster)[d];
  }
  program.dynamic_shared_bytes = launch.dynamic_shared;
  program.is_cooperative = launch.is_cooperative;
  program.is_programmatic = launch.is_programmatic;
}

}  // namespace

std::optional<emit::HostProgram> host_program(const Build& build, const ArgRequest& request,
                                              const eval::Limits& limits, std::string& errors) {
  auto args = read_kernel_args(build.tile(), request, errors);
  if (!args) return std::nullopt;
  auto before = host_side(build, kernel_args(*args));
  if (!before) {
    errors += render(before.error());
    return std::nullopt;
  }
  emit::HostProgram out;
  set_launch(out, before->launch);
  const auto& params = build.lowered->params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::Var& var = (*build.lowered)[params[i].var];
    if (var.type.is_pointer())
      out.arguments.push_back(array_argument(args->all[i], std::move(before->memory[i])));
    else
      out.arguments.push_back(scalar_argument(var, before->launch.arguments[i].bits));
  }
  for (const runtime::MapArgument& map : before->launch.maps) out.maps.push_back(host_map(map));
  const auto is_evaluated = evaluate(build.tile(), *args, limits);
  if (!is_evaluated) {
    errors += build.compiled->render(is_evaluated.error());
    return std::nullopt;
  }
  if (!*is_evaluated) return out;
  auto after = host_side(build, kernel_args(*args));
  for (std::size_t i = 0; after && i < args->all.size(); ++i) {
    const Tolerance tolerance = default_tolerance(args->all[i].array);
    out.arguments[i].rtol = tolerance.rtol;
    out.arguments[i].atol = tolerance.atol;
    out.arguments[i].expected = std::move(after->memory[i]);
  }
  return out;
}

}  // namespace ww::driver
