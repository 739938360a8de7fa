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

namespace {

std::string text_of(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

// What any GPU takes.
Result<void> check_sizes(const Launch& launch) {
  const std::uint64_t threads = launch.block.count();
  if (threads == 0 || launch.grid.count() == 0) {
    return fail(DiagKind::BadLaunch, "grid {} and block {}: nothing to run", text_of(launch.grid),
                text_of(launch.block));
  }
  // By themselves first: their product may not fit into 64 bits.
  if (launch.block.x > kMaxThreads || launch.block.y > kMaxThreads || launch.block.z > 64) {
    return fail(DiagKind::BadLaunch, "a block of {}: at most {} in x and y, 64 in z",
                text_of(launch.block), kMaxThreads);
  }
  if (threads > kMaxThreads) {
    return fail(DiagKind::BadLaunch, "a block of {} has {} threads; {} are the most",
                text_of(launch.block), threads, kMaxThreads);
  }
  if (launch.grid.y > 65535 || launch.grid.z > 65535 || launch.grid.x > 0x7FFF'FFFFU) {
    return fail(DiagKind::BadLaunch, "a grid of {}: at most 2147483647 in x, 65535 in y and z",
                text_of(launch.grid));
  }
  return {};
}

// What the kernel asks of its blocks.
Result<void> check_block(const Code& code, const Dim3& block) {
  if (code.required_block && *code.required_block != block) {
    return fail(DiagKind::BadLaunch, "a block of {}, and the kernel has `.reqntid {}`",
                text_of(block), text_of(*code.required_block));
  }
  if (code.most_block && block.count() > code.most_block->count()) {
    return fail(DiagKind::BadLaunch, "a block of {} threads, and the kernel has `.maxntid {}`",
                block.count(), text_of(*code.most_block));
  }
  return {};
}

Result<void> check_cluster(const Program& program, const Launch& launch, const Dim3& cluster) {
  const Code& code = *launch.kernel;
  if (code.required_cluster && *code.required_cluster != cluster) {
    return fail(DiagKind::BadLaunch, "a cluster of {}, and the kernel has `.reqnctapercluster {}`",
                text_of(cluster), text_of(*code.required_cluster));
  }
  if (code.asks_for_cluster && !code.required_cluster && !launch.cluster) {
    return fail(DiagKind::BadLaunch,
                "a launch without a cluster, and the kernel has `.explicitcluster`");
  }
  if (cluster.count() > 1 && !program.target.has(target::Feature::Sm90)) {
    return fail(DiagKind::BadLaunch, "a cluster of {}, and {} has no clusters", text_of(cluster),
                target::info(program.target.arch).name);
  }
  if (cluster.count() > kMaxCluster || cluster.count() == 0) {
    return fail(DiagKind::BadLaunch, "a cluster of {}; {} blocks are the most", text_of(cluster),
                kMaxCluster);
  }
  if (launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0) {
    return fail(DiagKind::BadLaunch, "a grid of {} is not a multiple of the cluster {}",
                text_of(launch.grid), text_of(cluster));
  }
  return {};
}

}  // namespace

Result<void> check_launch(const Program& program, const Launch& launch, const Dim3& cluster,
                          std::uint32_t shared) {
  const Code& code = *launch.kernel;
  WW_TRY_VOID(check_sizes(launch));
  WW_TRY_VOID(check_block(code, launch.block));
  WW_TRY_VOID(check_cluster(program, launch, cluster));
  const std::uint32_t most_shared = most_shared_bytes(program.target);
  if (shared > most_shared) {
    return fail(DiagKind::BadLaunch, "{} bytes of shared memory; a block of {} has {} at most",
                shared, target::info(program.target.arch).name, most_shared);
  }
  if (launch.params.size() != code.param_bytes) {
    return fail(DiagKind::BadLaunch, "{} bytes of parameters, and the kernel takes {}",
                launch.params.size(), code.param_bytes);
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
