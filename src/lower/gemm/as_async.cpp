// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/as_async.h"

#include "ir/gemm_factors.h"
#include "ir/settings.h"
#include "lower/gemm/problem.h"

namespace ww::lower {
namespace {

constexpr std::size_t kGemmD = 0, kGemmA = 1, kGemmC = 3, kTransposeA = 4, kTransposeB = 5;

// Whether the sums of D count.
Match<bool> adds_to_result(const Call& call) {
  const num::DType d = call.buffer(kGemmD).dtype;
  const auto number = [&](std::size_t argument, double otherwise) {
    ir::GemmFactor factor = ir::gemm_factor(call.f(), call.tile.args[argument], otherwise);
    if (factor.constant) factor.constant = ir::gemm_number(*factor.constant, d);
    return factor;
  };
  const ir::GemmFactor alpha = number(ir::kGemmAlpha, 1), beta = number(ir::kGemmBeta, 0);
  if (!alpha.is(1))
    return decline("factor", "alpha is {}, expected 1: wgmma multiplies by nothing else",
                   alpha.constant ? fmt::format("{}", *alpha.constant) : "known at run time only");
  if (beta.is(0)) return false;
  if (!beta.is(1))
    return decline("factor", "beta is {}, expected 0 or 1: wgmma adds D as it is",
                   beta.constant ? fmt::format("{}", *beta.constant) : "known at run time only");
  if (!is_same_region(call, call.region(kGemmD), call.region(kGemmC)))
    return decline("operands", "C is `{}` and D is `{}`, expected one: wgmma adds to D",
                   call.buffer(kGemmC).name, call.buffer(kGemmD).name);
  return true;
}

}  // namespace

Match<ir::TileCall> async_form(const Call& call) {
  const bool adds = WW_TRY(adds_to_result(call));
  const auto storage = [&](std::size_t argument) {
    return ir::storage_of(call.f(), call.region(argument).buffer);
  };
  if (storage(kGemmD) == storage(kGemmA))
    return decline("overlap", "A and D are both in `{}`", call.f()[storage(kGemmA)].name);
  ir::TileCall out;
  out.op = ir::TileOp::GemmAsync;
  out.scope = call.tile.scope;
  const auto flag = [](bool value) { return ir::TileArg(ir::Setting(value)); };
  out.args = {call.tile.args[0],
              call.tile.args[1],
              call.tile.args[2],
              ir::TileArg(),
              ir::TileArg(),
              flag(ir::is_true(call.tile.args[kTransposeA])),
              flag(!ir::is_true(call.tile.args[kTransposeB])),
              flag(adds)};
  if (WW_TRY(flag_of(call, "allow_tf32"))) out.config.emplace_back("is_AB_tf32", ir::Setting(true));
  return out;
}

Call with_tile(const Call& call, const ir::TileCall& tile) {
  Call out{call.context, tile, call.span, call.active};
  out.may_repeat = call.may_repeat;
  out.is_in_loop = call.is_in_loop;
  out.registers = call.registers;
  return out;
}

}  // namespace ww::lower
