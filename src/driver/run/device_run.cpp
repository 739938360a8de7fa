// SPDX-License-Identifier: Apache-2.0
#include "driver/run/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail_at.h"
#include "base/wide.h"
#include "driver/build.h"
#include "driver/call/launch_description.h"
#include "driver/launch/launch.h"
#include "driver/sim/tensor_arg.h"
#include "eval/launch/host_values.h"
#include "eval/launch/launch.h"
#include "eval/launch/placement.h"
#include "ir/launch/launch.h"
#include "ir/param_use.h"
#include "ir/print/print.h"
#include "ir/tensor_map.h"
#include "layout/apply.h"
#include "runtime/cuda_device.h"

namespace ww::driver {
namespace {

using eval::HostValues;
using Bytes = std::vector<std::byte>;

// Bytes between the elements of a layout.
constexpr std::byte kGap{0xCB};
constexpr std::int64_t kMaxGrid = 0x7FFF'FFFF;

std::uint64_t get_bits(std::span<const std::byte> from, std::int64_t bit, int bits) {
  std::uint64_t value = 0;
  const std::byte* const at = from.data() + bit / 8;
  std::memcpy(&value, at, static_cast<std::size_t>(std::max(1, bits / 8)));
  return bits < 8 ? (value >> (bit % 8)) & ((std::uint64_t{1} << bits) - 1) : value;
}

void put_bits(std::span<std::byte> to, std::int64_t bit, int bits, std::uint64_t value) {
  std::byte* const at = to.data() + bit / 8;
  if (bits >= 8) {
    std::memcpy(at, &value, static_cast<std::size_t>(bits / 8));
    return;
  }
  const auto mask = static_cast<std::byte>(((1U << bits) - 1) << (bit % 8));
  *at = (*at & ~mask) | (static_cast<std::byte>(value << (bit % 8)) & mask);
}

/// Where the elements of a parameter's array lie in its memory.
struct ArrayPlace {
  int bits = 8;           // of an element
  std::int64_t size = 0;  // elements
  std::size_t bytes = 0;  // of the memory
  std::int64_t offset_bits = 0;
  eval::Placement placement;

  [[nodiscard]] std::int64_t bit_of(std::int64_t flat, std::size_t copy = 0) const {
    return placement.spot(flat, copy).memory * bits + offset_bits;
  }
  [[nodiscard]] bool is_plain() const { return placement.is_plain() && offset_bits == 0; }

  void scatter(std::span<const std::byte> array, std::span<std::byte> memory) const {
    if (is_plain()) {
      std::copy(array.begin(), array.end(), memory.begin());
      return;
    }
    for (std::int64_t flat = 0; flat < size; ++flat)
      for (std::size_t copy = 0; copy < placement.copies(); ++copy)
        put_bits(memory, bit_of(flat, copy), bits, get_bits(array, flat * bits, bits));
  }
  void gather(std::span<const std::byte> memory, std::span<std::byte> array) const {
    if (is_plain()) {
      std::copy_n(memory.begin(), array.size(), array.begin());
      return;
    }
    for (std::int64_t flat = 0; flat < size; ++flat)
      put_bits(array, flat * bits, bits, get_bits(memory, bit_of(flat), bits));
  }
};

// --- tensor maps ----------------------------------------------------------------------------------

using sim::Promotion;
using sim::TensorFill;
using sim::TensorSwizzle;

TensorSwizzle swizzle_of(std::int64_t bytes) {
  return bytes == 32    ? TensorSwizzle::B32
         : bytes == 64  ? TensorSwizzle::B64
         : bytes == 128 ? TensorSwizzle::B128
                        : TensorSwizzle::None;
}

Promotion promotion_of(std::int64_t bytes) {
  return bytes == 64    ? Promotion::B64
         : bytes == 128 ? Promotion::B128
         : bytes == 256 ? Promotion::B256
                        : Promotion::None;
}

TensorFill fill_of(ir::MapFill fill) {
  return fill == ir::MapFill::None  ? TensorFill::None
         : fill == ir::MapFill::Nan ? TensorFill::Nan
                                    : TensorFill::Zeros;
}

class MapReader {
 public:
  MapReader(const ir::Function& f, const HostValues& values) : f_(f), values_(values) {}

  Result<runtime::MapArgument> read(const ir::BoundMap& bound) const {
    const auto base = ir::map_base(f_, bound.map);
    const num::DType dtype = ir::map_dtype(f_, bound.map);
    const auto type = tensor_type_for(dtype);
    const std::string& name = f_[bound.var].name;
    if (!base || !type)
      return fail(DiagKind::BadLaunch, "the tensor map `{}` is of {}", name,
                  base ? fmt::format("elements of {}", num::name_of(dtype))
                       : "an array that is not that of a parameter");
    runtime::MapArgument out{.array = base->param, .offset = base->bytes, .name = name};
    out.array_name = ir::name_of_param(f_, base->param);
    out.map.type = *type;
    out.map.rank = static_cast<unsigned>(bound.map.rank());
    const std::int64_t bytes = num::storage_bits(dtype) / 8;
    for (std::size_t d = 0; d < bound.map.rank(); ++d) {
      out.map.dims[d] = WW_TRY(number(bound.map.dims[d], name, 1));
      out.map.box[d] = static_cast<std::uint32_t>(bound.map.box[d]);
      if (d > 0) out.map.strides[d - 1] = WW_TRY(number(bound.map.strides[d - 1], name, bytes));
    }
    out.map.swizzle = swizzle_of(bound.map.swizzle);
    out.map.promotion = promotion_of(bound.map.promotion);
    out.map.fill = fill_of(bound.map.fill);
    return out;
  }

 private:
  [[nodiscard]] Result<std::uint64_t> number(ir::ExprId expr, const std::string& name,
                                             std::int64_t scale) const {
    const auto value = eval::host_value(f_, values_, expr);
    if (!value)
      return fail(DiagKind::BadLaunch, "`{}` of the tensor map `{}` is not known at the launch",
                  ir::print(f_, expr), name);
    return static_cast<std::uint64_t>(eval::as_int(f_[expr].type.dtype, *value) * scale);
  }

  const ir::Function& f_;
  const HostValues& values_;
};

}  // namespace

Result<std::vector<runtime::MapArgument>> launch_maps(const ir::Function& lowered,
                                                      const eval::HostValues& values) {
  std::vector<runtime::MapArgument> out;
  const MapReader reader(lowered, values);
  for (const ir::BoundMap& bound : ir::tensor_maps(lowered)) {
    out.push_back(WW_TRY(reader.read(bound)));
    out.back().argument = lowered.params.size() + out.size() - 1;
  }
  return out;
}

namespace {

// --- the host's part ------------------------------------------------------------------------------

/// Everything about a launch that needs no device. The functions below fill it in, in their order.
struct HostPart {
  const ir::Function& tile;
  const ir::Function& lowered;
  std::span<const KernelArg> args;
  HostValues values{};          // of the tile program's variables
  HostValues lowered_values{};  // of the lowered one's
  std::vector<ArrayPlace> places{};
  runtime::Launch launch{};

  [[nodiscard]] bool is_array(std::size_t param) const {
    return tile[tile.params[param].var].type.is_pointer();
  }
  [[nodiscard]] const std::string& name_of(std::size_t param) const {
    return ir::name_of_param(tile, param);
  }
};

// Arrays for pointers, and what an array is for; scalars of the parameter's type. The bits of a
// narrow float may be given as an integer, because C++ has no such type.
Result<void> check_kinds(const HostPart& host) {
  const std::vector<ir::ParamUse> uses = ir::param_uses(host.tile);
  for (std::size_t i = 0; i < host.args.size(); ++i) {
    const KernelArg& arg = host.args[i];
    if (host.is_array(i)) {
      if (arg.size != 0)
        return fail(DiagKind::BadArgument, "`{}` is an array, and was given a scalar",
                    host.name_of(i));
      if (arg.results.empty() && !arg.contents.empty() && uses[i].stores)
        return fail(diag(DiagKind::BadArgument, "the kernel writes `{}`, which is an `input`",
                         host.name_of(i))
                        .with_note("`inout` gives it an array that may change, `output` one "
                                   "without contents"));
      continue;
    }
    const num::DType type = host.tile[host.tile.params[i].var].type.dtype;
    const auto bytes = static_cast<std::size_t>(std::max(1, num::bits_of(type) / 8));
    const bool is_kind = arg.is_float == num::is_float(type) || (bytes < 4 && !arg.is_float);
    if (arg.size != 0 && (arg.size != bytes || !is_kind))
      return fail(DiagKind::BadArgument, "`{}` is {}, and was given {} of {} bytes",
                  host.name_of(i), num::name_of(type), arg.is_float ? "a float" : "an integer",
                  arg.size);
  }
  return {};
}

// The evaluator's own binding: scalars, extents that arrays tell, sizes.
Result<void> bind(HostPart& host) {
  if (host.args.size() != host.tile.params.size())
    return fail(DiagKind::BadArgument, "`{}` was given {} arguments: it has {} parameters",
                host.tile.name, host.args.size(), host.tile.params.size());
  WW_TRY_VOID(check_kinds(host));
  std::vector<eval::Argument> arguments;
  for (std::size_t i = 0; i < host.args.size(); ++i) {
    if (host.is_array(i)) {
      arguments.emplace_back(
          eval::BufferArg{.shape = host.args[i].shape, .size = host.args[i].contents.size()});
    } else {
      arguments.emplace_back(eval::ScalarArg{host.args[i].bits});
    }
  }
  host.values = WW_TRY(eval::bind_arguments(host.tile, arguments));
  return {};
}

Result<std::int64_t> elements_of(const HostPart& host, const ir::Buffer& buffer) {
  std::int64_t size = 1;
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = eval::host_value(host.tile, host.values, extent);
    const auto next = value ? checked_mul(size, eval::as_int(host.tile[extent].type.dtype, *value))
                            : std::nullopt;
    if (!next)
      return fail(DiagKind::BadArgument, "the shape of `{}` is not known before the launch",
                  buffer.name);
    size = *next;
  }
  return size;
}

std::int64_t offset_of(const HostPart& host, ir::ExprId expr, int bits) {
  if (!expr.valid()) return 0;
  const auto value = eval::host_value(host.tile, host.values, expr);
  return value ? eval::as_int(host.tile[expr].type.dtype, *value) * bits : 0;
}

Result<ArrayPlace> place(const HostPart& host, std::size_t param) {
  ArrayPlace out;
  if (!host.is_array(param)) return out;
  const ir::BufferId id = ir::buffer_of_param(host.tile, param);
  if (!id.valid()) {  // a pointer that nothing is matched to: bytes as they are
    out.size = std::ssize(host.args[param].contents);
    out.bytes = host.args[param].contents.size();
    return out;
  }
  const ir::Buffer& buffer = host.tile[id];
  out.bits = num::storage_bits(buffer.dtype);
  out.size = WW_TRY(elements_of(host, buffer));
  out.offset_bits =
      offset_of(host, buffer.elem_offset, out.bits) + offset_of(host, buffer.byte_offset, 8);
  std::int64_t span = out.size;
  if (buffer.layout_kind == ir::LayoutKind::Explicit) {
    out.placement = WW_TRY(eval::Placement::make(*buffer.layout));
    span = WW_TRY(layout::span_on(*buffer.layout, layout::axes::m()));
  }
  out.bytes = static_cast<std::size_t>(
      (std::max<std::int64_t>(span, 1) * out.bits + out.offset_bits + 7) / 8);
  return out;
}

// Parameters of the lowered program: those of the tile program, then extents by their names.
Result<void> bind_lowered(HostPart& host) {
  host.lowered_values.resize(host.lowered.var_count());
  for (std::size_t i = 0; i < host.lowered.params.size(); ++i) {
    const ir::VarId id = host.lowered.params[i].var;
    const ir::Var& var = host.lowered[id];
    if (var.type.is_pointer()) {
      host.launch.arguments.push_back({});
      continue;
    }
    const ir::VarId extent = ir::find_extent(host.tile, var.name);
    const auto value = i < host.args.size() ? std::optional(host.args[i].bits)
                       : extent.valid()     ? host.values[extent.index]
                                            : std::nullopt;
    if (!value)
      return fail(DiagKind::BadArgument, "`{}` is not known: no array has an extent for it",
                  var.name);
    host.lowered_values[id.index] = value;
    const auto bytes = static_cast<std::uint32_t>(std::max(1, num::bits_of(var.type.dtype) / 8));
    host.launch.arguments.push_back({.bits = *value, .bytes = bytes});
  }
  return {};
}

Result<void> find_launch(HostPart& host, const Build& build) {
  const LaunchDescription described = WW_TRY(describe_launch(build));
  for (const ir::StmtId id : described.lets)
    host.lowered_values[host.lowered[id].var.index] =
        eval::host_value(host.lowered, host.lowered_values, host.lowered[id].expr);
  const ir::LaunchShape& shape = described.shape;
  for (std::size_t d = 0; d < 3; ++d) {
    std::int64_t extent = shape.grid[d].value;
    if (!shape.grid[d].is_constant()) {
      const ir::ExprId expr = shape.grid[d].expr;
      const auto value = eval::host_value(host.lowered, host.lowered_values, expr);
      if (!value)
        return fail_at(host.lowered[expr].span, DiagKind::BadLaunch,
                       "the grid's extent is not known before the launch");
      extent = eval::as_int(host.lowered[expr].type.dtype, *value);
    }
    if (extent < 1 || extent > kMaxGrid)
      return fail(DiagKind::BadLaunch, "the grid has an extent of {}: expected 1 to {}", extent,
                  kMaxGrid);
    host.launch.grid[d] = static_cast<std::uint32_t>(extent);
    host.launch.block[d] = static_cast<std::uint32_t>(shape.block[d]);
  }
  if (shape.has_clusters)
    host.launch.cluster = runtime::Dims{static_cast<std::uint32_t>(shape.cluster[0]),
                                        static_cast<std::uint32_t>(shape.cluster[1]),
                                        static_cast<std::uint32_t>(shape.cluster[2])};
  host.launch.dynamic_shared = described.dynamic_shared;
  host.launch.is_cooperative = shape.is_cooperative;
  host.launch.is_programmatic = shape.is_programmatic;
  return {};
}

// They are made when the addresses are known; the launch in place has them as zeros until then.
Result<void> add_maps(HostPart& host) {
  host.launch.maps = WW_TRY(launch_maps(host.lowered, host.lowered_values));
  const std::vector<std::byte> blank(static_cast<std::size_t>(ir::kMapBytes));
  for (std::size_t i = 0; i < host.launch.maps.size(); ++i)
    host.launch.arguments.push_back(
        {.bytes = static_cast<std::uint32_t>(ir::kMapBytes), .block = blank});
  return {};
}

Result<HostPart> host_part(const Build& build, std::span<const KernelArg> args) {
  HostPart out{build.tile(), *build.lowered, args};
  WW_TRY_VOID(bind(out));
  for (std::size_t i = 0; i < args.size(); ++i) out.places.push_back(WW_TRY(place(out, i)));
  WW_TRY_VOID(bind_lowered(out));
  WW_TRY_VOID(find_launch(out, build));
  WW_TRY_VOID(add_maps(out));
  return out;
}

// --- the device's part ---------------------------------------------------------------------------

class Runner {
 public:
  Runner(runtime::Device& device, const HostPart& host, std::span<const KernelArg> args)
      : device_(device), host_(host), args_(args), launch_(host.launch) {
    out_.written.resize(args.size());
    bytes_.resize(args.size());
    undefined_.resize(args.size());
  }

  Result<DeviceRun> go(const runtime::Image& image, const DeviceRunOptions& options) {
    WW_TRY_VOID(device_.load(image));
    for (std::size_t i = 0; i < args_.size(); ++i)
      if (host_.is_array(i)) WW_TRY_VOID(place(i));
    WW_TRY_VOID(run_launch(device_, launch_, memory_));
    for (std::size_t i = 0; i < args_.size(); ++i)
      if (host_.is_array(i) && !is_direct(i)) collect(i);
    if (options.timed_launches > 0)
      out_.timing = WW_TRY(device_.time(launch_, options.timed_launches));
    out_.launch = launch_;
    return std::move(out_);
  }

 private:
  // An array that lies in the device's memory as it does here goes there and back without a copy in
  // between.
  [[nodiscard]] bool is_direct(std::size_t param) const {
    const ArrayPlace& place = host_.places[param];
    return !args_[param].is_output && place.is_plain() &&
           place.bytes == args_[param].contents.size();
  }
  Result<void> place(std::size_t param) {
    const ArrayPlace& place = host_.places[param];
    DeviceMemory& memory = memory_.emplace_back(DeviceMemory{.name = host_.name_of(param)});
    memory.address = WW_TRY(device_.allocate(place.bytes, memory.name));
    launch_.arguments[param].bits = memory.address;
    if (is_direct(param)) {
      memory.contents = args_[param].contents;
      memory.results = args_[param].results;
      return {};
    }
    bytes_[param].assign(place.bytes, kGap);
    if (args_[param].is_output)
      undefined_[param].assign(place.bytes, 1);
    else
      place.scatter(args_[param].contents, bytes_[param]);
    memory.contents = memory.results = bytes_[param];
    memory.undefined = undefined_[param];
    return {};
  }
  void collect(std::size_t param) {
    const ArrayPlace& place = host_.places[param];
    if (!args_[param].results.empty()) place.gather(bytes_[param], args_[param].results);
    if (!args_[param].is_output) return;
    if (std::ranges::count(undefined_[param], 0) == std::ssize(undefined_[param]))
      return out_.written[param].assign(static_cast<std::size_t>(place.size), true);
    for (std::int64_t flat = 0; flat < place.size; ++flat) {
      const auto at = undefined_[param].begin() + place.bit_of(flat) / 8;
      out_.written[param].push_back(std::all_of(at, at + std::max(1, place.bits / 8),
                                                [](std::uint8_t each) { return each == 0; }));
    }
  }

  runtime::Device& device_;
  const HostPart& host_;
  std::span<const KernelArg> args_;
  runtime::Launch launch_;
  std::vector<DeviceMemory> memory_;                  // of the arrays, in their order
  std::vector<Bytes> bytes_;                          // by parameter, of those that are not direct
  std::vector<std::vector<std::uint8_t>> undefined_;  // by parameter, of outputs
  DeviceRun out_;
};

}  // namespace

std::vector<KernelArg> kernel_args(LaunchValues& values) {
  std::vector<KernelArg> out;
  for (LaunchValue& each : values.all) {
    if (each.is_buffer)
      out.push_back({.contents = std::as_bytes(std::span(each.array.data)),
                     .results = each.array.data,
                     .shape = each.array.shape,
                     .is_output = each.is_output});
    else
      out.push_back({.bits = each.array.bits(0)});
  }
  return out;
}

std::vector<eval::Argument> eval_arguments(LaunchValues& values) {
  std::vector<eval::Argument> out;
  for (LaunchValue& each : values.all) {
    if (each.is_buffer)
      out.emplace_back(eval::BufferArg{&each.array.data, each.array.shape, !each.is_output});
    else
      out.emplace_back(eval::ScalarArg{each.array.bits(0)});
  }
  return out;
}

Result<DeviceRun> run_on(runtime::Device& device, const Build& build,
                         std::span<const KernelArg> args, const DeviceRunOptions& options) {
  const HostPart host = WW_TRY(host_part(build, args));
  return Runner(device, host, args).go({.bytes = build.ptx, .kernel = build.entry}, options);
}

Result<runtime::Launch> launch_in_place(const Build& build, std::span<const KernelArg> args) {
  const HostPart host = WW_TRY(host_part(build, args));
  for (std::size_t i = 0; i < args.size(); ++i)
    if (host.is_array(i) && !host.places[i].is_plain())
      return fail(DiagKind::BadArgument,
                  "`{}` has a layout of its own in memory: expected C order, to use an array where "
                  "it lies",
                  host.name_of(i));
  return host.launch;
}

Result<HostSide> host_side(const Build& build, std::span<const KernelArg> args) {
  const HostPart host = WW_TRY(host_part(build, args));
  HostSide out{.memory = std::vector<Bytes>(args.size()), .launch = host.launch};
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!host.is_array(i)) continue;
    out.memory[i].assign(host.places[i].bytes, kGap);
    host.places[i].scatter(args[i].contents, out.memory[i]);
  }
  return out;
}

// --- what `--device` names -----------------------------------------------------------------------

std::span<const DeviceRow> device_rows() {
  static constexpr DeviceRow kRows[] = {
      {DeviceKind::Auto, "auto",
       "a GPU that can run code for the target, otherwise the virtual GPU"},
      {DeviceKind::Sim, "sim", "the virtual GPU, with all checks"},
      {DeviceKind::Cuda, "cuda", "a GPU"},
      {DeviceKind::Eval, "eval", "the reference evaluator, which does not lower the program"}};
  return kRows;
}

std::string_view name_of(DeviceKind kind) {
  return device_rows()[static_cast<std::size_t>(kind)].name;
}

std::optional<DeviceKind> parse_device(std::string_view name) {
  for (const DeviceRow& row : device_rows())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

// --- the choice ----------------------------------------------------------------------------------

namespace {

// Without "; the target is sm_90a", which was only asked about.
std::string first_clause(const Diag& problem) {
  return problem.text.substr(0, problem.text.find(';'));
}

DeviceChoice virtual_gpu(const ir::Function& tile, std::optional<target::Target> given,
                         sim::RunOptions options) {
  auto device = std::make_unique<runtime::SimDevice>(std::move(options));
  DeviceChoice out{.sim = device.get(), .target = given ? *given : default_target(tile)};
  if (const target::Target usual = usual_target(tile); !given && out.target.arch != usual.arch)
    if (const auto needs = lacking(tile, usual))
      out.remark = fmt::format("compiled for {}, the smallest target that can: {}",
                               target::info(out.target.arch).name, first_clause(*needs));
  out.device = std::move(device);
  return out;
}

// Without a target of its own, a program needs what its default target has that other GPUs lack.
Result<DeviceChoice> real_gpu(const ir::Function& tile, std::optional<target::Target> given,
                              const runtime::CudaCalls& calls) {
  const target::Target fallback = default_target(tile);
  const bool needs_tensor_memory = !given && fallback.has(target::Feature::TensorMemory);
  std::optional<target::Arch> arch;
  if (given) arch = given->arch;
  auto device = WW_TRY(runtime::CudaDevice::open(calls, arch));
  const target::Target native = *device->native_target();
  if (needs_tensor_memory && !native.has(target::Feature::TensorMemory))
    return fail(DiagKind::NoDevice, "the kernel uses tensor memory, and {} has none",
                device->name());
  if (!given)
    if (const auto needs = lacking(tile, native))
      return fail(DiagKind::NoDevice, "the kernel needs {}, more than {} has: {}",
                  target::info(fallback.arch).name, device->name(), first_clause(*needs));
  DeviceChoice out{.target = native};
  if (given) out.target = {.arch = given->arch, .ptx = std::min(given->ptx, native.ptx)};
  out.device = std::move(device);
  return out;
}

}  // namespace

Result<DeviceChoice> choose_device(DeviceKind wish, const ir::Function& tile,
                                   std::optional<target::Target> given, sim::RunOptions options,
                                   const Result<runtime::CudaCalls>& calls) {
  if (wish == DeviceKind::Sim) return virtual_gpu(tile, given, std::move(options));
  if (!calls) {
    if (wish == DeviceKind::Cuda)
      return fail(Diag(calls.error()).with_note("`--device sim` needs no GPU"));
    return virtual_gpu(tile, given, std::move(options));
  }
  auto real = real_gpu(tile, given, *calls);
  if (real || wish == DeviceKind::Cuda) return real;
  DeviceChoice out = virtual_gpu(tile, given, std::move(options));
  out.remark = real.error().text;
  return out;
}

}  // namespace ww::driver
