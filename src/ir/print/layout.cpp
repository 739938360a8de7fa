// SPDX-License-Identifier: Apache-2.0
// Layouts as Python text; layout/text.h has the same parts in the notation of the command line.
#include <fmt/format.h>

#include "ir/print/printer.h"

namespace ww::ir::printing {
namespace {

using layout::Axis;

std::string axis_text(Axis axis) {
  if (Axis::builtin(axis.name())) return std::string(axis.name());
  return fmt::format("Axis.get({})", quoted(axis.name()));
}

std::string on_axis(const std::string& amount, Axis axis) {
  return axis == Axis() ? amount : fmt::format("{} @ {}", amount, axis_text(axis));
}

template <typename Item>
std::string tuple_of(const layout::Iters& iters, Item item) {
  std::string out;
  for (const layout::Iter& iter : iters) {
    if (!out.empty()) out += ", ";
    out += item(iter);
  }
  return iters.size() == 1 ? out : fmt::format("({})", out);
}

std::string iters_text(std::string_view name, const layout::Iters& iters) {
  const std::string extents =
      tuple_of(iters, [](const layout::Iter& iter) { return fmt::format("{}", iter.extent); });
  if (iters.empty()) return fmt::format("{}[{}]", name, extents);
  const std::string strides = tuple_of(iters, [](const layout::Iter& iter) {
    return on_axis(fmt::format("{}", iter.stride), iter.axis);
  });
  return fmt::format("{}[{} : {}]", name, extents, strides);
}

std::string atom_text(const layout::Atom& atom) {
  std::string out(atom.var.name());
  if (atom.div != 1) out += fmt::format(" // {}", atom.div);
  if (atom.mod != 0) out += fmt::format(" % {}", atom.mod);
  return atom.div == 1 && atom.mod == 0 ? out : fmt::format("({})", out);
}

std::string sum_text(const layout::Expr& sum) {
  std::string out;
  for (const layout::Term& term : sum.terms()) {
    if (!out.empty()) out += " + ";
    if (term.coef != 1) out += fmt::format("{} * ", term.coef);
    out += atom_text(term.atom);
  }
  if (sum.constant() != 0) out += fmt::format(" + {}", sum.constant());
  return out;
}

std::string tile_text(const layout::TileLayout& tile) {
  std::string out = iters_text("S", tile.shard());
  if (!tile.replica().empty()) out += " + " + iters_text("R", tile.replica());
  for (const Axis axis : tile.offset().axes()) {
    const layout::Expr amount = tile.offset().on(axis);
    out += amount.is_constant()
               ? fmt::format(" + {}", on_axis(fmt::format("{}", amount.constant()), axis))
               : fmt::format(" + ({}) @ {}", sum_text(amount), axis_text(axis));
  }
  return fmt::format("TileLayout({})", out);
}

}  // namespace

std::string layout_text(const layout::Layout& layout) {
  const std::string tile = tile_text(layout.tile());
  if (!layout.is_swizzled()) return tile;
  const layout::Swizzle& s = layout.swizzle();
  return fmt::format("ComposeLayout({}, {}, {}, {}{})", s.per_element(), s.len(), s.atom(), tile,
                     s.inner() ? "" : ", swizzle_inner=False");
}

}  // namespace ww::ir::printing
