// SPDX-License-Identifier: Apache-2.0
#include "ir/local_storage.h"

#include "ir/visit.h"

namespace ww::ir {

LocalStorage::LocalStorage(const Function& f) : f_(f), values_(f.var_count()) {
  for_each_stmt(f_, f_.body, [&](StmtId id) {
    if (f_[id].kind == StmtKind::Bind) values_[f_[id].var.index] = f_[id].expr;
  });
}

BufferId LocalStorage::of(BufferId buffer) const {
  if (!buffer.valid()) return {};
  const BufferId root = storage_of(f_, buffer);
  const Buffer& b = f_[root];
  if (b.origin == BufferOrigin::Pointer) return at(b.pointer);
  return b.origin == BufferOrigin::Alloc && b.scope == Scope::Local ? root : BufferId{};
}

BufferId LocalStorage::at(ExprId pointer) const {
  const Expr& e = f_[pointer];
  if (takes_address(e)) return of(e.buffer);
  if (moves_pointer(e) || retypes_pointer(e))
    return f_[e.args[0]].type.is_pointer() ? at(e.args[0]) : BufferId{};
  const bool is_bound = e.op == ExprOp::Var && values_[e.var.index].valid();
  return is_bound ? at(values_[e.var.index]) : BufferId{};
}

}  // namespace ww::ir
