// SPDX-License-Identifier: Apache-2.0
#include "ir/launch/occupancy.h"

#include <string_view>
#include <variant>

#include "ir/launch/register_budget.h"
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

}  // namespace ww::ir
