// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/divergence.h"

#include <fmt/format.h>

#include <set>

#include "ir/launch/uniformity.h"
#include "ir/print/print.h"

namespace ww::ir::verifying {
namespace {

constexpr std::size_t kMaxNotes = 5;

class Origin {
 public:
  Origin(const Function& f, const LaunchShape& shape, ThreadFlow& flow, const ActiveSet& set,
         Unit unit)
      : f_(f), shape_(shape), flow_(flow), set_(set), unit_(unit) {}

  // From the condition down to the value that nothing below explains.
  std::vector<Note> notes(ExprId condition) {
    std::vector<Note> out;
    out.push_back({fmt::format("`{}` may differ between threads of a {}", print(f_, condition),
                               name_of(unit_)),
                   f_[condition].span});
    ExprId at = condition;
    while (seen_.insert(at.index).second) {
      if (const ExprId part = differing_part(at); part.valid()) {
        note_assignment(out, at, definition_of(f_, flow_.definitions(), at).stmt);
        at = part;
        continue;
      }
      const StmtId store = store_behind(at);
      if (!store.valid()) break;
      if (!is_whole(flow_[store])) {
        out.push_back({fmt::format("`{}` is assigned here by {}, expected whole {}s", print(f_, at),
                                   to_text(flow_[store], shape_), name_of(unit_)),
                       f_[store].span});
        return out;
      }
      note_assignment(out, at, store);
      at = f_[store].expr;
    }
    if (Note reason = reason_of(at); !reason.text.empty()) out.push_back(std::move(reason));
    const ExprOp op = f_[at].op;
    if (op == ExprOp::Load || op == ExprOp::Call)
      out.push_back({fmt::format("`T.{}({})` promises that it is the same; runs check it",
                                 unit_ == Unit::Warp ? "warp_uniform" : "uniform", print(f_, at)),
                     {}});
    return out;
  }

 private:
  bool differs(ExprId expr) { return flow_.uniformity(expr, set_.may) < unit_; }

  bool is_whole(const ActiveSet& set) const {
    Threads all;
    for (std::size_t t = 0; t < static_cast<std::size_t>(shape_.threads()); ++t) all.set(t);
    return set.together(unit_) && coarsest(set.may, all, unit_) >= unit_;
  }

  void note_assignment(std::vector<Note>& out, ExprId name, StmtId stmt) const {
    if (!stmt.valid() || !f_[stmt].span.known || out.size() >= kMaxNotes) return;
    out.push_back({fmt::format("`{}` is assigned here", print(f_, name)), f_[stmt].span});
  }

  ExprId differing_part(ExprId expr) {
    ExprId out;
    for_each_decider(f_, flow_.definitions(), expr, [&](ExprId part) {
      if (!out.valid() && !seen_.contains(part.index) && differs(part)) out = part;
    });
    return out;
  }

  // The store that makes a load of private memory differ.
  StmtId store_behind(ExprId expr) {
    const Expr& e = f_[expr];
    if (e.op != ExprOp::Load || f_[e.buffer].scope != Scope::Local) return {};
    const StmtId why = flow_.memory().of(expr).why;
    return why.valid() && f_[why].kind == StmtKind::Store ? why : StmtId{};
  }

  Note reason_of(ExprId expr) {
    const Expr& e = f_[expr];
    if (e.op == ExprOp::Var) return {of_variable(e.var), f_[e.var].span};
    if (e.op == ExprOp::Load) return of_load(expr);
    if (e.op != ExprOp::Call) return {};
    return {fmt::format("`T.{}` may give each thread a value of its own", facts_of(e.callee).name),
            e.span};
  }

  std::string of_variable(VarId var) {
    const Var& v = f_[var];
    switch (v.kind) {
      case VarKind::ScopeId:
      case VarKind::Launch:
        return fmt::format("`{}` numbers {}", v.name, numbered(var));
      default:
        return {};
    }
  }

  // What an id numbers, as far as it matters inside a CTA.
  std::string numbered(VarId var) {
    const StmtId stmt = flow_.definitions().ids[var.index].stmt;
    if (!stmt.valid() || f_[stmt].kind != StmtKind::ScopeIds) return "threads";
    return fmt::format("{}s", name_of(facts_of(f_[stmt].scope_id).child));
  }

  Note of_load(ExprId expr) {
    const Expr& e = f_[expr];
    const Buffer& buffer = f_[e.buffer];
    const StmtId why = flow_.memory().of(expr).why;
    if (buffer.scope == Scope::Global)
      return {fmt::format("`{}` reads memory that this kernel writes or takes addresses of, so it "
                          "may change between two threads' reads; let one thread read it, and "
                          "pass it on through shared memory, between barriers",
                          print(f_, expr)),
              e.span};
    if (!is_shared(buffer.scope))
      return {fmt::format("`{}` is each thread's own", print(f_, expr)), e.span};
    if (!why.valid())
      return {fmt::format("`{}` is read where threads of a {} do not come together",
                          print(f_, expr), name_of(unit_)),
              e.span};
    return {fmt::format("`{}` is written here, and no barrier that whole {}s reach keeps that "
                        "apart from the read of `{}`; put one before the read, and one after it",
                        buffer.name, name_of(unit_), print(f_, expr)),
            f_[why].span};
  }

  const Function& f_;
  const LaunchShape& shape_;
  ThreadFlow& flow_;
  const ActiveSet& set_;
  Unit unit_;
  std::set<std::uint32_t> seen_;
};

}  // namespace

std::vector<Note> why_apart(const Function& function, const LaunchShape& shape, ThreadFlow& flow,
                            StmtId stmt, Unit unit) {
  const Blame& blame = flow.blame(stmt);
  const ActiveSet& set = flow[stmt];
  if (!set.together(unit) && blame.splits.valid())
    return Origin(function, shape, flow, set, unit).notes(blame.splits);
  if (!blame.leaves_out.valid()) return {};
  return {{fmt::format("`{}` leaves out the others", print(function, blame.leaves_out)),
           function[blame.leaves_out].span}};
}

}  // namespace ww::ir::verifying
