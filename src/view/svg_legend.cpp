// SPDX-License-Identifier: Apache-2.0
#include "view/svg_legend.h"

#include <algorithm>
#include <cstddef>

#include "view/label_plan.h"

namespace ww::view {
namespace {

constexpr double kNameFont = 11.5;
constexpr double kSwatchWidth = 26;
constexpr double kSwatchHeight = 18;
constexpr double kStripGap = 5;  // between quads in a strip
constexpr double kLegendTitle = 20;

bool is_strip(const Legend& legend, bool is_below) {
  return is_below && !legend.rows.empty() && legend.rows.front().name.empty();
}

double row_name_width(const Legend& legend) {
  std::size_t longest = 0;
  for (const LegendRow& row : legend.rows) longest = std::max(longest, count_characters(row.name));
  return longest == 0 ? 0 : static_cast<double>(longest) * kNameFont * kCharWidth + 8;
}

double row_width(const LegendRow& row) {
  return static_cast<double>(row.swatches.size()) * kSwatchWidth;
}

void draw_swatches(SvgWriter& out, const LegendRow& row, double x, double y) {
  out.open_cells(1);
  for (std::size_t i = 0; i < row.swatches.size(); ++i) {
    out.rect(x + kSwatchWidth * static_cast<double>(i), y, kSwatchWidth, kSwatchHeight,
             row.swatches[i].colour);
  }
  out.close();
  out.open_text({.size = 10, .anchor = Anchor::Middle});
  for (std::size_t i = 0; i < row.swatches.size(); ++i) {
    out.text(x + kSwatchWidth * (static_cast<double>(i) + 0.5), y + 12.6, row.swatches[i].label,
             label_colour(row.swatches[i].colour));
  }
  out.close();
}

void draw_row_name(SvgWriter& out, const LegendRow& row, double x, double y) {
  if (row.name.empty()) return;
  out.open_text({.size = kNameFont});
  out.text(x, y + 13, row.name);
  out.close();
}

}  // namespace

Size legend_size(const Legend& legend, bool is_below) {
  double widest = 0;
  double total = 0;
  for (const LegendRow& row : legend.rows) {
    widest = std::max(widest, row_width(row));
    total += row_width(row) + kStripGap;
  }
  if (is_strip(legend, is_below)) return {total, kLegendTitle + kSwatchHeight};
  const double title = static_cast<double>(count_characters(legend.title)) * kNameFont * kCharWidth;
  return {std::max(widest + row_name_width(legend), title),
          kLegendTitle + static_cast<double>(legend.rows.size()) * kSwatchHeight};
}

void draw_legend(SvgWriter& out, const Legend& legend, bool is_below, double x, double y) {
  out.open_text({.size = kNameFont, .is_bold = true});
  out.text(x, y + 12, legend.title);
  out.close();
  y += kLegendTitle;
  for (const LegendRow& row : legend.rows) {
    draw_row_name(out, row, x, y);
    draw_swatches(out, row, x + row_name_width(legend), y);
    if (is_strip(legend, is_below)) {
      x += row_width(row) + kStripGap;
    } else {
      y += kSwatchHeight;
    }
  }
}

}  // namespace ww::view
