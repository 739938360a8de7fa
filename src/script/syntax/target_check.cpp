// SPDX-License-Identifier: Apache-2.0
// What can be assigned to or deleted.
#include <string>

#include "script/syntax/expr_parser.h"

namespace ww::script {

std::string describe_expr(const ParseCursor& cursor, ExprId id) {
  const Expr& expr = cursor.ast()[id];
  switch (expr.kind) {
    case ExprKind::Name:
      return "a name";
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::String:
    case ExprKind::Formatted:
      return "a literal";
    case ExprKind::FString:
      return "an f-string";
    case ExprKind::True:
      return "`True`";
    case ExprKind::False:
      return "`False`";
    case ExprKind::None:
      return "`None`";
    case ExprKind::Ellipsis:
      return "`...`";
    case ExprKind::Tuple:
      return "a tuple";
    case ExprKind::List:
      return "a list";
    case ExprKind::Set:
      return "a set";
    case ExprKind::Dict:
      return "a dict";
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::And:
    case ExprKind::Or:
      return "an operator's result";
    case ExprKind::Compare:
      return "a comparison";
    case ExprKind::Conditional:
      return "a conditional expression";
    case ExprKind::Lambda:
      return "a lambda";
    case ExprKind::Call:
      return "a call";
    case ExprKind::Attribute:
      return "an attribute";
    case ExprKind::Subscript:
      return "a subscript";
    case ExprKind::Slice:
      return "a slice";
    case ExprKind::Starred:
      return "a starred expression";
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
      return "a comprehension";
    case ExprKind::GeneratorExp:
      return "a generator";
    case ExprKind::Walrus:
      return "a named expression";
    case ExprKind::Unsupported:
      return fmt::format("`{}`", cursor.text_between(expr.name_place.begin, expr.name_place.end));
  }
  return "an expression";
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
            return fail(diag(DiagKind::Syntax, "found a second starred target, expected one")
                            .with_span(inner.place.span()));
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
      return fail(diag(DiagKind::Syntax, "cannot {} {}",
                       use == TargetUse::Assign ? "assign to" : "delete",
                       describe_expr(cursor, target))
                      .with_span(expr.place.span()));
  }
}

}  // namespace ww::script
