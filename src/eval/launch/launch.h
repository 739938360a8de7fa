// SPDX-License-Identifier: Apache-2.0
// A kernel with its arguments, ready to run: what is the same for all its CTAs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/eval.h"
#include "eval/launch/host_values.h"
#include "eval/launch/placement.h"
#include "eval/ptx/instruction.h"
#include "ir/function.h"
#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"

namespace ww::eval {

// --- steps ---------------------------------------------------------------------------------------
//
// A function as a flat, numbered list of steps, so that each thread can be at its own. The
// statements keep their order, and the code that a structured statement jumps over follows its
// jump: the threads furthest behind have the smallest number.

enum class StepKind : std::uint8_t {
  Bind,       // var = expr
  Forget,     // the thread's part of a local buffer is not written
  Store,      // buffer[args] = expr
  Evaluate,   // expr, for its effect
  Assert,     // expr must hold
  Branch,     // to `target` where expr does not hold
  While,      // the same; a thread that comes back often lets others pass
  Jump,       // to `target`
  LoopBegin,  // loop number `loop` begins
  LoopTest,   // to `target` when no trip is left
  LoopNext,   // next trip, at `target`
  Ids,        // scope ids or launch variables get their values
  Tile,
  Ptx,
  Exit,
};

/// Whom a step needs at once.
enum class Gather : std::uint8_t { None, Lanes, Warp, Warpgroup, Cta };

struct Step {
  StepKind kind{};
  Gather gather = Gather::None;
  ir::StmtId stmt = {};
  std::uint32_t target = 0;
  std::uint32_t loop = 0;
  std::uint64_t operations = 1;  // the step itself, and what its expressions compute
  // Lanes: the masks that name them; none: all lanes of the warp.
  std::vector<ir::ExprId> masks = {};
  std::optional<ir::Threads> wanted = {};  // the only threads that come here, where that is not all
};

struct StepList {
  std::vector<Step> steps;
  std::uint32_t loops = 0;
  [[nodiscard]] const Step& operator[](std::size_t number) const { return steps[number]; }
};

/// Makes the list. Fails with NotEvaluated, with its location, for code that the evaluator does not
/// execute.
Result<StepList> make_steps(const ir::Function& function);

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
