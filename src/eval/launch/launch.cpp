// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/launch.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/join.h"
#include "base/wide.h"
#include "eval/launch/supported.h"
#include "eval/ptx/instruction.h"
#include "ir/launch/launch.h"
#include "ir/simplify/simplify.h"

namespace ww::eval {
namespace {

using ir::Buffer;
using ir::BufferId;
using ir::BufferOrigin;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::Intrinsic;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;

// --- steps ---------------------------------------------------------------------------------------

/// Calls `visit` for an expression and all below it. Expressions of a buffer that is used (offsets,
/// addresses) are not followed.
template <typename Visit>
void for_each_expr(const Function& function, ExprId root, const Visit& visit) {
  if (!root.valid()) return;
  const Expr& expr = function[root];
  visit(expr);
  for (const ExprId arg : expr.args) for_each_expr(function, arg, visit);
}

class StepBuilder {
 public:
  explicit StepBuilder(const Function& function) : function_(function) {}

  Result<StepList> build() {
    WW_TRY_VOID(block(function_.host));
    WW_TRY_VOID(block(function_.body));
    push(StepKind::Exit, {});
    for (Step& step : list_.steps) gather(step);
    return std::move(list_);
  }

 private:
  struct Loop {
    std::vector<std::size_t> breaks;
    std::vector<std::size_t> continues;
  };

  std::size_t push(StepKind kind, StmtId stmt) {
    list_.steps.push_back(Step{.kind = kind, .stmt = stmt});
    return list_.steps.size() - 1;
  }
  Result<void> add(StepKind kind, StmtId stmt) {
    push(kind, stmt);
    return {};
  }
  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(list_.steps.size());
  }
  void land(std::size_t jump) { list_.steps[jump].target = here(); }

  Result<void> block(const ir::Block& stmts) {
    for (const StmtId id : stmts) WW_TRY_VOID(statement(id));
    return {};
  }

  Result<void> statement(StmtId id) {
    const Stmt& stmt = function_[id];
    WW_TRY_VOID(require_evaluated(function_, stmt));
    switch (stmt.kind) {
      case StmtKind::Bind:
        return add(StepKind::Bind, id);
      case StmtKind::Alloc:
        if (function_[stmt.buffer].scope == ir::Scope::Local) push(StepKind::Forget, id);
        return {};
      case StmtKind::Declare:
        return {};
      case StmtKind::Store:
        return add(StepKind::Store, id);
      case StmtKind::For:
        return for_loop(id, stmt);
      case StmtKind::While:
        return while_loop(id, stmt);
      case StmtKind::If:
        return branch(id, stmt);
      case StmtKind::Assert:
        return add(StepKind::Assert, id);
      case StmtKind::Evaluate:
        return add(StepKind::Evaluate, id);
      case StmtKind::Break:
        loops_.back().breaks.push_back(push(StepKind::Jump, id));
        return {};
      case StmtKind::Continue:
        loops_.back().continues.push_back(push(StepKind::Jump, id));
        return {};
      case StmtKind::Return:
        return add(StepKind::Exit, id);
      case StmtKind::Attr:
        return block(stmt.body);
      case StmtKind::ScopeIds:
      case StmtKind::LaunchThread:
        return add(StepKind::Ids, id);
      case StmtKind::Tile:
        return add(StepKind::Tile, id);
      case StmtKind::Ptx:
        return add(StepKind::Ptx, id);
    }
    return {};
  }

  Result<void> for_loop(StmtId id, const Stmt& stmt) {
    if (stmt.loop == ir::LoopKind::ThreadBinding) {
      push(StepKind::Ids, id);
      return block(stmt.body);
    }
    const std::uint32_t number = list_.loops++;
    list_.steps[push(StepKind::LoopBegin, id)].loop = number;
    const std::size_t test = push(StepKind::LoopTest, id);
    list_.steps[test].loop = number;
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues) land(jump);
    const std::size_t next = push(StepKind::LoopNext, id);
    list_.steps[next].loop = number;
    list_.steps[next].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  Result<void> while_loop(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(StepKind::While, id);
    loops_.emplace_back();
    WW_TRY_VOID(block(stmt.body));
    for (const std::size_t jump : loops_.back().continues)
      list_.steps[jump].target = static_cast<std::uint32_t>(test);
    list_.steps[push(StepKind::Jump, id)].target = static_cast<std::uint32_t>(test);
    leave_loop(test);
    return {};
  }

  void leave_loop(std::size_t test) {
    land(test);
    for (const std::size_t jump : loops_.back().breaks) land(jump);
    loops_.pop_back();
  }

  Result<void> branch(StmtId id, const Stmt& stmt) {
    const std::size_t test = push(StepKind::Branch, id);
    WW_TRY_VOID(block(stmt.body));
    if (stmt.other.empty()) {
      land(test);
      return {};
    }
    const std::size_t skip = push(StepKind::Jump, id);
    land(test);
    WW_TRY_VOID(block(stmt.other));
    land(skip);
    return {};
  }

  // Lanes that exchange values must be there together; what else is collective says so itself.
  void gather(Step& step) {
    if (!step.stmt.valid()) return;
    const Stmt& stmt = function_[step.stmt];
    if (step.kind == StepKind::Tile) {
      step.gather = gather_of(function_[stmt.tile].scope);
      if (step.gather == Gather::Warpgroup || step.gather == Gather::Cta) want_who_comes(step);
      return;
    }
    if (step.kind == StepKind::Ptx && is_warp_collective(decode(function_[stmt.ptx]).kind)) {
      step.gather = Gather::Warp;
      return;
    }
    if (step.kind == StepKind::Jump || step.kind == StepKind::LoopTest ||
        step.kind == StepKind::LoopNext)
      return;
    bool is_full = false;
    const auto visit = [&](const Expr& expr) {
      look_at(expr, step, is_full);
      if (!expr.args.empty()) ++step.operations;
    };
    for_each_expr(function_, stmt.expr, visit);
    for (const ExprId arg : stmt.args) for_each_expr(function_, arg, visit);
    if (is_full) step.masks.clear();
  }

  // A copy between memories may stand where only part of its unit comes (ir/verify/verify.h): the
  // others are not waited for.
  void want_who_comes(Step& step) {
    if (!active_) {
      const auto shape = ir::launch_shape(function_);
      if (!shape) return;
      active_ = ir::ActiveSets::of(function_, *shape);
      threads_ = static_cast<std::size_t>(shape->threads());
    }
    const ir::Threads& may = (*active_)[step.stmt].may;
    if (may.any() && may.count() != threads_) step.wanted = may;
  }

  static void look_at(const Expr& expr, Step& step, bool& is_full) {
    if (expr.op != ExprOp::Call) return;
    const Intrinsic callee = expr.callee;
    if (callee == Intrinsic::CtaReduce) step.gather = Gather::Cta;
    if (ir::facts_of(callee).effect != ir::Effect::Exchange || callee == Intrinsic::ActiveMask)
      return;
    if (step.gather == Gather::None) step.gather = Gather::Lanes;
    if (callee == Intrinsic::ElectSync || callee == Intrinsic::WarpReduce)
      is_full = true;
    else
      step.masks.push_back(expr.args[0]);
  }

  static Gather gather_of(ir::Unit scope) {
    switch (scope) {
      case ir::Unit::Thread:
        return Gather::None;
      case ir::Unit::Warp:
        return Gather::Warp;
      case ir::Unit::Warpgroup:
        return Gather::Warpgroup;
      default:
        return Gather::Cta;
    }
  }

  const Function& function_;
  std::optional<ir::ActiveSets> active_;  // made when asked for
  std::size_t threads_ = 0;
  StepList list_;
  std::vector<Loop> loops_;
};

Result<StepList> make_steps(const Function& function) { return StepBuilder(function).build(); }

constexpr std::size_t kSharedWindow = 1024;  // address of the first byte of shared memory
constexpr std::size_t kDefaultAlign = 128;   // one row of the banks
constexpr std::size_t kTmemCell = 4;         // bytes that tcgen05.ld and .st move
constexpr std::int64_t kMaxCtas = std::int64_t{1} << 31;

class LaunchMaker {
 public:
  LaunchMaker(const Function& function, std::span<const Argument> arguments, const Options& options)
      : function_(function), arguments_(arguments), options_(options) {}

  Result<Launch> make() {
    launch_.function = &function_;
    launch_.steps = WW_TRY(make_steps(function_));
    for (const ir::PtxCall& call : function_.ptx_calls) launch_.ptx.push_back(decode(call));
    launch_.host = WW_TRY(bind_arguments(function_, arguments_));
    launch_.shape = WW_TRY(ir::launch_shape(function_));
    WW_TRY_VOID(find_grid());
    find_granule();
    launch_.buffers.resize(function_.buffer_count());
    for (std::uint32_t i = 0; i < function_.buffer_count(); ++i) WW_TRY_VOID(describe(BufferId{i}));
    for (std::uint32_t i = 0; i < function_.buffer_count(); ++i) WW_TRY_VOID(root(BufferId{i}));
    for (std::uint32_t i = 0; i < function_.buffer_count(); ++i) share_root(BufferId{i});
    root_bare_params();
    for (const PtxInstruction& ptx : launch_.ptx)  // by address, with no buffer there
      if (ptx.is_tensor) tmem_root();
    WW_TRY_VOID(check_memory());
    find_overflows();
    return std::move(launch_);
  }

 private:
  // Lowering adds in another order than the source, and is right where the source is: its own index
  // arithmetic is not looked at.
  void find_overflows() {
    launch_.may_overflow.resize(function_.expr_count());
    if (function_.level != ir::Level::Tile) return;
    const ir::Facts facts = ir::facts_of(function_);
    const ir::Ranges ranges(function_, facts);
    for (std::uint32_t i = 0; i < function_.expr_count(); ++i) {
      const ir::ExprId id{i};
      const bool is_vector = function_[id].type.lanes > 1;
      launch_.may_overflow[i] = function_[id].no_wrap && (is_vector || !ranges.stays_in_type(id));
    }
  }

  Result<void> find_grid() {
    for (std::size_t d = 0; d < 3; ++d) {
      const ir::Extent& extent = launch_.shape.grid[d];
      launch_.grid[d] = extent.value;
      if (extent.is_constant()) continue;
      const auto value = host_value(function_, launch_.host, extent.expr);
      if (!value)
        return fail(diag(DiagKind::NotEvaluated, "the grid's extent is not known before the launch")
                        .with_span(function_[extent.expr].span));
      launch_.grid[d] = as_int(function_[extent.expr].type.dtype, *value);
    }
    std::int64_t ctas = 1;
    for (const std::int64_t extent : launch_.grid) {
      if (extent < 1)
        return fail(DiagKind::BadArgument, "the grid is {}: expected extents of at least 1",
                    join(launch_.grid, " x "));
      ctas = checked_mul(ctas, extent).value_or(kMaxCtas + 1);
      if (ctas > kMaxCtas)
        return fail(DiagKind::RunLimit, "the grid is {}: more than {} CTAs are not evaluated",
                    join(launch_.grid, " x "), kMaxCtas);
    }
    return {};
  }

  // One granule for all memory, so that an access through any pointer covers whole ones.
  void find_granule() {
    std::size_t granule = 8;
    const auto at_least = [&](std::size_t bytes) {
      granule = std::min(granule, std::max<std::size_t>(bytes, 1));
    };
    for (std::uint32_t i = 0; i < function_.buffer_count(); ++i)
      at_least(static_cast<std::size_t>(storage_bits(function_[BufferId{i}].dtype)) / 8);
    for (std::uint32_t i = 0; i < function_.expr_count(); ++i) {
      const ir::Expr& expr = function_[ir::ExprId{i}];
      if (expr.op != ir::ExprOp::Call) continue;
      launch_.has_fences = launch_.has_fences || expr.callee == Intrinsic::ThreadFence;
      const ir::Effect effect = ir::facts_of(expr.callee).effect;
      if (expr.callee == Intrinsic::CopyBytes) {
        const auto count = ir::const_int(function_, expr.args[2]).value_or(1);
        at_least(std::size_t{1} << std::countr_zero(static_cast<std::uint64_t>(count) | 8U));
      } else if ((effect == ir::Effect::Reads || effect == ir::Effect::Writes) &&
                 expr.type.is_value()) {
        at_least(static_cast<std::size_t>(storage_bits(expr.type.dtype)) / 8);
        note_atomic(expr);
      }
    }
    for (const PtxInstruction& ptx : launch_.ptx) {
      at_least(ptx_granule(ptx));
      launch_.has_fences = launch_.has_fences || ptx.kind == PtxKind::Fence;
    }
    granule_ = granule;
  }

  static std::size_t ptx_granule(const PtxInstruction& ptx) {
    const bool moves = ptx.kind == PtxKind::Load || ptx.kind == PtxKind::Store ||
                       ptx.kind == PtxKind::LoadMatrix || ptx.kind == PtxKind::StoreMatrix;
    return moves && ptx.bits < 32 ? static_cast<std::size_t>(ptx.bits) / 8 : 4;
  }

  void note_atomic(const ir::Expr& expr) {
    if (expr.callee == Intrinsic::Ldg) return;
    const ir::Expr& pointer = function_[expr.args[0]];
    const bool is_shared =
        (pointer.op == ir::ExprOp::AddressOf || pointer.op == ir::ExprOp::BufferData) &&
        function_[pointer.buffer].scope != ir::Scope::Global;
    if (!is_shared) launch_.has_global_atomics = true;
  }

  Result<void> describe(BufferId id) {
    const Buffer& buffer = function_[id];
    BufferInfo& info = launch_.buffers[id.index];
    info.id = id;
    info.ir = &buffer;
    info.bits = storage_bits(buffer.dtype);
    WW_TRY_VOID(find_shape(buffer, info));
    if (buffer.layout_kind == ir::LayoutKind::Explicit) {
      auto placement = Placement::make(*buffer.layout, launch_.shape.cluster);
      if (!placement) return fail(std::move(placement).error().with_span(buffer.span));
      info.placement = *std::move(placement);
      if (buffer.scope != ir::Scope::Global) info.placement.remember(info.size);
    }
    take_offset(buffer.elem_offset, info.bits, info.offset_bits, info.elem_offset);
    take_offset(buffer.byte_offset, 8, info.offset_bits, info.byte_offset);
    info.allocated_addr = buffer.allocated_addr;
    return {};
  }

  Result<void> find_shape(const Buffer& buffer, BufferInfo& info) {
    for (const ir::ExprId extent : buffer.shape) {
      const auto value = host_value(function_, launch_.host, extent);
      if (!value) {
        if (buffer.origin == BufferOrigin::Alloc || buffer.origin == BufferOrigin::Param)
          return fail(diag(DiagKind::NotEvaluated,
                           "the shape of `{}` is not known before the launch", buffer.name)
                          .with_span(buffer.span));
        info.shape.push_back(kKnownInside);
        info.size = 0;
        continue;
      }
      info.shape.push_back(as_int(function_[extent].type.dtype, *value));
      const auto size = checked_mul(info.size, info.shape.back());
      if (info.shape.back() < 0 || !size || *size > layout::kMaxSize)
        return fail(
            diag(DiagKind::BadArgument, "`{}` has an extent of {}", buffer.name, info.shape.back())
                .with_span(buffer.span));
      info.size = *size;
    }
    return {};
  }

  void take_offset(ir::ExprId expr, int bits, std::int64_t& constant, ir::ExprId& rest) {
    if (!expr.valid()) return;
    if (const auto value = host_value(function_, launch_.host, expr))
      constant += as_int(function_[expr].type.dtype, *value) * bits;
    else
      rest = expr;
  }

  Result<void> root(BufferId id) {
    const Buffer& buffer = function_[id];
    BufferInfo& info = launch_.buffers[id.index];
    if (buffer.scope == ir::Scope::Tmem) {
      info.root = tmem_root();
      return {};
    }
    if (buffer.origin == BufferOrigin::Param) {
      info.root = param_root(id, buffer);
      return {};
    }
    if (buffer.origin != BufferOrigin::Alloc) return {};
    Root root{.scope = buffer.scope, .buffer = id, .granule = granule_};
    root.bytes = WW_TRY(bytes_of(info));
    if (ir::is_shared(buffer.scope)) root.window = shared_address(root.bytes, buffer.align);
    info.root = add(root);
    return {};
  }

  std::int32_t add(const Root& root) {
    launch_.roots.push_back(root);
    return static_cast<std::int32_t>(launch_.roots.size() - 1);
  }

  std::int32_t tmem_root() {
    if (launch_.tmem == kNoRoot)
      launch_.tmem = add(Root{.scope = ir::Scope::Tmem,
                              .bytes = static_cast<std::size_t>(kTmemLanes * kTmemLaneBits / 8),
                              .granule = std::min(granule_, kTmemCell)});
    return launch_.tmem;
  }

  std::int32_t param_root(BufferId id, const Buffer& buffer) {
    for (std::size_t r = 0; r < launch_.roots.size(); ++r) {
      const Root& root = launch_.roots[r];
      if (root.buffer.valid() && function_[root.buffer].origin == BufferOrigin::Param &&
          function_[root.buffer].param == buffer.param)
        return static_cast<std::int32_t>(r);
    }
    std::size_t param = 0;
    while (param < function_.params.size() && function_.params[param].var != buffer.param) ++param;
    const BufferInfo& info = launch_.buffers[id.index];
    const auto bytes = bytes_of(info);
    return add(Root{.scope = ir::Scope::Global,
                    .buffer = id,
                    .bytes = bytes ? *bytes : 0,
                    .granule = granule_,
                    .param = param});
  }

  // Parameters that are used as pointers only.
  void root_bare_params() {
    for (std::size_t p = 0; p < function_.params.size(); ++p) {
      const auto* array = std::get_if<BufferArg>(&arguments_[p]);
      const auto is_its = [&](const Root& root) {
        return root.scope == ir::Scope::Global && root.param == p;
      };
      if (array == nullptr || std::any_of(launch_.roots.begin(), launch_.roots.end(), is_its))
        continue;
      add(Root{.scope = ir::Scope::Global,
               .bytes = array->bytes->size(),
               .granule = granule_,
               .param = p});
    }
  }

  // Everything up to the last place of an element, in whole granules.
  Result<std::size_t> bytes_of(const BufferInfo& info) const {
    std::int64_t last = info.size;
    if (info.ir->layout_kind == ir::LayoutKind::Explicit &&
        !info.ir->layout->tile().has_unknown_extent())
      last =
          std::max<std::int64_t>(1, WW_TRY(layout::span_on(*info.ir->layout, layout::axes::m())));
    const auto bits = checked_mul(last, info.bits);
    if (!bits || *bits + info.offset_bits < 0)
      return fail(
          diag(DiagKind::RunLimit, "`{}` is too large", info.ir->name).with_span(info.ir->span));
    const auto granule = static_cast<std::int64_t>(granule_) * 8;
    const std::int64_t whole = (*bits + info.offset_bits + granule - 1) / granule;
    return static_cast<std::size_t>(whole) * granule_;
  }

  std::uint32_t shared_address(std::size_t bytes, std::int64_t align) {
    const std::size_t to = align > 0 ? static_cast<std::size_t>(align) : kDefaultAlign;
    window_ = (window_ + to - 1) / to * to;
    const auto address = static_cast<std::uint32_t>(window_);
    window_ += bytes;
    return address;
  }

  void share_root(BufferId id) {
    BufferInfo& info = launch_.buffers[id.index];
    if (info.root == kNoRoot && info.ir->origin == BufferOrigin::View)
      info.root = launch_.buffers[info.ir->base.index].root;
    if (info.ir->scope == ir::Scope::Tmem && !info.allocated_addr.valid() && info.ir->base.valid())
      info.allocated_addr = function_[info.ir->base].allocated_addr;
  }

  // A byte takes two of the host: the second says which of its bits are defined.
  [[nodiscard]] Wide host_bytes(const Root& root) const {
    const Wide bytes = Wide{2} * root.bytes;
    if (root.scope == ir::Scope::Global) return bytes;
    const auto& cluster = launch_.shape.cluster;  // its CTAs run together
    const Wide ctas = Wide{cluster[0]} * cluster[1] * cluster[2];
    return bytes * ctas * (root.scope == ir::Scope::Local ? launch_.threads() : 1);
  }

  [[nodiscard]] Result<void> check_memory() const {
    Wide bytes = 0;
    const Root* largest = nullptr;
    for (const Root& root : launch_.roots) {
      bytes += host_bytes(root);
      if (largest == nullptr || host_bytes(root) > host_bytes(*largest)) largest = &root;
    }
    if (bytes <= options_.limits.memory) return {};
    Diag problem =
        diag(DiagKind::RunLimit, "the buffers take {} bytes of the host; the limit is {}", bytes,
             options_.limits.memory)
            .with_note("`--limit memory=BYTES` raises it");
    if (largest->buffer.valid()) problem.span = function_[largest->buffer].span;
    return fail(std::move(problem));
  }

  const Function& function_;
  std::span<const Argument> arguments_;
  const Options& options_;
  Launch launch_;
  std::size_t granule_ = 1;
  std::size_t window_ = kSharedWindow;
};

}  // namespace

Result<Launch> make_launch(const Function& function, std::span<const Argument> arguments,
                           const Options& options) {
  return LaunchMaker(function, arguments, options).make();
}

}  // namespace ww::eval
