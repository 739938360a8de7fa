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
#include "driver/call/launch_description.h"
#include "driver/run/device_run.h"
#include "driver/run/report.h"
#include "driver/sim/options.h"
#include "driver/timeline/names.h"
#include "eval/eval.h"
#include "ir/function.h"
#include "ir/param_use.h"
#include "ir/print/print.h"
#include "ir/visit.h"
#include "json/json.h"
#include "runtime/cuda_device.h"
#include "runtime/sim_device.h"
#include "script/compile.h"
#include "target/target.h"

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
  out.contents = bytes;
  if (param.writes) out.results = bytes;
  return out;
}

// --- numbers -------------------------------------------------------------------------------------

Result<KernelArg> scalar_arg(const CallParam& param, const CallArg& arg) {
  if (param.is_array)
    return fail(DiagKind::BadArgument, "`{}` was given {}: expected {}", param.name,
                number_text(arg), expected_text(param));
  const std::uint64_t bits =
      WW_TRY(bits_of_number(arg, *param.dtype, fmt::format("`{}`", param.name)));
  return KernelArg{.bits = bits,
                   .size = static_cast<std::uint32_t>(std::max(1, num::bits_of(*param.dtype) / 8)),
                   .is_float = num::is_float(*param.dtype)};
}

// The evaluator has memory of its own: one for each array.
Result<RunReport> call_on_eval(const Build& build, const std::vector<KernelArg>& args,
                               const CallOptions& options) {
  std::deque<std::vector<std::byte>> memory;
  std::vector<eval::Argument> arguments;
  for (const KernelArg& arg : args) {
    memory.emplace_back(arg.contents.begin(), arg.contents.end());
    if (arg.size == 0)
      arguments.emplace_back(eval::BufferArg{&memory.back(), arg.shape});
    else
      arguments.emplace_back(eval::ScalarArg{arg.bits});
  }
  eval::Options limits;
  if (options.stop != nullptr) limits.keep_going = [&] { return !options.stop->load(); };
  const eval::Report run = WW_TRY(eval::run(build.tile(), std::move(arguments), limits));
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!args[i].results.empty()) std::ranges::copy(memory[i], args[i].results.begin());
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
  const auto run_on_it = [&](runtime::Device& device) -> Result<RunReport> {
    const DeviceRun run = WW_TRY(run_on(device, build, bound));
    return launch_report(build.tile().name, build.compiled->source, *build.target, device,
                         run.launch);
  };
  if (options.device == DeviceKind::Cuda)
    return run_on_it(
        *WW_TRY(runtime::CudaDevice::open_at(*options.driver, options.number, build.target->arch)));
  runtime::SimDevice device(WW_TRY(sim_options(options)));
  device.set_names(launch_names(build, device));
  RunReport report = WW_TRY(run_on_it(device));
  if (options.counts_work) report.work = work_of(*device.program(), *device.report());
  return report;
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
  out.count = options.counts_work;
  return out;
}

// --- calls on a GPU of the program's own ---------------------------------------------------------

namespace {

// Further ones are computed each time.
constexpr std::size_t kMaxPlans = 64;

// Marks the parameters that an expression uses.
void mark_params(const ir::Function& f, ir::ExprId id, std::vector<bool>& marked) {
  if (!id.valid()) return;
  const ir::Expr& expr = f[id];
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (expr.op == ir::ExprOp::Var && f.params[i].var == expr.var) marked[i] = true;
  for (const ir::ExprId arg : expr.args) mark_params(f, arg, marked);
}

// Per parameter of the source: whether the grid, or the shape of an array, depends on it. Other
// numbers are for the kernel alone.
std::vector<bool> shaping_params(const Build& build) {
  const ir::Function& tile = build.tile();
  const ir::Function& lowered = *build.lowered;
  std::vector<bool> out(tile.params.size());
  for (std::size_t i = 0; i < tile.params.size(); ++i)
    if (const ir::BufferId id = ir::buffer_of_param(tile, i); id.valid())
      ir::for_each_root(tile[id], [&](ir::ExprId root) { mark_params(tile, root, out); });
  for (const ir::StmtId id : tile.host) mark_params(tile, tile[id].expr, out);
  const auto launch = describe_launch(build);
  if (!launch) return std::vector<bool>(out.size(), true);
  for (const ir::StmtId id : launch->lets) mark_params(lowered, lowered[id].expr, out);
  for (const ir::Extent& extent : launch->shape.grid) mark_params(lowered, extent.expr, out);
  return out;
}

}  // namespace

Result<runtime::CudaDevice*> GpuKernel::device(const runtime::CudaCalls& calls, int number) {
  for (const Loaded& each : loaded_)
    if (each.number == number) return each.device.get();
  auto device = WW_TRY(runtime::CudaDevice::open_at(calls, number, build_->target->arch));
  WW_TRY_VOID(device->load({.bytes = build_->ptx, .kernel = build_->entry}));
  return loaded_.emplace_back(Loaded{number, std::move(device)}).device.get();
}

Result<runtime::CudaLaunch> GpuKernel::work_out(const runtime::CudaCalls& calls, int number,
                                                CallArgs args) {
  const std::vector<KernelArg> bound = WW_TRY(bind_call(build_->tile(), args));
  const runtime::Launch launch = WW_TRY(launch_in_place(*build_, bound));
  runtime::CudaDevice* const on = WW_TRY(device(calls, number));
  return on->prepare(launch);
}

// Everything about a call but the addresses, and numbers that are for the kernel alone.
void GpuKernel::write_key(int number, CallArgs args) {
  if (!is_shaping_) is_shaping_ = shaping_params(*build_);
  key_.clear();
  key_.push_back(number);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const CallArg& arg = args[i];
    if (!arg.is_array()) {
      key_.push_back(static_cast<std::int64_t>(arg.kind));
      if (i >= is_shaping_->size() || (*is_shaping_)[i])
        key_.push_back(std::bit_cast<std::int64_t>(arg.bits));
      continue;
    }
    key_.push_back(static_cast<std::int64_t>(arg.kind) | static_cast<std::int64_t>(arg.dtype) << 8 |
                   static_cast<std::int64_t>(arg.strides.empty()) << 16 |
                   static_cast<std::int64_t>(arg.shape.size()) << 32);
    key_.insert(key_.end(), arg.shape.begin(), arg.shape.end());
    key_.insert(key_.end(), arg.strides.begin(), arg.strides.end());
  }
}

// The plan fits: there is an argument for each parameter, and it is of its kind.
Result<void> GpuKernel::fill_in(runtime::CudaLaunch& launch, CallArgs args) const {
  const ir::Function& tile = build_->tile();
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].is_array()) {
      WW_TRY_VOID(launch.set_address(i, args[i].bits));
    } else if (!(*is_shaping_)[i]) {
      const ir::Var& var = tile[tile.params[i].var];
      launch.set_bits(
          i, WW_TRY(bits_of_number(args[i], var.type.dtype, fmt::format("`{}`", var.name))));
    }
  }
  return {};
}

GpuKernel::Plan* GpuKernel::find_plan() {
  const auto found = std::ranges::find(plans_, key_, &Plan::key);
  if (found == plans_.end()) return nullptr;
  if (found != plans_.begin()) std::rotate(plans_.begin(), found, found + 1);
  return &plans_.front();
}

Result<void> GpuKernel::call(const runtime::CudaCalls& calls, int number, void* stream,
                             CallArgs args) {
  const std::lock_guard lock(mutex_);
  write_key(number, args);
  Plan* plan = find_plan();
  if (plan == nullptr) {
    runtime::CudaLaunch launch = WW_TRY(work_out(calls, number, args));
    if (plans_.size() == kMaxPlans) plans_.pop_back();
    plan = &*plans_.insert(plans_.begin(), Plan{key_, std::move(launch)});
  }
  WW_TRY_VOID(fill_in(plan->launch, args));
  return plan->launch.enqueue(stream);
}

Result<GpuKernel::Bound> GpuKernel::bind(const runtime::CudaCalls& calls, int number,
                                         CallArgs args) {
  const std::lock_guard lock(mutex_);
  if (!is_shaping_) is_shaping_ = shaping_params(*build_);
  Bound out(WW_TRY(work_out(calls, number, args)));
  WW_TRY_VOID(fill_in(out.launch_, args));
  return out;
}

Result<void> GpuKernel::wait(const runtime::CudaCalls& calls, int number) {
  runtime::CudaDevice* on = nullptr;
  {
    const std::lock_guard lock(mutex_);
    on = WW_TRY(device(calls, number));
  }
  return on->wait();
}

// --- builds as text ------------------------------------------------------------------------------

namespace {

constexpr std::string_view kSchema = "warpwright/saved/1";

// The programs print so that they compile to themselves; the names of files in them are not shown.
Result<ir::Function> read_program(const std::string& text, const target::Target& target,
                                  script::Dialect dialect) {
  script::Compiled compiled =
      script::compile(SourceText("saved", text), {.dialect = dialect, .target = target});
  if (compiled.function) return *std::move(compiled.function);
  return fail(Diag{.kind = DiagKind::BadArgument,
                   .text = compiled.errors.empty() ? "a saved program without a kernel"
                                                   : compiled.errors.front().text,
                   .span = {},
                   .notes = {}});
}

Result<std::string> member(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  if (found == nullptr || found->type() != JsonType::String)
    return fail(DiagKind::BadArgument, "a saved build without `{}`", name);
  return found->get<std::string>();
}

}  // namespace

std::string save_build(const Build& build) {
  const Json out = {{"schema", kSchema},
                    {"target", target::info(build.target->arch).name},
                    {"dialect", script::name_of(build.compiled->dialect)},
                    {"entry", build.entry},
                    {"tile", ir::print(build.tile())},
                    {"lowered", ir::print(*build.lowered)},
                    {"ptx", build.ptx}};
  return out.dump();
}

Result<Build> load_build(std::string_view saved, const SourceText& source) {
  const Json json = Json::parse(saved).value_or(nullptr);
  if (json.type() != JsonType::Object)
    return fail(DiagKind::Syntax, "a saved build is a JSON object");
  if (WW_TRY(member(json, "schema")) != kSchema)
    return fail(DiagKind::BadArgument, "a saved build of schema `{}`: expected `{}`",
                WW_TRY(member(json, "schema")), kSchema);
  Build out;
  const std::string arch = WW_TRY(member(json, "target"));
  if (!read_target(arch, out.target, out.errors) || !out.target)
    return fail(DiagKind::BadArgument, "a saved build for `{}`", arch);
  const auto dialect =
      WW_TRY(member(json, "dialect")) == "d1" ? script::Dialect::D1 : script::Dialect::D2;
  out.compiled =
      script::Compiled{std::nullopt, {}, {}, dialect, source, SourceText("--kernel", "")};
  out.compiled->function = WW_TRY(read_program(WW_TRY(member(json, "tile")), *out.target, dialect));
  out.lowered = WW_TRY(read_program(WW_TRY(member(json, "lowered")), *out.target, dialect));
  out.ptx = WW_TRY(member(json, "ptx"));
  out.entry = WW_TRY(member(json, "entry"));
  out.phase = Phase::Ptx;
  out.is_checked = true;
  return out;
}

}  // namespace ww::driver
