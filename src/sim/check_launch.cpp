// SPDX-License-Identifier: Apache-2.0
#include "sim/check_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/lanes.h"
#include "sim/limits.h"

namespace ww::sim {

std::uint64_t largest_align(std::span<const Param> params) {
  std::uint64_t out = 1;
  for (const Param& param : params) out = std::max<std::uint64_t>(out, param.pointee_align);
  return out;
}

Result<void> check_alignment(const Param& param, std::uint64_t address) {
  if (address % param.pointee_align == 0) return {};
  return fail(diag(DiagKind::BadLaunch,
                   "`{}` is given address 0x{:x}, expected a multiple of {}: the kernel declares "
                   "it with `.ptr .align {}`",
                   param.name, address, param.pointee_align, param.pointee_align)
                  .with_note("its accesses rely on that; pass memory that begins at such an "
                             "address"));
}

Result<void> check_launch(const Program& program, const Launch& launch, const Dim3& cluster,
                          std::uint32_t shared) {
  const Code& code = *launch.kernel;
  const std::uint64_t threads = launch.block.count();
  const auto text = [](const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); };
  const auto dims = [](const std::array<std::uint32_t, 3>& v) { return Dim3{v[0], v[1], v[2]}; };
  if (threads == 0 || launch.grid.count() == 0) {
    return fail(DiagKind::BadLaunch, "grid {} and block {}: nothing to run", text(launch.grid),
                text(launch.block));
  }
  // By themselves first: their product may not fit into 64 bits.
  if (launch.block.x > kMaxThreads || launch.block.y > kMaxThreads || launch.block.z > 64) {
    return fail(DiagKind::BadLaunch, "a block of {}: at most {} in x and y, 64 in z",
                text(launch.block), kMaxThreads);
  }
  if (threads > kMaxThreads) {
    return fail(DiagKind::BadLaunch, "a block of {} has {} threads; {} are the most",
                text(launch.block), threads, kMaxThreads);
  }
  if (launch.grid.y > 65535 || launch.grid.z > 65535 || launch.grid.x > 0x7FFF'FFFFU) {
    return fail(DiagKind::BadLaunch, "a grid of {}: at most 2147483647 in x, 65535 in y and z",
                text(launch.grid));
  }
  if (code.required_block && dims(*code.required_block) != launch.block) {
    return fail(DiagKind::BadLaunch, "a block of {}, and `{}` has `.reqntid {}`",
                text(launch.block), code.name, text(dims(*code.required_block)));
  }
  if (code.most_block) {
    const Dim3 most = dims(*code.most_block);
    if (threads > most.count()) {
      return fail(DiagKind::BadLaunch, "a block of {} threads, and `{}` has `.maxntid {}`", threads,
                  code.name, text(most));
    }
  }
  if (code.required_cluster && dims(*code.required_cluster) != cluster) {
    return fail(DiagKind::BadLaunch, "a cluster of {}, and `{}` has `.reqnctapercluster {}`",
                text(cluster), code.name, text(dims(*code.required_cluster)));
  }
  if (cluster.count() > 1 && !program.target.has(target::Feature::Sm90)) {
    return fail(DiagKind::BadLaunch, "a cluster of {}, and {} has no clusters", text(cluster),
                target::info(program.target.arch).name);
  }
  if (cluster.count() > kMaxCluster || cluster.count() == 0) {
    return fail(DiagKind::BadLaunch, "a cluster of {}; {} blocks are the most", text(cluster),
                kMaxCluster);
  }
  if (launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0) {
    return fail(DiagKind::BadLaunch, "a grid of {} is no multiple of the cluster {}",
                text(launch.grid), text(cluster));
  }
  const std::uint32_t most_shared = most_shared_bytes(program.target);
  if (shared > most_shared) {
    return fail(DiagKind::BadLaunch, "{} bytes of shared memory; a block of {} has {} at most",
                shared, target::info(program.target.arch).name, most_shared);
  }
  if (launch.params.size() != code.param_bytes) {
    return fail(DiagKind::BadLaunch, "{} bytes of parameters, and `{}` takes {}",
                launch.params.size(), code.name, code.param_bytes);
  }
  for (const Param& param : code.params) {
    std::uint64_t address = 0;
    std::memcpy(&address, launch.params.data() + param.offset,
                std::min<std::size_t>(sizeof address, param.bytes));
    WW_TRY_VOID(check_alignment(param, address));
  }
  return {};
}

Result<void> check_resident(const Program& program, const Launch& launch, std::uint32_t shared) {
  const std::uint64_t warps = (launch.block.count() + kLanes - 1) / kLanes;
  const std::uint64_t each = std::min<std::uint64_t>(
      {most_blocks_per_sm(program.target), most_warps_per_sm(program.target) / warps,
       (most_shared_bytes(program.target) + kReservedShared) / (shared + kReservedShared)});
  if (launch.grid.count() <= each * kSms) return {};
  return fail(
      diag(DiagKind::BadLaunch,
           "{} blocks of {} warps, and the kernel has a grid barrier: {} of them are on the "
           "{} SMs at once",
           launch.grid.count(), warps, each * kSms, kSms)
          .with_note("a cooperative launch of CUDA fails, too; let each block do more"));
}

}  // namespace ww::sim
