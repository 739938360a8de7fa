// SPDX-License-Identifier: Apache-2.0
#include "eval/tile/primitives.h"

#include <array>

#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/sync/barriers.h"
#include "ir/shared_size.h"

namespace ww::eval {
namespace {

// Elementwise primitives and reductions over shared memory end with a barrier of their unit; copies,
// scans and matrix products do not.
void end_with_barrier(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  if (unit.size == 1) return;
  switch (call.op) {
    case TileOp::Copy:
    case TileOp::CopyAsync:
    case TileOp::Gemm:
    case TileOp::GemmAsync:
    case TileOp::Cumsum:
    case TileOp::Cumprod:
    case TileOp::Cummax:
    case TileOp::Cummin:
      return;
    default:
      break;
  }
  const auto* region = std::get_if<ir::Region>(&call.args[0]);
  if (region != nullptr && ir::is_shared(cta.f[region->buffer].scope)) meet(cta, unit.threads);
}

void run_primitive(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  switch (call.op) {
    case TileOp::Copy:
    case TileOp::PermuteLayout:
    case TileOp::CopyAsync:
      tile_copy(cta, call, unit);
      break;
    case TileOp::Gemm:
      tile_gemm(cta, call, unit);
      break;
    case TileOp::Sum:
    case TileOp::Max:
    case TileOp::Min:
    case TileOp::Prod:
    case TileOp::Any:
    case TileOp::All:
    case TileOp::Argmax:
    case TileOp::Argmin:
      tile_reduce(std::array{ReduceMember{.cta = &cta, .unit = unit}}, call);
      break;
    case TileOp::Gather:
    case TileOp::Scatter:
    case TileOp::ScatterAdd:
      tile_indexed(cta, call, unit);
      break;
    case TileOp::Cumsum:
    case TileOp::Cumprod:
    case TileOp::Cummax:
    case TileOp::Cummin:
      tile_scan(cta, call, unit);
      break;
    case TileOp::GemmAsync:
      tile_gemm_async(cta, call, unit);
      break;
    default:
      tile_elementwise(cta, call, unit);
      break;
  }
  forget_workspace(cta, call);
  end_with_barrier(cta, call, unit);
}

struct UnitFacts {
  AgentKind kind;
  std::size_t size;
};
UnitFacts facts_of_unit(const Cta& cta, ir::Unit unit) {
  switch (unit) {
    case ir::Unit::Thread:
      return {AgentKind::Thread, 1};
    case ir::Unit::Warp:
      return {AgentKind::Warp, kWarp};
    case ir::Unit::Warpgroup:
      return {AgentKind::Warpgroup, kWarpgroup};
    default:
      return {AgentKind::Cta, cta.thread_count()};
  }
}

}  // namespace

// A primitive that hands values from thread to thread may leave anything there.
void forget_workspace(Cta& cta, const ir::TileCall& call) {
  for (const auto& [name, buffer] : call.workspace) {
    const BufferInfo& info = cta.launch.info(buffer);
    const auto bytes = ir::storage_bytes(cta.f, *info.ir);
    const bool is_constant = !info.elem_offset.valid() && !info.byte_offset.valid();
    if (!ir::is_shared(info.ir->scope) || info.root == kNoRoot || !bytes || !is_constant) continue;
    storage_of(cta, info.root)
        .forget(static_cast<std::size_t>(info.offset_bits / 8), static_cast<std::size_t>(*bytes));
  }
}

void call_tile(Cta& cta, const ir::TileCall& call, Threads ts) {
  const auto [kind, size] = facts_of_unit(cta, call.scope);
  each_unit(ts, size, [&, kind = kind, size = size](std::uint32_t unit, Threads threads) {
    if (cta.run.stop) return;
    cta.order.tick();
    run_primitive(cta, call,
                  {.agent = {kind, static_cast<std::uint16_t>(unit)},
                   .first = static_cast<Thread>(unit * size),
                   .size = static_cast<std::int64_t>(size),
                   .threads = threads});
  });
}

Word apply_in(num::DType in, ir::ExprOp op, num::DType a_type, Word a, num::DType b_type, Word b) {
  a = convert(a_type, in, a);
  b = convert(b_type, in, b);
  Word out = 0;
  binary(op, in, {&a, 1}, {&b, 1}, {&out, 1});
  return out;
}

void tile_unsupported(Cta& cta, const ir::TileCall& call, std::string_view why) {
  stop(cta, DiagKind::NotEvaluated,
       fmt::format("`{}` is not evaluated here: {}", ir::name_of(call.op), why));
}

}  // namespace ww::eval
