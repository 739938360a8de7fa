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
#include <vector>

#include "ir/simplify/simplify.h"
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
    for (const Block* block : {&f_.host, &f_.body}) {
      for_each_stmt(f_, *block, [&](StmtId id) {
        if (f_[id].kind == StmtKind::Bind) bind(f_[id].var, f_[id].expr);
        if (f_[id].kind == StmtKind::For) loops_[f_[id].var] = id;
      });
    }
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
      if (e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData) return registers_of(e.buffer);
      const bool passes_on = e.op == ExprOp::Reinterpret || moves_pointer(e);
      if (!passes_on && e.op != ExprOp::Var) return {};
      pointer = passes_on ? e.args[0] : lets_[e.var.index];
    }
    return {};
  }
  BufferId registers_of(BufferId buffer) {
    return f_[buffer].scope == Scope::Local ? storage_of(f_, buffer) : BufferId{};
  }
  static bool moves_pointer(const Expr& e) {
    return e.op == ExprOp::Call &&
           (e.callee == Intrinsic::PointerOffset || e.callee == Intrinsic::ByteOffset);
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
    const bool is_copy = e.op == ExprOp::Call && e.callee == Intrinsic::CopyBytes;
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
    depends(s.args[0], bounds);
    depends(s.args[1], bounds);
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
    const auto constant = const_int(f_, s.args[1]);
    if (!constant && !facts_) facts_ = facts_of(f_);
    const std::int64_t most = constant ? *constant : range_of(f_, s.args[1], *facts_).max;
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
    if (const_int(f_, s.args[1]))
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
    if (s.kind == StmtKind::Break || s.kind == StmtKind::Continue) return true;
    if (s.kind == StmtKind::For || s.kind == StmtKind::While) return false;
    return has_jump(f, s.body) || has_jump(f, s.other);
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

}  // namespace ww::ir
