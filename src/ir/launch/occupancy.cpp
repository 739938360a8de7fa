// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/occupancy.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "ir/visit.h"

namespace ww::ir {
namespace {

constexpr std::string_view kCtasAttribute = "tirx.launch_bounds_min_blocks_per_sm";
constexpr std::string_view kRegistersAttribute = "tirx.max_registers_per_thread";
constexpr std::int64_t kSmThreads = 2048;  // the most that any SM holds
constexpr std::int64_t kSmCtas = 32;
constexpr std::int64_t kMinRegisters = 16;
constexpr std::int64_t kMaxRegisters = 255;

struct Wish {
  std::string_view attribute;
  std::int64_t least = 1;
  std::int64_t most = 1;
};

Result<void> take(const Wish& wish, const Setting& setting, Span span, std::int64_t& into) {
  const auto* const number = std::get_if<std::int64_t>(&setting);
  if (number == nullptr)
    return fail(diag(DiagKind::BadArgument, "`{}` is not a constant integer", wish.attribute)
                    .with_span(span));
  if (*number < wish.least || *number > wish.most)
    return fail(diag(DiagKind::BadArgument, "`{}` is {}, expected {} to {}", wish.attribute,
                     *number, wish.least, wish.most)
                    .with_span(span));
  if (into != 0 && into != *number)
    return fail(diag(DiagKind::BadArgument, "`{}` is {} here and {} elsewhere", wish.attribute,
                     *number, into)
                    .with_span(span));
  into = *number;
  return {};
}

}  // namespace

Result<OccupancyWish> occupancy_wish(const Function& function, const LaunchShape& shape) {
  const std::int64_t max_ctas = std::min(kSmCtas, kSmThreads / shape.threads());
  OccupancyWish out;
  const auto read = [&](std::string_view key, const Setting& setting, Span span) -> Result<void> {
    if (key == kCtasAttribute)
      return take({kCtasAttribute, 1, max_ctas}, setting, span, out.min_ctas);
    if (key == kRegistersAttribute)
      return take({kRegistersAttribute, kMinRegisters, kMaxRegisters}, setting, span,
                  out.max_registers);
    return {};
  };
  for (const auto& [key, setting] : function.attrs) WW_TRY_VOID(read(key, setting, {}));
  Result<void> in_body;
  Span last;
  for_each_stmt(function, function.body, [&](StmtId id) {
    const Stmt& s = function[id];
    if (s.kind != StmtKind::Attr || !in_body) return;
    in_body = read(s.attr, s.setting, s.span);
    last = s.span;
  });
  if (!in_body) return fail(in_body.error());
  if (out.min_ctas != 0 && out.max_registers != 0)
    return fail(diag(DiagKind::BadArgument, "both `{}` and `{}`: a kernel takes one of them",
                     kCtasAttribute, kRegistersAttribute)
                    .with_span(last));
  // Without a fixed register count ptxas ignores setmaxnreg (C7508).
  if (out.min_ctas == 0 && out.max_registers == 0 && moves_registers(function)) out.min_ctas = 1;
  return out;
}

// --- registers -----------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kSmRegisters = 65536;
constexpr std::int64_t kMaxThreadRegisters = 256;
constexpr std::int64_t kStep = 8;  // registers are given out in such portions

}  // namespace

std::optional<RegisterRequest> register_request(const Function& function, const Stmt& s) {
  if (s.kind != StmtKind::Ptx) return std::nullopt;
  const PtxCall& call = function[s.ptx];
  if (!call.opcode.valid() || call.opcode.mnemonic() != "setmaxnreg" || call.operands.size() != 1)
    return std::nullopt;
  const auto count = const_int(function, call.operands[0].expr);
  if (!count) return std::nullopt;
  return RegisterRequest{.takes = call.opcode.text().contains(".inc"), .count = *count};
}

bool moves_registers(const Function& function) {
  return any_stmt(function, function.body,
                  [&](const Stmt& s) { return register_request(function, s).has_value(); });
}

std::int64_t registers_at_start(const OccupancyWish& wish, const LaunchShape& shape,
                                std::int64_t most_taken) {
  if (wish.max_registers != 0) return (wish.max_registers + kStep - 1) / kStep * kStep;
  const std::int64_t threads = std::max<std::int64_t>(1, wish.min_ctas) * shape.warps() * 32;
  const std::int64_t most = std::min(kMaxThreadRegisters, kSmRegisters / threads / kStep * kStep);
  return most_taken != 0 ? std::min(most, most_taken) : most;
}

}  // namespace ww::ir
