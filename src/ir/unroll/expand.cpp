// SPDX-License-Identifier: Apache-2.0
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
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/unroll/round_exprs.h"
#include "ir/unroll/unroll.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

bool leads_to_registers(const Function& f, ExprId pointer) {
  const Expr& e = f[pointer];
  if (!e.type.is_pointer()) return false;
  if (e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData)
    return f[e.buffer].scope == Scope::Local;
  const bool is_moved = e.op == ExprOp::Call &&
                        (e.callee == Intrinsic::PointerOffset || e.callee == Intrinsic::ByteOffset);
  return (is_moved || e.op == ExprOp::Reinterpret) && leads_to_registers(f, e.args[0]);
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
    Block host;
    block(in_.host, host);
    Block body;
    block(in_.body, body);
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
        if (rounds_of(s, s.args[1])) ++inside;
        if (inside > 0) exprs_.open(s.var, inside);
      }
      if (s.kind == StmtKind::Declare && depth > 0 && in_[s.buffer].origin == BufferOrigin::Pointer)
        exprs_.open(s.buffer, depth);
      mark(s.body, inside);
      mark(s.other, depth);
    }
  }

  // --- statements --------------------------------------------------------------------------------

  void block(const Block& in, Block& out) {
    for (const StmtId id : in) stmt(id, out);
  }

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
    block(in, out);
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
