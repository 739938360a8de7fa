// SPDX-License-Identifier: Apache-2.0
// Runs compiled kernels on the virtual GPU (sim_device.h) or a real one (cuda_device.h), both used
// in the same way:
//
//     WW_TRY_VOID(device.load({.bytes = ptx, .kernel = "scale"}));
//     const Address a = WW_TRY(device.allocate(bytes, "A"));
//     WW_TRY_VOID(device.upload(a, contents));
//     WW_TRY_VOID(device.launch({.grid = {4}, .block = {128}, .arguments = {{a}, {n, 4}}}));
//     WW_TRY_VOID(device.download(results, a));
//
// Failures are Diags without a place: NoDevice when there is nothing to run on, DeviceError when
// the device refused or failed, with what was attempted and the device's own words.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "sim/tensor_map/map.h"
#include "target/target.h"

namespace ww::runtime {

using Address = std::uint64_t;
using Dims = std::array<std::uint32_t, 3>;  // x first

/// PTX text or a cubin, and which kernel of it.
struct Image {
  std::string bytes;
  std::string kernel;
};

/// What a parameter gets: the bits of a scalar, or an address, and how many bytes they are; or, of a
/// struct, all its bytes.
struct Value {
  std::uint64_t bits = 0;
  std::uint32_t bytes = sizeof(Address);
  std::vector<std::byte> block = {};  // empty: `bits`

  [[nodiscard]] const void* data() const {
    return block.empty() ? static_cast<const void*>(&bits) : block.data();
  }
};

/// An argument that is a tensor map of the memory of another one. Devices make it when they launch.
struct MapArgument {
  std::size_t argument = 0;  // its own place among the arguments
  std::size_t array = 0;     // that of the address
  std::int64_t offset = 0;   // bytes after the address
  std::string name = {}, array_name = {};
  sim::TensorMap map = {};  // but for the address
};

struct Launch {
  Dims grid{1, 1, 1};
  Dims block{1, 1, 1};
  std::optional<Dims> cluster = {};   // none: what the kernel says, or no clusters
  std::uint32_t dynamic_shared = 0;   // bytes
  std::vector<Value> arguments = {};  // one per parameter
  bool is_cooperative = false;        // all blocks at once, for a grid barrier
  bool is_programmatic = false;       // may start before the kernel in front of it has ended
  std::vector<MapArgument> maps = {};
  /// Memory, by an address in each allocation, that an earlier kernel may still write until
  /// `griddepcontrol.wait`: the virtual GPU reports accesses that come too early.
  std::vector<Address> awaits = {};
};

/// Seconds of repeated launches.
struct Timing {
  double median = 0;
  double fastest = 0;
  double slowest = 0;
  int launches = 0;
};

/// A kernel's per-SM resources, as far as the device knows them.
struct Resources {
  std::uint32_t static_shared = 0;              // bytes of a block
  std::optional<std::uint32_t> registers = {};  // of a thread
  std::optional<std::uint32_t> local = {};      // bytes of a thread: spilled registers, arrays
};

class Device {
 public:
  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// "NVIDIA H200 (sm_90a), driver 13.0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The target to compile for; empty: any target.
  [[nodiscard]] virtual std::optional<target::Target> native_target() const = 0;

  /// Makes the kernel ready. Call it first, once for each use of the device: memory belongs to the
  /// loaded image, and loading frees the memory of the earlier one.
  virtual Result<void> load(const Image& image) = 0;
  /// Of the loaded kernel; none where the device does not know them.
  [[nodiscard]] virtual std::optional<Resources> resources() const { return {}; }
  /// Memory with unknown contents, aligned for every access and every parameter of the loaded
  /// kernel. The name is for messages.
  virtual Result<Address> allocate(std::size_t bytes, std::string_view name) = 0;
  virtual Result<void> upload(Address to, std::span<const std::byte> bytes) = 0;
  virtual Result<void> download(std::span<std::byte> to, Address from) = 0;
  /// The 128 bytes of a tensor map, as this device reads them.
  [[nodiscard]] virtual Result<std::vector<std::byte>> encode_map(const sim::TensorMap& map) const;
  /// The same for an array at that address. BadLaunch with the names, the value and the limit where
  /// no map can be like that.
  [[nodiscard]] Result<std::vector<std::byte>> made_map(const MapArgument& map,
                                                        Address array) const;
  /// The launch with all its maps made.
  [[nodiscard]] Result<Launch> with_maps(Launch launch) const;
  /// Runs the kernel to its end. BadLaunch for an address that is not as aligned as its parameter
  /// says (`.ptr .align`), wherever the image is PTX.
  virtual Result<void> launch(const Launch& launch) = 0;
  /// Whether a kernel still runs that `launch` or `time` has given up: nothing else can run then.
  [[nodiscard]] virtual bool hangs() const { return false; }
  /// Whether the device knows which bytes of memory have been written, by an upload or a kernel.
  [[nodiscard]] virtual bool tracks_writes() const { return false; }
  /// One byte for each byte of the memory that begins there: not 0 where nothing was written. Empty
  /// where that is not tracked.
  [[nodiscard]] virtual std::span<const std::uint8_t> undefined(Address address) const;
  /// Runs the kernel once more than `launches` times: the first one does not count.
  virtual Result<Timing> time(const Launch& launch, int launches) = 0;
};

/// Whether a GPU of compute capability `major.minor`, given as 10·major + minor, runs PTX compiled
/// for `arch`: plain code runs on all later GPUs, `f` code on later ones of its family (the same
/// major number), `a` code on its own GPU alone.
bool runs_on(target::Arch arch, int capability);
/// The best architecture to compile for on such a GPU: `sm_90a` for 90. None for GPUs older than
/// all known ones.
std::optional<target::Arch> native_arch(int capability);

// --- gpu work ------------------------------------------------------------------------------------
//
// Work for the GPU, to wait for, time or record in a graph.

/// `submit` asks for it in the current context and does not wait; the name is for messages:
/// "running `scale`".
struct GpuWork {
  std::function<Result<void>(void* stream)> submit;
  std::string name;
};

/// From one place in the GPU's memory to another, by the driver. `calls` outlives the result.
inline GpuWork copying(const CudaCalls& calls, Address to, Address from, std::size_t bytes) {
  std::string name = fmt::format("copying {} bytes on the GPU", bytes);
  return {[=, &calls](void* stream) {
            return check_cuda(calls, calls.copy(to, from, bytes, stream), name);
          },
          name};
}

}  // namespace ww::runtime
