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

std::vector<KernelArg> kernel_args(KernelArgs& args) {
  std::vector<KernelArg> out;
  for (std::size_t i = 0; i < args.count(); ++i)
    out.push_back({.bytes = args.array(i).data,
                   .shape = args.array(i).shape,
                   .is_output = args.is_output(i)});
  return out;
}

// Leaves the results in the arrays. No, when there are none that mean something.
Result<bool> evaluate(const ir::Function& tile, KernelArgs& args, const eval::Limits& limits) {
  std::vector<eval::Argument> arguments;
  for (std::size_t i = 0; i < args.count(); ++i) {
    Array& array = args.array(i);
    if (args.is_buffer(i))
      arguments.emplace_back(eval::BufferArg{&array.data, array.shape, !args.is_output(i)});
    else
      arguments.emplace_back(eval::ScalarArg{array.bits(0)});
  }
  auto report = eval::run(tile, std::move(arguments), {.limits = limits});
  if (!report && report.error().kind == DiagKind::RunLimit) return std::move(report).failure();
  return report && report->good();
}

emit::HostArgument array_argument(const KernelArgs& args, std::size_t param,
                                  std::vector<std::byte> contents) {
  emit::HostArgument out;
  out.name = args.name_of(param);
  out.dtype = args.array(param).dtype;
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
  auto args = KernelArgs::read(build.tile(), request, errors);
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
      out.arguments.push_back(array_argument(*args, i, std::move(before->memory[i])));
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
  for (std::size_t i = 0; after && i < args->count(); ++i) {
    const Tolerance tolerance = default_tolerance(args->array(i));
    out.arguments[i].rtol = tolerance.rtol;
    out.arguments[i].atol = tolerance.atol;
    out.arguments[i].expected = std::move(after->memory[i]);
  }
  return out;
}

}  // namespace ww::driver
