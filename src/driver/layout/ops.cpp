// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/suggest.h"

namespace ww::driver {
namespace {

std::vector<LayoutOp> gather() {
  std::vector<LayoutOp> all;
  for (const auto rows : {form_ops(), thread_ops(), region_ops(), tiling_ops(), view_ops(),
                          algebra_ops(), question_ops(), bank_ops()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const LayoutOp* find_op(std::string_view name) {
  const auto found =
      std::find_if(layout_ops().begin(), layout_ops().end(), [&](const LayoutOp& row) {
        return row.name == name || (!row.alias.empty() && row.alias == name);
      });
  return found == layout_ops().end() ? nullptr : &*found;
}

Diag unknown_op(Piece name) {
  std::vector<std::string_view> names;
  for (const LayoutOp& row : layout_ops()) names.push_back(row.name);
  return diag(DiagKind::UnknownName, "no operation is called `{}`{}", name.text,
              did_you_mean(name.text, names))
      .with_span(name.span());
}

Result<void> check_arguments(const LayoutOp& row, Piece name, const Piece* arguments) {
  const bool given = arguments != nullptr && !arguments->empty();
  if (given && row.arguments.empty())
    return fail(diag(DiagKind::BadArgument, "`{}` takes no argument, and `{}` was given", row.name,
                     arguments->text)
                    .with_span(arguments->span()));
  if (!given && !row.arguments.empty() && !row.arguments.starts_with('['))
    return fail(diag(DiagKind::BadArgument, "`{}` needs an argument: {}:{}", row.name, row.name,
                     row.arguments)
                    .with_span(name.span())
                    .with_note(fmt::format("for example `{}`", row.example)));
  return {};
}

}  // namespace

const std::vector<LayoutOp>& layout_ops() {
  static const std::vector<LayoutOp> all = gather();
  return all;
}

Result<void> run_op(LayoutState& state, std::string_view text) {
  const Piece whole = trimmed({text, 0});
  const auto parts = cut_first(whole, ':');
  const Piece name = parts ? parts->first : whole;
  const LayoutOp* row = find_op(name.text);
  if (row == nullptr) return fail(unknown_op(name));
  WW_TRY_VOID(check_arguments(*row, name, parts ? &parts->second : nullptr));
  const Piece arguments =
      parts && !parts->second.empty() ? parts->second : Piece{{}, name.span().end};
  LayoutState next = state;
  const std::size_t answers = next.answers.size();
  auto done = row->run(next, arguments);
  if (!done) {
    const Span place = (arguments.empty() ? name : arguments).span();
    return fail(std::move(done).error().with_span(place));
  }
  for (std::size_t i = answers; i < next.answers.size(); ++i) next.answers[i].op = whole.text;
  state = std::move(next);
  return {};
}

}  // namespace ww::driver
