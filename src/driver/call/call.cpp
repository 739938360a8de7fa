// SPDX-License-Identifier: Apache-2.0
#include "driver/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/call/numbers.h"
#include "driver/run/device_run.h"
#include "driver/run/sim_findings.h"
#include "ir/print/print.h"
#include "runtime/sim_device.h"

namespace ww::driver {
namespace {

const ir::Buffer* buffer_of(const ir::Function& tile, std::size_t param) {
  const ir::BufferId id = ir::buffer_of_param(tile, param);
  return id.valid() ? &tile[id] : nullptr;
}

void add_extent(const ir::Function& tile, ir::ExprId extent, CallParam& param) {
  const ir::Expr& expr = tile[extent];
  const bool is_known = expr.op == ir::ExprOp::IntImm;
  param.shape.push_back(is_known ? fmt::format("{}", expr.integer) : ir::print(tile, extent));
  param.extents.push_back(is_known ? std::optional(static_cast<std::int64_t>(expr.integer))
                                   : std::nullopt);
}

std::string expected_text(const CallParam& param) {
  if (!param.is_array) return fmt::format("a number of type {}", num::name_of(*param.dtype));
  if (!param.dtype) return "an array";
  return fmt::format("an array of {}[{}]", num::name_of(*param.dtype), join(param.shape, ","));
}

// --- arrays --------------------------------------------------------------------------------------

// Hosts have no type of 4 or 6 bits: bytes will do, two elements to a byte or one
// (driver/args/array.h).
ArrayView as_elements(const CallParam& param, ArrayView view) {
  const bool is_narrow = param.dtype && num::bits_of(*param.dtype) < 8;
  if (!is_narrow || view.dtype != num::DType::Uint8 || view.shape.empty()) return view;
  const int per_byte = 8 / num::storage_bits(*param.dtype);
  view.shape.back() *= per_byte;
  view.dtype = *param.dtype;
  return view;
}

Result<void> check_shape(const CallParam& param, const ArrayView& view) {
  if (view.shape.size() != param.shape.size())
    return fail(DiagKind::BadArgument,
                "`{}` was given an array of {} dimensions, [{}]: expected {}, [{}]", param.name,
                view.shape.size(), join(view.shape, ","), param.shape.size(),
                join(param.shape, ","));
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (param.extents[d].value_or(view.shape[d]) != view.shape[d])
      return fail(DiagKind::BadArgument, "`{}` was given an array of shape [{}]: expected [{}]",
                  param.name, join(view.shape, ","), join(param.shape, ","));
  }
  return {};
}

Result<void> check_view(const CallParam& param, const ArrayView& view) {
  if (!param.is_array)
    return fail(DiagKind::BadArgument, "`{}` was given an array: expected {}", param.name,
                expected_text(param));
  if (param.dtype && *param.dtype != view.dtype)
    return fail(DiagKind::BadArgument, "`{}` was given an array of {}: expected {}", param.name,
                num::name_of(view.dtype), num::name_of(*param.dtype));
  if (param.dtype) WW_TRY_VOID(check_shape(param, view));
  if (view.is_read_only && param.writing != Writing::No)
    return fail(DiagKind::BadArgument, "`{}` was given a read-only array: the kernel writes it",
                param.name);
  return {};
}

Result<KernelArg> array_arg(const CallParam& param, const ArrayView& view) {
  const auto bytes = static_cast<std::size_t>(WW_TRY(byte_size(view.dtype, view.shape)));
  KernelArg out{.shape = view.shape};
  if (param.writing == Writing::No)
    out.source = {view.data, bytes};
  else
    out.bytes = {view.data, bytes};
  return out;
}

// --- numbers -------------------------------------------------------------------------------------

Result<KernelArg> number_arg(const CallParam& param, const CallArg& arg) {
  if (param.is_array)
    return fail(DiagKind::BadArgument, "`{}` was given {}: expected {}", param.name,
                number_text(arg), expected_text(param));
  const std::uint64_t bits =
      WW_TRY(bits_of_number(arg, *param.dtype, fmt::format("`{}`", param.name)));
  const auto bytes = static_cast<std::size_t>(std::max(1, num::bits_of(*param.dtype) / 8));
  KernelArg out{.is_float = num::is_float(*param.dtype)};
  out.value.resize(bytes);
  std::memcpy(out.value.data(), &bits, bytes);
  return out;
}

}  // namespace

std::vector<CallParam> call_params(const ir::Function& tile) {
  const std::vector<Writing> writes = param_writes(tile);
  std::vector<CallParam> out;
  for (std::size_t i = 0; i < tile.params.size(); ++i) {
    const ir::Var& var = tile[tile.params[i].var];
    CallParam param{.name = var.name,
                    .variable = var.name,
                    .is_array = var.type.is_pointer(),
                    .writing = writes[i]};
    if (!param.is_array) param.dtype = var.type.dtype;
    if (const ir::Buffer* buffer = buffer_of(tile, i); buffer != nullptr) {
      if (!buffer->name.empty()) param.name = buffer->name;
      param.dtype = buffer->dtype;
      for (const ir::ExprId extent : buffer->shape) add_extent(tile, extent, param);
    }
    out.push_back(std::move(param));
  }
  return out;
}

Result<std::vector<KernelArg>> bind_call(const ir::Function& tile,
                                         const std::vector<CallArg>& args) {
  const std::vector<CallParam> params = call_params(tile);
  if (args.size() != params.size())
    return fail(DiagKind::BadArgument, "`{}` was given {} arguments: expected {}", tile.name,
                args.size(), params.size());
  std::vector<KernelArg> out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (const auto* given = std::get_if<ArrayView>(&args[i])) {
      const ArrayView view = as_elements(params[i], *given);
      WW_TRY_VOID(check_view(params[i], view));
      WW_TRY_VOID(check_c_order(*given, fmt::format("`{}`", params[i].name)));
      out.push_back(WW_TRY(array_arg(params[i], view)));
    } else {
      out.push_back(WW_TRY(number_arg(params[i], args[i])));
    }
  }
  return out;
}

Result<RunReport> call_on_sim(const Build& build, const std::vector<CallArg>& args,
                              const SimCallOptions& options) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build.tile(), args));
  runtime::SimDevice device(WW_TRY(sim_options(options)));
  const DeviceRun run = WW_TRY(run_on(device, build, bound));
  const SourceText& source = build.compiled->source;
  RunReport report;
  report.path = source.name();
  report.kernel = build.tile().name;
  report.device_name = device.name();
  report.target = build.target;
  add_launch(report, run.launch);
  add_sim_report(report, device, run.launch, source);
  return report;
}

}  // namespace ww::driver
