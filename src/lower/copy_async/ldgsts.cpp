// SPDX-License-Identifier: Apache-2.0
// copy_async / ldgsts: global to shared memory by cp.async, 4, 8 or 16 bytes at a time.
//
// The threads of the unit share the tile out as in copy / gmem_smem; the widest vectors that lie
// contiguous and aligned on both sides are taken, those of 16 bytes past L1.
//
//     Tx.cta.copy_async(A_smem[0:128, 0:32], A[0:128, 0:32])          float16, 128 threads
//
//     for f in T.unroll(4):
//         src_ptr = T.pointer_offset(T.address_of(A[0]), f * 1024 + threadIdx_x * 8)
//         dst_ptr = T.pointer_offset(T.address_of(A_smem[0]), f * 1024 + threadIdx_x * 8)
//         cp.async.cg.shared.global [dst_ptr], [src_ptr], 16
//
// Where zeros fill up what is missing, an instruction says how many bytes it reads, and writes
// zeros for the rest: none where the predicate is false, as many as there are where the source
// ends. Where another value does, the instruction is for vectors that are there as a whole; the
// value, and elements of a vector that the end of the source cuts, are stored, and are there before
// the caller waits.
//
// `l2_evict=` becomes a cache policy, which each instruction takes as its last operand.
//
// A tile of bools as the predicate decides whole instructions: those of float32 one by one, others
// where it is stretched over a vector.
//
// The caller commits and waits. PTX manual, "cp.async".
#include <algorithm>
#include <optional>

#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_ldgsts {
namespace {

using ir::ExprId;

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  CopyPhase phase;
  std::string opcode;
  std::optional<std::int64_t> policy = {};  // of the second-level cache
};

// Bytes to which every contiguous part of a side is aligned, in the order of the elements.
std::int64_t part_alignment(const OperandPlaces& side) {
  std::int64_t out = 16;
  while (out > 1 && !side.base_is_aligned(out)) out /= 2;
  for (std::size_t x = 0; x < side.size(); ++x)
    if (x == 0 || !side.follows(x - 1, x))
      while (out > 1 && !side.is_aligned(x, out)) out /= 2;
  return out;
}

Match<CopyPhase> widest_phase(const Call& call, const CopyProblem& problem) {
  for (const std::int64_t bytes : {16, 8, 4}) {
    if (bytes * 8 % problem.dst.bits != 0) continue;
    auto phase = shared_out_phase(call, problem, bytes);
    const bool cuts_dst = phase && std::ranges::count(phase->dst_cuts, true) > 0;
    if (phase && !cuts_dst) return *std::move(phase);
  }
  for (const OperandPlaces* side : {&problem.src, &problem.dst})
    if (const std::int64_t bytes = part_alignment(*side); bytes < 4)
      return decline(
          "alignment",
          "contiguous parts of `{}` begin at multiples of {} byte{}, expected 4, 8 or 16",
          call.f()[side->buffer].name, bytes, bytes == 1 ? "" : "s");
  if (problem.mask)
    return decline("predicate",
                   "cp.async moves at least 4 bytes under one condition, and `{}` does not have "
                   "one for each {} elements",
                   call.f()[problem.mask->buffer].name,
                   std::max<std::int64_t>(1, 32 / problem.dst.bits));
  return decline("vector", "the {} bytes do not make vectors of 4, 8 or 16 that both sides have",
                 problem.elements * problem.dst.bits / 8);
}

Match<void> check_direct(const Call& call, const CopyPhase& phase) {
  if (!ir::is_true(call.setting("direct"))) return {};
  if (call.tile.scope != ir::Unit::Thread)
    return decline("direct", "{} scope, expected thread", ir::name_of(call.tile.scope));
  if (phase.rounds != 1)
    return decline("direct", "{} instructions of {} bytes, expected one", phase.rounds,
                   phase.bytes);
  return {};
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_global_to_shared(call));
  WW_TRY_VOID(check_settings(call, {"l2_evict", "prefetch_size", "direct"}));
  const auto problem = WW_TRY(copy_problem(call));
  if (problem->dst.bits < 8 && problem->may_fill() && !is_zero_fill(call))
    return decline("sub_byte", "elements of {} bits are filled one by one, unless by zero",
                   problem->dst.bits);
  auto phase = WW_TRY(widest_phase(call, *problem));
  WW_TRY_VOID(check_direct(call, phase));
  const std::string prefetch = ir::word_of(call.setting("prefetch_size"));
  const auto policy = ir::cache_policy(ir::word_of(call.setting("l2_evict")));
  const std::string opcode = fmt::format(
      "cp.async.{}.shared.global{}{}", phase.bytes == 16 ? "cg" : "ca",
      policy ? ".L2::cache_hint" : "", prefetch.empty() ? "" : fmt::format(".L2::{}B", prefetch));
  if (!is_on_target(opcode, call.context.target))
    return decline("arch", "there is no `{}` on {}", opcode,
                   target::info(call.context.target.arch).name);
  return Plan{problem, std::move(phase), opcode, policy};
}

// Bytes to read; the rest of the vector becomes zero. None: all of them.
ExprId source_bytes(const Plan& plan, const PhaseWriter::Access& access, CodeWriter& code) {
  if (!plan.problem->fills) return {};
  const std::int64_t vec = plan.phase.vec;
  ExprId bytes = {};
  if (access.inside.valid()) {
    const ExprId most = code.index(ir::ExprOp::Min, access.inside, code.n(vec));
    const ExprId elements = code.index(ir::ExprOp::Max, most, code.n(0));
    bytes = code.as_int32(code.simplify(code.mul(elements, plan.phase.bytes / vec)));
  }
  if (!access.condition.valid()) return bytes;
  if (!bytes.valid()) bytes = code.n(plan.phase.bytes);
  return code.choose(ir::ExprOp::IfThenElse, code.simplify(access.condition), bytes, code.n(0));
}

// To, from, bytes.
std::vector<ir::PtxOperand> operands_of(const Plan& plan, const PhaseWriter& writer,
                                        const PhaseWriter::Access& access, CodeWriter& code) {
  const auto address = [&](std::string_view name, bool is_dst, ExprId offset) {
    return address_operand(code.let(name, code.pointer(writer.flat(is_dst), offset)));
  };
  return {address("dst_ptr", true, access.to),
          address("src_ptr", false, access.from),
          {.expr = code.n(plan.phase.bytes)}};
}

// Zeros or nothing where it does not copy.
void emit_zeros(const Plan& plan, PhaseWriter& writer, ExprId policy, CodeWriter& code) {
  writer.write(plan.phase, [&](const PhaseWriter::Access& access) {
    std::vector<ir::PtxOperand> operands = operands_of(plan, writer, access, code);
    if (const ExprId bytes = source_bytes(plan, access, code); bytes.valid())
      operands.push_back({.expr = bytes});
    if (policy.valid()) operands.push_back({.expr = policy});
    code.ptx(plan.opcode, std::move(operands),
             plan.problem->fills ? access.stored : code.both(access.condition, access.stored));
  });
}

// Another value.
void emit_values(const Plan& plan, PhaseWriter& writer, ExprId policy, CodeWriter& code) {
  const auto whole = [&](const PhaseWriter::Access& access) {
    std::vector<ir::PtxOperand> operands = operands_of(plan, writer, access, code);
    if (policy.valid()) operands.push_back({.expr = policy});
    code.ptx(plan.opcode, std::move(operands));
  };
  writer.write(plan.phase, [&](const PhaseWriter::Access& access) {
    code.guarded(access.stored, [&] {
      code.either(
          writer.is_whole(plan.phase, access), [&] { whole(access); },
          [&] { writer.store_fill(plan.phase, access); });
    });
  });
  writer.write_tails(plan.phase);
}

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  PhaseWriter writer(call, *plan.problem, code);
  const bool fills_with_value = plan.problem->may_fill() && !is_zero_fill(call);
  const ExprId policy =
      plan.policy
          ? code.let("policy", ir::int_imm(call.f(), num::DType::Uint64, *plan.policy, call.span))
          : ExprId{};
  fills_with_value ? emit_values(plan, writer, policy, code)
                   : emit_zeros(plan, writer, policy, code);
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = phases_report(call, *plan.problem, {plan.phase});
  out.instructions.clear();
  out.add_instruction(plan.opcode, plan.phase.rounds, plan.phase.bytes);
  const std::string rounds = rounds_text(out, plan.phase);
  out.summary = fmt::format("cp.async of {} bytes, {}", plan.phase.bytes, rounds);
  if (!plan.phase.edges.empty())
    out.notes.emplace_back(is_zero_fill(call)
                               ? "what lies outside the source is filled with zeros"
                               : "vectors that are not wholly inside the source are stored");
  return out;
}

constexpr Variant kVariants[] = {
    variant<Plan, match, emit, report>({.op = ir::TileOp::CopyAsync,
                                        .name = "ldgsts",
                                        .priority = 20,
                                        .about = "cp.async, 4, 8 or 16 bytes at a time"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_ldgsts
