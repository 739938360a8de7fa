// SPDX-License-Identifier: Apache-2.0
#include "lower/call_text.h"

#include <algorithm>

#include "base/join.h"
#include "base/suggest.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "layout/text.h"
#include "lower/variant.h"

namespace ww::lower {

// Under the buffer's name in the source; a printed program may have to use another.
std::string CallText::region(const ir::Region& region) const {
  if (region.buffer.index >= source_buffers_) return f_[region.buffer].name;  // a whole fragment
  const std::string printed = ir::printing::region(printed_, region);
  return f_[region.buffer].name + printed.substr(std::min(printed.find('['), printed.size()));
}

std::string CallText::scalar(ir::ExprId scalar) const {
  return scalar.index < source_exprs_ ? ir::printing::expr(printed_, scalar)
                                      : ir::print(f_, scalar);
}

std::string CallText::whole(const ir::TileCall& tile) const {
  std::string args;
  const auto& params = ir::params_of(tile.op);
  for (std::size_t i = 0; i < tile.args.size(); ++i) {
    const auto* region = std::get_if<ir::Region>(&tile.args[i]);
    const auto* scalar = std::get_if<ir::ExprId>(&tile.args[i]);
    // Factors of a product go without saying.
    if (params[i].kind == ir::TileParamKind::Float) scalar = nullptr;
    if (region == nullptr && scalar == nullptr) continue;
    args += args.empty() ? "" : ", ";
    args += region != nullptr ? this->region(*region) : this->scalar(*scalar);
  }
  // Results are approximate then: readers of the PTX should know.
  if (ir::is_true(ir::find_setting(tile, "fast"))) args += ", fast=True";
  return fmt::format("{}({})", ir::tile_name(tile), args);
}

CallReport CallText::describe(const Call& call) const {
  CallReport row;
  row.span = call.span;
  row.name = ir::tile_name(call.tile);
  row.op = ir::name_of(call.tile.op);
  row.scope = ir::name_of(call.tile.scope);
  row.threads = ir::to_text(call.active, call.context.launch);
  const auto& params = ir::params_of(call.tile.op);
  for (std::size_t i = 0; i < call.tile.args.size(); ++i) {
    const auto* region = std::get_if<ir::Region>(&call.tile.args[i]);
    if (region == nullptr) continue;
    const ir::Buffer& buffer = f_[region->buffer];
    const auto layout = ir::layout_of(f_, buffer);
    row.operands.push_back({.role = std::string(params[i].name),
                            .region = this->region(*region),
                            .dtype = std::string(num::name_of(buffer.dtype)),
                            .scope = std::string(ir::name_of(buffer.scope)),
                            .layout = layout ? layout::to_text(*layout) : ""});
  }
  return row;
}

namespace {

// What TVM's variants of these names do.
std::string_view variant_elsewhere(std::string_view name) {
  struct Row {
    std::string_view name, reason;
  };
  static constexpr Row kRows[] = {
      {"tcgen05", "`tcgen05.mma` is not lowered"},
      {"shared", "reductions in shared memory are not lowered"},
      {"sm100_packed", "sums in pairs are not lowered"},
  };
  for (const Row& row : kRows)
    if (row.name == name) return row.reason;
  return {};
}

Diag unknown_variant(const Call& call) {
  std::vector<std::string_view> names;
  for (const Variant* each : variants_of(call.tile.op)) names.push_back(each->name);
  const std::string_view elsewhere = variant_elsewhere(call.tile.dispatch);
  Diag out = diag(DiagKind::NoVariant, "`{}` has no variant `{}`{}", ir::name_of(call.tile.op),
                  call.tile.dispatch,
                  elsewhere.empty() ? did_you_mean(call.tile.dispatch, names)
                                    : fmt::format(": {}", elsewhere))
                 .with_span(call.span);
  out.notes.push_back(
      {names.empty() ? std::string("it has none") : fmt::format("there are {}", join(names, ", ")),
       {}});
  return out;
}

}  // namespace

Diag no_variant(const Call& call, const CallReport& row) {
  const std::string_view op = ir::name_of(call.tile.op);
  if (row.verdicts.empty()) return unknown_variant(call);
  Diag out = diag(DiagKind::NoVariant, "no variant of `{}` accepts this call for `{}`", op,
                  target::info(call.context.target.arch).name)
                 .with_span(call.span);
  for (const Verdict& verdict : row.verdicts)
    out.notes.push_back(
        {fmt::format("{}: {} [declined: {}]", verdict.variant, verdict.reason, verdict.rule), {}});
  return out;
}

}  // namespace ww::lower
