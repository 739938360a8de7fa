// SPDX-License-Identifier: Apache-2.0
// copy_async / tma: boxes between global and shared memory by the copy engine, which one thread
// starts. The launch makes the tensor map (ir/tensor_map.h); lower/copy_async/box_plan.h finds it.
//
// Into shared memory, an mbarrier counts the bytes (`mbar=`); the caller makes it expect them, all of
// the tile, and waits. From shared memory the caller commits and waits for bulk groups. What lies
// outside the array is filled with zeros (`fill_value=0`), or with NaN, or not stored (`clip=True`), at
// no cost. PTX manual, "cp.async.bulk.tensor".
//
// `use_tma_reduce="add"` combines a stored box with what is there; `cache_hint=` is handed on to the
// second-level cache.
//
// With `cta_mask=` the box goes to several CTAs of the cluster at once, each time to the same place of
// shared memory, and the mbarrier at the same place of each hears of the bytes.
//
//     Tx.copy_async(A_smem[0:128, 0:64], A[m:m + 128, k:k + 64], mbar=full.ptr_to([0]))
//
//     A_map = T.tensor_map(A.data, box=(128, 64), dims=(M, K), strides=(K,), swizzle=128, fill="none")
//     cp.async.bulk.tensor.2d…  [dst_ptr], [A_map, {k, m}], [full]

#include <cmath>

#include "base/join.h"
#include "ir/box_reduce.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
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
  ir::MapFill fill = ir::MapFill::Zero;
  std::int64_t promotion = 256;
  bool is_one_thread = true;  // provably
  ExprId cta_mask = {};       // uint16; none: to the own CTA
  ExprId policy = {};         // uint64, of the cache; none: no hint
  std::optional<ir::BoxReduce> reduce = {};
  bool prefetches = false;   // the map, where the kernel begins
  ir::VarId given_map = {};  // of `tensor_map=`; none: one is made

  [[nodiscard]] const OperandPlaces& shared() const {
    return is_load ? problem->dst : problem->src;
  }
  [[nodiscard]] std::size_t global_operand() const { return is_load ? 1 : 0; }
  [[nodiscard]] std::string opcode() const {
    const std::size_t rank = boxes.dims.size();
    const std::string_view hint = policy.valid() ? ".L2::cache_hint" : "";
    if (is_load)
      return fmt::format(
          "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{}{}",
          rank, cta_mask.valid() ? ".multicast::cluster" : "", hint);
    if (reduce)
      return fmt::format("cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.tile.bulk_group{}",
                         rank, ir::name_of(*reduce), hint);
    return fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group{}", rank, hint);
  }
};

// --- match ---------------------------------------------------------------------------------------

// Zero or NaN arrives for what lies outside. If the region stays inside the array, or has to, the map
// says so, and the virtual GPU reports boxes that leave it.
Match<ir::MapFill> fill_of(const Call& call, const CopyProblem& problem) {
  if (problem.mask || problem.predicate.valid())
    return decline("predicate", "the copy engine copies whole boxes, under no condition");
  if (problem.src.edges.empty() && problem.dst.edges.empty()) return ir::MapFill::None;
  if (!problem.may_fill() || is_zero_fill(call)) return ir::MapFill::Zero;
  const ir::Setting* value = ir::copy_settings(call.tile).fill_value;
  const auto constant = ir::constant_operand(call.f(), ir::TileArg(*value));
  const bool is_float =
      num::kind_of(problem.dst.dtype) == num::DTypeKind::Float && problem.dst.bits >= 16;
  if (is_float && constant && num::is_float(constant->dtype) && std::isnan(constant->real))
    return ir::MapFill::Nan;
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

// The policy of `cache_hint=`, a name or its bits.
ExprId policy_of(const Call& call) {
  const ir::Setting* setting = call.setting("cache_hint");
  if (setting == nullptr) return {};
  const auto bits = [&](std::int64_t value) {
    return ir::int_imm(call.f(), num::DType::Uint64, value, call.span);
  };
  if (const auto* name = std::get_if<std::string>(setting)) return bits(*ir::cache_policy(*name));
  if (const auto* number = std::get_if<std::int64_t>(setting)) return bits(*number);
  const auto cast =
      ir::cast(call.f(), std::get<ExprId>(*setting), ir::Type::of(num::DType::Uint64), call.span);
  WW_CHECK(cast.has_value(), "a cache policy that is not an integer");
  return *cast;
}

Match<std::optional<ir::BoxReduce>> reduce_of(const Call& call) {
  const auto reduce = ir::box_reduce(call.tile);
  const num::DType dtype = call.buffer(0).dtype;
  if (!reduce || ir::takes(*reduce, dtype)) return reduce;
  return decline("dtype", "`use_tma_reduce=\"{}\"` of {}, expected {}", ir::name_of(*reduce),
                 num::name_of(dtype), ir::types_text(*reduce));
}

ir::TensorMap needed_map(const Plan& plan) {
  ir::TensorMap map{.pointer = plan.boxes.pointer,
                    .swizzle = plan.boxes.swizzle,
                    .promotion = plan.promotion,
                    .fill = plan.fill};
  for (const BoxDim& dim : plan.boxes.dims) {
    map.dims.push_back(dim.extent);
    map.box.push_back(dim.box);
    if (map.dims.size() > 1) map.strides.push_back(dim.stride);
  }
  return map;
}

// The same number, in whatever width: indices do not overflow.
bool is_equal(const ir::Function& f, ExprId a, ExprId b) {
  while (f[a].op == ir::ExprOp::Cast) a = f[a].args[0];
  while (f[b].op == ir::ExprOp::Cast) b = f[b].args[0];
  const auto x = ir::const_int(f, a), y = ir::const_int(f, b);
  if (x && y) return *x == *y;
  if (f[a].op != ir::ExprOp::Mul || f[b].op != ir::ExprOp::Mul) return ir::same(f, a, b);
  const auto& p = f[a].args;
  const auto& q = f[b].args;
  return (is_equal(f, p[0], q[0]) && is_equal(f, p[1], q[1])) ||
         (is_equal(f, p[0], q[1]) && is_equal(f, p[1], q[0]));
}

// What the two say differently about the array and its boxes; empty: nothing.
std::string difference(const ir::Function& f, const ir::TensorMap& given,
                       const ir::TensorMap& needed) {
  const auto numbers = [](const std::vector<std::int64_t>& all) { return join(all, " x "); };
  const auto all_equal = [&](const std::vector<ExprId>& a, const std::vector<ExprId>& b) {
    return std::ranges::equal(a, b, [&](ExprId x, ExprId y) { return is_equal(f, x, y); });
  };
  if (given.box != needed.box)
    return fmt::format("boxes of {}, expected {}", numbers(given.box), numbers(needed.box));
  if (given.swizzle != needed.swizzle)
    return fmt::format("a swizzle of {} bytes, expected {}", given.swizzle, needed.swizzle);
  if (!ir::same(f, given.pointer, needed.pointer))
    return fmt::format("the array `{}`, expected `{}`", ir::print(f, given.pointer),
                       ir::print(f, needed.pointer));
  if (!all_equal(given.dims, needed.dims)) return "other extents than the array";
  return all_equal(given.strides, needed.strides) ? "" : "other strides than the array";
}

// A store ignores what it would be filled with, and a copy that stays inside takes any map.
bool suits(ir::MapFill given, const Plan& plan) {
  if (plan.fill == ir::MapFill::None) return true;
  return plan.is_load ? given == plan.fill : given != ir::MapFill::None;
}

// The map of `tensor_map=`, which must be the one that the copy needs.
Match<ir::VarId> given_map(const Call& call, const Plan& plan) {
  const ir::Setting* setting = call.setting("tensor_map");
  if (setting == nullptr) return ir::VarId{};
  const ir::VarId var = call.f()[std::get<ExprId>(*setting)].var;
  const ir::TensorMap given = *ir::find_tensor_map(call.f(), std::get<ExprId>(*setting));
  std::string other = difference(call.f(), given, needed_map(plan));
  if (other.empty() && !suits(given.fill, plan))
    other = fmt::format("`fill=\"{}\"`, expected \"{}\"", ir::name_of(given.fill),
                        ir::name_of(plan.fill));
  if (other.empty()) return var;
  return decline("map", "`{}` has {}", call.f()[var].name, other);
}

Match<Plan> match(const Call& call) {
  Plan plan;
  plan.is_load = WW_TRY(loads_by_engine(call));
  WW_TRY_VOID(check_target(call, "cp.async.bulk.tensor", target::Feature::Sm90));
  WW_TRY_VOID(check_engine_mbarrier(call, plan.is_load));
  WW_TRY_VOID(
      check_settings(call, {"mbar", "mbarrier_addr", "cta_mask", "cache_hint", "use_tma_reduce",
                            "tensormap_l2_promotion", "prefetch_tensormap", "tensor_map"}));
  plan.promotion = WW_TRY(promotion_of(call));
  plan.cta_mask = WW_TRY(cta_mask_of(call));
  plan.policy = policy_of(call);
  plan.reduce = WW_TRY(reduce_of(call));
  plan.prefetches = ir::is_true(call.setting("prefetch_tensormap"));
  plan.is_one_thread = WW_TRY(check_one_thread(call));
  if (!call.f().has_device_entry)
    return decline("map", "there is no `T.device_entry()` before which the map could be made");
  plan.problem = WW_TRY(copy_problem(call));
  plan.fill = WW_TRY(fill_of(call, *plan.problem));
  plan.boxes =
      WW_TRY(plan_boxes(call, *plan.problem, plan.global_operand(), 1 - plan.global_operand()));
  plan.given_map = WW_TRY(given_map(call, plan));
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

// Calls with equal maps share one.
ir::VarId map_of(const Plan& plan, const Call& call) {
  if (plan.given_map.valid()) return plan.given_map;
  ir::Function& f = call.f();
  const ir::TensorMap map = needed_map(plan);
  for (const ir::BoundMap& each : ir::tensor_maps(f))
    if (each.map.promotion == map.promotion && each.map.fill == map.fill &&
        difference(f, each.map, map).empty())
      return each.var;
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

// Once, however many copies ask for it.
void prefetch(Context& context, ir::VarId map) {
  if (std::ranges::find(context.prefetched, map) == context.prefetched.end())
    context.prefetched.push_back(map);
}

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan),
        call_(call),
        code_(code),
        flat_(flat_view(call, code, plan.shared())),
        map_(code.var(map_of(plan, call))) {
    if (plan.prefetches) prefetch(call.context, call.f()[map_].var);
    if (plan.is_load) mbarrier_ = std::get<ExprId>(*ir::mbarrier_setting(call.tile));
    if (plan.cta_mask.valid()) mask_ = code.let("cta_mask", code.simplify(plan.cta_mask));
    if (plan.policy.valid()) policy_ = code.let("policy", code.simplify(plan.policy));
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
    if (policy_.valid()) operands.push_back({.expr = policy_});
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
  ExprId map_, mbarrier_, mask_, policy_;
  std::vector<ExprId> starts_;
  std::vector<ExprId> at_;  // by axis
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

std::string map_note(const Plan& plan, const Call& call) {
  std::string out = "tensor map";
  if (plan.given_map.valid()) out += fmt::format(" `{}`", call.f()[plan.given_map].name);
  out += fmt::format(" of rank {}, ", plan.boxes.dims.size());
  out += plan.boxes.swizzle == 0 ? std::string("no swizzle")
                                 : fmt::format("swizzle of {} bytes", plan.boxes.swizzle);
  if (!plan.given_map.valid()) out += fmt::format(", {} bytes of L2 at a time", plan.promotion);
  return out;
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  const std::int64_t bytes = plan.boxes.box_elements() * plan.shared().bits / 8;
  out.threads = 1;
  out.rounds = plan.boxes.issues();
  out.add_instruction(plan.opcode(), plan.boxes.issues(), bytes);
  out.summary = fmt::format("{} box{} of {} by the copy engine, {} bytes each", plan.boxes.issues(),
                            plan.boxes.issues() == 1 ? "" : "es", plan.boxes.box_text(), bytes);
  out.notes.push_back(map_note(plan, call));
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
  if (plan.reduce)
    out.notes.push_back(
        fmt::format("`{}` of what is there and what arrives, element by element, in any order",
                    ir::name_of(*plan.reduce)));
  if (plan.policy.valid())
    out.notes.push_back(fmt::format("cache policy `{}`", ir::print(call.f(), plan.policy)));
  if (plan.prefetches)
    out.notes.emplace_back("thread 0 prefetches the map where the kernel begins");
  if (plan.boxes.issues() > kMaxUnrolled)
    out.notes.push_back(
        fmt::format("{} instructions of {} bytes are many: a row of shared memory "
                    "ends where the next box begins elsewhere",
                    plan.boxes.issues(), bytes));
  if (!plan.is_one_thread) note_one_thread(out, call);
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
