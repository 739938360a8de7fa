// SPDX-License-Identifier: Apache-2.0
// permute_layout / swizzled: a tile in shared or global memory from one layout to another, in place
// too. Every thread reads its elements into registers; after a barrier, if the two share storage,
// it writes them.
//
//     Tx.warp.permute_layout(columns[0:32, 0:32], rows[0:32, 0:32])      float32, shared
//                                                rows = S[(32,32):(32,1)], columns = S[(32,32):(1,32)]
//
//     src_first: T.let = lane * 33
//     part[r] = rows[src_first ^ r]                       r = 0 … 31: no bank conflicts
//     T.cuda.warp_sync()
//     columns[dst_first ^ r * 32] = part[r]               nor here
//
// Which thread takes what in which round is found by counting: of the elements in the order of either
// side, each thread takes every so many, with some bits of its lane added to their number by XOR,
// whichever takes the fewest turns of the banks for reads and writes together. An access has as many elements as lie side by side on both
// sides, 16 bytes at most.
#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy/problem.h"
#include "lower/cost.h"
#include "lower/index_formula.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower::permute_swizzled {
namespace {

using ir::ExprId;
using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kDst = 0, kSrc = 1;

/// The places of a round are those of round 0 with a number added, or by XOR; otherwise a formula of
/// their own.
struct Round {
  enum class Kind : std::uint8_t { Sum, Xor, Own };
  Kind kind = Kind::Sum;
  std::int64_t by = 0;
  layout::TileLayout own = {};
};
struct Side {
  OperandPlaces places;
  layout::TileLayout first = {};                  // of round 0, by thread
  layout::Swizzle swizzle = {};                   // of what the formula gives
  std::optional<layout::TileLayout> turned = {};  // added to it by XOR
  std::vector<Round> rounds = {};
  Wavefronts turns = {};
};

/// Who takes what: in round r the thread u takes the item (u + threads·r) ^ (u >> shift) % 2^bits << at.
struct Sharing {
  bool is_by_src = false;  // items in the order of the source, not of the destination
  int shift = 0, bits = 0, at = 0;
};

struct Plan {
  Side dst, src;
  Sharing sharing;
  std::int64_t elements = 0, threads = 0, rounds = 0;
  std::int64_t vec = 1, bytes = 4;  // of an access
  bool has_barrier = true;          // between reads and writes
};

// --- match ---------------------------------------------------------------------------------------

Match<OperandPlaces> places_of(const Call& call, std::size_t argument) {
  const ir::Buffer& buffer = call.buffer(argument);
  if (buffer.scope != ir::Scope::Global && !ir::is_shared(buffer.scope))
    return decline("memory", "`{}` is in {}, expected shared or global memory; `copy` moves it",
                   buffer.name, buffer.scope == ir::Scope::Tmem ? "tensor memory" : "registers");
  OperandPlaces out = WW_TRY(operand_places(call, argument));
  if (out.bits < 8)
    return decline("sub_byte", "`{}` has elements of {} bits, expected whole bytes", buffer.name,
                   out.bits);
  WW_TRY_VOID(check_one_place(call, out));
  if (!out.strides.empty())
    return decline("extents", "`{}` has strides that are known at run time only", buffer.name);
  if (!out.base_commutes())
    return decline("swizzle", "`{}` begins inside the pattern of its swizzle", buffer.name);
  return out;
}

Match<void> check_threads(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  if (call.tile.scope == ir::Unit::Thread)
    return decline("scope", "thread scope, expected warp, warpgroup or cta");
  return check_all_arrive(call);
}

// The elements by their place.
std::vector<std::size_t> order_of(const OperandPlaces& side) {
  std::vector<std::size_t> out(side.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, {}, [&](std::size_t x) { return side.place(x); });
  return out;
}

/// The first elements of accesses of one width, in the order of a side.
using Items = std::vector<std::size_t>;

// Nothing where the elements do not lie side by side on both sides.
std::optional<Items> items_of(const Plan& plan, const std::vector<std::size_t>& order,
                              std::int64_t vec) {
  const std::int64_t bytes = vec * plan.dst.places.bits / 8;
  Items out;
  if (std::ssize(order) % vec != 0) return std::nullopt;
  for (const OperandPlaces* side : {&plan.dst.places, &plan.src.places})
    if (vec > 1 && !side->base_is_aligned(bytes)) return std::nullopt;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_first = i % as_index(vec) == 0;
    if (is_first) out.push_back(order[i]);
    for (const OperandPlaces* side : {&plan.dst.places, &plan.src.places}) {
      if (is_first && vec > 1 && !side->is_aligned(order[i], bytes)) return std::nullopt;
      if (!is_first && !side->follows(order[i - 1], order[i])) return std::nullopt;
    }
  }
  return out;
}

std::size_t taken(const Plan& plan, const Sharing& sharing, const Items& items, std::int64_t u,
                  std::int64_t r) {
  const std::int64_t turn = (u >> sharing.shift) & ((std::int64_t{1} << sharing.bits) - 1);
  return items[as_index((u + plan.threads * r) ^ turn << sharing.at)];
}

Wavefronts turns_of(const Plan& plan, const OperandPlaces& side, const Sharing& sharing,
                    const Items& items) {
  if (!ir::is_shared(side.scope)) return {};
  AccessLog log(side);
  log.add_rounds(plan.rounds, plan.threads, plan.bytes, [&](std::int64_t r, std::int64_t u) {
    return side.linear[taken(plan, sharing, items, u, r)];
  });
  return log.count();
}

// --- formulas ---

std::optional<Round> round_of(const Numbers& first, const Numbers& places) {
  Round out{.kind = Round::Kind::Sum, .by = places[0] - first[0]};
  const auto holds = [&](const auto& moved) {
    for (std::size_t u = 0; u < places.size(); ++u)
      if (moved(first[u]) != places[u]) return false;
    return true;
  };
  if (holds([&](std::int64_t at) { return at + out.by; })) return out;
  out = {.kind = Round::Kind::Xor, .by = places[0] ^ first[0]};
  if (holds([&](std::int64_t at) { return at ^ out.by; })) return out;
  auto own = fit_table(places);
  if (!own) return std::nullopt;
  return Round{.kind = Round::Kind::Own, .own = *std::move(own)};
}

// Without the bits that a thread adds by XOR, and those apart.
bool find_turned(const Plan& plan, const Sharing& sharing, const Items& items,
                 const Numbers& places, Side& side) {
  Numbers plain, turned;
  for (std::int64_t u = 0; u < plan.threads; ++u) {
    const std::int64_t turn = (u >> sharing.shift) & ((std::int64_t{1} << sharing.bits) - 1);
    plain.push_back(side.places.place(items[as_index(u)]));
    turned.push_back(side.places.place(items[as_index(turn << sharing.at)]) ^
                     side.places.place(items[0]));
    if ((plain.back() ^ turned.back()) != places[as_index(u)]) return false;
  }
  auto first = fit_table(plain);
  side.turned = fit_table(turned);
  if (!first || !side.turned) return false;
  side.first = *std::move(first);
  return true;
}

// Of places, of those before the swizzle, or in two parts.
bool find_first(const Plan& plan, const Sharing& sharing, const Items& items, const Numbers& places,
                Side& side) {
  side.swizzle = {};
  side.turned = {};
  auto form = fit_table(places);
  if (!form && !side.places.swizzle.is_none()) {
    Numbers linear;
    for (std::int64_t u = 0; u < plan.threads; ++u)
      linear.push_back(side.places.linear[taken(plan, sharing, items, u, 0)]);
    form = fit_table(linear);
    side.swizzle = side.places.swizzle;
  }
  if (!form) {
    side.swizzle = {};
    return find_turned(plan, sharing, items, places, side);
  }
  side.first = *std::move(form);
  return true;
}

bool find_formulas(const Plan& plan, const Sharing& sharing, const Items& items, Side& side) {
  Numbers first;
  side.rounds.clear();
  for (std::int64_t r = 0; r < plan.rounds; ++r) {
    Numbers places;
    for (std::int64_t u = 0; u < plan.threads; ++u)
      places.push_back(side.places.place(taken(plan, sharing, items, u, r)));
    if (r == 0) {
      first = places;
      if (!find_first(plan, sharing, items, first, side)) return false;
    }
    auto round = round_of(first, places);
    if (!round) return false;
    side.rounds.push_back(*std::move(round));
  }
  side.turns = turns_of(plan, side.places, sharing, items);
  return true;
}

// --- the choice ---

// Few bits first. Bits of the lane go to bits of the item that a warp does not have.
std::vector<Sharing> sharings_of(const Plan& plan) {
  constexpr int kLaneBits = 5;
  std::vector<Sharing> out{{.is_by_src = false}, {.is_by_src = true}};
  const auto items = static_cast<std::uint64_t>(plan.rounds * plan.threads);
  if (!std::has_single_bit(items)) return out;
  const int all = std::countr_zero(items);
  for (int bits = 1; bits <= kLaneBits; ++bits)
    for (const bool is_by_src : {false, true})
      for (int at = kLaneBits; at + bits <= all; ++at)
        for (int shift = 0; shift + bits <= kLaneBits; ++shift)
          out.push_back({is_by_src, shift, bits, at});
  return out;
}

// The fewest turns of which there are formulas; the first without conflicts is as good as any.
Match<Plan> best_sharing(Plan plan, const Items& by_dst, const Items& by_src) {
  std::vector<std::pair<std::int64_t, std::size_t>> costs;
  const std::vector<Sharing> all = sharings_of(plan);
  const auto formulas = [&](const Sharing& sharing) {
    const Items& items = sharing.is_by_src ? by_src : by_dst;
    plan.sharing = sharing;
    return find_formulas(plan, sharing, items, plan.dst) &&
           find_formulas(plan, sharing, items, plan.src);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    Wavefronts turns;
    for (const Side* side : {&plan.dst, &plan.src}) {
      const Wavefronts of_side =
          turns_of(plan, side->places, all[i], all[i].is_by_src ? by_src : by_dst);
      turns = {turns.needed + of_side.needed, turns.ideal + of_side.ideal};
    }
    if (turns.conflicts() == 0 && formulas(all[i])) return plan;
    costs.emplace_back(turns.needed, i);
  }
  std::ranges::sort(costs);
  for (const auto& [turns, i] : costs)
    if (formulas(all[i])) return plan;
  return decline("irregular", "no formula of the thread gives the places of {} elements",
                 plan.elements);
}

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_threads(call));
  Plan plan;
  plan.dst.places = WW_TRY(places_of(call, kDst));
  plan.src.places = WW_TRY(places_of(call, kSrc));
  plan.elements = std::ssize(plan.dst.places);
  plan.threads = call.unit_threads();
  const auto dst_order = order_of(plan.dst.places), src_order = order_of(plan.src.places);
  for (std::size_t i = 1; i < dst_order.size(); ++i)
    if (plan.dst.places.place(dst_order[i]) == plan.dst.places.place(dst_order[i - 1]))
      return decline("collision", "elements {} and {} of `{}` are at one place", dst_order[i - 1],
                     dst_order[i], call.buffer(kDst).name);
  const ir::Function& f = call.f();
  const ir::BufferId to = plan.dst.places.buffer, from = plan.src.places.buffer;
  plan.has_barrier = ir::storage_of(f, to) == ir::storage_of(f, from) && !are_apart(f, to, from);
  constexpr std::int64_t kMaxRegisters = 128;
  const std::int64_t words = plan.elements * plan.dst.places.bits / 32 / plan.threads;
  if (words > kMaxRegisters)
    return decline("size",
                   "a thread would hold {} registers, of {}; a loop over smaller tiles "
                   "takes fewer",
                   words, kMaxRegisters);
  for (std::int64_t bytes = 16; bytes * 8 >= plan.dst.places.bits; bytes /= 2) {
    plan.bytes = bytes;
    plan.vec = bytes * 8 / plan.dst.places.bits;
    const auto by_dst = items_of(plan, dst_order, plan.vec);
    if (!by_dst || std::ssize(*by_dst) % plan.threads != 0) continue;
    const auto by_src = items_of(plan, src_order, plan.vec);
    plan.rounds = std::ssize(*by_dst) / plan.threads;
    return best_sharing(std::move(plan), *by_dst, by_src ? *by_src : *by_dst);
  }
  return decline("size", "{} elements cannot be shared out among {} threads", plan.elements,
                 plan.threads);
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), u_(call.unit_thread(code)) {}

  void write() {
    part_ = code_.registers("part", plan_.dst.places.dtype, plan_.rounds * plan_.vec);
    side(plan_.src, "src", false);
    if (plan_.has_barrier) write_barrier(call_, code_);
    side(plan_.dst, "dst", true);
    if (ir::is_shared(plan_.dst.places.scope)) write_barrier(call_, code_);
  }

 private:
  void side(const Side& side, const std::string& name, bool is_dst) {
    const ir::BufferId view = flat_view(call_, code_, side.places);
    ExprId start = swizzle_expr(code_, side.swizzle, digits_expr(code_, side.first, u_));
    if (side.turned) start = code_.bit_xor(start, digits_expr(code_, *side.turned, u_));
    const ExprId first = code_.let(name + "_first", start);
    for (std::size_t r = 0; r < side.rounds.size(); ++r) {
      const ExprId at = place(side, side.rounds[r], first);
      access(view, at, static_cast<std::int64_t>(r) * plan_.vec, is_dst);
    }
  }
  ExprId place(const Side& side, const Round& round, ExprId first) {
    ExprId out = first;
    if (round.kind == Round::Kind::Sum) out = code_.add(first, round.by);
    if (round.kind == Round::Kind::Xor) out = code_.bit_xor(first, code_.n(round.by));
    if (round.kind == Round::Kind::Own) out = digits_expr(code_, round.own, u_);
    if (side.places.base.valid()) out = code_.add(side.places.base, out);
    return code_.simplify(out);
  }
  void access(ir::BufferId view, ExprId at, std::int64_t i, bool is_dst) {
    const ExprId slot = code_.n(i);
    if (plan_.vec == 1) {
      const ExprId value = is_dst ? code_.load(part_, {slot}) : code_.load(view, {at});
      return is_dst ? code_.store(view, at, value) : code_.store(part_, slot, value);
    }
    const ExprId far = code_.pointer(view, at);
    const ExprId near = code_.pointer(part_, slot);
    code_.copy_bytes(is_dst ? far : near, is_dst ? near : far, plan_.bytes);
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  ExprId u_;
  ir::BufferId part_ = {};
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer(plan, call, code).write();
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& /*call*/) {
  PlanReport out;
  out.elements = plan.elements;
  out.bytes = plan.elements * plan.dst.places.bits / 8;
  out.threads = plan.threads;
  out.rounds = plan.rounds;
  out.registers = std::max<std::int64_t>(1, plan.rounds * plan.bytes / 4);
  out.vector_bits = static_cast<int>(plan.bytes * 8);
  out.add_instruction(access_opcode("ld", plan.src.places, plan.bytes), plan.rounds, plan.bytes);
  out.add_instruction(access_opcode("st", plan.dst.places, plan.bytes), plan.rounds, plan.bytes);
  const Wavefronts turns{plan.src.turns.needed + plan.dst.turns.needed,
                         plan.src.turns.ideal + plan.dst.turns.ideal};
  if (turns.needed != 0) out.wavefronts = turns;
  out.summary =
      fmt::format("{}-bit accesses, {} of {} threads", plan.bytes * 8, plan.rounds, plan.threads);
  if (plan.sharing.bits != 0)
    out.notes.push_back(fmt::format(
        "in round r a thread takes item (thread + {} * r) ^ (thread >> "
        "{}) % {} * {}",
        plan.threads, plan.sharing.shift, 1 << plan.sharing.bits, 1 << plan.sharing.at));
  if (plan.has_barrier) out.notes.emplace_back("a barrier stands between reads and writes");
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::PermuteLayout,
     .name = "swizzled",
     .aliases = "warp_xor_swizzle",
     .about = "through registers, in rounds without bank conflicts"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::permute_swizzled
