// SPDX-License-Identifier: Apache-2.0
#include "view/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "view/grid.h"
#include "view/label_plan.h"
#include "view/labels.h"
#include "view/paint.h"
#include "view/summary.h"
#include "view/svg_legend.h"
#include "view/svg_panel.h"
#include "view/svg_writer.h"

namespace ww::view {
namespace {

constexpr double kBorder = 18;       // around everything
constexpr double kGridWidth = 1120;  // what the cells of one row of panels may take
constexpr double kGridHeight = 1500;
constexpr double kLargestCell = 46;
constexpr double kLargestPanelCell = 30;  // when there are several panels
constexpr double kMinCellSize = 3;
constexpr double kPanelGap = 26;  // between panels, and between panels and legend
constexpr double kLeastTextWidth = 420;
constexpr double kFactFont = 11.5;
constexpr std::int64_t kWrap = 32;  // a one-dimensional layout's row, for up to 2·32² elements

Result<void> check_bounds(const LayoutView& view, const Grid& grid) {
  if (view.size() > kMaxSvgElements) {
    return fail(DiagKind::TooLarge, "{} elements; a picture holds at most {} (256×256)",
                view.size(), kMaxSvgElements);
  }
  if (grid.rows > kMaxSvgSide || grid.cols > kMaxSvgSide) {
    return fail(DiagKind::TooLarge,
                "a grid of {}×{} cells; a picture is at most {} cells wide and high", grid.rows,
                grid.cols, kMaxSvgSide);
  }
  if (grid.slabs > kMaxSvgPanels) {
    return fail(DiagKind::TooLarge, "{} panels of {}×{} cells; a picture holds at most {} panels",
                grid.slabs, grid.rows, grid.cols, kMaxSvgPanels);
  }
  return {};
}

std::int64_t wrap_after(std::int64_t size) {
  std::int64_t cols = kWrap;
  while (2 * cols * cols < size) cols *= 2;
  return cols;
}

double cell_size(const Grid& grid) {
  const double most = grid.slabs > 1 ? kLargestPanelCell : kLargestCell;
  const double fitting = std::floor(std::min(kGridWidth / static_cast<double>(grid.cols),
                                             kGridHeight / static_cast<double>(grid.rows)));
  return std::clamp(fitting, kMinCellSize, most);
}

// ---- text

/// Cuts a text into lines of at most `limit` characters, after a blank or a comma where there is
/// one.
std::vector<std::string> wrap_text(std::string_view text, std::size_t limit) {
  std::vector<std::string> lines;
  while (count_characters(text) > limit) {
    const std::size_t at = text.find_last_of(" ,", limit - 1);
    std::size_t end = at == std::string_view::npos || at == 0 ? limit : at + 1;
    while (is_continuation_byte(text[end])) --end;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  lines.emplace_back(text);
  return lines;
}

std::size_t characters_in(double width, double font) {
  return static_cast<std::size_t>(std::max(8.0, width / (font * kCharWidth)));
}

struct Block {
  TextStyle style;
  std::vector<std::string> lines;
  [[nodiscard]] double height() const {
    return static_cast<double>(lines.size()) * style.size * 1.35;
  }
};

/// The notation: as large as fits on one line, else small and wrapped.
Block title_block(const LayoutView& view, double width) {
  for (const double font : std::array{15.0, 13.0, 12.0}) {
    const std::size_t limit = characters_in(width, font);
    if (count_characters(view.text()) <= limit) {
      return {{.size = font, .font = Font::Mono, .is_bold = true}, {view.text()}};
    }
  }
  return {{.size = 12, .font = Font::Mono, .is_bold = true},
          wrap_text(view.text(), characters_in(width, 12))};
}

Block facts_block(const LayoutView& view, double width) {
  Block block{{.size = kFactFont, .fill = kFaintInk}, {}};
  for (const std::string& sentence :
       {size_sentence(view), image_sentence(view), replica_sentence(view)}) {
    if (sentence.empty()) continue;
    for (std::string& line : wrap_text(sentence, characters_in(width, kFactFont))) {
      block.lines.push_back(std::move(line));
    }
  }
  return block;
}

std::string ordinal(std::int64_t n) { return fmt::format("{}{}", n, n == 2 ? "nd" : "th"); }

/// What the cells say and, when they cannot all say it, which do.
std::string cells_sentence(const LayoutView& view, const PanelStyle& style) {
  const LabelPlan& plan = style.plan;
  if (plan.parts.empty()) return "Cells are too small for labels.";
  Labels written = style.labels;
  written.parts.clear();
  for (const std::size_t part : plan.parts) written.parts.push_back(style.labels.parts[part]);
  std::string sentence = fmt::format("Cells: {}", labels_key(written, view));
  if (plan.every_col > 1) sentence += fmt::format(", in every {} column", ordinal(plan.every_col));
  if (plan.every_row > 1) sentence += fmt::format(" of every {} row", ordinal(plan.every_row));
  return sentence + ".";
}

Block notes_block(const LayoutView& view, const PanelStyle& style, const Legend& legend,
                  double width) {
  Block block{{.size = kFactFont, .fill = kFaintInk}, {}};
  std::string note = cells_sentence(view, style);
  if (!style.grid.note.empty()) note.replace(note.size() - 1, 1, "; " + style.grid.note + ".");
  if (!legend.region_note.empty()) note += " " + legend.region_note;
  if (view.copies() > 1)
    note += fmt::format(" ×{}: held that often; the first place is shown.", view.copies());
  block.lines = wrap_text(note, characters_in(width, kFactFont));
  return block;
}

void draw_block(SvgWriter& out, const Block& block, double x, double y) {
  out.open_text(block.style);
  for (const std::string& line : block.lines) {
    y += block.style.size * 1.35;
    out.text(x, y - block.style.size * 0.35, line);
  }
  out.close();
}

// ---- page

struct Drawing {
  Margins margins;
  Size panel;  // one panel with its margins
  std::int64_t per_row = 1;
  Size panels;  // all of them
  bool is_legend_below = false;
  Size legend;
  double width = 0;  // of the content, without the border
};

Drawing lay_out(const PanelStyle& style, const Legend& legend) {
  Drawing page;
  page.margins = panel_margins(style);
  const Margins& margins = page.margins;
  page.panel = {margins.left + margins.right + style.cell * static_cast<double>(style.grid.cols),
                margins.top + margins.bottom + style.cell * static_cast<double>(style.grid.rows)};
  const double fitting = std::floor((kGridWidth + kPanelGap) / (page.panel.width + kPanelGap));
  page.per_row = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, style.grid.slabs);
  const std::int64_t lines = (style.grid.slabs + page.per_row - 1) / page.per_row;
  page.panels = {static_cast<double>(page.per_row) * (page.panel.width + kPanelGap) - kPanelGap,
                 static_cast<double>(lines) * (page.panel.height + kPanelGap) - kPanelGap};
  const Size beside = legend_size(legend, false);
  page.is_legend_below = page.panels.width + kPanelGap + beside.width > kGridWidth ||
                         beside.height > page.panels.height;
  page.legend = legend_size(legend, page.is_legend_below);
  page.width = page.is_legend_below ? std::max(page.panels.width, page.legend.width)
                                    : page.panels.width + kPanelGap + page.legend.width;
  page.width = std::max(page.width, kLeastTextWidth);
  return page;
}

void draw_panels(SvgWriter& out, const PanelStyle& style, const Drawing& page, double y) {
  for (std::int64_t slab = 0; slab < style.grid.slabs; ++slab) {
    const std::lldiv_t place = std::lldiv(slab, page.per_row);
    const auto column = static_cast<double>(place.rem);
    const auto line = static_cast<double>(place.quot);
    draw_panel(out, style, slab,
               kBorder + page.margins.left + column * (page.panel.width + kPanelGap),
               y + page.margins.top + line * (page.panel.height + kPanelGap));
  }
}

/// Title, facts, panels, legend and notes from top to bottom.
std::string draw_page(const LayoutView& view, const PanelStyle& style, const Legend& legend) {
  const Drawing page = lay_out(style, legend);
  SvgWriter out;
  double y = kBorder;
  const Block title = title_block(view, page.width);
  draw_block(out, title, kBorder, y);
  y += title.height() + 2;
  const Block facts = facts_block(view, page.width);
  draw_block(out, facts, kBorder, y);
  y += facts.height() + 12;
  draw_panels(out, style, page, y);
  const double panels_top = y;
  y += page.panels.height + 12;
  if (page.is_legend_below) {
    draw_legend(out, legend, true, kBorder, y);
    y += page.legend.height + 8;
  } else {
    draw_legend(out, legend, false, kBorder + page.panels.width + kPanelGap, panels_top - 3);
  }
  const Block notes = notes_block(view, style, legend, page.width);
  draw_block(out, notes, kBorder, y);
  y += notes.height();
  return std::move(out).finish(page.width + 2 * kBorder, y + kBorder, view.text());
}

}  // namespace

Result<std::string> to_svg(const LayoutView& view, const std::optional<Grid>& given) {
  const Grid grid = given ? *given : make_grid(view.shape(), wrap_after(view.size()));
  WW_TRY_VOID(check_bounds(view, grid));
  const Paint paint(view);
  PanelStyle style{
      .view = &view, .paint = &paint, .grid = grid, .labels = labels_of(view), .plan = {}};
  style.cell = cell_size(grid);
  style.plan = plan_labels(view, style.labels, style.cell);
  return draw_page(view, style, paint.legend());
}

}  // namespace ww::view
