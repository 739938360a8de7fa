// SPDX-License-Identifier: Apache-2.0
#include "driver/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/run/device_run.h"
#include "driver/run/findings.h"
#include "driver/sim/options.h"
#include "eval/eval.h"
#include "ir/param_use.h"
#include "ir/print/print.h"
#include "runtime/cuda_device.h"
#include "runtime/sim_device.h"

namespace ww::driver {
namespace {

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

Result<void> check_shape(const CallParam& param, std::span<const std::int64_t> shape) {
  if (shape.size() != param.shape.size())
    return fail(DiagKind::BadArgument,
                "`{}` was given an array of {} dimensions, [{}]: expected {}, [{}]", param.name,
                shape.size(), join(shape, ","), param.shape.size(), join(param.shape, ","));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (param.extents[d].value_or(shape[d]) != shape[d])
      return fail(DiagKind::BadArgument, "`{}` was given an array of shape [{}]: expected [{}]",
                  param.name, join(shape, ","), join(param.shape, ","));
  }
  return {};
}

Result<KernelArg> array_arg(const CallParam& param, const CallArg& arg) {
  if (!param.is_array)
    return fail(DiagKind::BadArgument, "`{}` was given an array: expected {}", param.name,
                expected_text(param));
  KernelArg out{.shape = {arg.shape.begin(), arg.shape.end()}};
  num::DType dtype = arg.dtype;
  // Hosts have no type of 4 or 6 bits: bytes will do, two elements to a byte or one
  // (driver/args/array.h).
  const bool is_narrow = param.dtype && num::bits_of(*param.dtype) < 8;
  if (is_narrow && dtype == num::DType::Uint8 && !out.shape.empty()) {
    dtype = *param.dtype;
    out.shape.back() *= 8 / num::storage_bits(dtype);
  }
  if (param.dtype && *param.dtype != dtype)
    return fail(DiagKind::BadArgument, "`{}` was given an array of {}: expected {}", param.name,
                num::name_of(dtype), num::name_of(*param.dtype));
  if (param.dtype) WW_TRY_VOID(check_shape(param, out.shape));
  if (arg.is_read_only && param.writes)
    return fail(DiagKind::BadArgument, "`{}` was given a read-only array: the kernel writes it",
                param.name);
  WW_TRY_VOID(check_c_order(arg, fmt::format("`{}`", param.name)));
  const std::span<std::byte> bytes{arg.data(),
                                   static_cast<std::size_t>(WW_TRY(byte_size(dtype, out.shape)))};
  if (param.writes)
    out.bytes = bytes;
  else
    out.source = bytes;
  return out;
}

// --- numbers -------------------------------------------------------------------------------------

Result<KernelArg> scalar_arg(const CallParam& param, const CallArg& arg) {
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

// The evaluator has memory of its own: one for each array.
Result<RunReport> call_on_eval(const Build& build, const std::vector<KernelArg>& args,
                               const CallOptions& options) {
  std::deque<std::vector<std::byte>> memory;
  std::vector<eval::Argument> arguments;
  for (const KernelArg& arg : args) {
    const auto contents = arg.contents();
    memory.emplace_back(contents.begin(), contents.end());
    if (arg.value.empty())
      arguments.emplace_back(eval::BufferArg{&memory.back(), arg.shape});
    else
      arguments.emplace_back(eval::ScalarArg{arg.bits()});
  }
  eval::Options limits;
  if (options.stop != nullptr) limits.keep_going = [&] { return !options.stop->load(); };
  const eval::Report run = WW_TRY(eval::run(build.tile(), std::move(arguments), limits));
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].bytes.empty()) std::ranges::copy(memory[i], args[i].bytes.begin());
  return eval_report(build.tile(), build.compiled->source, run);
}

}  // namespace

std::vector<CallParam> call_params(const ir::Function& tile) {
  const std::vector<ir::ParamUse> uses = ir::param_uses(tile);
  std::vector<CallParam> out;
  for (std::size_t i = 0; i < tile.params.size(); ++i) {
    const ir::Var& var = tile[tile.params[i].var];
    CallParam param{.name = ir::name_of_param(tile, i),
                    .variable = var.name,
                    .is_array = var.type.is_pointer(),
                    .writes = uses[i].writes};
    if (!param.is_array) param.dtype = var.type.dtype;
    if (const ir::BufferId id = ir::buffer_of_param(tile, i); id.valid()) {
      param.dtype = tile[id].dtype;
      for (const ir::ExprId extent : tile[id].shape) add_extent(tile, extent, param);
    }
    out.push_back(std::move(param));
  }
  return out;
}

Result<std::vector<KernelArg>> bind_call(const ir::Function& tile, CallArgs args) {
  const std::vector<CallParam> params = call_params(tile);
  if (args.size() != params.size())
    return fail(DiagKind::BadArgument, "`{}` was given {} arguments: expected {}", tile.name,
                args.size(), params.size());
  std::vector<KernelArg> out;
  for (std::size_t i = 0; i < args.size(); ++i)
    out.push_back(WW_TRY(args[i].is_array() ? array_arg(params[i], args[i])
                                            : scalar_arg(params[i], args[i])));
  return out;
}

Result<RunReport> call_kernel(const Build& build, CallArgs args, const CallOptions& options) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build.tile(), args));
  if (options.device == DeviceKind::Eval) return call_on_eval(build, bound, options);
  std::unique_ptr<runtime::Device> device;
  if (options.device == DeviceKind::Cuda)
    device =
        WW_TRY(runtime::CudaDevice::open_at(*options.driver, options.number, build.target->arch));
  else
    device = std::make_unique<runtime::SimDevice>(WW_TRY(sim_options(options)));
  const DeviceRun run = WW_TRY(run_on(*device, build, bound));
  return launch_report(build.tile().name, build.compiled->source, *build.target, *device,
                       run.launch);
}

// --- numbers -------------------------------------------------------------------------------------

namespace {

using Kind = CallArg::Kind;

double real_of(const CallArg& arg) { return std::bit_cast<double>(arg.bits); }

// Of all kinds but Float.
Wide integer_of(const CallArg& arg) {
  return arg.kind == Kind::Int ? Wide{std::bit_cast<std::int64_t>(arg.bits)} : Wide{arg.bits};
}

// Extents of 1 may have any stride; so may arrays without elements.
bool is_c_order(const CallArg& array) {
  if (array.strides.empty() || std::ranges::find(array.shape, 0) != array.shape.end()) return true;
  std::int64_t wanted = std::max(1, num::storage_bits(array.dtype) / 8);
  for (std::size_t d = array.shape.size(); d-- > 0;) {
    if (array.shape[d] != 1 && array.strides[d] != wanted) return false;
    wanted *= array.shape[d];
  }
  return true;
}

}  // namespace

std::string number_text(const CallArg& arg) {
  if (arg.is_array()) return "an array";
  if (arg.kind == Kind::Float) return fmt::format("{}", real_of(arg));
  return arg.kind == Kind::Bool ? fmt::format("{}", arg.bits != 0)
                                : fmt::format("{}", integer_of(arg));
}

Result<std::uint64_t> bits_of_number(const CallArg& arg, num::DType type, std::string_view title) {
  const bool is_real = arg.kind == Kind::Float;
  if (num::is_float(type))
    return bits_from(type, is_real ? real_of(arg) : static_cast<double>(integer_of(arg)));
  if (is_real)
    return fail(DiagKind::BadArgument, "{} was given {}, a float: expected a number of type {}",
                title, number_text(arg), num::name_of(type));
  const Wide integer = integer_of(arg);
  const IntRange range = int_range(type);
  if (integer < range.min || integer > range.max)
    return fail(DiagKind::BadArgument, "{} was given {}: expected a number of type {}", title,
                number_text(arg), num::name_of(type));
  return bits_from_int(type, static_cast<std::int64_t>(integer));
}

Result<void> check_c_order(const CallArg& array, std::string_view title) {
  if (is_c_order(array)) return {};
  return fail(
      diag(DiagKind::BadArgument,
           "{} was given an array of shape [{}] with strides of [{}] bytes: expected C order",
           title, join(array.shape, ","), join(array.strides, ","))
          .with_note("a contiguous copy can be passed"));
}

Result<sim::RunOptions> sim_options(const CallOptions& options) {
  sim::RunOptions out;
  if (!options.schedule.empty()) out.schedule = WW_TRY(parse_schedule(options.schedule));
  if (!options.checks.empty()) out.checks = WW_TRY(sim::parse_checks(options.checks));
  if (!options.limits.empty()) out.limits = WW_TRY(parse_limits(options.limits)).on(out.limits);
  out.stop = options.stop;
  return out;
}

}  // namespace ww::driver
