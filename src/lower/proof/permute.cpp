// SPDX-License-Identifier: Apache-2.0
// permute_layout is proven as a copy. Where source and destination share storage, all reads must come
// before all writes, with a barrier of the unit between them.
#include <map>
#include <optional>

#include "lower/copy/problem.h"
#include "lower/proof/proof.h"

namespace ww::lower {
namespace permute_proof {
namespace {

using ir::ExprId;
using ir::ExprOp;

/// Accesses to one storage in the order of the code, which has no loops.
class Order {
 public:
  Order(const ir::Function& f, ir::BufferId storage) : f_(f), storage_(storage) {}

  /// What is wrong; empty: nothing.
  std::string check(const ir::Block& code) {
    for (const ir::StmtId id : code) {
      const ir::Stmt& s = f_[id];
      if (s.kind == ir::StmtKind::For || s.kind == ir::StmtKind::While)
        return "a loop around accesses in place";
      if (s.kind == ir::StmtKind::Bind && f_[s.var].type.is_pointer())
        pointers_[s.var.index] = s.expr;
      if (s.kind == ir::StmtKind::Store) {
        if (reads(s.expr)) read();
        if (ir::storage_of(f_, s.buffer) == storage_) write();
      }
      if (s.kind == ir::StmtKind::Evaluate) evaluate(f_[s.expr]);
      if (wrong_.empty()) wrong_ = check(s.body);
      if (wrong_.empty()) wrong_ = check(s.other);
      if (!wrong_.empty()) return wrong_;
    }
    return {};
  }

 private:
  void evaluate(const ir::Expr& e) {
    if (e.op != ExprOp::Call) return;
    if (e.callee == ir::Intrinsic::CopyBytes) {
      if (points(e.args[1])) read();
      if (points(e.args[0])) write();
    }
    if (e.callee == ir::Intrinsic::CtaSync || e.callee == ir::Intrinsic::WarpSync ||
        e.callee == ir::Intrinsic::WarpgroupSync)
      has_open_reads_ = false;
  }
  void read() {
    if (has_written_) wrong_ = "elements are read behind the first that is written";
    has_open_reads_ = true;
  }
  void write() {
    if (has_open_reads_)
      wrong_ = "no barrier stands between the elements that are read and written";
    has_written_ = true;
  }
  [[nodiscard]] bool reads(ExprId expr) const {
    const ir::Expr& e = f_[expr];
    if (e.op == ExprOp::Load && ir::storage_of(f_, e.buffer) == storage_) return true;
    for (const ExprId arg : e.args)
      if (reads(arg)) return true;
    return false;
  }
  [[nodiscard]] bool points(ExprId pointer) const {
    const ir::Expr& e = f_[pointer];
    if (e.op == ExprOp::AddressOf) return ir::storage_of(f_, e.buffer) == storage_;
    if (e.op == ExprOp::Var) {
      const auto found = pointers_.find(e.var.index);
      return found == pointers_.end() || points(found->second);
    }
    return e.args.empty() || points(e.args[0]);
  }

  const ir::Function& f_;
  ir::BufferId storage_;
  std::map<std::uint32_t, ExprId> pointers_;
  bool has_open_reads_ = false, has_written_ = false;
  std::string wrong_;
};

}  // namespace
}  // namespace permute_proof

Proof prove_permutation(const Call& call, const ir::Block& code) {
  Proof proof = prove_copy(call, code);
  const ir::Function& f = call.f();
  const ir::BufferId to = call.region(0).buffer, from = call.region(1).buffer;
  const ir::BufferId storage = ir::storage_of(f, to);
  if (!proof.holds() || storage != ir::storage_of(f, from) || are_apart(f, to, from)) return proof;
  proof.difference = permute_proof::Order(f, storage).check(code);
  return proof;
}

}  // namespace ww::lower
