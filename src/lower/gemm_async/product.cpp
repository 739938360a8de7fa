// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm_async/product.h"

#include "ir/gemm_factors.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/checks.h"
#include "lower/gemm/problem.h"

namespace ww::lower {
namespace {

using num::DType;

constexpr std::size_t kScaleArguments[] = {3, 4};
constexpr std::string_view kAsyncRoles[] = {"C", "A", "B"};

// --- types ---------------------------------------------------------------------------------------

std::string_view wgmma_word(DType type) {
  switch (type) {
    case DType::Float16:
      return "f16";
    case DType::Bfloat16:
      return "bf16";
    case DType::Float32:
      return "f32";
    case DType::Tfloat32:
      return "tf32";
    case DType::Float8E4M3fn:
      return "e4m3";
    case DType::Float8E5M2:
      return "e5m2";
    case DType::Int8:
      return "s8";
    case DType::Uint8:
      return "u8";
    case DType::Int32:
      return "s32";
    default:
      return "";
  }
}

/// Factors that go with each other, and their results.
struct WgmmaTypeRow {
  std::string_view factors, results;
  std::int64_t depth;
  bool is_integer, may_turn;
};
constexpr WgmmaTypeRow kWgmmaTypes[] = {{" f16 ", " f32 f16 ", 16, false, true},
                                        {" bf16 ", " f32 ", 16, false, true},
                                        {" tf32 ", " f32 ", 8, false, false},
                                        {" e4m3 e5m2 ", " f32 f16 ", 32, false, false},
                                        {" s8 u8 ", " s32 ", 32, true, false}};

bool lists_word(std::string_view list, std::string_view word) {
  return !word.empty() && list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

Match<WgmmaTypes> wgmma_types_of(const Call& call) {
  const DType a = call.buffer(1).dtype, b = call.buffer(2).dtype, d = call.buffer(0).dtype;
  WgmmaTypes out{.a = wgmma_word(a), .b = wgmma_word(b), .d = wgmma_word(d)};
  const bool is_cut = ir::is_true(call.setting("is_AB_tf32"));
  for (std::string_view* factor : {&out.a, &out.b})
    if (is_cut && *factor == "f32") *factor = "tf32";
  for (const WgmmaTypeRow& row : kWgmmaTypes) {
    if (!lists_word(row.factors, out.a) || !lists_word(row.factors, out.b) ||
        !lists_word(row.results, out.d))
      continue;
    out.depth = row.depth;
    out.is_integer = row.is_integer;
    out.may_turn = row.may_turn;
    return out;
  }
  const bool is_single = a == DType::Float32 && b == DType::Float32 && d == DType::Float32;
  return decline("dtype", "wgmma has no {} times {} into {}{}", num::name_of(a), num::name_of(b),
                 num::name_of(d),
                 is_single ? "; `is_AB_tf32=True` cuts the factors to 10 bits of fraction" : "");
}

// --- the call ------------------------------------------------------------------------------------

Match<void> check_warpgroups(const Call& call) {
  const ir::Unit scope = call.tile.scope;
  if (scope != ir::Unit::Warpgroup && scope != ir::Unit::Cta)
    return decline("scope", "{} scope, expected warpgroup or cta: 128 threads make an instruction",
                   ir::name_of(scope));
  if (call.context.launch.threads() % 128 != 0)
    return decline("threads", "{} threads are not whole warpgroups", call.context.launch.threads());
  if (!call.active.together(ir::Unit::Warpgroup))
    return decline("threads", "not whole warpgroups arrive: {}",
                   ir::to_text(call.active, call.context.launch));
  return {};
}

Match<void> check_product_memories(const Call& call) {
  if (call.memory(0) == ir::Scope::Tmem)
    return decline("memory", "C is in tensor memory, for `tcgen05.mma`, which is not lowered");
  if (call.memory(0) != ir::Scope::Local)
    return decline("memory", "C is in {} memory, expected registers (local)",
                   ir::name_of(call.memory(0)));
  if (call.memory(1) != ir::Scope::Local && !ir::is_shared(call.memory(1)))
    return decline("memory", "A is in {} memory, expected shared memory or registers (local)",
                   ir::name_of(call.memory(1)));
  if (!ir::is_shared(call.memory(2)))
    return decline("memory", "B is in {} memory, expected shared memory",
                   ir::name_of(call.memory(2)));
  for (const std::size_t i : kScaleArguments)
    if (std::holds_alternative<ir::Region>(call.tile.args[i]))
      return decline("operands", "scales of blocks, which wgmma does not have");
  return {};
}

Match<void> check_product_config(const Call& call) {
  for (const auto& [name, value] : call.tile.config) {
    if (name == "is_AB_tf32") continue;
    if (name == "cta_group" && value == ir::Setting(std::int64_t{1})) continue;
    return decline("config", "`{}=` is of `tcgen05.mma`, expected none", name);
  }
  return {};
}

void read_accum(const Call& call, AsyncProduct& out) {
  const ir::TileArg& arg = call.tile.args[ir::kAsyncAccum];
  const auto* expr = std::get_if<ir::ExprId>(&arg);
  if (expr == nullptr) {
    out.accumulates = ir::is_true(arg);
    return;
  }
  if (const auto known = ir::const_int(call.f(), *expr))
    out.accumulates = *known != 0;
  else
    out.when = *expr;
}

}  // namespace

bool WgmmaTypes::has_columns(std::int64_t n) const {
  if (n < 8 || n > 256 || n % 8 != 0) return false;
  return !is_integer || n <= 32 || n % 16 == 0;
}

std::string WgmmaTypes::columns_text() const {
  return is_integer ? "8, 16, 24, 32 and multiples of 16 up to 256" : "multiples of 8 up to 256";
}

std::string WgmmaTypes::opcode(std::int64_t n) const {
  return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", n, depth, d, a, b);
}

Match<AsyncProduct> async_product(const Call& call) {
  WW_TRY_VOID(check_product_memories(call));
  WW_TRY_VOID(check_target(call, "wgmma", target::Feature::Wgmma));
  WW_TRY_VOID(check_warpgroups(call));
  WW_TRY_VOID(check_product_config(call));
  AsyncProduct out;
  out.types = WW_TRY(wgmma_types_of(call));
  const auto d = WW_TRY(matrix_extents(call, 0, kAsyncRoles[0]));
  const auto a = WW_TRY(matrix_extents(call, 1, kAsyncRoles[1]));
  WW_TRY_VOID(matrix_extents(call, 2, kAsyncRoles[2]));
  out.turns_a = ir::is_true(call.tile.args[ir::kAsyncTransA]);
  out.turns_b = ir::is_true(call.tile.args[ir::kAsyncTransB]);
  out.m = d.first;
  out.n = d.second;
  out.k = out.turns_a ? a.first : a.second;
  if (out.k % out.types.depth != 0)
    return decline("shape", "K is {}, expected a multiple of {}: wgmma takes 32 bytes of {} each",
                   out.k, out.types.depth, num::name_of(call.buffer(1).dtype));
  out.is_a_in_registers = call.memory(1) == ir::Scope::Local;
  read_accum(call, out);
  out.d = WW_TRY(operand_places(call, 0));
  out.a = WW_TRY(operand_places(call, 1));
  out.b = WW_TRY(operand_places(call, 2));
  return out;
}

}  // namespace ww::lower
