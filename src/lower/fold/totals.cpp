// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/totals.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/code_writer.h"

namespace ww::lower {
namespace {

// --- keys of elements and indices ----------------------------------------------------------------

// `argmax` and `argmin` fold keys of 64 bits, of which the greatest wins: above a word that grows
// with the element (for `argmin`, as it falls), below 2^31 - 1 less the index, so that of equal
// elements the first wins. The word of NaN is 0, and that of every number is greater.

namespace reduce_key {

using ir::ExprId;
using ir::ExprOp;
using num::DType;

constexpr std::int64_t kLast = 0x7FFF'FFFF, kAll = 0xFFFF'FFFF, kSign = 0x8000'0000;

ExprId word(CodeWriter& code, std::int64_t value) {
  return ir::int_imm(code.f(), DType::Uint32, value, code.span());
}

ExprId bits_of(CodeWriter& code, ExprId value) {
  ir::Expr out{.op = ExprOp::Reinterpret, .type = ir::Type::of(DType::Uint32)};
  out.span = code.span();
  out.args = {value};
  return code.f().add(std::move(out));
}

// Grows with the element. The bits of negative floats fall, so all of them are turned over.
ExprId growing(CodeWriter& code, ExprId element) {
  const DType type = code.f()[element].type.dtype;
  if (type == DType::Uint32) return element;
  const ExprId bits = bits_of(code, element);
  if (type == DType::Int32) return code.binary(ExprOp::BitXor, bits, word(code, kSign));
  const ExprId is_negative = code.binary(ExprOp::Shr, bits, word(code, 31));
  const ExprId all = code.binary(ExprOp::Sub, word(code, 0), is_negative);
  const ExprId turned = code.binary(ExprOp::BitOr, all, word(code, kSign));
  return code.binary(ExprOp::BitXor, bits, turned);
}

}  // namespace reduce_key

// Of an element in float32, int32 or uint32.
ir::ExprId index_key(CodeWriter& code, ir::TileOp op, ir::ExprId element, ir::ExprId index) {
  using namespace reduce_key;
  ExprId high = growing(code, element);
  if (op == ir::TileOp::Argmin) high = code.binary(ExprOp::BitXor, high, word(code, kAll));
  if (is_float(code.f()[element].type.dtype))
    high =
        code.choose(ExprOp::Select, code.binary(ExprOp::Eq, element, element), high, word(code, 0));
  const ExprId above = code.binary(ExprOp::Shl, code.as(DType::Uint64, high),
                                   ir::int_imm(code.f(), DType::Uint64, 32, code.span()));
  const ExprId below = code.simplify(code.index(ExprOp::Sub, code.n(kLast), index));
  return code.binary(ExprOp::BitOr, above, code.as(DType::Uint64, below));
}

// An int32.
ir::ExprId index_of_key(CodeWriter& code, ir::ExprId key) {
  return code.binary(ir::ExprOp::Sub, code.n(reduce_key::kLast), code.as_int32(key));
}

}  // namespace

using ir::ExprId;
using ir::ExprOp;
using ir::TileOp;

// --- rows ----------------------------------------------------------------------------------------

namespace totals {
namespace {

using Numbers = std::vector<std::int64_t>;

class Rows {
 public:
  Rows(const Call& call, TotalsPlan& plan)
      : call_(call), plan_(plan), first_(plan.fold.src.size(), Owner{-1, -1}) {}

  Match<void> find(const ir::FoldMap& map) {
    const auto threads = as_index(plan_.fold.threads);
    std::vector<std::map<std::int64_t, Held>> held(threads);  // by element of the destination
    for_each_holder(plan_.fold.src, plan_.fold.threads,
                    [&](std::size_t x, std::int64_t u, std::int64_t slot) {
                      auto& [elements, part] = held[as_index(u)][map.into[x]];
                      if (!elements.empty() && as_index(elements.back()) == x) return;
                      elements.push_back(static_cast<std::int64_t>(x));
                      part.slots.push_back(slot);
                      part.indices.push_back(map.index[x]);
                    });
    for (std::size_t u = 0; u < threads; ++u) {
      std::size_t row = 0;
      for (auto& [into, each] : held[u]) {
        if (row == plan_.rows.size()) plan_.rows.emplace_back(threads);
        each.part.into = into;
        each.part.sets = {WW_TRY(number_of(each.elements, static_cast<std::int64_t>(u)))};
        plan_.rows[row++][u] = std::move(each.part);
      }
    }
    return {};
  }

 private:
  struct Held {
    Numbers elements;
    FoldPart part;
  };
  struct Owner {
    std::int64_t set, thread;
  };

  // Of the set: two threads hold the same elements, or none in common.
  Match<std::int64_t> number_of(const Numbers& elements, std::int64_t thread) {
    const auto [found, is_new] =
        numbers_.emplace(elements, static_cast<std::int64_t>(numbers_.size()));
    if (!is_new) return found->second;
    plan_.set_sizes.push_back(std::ssize(elements));
    for (const std::int64_t x : elements) {
      Owner& first = first_[as_index(x)];
      if (first.set >= 0)
        return decline("replica",
                       "threads {} and {} of the {} both hold element {} of `{}`, but not the same "
                       "elements beside it",
                       first.thread, thread, ir::name_of(call_.tile.scope), x,
                       call_.buffer(1).name);
      first = {found->second, thread};
    }
    return found->second;
  }

  const Call& call_;
  TotalsPlan& plan_;
  std::vector<Owner> first_;  // by element
  std::map<Numbers, std::int64_t> numbers_;
};

}  // namespace
}  // namespace totals

Match<TotalsPlan> total_rows(const Call& call) {
  TotalsPlan plan{.fold = WW_TRY(fold_of(call)), .rows = {}, .set_sizes = {}};
  plan.accumulates = ir::accumulates(call.tile);
  const ir::FoldMap map = WW_TRY(row_map(call));
  plan.results = map.results;
  plan.folded = map.folded;
  WW_TRY_VOID(totals::Rows(call, plan).find(map));
  return plan;
}

// --- registers of a thread -----------------------------------------------------------------------

namespace totals {
namespace {

// Where a thread has element i of its part, in the threads that have it in one register.
Match<ThreadFormula> index_formula(const Call& call, const PartRow& row, std::size_t i,
                                   const ThreadSlot& take) {
  Numbers indices(row.size());
  for (std::size_t u = 0; u < row.size(); ++u)
    if (take.threads[u]) indices[u] = row[u].indices[i];
  return formula_of(
      indices, take.threads,
      fmt::format("which element of `{}` is in register {}", call.buffer(1).name, take.slot));
}

Match<Folding> folding_of(const Call& call, const TotalsPlan& plan, const PartRow& row) {
  Folding out;
  for (std::size_t u = 0; u < row.size(); ++u) {
    const Numbers& slots = row[u].slots;
    out.is_everywhere = out.is_everywhere && !slots.empty();
    if (slots.size() > out.takes.size()) out.takes.resize(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
      WW_TRY_VOID(
          add_slot(call, plan.fold, 1, out.takes[i], slots[i], static_cast<std::int64_t>(u)));
  }
  for (std::size_t i = 0; ir::gives_index(call.tile.op) && i < out.takes.size(); ++i) {
    std::vector<ThreadFormula>& indices = out.indices.emplace_back();
    for (const ThreadSlot& take : out.takes[i])
      indices.push_back(WW_TRY(index_formula(call, row, i, take)));
  }
  return out;
}

// --- lanes ---------------------------------------------------------------------------------------

// Does another thread, or another part, have the same elements?
bool has_replicas(const TotalsPlan& plan) {
  std::vector<bool> seen(plan.set_sizes.size());
  for (const PartRow& row : plan.rows)
    for (const FoldPart& part : row)
      for (const std::int64_t set : part.sets) {
        if (seen[as_index(set)]) return true;
        seen[as_index(set)] = true;
      }
  return false;
}

bool share(const FoldPart& a, const FoldPart& b) {
  return std::ranges::any_of(
      a.sets, [&](std::int64_t set) { return std::ranges::binary_search(b.sets, set); });
}

Numbers joined(const Numbers& a, const Numbers& b) {
  Numbers out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

bool is_butterfly(const PartRow& parts, std::int64_t bit) {
  bool is_useful = false;
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const FoldPart& mine = parts[u];
    const FoldPart& other = parts[u ^ as_index(bit)];
    if (mine.sets.empty() || other.sets.empty()) continue;
    if (mine.into != other.into || share(mine, other)) return false;
    is_useful = true;
  }
  return is_useful;
}

void fold_butterfly(PartRow& parts, std::int64_t bit) {
  for (std::size_t u = 0; u < parts.size(); ++u) {
    FoldPart& mine = parts[u];
    FoldPart& other = parts[u ^ as_index(bit)];
    if ((u & as_index(bit)) != 0) continue;
    mine.into = other.into = std::max(mine.into, other.into);
    mine.sets = other.sets = joined(mine.sets, other.sets);
  }
}

// Threads on the other side of the bit that hold part of the same element.
Numbers partners_of(const PartRow& parts, std::int64_t thread, std::int64_t bit) {
  Numbers out;
  const FoldPart& mine = parts[as_index(thread)];
  if (mine.sets.empty()) return out;
  const std::int64_t first = (thread ^ bit) & ~(bit - 1);
  for (std::int64_t other = first; other < first + bit; ++other) {
    const FoldPart& part = parts[as_index(other)];
    if (!part.sets.empty() && part.into == mine.into && !share(part, mine)) out.push_back(other);
  }
  return out;
}

// By a formula of the nearest partners, or else of the first. Nothing: there are none.
Match<std::optional<LaneRead>> fold_partners(const Call& call, PartRow& parts, std::int64_t bit) {
  LaneRead out{.threads = std::vector<bool>(parts.size())};
  Numbers nearest(parts.size()), first(parts.size());
  std::vector<Numbers> sets(parts.size());
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const auto thread = static_cast<std::int64_t>(u);
    const Numbers partners = partners_of(parts, thread, bit);
    if (partners.empty()) continue;
    out.threads[u] = true;
    first[u] = partners.front() % kLanesOfWarp;
    nearest[u] = (thread < partners.front() ? partners.front() : partners.back()) % kLanesOfWarp;
    sets[u] = joined(parts[u].sets, parts[as_index(partners.front())].sets);
  }
  if (!has_any(out.threads)) return std::nullopt;
  for (std::size_t u = 0; u < parts.size(); ++u)
    if (out.threads[u]) parts[u].sets = std::move(sets[u]);
  auto giver = thread_formula(nearest, out.threads);
  out.giver = giver ? *std::move(giver)
                    : WW_TRY(formula_of(first, out.threads,
                                        fmt::format("which lanes on the two sides of bit {} of the "
                                                    "lane hold parts of one element of `{}`",
                                                    bit, call.buffer(0).name)));
  return out;
}

Match<void> find_steps(const Call& call, TotalsPlan& plan) {
  if (plan.fold.threads % kLanesOfWarp != 0) return {};
  const bool is_once = !has_replicas(plan);
  for (std::int64_t bit = 1; bit < kLanesOfWarp; bit *= 2)
    for (std::size_t row = 0; row < plan.rows.size(); ++row) {
      std::optional<LaneRead> read;
      if (is_butterfly(plan.rows[row], bit)) {
        fold_butterfly(plan.rows[row], bit);
        read = LaneRead{.shuffle = ir::Intrinsic::ShflXor, .by = bit};
      } else if (is_once) {
        read = WW_TRY(fold_partners(call, plan.rows[row], bit));
      }
      if (read) plan.steps.push_back({static_cast<std::int64_t>(row), *std::move(read)});
    }
  return {};
}

std::string redux_of(TileOp op, num::DType type) {
  const ExprOp by = ir::folding_operator(op);
  return fmt::format("redux.sync.{}.{}",
                     by == ExprOp::Add   ? "add"
                     : by == ExprOp::Max ? "max"
                                         : "min",
                     type == num::DType::Int32 ? "s32" : "u32");
}

// Five butterflies are one instruction where there is one.
void find_redux(const Call& call, TotalsPlan& plan) {
  const num::DType type = plan.fold.type;
  const bool is_word = type == num::DType::Int32 || type == num::DType::Uint32;
  if (!is_word || call.tile.op == TileOp::Prod) return;
  if (!is_on_target(redux_of(call.tile.op, type), call.context.target)) return;
  for (std::int64_t row = 0; row < std::ssize(plan.rows); ++row) {
    const auto butterflies = std::ranges::count_if(plan.steps, [&](const LaneStep& each) {
      return each.row == row && each.read.shuffle == ir::Intrinsic::ShflXor;
    });
    if (butterflies == 5) plan.redux.push_back(row);
  }
  std::erase_if(plan.steps, [&](const LaneStep& each) {
    return std::ranges::find(plan.redux, each.row) != plan.redux.end();
  });
}

std::int64_t count(const TotalsPlan& plan, const FoldPart& part) {
  std::int64_t out = 0;
  for (const std::int64_t set : part.sets) out += plan.set_sizes[as_index(set)];
  return out;
}

}  // namespace
}  // namespace totals

Match<void> plan_totals(const Call& call, TotalsPlan& plan) {
  for (const PartRow& row : plan.rows)
    plan.foldings.push_back(WW_TRY(totals::folding_of(call, plan, row)));
  WW_TRY_VOID(totals::find_steps(call, plan));
  totals::find_redux(call, plan);
  return {};
}

std::optional<std::int64_t> row_with_all(const TotalsPlan& plan, std::int64_t into,
                                         std::int64_t thread) {
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const FoldPart& part = plan.rows[row][as_index(thread)];
    if (part.into == into && totals::count(plan, part) == plan.folded)
      return static_cast<std::int64_t>(row);
  }
  return std::nullopt;
}

std::pair<std::int64_t, std::int64_t> greatest_part(const TotalsPlan& plan, std::int64_t into) {
  std::pair<std::int64_t, std::int64_t> out{0, 0};
  for (const PartRow& row : plan.rows)
    for (std::size_t u = 0; u < row.size(); ++u)
      if (row[u].into == into && totals::count(plan, row[u]) > out.second)
        out = {static_cast<std::int64_t>(u), totals::count(plan, row[u])};
  return out;
}

Match<std::vector<std::vector<Wanted>>> wanted_of(const Call& call, const Fold& p) {
  std::vector<Wanted> all;
  for_each_holder(p.dst, p.threads, [&](std::size_t into, std::int64_t u, std::int64_t slot) {
    all.push_back({.slot = slot, .thread = u, .into = static_cast<std::int64_t>(into)});
  });
  std::ranges::sort(all, {}, [](const Wanted& w) { return std::tuple(w.slot, w.thread, w.into); });
  std::vector<std::vector<Wanted>> out;
  for (const Wanted& each : all) {
    if (out.empty() || out.back()[0].slot != each.slot) out.emplace_back();
    if (!out.back().empty() && out.back().back().thread == each.thread &&
        out.back().back().into != each.into)
      return decline("collision", "elements {} and {} of `{}` are both in register {} of thread {}",
                     out.back().back().into, each.into, call.buffer(0).name, each.slot,
                     each.thread);
    out.back().push_back(each);
  }
  return out;
}

// --- between warps -------------------------------------------------------------------------------

Match<WarpParts> warp_parts(const Call& call, const TotalsPlan& plan, std::int64_t threads_of_cta) {
  /// What a warp has of an element, and who has the most of it.
  struct Most {
    std::vector<std::int64_t> sets, all;
    WarpPart who{};
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Most> by_warp;  // element, warp
  for (std::size_t row = 0; row < plan.rows.size(); ++row)
    for (std::size_t u = 0; u < plan.rows[row].size(); ++u) {
      const FoldPart& part = plan.rows[row][u];
      if (part.sets.empty()) continue;
      const auto thread = static_cast<std::int64_t>(u);
      Most& most = by_warp[{part.into, thread / kLanesOfWarp}];
      most.all = totals::joined(most.all, part.sets);
      if (part.sets.size() > most.sets.size()) {
        most.sets = part.sets;
        most.who = {thread, static_cast<std::int64_t>(row)};
      }
    }
  WarpParts out{.of = decltype(out.of)(as_index(plan.results))};
  std::vector<bool> is_counted(plan.set_sizes.size());
  for (const auto& [at, most] : by_warp) {
    const auto again = std::ranges::count_if(
        most.all, [&](std::int64_t set) { return is_counted[as_index(set)]; });
    if (again == std::ssize(most.all)) continue;
    if (again > 0)
      return decline("replica",
                     "warp {} of the {} holds elements of `{}` that a warp before it holds, and "
                     "others beside them, for element {} of `{}`",
                     at.second, ir::name_of(call.tile.scope), call.buffer(1).name, at.first,
                     call.buffer(0).name);
    if (most.sets.size() != most.all.size())
      return decline("lanes",
                     "the lanes of warp {} hold {} parts of element {} of `{}`, and shuffles bring "
                     "together {} of them",
                     at.second, most.all.size(), at.first, call.buffer(0).name, most.sets.size());
    for (const std::int64_t set : most.all) is_counted[as_index(set)] = true;
    auto& by_cta = out.of[as_index(at.first)];
    std::vector<WarpPart>& of_cta = by_cta[most.who.thread / threads_of_cta];
    of_cta.push_back(most.who);
    out.most_warps = std::max(out.most_warps, std::ssize(of_cta));
    out.most_ctas = std::max(out.most_ctas, std::ssize(by_cta));
  }
  return out;
}

Match<std::vector<Deposit>> deposits_of(const Call& call, const TotalsPlan& plan,
                                        const WarpParts& parts) {
  const auto threads = as_index(plan.fold.threads);
  std::vector<Deposit> out;
  std::vector<std::vector<std::int64_t>> places(plan.rows.size(),
                                                std::vector<std::int64_t>(threads));
  for (std::size_t row = 0; row < plan.rows.size(); ++row)
    out.push_back({static_cast<std::int64_t>(row), std::vector<bool>(threads)});
  for (std::size_t into = 0; into < parts.of.size(); ++into)
    for (const auto& [cta, of_warps] : parts.of[into])
      for (std::size_t k = 0; k < of_warps.size(); ++k) {
        const auto [thread, row] = of_warps[k];
        out[as_index(row)].threads[as_index(thread)] = true;
        places[as_index(row)][as_index(thread)] =
            static_cast<std::int64_t>(into) * parts.most_warps + static_cast<std::int64_t>(k);
      }
  std::erase_if(out, [](const Deposit& each) { return !has_any(each.threads); });
  for (Deposit& each : out)
    each.place = WW_TRY(formula_of(places[as_index(each.row)], each.threads,
                                   fmt::format("which elements of `{}` part {} of a thread is of",
                                               call.buffer(0).name, each.row)));
  return out;
}

void Collection::add(std::int64_t thread, std::size_t parts, std::int64_t unit_threads) {
  while (threads.size() < parts) threads.emplace_back(as_index(unit_threads));
  for (std::size_t k = 0; k < parts; ++k) threads[k][as_index(thread)] = true;
}

Match<Collection> collection_of(const Call& call, const TotalsPlan& plan,
                                std::span<const Wanted> wanted, const WarpParts& parts,
                                bool is_of_ctas) {
  Collection out{.slot = wanted[0].slot, .threads = {}, .place = {}};
  std::vector<std::int64_t> places(as_index(plan.fold.threads));
  for (const Wanted& each : wanted) {
    const auto& by_cta = parts.of[as_index(each.into)];
    places[as_index(each.thread)] = each.into * (is_of_ctas ? parts.most_ctas : parts.most_warps);
    out.add(each.thread, is_of_ctas ? by_cta.size() : by_cta.begin()->second.size(),
            plan.fold.threads);
  }
  out.place = WW_TRY(formula_of(
      places, out.threads[0],
      fmt::format("which element of `{}` register {} holds", call.buffer(0).name, out.slot)));
  return out;
}

// --- code ----------------------------------------------------------------------------------------

void TotalsWriter::write() {
  for (std::size_t row = 0; row < plan_.foldings.size(); ++row)
    fold_registers(static_cast<std::int64_t>(row), plan_.foldings[row]);
  for (const LaneStep& each : plan_.steps) step(each);
  for (const std::int64_t row : plan_.redux) {
    const ir::PtxOperand own = register_operand(code_, parts_, code_.n(row));
    code_.ptx(totals::redux_of(call_.tile.op, p_.type), {own, own, {.expr = all_lanes()}});
  }
}

// The registers behind the first in a loop, where all threads fold the same ones.
void TotalsWriter::fold_registers(std::int64_t row, const Folding& folding) {
  if (!folding.is_everywhere) set_part(row, neutral_value(code_, p_.by, p_.type));
  const SlotTable& takes = folding.takes;
  const bool is_alike = folding.is_everywhere && takes.size() >= 3 && takes[0].size() == 1 &&
                        !ir::gives_index(call_.tile.op);
  auto form = is_alike ? slot_form(std::span(takes).subspan(1)) : std::nullopt;
  if (form && form->threads != takes[0][0].threads) form.reset();
  for (std::size_t i = 0; i < (form ? 1 : takes.size()); ++i)
    for (std::size_t k = 0; k < takes[i].size(); ++k)
      in_threads(takes[i][k].threads, [&] {
        ExprId value = source(code_.n(takes[i][k].slot));
        if (!folding.indices.empty())
          value = index_key(code_, call_.tile.op, value,
                            formula_expr(code_, folding.indices[i][k], thread_));
        i == 0 ? set_part(row, value) : take(row, value);
      });
  if (form)
    code_.loop("i", std::ssize(takes) - 1, ir::LoopKind::Unroll,
               [&](ExprId i) { take(row, source(digits_expr(code_, form->form, i))); });
}

void TotalsWriter::step(const LaneStep& step) {
  const std::int64_t row = step.row;
  if (step.read.shuffle == ir::Intrinsic::ShflXor) return take(row, shuffled(part(row), step.read));
  const ExprId other = given(part(row), step.read);
  in_threads(step.read.threads, [&] { take(row, other); });
}

void TotalsWriter::put(std::int64_t slot, ExprId value) {
  const ExprId to = index(p_.dst, code_.n(slot));
  if (ir::gives_index(call_.tile.op)) return store(to, index_of_key(code_, value));
  store(to, plan_.accumulates ? folded(value, code_.as(p_.type, code_.load(dst_, {to}))) : value);
}

void TotalsWriter::collect(const Collection& each, ir::BufferId to, std::int64_t least,
                           const std::function<ExprId(ExprId)>& value_at) {
  const ExprId first = formula_expr(code_, each.place, thread_);
  const auto value = [&](ExprId k) { return value_at(code_.add(first, k)); };
  const auto add = [&](ExprId k) { code_.store(to, code_.n(0), folded(at(to, 0), value(k))); };
  code_.store(to, code_.n(0), value(code_.n(0)));
  const auto is_same = [&](const std::vector<bool>& set) { return set == each.threads[0]; };
  const auto rest = std::span(each.threads).subspan(1);
  const bool is_regular = std::ranges::all_of(rest, is_same);
  if (is_regular && std::ssize(rest) >= least)
    return code_.loop("i", std::ssize(rest), ir::LoopKind::Unroll,
                      [&](ExprId i) { add(code_.add(i, code_.n(1))); });
  for (std::size_t k = 0; k < rest.size(); ++k)
    code_.guarded(is_regular ? ExprId{} : member_expr(code_, thread_, rest[k]),
                  [&] { add(code_.n(static_cast<std::int64_t>(k) + 1)); });
}

// --- report --------------------------------------------------------------------------------------

PlanReport totals_report(const TotalsPlan& plan, const Call& call, std::vector<std::int64_t> puts,
                         std::int64_t given) {
  FoldCost cost{.takes = {}, .puts = std::move(puts), .reads = {}, .given = given};
  for (const Folding& folding : plan.foldings) cost.takes.push_back(&folding.takes);
  for (const LaneStep& each : plan.steps) cost.reads.push_back(&each.read);
  cost.redux_count = std::ssize(plan.redux);
  if (cost.redux_count > 0) cost.redux = totals::redux_of(call.tile.op, plan.fold.type);
  return fold_report(plan.fold, call, std::move(cost));
}

}  // namespace ww::lower
