// SPDX-License-Identifier: Apache-2.0
// A fake GPU driver of a few functions, which tests can make fail. It accepts kernels and runs
// nothing. For tests only.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "runtime/cuda_calls.h"

namespace ww::runtime {

struct FakeGpu {
  std::string name;
  int major, minor;
};

/// The fake driver's state, its scripted answers, and the calls it received.
struct FakeDriver {
  std::vector<FakeGpu> gpus{{"Fake H200", 9, 0}};
  int version = 13000;
  std::map<std::string, int> status;  // by call; success otherwise
  std::string log;                    // of the compiler
  int required_cluster = 0;
  std::map<int, int> function;  // attributes of it
  int queries_until_done = 2;
  std::vector<float> milliseconds{3, 1, 2};

  std::map<std::uint64_t, std::vector<std::byte>> memory;
  std::map<int, int> attributes;
  int argument_count = 2;  // that it looks at
  std::vector<std::uint64_t> arguments;
  std::vector<std::size_t> argument_bytes;              // sizes of all, if it looks at them whole
  std::vector<std::vector<std::byte>> whole_arguments;  // as many bytes of each
  bool is_cooperative = false, is_programmatic = false;
  int max_shared = 232448;   // bytes of a block
  int active_clusters = 66;  // that the GPU holds at once
  int max_cluster = 8;
  int active_blocks = 4;                  // of an SM
  std::string encoded;                    // the maps that were asked for, a line each
  std::string textures;                   // arrays and objects that were asked for, a line each
  int open_textures = 0;                  // arrays and objects
  void (*kernel)(FakeDriver&) = nullptr;  // what a launch does; nothing without
  CudaLaunchConfig launched;
  std::array<std::uint32_t, 3> cluster{};
  void* context = nullptr;  // the current one
  int context_changes = 0;
  int launches = 0;
  int timed = 0;
  int open_events = 0;
  bool is_recording = false;
  int open_graphs = 0;  // streams, graphs, and graphs made ready
  int graph_launches = 0;
  int released_contexts = 0;
  int reset_contexts = 0;

  [[nodiscard]] int answer(const std::string& call) const {
    const auto found = status.find(call);
    return found == status.end() ? 0 : found->second;
  }
};
/// The one that the calls mean; a test sets it.
inline FakeDriver* fake = nullptr;

inline CudaCalls fake_calls() {
  CudaCalls calls;
  calls.init = [](unsigned) { return fake->answer("init"); };
  calls.driver_version = [](int* version) {
    *version = fake->version;
    return 0;
  };
  calls.error_name = [](int error, const char** name) {
    static const std::map<int, const char*> names = {{3, "CUDA_ERROR_NOT_INITIALIZED"},
                                                     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                     {1, "CUDA_ERROR_INVALID_VALUE"},
                                                     {218, "CUDA_ERROR_INVALID_PTX"},
                                                     {500, "CUDA_ERROR_NOT_FOUND"},
                                                     {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                     {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                     {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}};
    const auto found = names.find(error);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? 1 : 0;
  };
  calls.error_string = [](int error, const char** text) {
    *text = error == 700 ? "an illegal memory access was encountered" : nullptr;
    return error == 700 ? 0 : 1;
  };
  calls.device_count = [](int* count) {
    *count = static_cast<int>(fake->gpus.size());
    return fake->answer("device_count");
  };
  calls.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return 0;
  };
  calls.device_name = [](char* name, int bytes, int device) {
    std::strncpy(name, fake->gpus[static_cast<std::size_t>(device)].name.c_str(),
                 static_cast<std::size_t>(bytes));
    return 0;
  };
  calls.device_attribute = [](int* value, int attribute, int device) {
    const FakeGpu& gpu = fake->gpus[static_cast<std::size_t>(device)];
    *value = attribute == 75   ? gpu.major
             : attribute == 97 ? fake->max_shared
             : attribute == 16 ? 132
                               : gpu.minor;
    return 0;
  };
  calls.context_retain = [](void** context, int) {
    *context = fake;
    return fake->answer("context_retain");
  };
  calls.context_release = [](int) {
    ++fake->released_contexts;
    return 0;
  };
  calls.context_reset = [](int) {
    ++fake->reset_contexts;
    return 0;
  };
  calls.context_set = [](void* context) {
    fake->context = context;
    ++fake->context_changes;
    return 0;
  };
  calls.context_get = [](void** context) {
    *context = fake->context;
    return 0;
  };
  calls.module_load = [](void** module, const void*, unsigned count, int* options, void** values) {
    *module = fake;
    if (count == 2 && options[0] == 5)
      std::memcpy(values[0], fake->log.c_str(), fake->log.size() + 1);
    return fake->answer("module_load");
  };
  calls.module_unload = [](void*) { return 0; };
  calls.module_function = [](void** function, void*, const char*) {
    *function = fake;
    return fake->answer("module_function");
  };
  calls.function_get = [](int* value, int attribute, void*) {
    const bool is_known = fake->function.contains(attribute);
    *value = is_known ? fake->function[attribute] : fake->required_cluster;
    return fake->answer("function_get");
  };
  calls.function_set = [](void*, int attribute, int value) {
    fake->attributes[attribute] = value;
    return fake->answer("function_set");
  };
  calls.allocate = [](std::uint64_t* address, std::size_t bytes) {
    *address = 0x1000 * (fake->memory.size() + 1);
    fake->memory[*address].resize(bytes);
    return fake->answer("allocate");
  };
  calls.release = [](std::uint64_t address) {
    fake->memory.erase(address);
    return 0;
  };
  calls.upload = [](std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(fake->memory[to].data(), from, bytes);
    return fake->answer("upload");
  };
  calls.download = [](void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, fake->memory[from].data(), bytes);
    return fake->answer("download");
  };
  calls.copy = [](std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
    if (const int status = fake->answer("copy"); status != 0) return status;
    std::memcpy(fake->memory[to].data(), fake->memory[from].data(), bytes);
    return 0;
  };
  calls.launch = [](const CudaLaunchConfig* config, void*, void** arguments, void** extra) {
    fake->launched = *config;
    for (std::uint32_t i = 0; i < config->attribute_count; ++i) {
      const CudaLaunchAttribute& attribute = config->attributes[i];
      if (attribute.id == 2) fake->is_cooperative = attribute.value.dims[0] != 0;
      if (attribute.id == 6) fake->is_programmatic = attribute.value.dims[0] != 0;
      if (attribute.id == 4) fake->cluster = attribute.value.dims;
    }
    if (extra != nullptr) return 1;
    fake->whole_arguments.clear();
    for (std::size_t i = 0; i < fake->argument_bytes.size(); ++i) {
      const auto* bytes = static_cast<const std::byte*>(arguments[i]);
      fake->whole_arguments.emplace_back(bytes, bytes + fake->argument_bytes[i]);
    }
    if (!fake->argument_bytes.empty()) {
      if (fake->kernel != nullptr) fake->kernel(*fake);
      ++fake->launches;
      return fake->answer("launch");
    }
    fake->arguments.clear();
    for (int i = 0; i < fake->argument_count; ++i)
      fake->arguments.push_back(*static_cast<std::uint64_t*>(arguments[i]));
    ++fake->launches;
    return fake->answer("launch");
  };
  calls.active_clusters = [](int* count, void*, const CudaLaunchConfig*) {
    *count = fake->active_clusters;
    return fake->answer("active_clusters");
  };
  calls.max_cluster = [](int* ctas, void*, const CudaLaunchConfig*) {
    *ctas = fake->max_cluster;
    return fake->answer("max_cluster");
  };
  calls.active_blocks = [](int* count, void*, int, std::size_t) {
    *count = fake->active_blocks;
    return fake->answer("active_blocks");
  };
  // The image is the address, which is all that a fake kernel needs.
  calls.encode_tiled = [](void* map, int type, unsigned rank, void* address,
                          const std::uint64_t* dims, const std::uint64_t*, const std::uint32_t* box,
                          const std::uint32_t*, int interleave, int swizzle, int, int fill) {
    std::memcpy(map, &address, sizeof address);
    fake->encoded += fmt::format("tiled {} {} dims {} box {} {} {} {}\n", type, rank,
                                 fmt::join(dims, dims + rank, ","), fmt::join(box, box + rank, ","),
                                 interleave, swizzle, fill);
    return fake->answer("encode_tiled");
  };
  calls.encode_im2col = [](void* map, int type, unsigned rank, void* address, const std::uint64_t*,
                           const std::uint64_t*, const int* lower, const int* upper,
                           unsigned channels, unsigned pixels, const std::uint32_t*, int, int, int,
                           int) {
    std::memcpy(map, &address, sizeof address);
    fake->encoded += fmt::format("im2col {} {} from {} to {}, {} {}\n", type, rank, lower[0],
                                 upper[0], channels, pixels);
    return fake->answer("encode_im2col");
  };
  // An array is memory, too; its object has its address.
  calls.array_create = [](void** array, const CudaArrayDesc* desc) {
    const std::uint64_t address = 0x1000 * (fake->memory.size() + 1);
    *array = reinterpret_cast<void*>(address);  // NOLINT: a handle
    fake->textures +=
        fmt::format("array {}x{}x{} format {:#x} channels {} flags {:#x}\n", desc->width,
                    desc->height, desc->depth, desc->format, desc->channels, desc->flags);
    if (const int status = fake->answer("array_create"); status != 0)
      return *array = nullptr, status;
    fake->memory[address];
    ++fake->open_textures;
    return 0;
  };
  calls.array_destroy = [](void*) {
    --fake->open_textures;
    return 0;
  };
  calls.array_copy = [](const CudaArrayCopy* copy) {
    const std::size_t bytes = copy->width_bytes * copy->height * copy->depth;
    const bool is_upload = copy->to.array != nullptr;
    auto& texels = fake->memory[reinterpret_cast<std::uint64_t>(  // NOLINT: a handle
        is_upload ? copy->to.array : copy->from.array)];
    texels.resize(bytes);
    if (is_upload) std::memcpy(texels.data(), copy->from.host, bytes);
    if (!is_upload) std::memcpy(copy->to.host, texels.data(), bytes);
    return fake->answer(is_upload ? "array_upload" : "array_download");
  };
  calls.texture_create = [](std::uint64_t* object, const CudaResourceDesc* resource,
                            const CudaTextureDesc* desc, const void*) {
    if (const int status = fake->answer("texture_create"); status != 0) return status;
    *object = reinterpret_cast<std::uint64_t>(resource->array);  // NOLINT: a handle
    fake->textures += fmt::format("texture address {} filter {} flags {:#x}\n",
                                  fmt::join(desc->address, ","), desc->filter, desc->flags);
    ++fake->open_textures;
    return 0;
  };
  calls.surface_create = [](std::uint64_t* object, const CudaResourceDesc* resource) {
    if (const int status = fake->answer("surface_create"); status != 0) return status;
    *object = reinterpret_cast<std::uint64_t>(resource->array);  // NOLINT: a handle
    fake->textures += "surface\n";
    ++fake->open_textures;
    return 0;
  };
  calls.texture_destroy = calls.surface_destroy = [](std::uint64_t) {
    --fake->open_textures;
    return 0;
  };
  calls.event_create = [](void** event, unsigned) {
    *event = fake;
    ++fake->open_events;
    return fake->answer("event_create");
  };
  calls.event_destroy = [](void*) {
    --fake->open_events;
    return 0;
  };
  calls.event_record = [](void*, void*) { return 0; };
  calls.event_query = [](void*) {
    static int asked = 0;
    if (const int status = fake->answer("event_query"); status != 0) return status;
    return ++asked % fake->queries_until_done == 0 ? 0 : 600;
  };
  calls.event_elapsed = [](float* milliseconds, void*, void*) {
    const auto which = static_cast<std::size_t>(fake->timed++) % fake->milliseconds.size();
    *milliseconds = fake->milliseconds[which];
    return 0;
  };
  calls.synchronize = [] { return fake->answer("synchronize"); };
  return calls;
}

/// The same with CUDA graphs.
inline CudaCalls fake_calls_with_graphs() {
  CudaCalls calls = fake_calls();
  static constexpr auto kMake = [](const char* call, void** out) {
    const int status = fake->answer(call);
    *out = status == 0 ? fake : nullptr;
    if (status == 0) ++fake->open_graphs;
    return status;
  };
  static constexpr auto kEnd = [](void*) { return --fake->open_graphs, 0; };
  calls.stream_create = [](void** out, unsigned) { return kMake("stream_create", out); };
  calls.capture_begin = [](void*, int) {
    fake->is_recording = fake->answer("capture_begin") == 0;
    return fake->answer("capture_begin");
  };
  calls.capture_end = [](void*, void** out) {
    fake->is_recording = false;
    return kMake("capture_end", out);
  };
  calls.graph_instantiate = [](void** out, void*, std::uint64_t) {
    return kMake("graph_instantiate", out);
  };
  calls.graph_upload = [](void*, void*) { return fake->answer("graph_upload"); };
  calls.graph_launch = [](void*, void*) {
    const int status = fake->answer("graph_launch");
    if (status == 0) ++fake->graph_launches;
    return status;
  };
  calls.stream_destroy = calls.graph_destroy = calls.graph_exec_destroy = kEnd;
  return calls;
}

}  // namespace ww::runtime
