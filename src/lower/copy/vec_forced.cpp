// SPDX-License-Identifier: Apache-2.0
// copy / vec_256b … vec_8b: exactly one access of the named width, by one thread. Only when the
// call asks for it by name: the caller promises that the region is such a vector, and is taken at
// the word only after it has been checked.
//
//     Tx.copy(r[0:4], A[i, 0:4], dispatch="vec_128b")          float32
//
//     T.cuda.copy_bytes(dst_ptr, src_ptr, 16)
//
// `cache="nc"`, `l1_evict=`, `l2_evict=` and `prefetch_size=` go to the load from global memory.
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::copy_vec_forced {
namespace {

Match<CopyPhase> one_access(const Call& call, const CopyProblem& problem, std::int64_t bytes) {
  if (problem.register_side() == nullptr) {
    if (auto phase = shared_out_phase(call, problem, bytes)) return *std::move(phase);
  } else {
    auto phases = WW_TRY(register_phases(call, problem));
    if (phases.size() == 1 && phases.front().bytes == bytes && phases.front().rounds == 1)
      return std::move(phases.front());
  }
  return decline("vector",
                 "the {} elements are not contiguous and aligned to {} bytes on both sides",
                 problem.elements, bytes);
}

template <int kBits>
Match<PhasePlan> match(const Call& call) {
  if (call.tile.scope != ir::Unit::Thread)
    return decline("scope", "{} scope, expected thread", ir::name_of(call.tile.scope));
  WW_TRY_VOID(check_no_tensor(call));
  const auto problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_plain(*problem));
  WW_TRY_VOID(check_load_settings(call));
  if (problem->elements * problem->dst.bits != kBits)
    return decline("size", "{} elements of {} bits, expected {} bits in all", problem->elements,
                   problem->dst.bits, kBits);
  const auto widths = access_widths(call, *problem);
  if (std::ranges::find(widths, kBits / 8) == widths.end())
    return decline("arch", "no access of {} bits between {} and {} on {}", kBits,
                   ir::name_of(problem->src.scope), ir::name_of(problem->dst.scope),
                   target::info(call.context.target.arch).name);
  return phase_plan(call, problem, {WW_TRY(one_access(call, *problem, kBits / 8))});
}

PlanReport report(const PhasePlan& plan, const Call& call) {
  PlanReport out = phases_report(call, *plan.problem, plan.phases);
  out.summary = fmt::format("one access of {} bits", out.vector_bits);
  return out;
}

template <int kBits>
constexpr Variant row(std::string_view name) {
  return variant<PhasePlan, match<kBits>, emit_phases, report>(
      {.op = ir::TileOp::Copy,
       .name = name,
       .priority = 20,
       .only_by_name = true,
       .about = "one access of the named width by one thread"});
}

constexpr Variant kVariants[] = {row<256>("vec_256b"), row<128>("vec_128b"), row<64>("vec_64b"),
                                 row<32>("vec_32b"),   row<16>("vec_16b"),   row<8>("vec_8b")};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_vec_forced
