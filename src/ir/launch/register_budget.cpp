// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/register_budget.h"

#include <algorithm>

#include "ir/visit.h"

namespace ww::ir {
namespace {

constexpr std::int64_t kSmRegisters = 65536;
constexpr std::int64_t kMaxThreadRegisters = 256;
constexpr std::int64_t kStep = 8;  // registers are given out in such portions

}  // namespace

std::optional<RegisterRequest> register_request(const Function& function, StmtId stmt) {
  const Stmt& s = function[stmt];
  if (s.kind != StmtKind::Ptx) return std::nullopt;
  const PtxCall& call = function[s.ptx];
  if (!call.opcode.valid() || call.opcode.mnemonic() != "setmaxnreg" || call.operands.size() != 1)
    return std::nullopt;
  const auto count = const_int(function, call.operands[0].expr);
  if (!count) return std::nullopt;
  return RegisterRequest{.takes = call.opcode.text().contains(".inc"), .count = *count};
}

bool moves_registers(const Function& function) {
  bool any = false;
  for_each_stmt(function, function.body,
                [&](StmtId id) { any = any || register_request(function, id).has_value(); });
  return any;
}

std::int64_t registers_at_start(const OccupancyWish& wish, const LaunchShape& shape,
                                std::int64_t most_taken) {
  if (wish.max_registers != 0) return (wish.max_registers + kStep - 1) / kStep * kStep;
  const std::int64_t threads = std::max<std::int64_t>(1, wish.min_ctas) * shape.warps() * 32;
  const std::int64_t most = std::min(kMaxThreadRegisters, kSmRegisters / threads / kStep * kStep);
  return most_taken != 0 ? std::min(most, most_taken) : most;
}

}  // namespace ww::ir
