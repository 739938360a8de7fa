// SPDX-License-Identifier: Apache-2.0
// copy / fallback: what nothing else takes, element by element through the layouts' own formulas.
//
// Between memories the threads share the elements out, also when extents are known at run time
// only. Between memory and registers that are spread over threads, each register is a round in
// which every thread finds its element. A register array without thread axes is filled by every
// thread; what all threads hold is stored by the first. Elements smaller than a byte are moved by
// one thread, because two threads cannot write one byte.
#include <algorithm>

#include "lower/copy/vectors.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

using ir::ExprId;

struct Plan {
  enum class Kind : std::uint8_t {
    Shared,    // thread u moves elements u, u + T, …
    Serial,    // each thread, or the first, moves all
    Registers  // round by round over registers
  };
  Kind kind = Kind::Shared;
  bool only_first = false;               // Serial: the first thread alone
  std::optional<std::int64_t> elements;  // constant extents
  // Registers: slots with, for each thread of the unit, its element or -1.
  CopyProblem problem;
  RegisterMap map;
  std::string why;  // the reason of the variant that would have been better
};

constexpr std::int64_t kMostRounds = 4096;

std::optional<std::int64_t> element_count(const Call& call) {
  std::int64_t count = 1;
  for (const ir::RangeExpr& range : call.region(0).ranges) {
    const auto extent = ir::const_int(call.f(), range.extent);
    if (!extent) return std::nullopt;
    count *= *extent;
  }
  return count;
}

// Only the register operand need be enumerated: it says who moves what.
Match<Plan> match_registers(const Call& call, Plan plan) {
  const auto is_local = [&](std::size_t i) {
    return call.f()[call.region(i).buffer].scope == ir::Scope::Local;
  };
  if (is_local(0) && is_local(1))
    return decline("owner",
                   "an element moves from the registers of one thread to those of another");
  const bool is_dst = is_local(0);
  auto side = copy_side(call, is_dst ? 0 : 1);
  if (!side) return std::unexpected(std::move(side).error());
  (is_dst ? plan.problem.dst : plan.problem.src) = *std::move(side);
  plan.kind = Plan::Kind::Registers;
  plan.map = register_map(call, plan.problem, is_dst);
  if (plan.map.slots > kMostRounds)
    return decline("size", "{} registers, at most {} are moved one by one", plan.map.slots,
                   kMostRounds);
  return plan;
}

Match<Plan> match(const Call& call) {
  if (call.tile.scope == ir::Unit::Cluster)
    return decline("scope", "{} scope, expected thread, warp, warpgroup or cta",
                   ir::name_of(call.tile.scope));
  Plan plan;
  plan.elements = element_count(call);
  const auto problem = copy_problem(call);
  if (!problem && (problem.error().rule == "overlap" || problem.error().rule == "collision"))
    return std::unexpected(problem.error());
  const auto storage = [&](std::size_t i) {
    return ir::storage_of(call.f(), call.region(i).buffer);
  };
  if (!problem && storage(0) == storage(1))
    return decline("overlap", "source and destination in `{}` may overlap: {}",
                   call.f()[storage(0)].name, problem.error().reason);
  plan.why = problem ? std::string("the places follow no formula") : problem.error().reason;
  bool has_registers = false, has_threads = false;
  for (const std::size_t i : {0U, 1U}) {
    const ir::Buffer& buffer = call.f()[call.region(i).buffer];
    if (buffer.scope == ir::Scope::Tmem)
      return decline("memory_pair", "tensor memory is copied by `copy_async`");
    if (buffer.scope != ir::Scope::Local && buffer.layout && buffer.layout->copies() > 1)
      return decline("replica", "`{}` holds each element at {} places in memory", buffer.name,
                     buffer.layout->copies());
    has_registers = has_registers || buffer.scope == ir::Scope::Local;
    has_threads = has_threads || ir::has_thread_axes(buffer);
  }
  if (has_threads) return match_registers(call, std::move(plan));
  if (auto good = check_workers(call); !good) return std::unexpected(std::move(good).error());
  const bool is_stored = call.f()[call.region(0).buffer].scope != ir::Scope::Local;
  if (has_registers || num::bits_of(call.f()[call.region(0).buffer].dtype) < 8) {
    plan.kind = Plan::Kind::Serial;
    plan.only_first = is_stored && call.tile.scope != ir::Unit::Thread;
  }
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

// Element access by the number of an element in the tile.
class Elements {
 public:
  Elements(const Call& call, Code& code) : call_(call), code_(code) {
    for (const ir::RangeExpr& range : call.region(0).ranges)
      if (const ExprId extent = code.simplify(range.extent); code.constant(extent) != 1)
        extents_.push_back(extent);
  }

  ExprId count() {
    ExprId out = code_.n(1);
    for (const ExprId extent : extents_) out = code_.wide_mul(out, extent);
    return out;
  }

  std::vector<ExprId> indices(std::size_t operand, ExprId q) {
    std::vector<ExprId> digits(extents_.size());
    for (std::size_t d = extents_.size(); d-- > 0;) {
      digits[d] = d == 0 ? q : code_.binary(ir::ExprOp::FloorMod, q, extents_[d]);
      q = code_.binary(ir::ExprOp::FloorDiv, q, extents_[d]);
    }
    std::vector<ExprId> out;
    std::size_t next = 0;
    for (const ir::RangeExpr& range : call_.region(operand).ranges) {
      const bool is_unit = code_.constant(code_.simplify(range.extent)) == 1;
      out.push_back(is_unit ? range.min : code_.add(range.min, digits[next++]));
    }
    return out;
  }

  ExprId load(std::size_t operand, ExprId q) {
    const auto loaded = ir::load(code_.f(), call_.region(operand).buffer, indices(operand, q));
    WW_CHECK(loaded.has_value(), "an element is not loaded: {}", loaded.error().text);
    return *loaded;
  }

  void copy(ExprId q) {
    const ExprId value = load(1, q);
    code_.store(call_.region(0).buffer, indices(0, q), value);
  }

 private:
  const Call& call_;
  Code& code_;
  std::vector<ExprId> extents_;
};

void loop_over(Code& code, ExprId trips, const std::function<void(ExprId)>& body) {
  if (const auto number = code.constant(trips))
    return code.loop("f", *number, ir::LoopKind::Serial, body);
  const ir::VarId f = code.loop_var("f", ir::range_of(code.f(), trips, code.facts()).max - 1,
                                    code.f()[trips].type.dtype);
  ir::Block outer = code.take();
  body(code.var(f));
  code.finish_loop(f, trips, ir::LoopKind::Serial, std::move(outer));
}

void emit_shared(const Call& call, Code& code) {
  Elements elements(call, code);
  const ExprId u = call.worker(code);
  const ExprId count = elements.count();
  const auto threads = static_cast<std::int64_t>(call.workers().size());
  const ExprId trips = code.simplify(code.div(code.add(count, threads - 1), threads));
  loop_over(code, trips, [&](ExprId f) {
    const ExprId q = code.add(code.mul(f, threads), u);
    code.guarded(code.binary(ir::ExprOp::Lt, q, count), [&] { elements.copy(code.let("q", q)); });
  });
}

void emit_serial(const Plan& plan, const Call& call, Code& code) {
  Elements elements(call, code);
  const ExprId u = call.worker(code);
  const ExprId first = plan.only_first ? code.binary(ir::ExprOp::Eq, u, code.n(0)) : ExprId{};
  const ExprId count = elements.count();
  code.guarded(first, [&] { loop_over(code, count, [&](ExprId q) { elements.copy(q); }); });
}

// The elements of the threads in one slot: one formula, or one branch per thread.
void emit_slot(const Plan& plan, const Call& call, Code& code, ir::BufferId flat,
               std::int64_t slot) {
  const bool is_dst = plan.problem.dst.is_register();
  const Side& own = is_dst ? plan.problem.dst : plan.problem.src;
  Elements elements(call, code);
  const ExprId u = call.unit_thread(code);
  std::vector<bool> used;
  std::vector<std::int64_t> numbers;
  const auto tile = static_cast<std::int64_t>(plan.elements.value_or(1));
  for (std::int64_t t = 0; t < plan.map.threads; ++t) {
    const std::int32_t x = plan.map.at(slot, t);
    used.push_back(x >= 0);
    numbers.push_back(x < 0 ? 0 : x % tile);
  }
  if (std::find(used.begin(), used.end(), true) == used.end()) return;
  const auto move = [&](ExprId q) {
    const ExprId base = own.base.valid() ? own.base : code.n(0);
    const ExprId index = code.add(base, slot + plan.map.first_slot);
    if (is_dst) {
      const ExprId value = elements.load(1, q);
      code.store(flat, std::span(&index, 1), value);
    } else {
      const ExprId value = code.load(flat, {index});
      code.store(call.region(0).buffer, elements.indices(0, q), value);
    }
  };
  if (const auto form = fit_table(numbers, used)) {
    code.guarded(member_expr(code, u, used), [&] { move(digits_expr(code, *form, u)); });
    return;
  }
  for (std::size_t t = 0; t < used.size(); ++t)
    if (used[t])
      code.guarded(code.binary(ir::ExprOp::Eq, u, code.n(static_cast<std::int64_t>(t))),
                   [&] { move(code.n(numbers[t])); });
}

void emit_registers(const Plan& plan, const Call& call, Code& code) {
  const Side& own = *plan.problem.register_side();
  const ir::BufferId flat =
      code.flat_view(own.buffer, own.dtype, view_elements(call, own), call.f()[own.buffer].name);
  for (std::int64_t slot = 0; slot < plan.map.slots; ++slot)
    emit_slot(plan, call, code, flat, slot);
}

void emit(const Plan& plan, const Call& call, Code& code) {
  switch (plan.kind) {
    case Plan::Kind::Shared:
      return emit_shared(call, code);
    case Plan::Kind::Serial:
      return emit_serial(plan, call, code);
    case Plan::Kind::Registers:
      return emit_registers(plan, call, code);
  }
}

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out;
  const int bits = num::bits_of(call.f()[call.region(0).buffer].dtype);
  out.elements = plan.elements.value_or(0);
  out.bytes = (out.elements * bits + 7) / 8;
  out.threads = plan.only_first ? 1 : static_cast<std::int64_t>(call.workers().size());
  out.vector_bits = bits;
  switch (plan.kind) {
    case Plan::Kind::Shared:
      out.rounds = (out.elements + out.threads - 1) / out.threads;
      out.summary = "element by element, shared out among the threads";
      break;
    case Plan::Kind::Serial:
      out.rounds = out.elements;
      out.summary = plan.only_first ? "element by element, by the first thread"
                                    : "element by element, in each thread";
      break;
    case Plan::Kind::Registers:
      out.rounds = plan.map.slots;
      out.summary = "element by element, each thread its registers";
      break;
  }
  out.notes.push_back(fmt::format("slow path: {}", plan.why));
  return out;
}

}  // namespace

constinit const Variant kCopyFallback =
    variant<Plan, match, emit, report>({.op = ir::TileOp::Copy,
                                        .name = "fallback",
                                        .priority = 0,
                                        .about = "element by element, whatever the layouts are"});

}  // namespace ww::lower
