// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/fold.h"

#include <algorithm>
#include <limits>

#include "ir/scan.h"
#include "lower/as_index.h"
#include "lower/call.h"

namespace ww::lower {

using ir::ExprId;
using ir::ExprOp;

// --- what is folded ------------------------------------------------------------------------------

namespace folding {
namespace {

Match<OperandPlaces> registers_of(const Call& call, std::size_t argument) {
  OperandPlaces side = WW_TRY(register_places(call, argument));
  const bool is_logic = call.tile.op == ir::TileOp::Any || call.tile.op == ir::TileOp::All ||
                        ir::gives_index(call.tile.op);
  if (side.bits < 8 || (side.dtype == num::DType::Bool && !is_logic))
    return decline("dtype", "`{}` has elements of type {}, expected numbers of whole bytes",
                   call.buffer(argument).name, num::name_of(side.dtype));
  WW_TRY_VOID(check_cells(call, side, argument));
  return side;
}

}  // namespace
}  // namespace folding

Match<Fold> fold_of(const Call& call) {
  const ir::TileOp op = call.tile.op;
  Fold p{.keeps_prefix = ir::is_scan(op), .dst = {}, .src = {}};
  p.dst = WW_TRY(folding::registers_of(call, 0));
  p.src = WW_TRY(folding::registers_of(call, 1));
  p.type = ir::fold_type(p.src.dtype);
  p.by = p.keeps_prefix ? ir::scanning_operator(op) : ir::folding_operator(op);
  p.threads = call.unit_threads();
  if (!ir::gives_index(op)) return p;
  if (num::bits_of(p.type) > 32)
    return decline("dtype",
                   "`{}` has elements of type {}, expected at most 32 bits beside an index",
                   call.buffer(1).name, num::name_of(p.src.dtype));
  p.type = num::DType::Uint64;
  p.by = ExprOp::Max;
  return p;
}

Match<ir::FoldMap> row_map(const Call& call) {
  return ir::fold_map(WW_TRY(source_extents(call)), ir::folded_dimensions(call.tile));
}

Match<std::vector<std::int64_t>> source_extents(const Call& call) {
  std::vector<std::int64_t> out;
  for (std::size_t d = 0; d < call.region(1).ranges.size(); ++d)
    out.push_back(WW_TRY(constant_extent(call, 1, d)));
  return out;
}

// --- who does what -------------------------------------------------------------------------------

namespace folding {
namespace {

// Nothing: there are too many.
std::optional<std::vector<ThreadFormula::Way>> ways_of(const std::vector<std::int64_t>& numbers,
                                                       const std::vector<bool>& used,
                                                       bool is_relative) {
  constexpr std::size_t kMaxWays = 16;
  std::vector<ThreadFormula::Way> out;
  for (std::size_t u = 0; u < numbers.size(); ++u) {
    if (!used[u]) continue;
    const std::int64_t own = static_cast<std::int64_t>(u) % kLanesOfWarp;
    const std::int64_t number = numbers[u] - (is_relative ? own : 0);
    auto way = std::ranges::find(out, number, &ThreadFormula::Way::number);
    if (way == out.end()) {
      if (out.size() == kMaxWays) return std::nullopt;
      out.push_back({number, std::vector<bool>(numbers.size())});
      way = out.end() - 1;
    }
    way->threads[u] = true;
  }
  return out;
}

}  // namespace
}  // namespace folding

std::optional<ThreadFormula> thread_formula(const std::vector<std::int64_t>& numbers,
                                            const std::vector<bool>& used) {
  ThreadFormula out{.form = fit_table(numbers, used)};
  if (out.form) return out;
  auto apart = folding::ways_of(numbers, used, true);
  auto fixed = folding::ways_of(numbers, used, false);
  if (!apart && !fixed) return std::nullopt;
  out.is_relative = apart && (!fixed || apart->size() < fixed->size());
  out.ways = *std::move(out.is_relative ? apart : fixed);
  return out;
}

Match<ThreadFormula> formula_of(const std::vector<std::int64_t>& numbers,
                                const std::vector<bool>& used, const std::string& what) {
  auto out = thread_formula(numbers, used);
  if (!out) return decline("irregular", "no formula says {}", what);
  return *std::move(out);
}

ExprId formula_expr(CodeWriter& code, const ThreadFormula& formula, ExprId thread) {
  if (formula.form) return code.simplify(digits_expr(code, *formula.form, thread));
  ExprId out = code.n(formula.ways[0].number);
  for (std::size_t i = 1; i < formula.ways.size(); ++i)
    out = code.choose(ExprOp::Select,
                      code.simplify(member_expr(code, thread, formula.ways[i].threads)),
                      code.n(formula.ways[i].number), out);
  if (formula.is_relative) out = code.add(code.mod(thread, kLanesOfWarp), out);
  return code.simplify(out);
}

Match<void> add_slot(const Call& call, const Fold& p, std::size_t argument,
                     std::vector<ThreadSlot>& entry, std::int64_t slot, std::int64_t thread) {
  auto found = std::ranges::find(entry, slot, &ThreadSlot::slot);
  if (found == entry.end()) {
    const std::string& name = call.buffer(argument).name;
    if (entry.size() == kMaxThreadSets)
      return decline("irregular", "{} are in different registers in more than {} sets of threads",
                     p.keeps_prefix ? fmt::format("elements of `{}` that are scanned at once", name)
                                    : fmt::format("the elements of `{}` that go into one", name),
                     kMaxThreadSets);
    entry.push_back({std::vector<bool>(as_index(p.threads)), slot});
    found = entry.end() - 1;
  }
  found->threads[as_index(thread)] = true;
  return {};
}

std::optional<SlotForm> slot_form(std::span<const std::vector<ThreadSlot>> entries) {
  std::vector<std::int64_t> slots;
  for (const std::vector<ThreadSlot>& each : entries) {
    if (each.size() != 1 || each[0].threads != entries[0][0].threads) return std::nullopt;
    slots.push_back(each[0].slot);
  }
  auto form = fit_table(slots);
  if (!form) return std::nullopt;
  return SlotForm{entries[0][0].threads, *std::move(form)};
}

bool has_any(const std::vector<bool>& threads) {
  return std::ranges::find(threads, true) != threads.end();
}

// --- code ----------------------------------------------------------------------------------------

// x + -0 is x, also for x = -0, and so is x * 1; NaN is what max and min pass over.
ExprId neutral_value(CodeWriter& code, ExprOp op, num::DType type) {
  if (!is_float(type))
    return ir::int_imm(code.f(), type, ir::scan_identity(op, type).integer, code.span());
  const double value = op == ExprOp::Add   ? -0.0
                       : op == ExprOp::Mul ? 1.0
                                           : std::numeric_limits<double>::quiet_NaN();
  return ir::float_imm(code.f(), type, value, code.span());
}

FoldWriter::FoldWriter(const Fold& p, const Call& call, CodeWriter& code, std::size_t parts)
    : p_(p), call_(call), code_(code) {
  dst_ = flat_view(call_, code_, p_.dst);
  src_ = p_.src.buffer == p_.dst.buffer ? dst_ : flat_view(call_, code_, p_.src);
  thread_ = call_.unit_thread(code_);
  parts_ = code_.registers("part", p_.type, static_cast<std::int64_t>(parts));
}

ExprId FoldWriter::index(const OperandPlaces& side, ExprId slot) {
  return code_.simplify(side.base.valid() ? code_.add(side.base, slot) : slot);
}

ExprId FoldWriter::source(ExprId slot) {
  return code_.as(ir::fold_type(p_.src.dtype), code_.load(src_, {index(p_.src, slot)}));
}

ExprId FoldWriter::all_lanes() {
  return ir::int_imm(code_.f(), num::DType::Uint32, 0xFFFF'FFFF, call_.span);
}

ExprId FoldWriter::shuffled(ExprId value, const LaneRead& read) {
  const ExprId by = read.shuffle == ir::Intrinsic::Shfl ? formula_expr(code_, read.giver, thread_)
                                                        : code_.n(read.by);
  return code_.call(read.shuffle,
                    {all_lanes(), value, by, code_.n(kLanesOfWarp), code_.n(kLanesOfWarp)});
}

ExprId FoldWriter::given(ExprId value, const LaneRead& read) {
  const ir::BufferId given = code_.registers("given", p_.type, 1);
  code_.store(given, code_.n(0), shuffled(value, read));
  return at(given, 0);
}

// --- report --------------------------------------------------------------------------------------

namespace folding {
namespace {

std::string counted(std::int64_t count, std::string_view what, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? what : many);
}

// A value of 64 bits is shuffled in halves.
void add_shuffles(PlanReport& out, const Fold& p, const FoldCost& cost) {
  constexpr std::int64_t kWordBytes = 4;
  const std::int64_t words = (num::bits_of(p.type) + 31) / 32;
  std::int64_t shuffles = 0;
  const auto add = [&](ir::Intrinsic shuffle, std::string_view opcode, std::int64_t more) {
    const auto count = words * (more + std::ranges::count(cost.reads, shuffle, &LaneRead::shuffle));
    if (count > 0) out.add_instruction(std::string(opcode), count, kWordBytes);
    shuffles += count;
  };
  if (cost.redux_count > 0) {
    out.add_instruction(cost.redux, cost.redux_count, kWordBytes);
    out.summary += fmt::format(", then {} redux.sync", cost.redux_count);
  }
  add(ir::Intrinsic::ShflXor, "shfl.sync.bfly.b32", 0);
  add(ir::Intrinsic::ShflUp, "shfl.sync.up.b32", 0);
  add(ir::Intrinsic::Shfl, "shfl.sync.idx.b32", cost.given);
  if (shuffles > 0) out.summary += ", then " + counted(shuffles, "shuffle", "shuffles");
}

}  // namespace
}  // namespace folding

PlanReport fold_report(const Fold& p, const Call& call, FoldCost cost) {
  PlanReport out;
  out.elements = std::ssize(p.src);
  out.flops = out.elements;
  out.bytes = out.elements * p.src.bits / 8;
  std::vector<std::int64_t> taken;
  std::vector<bool> takes_part(as_index(p.threads));
  for (const SlotTable* takes : cost.takes) {
    out.rounds += std::ssize(*takes);
    for (const std::vector<ThreadSlot>& entry : *takes)
      for (const ThreadSlot& each : entry) {
        taken.push_back(each.slot);
        for (std::size_t u = 0; u < takes_part.size(); ++u)
          if (each.threads[u]) takes_part[u] = true;
      }
  }
  const auto& params = ir::params_of(call.tile.op);
  out.operand_registers.emplace_back(params[0].name, words_of(std::move(cost.puts), p.dst.bits));
  out.operand_registers.emplace_back(params[1].name, words_of(std::move(taken), p.src.bits));
  for (const auto& [name, count] : out.operand_registers) out.registers += count;
  out.threads = std::ranges::count(takes_part, true);
  out.summary = folding::counted(out.rounds, "element per thread", "elements per thread");
  folding::add_shuffles(out, p, cost);
  if (ir::gives_index(call.tile.op))
    out.notes.emplace_back(
        "folded as the greatest of 64-bit keys: the element above, its index below");
  else if (p.type != p.dst.dtype)
    out.notes.push_back(fmt::format("folded in {}", num::name_of(p.type)));
  return out;
}

}  // namespace ww::lower
