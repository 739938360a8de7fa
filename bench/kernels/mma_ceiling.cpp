// SPDX-License-Identifier: Apache-2.0
#include "mma_ceiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "contents.h"
#include "operands.h"
#include "runtime/cuda_device.h"

namespace ww::bench {
namespace {

using runtime::Address;
using runtime::CudaDevice;

constexpr std::int64_t kWarps = 8;
constexpr std::int64_t kThreads = 32 * kWarps;
constexpr std::int64_t kWarpProducts = 32;   // 4 x 8, of fragments, per warp and pass
constexpr std::int64_t kFragmentWords = 32;  // of fragments, per thread

constexpr std::string_view kProgram = R"py(
from tvm.script import tirx as T


def build(ctas, warps, shape, dtype, sum):
    threads = warps * 32

    @T.prim_func
    def mma_ceiling(A_ptr: T.handle, D_ptr: T.handle, passes: T.int32):
        A = T.match_buffer(A_ptr, (32, threads), "uint32")
        D = T.match_buffer(D_ptr, (ctas, threads), sum)
        T.device_entry()
        cta = T.cta_id([ctas])
        thread = T.thread_id([threads])
        a = T.alloc_local((16,), "uint32")
        b = T.alloc_local((16,), "uint32")
        d = T.alloc_local((128,), sum)
        for i in T.unroll(16):
            a[i] = A[i, thread]
            b[i] = A[16 + i, thread]
        for i in T.unroll(128):
            d[i] = T.cast(0, sum)
        for p in T.serial(passes):
            for i in T.unroll(4):
                for j in T.unroll(8):
                    T.ptx.mma(shape, "row", "col", sum, dtype, dtype, sum,
                              [d.ptr_to([i * 32 + j * 4 + e]) for e in range(4)],
                              [a.ptr_to([i * 4 + e]) for e in range(4)],
                              [b.ptr_to([j * 2 + e]) for e in range(2)],
                              [d.ptr_to([i * 32 + j * 4 + e]) for e in range(4)])
        # All sums are used, so that none of them can be left out.
        for i in T.unroll(127):
            d[0] = d[0] + d[i + 1]
        D[cta, thread] = d[0]

    return mma_ceiling
)py";

struct Shape {
  num::DType dtype;
  std::string_view name;
  std::int64_t k;
  num::DType sum;
};
constexpr Shape kShapes[] = {{num::DType::Float16, "m16n8k16", 16, num::DType::Float32},
                             {num::DType::Bfloat16, "m16n8k16", 16, num::DType::Float32},
                             {num::DType::Int8, "m16n8k32", 32, num::DType::Int32}};

Result<Shape> shape_for(num::DType dtype) {
  const auto* const found = std::ranges::find(kShapes, dtype, &Shape::dtype);
  if (found != std::end(kShapes)) return *found;
  return fail(DiagKind::BadArgument, "there is no ceiling for products of `{}`",
              num::name_of(dtype));
}

double sum_at(num::DType type, std::span<const std::byte> memory, std::size_t at) {
  const auto read = [&](auto value) {
    std::memcpy(&value, memory.data() + at * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  return type == num::DType::Float32 ? read(float{}) : read(std::int32_t{});
}

}  // namespace

SourceText ceiling_source() { return {"mma_ceiling.py", std::string(kProgram)}; }

Result<std::string> ceiling_kernel(num::DType dtype, int multiprocessors) {
  const Shape shape = WW_TRY(shape_for(dtype));
  return fmt::format(R"(build({}, {}, "{}", "{}", "{}"))", multiprocessors, kWarps, shape.name,
                     num::name_of(dtype), num::name_of(shape.sum));
}

Result<void> check_ceiling(num::DType sum, std::span<const std::byte> once,
                           std::span<const std::byte> twice) {
  for (std::size_t i = 0; i < once.size() / bytes_of(sum, 1); ++i) {
    const double one = sum_at(sum, once, i);
    const double two = sum_at(sum, twice, i);
    // Sums of some hundred numbers that are added in the same order.
    const double allowed = sum == num::DType::Float32 ? 1e-3 * std::abs(one) + 1e-2 : 0;
    if (one == 0 || !(std::abs(two - 2 * one) <= allowed))
      return fail(DiagKind::DeviceError,
                  "the ceiling does not compute: thread {} has {} after one pass and {} after two",
                  i, one, two);
  }
  return {};
}

Result<MmaCeiling> MmaCeiling::make(Gpu& gpu, num::DType dtype) {
  const Shape shape = WW_TRY(shape_for(dtype));
  const int ctas = gpu.memory().multiprocessors();
  const driver::Build built = WW_TRY(build_for(*gpu.memory().native_target(), ceiling_source(),
                                               WW_TRY(ceiling_kernel(dtype, ctas))));
  CudaDevice* const device = WW_TRY(gpu.load(built));
  const Operand contents(dtype, 5);
  const std::size_t bytes = kFragmentWords * kThreads * sizeof(std::uint32_t);
  const Address a = WW_TRY(device->allocate(bytes, "A"));
  WW_TRY_VOID(fill_with(*device, a, bytes, contents.bytes()));
  std::vector<std::byte> once(bytes_of(shape.sum, static_cast<std::size_t>(ctas * kThreads)));
  std::vector<std::byte> twice(once.size());
  const Address d = WW_TRY(device->allocate(once.size(), "D"));
  const double per_pass = static_cast<double>(kWarpProducts * kWarps * shape.k * 2 * 16 * 8) *
                          static_cast<double>(ctas);
  MmaCeiling out(*device, WW_TRY(launch_of(*built.lowered, {{a}, {d}, {0, 4}})), per_pass);
  WW_TRY_VOID(device->launch(out.with_passes(1)));
  WW_TRY_VOID(device->download(once, d));
  WW_TRY_VOID(device->launch(out.with_passes(2)));
  WW_TRY_VOID(device->download(twice, d));
  WW_TRY_VOID(check_ceiling(shape.sum, once, twice));
  return out;
}

runtime::Launch MmaCeiling::with_passes(std::int32_t passes) const {
  runtime::Launch out = launch_;
  out.arguments.back().bits = static_cast<std::uint32_t>(passes);
  return out;
}

std::int32_t MmaCeiling::passes_for(double operations) const {
  constexpr double kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(
      std::clamp(std::ceil(operations / operations_per_pass_), 1.0, kMax));
}

double MmaCeiling::operations(std::int32_t passes) const { return operations_per_pass_ * passes; }

Result<double> MmaCeiling::time(std::int32_t passes) {
  return runtime::time_in_a_row(*device_, with_passes(passes), 1);
}

}  // namespace ww::bench
