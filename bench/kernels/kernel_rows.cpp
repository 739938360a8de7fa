// SPDX-License-Identifier: Apache-2.0
#include "kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "../compile/examples.h"
#include "gpu.h"
#include "num/dtype.h"
#include "runtime/cuda_device.h"

namespace ww::bench {
namespace {

Result<Extents> extents_of(const ir::Function& tile) {
  const ir::BufferId id = tile.params.size() == 2 ? ir::buffer_of_param(tile, 0) : ir::BufferId{};
  if (!id.valid()) return fail(DiagKind::BadArgument, "`{}` is no kernel of two arrays", tile.name);
  const ir::Buffer& buffer = tile[id];
  Extents out{.element_bytes = static_cast<std::size_t>(num::bits_of(buffer.dtype) / 8)};
  for (const ir::ExprId extent : buffer.shape) {
    const auto number = ir::const_int(tile, extent);
    if (!number)
      return fail(DiagKind::BadArgument, "an extent of `{}` is not constant", buffer.name);
    out.rows *= out.cols;
    out.cols = static_cast<std::size_t>(*number);
  }
  return out;
}

}  // namespace

// --- measuring -----------------------------------------------------------------------------------

Result<KernelBench> KernelBench::open() {
  const runtime::CudaCalls calls = WW_TRY(runtime::load_cuda_calls());
  return KernelBench(WW_TRY(runtime::CudaDevice::open(calls)));
}

Result<void> KernelBench::prepare(const KernelRow& row) {
  if (row_ && row_->is_same_kernel(row)) return {};
  row_.reset();
  const driver::Build built =
      WW_TRY(build_for(*device_->native_target(), WW_TRY(example(row.file)), row.expression));
  extents_ = WW_TRY(extents_of(built.tile()));
  WW_TRY_VOID(device_->load({.bytes = built.ptx, .kernel = built.entry}));
  a_ = WW_TRY(device_->allocate(extents_.bytes(), "A"));
  b_ = WW_TRY(device_->allocate(extents_.bytes(), "B"));
  launch_ = WW_TRY(launch_of(*built.lowered, {{a_}, {b_}}));
  WW_TRY_VOID(contents_.fill(*device_, a_, extents_.bytes()));
  row_ = row;
  is_checked_ = false;
  return {};
}

Result<void> KernelBench::check() {
  if (!row_->file.ends_with("transpose.py"))
    return contents_.check_copy(*device_, b_, extents_.bytes());
  if (extents_.element_bytes != 2)
    return fail(DiagKind::BadArgument, "elements of {} bytes are not checked as a transpose",
                extents_.element_bytes);
  return contents_.check_transpose(*device_, b_, extents_.rows, extents_.cols);
}

Result<double> KernelBench::time_kernel() {
  if (!is_checked_) WW_TRY_VOID(Contents::clear(*device_, b_, extents_.bytes()));
  const runtime::Timing timing = WW_TRY(device_->time(launch_, kLaunches));
  if (!is_checked_) WW_TRY_VOID(check());
  is_checked_ = true;
  return timing.median;
}

Result<double> KernelBench::time_copy() {
  return WW_TRY(runtime::time_copy(*device_, b_, a_, extents_.bytes(), kLaunches)).median;
}

Result<Measured> KernelBench::measure(const KernelRow& row) {
  WW_TRY_VOID(prepare(row));
  Measured out{.bytes = 2 * extents_.bytes()};
  if (row.timed == Timed::Kernel) out.seconds = WW_TRY(time_kernel());
  out.copy_seconds = WW_TRY(time_copy());
  if (row.timed == Timed::DriverCopy) out.seconds = out.copy_seconds;
  return out;
}

// --- rows ----------------------------------------------------------------------------------------

namespace {

// 4 GiB each, 16 bytes per thread and round, within the 48 KiB of shared memory that a kernel has
// without asking.
void add_copies(std::vector<KernelRow>& rows, std::string_view dtype, int log_n, int vec) {
  for (const int rounds : {1, 2, 4, 8}) {
    for (const int threads : {128, 256, 512}) {
      if (rounds * threads * 16 > 48 * 1024) continue;
      rows.push_back({.name = fmt::format("copy_through/{}/{}x{}", dtype, rounds, threads),
                      .file = "copy_through.py",
                      .expression = fmt::format(
                          "build(n=1 << {}, threads={}, rounds={}, dtype=\"{}\", vec={})", log_n,
                          threads, rounds, dtype, vec)});
    }
  }
}

std::vector<KernelRow> own_rows() {
  std::vector<KernelRow> rows;
  add_copies(rows, "float16", 31, 8);
  add_copies(rows, "float32", 30, 4);
  for (const int size : {16384, 32768}) {
    for (const int tile : {64, 128})
      for (const std::string_view kernel : {"transpose", "tma_transpose"})
        rows.push_back({.name = fmt::format("{0}/float16/{1}x{1}/tile:{2}", kernel, size, tile),
                        .file = fmt::format("{}.py", kernel),
                        .expression = fmt::format("build(m={0}, n={0}, tile={1})", size, tile)});
    for (const auto& [height, width] : {std::pair(128, 64), std::pair(32, 256), std::pair(64, 256)})
      rows.push_back(
          {.name = fmt::format("tma_copy/float16/{0}x{0}/tile:{1}x{2}", size, height, width),
           .file = "tma_copy.py",
           .expression =
               fmt::format("build(m={0}, n={0}, rows={1}, columns={2})", size, height, width)});
  }
  KernelRow copy = rows.front();
  copy.name = "driver_copy/4GiB";
  copy.timed = Timed::DriverCopy;
  rows.insert(rows.begin(), copy);
  return rows;
}

std::vector<KernelRow> rows_of(std::string_view list) {
  std::vector<KernelRow> rows;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(';'), list.size());
    const std::string_view one = list.substr(0, end);
    const std::size_t parts = std::min(one.find("::"), one.size());
    rows.push_back({.name = std::string(one),
                    .file = std::string(one.substr(0, parts)),
                    .expression = std::string(one.substr(std::min(parts + 2, one.size())))});
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return rows;
}

}  // namespace

std::vector<KernelRow> kernel_rows() {
  const char* const list = std::getenv("WW_BENCH_KERNELS");
  return list == nullptr ? own_rows() : rows_of(list);
}

}  // namespace ww::bench
