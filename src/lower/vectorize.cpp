// SPDX-License-Identifier: Apache-2.0
#include "lower/vectorize.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/below.h"
#include "ir/build.h"
#include "ir/unroll/round_exprs.h"
#include "ir/visit.h"
#include "lower/code_writer.h"
#include "lower/operand_places.h"

namespace ww::lower {
namespace {

using ir::Block;
using ir::BufferId;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;
using ir::VarId;

constexpr std::int64_t kMaxVectorRounds = 256;
constexpr std::int64_t kMaxVectorBytes = 16;  // of one access

/// A load or store of the body, in all rounds.
struct RoundAccess {
  BufferId buffer;
  ExprId load = {};                // none: a store
  std::size_t stmt = 0;            // which of the body
  bool is_certain = true;          // every round makes it
  std::vector<ExprId> index = {};  // by round
  bool is_run = false;             // round k takes the k-th element
  std::int64_t lanes = 1;          // of one instruction
};

/// A name of the body, in all rounds: what it stands for if it is an index, else a name of each.
struct RoundNames {
  VarId var;
  bool is_index = false;
  std::vector<ExprId> values = {};
};

/// Loads of an expression: visit(id, is_certain), once for each of the two. A branch that is not
/// taken loads nothing.
template <typename Visit>
void for_each_load_below(const ir::Function& f, ExprId root, bool is_certain, Visit&& visit) {
  std::vector<std::pair<ExprId, bool>> left = {{root, is_certain}};
  std::set<std::pair<std::uint32_t, bool>> seen;
  while (!left.empty()) {
    const auto [id, certain] = left.back();
    left.pop_back();
    if (!seen.emplace(id.index, certain).second) continue;
    const Expr& e = f[id];
    if (e.op == ExprOp::Load) visit(id, certain);
    const bool is_choice = e.op == ExprOp::IfThenElse || e.op == ExprOp::And || e.op == ExprOp::Or;
    // In the order in which they are written.
    for (std::size_t i = e.args.size(); i-- > 0;)
      left.emplace_back(e.args[i], certain && (!is_choice || i == 0));
  }
}

class Vectorizer {
 public:
  Vectorizer(Context& context, LoweringReport& report, std::vector<StmtId> loops)
      : context_(context),
        f_(context.f),
        facts_(ir::facts_of(context.f)),
        report_(report),
        loops_(std::move(loops)) {
    // Each load of a body may come to stand for a lane of a vector.
    for (const StmtId id : loops_)
      for (const StmtId inner : f_[id].body) name_loads(inner);
    in_ = f_;
    exprs_.emplace(in_, f_, facts_);
    for (const StmtId id : loops_) {
      exprs_->open(f_[id].var);
      for (const StmtId inner : f_[id].body)
        if (f_[inner].kind == StmtKind::Bind) exprs_->open(f_[inner].var);
    }
    for (const auto& [load, var] : lane_vars_) exprs_->open(var);
  }

  void run() { f_.body = block(f_.body); }

 private:
  void name_loads(StmtId id) {
    if (!f_[id].expr.valid()) return;
    for_each_load_below(f_, f_[id].expr, true, [&](ExprId load, bool) {
      const ir::Type type = f_[load].type;
      if (!lane_vars_.contains(load.index))
        lane_vars_[load.index] =
            f_.add(ir::Var{.name = f_[f_[load].buffer].name + "_lane", .type = type});
    });
  }

  Block block(const Block& in) {
    Block out;
    for (const StmtId id : in) {
      const Stmt s = f_[id];
      if (s.kind == StmtKind::Bind) learn(s);
      if (s.kind == StmtKind::For && s.loop == ir::LoopKind::Vectorized && loop(id, out)) continue;
      out.push_back(id);
      Block body = block(s.body);
      Block other = block(s.other);
      f_.at(id).body = std::move(body);
      f_.at(id).other = std::move(other);
    }
    return out;
  }

  void learn(const Stmt& s) {
    const ir::Type type = f_[s.var].type;
    if (!type.is_scalar() || !type.is_int()) return;
    facts_.set_range(s.var, ir::range_of(f_, s.expr, facts_));
    if (!f_[s.expr].reads_memory) facts_.set_value(s.var, s.expr);
  }

  // --- one loop ----------------------------------------------------------------------------------

  // False: it is an Unroll loop now.
  bool loop(StmtId id, Block& out) {
    f_.at(id).loop = ir::LoopKind::Unroll;
    s_ = f_[id];
    VectorLoop row{.span = s_.span, .var = f_[s_.var].name};
    accesses_.clear();
    lets_.clear();
    rounds_ = ir::const_int(f_, s_.trips()).value_or(0);
    row.reason = reason_against();
    if (row.reason.empty()) {
      read_body();
      row.reason = dependence();
    }
    if (row.reason.empty()) {
      choose_lanes(row);
      write_body(out);
    }
    const bool is_done = row.reason.empty();
    report_.vectorized.push_back(std::move(row));
    return is_done;
  }

  [[nodiscard]] std::string reason_against() const {
    if (rounds_ < 1 || rounds_ > kMaxVectorRounds)
      return fmt::format("{} rounds, expected 1 to {}", rounds_, kMaxVectorRounds);
    if (s_.step().valid() && ir::const_int(f_, s_.step()) != 1)
      return "the variable does not count one by one";
    for (const StmtId id : s_.body) {
      const Stmt& s = f_[id];
      if (s.kind != StmtKind::Store && s.kind != StmtKind::Bind)
        return fmt::format("the body has a statement `{}`, expected stores and names",
                           ir::name_of(s.kind));
      if (const char* why = reason_against(s.expr)) return why;
      for (const ExprId arg : s.args)
        if (const char* why = reason_against(arg)) return why;
    }
    return {};
  }

  // What a call reads, and which places a vector takes, is not followed.
  [[nodiscard]] const char* reason_against(ExprId root) const {
    if (ir::any_below(f_, root, [](const Expr& e) {
          return e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure;
        }))
      return "the body calls a function that is more than its value";
    if (ir::any_below(f_, root,
                      [](const Expr& e) { return e.type.lanes > 1 || e.type.is_pointer(); }))
      return "the body has vectors or pointers of its own";
    return nullptr;
  }

  // From here on expressions are those of round k.
  void enter(std::int64_t k) {
    exprs_->begin_round(s_.var);
    const ExprId begin = s_.first();
    const num::DType type = f_[begin].type.dtype;
    exprs_->set(s_.var,
                ir::simplify(f_, ir::index_binary(f_, ExprOp::Add, begin, ir::int_imm(f_, type, k)),
                             facts_));
    for (const RoundNames& each : lets_)
      exprs_->set(each.var, each.values[static_cast<std::size_t>(k)]);
  }

  // Names of indices are what they stand for; others have a name in each round.
  void read_body() {
    for (std::size_t i = 0; i < s_.body.size(); ++i) {
      const Stmt s = in_[s_.body[i]];
      for_each_load_below(in_, s.expr, true, [&](ExprId load, bool is_certain) {
        add_access(in_[load].buffer, load, in_[load].args, i, is_certain);
      });
      if (s.kind == StmtKind::Store) {
        for (const ExprId arg : s.args)
          for_each_load_below(in_, arg, false, [&](ExprId load, bool) {
            add_access(in_[load].buffer, load, in_[load].args, i, false);
          });
        add_access(s.buffer, {}, s.args, i, true);
        continue;
      }
      const ir::Var var = f_[s.var];
      RoundNames let{.var = s.var, .is_index = var.type.is_int() && !in_[s.expr].reads_memory};
      for (std::int64_t k = 0; k < rounds_; ++k) {
        enter(k);
        let.values.push_back(let.is_index ? exprs_->index(s.expr)
                                          : ir::var_ref(f_, f_.add(ir::Var(var))));
      }
      lets_.push_back(std::move(let));
    }
  }

  template <typename Indices>
  void add_access(BufferId buffer, ExprId load, const Indices& indices, std::size_t stmt,
                  bool is_certain) {
    for (RoundAccess& each : accesses_)
      if (load.valid() && each.load == load && each.stmt == stmt) {
        each.is_certain = each.is_certain || is_certain;
        return;
      }
    RoundAccess out{.buffer = buffer, .load = load, .stmt = stmt, .is_certain = is_certain};
    for (std::int64_t k = 0; k < rounds_; ++k) {
      enter(k);
      out.index.push_back(exprs_->index(indices[0]));
    }
    out.is_run = load.valid() ? in_[load].type.is_scalar() && indices.size() == 1 : true;
    for (std::int64_t k = 0; k < rounds_; ++k)
      out.is_run =
          out.is_run && distance(out.index[0], out.index[static_cast<std::size_t>(k)]) == k;
    accesses_.push_back(std::move(out));
  }

  // From one index to another, where that is known.
  std::optional<std::int64_t> distance(ExprId from, ExprId to) {
    return ir::const_int(f_, ir::simplify(f_, ir::index_binary(f_, ExprOp::Sub, to, from), facts_));
  }

  // --- what rounds do to each other --------------------------------------------------------------

  // A round that uses what another one writes; empty: none does.
  std::string dependence() {
    for (const RoundAccess& write : accesses_) {
      if (write.load.valid()) continue;
      for (const RoundAccess& other : accesses_)
        if (meets(write, other))
          return fmt::format("a round may {} what another one writes, in `{}`",
                             other.load.valid() ? "read" : "overwrite", f_[write.buffer].name);
    }
    return {};
  }

  // May two different rounds come to one place?
  bool meets(const RoundAccess& write, const RoundAccess& other) {
    if (write.buffer != other.buffer) return may_share(write.buffer, other.buffer);
    if (write.is_run && other.is_run) {
      const auto apart = distance(write.index[0], other.index[0]);
      return !apart || (*apart != 0 && std::abs(*apart) < rounds_);
    }
    for (std::size_t i = 0; i < write.index.size(); ++i)
      for (std::size_t k = 0; k < other.index.size(); ++k)
        if (i != k && distance(write.index[i], other.index[k]).value_or(0) == 0) return true;
    return false;
  }

  // Different parameters are different arrays; a pointer may lead anywhere in its memory.
  [[nodiscard]] bool may_share(BufferId a, BufferId b) const {
    const BufferId x = ir::storage_of(f_, a), y = ir::storage_of(f_, b);
    const bool has_pointer =
        f_[x].origin == ir::BufferOrigin::Pointer || f_[y].origin == ir::BufferOrigin::Pointer;
    return x == y || (has_pointer && f_[x].scope == f_[y].scope);
  }

  // --- accesses ----------------------------------------------------------------------------------

  void choose_lanes(VectorLoop& row) {
    for (RoundAccess& each : accesses_) {
      const ir::Buffer& buffer = f_[each.buffer];
      if (buffer.scope == ir::Scope::Local || rounds_ == 1) continue;
      const bool is_same = std::ranges::all_of(
          each.index, [&](ExprId index) { return distance(each.index[0], index) == 0; });
      VectorAccess seen{.buffer = buffer.name, .is_store = !each.load.valid()};
      seen.reason = is_same ? "it is the same element in all rounds" : set_lanes(each);
      seen.bits = static_cast<int>(each.lanes) * num::storage_bits(buffer.dtype);
      if (twin_of(each) == nullptr) row.accesses.push_back(std::move(seen));
      if (each.load.valid() && each.lanes > 1) stand_for_lane(each.load);
    }
  }

  // A load of the same vectors before it in its statement.
  const RoundAccess* twin_of(const RoundAccess& each) {
    if (!each.load.valid() || each.lanes == 1) return nullptr;
    for (const RoundAccess& other : accesses_) {
      if (&other == &each) break;
      if (other.stmt == each.stmt && other.load.valid() && other.buffer == each.buffer &&
          other.lanes > 1 && distance(other.index[0], each.index[0]) == 0)
        return &other;
    }
    return nullptr;
  }

  // Why it stays with single elements; empty: it does not.
  std::string set_lanes(RoundAccess& each) {
    const int bits = num::storage_bits(f_[each.buffer].dtype);
    if (!each.is_certain) return "not every round makes it";
    if (!each.is_run) return "its elements do not follow each other";
    if (bits % 8 != 0) return fmt::format("an element has {} bits", bits);
    const std::int64_t bytes = bits / 8;
    const std::int64_t start = ir::divisor_of(f_, each.index[0], facts_) * bytes;
    const std::int64_t known = std::gcd(storage_alignment(context_, each.buffer), start);
    while (rounds_ % (each.lanes * 2) == 0 && each.lanes * 2 * bytes <= kMaxVectorBytes &&
           known % (each.lanes * 2 * bytes) == 0)
      each.lanes *= 2;
    if (each.lanes > 1) return {};
    if (rounds_ % 2 != 0) return fmt::format("{} rounds do not pair up", rounds_);
    if (bytes * 2 > kMaxVectorBytes) return fmt::format("an element has {} bytes", bytes);
    return fmt::format("its address is known to be a multiple of {} byte{} only, expected {}",
                       known, known == 1 ? "" : "s", std::min(kMaxVectorBytes, rounds_ * bytes));
  }

  // In the copy that rounds are made from.
  void stand_for_lane(ExprId load) {
    Expr lane{.op = ExprOp::Var, .type = in_[load].type, .span = in_[load].span};
    lane.var = lane_vars_.at(load.index);
    in_.at(load) = std::move(lane);
  }

  // --- code --------------------------------------------------------------------------------------

  void write_body(Block& out) {
    for (std::size_t i = 0; i < s_.body.size(); ++i) {
      std::map<std::uint32_t, std::vector<ExprId>> lanes;  // by the load's variable
      const RoundAccess* store = nullptr;
      for (const RoundAccess& each : accesses_) {
        if (each.stmt != i) continue;
        if (!each.load.valid()) store = &each;
        if (!each.load.valid() || each.lanes == 1) continue;
        const RoundAccess* twin = twin_of(each);
        lanes[lane_vars_.at(each.load.index).index] =
            twin == nullptr ? load_vectors(each, out)
                            : lanes.at(lane_vars_.at(twin->load.index).index);
      }
      const Stmt s = in_[s_.body[i]];
      std::vector<ExprId> values;
      for (std::int64_t k = 0; k < rounds_; ++k) {
        enter(k);
        for (const auto& [var, parts] : lanes)
          exprs_->set(VarId{var}, parts[static_cast<std::size_t>(k)]);
        values.push_back(exprs_->value(s.expr));
      }
      if (s.kind == StmtKind::Bind)
        bind_each(s, values, out);
      else
        store_vectors(s, *store, values, out);
    }
  }

  // One instruction between memory, from that round on, and registers.
  void move(CodeWriter& code, const RoundAccess& each, std::size_t round, BufferId lanes,
            bool is_load) {
    const ExprId there = code.pointer(each.buffer, each.index[round]);
    const ExprId here = code.pointer(lanes, code.n(static_cast<std::int64_t>(round)));
    const std::int64_t bytes = each.lanes * num::storage_bits(f_[each.buffer].dtype) / 8;
    code.evaluate(ir::Intrinsic::CopyBytes,
                  {is_load ? here : there, is_load ? there : here, code.n(bytes)});
  }
  BufferId registers_for(CodeWriter& code, const RoundAccess& each) {
    const ir::Buffer& buffer = f_[each.buffer];
    return code.registers(buffer.name + "_lanes", buffer.dtype, rounds_);
  }
  static void append_code(CodeWriter& code, Block& out) {
    const Block more = code.take();
    out.insert(out.end(), more.begin(), more.end());
  }

  // By round: the register that has its element.
  std::vector<ExprId> load_vectors(const RoundAccess& each, Block& out) {
    CodeWriter code(f_, facts_, s_.span);
    const BufferId lanes = registers_for(code, each);
    std::vector<ExprId> parts;
    for (std::int64_t k = 0; k < rounds_; ++k) {
      if (k % each.lanes == 0) move(code, each, static_cast<std::size_t>(k), lanes, true);
      parts.push_back(code.load(lanes, {code.n(k)}));
    }
    append_code(code, out);
    return parts;
  }

  void bind_each(const Stmt& s, const std::vector<ExprId>& values, Block& out) {
    const RoundNames& let = *std::ranges::find(lets_, s.var, &RoundNames::var);
    for (std::size_t k = 0; k < values.size() && !let.is_index; ++k)
      out.push_back(f_.add(Stmt{.kind = StmtKind::Bind,
                                .span = s.span,
                                .expr = values[k],
                                .var = f_[let.values[k]].var}));
  }

  void store_vectors(const Stmt& s, const RoundAccess& store, const std::vector<ExprId>& values,
                     Block& out) {
    CodeWriter code(f_, facts_, s.span);
    BufferId lanes = store.lanes == 1 ? BufferId{} : lanes_in_order(values);
    const bool is_there = lanes.valid();
    if (store.lanes > 1 && !is_there) lanes = registers_for(code, store);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (store.lanes == 1) code.store(s.buffer, store.index[k], values[k]);
      if (store.lanes > 1 && !is_there)
        code.store(lanes, code.n(static_cast<std::int64_t>(k)), values[k]);
    }
    for (std::size_t k = 0; k < values.size(); k += static_cast<std::size_t>(store.lanes))
      if (store.lanes > 1) move(code, store, k, lanes, false);
    append_code(code, out);
  }

  // The registers that hold just these values, in their order; none: there are no such.
  [[nodiscard]] BufferId lanes_in_order(const std::vector<ExprId>& values) const {
    const BufferId lanes = f_[values[0]].buffer;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const Expr& e = f_[values[k]];
      const bool is_own = e.op == ExprOp::Load && e.buffer == lanes &&
                          lanes.index >= in_.buffer_count() &&
                          ir::const_int(f_, e.args[0]) == static_cast<std::int64_t>(k);
      if (!is_own) return {};
    }
    return lanes;
  }

  Context& context_;
  ir::Function& f_;
  ir::Facts facts_;
  LoweringReport& report_;
  ir::Function in_;  // with lanes in place of loads
  std::optional<ir::RoundExprs> exprs_;
  std::vector<StmtId> loops_;
  std::map<std::uint32_t, VarId> lane_vars_;  // by load: what stands for it in a round

  // Of the loop at hand.
  Stmt s_;
  std::int64_t rounds_ = 0;
  std::vector<RoundAccess> accesses_;
  std::vector<RoundNames> lets_;
};

}  // namespace

void vectorize_loops(Context& context, LoweringReport& report) {
  std::vector<StmtId> loops;
  ir::for_each_stmt(context.f, context.f.body, [&](StmtId id) {
    const Stmt& s = context.f[id];
    if (s.kind == StmtKind::For && s.loop == ir::LoopKind::Vectorized) loops.push_back(id);
  });
  if (!loops.empty()) Vectorizer(context, report, std::move(loops)).run();
}

}  // namespace ww::lower
