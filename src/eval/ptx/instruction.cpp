// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/instruction.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "eval/memory/order.h"
#include "isa/form.h"

namespace ww::eval {
namespace {

using num::DType;

using isa::Binding, isa::Mnemonic, isa::SlotName;

// --- which forms are executed --------------------------------------------------------------------

int type_bits(const Binding& binding) {
  const auto type = parse_type(binding.word("type"));
  return type ? isa::info(*type).bits : 0;
}

bool synchronizes(const Binding& binding) { return binding.has("sync"); }
bool arrives(const Binding& binding) { return binding.has("arrive"); }
bool counts(const Binding& binding) { return binding.has("red") && binding.word("op") == "popc"; }
bool has_no_hint(const Binding& binding) { return !binding.has("hint"); }
bool is_plain_box(const Binding& binding) {
  const bool is_tile = !binding.has("mode") || binding.word("mode") == "tile";
  return is_tile && !binding.has("group");
}
bool loads_box(const Binding& binding) {
  return binding.word("dst") != "global" && is_plain_box(binding);
}
bool stores_box(const Binding& binding) {
  return binding.word("dst") == "global" && is_plain_box(binding);
}
bool is_plain_run(const Binding& binding) {
  return !binding.has("multicast") && !binding.has("hint") && !binding.has("cp_mask");
}
bool copies_run(const Binding& binding) {
  return binding.word("dst") != "global" && is_plain_run(binding);
}
bool stores_run(const Binding& binding) {
  return binding.word("dst") == "global" && is_plain_run(binding);
}
bool is_8x8(const Binding& binding) { return binding.word("shape") == "m8n8"; }
bool is_for_one_cta(const Binding& binding) { return binding.word("group") == "cta_group::1"; }
bool keeps_bits(const Binding& binding) { return is_for_one_cta(binding) && !binding.has("dst"); }
bool signals_one_cta(const Binding& binding) {
  return is_for_one_cta(binding) && !binding.has("multicast");
}

// Without an order or a claim about it.
bool is_plain(const Binding& binding) {
  for (const SlotName order :
       {SlotName("weak"), SlotName("volatile"), SlotName("sem"), SlotName("mmio")})
    if (binding.has(order)) return false;
  const int bits = type_bits(binding);
  return bits >= 8 && bits <= 64;
}
// In global memory or that of the CTAs of the cluster.
bool is_plain_access(const Binding& binding) {
  return binding.word("space").is_one_of({"global", "shared", "shared::cta", "shared::cluster"}) &&
         is_plain(binding);
}
// Addresses of the window are 32 bits wide, pointers 64.
bool maps_address(const Binding& binding) {
  return binding.has("space") == (binding.word("type") == "u32");
}
bool stores_counted(const Binding& binding) { return binding.has("mbarrier::complete_tx::bytes"); }

bool is_half_product(const Binding& binding) {
  const isa::Word factor = binding.word("atype");
  return !binding.has("sp") && binding.word("shape").is_one_of({"m16n8k16", "m16n8k8"}) &&
         binding.word("alayout") == "row" && binding.word("blayout") == "col" &&
         binding.word("dtype") == "f32" && binding.word("ctype") == "f32" &&
         factor.is_one_of({"f16", "bf16"}) && binding.word("btype") == factor;
}

bool moves_a_word(const Binding& binding) {
  return !binding.has("vec") &&
         binding.word("type").is_one_of({"b32", "u32", "s32", "f32", "b64", "u64", "f64"});
}

bool is_plain_sum(const Binding& binding) {
  const bool is_rounded = binding.word("rnd") == "rn" && binding.word("type") == "f32";
  return binding.word("type").is_one_of({"u32", "s32", "u64", "s64", "f32"}) &&
         binding.given_count() == (is_rounded ? 2U : 1U);
}

bool picks_any_bytes(const Binding& binding) { return !binding.has("mode"); }

// On halves, rounded to nearest, without a modifier that changes the result.
bool is_packed(const Binding& binding) {
  const bool is_rounded = binding.word("rnd") == "rn";
  return binding.word("type").is_one_of({"f16x2", "bf16x2", "f32x2"}) &&
         binding.given_count() == (is_rounded ? 2U : 1U);
}

bool is_approximation(const Binding& binding) {
  return (binding.has("approx") || binding.word("mode") == "approx") &&
         binding.word("type") == "f32";
}

// The types of numbers that become floats; nothing for others.
std::optional<DType> number_type(isa::Word word) {
  const bool is_number =
      word.is_one_of({"f16", "bf16", "f32", "f64", "tf32", "s32", "u32", "s64", "u64"});
  return is_number ? std::optional(isa::info(*parse_type(word)).number) : std::nullopt;
}

std::optional<num::Rounding> rounding_of(const Binding& binding) {
  if (binding.has("rna")) return num::Rounding::NearestAway;
  using enum num::Rounding;
  return binding.word("rnd").as<num::Rounding>(
      {{"rn", NearestEven}, {"rz", TowardZero}, {"rm", Down}, {"rp", Up}});
}

// One number to a float that may not hold it.
bool rounds_to_float(const Binding& binding) {
  const auto to = number_type(binding.word("dtype"));
  return to && is_float(*to) && number_type(binding.word("atype")) && rounding_of(binding) &&
         !binding.has("relu") && !binding.has("ftz") && !binding.has("sat");
}

// The types of pairs; nothing for others.
std::optional<DType> pair_type(isa::Word word) {
  const bool is_pair = word.is_one_of(
      {"f16x2", "bf16x2", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2"});
  return is_pair ? std::optional(isa::info(*parse_type(word)).number) : std::nullopt;
}

// Two numbers to a word of two floats, or one such word to another.
bool converts_pairs(const Binding& binding) {
  const bool is_rounded = rounding_of(binding) || binding.has("rn");
  return pair_type(binding.word("dtype")) && is_rounded && !binding.has("relu") &&
         (binding.word("atype") == "f32" || pair_type(binding.word("atype")));
}

bool folds_integers(const Binding& binding) {
  return binding.word("type").is_one_of({"u32", "s32"});
}

struct FormRow {
  Mnemonic mnemonic;
  PtxKind kind;
  bool (*is_executed)(const Binding&) = nullptr;  // none: all forms are
};
// clang-format off
constexpr FormRow kFormRows[] = {
    {"fence",                             PtxKind::Fence},
    {"fence.acquire",                     PtxKind::Fence},
    {"fence.release",                     PtxKind::Fence},
    {"fence.mbarrier_init",               PtxKind::Fence},
    {"fence.proxy",                       PtxKind::Fence},
    {"fence.proxy.async::generic",        PtxKind::Fence},
    {"membar",                            PtxKind::Fence},
    {"membar.proxy",                      PtxKind::Fence},
    {"tcgen05.fence::before_thread_sync", PtxKind::Nothing},
    {"tcgen05.fence::after_thread_sync",  PtxKind::Nothing},
    {"setmaxnreg",                        PtxKind::Nothing},
    {"griddepcontrol",                    PtxKind::Nothing},
    {"prefetch",                          PtxKind::Nothing},
    {"nanosleep",                         PtxKind::Nothing},
    {"bar.warp.sync",                     PtxKind::WarpSync},
    {"bar",                               PtxKind::BarSync,     synchronizes},
    {"barrier",                           PtxKind::BarSync,     synchronizes},
    {"bar",                               PtxKind::BarArrive,   arrives},
    {"barrier",                           PtxKind::BarArrive,   arrives},
    {"bar",                               PtxKind::BarCount,    counts},
    {"barrier",                           PtxKind::BarCount,    counts},
    {"cp.async.commit_group",             PtxKind::CommitGroup},
    {"cp.async.wait_group",               PtxKind::WaitGroup},
    {"cp.async.wait_all",                 PtxKind::WaitAll},
    {"cp.async.mbarrier.arrive",          PtxKind::CopyArrive},
    {"cp.async.bulk.commit_group",        PtxKind::CommitBulk},
    {"cp.async.bulk.wait_group",          PtxKind::WaitBulk},
    {"wgmma.fence",                       PtxKind::Fence},
    {"wgmma.commit_group",                PtxKind::CommitProduct},
    {"wgmma.wait_group",                  PtxKind::WaitProduct},
    {"cp.async",                          PtxKind::CopyAsync,   has_no_hint},
    {"mbarrier.init",                     PtxKind::MbarInit},
    {"mbarrier.inval",                    PtxKind::MbarInval},
    {"mbarrier.arrive",                   PtxKind::MbarArrive},
    {"mbarrier.arrive.expect_tx",         PtxKind::MbarExpect},
    {"mbarrier.expect_tx",                PtxKind::MbarExpectOnly},
    {"cp.async.bulk.tensor",              PtxKind::BoxLoad,     loads_box},
    {"cp.async.bulk.tensor",              PtxKind::BoxStore,    stores_box},
    {"cp.async.bulk",                     PtxKind::BulkCopy,    copies_run},
    {"cp.async.bulk",                     PtxKind::BulkStore,   stores_run},
    {"cp.reduce.async.bulk.tensor",       PtxKind::BoxStore,    stores_box},
    {"mbarrier.try_wait.parity",          PtxKind::MbarTest},
    {"mbarrier.test_wait.parity",         PtxKind::MbarTest},
    {"elect",                             PtxKind::Elect},
    {"redux",                             PtxKind::Redux,       folds_integers},
    {"ldmatrix",                          PtxKind::LoadMatrix,  is_8x8},
    {"stmatrix",                          PtxKind::StoreMatrix, is_8x8},
    {"mma",                               PtxKind::Mma,         is_half_product},
    {"tcgen05.alloc",                     PtxKind::TmemAlloc,   is_for_one_cta},
    {"tcgen05.dealloc",                   PtxKind::TmemFree,    is_for_one_cta},
    {"tcgen05.relinquish_alloc_permit",   PtxKind::TmemRelinquish},
    {"tcgen05.ld",                        PtxKind::TmemLoad},
    {"tcgen05.st",                        PtxKind::TmemStore},
    {"tcgen05.wait::ld",                  PtxKind::TmemWaitLoad},
    {"tcgen05.wait::st",                  PtxKind::TmemWaitStore},
    {"tcgen05.cp",                        PtxKind::TensorCopy,   keeps_bits},
    {"tcgen05.commit",                    PtxKind::TensorCommit, signals_one_cta},
    {"ld",                                PtxKind::Load,         is_plain_access},
    {"st",                                PtxKind::Store,        is_plain_access},
    {"st.async",                          PtxKind::StoreAsync,   stores_counted},
    {"mapa",                              PtxKind::MapShared,    maps_address},
    {"barrier.cluster.arrive",            PtxKind::ClusterArrive},
    {"barrier.cluster.wait",              PtxKind::ClusterWait},
    {"mov",                               PtxKind::Move,         moves_a_word},
    {"add",                               PtxKind::Add,          is_plain_sum},
    {"prmt",                              PtxKind::PermuteBytes, picks_any_bytes},
    {"movmatrix",                         PtxKind::MoveMatrix},
    {"add",                               PtxKind::Packed,       is_packed},
    {"sub",                               PtxKind::Packed,       is_packed},
    {"mul",                               PtxKind::Packed,       is_packed},
    {"min",                               PtxKind::Packed,       is_packed},
    {"max",                               PtxKind::Packed,       is_packed},
    {"fma",                               PtxKind::Packed,       is_packed},
    {"neg",                               PtxKind::Packed,       is_packed},
    {"abs",                               PtxKind::Packed,       is_packed},
    {"cvt",                               PtxKind::Convert,      rounds_to_float},
    {"cvt",                               PtxKind::ConvertPair,  converts_pairs},
    {"ex2",                               PtxKind::Approximate,  is_approximation},
    {"lg2",                               PtxKind::Approximate,  is_approximation},
    {"sin",                               PtxKind::Approximate,  is_approximation},
    {"cos",                               PtxKind::Approximate,  is_approximation},
    {"tanh",                              PtxKind::Approximate,  is_approximation},
    {"rcp",                               PtxKind::Approximate,  is_approximation},
    {"sqrt",                              PtxKind::Approximate,  is_approximation},
    {"rsqrt",                             PtxKind::Approximate,  is_approximation},
    {"div",                               PtxKind::Approximate,  is_approximation},
};
// clang-format on

PtxKind kind_of(const isa::Opcode& opcode) {
  for (const auto& [mnemonic, kind, is_executed] : kFormRows)
    if (opcode.mnemonic() == mnemonic && (is_executed == nullptr || is_executed(opcode.binding())))
      return kind;
  return PtxKind::Unknown;
}

// --- what their modifiers say --------------------------------------------------------------------

TmemShape tmem_shape(isa::Word shape) {
  using enum TmemShape;
  return shape
      .as<TmemShape>({{"16x64b", By16x64b},
                      {"16x128b", By16x128b},
                      {"16x256b", By16x256b},
                      {"16x32bx2", By16x32bx2}})
      .value_or(By32x32b);
}

TensorCopyShape tensor_copy_shape(const Binding& binding) {
  using Quarters = TensorQuarters;
  const isa::Word shape = binding.word("shape");
  if (shape == "4x256b") return {4, 2, Quarters::FirstLanes};
  const Quarters quarters = binding.word("multicast")
                                .as<Quarters>({{"warpx4", Quarters::All},
                                               {"warpx2::02_13", Quarters::Pairs02And13},
                                               {"warpx2::01_23", Quarters::Pairs01And23}})
                                .value_or(Quarters::One);
  const std::int64_t rows = shape == "64x128b" ? 64 : shape == "32x128b" ? 32 : 128;
  return {rows, shape == "128x256b" ? 2 : 1, quarters};
}

PackedFunction packed_function(Mnemonic mnemonic) {
  using enum PackedFunction;
  return mnemonic
      .as<PackedFunction>({{"add", Add},
                           {"sub", Sub},
                           {"mul", Mul},
                           {"min", Min},
                           {"max", Max},
                           {"fma", Fma},
                           {"neg", Neg}})
      .value_or(Abs);
}

ApproxFunction approx_function(Mnemonic mnemonic) {
  using enum ApproxFunction;
  const auto found = mnemonic.as<ApproxFunction>({{"ex2", Ex2},
                                                  {"lg2", Lg2},
                                                  {"sin", Sin},
                                                  {"cos", Cos},
                                                  {"tanh", Tanh},
                                                  {"rcp", Rcp},
                                                  {"sqrt", Sqrt},
                                                  {"rsqrt", Rsqrt},
                                                  {"div", Div}});
  WW_CHECK(found.has_value(), "`{}` is no approximation", mnemonic);
  return *found;
}

DType operand_type(PtxKind kind, const Binding& binding) {
  if (kind == PtxKind::Packed) return isa::info(binding.type("type")).number;
  if (kind == PtxKind::Mma) return isa::info(binding.type("atype")).number;
  if (binding.word("type") == "f32") return DType::Float32;
  if (kind == PtxKind::Redux && binding.word("type") == "s32") return DType::Int32;
  return type_bits(binding) == 64 ? DType::Uint64 : DType::Uint32;
}

}  // namespace

PtxInstruction decode(const ir::PtxCall& call) {
  PtxInstruction out{.call = &call, .kind = kind_of(call.opcode)};
  // Forms that put registers together or take them apart.
  if (out.kind == PtxKind::Move && call.operands.size() > 2) out.kind = PtxKind::Unknown;
  out.is_tensor = call.opcode.mnemonic().text().starts_with("tcgen05.");
  if (out.kind == PtxKind::Unknown) return out;
  const Binding& binding = call.opcode.binding();
  const bool is_matrix = out.kind == PtxKind::LoadMatrix || out.kind == PtxKind::StoreMatrix;
  out.bits = type_bits(binding);
  out.type = operand_type(out.kind, binding);
  if (out.kind == PtxKind::Packed) out.packed = packed_function(call.opcode.mnemonic());
  if (out.kind == PtxKind::Approximate) out.approx = approx_function(call.opcode.mnemonic());
  if (out.kind == PtxKind::Convert) {
    out.type = *number_type(binding.word("dtype"));
    out.from = *number_type(binding.word("atype"));
    out.cast = {.round = rounding_of(binding), .saturate = binding.has("satfinite")};
  }
  if (out.kind == PtxKind::ConvertPair) {
    out.type = *pair_type(binding.word("dtype"));
    out.from = pair_type(binding.word("atype")).value_or(DType::Float32);
    // 8 bits and fewer round to nearest and saturate anyway, except powers of two.
    if ((num::bits_of(out.type) == 16 && out.from == DType::Float32) ||
        out.type == DType::Float8E8M0)
      out.cast = {.round = rounding_of(binding), .saturate = binding.has("satfinite")};
  }
  out.is_flushed = binding.has("ftz");
  out.count =
      static_cast<std::size_t>(std::max(1, binding.number(is_matrix ? SlotName("num") : "vec")));
  out.depth = binding.word("shape") == "m16n8k16" ? 16 : 8;
  out.is_transposed = binding.has("trans");
  out.is_packed = binding.has("pack") || binding.has("unpack");
  out.tmem_shape = tmem_shape(binding.word("shape"));
  out.tensor_copy = tensor_copy_shape(binding);
  return out;
}

bool is_warp_collective(PtxKind kind) {
  switch (kind) {
    case PtxKind::Unknown:
      return false;
#define WW_EVAL_PTX(id, together, handler) \
  case PtxKind::id:                        \
    return AgentKind::together == AgentKind::Warp;
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
  }
  return false;
}

}  // namespace ww::eval
