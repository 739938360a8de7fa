// SPDX-License-Identifier: Apache-2.0
// The kernel: its head comment, signature and body, with the functions it needs before it.
#include "emit/cuda/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/join.h"
#include "base/printable.h"
#include "base/result.h"
#include "emit/cuda/names.h"
#include "emit/cuda/stmts.h"
#include "emit/cuda/types.h"
#include "ir/launch/occupancy.h"
#include "ir/tensor_map.h"
#include "ir/unroll/unroll.h"
#include "ir/visit.h"

namespace ww::emit::cuda {

// --- host ----------------------------------------------------------------------------------------
//
// The host program around a kernel: it puts the arguments on the device, launches the kernel and
// compares what comes back.

namespace {

constexpr std::int64_t kAllocated = 256;  // cudaMalloc gives multiples of it
constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr std::int64_t kPlainDynamicBytes = std::int64_t{48} << 10;  // more must be asked for

constexpr std::string_view kSupport = R"(
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(status));
  std::exit(1);
}

[[maybe_unused]] double number_of(double x) { return x; }
{0}
// 0 when the elements have the same bits, are both NaN, or differ by no more than the tolerances.
template <typename T>
int compare(const char* name, const void* found, const void* expected, size_t count, double rtol,
            double atol) {
  for (size_t i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, static_cast<const char*>(found) + i * sizeof(T), sizeof(T));
    std::memcpy(&y, static_cast<const char*>(expected) + i * sizeof(T), sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
    const double a = number_of(x), b = number_of(y);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (rtol > 0 && std::fabs(a - b) <= rtol * std::fabs(b) + atol) continue;
    std::printf("%s[%zu] is %.17g, expected %.17g\n", name, i, a, b);
    return 1;
  }
  std::printf("%s: %zu elements equal\n", name, count);
  return 0;
}

}  // namespace
)";

// 6-bit elements take a byte, 4-bit ones half of it.
std::int64_t argument_bytes(const HostArgument& argument) {
  const int bits =
      is_packed(argument.dtype) ? num::bits_of(argument.dtype) : cuda::bytes_of(argument.dtype) * 8;
  return (argument.elements * bits + 7) / 8;
}

std::string array_text(const std::string& name, const std::vector<std::byte>& bytes) {
  std::string out = fmt::format("const unsigned char {}[] = {{", name);
  constexpr std::size_t kPerLine = 20;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    out += fmt::format("{}0x{:02x},", i % kPerLine == 0 ? "\n    " : " ",
                       std::to_integer<unsigned>(bytes[i]));
  return out + "\n};\n";
}

// How a number is read from the types that are no number of C++.
std::string readers(const HostProgram& host) {
  std::string out;
  const auto has = [&](DType dtype) {
    for (const HostArgument& argument : host.arguments)
      if (argument.dtype == dtype && !argument.expected.empty()) return true;
    return false;
  };
  if (has(DType::Float16)) out += "double number_of(half x) { return __half2float(x); }\n";
  if (has(DType::Bfloat16))
    out += "double number_of(nv_bfloat16 x) { return __bfloat162float(x); }\n";
  for (const DType dtype : {DType::Float8E4M3fn, DType::Float8E5M2})
    if (has(dtype))
      out += fmt::format("double number_of({} x) {{ return float(x); }}\n", value_type(dtype));
  return out;
}

Result<void> check(const ir::Function& f, const HostProgram& host) {
  if (host.arguments.size() != f.params.size())
    return fail(DiagKind::BadArgument, "{} arguments for the {} parameters of `{}`",
                host.arguments.size(), f.params.size(), f.name);
  std::size_t bytes = 0;
  for (const HostArgument& argument : host.arguments) {
    const auto size = static_cast<std::size_t>(argument_bytes(argument));
    for (const auto* array : {&argument.contents, &argument.expected}) {
      bytes += array->size();
      if (argument.is_array && !array->empty() && array->size() != size)
        return fail(DiagKind::BadArgument, "`{}` is given {} bytes, its {} elements take {}",
                    argument.name, array->size(), argument.elements, size);
    }
  }
  if (bytes > kMaxBytes)
    return fail(DiagKind::TooLarge,
                "the host program would hold {} bytes of array contents; at most {} are written "
                "into a source file",
                bytes, kMaxBytes);
  return {};
}

// What `align=` asks of the memory behind a parameter.
std::int64_t align_of(const ir::Function& f, std::size_t param) {
  std::int64_t out = kAllocated;
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
    const ir::Buffer& b = f[ir::BufferId{i}];
    if (b.origin == ir::BufferOrigin::Param && b.param == f.params[param].var)
      out = std::max(out, b.align);
  }
  return out;
}

std::string allocated(std::int64_t bytes, std::int64_t align, const std::string& name) {
  std::string out =
      fmt::format("  void* {} = nullptr;\n  check(cudaMalloc(&{}, {}), \"cudaMalloc\");\n", name,
                  name, std::max<std::int64_t>(bytes, 1) + align - kAllocated);
  if (align == kAllocated) return out;
  return out + fmt::format(
                   "  {0} = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>({0}) + {1}) / {2} "
                   "* {2});\n",
                   name, align - 1, align);
}

// One argument: its memory on the device, filled.
std::string prepared(const HostArgument& argument, std::int64_t align, const std::string& name) {
  if (!argument.is_array)
    return fmt::format("  uint64_t {} = 0x{:x};\n", name, argument.scalar_bits);
  const std::int64_t bytes = argument_bytes(argument);
  std::string out = allocated(bytes, align, name);
  if (argument.contents.empty())
    return out + fmt::format("  check(cudaMemset({}, 0, {}), \"cudaMemset\");\n", name, bytes);
  return out + fmt::format(
                   "  check(cudaMemcpy({}, {}_contents, {}, cudaMemcpyHostToDevice), "
                   "\"cudaMemcpy\");\n",
                   name, name, bytes);
}

std::string compared(const HostArgument& argument, const std::string& name) {
  if (!argument.is_array || argument.expected.empty()) return "";
  const std::int64_t bytes = argument_bytes(argument);
  const std::int64_t count = is_packed(argument.dtype) ? bytes : argument.elements;
  const bool has_values =
      is_number(argument.dtype) && !is_tiny(argument.dtype);  // the others are compared as bytes
  return fmt::format(
      "  std::vector<char> {0}_found({1});\n"
      "  check(cudaMemcpy({0}_found.data(), {0}, {1}, cudaMemcpyDeviceToHost), \"cudaMemcpy\");\n"
      "  failed |= compare<{2}>({3}, {0}_found.data(), {0}_expected, {4}, {5}, {6});\n",
      name, bytes, memory_type(argument.dtype), quoted(argument.name), count,
      has_values ? argument.rtol : 0, has_values ? argument.atol : 0);
}

// The driver's encoder, without a library to link with.
constexpr std::string_view kEncoder = R"(  decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode),
                                         12000, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
)";

std::string encoded(const HostMap& map, const std::string& name, const std::string& array) {
  const auto list = [&](std::string_view type, std::string_view what, const auto& numbers) {
    return fmt::format("  const {} {}_{}[] = {{{}}};\n", type, name, what,
                       numbers.empty() ? "0" : join(numbers, ", "));
  };
  return fmt::format("  alignas(64) CUtensorMap {} = {{}};\n", name) +
         list("cuuint64_t", "dims", map.dims) + list("cuuint64_t", "strides", map.strides) +
         list("cuuint32_t", "box", map.box) +
         list("cuuint32_t", "steps", std::vector<int>(map.dims.size(), 1)) +
         fmt::format(
             "  if (encode(&{0}, CUtensorMapDataType({1}), {2}, static_cast<char*>({3}) + {4}, "
             "{0}_dims,\n             {0}_strides, {0}_box, {0}_steps, "
             "CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
             "             CUtensorMapSwizzle({5}), CUtensorMapL2promotion({6}),\n"
             "             CUtensorMapFloatOOBfill({7})) != CUDA_SUCCESS) {{\n"
             "    std::fprintf(stderr, \"{8}: the driver refuses the tensor map\\n\");\n"
             "    return 1;\n  }}\n",
             name, map.type, map.dims.size(), array, map.offset, map.swizzle, map.promotion,
             map.fill, map.name);
}

// Clusters that the GPU cannot hold get words of their own.
constexpr std::string_view kClusterCheck = R"(  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, {}, &config), "cudaOccupancyMaxActiveClusters");
  if (clusters == 0) {{
    std::fprintf(stderr, "clusters of {} blocks: the GPU can hold none\n");
    return 1;
  }}
)";

std::string launch_attributes(const HostProgram& host, std::string_view entry) {
  const std::int64_t cluster = host.cluster[0] * host.cluster[1] * host.cluster[2];
  std::string out;
  int count = 0;
  const auto add = [&](std::string_view id, std::string_view value) {
    out +=
        fmt::format("  attributes[{0}].id = cudaLaunchAttribute{1};\n  attributes[{0}].val.{2};\n",
                    count++, id, value);
  };
  if (cluster > 1)
    add("ClusterDimension", fmt::format("clusterDim = {{{}, {}, {}}}", host.cluster[0],
                                        host.cluster[1], host.cluster[2]));
  if (host.is_cooperative) add("Cooperative", "cooperative = 1");
  if (host.is_programmatic)
    add("ProgrammaticStreamSerialization", "programmaticStreamSerializationAllowed = 1");
  if (count == 0) return "";
  return fmt::format("  cudaLaunchAttribute attributes[{}] = {{}};\n", count) + out +
         fmt::format("  config.attrs = attributes;\n  config.numAttrs = {};\n", count) +
         (cluster > 1 ? fmt::format(kClusterCheck, entry, cluster) : "");
}

std::string launch(const std::string& kernel, const HostProgram& host) {
  const std::string entry =
      kernel == "entry" ? "entry_point" : "entry";  // no name of its own kernel
  const auto dims = [](const std::int64_t(&extent)[3]) {
    return fmt::format("dim3({}, {}, {})", extent[0], extent[1], extent[2]);
  };
  std::string out =
      fmt::format("  const void* {} = reinterpret_cast<const void*>(&{});\n", entry, kernel);
  if (host.dynamic_shared_bytes > kPlainDynamicBytes)
    out += fmt::format(
        "  check(cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "{}),\n        \"cudaFuncSetAttribute\");\n",
        entry, host.dynamic_shared_bytes);
  out += fmt::format(
      "  cudaLaunchConfig_t config = {{}};\n"
      "  config.gridDim = {};\n  config.blockDim = {};\n"
      "  config.dynamicSmemBytes = {};\n",
      dims(host.grid), dims(host.block), host.dynamic_shared_bytes);
  return out + launch_attributes(host, entry) +
         fmt::format("  check(cudaLaunchKernelExC(&config, {}, args), \"cudaLaunchKernelExC\");\n",
                     entry) +
         "  check(cudaDeviceSynchronize(), \"cudaDeviceSynchronize\");\n";
}

// The text behind the kernel: arrays with contents, and `main`. TooLarge when the arrays have more
// bytes than a source file should hold, BadArgument when the arguments do not fit the kernel.
Result<std::string> host_program(const ir::Function& f, const std::string& kernel,
                                 const HostProgram& host) {
  WW_TRY_VOID(check(f, host));
  std::string arrays, before, after;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < host.arguments.size(); ++i) {
    const HostArgument& argument = host.arguments[i];
    names.push_back(fmt::format("arg{}_{}", i, as_identifier(argument.name)));
    if (argument.is_array && !argument.contents.empty())
      arrays += array_text(names.back() + "_contents", argument.contents);
    if (argument.is_array && !argument.expected.empty())
      arrays += array_text(names.back() + "_expected", argument.expected);
    before += prepared(argument, align_of(f, i), names.back());
    after += compared(argument, names.back());
  }
  if (!host.maps.empty()) before += kEncoder;
  for (const HostMap& map : host.maps) {
    const std::string name = fmt::format("map_{}", as_identifier(map.name));
    before += encoded(map, name, names[map.array]);
    names.push_back(name);
  }
  std::string args;
  for (const std::string& name : names)
    args += fmt::format("{}&{}", args.empty() ? "" : ", ", name);
  std::string support(after.empty() ? kSupport.substr(0, kSupport.find("[[maybe_unused]]"))
                                    : kSupport);
  if (after.empty())
    support += "}  // namespace\n";
  else
    support.replace(support.find("{0}\n"), 4, readers(host));
  return fmt::format(
      "{}\n{}\nint main() {{\n{}  void* args[] = {{{}}};\n{}  int failed = 0;\n{}  return "
      "failed;\n}}\n",
      support, arrays, before, args.empty() ? "nullptr" : args, launch(kernel, host), after);
}

}  // namespace

}  // namespace ww::emit::cuda

namespace ww::emit {

namespace cuda {
namespace {

std::string extents_text(const std::array<ir::Extent, 3>& extents) {
  std::vector<std::string> parts;
  for (const ir::Extent& extent : extents)
    parts.push_back(extent.is_constant() ? fmt::format("{}", extent.value) : "?");
  while (parts.size() > 1 && parts.back() == "1") parts.pop_back();
  return join(parts, " x ");
}

std::string extents_text(const std::array<std::int64_t, 3>& extents) {
  std::array<ir::Extent, 3> all;
  for (std::size_t i = 0; i < 3; ++i) all[i].value = extents[i];
  return extents_text(all);
}

// Every type that a value or a buffer has, for the headers.
void note_types(Context& c) {
  ir::for_each_expr(c.f, [&](ExprId id) {
    if (c.f[id].type.is_value() || c.f[id].type.is_pointer()) c.helpers.note(c.f[id].type.dtype);
    if (c.f[id].buffer.valid()) c.helpers.note(c.f[c.f[id].buffer].dtype);
  });
  for (std::uint32_t i = 0; i < c.f.buffer_count(); ++i) c.helpers.note(c.f[BufferId{i}].dtype);
}

std::string head(const Context& c) {
  const std::string_view arch = target::info(c.options.target.arch).name;
  std::string out = "// Generated by Warpwright";
  if (c.options.source != nullptr)
    out += fmt::format(" from {}", path_in_code(c.options.source->name()));
  out += fmt::format(": kernel `{}` for {}.\n", c.kernel_name, arch);
  out += fmt::format("// Launch: grid {}, block {}", extents_text(c.launch.grid),
                     extents_text(c.launch.block));
  if (c.launch.has_clusters) out += fmt::format(", cluster {}", extents_text(c.launch.cluster));
  out += ".\n";
  const std::string_view kind = c.options.host != nullptr ? "-o" : "-cubin -o";
  const std::string_view suffix = c.options.host != nullptr ? "" : ".cubin";
  return out + fmt::format("// Compile: nvcc -std=c++17 -arch={} {} {}{} {}.cu\n", arch, kind,
                           c.kernel_name, suffix, c.kernel_name);
}

std::string parameter(const Context& c, std::size_t i) {
  const ir::Var& var = c.f[c.f.params[i].var];
  const std::string& name = c.names.of(c.f.params[i].var);
  const BufferId matched = ir::buffer_of_param(c.f, i);
  if (matched.valid()) return fmt::format("{}* {}", memory_type(c.f[matched].dtype), name);
  return fmt::format("{} {}", type_text(var.type), name);
}

// `__maxnreg__` and `__launch_bounds__` exclude each other.
std::string bounds_text(const Context& c, const ir::OccupancyWish& wish) {
  if (wish.max_registers != 0) return fmt::format("__maxnreg__({}) ", wish.max_registers);
  if (wish.min_ctas != 0)
    return fmt::format("__launch_bounds__({}, {}) ", c.launch.threads(), wish.min_ctas);
  return c.launch.threads() > 1 ? fmt::format("__launch_bounds__({}) ", c.launch.threads()) : "";
}

std::string signature(const Context& c, const ir::OccupancyWish& wish) {
  std::string out = "extern \"C\" __global__ void ";
  if (c.launch.has_clusters)
    out += fmt::format("__cluster_dims__({}) ", join(c.launch.cluster, ", "));
  out += bounds_text(c, wish);
  std::vector<std::string> params;
  for (std::size_t i = 0; i < c.f.params.size(); ++i) params.push_back(parameter(c, i));
  for (const ir::BoundMap& map : ir::tensor_maps(c.f))
    params.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", c.names.of(map.var)));
  return fmt::format("{}{}({}) {{\n", out, c.kernel_name, join(params, ", "));
}

// The kernel stands behind all that it needs.
Result<CudaLines> file(Context& c) {
  const ir::OccupancyWish wish = WW_TRY(ir::occupancy_wish(c.f, c.launch));
  note_types(c);
  emit_block(c, c.f.host);
  emit_block(c, c.f.body);
  if (c.error) return fail(*std::move(c.error));
  std::string functions;
  for (const auto& [name, source] : c.functions)
    functions += source + (source.ends_with('\n') ? "\n" : "\n\n");
  if (!ir::tensor_maps(c.f).empty()) c.helpers.note_maps();
  CudaLines out{
      .text = fmt::format("{}{}\n{}{}{}", head(c), c.helpers.includes(c.options.host != nullptr),
                          c.helpers.text(), functions, signature(c, wish)),
      .spans = {}};
  out.spans.resize(static_cast<std::size_t>(std::ranges::count(out.text, '\n')));
  out.text += c.out + "}\n";
  out.spans.insert(out.spans.end(), c.spans.begin(), c.spans.end());
  out.spans.emplace_back();
  return out;
}

}  // namespace

Context::Context(const ir::Function& function, const CudaOptions& cuda_options,
                 ir::LaunchShape shape)
    : f(function),
      options(cuda_options),
      launch(shape),
      facts(ir::facts_of(function)),
      ranges(function, facts),
      names(function),
      pending(function),
      known(function, options.target),
      numbers(helpers) {
  const std::string own = as_identifier(f.name);
  kernel_name = own == f.name ? own : as_identifier(f.name + "_kernel");
}

std::string refuse(Context& c, Diag problem) {
  if (!c.error) c.error = std::move(problem);
  return "0";
}

void line(Context& c, std::string_view text) {
  c.out.append(static_cast<std::size_t>(c.indent) * 2, ' ').append(text).append("\n");
  c.spans.insert(c.spans.end(), 1 + static_cast<std::size_t>(std::ranges::count(text, '\n')), c.at);
}

}  // namespace cuda

Result<CudaLines> cuda_lines(const ir::Function& lowered, const CudaOptions& options) {
  if (lowered.level != ir::Level::Lowered)
    return fail(DiagKind::NotEmitted, "`{}` is a tile program, expected a lowered one",
                lowered.name);
  const ir::Function unrolled = ir::with_unrolled_loops(lowered);
  cuda::Context context(unrolled, options, WW_TRY(ir::launch_shape(unrolled)));
  CudaLines file = WW_TRY(cuda::file(context));
  if (options.host == nullptr) return file;
  const std::string host = WW_TRY(cuda::host_program(unrolled, context.kernel_name, *options.host));
  file.text += host;
  file.spans.resize(file.spans.size() + static_cast<std::size_t>(std::ranges::count(host, '\n')));
  return file;
}

Result<std::string> cuda_source(const ir::Function& lowered, const CudaOptions& options) {
  return WW_TRY(cuda_lines(lowered, options)).text;
}

}  // namespace ww::emit
