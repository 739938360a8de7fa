// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/launch.h"

#include <algorithm>
#include <bit>

#include "base/join.h"
#include "base/wide.h"
#include "eval/ptx/kind.h"
#include "ir/simplify/simplify.h"

namespace ww::eval {
namespace {

using ir::Buffer;
using ir::BufferId;
using ir::BufferOrigin;
using ir::Function;
using ir::Intrinsic;

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
