// SPDX-License-Identifier: Apache-2.0
// Prints layouts in the notation of text.h.
#include <string>

#include "base/append.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

void append_list(std::string& out, std::string_view name, const Iters& iters) {
  append(out, "{}[", name);
  const bool many = iters.size() > 1;
  const auto list = [&](auto&& item) {
    if (many) out += '(';
    for (std::size_t i = 0; i < iters.size(); ++i) {
      if (i > 0) out += ',';
      out += item(iters[i]);
    }
    if (many) out += ')';
  };
  if (!iters.empty()) {
    list([](const Iter& iter) {
      return iter.extent == kUnknownExtent ? std::string("?") : fmt::format("{}", iter.extent);
    });
    out += ':';
    list([](const Iter& iter) { return place_text(iter.stride, iter.axis); });
  }
  out += ']';
}

void append_offset(std::string& out, Axis axis, const Expr& amount) {
  const std::string suffix = axis == Axis() ? std::string() : fmt::format("@{}", axis.name());
  if (!amount.is_constant()) {
    append(out, " + ({}){}", amount.text(), suffix);
    return;
  }
  const std::int64_t value = amount.constant();
  append(out, " {} {}{}", value < 0 ? '-' : '+', value < 0 ? -value : value, suffix);
}

}  // namespace

std::string place_text(std::int64_t value, Axis axis) {
  return axis == Axis() ? fmt::format("{}", value) : fmt::format("{}@{}", value, axis.name());
}

std::string to_text(const TileLayout& layout) {
  std::string out;
  append_list(out, "S", layout.shard());
  if (!layout.replica().empty()) {
    out += " + ";
    append_list(out, "R", layout.replica());
  }
  for (const Axis axis : layout.offset().axes()) append_offset(out, axis, layout.offset().on(axis));
  return out;
}

std::string to_text(const Layout& layout) {
  if (!layout.is_swizzled()) return to_text(layout.tile());
  const Swizzle& s = layout.swizzle();
  return fmt::format("ComposeLayout({}, {}, {}, {}{})", s.per_element(), s.len(), s.atom(),
                     to_text(layout.tile()), s.inner() ? "" : ", swizzle_inner=False");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    out += shape[i] == kUnknownExtent ? "?" : fmt::format("{}", shape[i]);
  }
  return out + ")";
}

}  // namespace ww::layout
