// SPDX-License-Identifier: Apache-2.0
// copy_async / tma: boxes between global and shared memory by the copy engine, which one thread
// starts. The launch makes the tensor map (ir/tensor_map.h); lower/copy_async/box_plan.h finds it.
//
// To shared memory an mbarrier hears of the bytes (`mbar=`); the caller makes it expect them, all of
// the tile, and waits. From shared memory the caller commits and waits for bulk groups. What lies
// outside the array is filled with zeros (`fill_value=0`), or with NaN, or not stored (`clip=True`), at
// no cost. PTX manual, "cp.async.bulk.tensor".
//
// With `cta_mask=` the box goes to several CTAs of the cluster at once, each time to the same place of
// shared memory, and the mbarrier at the same place of each hears of the bytes.
//
//     Tx.copy_async(A_smem[0:128, 0:64], A[m:m + 128, k:k + 64], mbar=full.ptr_to([0]))
//
//     A_map = T.tensor_map(A.data, box=(128, 64), dims=(M, K), strides=(K,), swizzle=128)
//     cp.async.bulk.tensor.2d…  [dst_ptr], [A_map, {k, m}], [full]
#include <cmath>

#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/checks.h"
#include "lower/copy/copy_report.h"
#include "lower/copy_async/box_plan.h"
#include "lower/copy_async/one_thread.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_tma {
namespace {

using ir::ExprId;

constexpr std::int64_t kMaxUnrolled = 32;  // instructions; more are issued in loops

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  BoxPlan boxes;
  bool is_load = true;
  bool fills_nan = false;
  std::int64_t promotion = 256;
  bool is_one_thread = true;  // provably
  ExprId cta_mask = {};       // uint16; none: to the own CTA

  [[nodiscard]] const OperandPlaces& shared() const {
    return is_load ? problem->dst : problem->src;
  }
  [[nodiscard]] std::size_t global_operand() const { return is_load ? 1 : 0; }
  [[nodiscard]] std::string opcode() const {
    const std::size_t rank = boxes.dims.size();
    return is_load
               ? fmt::format(
                     "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::"
                     "complete_tx::bytes{}",
                     rank, cta_mask.valid() ? ".multicast::cluster" : "")
               : fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", rank);
  }
};

// --- match ---------------------------------------------------------------------------------------

Match<bool> is_load_of(const Call& call) {
  const ir::Scope from = call.memory(1), to = call.memory(0);
  if (from == ir::Scope::Global && ir::is_shared(to)) return true;
  if (ir::is_shared(from) && to == ir::Scope::Global) return false;
  return decline("memory_pair", "{} to {}, expected global to shared memory or back",
                 ir::name_of(from), ir::name_of(to));
}

Match<void> check_mbarrier(const Call& call, bool is_load) {
  const bool has_one = ir::mbarrier_setting(call.tile) != nullptr;
  if (is_load && !has_one)
    return decline("mbarrier", "no `mbar=`: the copy engine tells an mbarrier that it is done");
  if (!is_load && has_one)
    return decline("mbarrier",
                   "`mbar=` of a copy from shared memory, which is waited for by bulk groups");
  return {};
}

// What arrives instead of what lies outside is zero or NaN.
Match<bool> fills_nan(const Call& call, const CopyProblem& problem) {
  if (problem.mask || problem.predicate.valid())
    return decline("predicate", "the copy engine copies whole boxes, under no condition");
  if (!problem.may_fill() || is_zero_fill(call)) return false;
  const ir::Setting* value = ir::copy_settings(call.tile).fill_value;
  const auto constant = ir::constant_operand(call.f(), ir::TileArg(*value));
  const bool is_float =
      num::kind_of(problem.dst.dtype) == num::DTypeKind::Float && problem.dst.bits >= 16;
  if (is_float && constant && num::is_float(constant->dtype) && std::isnan(constant->real))
    return true;
  return decline("fill", "the copy engine fills with zeros, or floats with NaN");
}

Match<std::int64_t> promotion_of(const Call& call) {
  const std::string word = ir::word_of(call.setting("tensormap_l2_promotion"));
  if (word.empty()) return 256;
  for (const auto& [name, bytes] : {std::pair<std::string_view, std::int64_t>{"none", 0},
                                    {"0", 0},
                                    {"64B", 64},
                                    {"1", 64},
                                    {"128B", 128},
                                    {"2", 128},
                                    {"256B", 256},
                                    {"3", 256}})
    if (name == word) return bytes;
  return decline("config",
                 "`tensormap_l2_promotion=` is \"{}\", expected \"none\", \"64B\", \"128B\", "
                 "\"256B\" or 0 to 3",
                 word);
}

// The CTAs that get the copy; none: the one that starts it is the only one there is.
Match<ExprId> cta_mask_of(const Call& call) {
  const ir::Setting* setting = ir::cta_mask_setting(call.tile);
  if (setting == nullptr) return ExprId{};
  const auto* number = std::get_if<std::int64_t>(setting);
  if (number != nullptr && call.context.launch.cluster_ctas() == 1) return ExprId{};
  if (number != nullptr) return ir::int_imm(call.f(), num::DType::Uint16, *number, call.span);
  const auto cast =
      ir::cast(call.f(), std::get<ExprId>(*setting), ir::Type::of(num::DType::Uint16), call.span);
  WW_CHECK(cast.has_value(), "a mask of CTAs that is not an integer");
  return *cast;
}

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = WW_TRY(is_load_of(call));
  WW_TRY_VOID(check_target(call, "cp.async.bulk.tensor", target::Feature::Sm90));
  WW_TRY_VOID(check_mbarrier(call, plan.is_load));
  WW_TRY_VOID(check_settings(call,
                             "mbar mbarrier_addr cta_mask tensormap_l2_promotion "
                             "prefetch_tensormap"));
  plan.promotion = WW_TRY(promotion_of(call));
  plan.cta_mask = WW_TRY(cta_mask_of(call));
  plan.is_one_thread = WW_TRY(check_one_thread(call));
  if (!call.f().has_device_entry)
    return decline("map", "there is no `T.device_entry()` before which the map could be made");
  plan.problem = WW_TRY(copy_problem(call));
  plan.fills_nan = WW_TRY(fills_nan(call, *plan.problem));
  plan.boxes =
      WW_TRY(plan_boxes(call, *plan.problem, plan.global_operand(), 1 - plan.global_operand()));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

bool is_same(const ir::Function& f, const ir::TensorMap& a, const ir::TensorMap& b) {
  const auto all_same = [&](const std::vector<ExprId>& left, const std::vector<ExprId>& right) {
    return std::ranges::equal(left, right, [&](ExprId x, ExprId y) { return ir::same(f, x, y); });
  };
  return a.box == b.box && a.swizzle == b.swizzle && a.promotion == b.promotion &&
         a.fills_nan == b.fills_nan && ir::same(f, a.pointer, b.pointer) &&
         all_same(a.dims, b.dims) && all_same(a.strides, b.strides);
}

// Calls with equal maps share one.
ir::VarId map_of(const Plan& plan, const Call& call) {
  ir::Function& f = call.f();
  ir::TensorMap map{.pointer = plan.boxes.pointer,
                    .swizzle = plan.boxes.swizzle,
                    .promotion = plan.promotion,
                    .fills_nan = plan.fills_nan};
  for (const BoxDim& dim : plan.boxes.dims) {
    map.dims.push_back(dim.extent);
    map.box.push_back(dim.box);
    if (map.dims.size() > 1) map.strides.push_back(dim.stride);
  }
  for (const ir::BoundMap& each : ir::tensor_maps(f))
    if (is_same(f, each.map, map)) return each.var;
  const ir::Buffer& array = f[call.region(plan.global_operand()).buffer];
  const ir::VarId var = f.add(ir::Var{.name = fmt::format("{}_map", array.name),
                                      .type = ir::Type::pointer(array.dtype),
                                      .kind = ir::VarKind::Let,
                                      .span = call.span});
  ir::Stmt bind{.kind = ir::StmtKind::Bind, .span = call.span};
  bind.var = var;
  bind.expr = ir::make_tensor_map(f, map, call.span);
  f.host.push_back(f.add(std::move(bind)));
  return var;
}

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        call_(call),
        code_(code),
        flat_(flat_view(call, code, plan.shared())),
        map_(code.var(map_of(plan, call))) {
    if (plan.is_load) mbarrier_ = std::get<ExprId>(*ir::mbarrier_setting(call.tile));
    if (plan.cta_mask.valid()) mask_ = code.let("cta_mask", code.simplify(plan.cta_mask));
    for (const BoxDim& dim : plan.boxes.dims)
      starts_.push_back(code.let("at", code.as_int32(code.simplify(dim.start))));
  }

  void write() {
    if (plan_.boxes.issues() <= kMaxUnrolled) return unrolled(0);
    looped(0);
  }

 private:
  void unrolled(std::size_t axis) {
    if (axis == plan_.boxes.axes.size()) return issue();
    for (std::int64_t i = 0; i < plan_.boxes.axes[axis].extent; ++i) {
      at_.push_back(code_.n(i));
      unrolled(axis + 1);
      at_.pop_back();
    }
  }
  void looped(std::size_t axis) {
    if (axis == plan_.boxes.axes.size()) return issue();
    code_.loop("box", plan_.boxes.axes[axis].extent, ir::LoopKind::Serial, [&](ExprId i) {
      at_.push_back(i);
      looped(axis + 1);
      at_.pop_back();
    });
  }

  void issue() {
    const OperandPlaces& shared = plan_.shared();
    ExprId offset = code_.add(shared.base_expr(code_), plan_.boxes.first);
    for (std::size_t a = 0; a < at_.size(); ++a)
      offset = code_.add(offset, code_.mul(at_[a], plan_.boxes.axes[a].distance));
    const ExprId pointer = code_.let(plan_.is_load ? "dst_ptr" : "src_ptr",
                                     code_.pointer(flat_, code_.simplify(offset)));
    std::vector<ir::PtxOperand> operands{address_operand(map_)};
    for (std::size_t d = 0; d < starts_.size(); ++d) operands.push_back({.expr = coordinate(d)});
    if (plan_.is_load) {
      operands.insert(operands.begin(), address_operand(pointer));
      operands.push_back(address_operand(mbarrier_));
      if (mask_.valid()) operands.push_back({.expr = mask_});
    } else {
      operands.push_back(address_operand(pointer));
    }
    code_.ptx(plan_.opcode(), std::move(operands));
  }

  ExprId coordinate(std::size_t d) {
    ExprId out = starts_[d];
    for (const auto& [axis, weight] : plan_.boxes.dims[d].steps)
      out = code_.add(out, code_.mul(at_[axis], weight));
    return code_.simplify(out);
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId flat_;
  ExprId map_, mbarrier_, mask_;
  std::vector<ExprId> starts_;
  std::vector<ExprId> at_;  // by axis
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  const std::int64_t bytes = plan.boxes.box_elements() * plan.shared().bits / 8;
  out.threads = 1;
  out.rounds = plan.boxes.issues();
  out.add_instruction(plan.opcode(), plan.boxes.issues(), bytes);
  out.summary = fmt::format("{} box{} of {} by the copy engine, {} bytes each", plan.boxes.issues(),
                            plan.boxes.issues() == 1 ? "" : "es", plan.boxes.box_text(), bytes);
  out.notes.push_back(
      fmt::format("tensor map of rank {}, {}, {} bytes of L2 at a time", plan.boxes.dims.size(),
                  plan.boxes.swizzle == 0 ? std::string("no swizzle")
                                          : fmt::format("swizzle of {} bytes", plan.boxes.swizzle),
                  plan.promotion));
  if (plan.cta_mask.valid())
    out.notes.push_back(fmt::format(
        "the mbarrier of each CTA of the mask `{}` hears of {} bytes; the callers expect "
        "what all CTAs send",
        ir::print(call.f(), plan.cta_mask), out.bytes));
  else if (plan.is_load)
    out.notes.push_back(
        fmt::format("the mbarrier hears of {} bytes; the caller expects them", out.bytes));
  else
    out.notes.emplace_back("the caller commits, and waits for bulk groups");
  if (plan.boxes.issues() > kMaxUnrolled)
    out.notes.push_back(
        fmt::format("{} instructions of {} bytes are many: a row of shared memory "
                    "ends where the next box begins elsewhere",
                    plan.boxes.issues(), bytes));
  if (!plan.is_one_thread)
    out.notes.push_back(fmt::format("one thread must come here, of {}",
                                    ir::to_text(call.active, call.context.launch)));
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "tma",
     .priority = 10,
     .aliases = "tma_auto tma_explicit",
     .about = "boxes by the copy engine, started by one thread"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_tma
