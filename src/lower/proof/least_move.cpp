// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/least_move.h"

#include <algorithm>
#include <string_view>

#include "isa/catalogue.h"
#include "lower/proof/walk.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::StmtKind;

// Within bounds, whatever the count: the replay refuses a bad one.
int bits_of_count(const ir::Function& f, ExprId bytes) {
  const std::int64_t count = ir::const_int(f, bytes).value_or(1);
  return static_cast<int>(std::clamp<std::int64_t>(count, 1, kMaxBytes)) * 8;
}

int least_of(const ir::Function& f, const ir::PtxCall& call, int element_bits) {
  const std::string_view called = call.opcode.mnemonic();
  if (called == "cp.async.bulk.tensor" || called == "cp.reduce.async.bulk.tensor" ||
      called == "cp.async.bulk")
    return 128;
  if (called.starts_with("cp.async") && call.operands.size() >= 3)
    return bits_of_count(f, call.operands[2].expr);
  if (called == "tcgen05.cp") return 128;
  if (called.starts_with("tcgen05.")) {
    const isa::Binding& binding = call.opcode.binding();
    return binding.has("pack") || binding.has("unpack") ? 16 : 32;
  }
  if (called == "mapa") return kMaxBytes * 8;  // moves nothing
  if (called == "prmt") return std::min(8, element_bits);
  return element_bits > 8 ? 16 : element_bits;
}

}  // namespace

int least_move(const ir::Function& f, const ir::Block& code, int element_bits) {
  int out = kMaxBytes * 8;
  for (const ir::StmtId id : code) {
    const ir::Stmt& s = f[id];
    if (s.kind == StmtKind::Ptx) out = std::min(out, least_of(f, f[s.ptx], element_bits));
    if (s.kind == StmtKind::Store) out = std::min(out, element_bits);
    if (s.kind == StmtKind::Evaluate && f[s.expr].op == ir::ExprOp::Call &&
        f[s.expr].callee == ir::Intrinsic::CopyBytes)
      out = std::min(out, bits_of_count(f, f[s.expr].args[2]));
    out =
        std::min({out, least_move(f, s.body, element_bits), least_move(f, s.other, element_bits)});
  }
  return out;
}

}  // namespace ww::lower
