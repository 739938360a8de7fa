// SPDX-License-Identifier: Apache-2.0
// Operations of the program, each for a group of threads that stand at it.
#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::Stmt;
using ir::StmtKind;

// Trips of a `while` loop before the others get their turn: a loop that waits for another thread
// must not keep it from running.
constexpr std::uint32_t kSpins = 64;

}  // namespace

// True when the threads are still together and can go on.
bool Cta::execute(const Op& op, Threads ts) {
  if (op.kind == OpKind::Exit) {
    exit(ts);
    return false;
  }
  const Stmt& stmt = (*f_)[op.stmt];
  switch (op.kind) {
    case OpKind::Branch:
      return branch(op, ts, false);
    case OpKind::While:
      return branch(op, ts, true);
    case OpKind::LoopBegin:
      return loop_begin(op, stmt, ts);
    case OpKind::LoopTest:
      return loop_test(op, ts);
    case OpKind::LoopNext:
      loop_next(op, stmt, ts);
      return true;
    case OpKind::Jump:
      for (const Thread t : ts) pcs_[t] = op.target;
      return true;
    case OpKind::Evaluate:
      return evaluate(stmt, ts);
    case OpKind::Ptx:
      return ptx(stmt, ts);
    case OpKind::Bind: {
      if (!(*f_)[stmt.expr].type.is_value() && !(*f_)[stmt.expr].type.is_pointer()) break;
      const Words value = eval(stmt.expr, ts);
      const std::size_t lanes = value.size() / ts.size();
      for (std::size_t l = 0; l < lanes; ++l)
        for (std::size_t i = 0; i < ts.size(); ++i)
          vars_[(var_base_[stmt.var.index] + l) * thread_count() + ts[i]] =
              value[l * ts.size() + i];
      break;
    }
    case OpKind::Forget: {
      const std::int32_t root = k_.info(stmt.buffer).root;
      const std::size_t bytes = k_.roots[static_cast<std::size_t>(root)].bytes;
      for (const Thread t : ts) storage_of(root).forget(std::size_t{t} * bytes, bytes);
      break;
    }
    case OpKind::Store:
      store(stmt, ts);
      break;
    case OpKind::Assert:
      check_assert(stmt, ts);
      break;
    case OpKind::Ids:
      bind_ids(stmt, ts);
      break;
    case OpKind::Tile:
      tile_call(stmt, ts);
      break;
    case OpKind::Exit:
      break;
  }
  go_on(ts);
  return true;
}

bool Cta::branch(const Op& op, Threads ts, bool may_spin) {
  const Words holds = eval((*f_)[op.stmt].expr, ts);
  std::size_t taken = 0;
  bool is_spinning = false;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Thread t = ts[i];
    pcs_[t] = holds[i] != 0 ? op_ + 1 : op.target;
    if (holds[i] != 0) ++taken;
    if (!may_spin) continue;
    spins_[t] = holds[i] != 0 ? spins_[t] + 1 : 0;
    if (spins_[t] >= kSpins) {
      spins_[t] = 0;
      parked_[t] = 1;
      is_spinning = true;
    }
  }
  return (taken == 0 || taken == ts.size()) && !is_spinning;
}

bool Cta::loop_begin(const Op& op, const Stmt& stmt, Threads ts) {
  const Words first = eval(stmt.args[0], ts);
  const Words trips = eval(stmt.args[1], ts);
  const num::DType type = type_of(stmt.args[1]);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    vars_[var_base_[stmt.var.index] * thread_count() + ts[i]] = first[i];
    left_[op.loop * thread_count() + ts[i]] = as_int(type, trips[i]);
    check_last(stmt, ts[i], first[i], as_int(type, trips[i]));
  }
  go_on(ts);
  return true;
}

bool Cta::loop_test(const Op& op, Threads ts) {
  std::size_t taken = 0;
  for (const Thread t : ts) {
    const bool goes_on = left_[op.loop * thread_count() + t] > 0;
    pcs_[t] = goes_on ? op_ + 1 : op.target;
    if (goes_on) ++taken;
  }
  return taken == 0 || taken == ts.size();
}

void Cta::loop_next(const Op& op, const Stmt& stmt, Threads ts) {
  const num::DType type = (*f_)[stmt.var].type.dtype;
  Words steps = constant(1, ts.size());
  if (stmt.args.size() > 2 && stmt.args[2].valid()) steps = eval(stmt.args[2], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    Word& value = vars_[var_base_[stmt.var.index] * thread_count() + ts[i]];
    value = (value + steps[i]) & low_mask(num::bits_of(type));
    --left_[op.loop * thread_count() + ts[i]];
    pcs_[ts[i]] = op.target;
  }
}

Word Cta::hardware_id(std::string_view tag, Thread t) const {
  const std::size_t dim = tag.empty() ? 0 : static_cast<std::size_t>(tag.back() - 'x') % 3;
  const auto& block = k_.shape.block;
  if (tag.starts_with("threadIdx")) {
    const std::int64_t parts[] = {t % block[0], t / block[0] % block[1], t / (block[0] * block[1])};
    return static_cast<Word>(parts[dim]);
  }
  if (tag.starts_with("blockIdx")) return static_cast<Word>(at_[dim]);
  const std::int64_t cluster = k_.shape.cluster[dim];
  return static_cast<Word>(tag.starts_with("clusterCtaIdx") ? at_[dim] % cluster
                                                            : at_[dim] / cluster);
}

void Cta::bind_ids(const Stmt& stmt, Threads ts) {
  const auto set = [&](ir::VarId var, Thread t, Word value) {
    vars_[var_base_[var.index] * thread_count() + t] =
        from_int((*f_)[var].type.dtype, static_cast<std::int64_t>(value));
  };
  for (const Thread t : ts) {
    if (stmt.kind != StmtKind::ScopeIds) {
      set(stmt.var, t, hardware_id(stmt.name, t));
      continue;
    }
    const ir::ThreadPlace place{t, at_};
    for (std::size_t d = 0; d < stmt.vars.size(); ++d) {
      const std::int64_t value =
          ir::scope_id_value(k_.shape, stmt.scope_id, d, stmt.vars.size(), k_.grid, place);
      set(stmt.vars[d], t, static_cast<Word>(value));
    }
  }
}

void Cta::store(const Stmt& stmt, Threads ts) {
  const BufferInfo& info = k_.info(stmt.buffer);
  Words undefined = constant(0, 0);
  const Words values = eval_copied(stmt.expr, ts, undefined);
  const int lanes = (*f_)[stmt.expr].type.lanes;
  const std::vector<Element> elements = locate(info, stmt.args, lanes, ts);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].place.root == kNoRoot) continue;
    const Access by = access_of(thread_agent(elements[i].owner));
    write(elements[i], info.bits, values[i], undefined.size() == 0 ? 0 : undefined[i], by);
  }
}

void Cta::check_assert(const Stmt& stmt, Threads ts) {
  const Words holds = eval(stmt.expr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (holds[i] != 0) continue;
    Finding* found = finding(Check::Assert);
    if (found == nullptr) continue;
    found->text = fmt::format("the assertion fails in {} of {}{}", thread_text(ts[i]), cta_text(),
                              stmt.name.empty() ? "" : ": " + stmt.name);
  }
}

bool Cta::evaluate(const Stmt& stmt, Threads ts) {
  const ir::Expr& expr = (*f_)[stmt.expr];
  const bool is_barrier = expr.op == ir::ExprOp::Call &&
                          ir::facts_of(expr.callee).effect == ir::Effect::Barrier &&
                          expr.callee != ir::Intrinsic::CtaReduce;
  if (is_barrier) return barrier_call(expr, ts);
  if (expr.type.kind != ir::Type::Kind::Text) eval(stmt.expr, ts);
  go_on(ts);
  return true;
}

}  // namespace ww::eval
