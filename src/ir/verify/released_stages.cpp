// SPDX-License-Identifier: Apache-2.0
// Stages of a ring that are given back too early. A producer waits at an mbarrier before it copies into
// a stage of shared memory; a consumer arrives there when it has read the stage. `gemm_async` reads
// after it has been started, so an arrival while a product from that stage is under way lets the
// copy overwrite what the product reads: a wait that leaves one group too many.
//
// The check follows one thread through the program with the values that it knows. A value is a
// constant, or a constant behind something unknown, so that `k > begin` is known in each round of a loop
// from `begin`. Loops run for some rounds, unknown conditions both ways. Only what certainly happens
// is an error: the stage of the product and that of the arrival are the same number, the product is of
// the first filling of the stage (an arrival may belong to an earlier one otherwise), and no other
// arrival at that mbarrier follows before the stage is multiplied again.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/below.h"
#include "ir/equal.h"
#include "ir/signatures.h"
#include "ir/simplify/fold.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace released {
namespace {

constexpr int kMaxRounds = 16;         // of a loop whose number of rounds is known
constexpr int kUnknownRounds = 4;      // of one whose number is not
constexpr int kMaxFollowed = 200'000;  // statements that are followed
constexpr std::int64_t kMaxNumber = std::int64_t{1} << 31;

/// `base` + `more`. Base 0: a number; others: something unknown, the same one for equal bases.
struct Value {
  std::uint32_t base = 0;
  std::int64_t more = 0;

  friend bool operator==(const Value&, const Value&) = default;
};

/// A factor of a product that is under way: a stage of a buffer.
struct Reading {
  BufferId buffer;
  Value stage;
  std::int64_t commits = 0;  // since the product was started, its own included
  Span span = {};            // of the product
};

/// An arrival while a product reads the stage.
struct Early {
  BufferId barriers;
  Reading reading;
  Span span = {};

  friend bool operator==(const Early& a, const Early& b) {
    return a.span == b.span && a.reading.stage == b.reading.stage &&
           a.reading.buffer == b.reading.buffer;
  }
};

/// An mbarrier of an array of them.
struct Place {
  BufferId barriers;
  Value stage;
};

/// A stage of a buffer, and how many waits for mbarriers came before its first product.
struct FirstUse {
  BufferId buffer;
  Value stage;
  int waits = 0;

  friend bool operator==(const FirstUse&, const FirstUse&) = default;
};

struct State {
  std::map<std::uint32_t, Value> scalars;  // by buffer
  std::map<std::uint32_t, Value> names;    // by variable
  std::map<std::uint32_t, Place> remote;   // addresses by `mapa`, by the buffer that holds them
  std::vector<Reading> readings;
  std::vector<Early> early;
  std::vector<FirstUse> used;
  int waits = 0;  // for mbarriers
};

/// Buffers with a stage for each mbarrier: what a wait there lets a copy overwrite.
struct Guards {
  std::map<BufferId, std::set<BufferId>> written;  // by array of mbarriers
  std::map<BufferId, std::set<BufferId>> by;       // the other way round
  std::map<BufferId, Span> copies;
};

class ReleasedStages {
 public:
  explicit ReleasedStages(Context& c) : c_(c), f_(c.f) {}

  void run() {
    const auto is_product = [](const TileCall& call) { return call.op == TileOp::GemmAsync; };
    if (std::ranges::none_of(f_.tile_calls, is_product)) return;
    find_guards(f_.body, {});
    if (guards_.written.empty()) return;
    State state;
    walk(f_.body, state);
    if (steps_ > kMaxFollowed) return;
    for (const Early& early : state.early) report(early);
  }

 private:
  // --- guards ---

  struct Wait {
    BufferId barriers;
    ExprId index;
  };

  [[nodiscard]] const Expr* mbarrier_at(ExprId pointer) const {
    if (!pointer.valid()) return nullptr;
    const Expr* e = &f_[pointer];
    while (is_call(*e, Intrinsic::CvtaToShared)) e = &f_[e->args[0]];
    return e->op == ExprOp::AddressOf && e->args.size() == 1 && is_shared(f_[e->buffer].scope)
               ? e
               : nullptr;
  }

  // Copies behind a wait for the mbarrier of the same stage.
  void find_guards(const Block& block, std::vector<Wait> waits) {
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      if (s.kind == StmtKind::Store) waits.clear();  // stages move on
      if (is_call(f_, s, Intrinsic::MbarrierWait))
        if (const Expr* at = mbarrier_at(f_[s.expr].args[0]))
          waits.push_back({at->buffer, at->args[0]});
      if (s.kind == StmtKind::Tile && f_[s.tile].op == TileOp::CopyAsync)
        add_guards(f_[s.tile], s.span, waits);
      find_guards(s.body, waits);
      find_guards(s.other, waits);
    }
  }

  void add_guards(const TileCall& copy, Span span, const std::vector<Wait>& waits) {
    const auto* to = std::get_if<Region>(&copy.args[0]);
    if (to == nullptr || !is_stage(*to)) return;
    for (const Wait& wait : waits) {
      if (!same(f_, wait.index, to->ranges[0].min)) continue;
      guards_.written[wait.barriers].insert(to->buffer);
      guards_.by[to->buffer].insert(wait.barriers);
      guards_.copies.emplace(to->buffer, span);
    }
  }

  // One place of the first dimension of shared memory?
  [[nodiscard]] bool is_stage(const Region& region) const {
    return is_shared(f_[region.buffer].scope) && region.ranges.size() > 1 &&
           const_int(f_, region.ranges[0].extent) == 1;
  }

  // --- values ---

  Value unknown() { return {.base = ++last_unknown_}; }
  static Value number(std::int64_t n) { return {.more = n}; }

  Value value(const State& state, ExprId id) {
    const Expr& e = f_[id];
    if (e.op == ExprOp::IntImm) return number(e.integer);
    if (e.op == ExprOp::Var) return name(state, e.var);
    if (e.op == ExprOp::Load) {
      const auto at = state.scalars.find(e.buffer.index);
      return at != state.scalars.end() ? at->second : unknown();
    }
    if (e.op == ExprOp::Not) {
      const Value of = value(state, e.args[0]);
      return of.base == 0 ? number(of.more == 0) : unknown();
    }
    return e.args.size() == 2 ? combined(e.op, value(state, e.args[0]), value(state, e.args[1]))
                              : unknown();
  }

  // Variables that are not bound on the way, such as ids of threads, do not change.
  Value name(const State& state, VarId var) {
    if (const auto at = state.names.find(var.index); at != state.names.end()) return at->second;
    const auto [at, is_new] = unknown_names_.try_emplace(var.index);
    if (is_new) at->second = unknown();
    return at->second;
  }

  Value combined(ExprOp op, const Value& a, const Value& b) {
    if (op == ExprOp::Add && (a.base == 0 || b.base == 0))
      return bounded({.base = a.base + b.base, .more = a.more + b.more});
    if (op == ExprOp::Sub && b.base == 0) return bounded({.base = a.base, .more = a.more - b.more});
    if (a.base != b.base) return unknown();
    if (a.base != 0 && op != ExprOp::Sub && group_of(op) != ExprGroup::Compare) return unknown();
    if (op == ExprOp::And) return number(a.more != 0 && b.more != 0);
    if (op == ExprOp::Or) return number(a.more != 0 || b.more != 0);
    const auto result = int_result(op, a.more, b.more, Type::of(num::DType::Int64));
    return result ? bounded(number(*result)) : unknown();
  }

  Value bounded(const Value& v) {
    return v.more < kMaxNumber && v.more > -kMaxNumber ? v : unknown();
  }

  // --- what happens ---

  void product(const TileCall& call, Span span, State& state) {
    if (f_[std::get<Region>(call.args[0]).buffer].scope != Scope::Local) return;
    for (const std::size_t i : {1U, 2U}) {
      const auto& region = std::get<Region>(call.args[i]);
      if (!is_stage(region) || !guards_.by.contains(region.buffer)) continue;
      const Value stage = value(state, region.ranges[0].min);
      std::erase_if(state.early, [&](const Early& early) {
        const bool is_again = early.reading.buffer == region.buffer && early.reading.stage == stage;
        if (is_again) report(early);
        return is_again;
      });
      if (is_first_use(region.buffer, stage, state))
        state.readings.push_back({.buffer = region.buffer, .stage = stage, .span = span});
    }
  }

  // A stage is filled again only behind a wait.
  static bool is_first_use(BufferId buffer, const Value& stage, State& state) {
    for (const FirstUse& use : state.used)
      if (use.buffer == buffer && use.stage == stage) return use.waits == state.waits;
    state.used.push_back({buffer, stage, state.waits});
    return true;
  }

  [[nodiscard]] std::optional<Place> place_of(const PtxOperand& operand, const State& state) {
    if (const Expr* at = mbarrier_at(operand.expr))
      return operand.offset.valid() ? std::nullopt
                                    : std::optional(Place{at->buffer, value(state, at->args[0])});
    if (!operand.expr.valid() || f_[operand.expr].op != ExprOp::Load) return std::nullopt;
    const auto known = state.remote.find(f_[operand.expr].buffer.index);
    return known != state.remote.end() ? std::optional(known->second) : std::nullopt;
  }

  void arrive(const Place& place, Span span, State& state) {
    const auto guarded = guards_.written.find(place.barriers);
    if (guarded == guards_.written.end()) return;
    const auto is_of_place = [&](BufferId buffer, const Value& stage) {
      return stage == place.stage && guarded->second.contains(buffer) &&
             guards_.by.at(buffer).size() == 1;
    };
    std::erase_if(state.early, [&](const Early& early) {
      return early.barriers == place.barriers && early.reading.stage == place.stage;
    });
    for (const Reading& reading : state.readings)
      if (is_of_place(reading.buffer, reading.stage)) {
        state.early.push_back({place.barriers, reading, span});
        return;
      }
  }

  // Scalars that something else than a store writes.
  void forget_written(const Stmt& s, State& state) {
    const auto forget_one = [&](BufferId buffer) {
      state.scalars.erase(buffer.index);
      state.remote.erase(buffer.index);
    };
    if (s.kind == StmtKind::Tile)
      for (const TileArg& arg : f_[s.tile].args)
        if (const auto* region = std::get_if<Region>(&arg)) forget_one(region->buffer);
    for_each_root(f_, s, [&](ExprId root) {
      if (s.kind == StmtKind::Ptx && f_[root].op == ExprOp::Load) forget_one(f_[root].buffer);
      any_below(f_, root, [&](const Expr& e) {
        if (takes_address(e)) forget_one(e.buffer);
        return false;
      });
    });
  }

  void instruction(const Stmt& s, State& state) {
    const PtxCall& call = f_[s.ptx];
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called.text().starts_with("mbarrier.try_wait") ||
        called.text().starts_with("mbarrier.test_wait"))
      ++state.waits;
    if (called == "wgmma.commit_group")
      for (Reading& reading : state.readings) ++reading.commits;
    if (called == "wgmma.wait_group") {
      const auto left = const_int(f_, call.operands[0].expr);
      std::erase_if(state.readings, [&](const Reading& r) { return !left || r.commits > *left; });
    }
    std::optional<Place> place;
    for (const PtxOperand& operand : call.operands)
      if (!place && operand.expr.valid()) place = place_of(operand, state);
    if (called == "mbarrier.arrive" && place) arrive(*place, s.span, state);
    forget_written(s, state);
    const bool is_mapped = called == "mapa" && place && call.operands[0].expr.valid() &&
                           f_[call.operands[0].expr].op == ExprOp::Load;
    if (is_mapped) state.remote.insert_or_assign(f_[call.operands[0].expr].buffer.index, *place);
  }

  void report(const Early& early) {
    if (!reported_.insert({early.span.begin, early.span.end}).second) return;
    const Reading& reading = early.reading;
    const std::string stage =
        reading.stage.base == 0 ? fmt::format("stage {}", reading.stage.more) : "a stage";
    const std::string_view buffer = f_[reading.buffer].name;
    c_.report(
        DiagKind::BadTileCall, early.span, "{} of `{}` is given back while a product reads it: {}",
        stage, buffer,
        reading.commits == 0
            ? std::string("no `T.ptx.wgmma.commit_group()` has closed its group")
            : fmt::format("`T.ptx.wgmma.wait_group({})` or less comes first", reading.commits - 1));
    auto& notes = c_.findings.back().notes;
    notes.push_back({"the product starts here", reading.span});
    notes.push_back({"this copy overwrites it", guards_.copies.at(reading.buffer)});
  }

  // --- ways ---

  enum class End { Falls, Jumps };

  void forget(const Block& body, State& state) {
    for_each_stmt(f_, body, [&](StmtId id) {
      const Stmt& s = f_[id];
      if (s.kind == StmtKind::Store) state.scalars[s.buffer.index] = unknown();
      if (s.kind == StmtKind::Bind) state.names[s.var.index] = unknown();
    });
    state.readings.clear();
    state.remote.clear();
  }

  void loop(const Stmt& s, State& state) {
    const bool is_for = s.kind == StmtKind::For;
    const auto trips = is_for ? const_int(f_, s.trips()) : std::nullopt;
    const std::int64_t rounds = trips ? std::min<std::int64_t>(*trips, kMaxRounds) : kUnknownRounds;
    Value at = is_for ? value(state, s.first()) : Value{};
    const std::int64_t step = is_for ? step_of(f_, s) : 1;
    bool is_whole = trips.has_value() && rounds == *trips;
    for (std::int64_t i = 0; i < rounds && steps_ <= kMaxFollowed; ++i) {
      if (is_for) state.names[s.var.index] = at;
      if (walk(s.body, state) == End::Jumps) {
        is_whole = false;
        break;
      }
      at = bounded({at.base, at.more + step});
    }
    if (!is_whole) forget(s.body, state);
  }

  // What is the same on both ways; early arrivals of either.
  State joined(const State& before, State a, const State& b) {
    for (const auto side : {&State::scalars, &State::names}) {
      for (auto& [index, known] : a.*side) {
        const auto other = (b.*side).find(index);
        if (other == (b.*side).end() || other->second != known) known = unknown();
      }
      for (const auto& [index, known] : b.*side) (a.*side).try_emplace(index, unknown());
    }
    for (const FirstUse& use : b.used)
      if (std::ranges::find(a.used, use) == a.used.end()) a.used.push_back(use);
    a.waits = std::max(a.waits, b.waits);
    std::erase_if(a.remote, [&](const auto& one) { return !b.remote.contains(one.first); });
    std::erase_if(a.readings, [&](const Reading& one) {
      return std::ranges::none_of(b.readings, [&](const Reading& other) {
        return one.span == other.span && one.buffer == other.buffer && one.stage == other.stage &&
               one.commits == other.commits;
      });
    });
    const auto has = [](const std::vector<Early>& list, const Early& one) {
      return std::ranges::find(list, one) != list.end();
    };
    std::erase_if(a.early,
                  [&](const Early& one) { return has(before.early, one) && !has(b.early, one); });
    for (const Early& one : b.early)
      if (!has(before.early, one) && !has(a.early, one)) a.early.push_back(one);
    return a;
  }

  End branch(const Stmt& s, State& state) {
    const Value truth = value(state, s.expr);
    if (truth.base == 0) return walk(truth.more != 0 ? s.body : s.other, state);
    const State before = state;
    State otherwise = state;
    const End first = walk(s.body, state), second = walk(s.other, otherwise);
    if (first == End::Jumps && second == End::Jumps) return End::Jumps;
    if (first == End::Jumps) std::swap(state, otherwise);
    if (first == End::Jumps || second == End::Jumps)
      state.early.insert(state.early.end(), otherwise.early.begin(), otherwise.early.end());
    else
      state = joined(before, std::move(state), otherwise);
    return End::Falls;
  }

  End walk(const Block& block, State& state) {
    for (const StmtId id : block) {
      if (++steps_ > kMaxFollowed) return End::Jumps;
      const Stmt& s = f_[id];
      End end = End::Falls;
      switch (s.kind) {
        case StmtKind::Break:
        case StmtKind::Continue:
        case StmtKind::Return:
          return End::Jumps;
        case StmtKind::For:
        case StmtKind::While:
          loop(s, state);
          break;
        case StmtKind::If:
          end = branch(s, state);
          break;
        case StmtKind::Bind:
          state.names[s.var.index] = value(state, s.expr);
          break;
        case StmtKind::Store:
          if (has_one_element(f_, f_[s.buffer]))
            state.scalars[s.buffer.index] = value(state, s.expr);
          break;
        case StmtKind::Tile:
          if (f_[s.tile].op == TileOp::GemmAsync) product(f_[s.tile], s.span, state);
          forget_written(s, state);
          break;
        case StmtKind::Ptx:
          instruction(s, state);
          break;
        case StmtKind::Evaluate:
          if (is_call(f_, s, Intrinsic::MbarrierWait)) ++state.waits;
          forget_written(s, state);
          break;
        default:
          end = walk(s.body, state);
      }
      if (end == End::Jumps) return End::Jumps;
    }
    return End::Falls;
  }

  Context& c_;
  const Function& f_;
  Guards guards_;
  int steps_ = 0;
  std::uint32_t last_unknown_ = 0;
  std::map<std::uint32_t, Value> unknown_names_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;  // spans
};

}  // namespace
}  // namespace released

void check_released_stages(Context& c) { released::ReleasedStages(c).run(); }

}  // namespace ww::ir::verifying
