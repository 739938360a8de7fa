// SPDX-License-Identifier: Apache-2.0
// A kernel with its arguments, ready to run: what is the same for all its CTAs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"
#include "eval/launch/host_values.h"
#include "eval/launch/placement.h"
#include "eval/launch/steps.h"
#include "eval/ptx/instruction.h"
#include "ir/function.h"
#include "ir/launch/launch.h"

namespace ww::eval {

/// Memory of its own: a parameter's, an allocation's, or the tensor memory of the CTA. Local ones
/// exist per thread, shared ones and tensor memory per CTA.
struct Root {
  ir::Scope scope{};
  ir::BufferId buffer = {};  // that names it; none for tensor memory
  std::size_t bytes = 0;     // per thread for local ones
  std::size_t granule = 1;   // bytes of the smallest element
  std::uint32_t window = 0;  // shared: address in the shared window
  std::size_t param = 0;     // global: number of the parameter
};

inline constexpr std::int32_t kNoRoot = -1;
/// Tensor memory: 128 lanes of 512 columns of 32 bits.
inline constexpr std::int64_t kTmemLanes = 128;
inline constexpr std::int64_t kTmemColumns = 512;
inline constexpr std::int64_t kTmemLaneBits = kTmemColumns * 32;
inline constexpr std::int64_t kTmemQuarter = 32;  // lanes that a warp reaches

/// An extent of a view that only the kernel knows: `ir->shape` says it, where the view is used.
inline constexpr std::int64_t kKnownInside = -1;

struct BufferInfo {
  ir::BufferId id = {};
  const ir::Buffer* ir = nullptr;
  int bits = 0;                 // of an element in storage
  std::int32_t root = kNoRoot;  // none: its pointer says which
  layout::Shape shape;
  std::int64_t size = 1;  // elements; 0 where an extent is kKnownInside
  Placement placement;
  std::int64_t offset_bits = 0;  // constant part of the offsets
  ir::ExprId elem_offset = {};   // where not constant
  ir::ExprId byte_offset = {};
  ir::ExprId allocated_addr = {};
};

struct Launch {
  const ir::Function* function = nullptr;
  StepList steps;
  std::vector<PtxInstruction> ptx;  // by PtxCallId
  HostValues host;
  ir::LaunchShape shape;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::vector<Root> roots;
  std::vector<BufferInfo> buffers;  // by BufferId
  std::int32_t tmem = kNoRoot;      // root of the tensor memory
  std::vector<bool> may_overflow;   // by ExprId: index arithmetic that its ranges do not bound
  bool has_global_atomics = false;
  bool has_fences = false;

  [[nodiscard]] std::size_t threads() const { return static_cast<std::size_t>(shape.threads()); }
  [[nodiscard]] const BufferInfo& info(ir::BufferId id) const { return buffers[id.index]; }
  [[nodiscard]] const Root& root(std::int32_t number) const {
    return roots[static_cast<std::size_t>(number)];
  }
};

/// Binds arguments and lays out memory. BadArgument when the arguments do not fit, NotEvaluated for
/// layouts and shapes that are not evaluated, RunLimit for too much memory; and what launch_shape
/// says.
Result<Launch> make_launch(const ir::Function& function, std::span<const Argument> arguments,
                           const Options& options);

}  // namespace ww::eval
