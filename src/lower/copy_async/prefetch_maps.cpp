// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/prefetch_maps.h"

#include <algorithm>

#include "lower/code_writer.h"

namespace ww::lower {

void prefetch_maps(Context& context) {
  if (context.prefetched.empty()) return;
  ir::Function& f = context.f;
  CodeWriter code(f, context.facts, {});
  const ir::ExprId is_first =
      code.index(ir::ExprOp::Eq, code.var(context.ids.linear_thread), code.n(0));
  code.guarded(is_first, [&] {
    for (const ir::VarId map : context.prefetched)
      code.ptx("prefetch.tensormap", {address_operand(code.var(map))});
  });
  const ir::Block made = code.take();
  // Behind what names the thread's ids.
  const auto first = std::ranges::find_if(f.body, [&](ir::StmtId id) {
    const ir::StmtKind kind = f[id].kind;
    return kind != ir::StmtKind::LaunchThread && kind != ir::StmtKind::Bind &&
           kind != ir::StmtKind::Alloc;
  });
  f.body.insert(first, made.begin(), made.end());
}

}  // namespace ww::lower
