// SPDX-License-Identifier: Apache-2.0
#include "property/kernels.h"

namespace ww::test {
namespace {

using ir::Block;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::StmtId;
using ir::StmtKind;

struct Endless {};

std::uint64_t scrambled(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

class Thread {
 public:
  Thread(const Program& p, std::uint64_t draw, std::int64_t cta, std::int64_t tid,
         Arrivals& arrivals)
      : p_(p),
        f_(p.f),
        draw_(draw),
        cta_(cta),
        tid_(tid),
        arrivals_(arrivals),
        vars_(f_.var_count()),
        memory_(f_.buffer_count()) {
    vars_[p.param.index] = static_cast<std::int64_t>(scrambled(draw + 5) % 5);
  }

  void run() { block(f_.body); }

 private:
  enum class Next { On, Break, Continue, Return };

  Next block(const Block& stmts) {
    for (const StmtId id : stmts)
      if (const Next next = statement(id); next != Next::On) return next;
    return Next::On;
  }

  void arrive(StmtId id) {
    if (++steps_ > 3000) throw Endless{};
    std::uint64_t key = scrambled(id.index + 1);
    for (const std::uint64_t round : rounds_) key = scrambled(key * 31 + round);
    Arrival& arrival = arrivals_[key];
    arrival.stmt = id;
    arrival.who[static_cast<std::size_t>(cta_)].set(static_cast<std::size_t>(tid_));
  }

  Next statement(StmtId id) {
    arrive(id);
    const ir::Stmt& stmt = f_[id];
    switch (stmt.kind) {
      case StmtKind::ScopeIds:
        vars_[stmt.vars[0].index] = own_id(stmt.scope_id);
        return Next::On;
      case StmtKind::Bind:
        vars_[stmt.var.index] = value(stmt.expr);
        return Next::On;
      case StmtKind::Store:
        memory_[stmt.buffer.index] = value(stmt.expr);
        return Next::On;
      case StmtKind::If:
        return block(value(stmt.expr) != 0 ? stmt.body : stmt.other);
      case StmtKind::Break:
        return Next::Break;
      case StmtKind::Continue:
        return Next::Continue;
      case StmtKind::Return:
        return Next::Return;
      case StmtKind::For: {
        const std::int64_t start = value(stmt.args[0]);
        const std::int64_t trips = value(stmt.args[1]);
        return loop(stmt, [&](std::int64_t round) {
          vars_[stmt.var.index] = start + round;
          return round < trips;
        });
      }
      case StmtKind::While:
        return loop(stmt, [&](std::int64_t) { return value(stmt.expr) != 0; });
      default:
        return Next::On;
    }
  }

  template <typename Goes>
  Next loop(const ir::Stmt& stmt, const Goes& goes) {
    rounds_.push_back(0);
    Next next = Next::On;
    for (std::int64_t round = 0; goes(round); ++round) {
      if (++steps_ > 3000) throw Endless{};
      rounds_.back() = static_cast<std::uint64_t>(round);
      next = block(stmt.body);
      if (next == Next::Break || next == Next::Return) break;
    }
    rounds_.pop_back();
    return next == Next::Return ? next : Next::On;
  }

  std::int64_t own_id(ir::ScopeIdKind kind) const {
    switch (kind) {
      case ir::ScopeIdKind::CtaId:
        return cta_;
      case ir::ScopeIdKind::CtaIdInCluster:
        return cta_ % std::int64_t{kClusterCtas};
      case ir::ScopeIdKind::ClusterId:
        return cta_ / std::int64_t{kClusterCtas};
      case ir::ScopeIdKind::ThreadId:
        return tid_;
      case ir::ScopeIdKind::WarpId:
        return tid_ / 32;
      default:
        return tid_ % 32;
    }
  }

  static std::int64_t floored(std::int64_t a, std::int64_t b) {
    std::int64_t q = a / b;
    if (q * b != a && ((a < 0) != (b < 0))) --q;
    return q;
  }

  std::int64_t value(ExprId id) {
    const ir::Expr& e = f_[id];
    switch (e.op) {
      case ExprOp::IntImm:
        return e.integer;
      case ExprOp::Var:
        return vars_[e.var.index];
      case ExprOp::Load:
        if (e.buffer == p_.table) return static_cast<std::int64_t>(scrambled(draw_ + 11) % 4);
        if (e.buffer != p_.memory) return memory_[e.buffer.index];
        // Anything, at any time, in any thread.
        return static_cast<std::int64_t>(
            scrambled(draw_ * 77 + static_cast<std::uint64_t>(tid_ * 31 + cta_ * 7 + ++reads_)) %
            4);
      case ExprOp::Call:  // elect_sync: one lane of the warp, another one each time
        return tid_ % 32 == static_cast<std::int64_t>(scrambled(draw_ + id.index + now()) % 32);
      case ExprOp::Not:
        return value(e.args[0]) == 0;
      case ExprOp::Cast:
        return value(e.args[0]);
      case ExprOp::And:
        return value(e.args[0]) != 0 && value(e.args[1]) != 0;
      case ExprOp::Or:
        return value(e.args[0]) != 0 || value(e.args[1]) != 0;
      default:
        break;
    }
    const std::int64_t a = value(e.args[0]);
    const std::int64_t b = value(e.args[1]);
    switch (e.op) {
      case ExprOp::Add:
        return static_cast<std::int32_t>(a + b);
      case ExprOp::Sub:
        return static_cast<std::int32_t>(a - b);
      case ExprOp::Mul:
        return static_cast<std::int32_t>(a * b);
      case ExprOp::FloorDiv:
        return floored(a, b);
      case ExprOp::FloorMod:
        return a - floored(a, b) * b;
      case ExprOp::TruncMod:
        return b == 0 ? a : a % b;
      case ExprOp::BitAnd:
        return a & b;
      case ExprOp::BitXor:
        return a ^ b;
      case ExprOp::Min:
        return a < b ? a : b;
      case ExprOp::Max:
        return a < b ? b : a;
      case ExprOp::Eq:
        return a == b;
      case ExprOp::Ne:
        return a != b;
      case ExprOp::Lt:
        return a < b;
      case ExprOp::Ge:
        return a >= b;
      case ExprOp::Gt:
        return a > b;
      case ExprOp::Le:
        return a <= b;
      default:
        throw std::logic_error("no such operator in this test");
    }
  }

  // The same for all threads of a warp that are in the same rounds.
  std::uint64_t now() const {
    std::uint64_t h = static_cast<std::uint64_t>(tid_ / 32 + 8 * cta_);
    for (const std::uint64_t round : rounds_) h = scrambled(h * 31 + round);
    return h;
  }

  const Program& p_;
  const Function& f_;
  std::uint64_t draw_;
  std::int64_t cta_, tid_;
  Arrivals& arrivals_;
  std::vector<std::int64_t> vars_;
  std::vector<std::int64_t> memory_;
  std::vector<std::uint64_t> rounds_;
  std::int64_t steps_ = 0;
  std::int64_t reads_ = 0;
};

}  // namespace

std::optional<Arrivals> executed(const Program& p, std::uint64_t draw) {
  Arrivals out;
  try {
    for (std::int64_t cta = 0; cta < std::int64_t{kCtas}; ++cta)
      for (std::int64_t t = 0; t < p.threads; ++t) Thread(p, draw, cta, t, out).run();
  } catch (const Endless&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace ww::test
