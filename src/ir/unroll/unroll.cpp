// SPDX-License-Identifier: Apache-2.0
// Which loops must be unrolled so that register arrays are indexed by constants. An index depends
// on loop variables (fine, if those loops can be unrolled), or on something that only a thread
// knows (then the array lives in local memory). Giving up on one array may make another array's
// loops small enough, so the question is asked until nothing changes.
#include "ir/unroll/unroll.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/unroll/round_exprs.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

/// Statements that one outermost loop may become: a few thousand instructions fill the instruction
/// cache many times over, and the assembler's time grows faster than the text.
constexpr std::int64_t kMaxStatements = 4096;
/// The same for loops that the program itself asks to unroll.
constexpr std::int64_t kMaxAsked = 65536;
constexpr std::int64_t kHugeCount = std::int64_t{1} << 40;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return a > kHugeCount / std::max<std::int64_t>(1, b) ? kHugeCount : a * b;
}

/// What an index depends on.
struct Reasons {
  std::set<VarId> loops;
  std::string runtime;  // what is not known before the thread runs, or empty
};

class RegisterLoops {
 public:
  explicit RegisterLoops(Function& f) : f_(f), lets_(f.var_count()) { find_bindings(); }

  // Loops that the program asks to unroll and that cannot be.
  void soften() { soften(f_.body, 1); }
  void decide() {
    find_accesses();
    for (std::size_t before = spilled_.size() + 1; before != spilled_.size();) {
      before = spilled_.size();
      find_wanted();
      check_sizes(f_.body, 1);
    }
  }
  void mark() {
    for (const VarId var : wanted_) mark(f_.at(loops_.at(var)));
  }
  [[nodiscard]] std::vector<SpilledArray> spilled() const {
    std::vector<SpilledArray> out;
    for (const auto& [buffer, reason] : spilled_)
      out.push_back({f_[buffer].name, f_[buffer].span, reason});
    return out;
  }

 private:
  // --- what there is ---

  void find_bindings() {
    for_each_stmt(f_, [&](StmtId id) {
      if (f_[id].kind == StmtKind::Bind) bind(f_[id].var, f_[id].expr);
      if (f_[id].kind == StmtKind::For) loops_[f_[id].var] = id;
    });
  }

  // What a name depends on is settled where it is bound: the names in its value are known there.
  void bind(VarId var, ExprId value) {
    lets_[var.index] = value;
    depends(value, reasons_[var]);
  }

  void soften(const Block& block, std::int64_t around) {
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      std::int64_t rounds = 1;
      if (asks_unroll(s)) {
        rounds = trips(s);
        const bool is_large = times(around, times(rounds, count(s.body))) > kMaxAsked;
        if (is_large || has_jump(f_, s.body)) {
          make_serial(f_.at(id));
          rounds = 1;
        }
      }
      soften(f_[id].body, times(around, rounds));
      soften(f_[id].other, around);
    }
  }

  static void make_serial(Stmt& s) {
    s.loop = LoopKind::Serial;
    std::erase_if(s.settings, [](const auto& row) { return row.first == kUnrollNote; });
  }

  // The buffer in registers that a pointer leads into; none for other memory.
  BufferId registers_behind(ExprId pointer) {
    while (pointer.valid()) {
      const Expr& e = f_[pointer];
      if (takes_address(e)) return registers_of(e.buffer);
      const bool passes_on = e.op == ExprOp::Reinterpret || moves_pointer(e);
      if (!passes_on && e.op != ExprOp::Var) return {};
      pointer = passes_on ? e.args[0] : lets_[e.var.index];
    }
    return {};
  }
  BufferId registers_of(BufferId buffer) {
    return f_[buffer].scope == Scope::Local ? storage_of(f_, buffer) : BufferId{};
  }
  // --- accesses ---

  void find_accesses() {
    for_each_expr(f_, [&](ExprId id) { look_at(f_[id]); });
    for_each_stmt(f_, f_.body, [&](StmtId id) {
      const Stmt& s = f_[id];
      if (s.kind == StmtKind::Store) access(registers_of(s.buffer), s.args[0]);
      if (s.kind == StmtKind::Ptx) look_at(f_[s.ptx]);
    });
  }

  void access(BufferId registers, ExprId index) {
    if (registers.valid()) accesses_[registers].push_back(index);
  }

  void look_at(const Expr& e) {
    if (e.op == ExprOp::Load || e.op == ExprOp::AddressOf)
      return access(registers_of(e.buffer), e.args[0]);
    const bool is_copy = is_call(e, Intrinsic::CopyBytes);
    for (const ExprId arg : e.args) {
      if (!f_[arg].type.is_pointer() || e.op == ExprOp::Reinterpret || is_copy) continue;
      if (moves_pointer(e))
        access(registers_behind(arg), e.args[1]);
      else
        escape(arg, e.op == ExprOp::Call ? fmt::format("T.{}", facts_of(e.callee).name)
                                         : std::string(spelling_of(e.op)));
    }
  }

  void look_at(const PtxCall& call) {
    for (const PtxOperand& operand : call.operands) {
      const bool is_pointer = operand.expr.valid() && f_[operand.expr].type.is_pointer();
      if (is_pointer && operand.kind != PtxOperandKind::At)
        escape(operand.expr, call.opcode.text());
    }
  }

  void escape(ExprId pointer, const std::string& user) {
    const BufferId buffer = registers_behind(pointer);
    if (buffer.valid()) spill(buffer, fmt::format("its address goes to `{}`", user));
  }

  void spill(BufferId buffer, std::string reason) { spilled_.emplace(buffer, std::move(reason)); }

  // --- dependences ---

  void depends(ExprId id, Reasons& out) {
    const Expr& e = f_[id];
    if (e.op == ExprOp::Var) return depends(e.var, out);
    const bool is_call = e.op == ExprOp::Call && facts_of(e.callee).effect != Effect::Pure;
    if (e.op == ExprOp::Load) out.runtime = f_[e.buffer].name;
    if (is_call) out.runtime = fmt::format("T.{}", facts_of(e.callee).name);
    for (const ExprId arg : e.args) depends(arg, out);
  }
  void depends(VarId var, Reasons& out) {
    if (f_[var].kind == VarKind::Loop) {
      out.loops.insert(var);
      return;
    }
    const auto value = reasons_.find(var);
    if (value != reasons_.end())
      out.loops.insert(value->second.loops.begin(), value->second.loops.end());
    // By the name that stands in the index.
    if (value == reasons_.end() || !value->second.runtime.empty()) out.runtime = f_[var].name;
  }

  void find_wanted() {
    wanted_.clear();
    users_.clear();
    for (const auto& [buffer, indices] : accesses_) {
      if (spilled_.contains(buffer)) continue;
      std::set<VarId> loops;
      std::optional<std::string> reason;
      for (const ExprId index : indices) {
        Reasons reasons;
        depends(index, reasons);
        if (!reasons.runtime.empty()) reason = fmt::format("indexed by `{}`", reasons.runtime);
        for (const VarId var : reasons.loops)
          if (!reason) reason = want(var, loops);
      }
      if (reason) {
        spill(buffer, *reason);
        continue;
      }
      for (const VarId var : loops) users_[var].push_back(buffer);
      wanted_.insert(loops.begin(), loops.end());
    }
  }

  // Adds a loop and those that its bounds depend on; otherwise says why it cannot be unrolled.
  std::optional<std::string> want(VarId var, std::set<VarId>& loops) {
    const Stmt& s = f_[loops_.at(var)];
    const std::string& name = f_[var].name;
    if (has_jump(f_, s.body))
      return fmt::format("indexed by `{}`, whose loop is left by `break` or `continue`", name);
    Reasons bounds;
    depends(s.first(), bounds);
    depends(s.trips(), bounds);
    if (!bounds.runtime.empty())
      return fmt::format("indexed by `{}`, whose loop goes as far as `{}` says", name,
                         bounds.runtime);
    if (!loops.insert(var).second) return std::nullopt;
    for (const VarId outer : bounds.loops)
      if (auto reason = want(outer, loops)) return reason;
    return std::nullopt;
  }

  // --- sizes ---

  std::int64_t trips(const Stmt& s) {
    const auto constant = const_int(f_, s.trips());
    if (!constant && !facts_) facts_ = facts_of(f_);
    const std::int64_t most = constant ? *constant : range_of(f_, s.trips(), *facts_).max;
    return std::clamp<std::int64_t>(most, 0, kHugeCount);
  }
  [[nodiscard]] bool is_expanded(const Stmt& s) const {
    return asks_unroll(s) || (s.kind == StmtKind::For && wanted_.contains(s.var));
  }
  // Statements after expansion.
  std::int64_t count(const Block& block) {
    std::int64_t sum = 0;
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      const std::int64_t inside = count(s.body) + count(s.other);
      sum += is_expanded(s) ? times(trips(s), inside) : 1 + inside;
      sum = std::min(sum, kHugeCount);
    }
    return sum;
  }

  // Gives up on the arrays of a loop that would become too large.
  void check_sizes(const Block& block, std::int64_t around) {
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      std::int64_t rounds = 1;
      if (is_expanded(s)) {
        rounds = trips(s);
        const std::int64_t all = times(around, times(rounds, count(s.body)));
        if (all > kMaxStatements && !asks_unroll(s)) {
          give_up(s.var, all);
          rounds = 1;
        }
      }
      check_sizes(s.body, times(around, rounds));
      check_sizes(s.other, around);
    }
  }
  void give_up(VarId var, std::int64_t statements) {
    for (const BufferId buffer : users_[var])
      spill(buffer,
            fmt::format("indexed by `{}`, whose loop would become {} statements, of {} at most",
                        f_[var].name, statements, kMaxStatements));
  }

  // A loop of kind Unroll has a constant number of rounds; where outer loops decide it, an
  // annotation says the same.
  void mark(Stmt& s) {
    if (asks_unroll(s)) return;
    if (const_int(f_, s.trips()))
      s.loop = LoopKind::Unroll;
    else
      s.settings.emplace_back(std::string(kUnrollNote), true);
  }

  Function& f_;
  std::optional<Facts> facts_;        // made when a loop needs them
  std::vector<ExprId> lets_;          // by VarId
  std::map<VarId, Reasons> reasons_;  // of names
  std::map<VarId, StmtId> loops_;
  std::map<BufferId, std::vector<ExprId>> accesses_;
  std::map<BufferId, std::string> spilled_;
  std::set<VarId> wanted_;
  std::map<VarId, std::vector<BufferId>> users_;  // arrays that want a loop unrolled
};

}  // namespace

bool asks_unroll(const Stmt& loop) {
  if (loop.kind != StmtKind::For) return false;
  const auto is_note = [](const auto& row) {
    const bool* wanted = std::get_if<bool>(&row.second);
    return row.first == kUnrollNote && wanted != nullptr && *wanted;
  };
  return loop.loop == LoopKind::Unroll || std::ranges::any_of(loop.settings, is_note);
}

bool has_jump(const Function& f, const Block& body) {
  return std::ranges::any_of(body, [&](StmtId id) {
    const Stmt& s = f[id];
    return s.is_jump() || (!s.is_loop() && (has_jump(f, s.body) || has_jump(f, s.other)));
  });
}

std::vector<SpilledArray> settle_loops(Function& function) {
  RegisterLoops loops(function);
  loops.soften();
  loops.decide();
  return loops.spilled();
}

Function with_unrolled_loops(const Function& function) {
  Function out = function;
  RegisterLoops loops(out);
  loops.decide();
  loops.mark();
  return out;
}

// --- expanding -----------------------------------------------------------------------------------
//
// Expanding loops. The new function begins as a copy of the old one, whose nodes stay as they are
// where no replaced name occurs in them; only what depends on a round is made anew.
//
// Storage that is allocated in an expanded body is allocated once, in front of the outermost
// expanded loop: what it holds does not outlive a round, so that rounds can share it. One
// allocation per round would multiply shared memory. Pointer buffers get a twin in each round
// instead, because their address may differ.
//
// Names that stand for constants, and for pointers to registers (which have no address), are
// replaced by what they stand for everywhere.

namespace {

bool leads_to_registers(const Function& f, ExprId pointer) {
  const Expr& e = f[pointer];
  if (!e.type.is_pointer()) return false;
  if (takes_address(e)) return f[e.buffer].scope == Scope::Local;
  return (moves_pointer(e) || e.op == ExprOp::Reinterpret) && leads_to_registers(f, e.args[0]);
}

// A value that is put in place of its name.
bool is_replaced(const Function& f, ExprId value) {
  const Expr& e = f[value];
  return e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm || leads_to_registers(f, value);
}

class Expander {
 public:
  explicit Expander(const Function& function)
      : in_(function),
        out_(function),
        facts_(facts_of(function)),
        exprs_(in_, out_, facts_),
        is_hoisted_(function.buffer_count()) {}

  Function run() {
    mark(in_.host, 0);
    mark(in_.body, 0);
    Block host = nested(in_.host);
    Block body = nested(in_.body);
    out_.host = std::move(host);
    out_.body = std::move(body);
    return std::move(out_);
  }

 private:
  // Marks the variables that have a value of their own in each round, in program order.
  // `depth`: expanded loops around the block.
  void mark(const Block& block, int depth) {
    for (const StmtId id : block) {
      const Stmt& s = in_[id];
      if (s.kind == StmtKind::Bind &&
          (depth > 0 || exprs_.changes(s.expr) || is_replaced(in_, s.expr)))
        exprs_.open(s.var, depth);
      int inside = depth;
      if (s.kind == StmtKind::For) {
        if (rounds_of(s, s.trips())) ++inside;
        if (inside > 0) exprs_.open(s.var, inside);
      }
      if (s.kind == StmtKind::Declare && depth > 0 && in_[s.buffer].origin == BufferOrigin::Pointer)
        exprs_.open(s.buffer, depth);
      mark(s.body, inside);
      mark(s.other, depth);
    }
  }

  // --- statements --------------------------------------------------------------------------------

  // A block's statements in the middle of another: an attribute of the rest of the block gets a
  // block of its own.
  void splice(const Block& in, Block& out) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in_[in[i]].kind != StmtKind::Attr || !in_[in[i]].is_open) {
        stmt(in[i], out);
        continue;
      }
      Stmt s = in_[in[i]];
      s.is_open = false;
      splice(Block(in.begin() + static_cast<std::ptrdiff_t>(i) + 1, in.end()), s.body);
      return put(in[i], std::move(s), out);
    }
  }

  // In a round a statement is a new one each time.
  void put(StmtId id, Stmt s, Block& out) {
    if (depth_ > 0) {
      out.push_back(out_.add(std::move(s)));
    } else {
      out_.at(id) = std::move(s);
      out.push_back(id);
    }
  }

  void stmt(StmtId id, Block& out) {
    const Stmt& s = in_[id];
    switch (s.kind) {
      case StmtKind::Bind:
        return bind(id, out);
      case StmtKind::For:
        return loop(id, out);
      case StmtKind::If:
        return branch(id, out);
      case StmtKind::Alloc:
      case StmtKind::Declare:
        return storage(id, out);
      default:
        return copy(id, out);
    }
  }

  void copy(StmtId id, Block& out) {
    Stmt s = in_[id];
    s.expr = s.kind == StmtKind::While ? exprs_.index(s.expr) : exprs_.value(s.expr);
    for (ExprId& arg : s.args) arg = exprs_.index(arg);
    if (s.kind == StmtKind::Store) s.buffer = exprs_.buffer(s.buffer);
    change(s.setting);
    if (s.kind == StmtKind::Ptx) s.ptx = issued(in_[s.ptx], s.ptx);
    s.body = nested(s.body);
    s.other = nested(s.other);
    put(id, std::move(s), out);
  }
  void change(Setting& setting) {
    if (ExprId* expr = std::get_if<ExprId>(&setting)) *expr = exprs_.value(*expr);
  }
  Block nested(const Block& in) {
    Block out;
    for (const StmtId id : in) stmt(id, out);
    return out;
  }
  PtxCallId issued(PtxCall call, PtxCallId id) {
    for (PtxOperand& operand : call.operands) {
      operand.expr = exprs_.value(operand.expr);
      operand.offset = exprs_.index(operand.offset);
    }
    call.predicate = exprs_.value(call.predicate);
    if (depth_ > 0) return out_.add(std::move(call));
    out_.ptx_calls[id.index] = std::move(call);
    return id;
  }

  void bind(StmtId id, Block& out) {
    Stmt s = in_[id];
    s.expr = exprs_.index(s.expr);
    if (is_replaced(out_, s.expr)) {
      exprs_.set(s.var, s.expr);
      return;
    }
    if (depth_ > 0) s.var = twin_of(s.var);
    if (facts_.value(in_[id].var).valid()) facts_.set_value(s.var, s.expr);
    put(id, std::move(s), out);
  }

  // The variable of this round, which the old one stands for from here on.
  VarId twin_of(VarId var) {
    const VarId twin = out_.add(Var(in_[var]));
    if (const auto range = facts_.range(var)) facts_.set_range(twin, *range);
    facts_.set_divisor(twin, facts_.divisor(var));
    exprs_.set(var, var_ref(out_, twin));
    return twin;
  }

  void branch(StmtId id, Block& out) {
    Stmt s = in_[id];
    const ExprId condition = exprs_.value(s.expr);
    s.expr = exprs_.changes(in_[id].expr) && !const_int(out_, condition)
                 ? exprs_.simplified(condition)
                 : condition;
    if (const auto decided = const_int(out_, s.expr))
      return splice(*decided != 0 ? in_[id].body : in_[id].other, out);
    s.body = nested(in_[id].body);
    s.other = nested(in_[id].other);
    put(id, std::move(s), out);
  }

  void storage(StmtId id, Block& out) {
    const Stmt& s = in_[id];
    if (depth_ == 0) {
      copy_buffer(s.buffer, s.buffer);
      return out.push_back(id);
    }
    if (exprs_.has_twins(s.buffer)) {
      const BufferId twin = out_.add(Buffer(in_[s.buffer]));
      copy_buffer(s.buffer, twin);
      exprs_.set(s.buffer, twin);
      Stmt made = s;
      made.buffer = twin;
      return put(id, std::move(made), out);
    }
    if (is_hoisted_[s.buffer.index]) return;
    is_hoisted_[s.buffer.index] = true;
    hoisted_.push_back(id);
  }
  void copy_buffer(BufferId from, BufferId to) {
    Buffer b = in_[from];
    for (ExprId* part : {&b.pointer, &b.elem_offset, &b.byte_offset}) *part = exprs_.value(*part);
    for (ExprId& extent : b.shape) extent = exprs_.value(extent);
    out_.at(to) = std::move(b);
  }

  // --- loops -------------------------------------------------------------------------------------

  // How often a loop is expanded; nothing when it stays a loop.
  [[nodiscard]] std::optional<std::int64_t> rounds_of(const Stmt& s, ExprId trips) const {
    const auto count = const_int(out_, trips);
    if (!count || (*count > 1 && !asks_unroll(s)) || has_jump(in_, s.body)) return std::nullopt;
    return std::max<std::int64_t>(0, *count);
  }

  void loop(StmtId id, Block& out) {
    SmallVec<ExprId, 3> args = in_[id].args;
    for (ExprId& arg : args) arg = exprs_.index(arg);
    if (const auto rounds = rounds_of(in_[id], args[1])) return expand(in_[id], args, *rounds, out);
    Stmt s = in_[id];
    s.args = std::move(args);
    for (auto& [key, setting] : s.settings) change(setting);
    if (s.loop == LoopKind::Unroll) s.loop = LoopKind::Serial;
    if (depth_ > 0) s.var = twin_of(s.var);
    s.body = nested(s.body);
    put(id, std::move(s), out);
  }

  // `args`: those of the loop, in this round.
  void expand(const Stmt& s, const SmallVec<ExprId, 3>& args, std::int64_t rounds, Block& out) {
    const ExprId start = start_of(s, args[0], rounds, out);
    const std::int64_t step = args.size() > 2 ? const_int(out_, args[2]).value_or(1) : 1;
    ++depth_;
    Block content;
    for (std::int64_t k = 0; k < rounds; ++k) {
      exprs_.begin_round(s.var);
      const ExprId moved = int_imm(out_, in_[s.var].type.dtype, k * step);
      exprs_.set(s.var, folded_sum(out_, start, moved, {.span = s.span, .no_wrap = true}));
      splice(s.body, content);
    }
    --depth_;
    if (depth_ == 0) {
      out.insert(out.end(), hoisted_.begin(), hoisted_.end());
      hoisted_.clear();
    }
    out.insert(out.end(), content.begin(), content.end());
  }

  // A start that is read from memory is read once.
  ExprId start_of(const Stmt& s, ExprId start, std::int64_t rounds, Block& out) {
    if (rounds == 0 || !out_[start].reads_memory) return start;
    Stmt let{.kind = StmtKind::Bind, .span = s.span, .expr = start};
    let.var = out_.add(Var{.name = in_[s.var].name + "_start", .type = in_[s.var].type});
    const VarId var = let.var;
    out.push_back(out_.add(std::move(let)));
    return var_ref(out_, var);
  }

  const Function& in_;
  Function out_;
  Facts facts_;
  RoundExprs exprs_;
  std::vector<bool> is_hoisted_;  // by BufferId
  int depth_ = 0;                 // expanded loops around this place
  Block hoisted_;
};

}  // namespace

Function expand_unrolled(const Function& function) {
  const Function unrolled = with_unrolled_loops(function);
  return Expander(unrolled).run();
}

}  // namespace ww::ir
