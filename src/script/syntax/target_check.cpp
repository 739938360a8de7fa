// SPDX-License-Identifier: Apache-2.0
// What can be assigned to or deleted.
#include <iterator>
#include <string>

#include "base/fail_at.h"
#include "script/syntax/expr_parser.h"

namespace ww::script {
namespace {

// By ExprKind.
// clang-format off
constexpr std::string_view kExprTexts[] = {
    "a name", "a literal", "a literal", "a literal", "an f-string", "a literal",
    "`True`", "`False`", "`None`", "`...`", "a tuple", "a list", "a set", "a dict",
    "an operator's result", "an operator's result", "an operator's result", "an operator's result",
    "a comparison", "a conditional expression", "a lambda", "a call", "an attribute", "a subscript",
    "a slice", "a starred expression", "a comprehension", "a comprehension", "a generator",
    "a comprehension", "a named expression"};
// clang-format on
static_assert(std::size(kExprTexts) == static_cast<std::size_t>(ExprKind::Unsupported));

}  // namespace

std::string describe_expr(const ParseCursor& cursor, ExprId id) {
  const Expr& expr = cursor.ast()[id];
  if (expr.kind == ExprKind::Unsupported)
    return fmt::format("`{}`", cursor.text_between(expr.name_place.begin, expr.name_place.end));
  return std::string(kExprTexts[static_cast<std::size_t>(expr.kind)]);
}

Result<void> check_target(ParseCursor& cursor, ExprId target, TargetUse use) {
  const Expr& expr = cursor.ast()[target];
  switch (expr.kind) {
    case ExprKind::Name:
    case ExprKind::Attribute:
    case ExprKind::Subscript:
      return {};
    case ExprKind::Tuple:
    case ExprKind::List: {
      int stars = 0;
      for (ExprId item : cursor.ast().list(expr.items)) {
        const Expr& inner = cursor.ast()[item];
        if (inner.kind == ExprKind::Starred && use == TargetUse::Assign) {
          if (++stars > 1)
            return fail_at(inner.place.span(), DiagKind::Syntax,
                           "found a second starred target, expected one");
          item = inner.a;
        }
        WW_TRY_VOID(check_target(cursor, item, use));
      }
      return {};
    }
    case ExprKind::Starred:
      if (use == TargetUse::Assign) return fail(lone_star(cursor, target));
      [[fallthrough]];
    default:
      return fail_at(expr.place.span(), DiagKind::Syntax, "cannot {} {}",
                     use == TargetUse::Assign ? "assign to" : "delete",
                     describe_expr(cursor, target));
  }
}

}  // namespace ww::script
