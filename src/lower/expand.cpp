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
#include "ir/effects.h"
#include "ir/simplify/simplify.h"
#include "ir/visit.h"
#include "lower/unroll.h"
#include "lower/unroll_rules.h"

namespace ww::lower {
namespace {

using ir::Block;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;

class Expander {
 public:
  explicit Expander(const Function& function)
      : in_(function),
        out_(function),
        facts_(ir::facts_of(function)),
        is_open_(function.var_count()),
        twins_(function.buffer_count()),
        is_hoisted_(function.buffer_count()),
        changes_(function.expr_count(), Change::Unknown),
        values_(function.var_count()),
        done_(function.expr_count()) {}

  Function run() {
    mark(in_.host, false);
    mark(in_.body, false);
    Block host;
    block(in_.host, host);
    Block body;
    block(in_.body, body);
    out_.host = std::move(host);
    out_.body = std::move(body);
    return std::move(out_);
  }

 private:
  // --- what depends on rounds --------------------------------------------------------------------

  enum class Change : std::uint8_t { Unknown, No, Yes };

  // Marks the variables that have a value of their own in each round, in program order.
  void mark(const Block& block, bool in_round) {
    for (const StmtId id : block) {
      const Stmt& s = in_[id];
      if (s.kind == StmtKind::Bind)
        is_open_[s.var.index] = in_round || changes(s.expr) || is_replaced(in_, s.expr);
      bool inside = in_round;
      if (s.kind == StmtKind::For) {
        inside = in_round || rounds_of(s, s.args[1]).has_value();
        is_open_[s.var.index] = inside;
      }
      if (s.kind == StmtKind::Declare && in_round &&
          in_[s.buffer].origin == ir::BufferOrigin::Pointer)
        twins_[s.buffer.index] = s.buffer;
      mark(s.body, inside);
      mark(s.other, in_round);
    }
  }

  bool changes(ExprId id) {
    Change& known = changes_[id.index];
    if (known != Change::Unknown) return known == Change::Yes;
    const Expr& e = in_[id];
    bool out = e.op == ExprOp::Var && is_open_[e.var.index];
    out = out || (e.buffer.valid() && twins_[e.buffer.index].valid());
    for (const ExprId arg : e.args) out = changes(arg) || out;
    changes_[id.index] = out ? Change::Yes : Change::No;
    return out;
  }

  // A value that is put in place of its name.
  static bool is_replaced(const Function& f, ExprId value) {
    const Expr& e = f[value];
    return e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm || leads_to_registers(f, value);
  }
  static bool leads_to_registers(const Function& f, ExprId pointer) {
    const Expr& e = f[pointer];
    if (!e.type.is_pointer()) return false;
    if (e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData)
      return f[e.buffer].scope == ir::Scope::Local;
    const bool is_moved = e.op == ExprOp::Call && (e.callee == ir::Intrinsic::PointerOffset ||
                                                   e.callee == ir::Intrinsic::ByteOffset);
    return (is_moved || e.op == ExprOp::Reinterpret) && leads_to_registers(f, e.args[0]);
  }

  // --- expressions -------------------------------------------------------------------------------

  struct Done {
    std::uint64_t round = 0;
    ExprId expr = {};
  };

  ExprId value(ExprId id) {
    if (!id.valid() || !changes(id)) return id;
    Done& known = done_[id.index];
    if (known.round == round_ && known.expr.valid()) return known.expr;
    const ExprId out = rebuilt(id);
    done_[id.index] = {round_, out};
    return out;
  }

  ExprId rebuilt(ExprId id) {
    Expr e = in_[id];
    if (e.op == ExprOp::Var) {
      const ExprId known = values_[e.var.index];
      return known.valid() ? known : id;
    }
    for (ExprId& arg : e.args) arg = value(arg);
    switch (e.op) {
      case ExprOp::Load:
      case ExprOp::AddressOf:
        if (twins_[e.buffer.index].valid()) e.buffer = twins_[e.buffer.index];
        e.args[0] = simpler(in_[id].args[0], e.args[0]);
        return out_.add(std::move(e));
      case ExprOp::BufferData:
        e.buffer = twins_[e.buffer.index];
        return out_.add(std::move(e));
      case ExprOp::Select:
      case ExprOp::IfThenElse:
        if (const auto chosen = ir::const_int(out_, e.args[0])) return e.args[*chosen != 0 ? 1 : 2];
        return out_.add(std::move(e));
      case ExprOp::Call:
        return called(std::move(e));
      default:
        return folded(std::move(e));
    }
  }

  // pointer_offset(address_of(A[i]), k) is address_of(A[i + k]).
  ExprId called(Expr e) {
    if (e.callee != ir::Intrinsic::PointerOffset) return out_.add(std::move(e));
    Expr from = out_[e.args[0]];
    if (from.op != ExprOp::AddressOf || from.type != e.type) return out_.add(std::move(e));
    auto met = ir::meet(out_, {from.args[0], false}, {e.args[1], false}, "+");
    if (!met) return out_.add(std::move(e));
    const ExprId index = sum(met->first, met->second, {.span = e.span, .no_wrap = true});
    const auto at = ir::const_int(out_, index);
    const auto size = ir::const_int(out_, out_[from.buffer].shape[0]);
    if (at && (*at < 0 || !size || *at >= *size)) return out_.add(std::move(e));
    from.args = {index};
    return out_.add(std::move(from));
  }

  // Constants are folded; what cannot be (a division by zero) stays as it is.
  ExprId folded(Expr e) {
    const auto is_number = [&](std::size_t i) {
      return ir::const_int(out_, e.args[i]).has_value();
    };
    if (e.op == ExprOp::Add) return sum(e.args[0], e.args[1], e);
    if (e.op == ExprOp::Mul && e.type.is_scalar() && e.type.is_int()) {
      if (is_number(0) && !is_number(1)) std::swap(e.args[0], e.args[1]);
      if (is_constant(e.args[1], 1)) return e.args[0];
      if (is_constant(e.args[1], 0)) return e.args[1];
    }
    if (e.op == ExprOp::Cast) return ir::cast(out_, e.args[0], e.type, e.span).value();
    Result<ExprId> made = fail(DiagKind::BadType, "not folded");
    if (ir::arity_of(e.op) == 2 && e.op != ExprOp::Ramp)
      made = ir::binary_like(out_, e, e.args[0], e.args[1]);
    if (ir::arity_of(e.op) == 1 && ir::group_of(e.op) == ir::ExprGroup::Prefix) {
      made = ir::unary(out_, e.op, {e.args[0], false}, e.span);
      if (made && out_[*made].op == e.op) out_.at(*made).no_wrap = e.no_wrap;
    }
    return made ? *made : out_.add(std::move(e));
  }
  [[nodiscard]] bool is_constant(ExprId id, std::int64_t wanted) const {
    return ir::const_int(out_, id) == wanted;
  }

  // a + b with one constant at the end: (x + 1) + y is (x + y) + 1. Whether that is index
  // arithmetic says `like`; what is taken apart must be, too.
  ExprId sum(ExprId a, ExprId b, Expr like) {
    like.op = ExprOp::Add;
    const auto plain = [&](ExprId x, ExprId y) {
      return ir::binary_like(out_, like, x, y).value();
    };
    if (!out_[a].type.is_int() || out_[a].type.lanes > 1) return plain(a, b);
    const auto [x, c] = sum_terms(a);
    const auto [y, d] = sum_terms(b);
    for (const ExprId side : {a, b})
      if (out_[side].op == ExprOp::Add && !out_[side].no_wrap) like.no_wrap = false;
    ExprId terms = x.valid() && y.valid() ? plain(x, y) : x.valid() ? x : y;
    ExprId constant = c.valid() && d.valid() ? plain(c, d) : c.valid() ? c : d;
    if (!constant.valid() || (terms.valid() && is_constant(constant, 0))) return terms;
    return terms.valid() ? plain(terms, constant) : constant;
  }
  // The sum's terms and its constant; none where there are none.
  [[nodiscard]] std::pair<ExprId, ExprId> sum_terms(ExprId id) const {
    const Expr& e = out_[id];
    if (e.op == ExprOp::IntImm) return {{}, id};
    if (e.op == ExprOp::Add && out_[e.args[1]].op == ExprOp::IntImm) return {e.args[0], e.args[1]};
    return {id, {}};
  }

  // Sums are already as simple as they get; where a quotient or a choice depends on the round and
  // is no constant in it, ranges help.
  ExprId simpler(ExprId before, ExprId after) {
    if (out_[after].op == ExprOp::IntImm || !is_hard(before)) return after;
    return ir::simplify(out_, after, facts_);
  }
  bool is_hard(ExprId id) {
    if (!changes(id) || out_[value(id)].op == ExprOp::IntImm) return false;
    const Expr& e = in_[id];
    if (e.op == ExprOp::Var || e.op == ExprOp::Load) return false;
    if (e.op != ExprOp::Add && e.op != ExprOp::Mul && e.op != ExprOp::Cast) return true;
    for (const ExprId arg : e.args)
      if (is_hard(arg)) return true;
    return false;
  }
  ExprId index(ExprId id) { return id.valid() ? simpler(id, value(id)) : id; }

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
    s.expr = s.kind == StmtKind::While ? index(s.expr) : value(s.expr);
    for (ExprId& arg : s.args) arg = index(arg);
    if (s.kind == StmtKind::Store && twins_[s.buffer.index].valid())
      s.buffer = twins_[s.buffer.index];
    change(s.setting);
    if (s.kind == StmtKind::Ptx) s.ptx = issued(in_[s.ptx], s.ptx);
    s.body = nested(s.body);
    s.other = nested(s.other);
    put(id, std::move(s), out);
  }
  void change(ir::Setting& setting) {
    if (ExprId* expr = std::get_if<ExprId>(&setting)) *expr = value(*expr);
  }
  Block nested(const Block& in) {
    Block out;
    block(in, out);
    return out;
  }

  ir::PtxCallId issued(ir::PtxCall call, ir::PtxCallId id) {
    for (ir::PtxOperand& operand : call.operands) {
      operand.expr = value(operand.expr);
      operand.offset = index(operand.offset);
    }
    call.predicate = value(call.predicate);
    if (depth_ > 0) return out_.add(std::move(call));
    out_.ptx_calls[id.index] = std::move(call);
    return id;
  }

  void bind(StmtId id, Block& out) {
    Stmt s = in_[id];
    s.expr = index(s.expr);
    if (is_replaced(out_, s.expr)) {
      values_[s.var.index] = s.expr;
      return;
    }
    if (depth_ > 0) s.var = twin_of(s.var);
    if (facts_.value(in_[id].var).valid()) facts_.set_value(s.var, s.expr);
    put(id, std::move(s), out);
  }

  // The variable of this round, which the old one stands for from here on.
  ir::VarId twin_of(ir::VarId var) {
    const ir::VarId twin = out_.add(ir::Var(in_[var]));
    if (const auto range = facts_.range(var)) facts_.set_range(twin, *range);
    facts_.set_divisor(twin, facts_.divisor(var));
    values_[var.index] = ir::var_ref(out_, twin);
    return twin;
  }

  void branch(StmtId id, Block& out) {
    Stmt s = in_[id];
    const ExprId condition = value(s.expr);
    s.expr = changes(in_[id].expr) && !ir::const_int(out_, condition)
                 ? ir::simplify(out_, condition, facts_)
                 : condition;
    if (const auto decided = ir::const_int(out_, s.expr))
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
    if (twins_[s.buffer.index].valid()) {
      const ir::BufferId twin = out_.add(ir::Buffer(in_[s.buffer]));
      copy_buffer(s.buffer, twin);
      twins_[s.buffer.index] = twin;
      Stmt made = s;
      made.buffer = twin;
      return put(id, std::move(made), out);
    }
    if (is_hoisted_[s.buffer.index]) return;
    is_hoisted_[s.buffer.index] = true;
    hoisted_.push_back(id);
  }
  void copy_buffer(ir::BufferId from, ir::BufferId to) {
    ir::Buffer b = in_[from];
    for (ExprId* part : {&b.pointer, &b.elem_offset, &b.byte_offset}) *part = value(*part);
    for (ExprId& extent : b.shape) extent = value(extent);
    out_.at(to) = std::move(b);
  }

  // --- loops -------------------------------------------------------------------------------------

  // How often a loop is expanded; nothing when it stays a loop.
  [[nodiscard]] std::optional<std::int64_t> rounds_of(const Stmt& s, ExprId trips) const {
    const auto count = ir::const_int(out_, trips);
    if (!count || (*count > 1 && !asks_unroll(s)) || has_jump(in_, s.body)) return std::nullopt;
    return std::max<std::int64_t>(0, *count);
  }

  void loop(StmtId id, Block& out) {
    Stmt s = in_[id];
    for (ExprId& arg : s.args) arg = index(arg);
    for (auto& [key, setting] : s.settings) change(setting);
    if (const auto rounds = rounds_of(s, s.args[1])) return expand(s, *rounds, out);
    if (s.loop == ir::LoopKind::Unroll) s.loop = ir::LoopKind::Serial;
    if (depth_ > 0) s.var = twin_of(s.var);
    s.body = nested(s.body);
    put(id, std::move(s), out);
  }

  void expand(const Stmt& s, std::int64_t rounds, Block& out) {
    const ExprId start = start_of(s, rounds, out);
    const std::int64_t step = s.args.size() > 2 ? ir::const_int(out_, s.args[2]).value_or(1) : 1;
    ++depth_;
    Block content;
    for (std::int64_t k = 0; k < rounds; ++k) {
      ++round_;
      const ExprId moved = ir::int_imm(out_, in_[s.var].type.dtype, k * step);
      values_[s.var.index] = sum(start, moved, {.span = s.span, .no_wrap = true});
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
  ExprId start_of(const Stmt& s, std::int64_t rounds, Block& out) {
    if (rounds == 0 || !ir::reads_memory(out_, s.args[0])) return s.args[0];
    Stmt let{.kind = StmtKind::Bind, .span = s.span, .expr = s.args[0]};
    let.var = out_.add(ir::Var{.name = in_[s.var].name + "_start", .type = in_[s.var].type});
    const ir::VarId var = let.var;
    out.push_back(out_.add(std::move(let)));
    return ir::var_ref(out_, var);
  }

  const Function& in_;
  Function out_;
  ir::Facts facts_;
  std::vector<bool> is_open_;        // by VarId: has a value of its own in each round
  std::vector<ir::BufferId> twins_;  // by BufferId: that of this round; none where all share one
  std::vector<bool> is_hoisted_;     // by BufferId
  std::vector<Change> changes_;      // by ExprId
  std::vector<ExprId> values_;       // by VarId: what stands for it now
  std::vector<Done> done_;           // by ExprId: what it is in a round
  std::uint64_t round_ = 1;
  int depth_ = 0;  // expanded loops around this place
  Block hoisted_;
};

}  // namespace

ir::Function expand_unrolled(const ir::Function& function) { return Expander(function).run(); }

}  // namespace ww::lower
