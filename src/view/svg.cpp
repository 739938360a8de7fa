// SPDX-License-Identifier: Apache-2.0
#include "view/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/layout_view.h"
#include "view/paint.h"
#include "view/svg_writer.h"
#include "view/table.h"

namespace ww::view {

// --- svg panel -----------------------------------------------------------------------------------
//
// One grid of a picture: coloured cells with labels, index ticks on two sides, thick lines between
// regions and, where regions are bands of rows or columns, their names along the edge.

namespace {

/// What all panels of a picture share. View and paint must outlive it.
struct PanelStyle {
  const LayoutView* view = nullptr;
  const Paint* paint = nullptr;
  Grid grid;
  Labels labels;
  LabelPlan plan = {};
  double cell = 16;
};

/// Room around the cells of a panel, in pixels.
struct Margins {
  double left = 0, top = 0, right = 0, bottom = 0;
};

constexpr double kTickFont = 10;
constexpr double kBandFont = 11;
constexpr double kTitleHeight = 18;  // above a slab
constexpr double kBaseline = 0.36;   // from the middle of a line of digits down to its foot
constexpr double kRegionLine = 1.8;
constexpr double kMarkFont = 7;
constexpr double kMarkCell = 30;     // smallest cell that has room for the replica mark
constexpr double kOutlinedCell = 7;  // smaller cells stand without gaps between them
constexpr std::int64_t kMaxBands = 16;
constexpr std::size_t kMaxNames = 4;  // regions named beside one row

struct Cell {
  PlaceValues place;
  Rgb colour;
  std::string region;
};

/// A panel being drawn: where its cells start, and what is in them.
struct Panel {
  const PanelStyle& style;
  double x0, y0;
  std::vector<std::optional<Cell>> cells;

  [[nodiscard]] const std::optional<Cell>& at(std::int64_t row, std::int64_t col) const {
    return cells[static_cast<std::size_t>(row * style.grid.cols + col)];
  }
  [[nodiscard]] double x(std::int64_t col) const {
    return x0 + style.cell * static_cast<double>(col);
  }
  [[nodiscard]] double y(std::int64_t row) const {
    return y0 + style.cell * static_cast<double>(row);
  }
  [[nodiscard]] std::string region(std::int64_t row, std::int64_t col) const {
    const bool is_inside = row >= 0 && row < style.grid.rows && col >= 0 && col < style.grid.cols;
    return is_inside && at(row, col) ? at(row, col)->region : "";
  }
};

std::optional<Cell> make_cell(const PanelStyle& style, std::optional<std::int64_t> flat) {
  if (!flat) return std::nullopt;
  PlaceValues place = style.view->first_place(*flat);
  const Rgb colour = style.paint->colour(place);
  std::string region = style.paint->region(place);
  return Cell{std::move(place), colour, std::move(region)};
}

std::vector<std::optional<Cell>> make_cells(const PanelStyle& style, std::int64_t slab) {
  std::vector<std::optional<Cell>> cells;
  for (std::int64_t row = 0; row < style.grid.rows; ++row) {
    for (std::int64_t col = 0; col < style.grid.cols; ++col) {
      cells.push_back(make_cell(style, style.grid.element(slab, row, col)));
    }
  }
  return cells;
}

/// Calls fn(row, col, cell) for every cell that holds an element.
template <typename Fn>
void for_each_cell(const Panel& panel, const Fn& fn) {
  for (std::int64_t row = 0; row < panel.style.grid.rows; ++row) {
    for (std::int64_t col = 0; col < panel.style.grid.cols; ++col) {
      if (const auto& cell = panel.at(row, col)) fn(row, col, *cell);
    }
  }
}

void draw_cells(SvgWriter& out, const Panel& panel) {
  const double cell_size = panel.style.cell;
  out.open_cells(cell_size < kOutlinedCell ? 0 : std::min(1.0, cell_size / 20));
  for_each_cell(panel, [&](std::int64_t row, std::int64_t col, const Cell& cell) {
    out.rect(panel.x(col), panel.y(row), cell_size, cell_size, cell.colour);
  });
  out.close();
}

// ---- labels

/// Lines are centred in their cell; a label that stands for several rows hangs from the top of its
/// own.
double first_baseline(const Panel& panel, std::int64_t row, std::size_t lines) {
  const LabelPlan& plan = panel.style.plan;
  if (plan.every_row > 1) return panel.y(row) + plan.font;
  const double rest = plan.font * kLineHeight * static_cast<double>(lines - 1);
  return panel.y(row) + (panel.style.cell - rest) / 2 + plan.font * kBaseline;
}

void draw_label(SvgWriter& out, const Panel& panel, std::int64_t row, std::int64_t col,
                const Cell& cell) {
  const PanelStyle& style = panel.style;
  const auto lines = label_lines(style.labels, style.plan, cell.place);
  const double step = style.plan.font * kLineHeight;
  const double x = panel.x(col) + (style.plan.every_col > 1 ? 1.5 : style.cell / 2);
  double y = first_baseline(panel, row, lines.size());
  for (const std::string& line : lines) {
    out.text(x, y, line, label_colour(cell.colour));
    y += step;
  }
}

void draw_labels(SvgWriter& out, const Panel& panel) {
  const LabelPlan& plan = panel.style.plan;
  if (plan.parts.empty()) return;
  const Anchor anchor = plan.every_col > 1 ? Anchor::Start : Anchor::Middle;
  out.open_text({.size = plan.font, .anchor = anchor});
  for_each_cell(panel, [&](std::int64_t row, std::int64_t col, const Cell& cell) {
    if (row % plan.every_row == 0 && col % plan.every_col == 0)
      draw_label(out, panel, row, col, cell);
  });
  out.close();
}

/// The mark stands in the upper right corner, beside the first line of the label.
bool has_mark_room(const PanelStyle& style) {
  if (style.plan.parts.empty() || style.cell < kMarkCell) return false;
  const std::size_t first = longest_parts(style.labels, *style.view)[style.plan.parts.front()];
  const double mark = kMarkFont * kCharWidth *
                      static_cast<double>(fmt::formatted_size("x{}", style.view->copies()));
  const double label = style.plan.font * kCharWidth * static_cast<double>(first);
  return style.plan.parts.size() < 3 || label / 2 + mark + 2 <= style.cell / 2;
}

void draw_replica_marks(SvgWriter& out, const Panel& panel) {
  const PanelStyle& style = panel.style;
  if (style.view->copies() <= 1 || !has_mark_room(style)) return;
  const std::string mark = fmt::format("×{}", style.view->copies());
  out.open_text({.size = kMarkFont, .anchor = Anchor::End});
  for_each_cell(panel, [&](std::int64_t row, std::int64_t col, const Cell& cell) {
    out.text(panel.x(col + 1) - 2, panel.y(row) + 8, mark, label_colour(cell.colour));
  });
  out.close();
}

// ---- ticks

double tick_width(const Grid& grid) {
  const auto digits = static_cast<double>(grid.row_name(grid.rows - 1).size());
  return digits * kTickFont * kCharWidth;
}

void draw_row_ticks(SvgWriter& out, const Panel& panel) {
  const Grid& grid = panel.style.grid;
  const std::int64_t step = thin_to(panel.style.cell, kTickFont * kLineHeight);
  out.open_text({.size = kTickFont, .anchor = Anchor::End, .fill = kFaintInk});
  for (std::int64_t row = 0; row < grid.rows; row += step) {
    out.text(panel.x0 - 5, panel.y(row) + panel.style.cell / 2 + kTickFont * kBaseline,
             grid.row_name(row));
  }
  out.close();
}

void draw_col_ticks(SvgWriter& out, const Panel& panel) {
  const Grid& grid = panel.style.grid;
  const auto digits = static_cast<double>(grid.col_name(grid.cols - 1).size());
  const std::int64_t step = thin_to(panel.style.cell, kTickFont * kCharWidth * (digits + 0.6));
  out.open_text({.size = kTickFont, .anchor = Anchor::Middle, .fill = kFaintInk});
  for (std::int64_t col = 0; col < grid.cols; col += step) {
    out.text(panel.x(col) + panel.style.cell / 2, panel.y0 - 5, grid.col_name(col));
  }
  out.close();
}

// ---- regions

/// Runs of equal flags: calls fn(first, count) for each run of true.
template <typename Flag, typename Fn>
void for_each_run(std::int64_t total, const Flag& flag, const Fn& fn) {
  std::int64_t first = 0;
  for (std::int64_t i = 0; i <= total; ++i) {
    if (i < total && flag(i)) continue;
    if (i > first) fn(first, i - first);
    first = i + 1;
  }
}

/// The edges between cells of different regions, the outer edge included, as path data.
std::string region_edges(const Panel& panel) {
  const Grid& grid = panel.style.grid;
  std::string path;
  for (std::int64_t row = 0; row <= grid.rows; ++row) {
    for_each_run(
        grid.cols,
        [&](std::int64_t col) { return panel.region(row - 1, col) != panel.region(row, col); },
        [&](std::int64_t col, std::int64_t count) {
          path += fmt::format("M{} {}h{}", svg_number(panel.x(col)), svg_number(panel.y(row)),
                              svg_number(panel.style.cell * static_cast<double>(count)));
        });
  }
  for (std::int64_t col = 0; col <= grid.cols; ++col) {
    for_each_run(
        grid.rows,
        [&](std::int64_t row) { return panel.region(row, col - 1) != panel.region(row, col); },
        [&](std::int64_t row, std::int64_t count) {
          path += fmt::format("M{} {}v{}", svg_number(panel.x(col)), svg_number(panel.y(row)),
                              svg_number(panel.style.cell * static_cast<double>(count)));
        });
  }
  return path;
}

/// Neighbouring lines (rows or columns) that cross the same regions, in the order they are met.
struct Band {
  std::vector<std::string> names;
  std::int64_t first = 0, count = 0;
};

using RegionAt = std::function<std::string(std::int64_t position)>;

/// The regions along one line; a name that comes again after another is met twice.
std::vector<std::string> names_along(std::int64_t length, const RegionAt& region) {
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < length; ++k) {
    std::string name = region(k);
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(std::move(name));
  }
  return names;
}

/// All lines as bands; nothing when a line crosses more than `max_names` regions, when there are
/// too many bands to name, or no regions at all.
template <typename RegionOfCell>
std::vector<Band> bands_of(std::int64_t lines, std::int64_t length, std::size_t max_names,
                           const RegionOfCell& region) {
  std::vector<Band> bands;
  for (std::int64_t line = 0; line < lines; ++line) {
    auto names = names_along(length, [&](std::int64_t k) { return region(line, k); });
    if (names.size() > max_names) return {};
    if (bands.empty() || bands.back().names != names) bands.push_back({std::move(names), line, 0});
    ++bands.back().count;
    if (std::ssize(bands) > kMaxBands) return {};
  }
  std::erase_if(bands, [](const Band& band) { return band.names.empty(); });  // no region, or holes
  return bands;
}

struct Bands {
  std::vector<Band> rows, cols;  // at most one of them is not empty
};

bool has_room(const Band& band, double cell) {
  return static_cast<double>(band.names.size()) * kBandFont * kLineHeight <=
         cell * static_cast<double>(band.count);
}

/// Regions are named at the right edge, or at the bottom where only columns lie in one region each;
/// a tiling in both directions is named at the right, row by row.
Bands bands_of(const PanelStyle& style, std::int64_t slab) {
  const Grid& grid = style.grid;
  if (grid.is_wrapped) return {};
  const auto at = [&](std::int64_t row, std::int64_t col) {
    const auto flat = grid.element(slab, row, col);
    return flat ? style.paint->region(style.view->first_place(*flat)) : "";
  };
  const auto transposed = [&](std::int64_t col, std::int64_t row) { return at(row, col); };
  Bands bands;
  bands.rows = bands_of(grid.rows, grid.cols, 1, at);
  if (bands.rows.empty()) bands.cols = bands_of(grid.cols, grid.rows, 1, transposed);
  if (bands.cols.empty() && bands.rows.empty()) {
    bands.rows = bands_of(grid.rows, grid.cols, kMaxNames, at);
  }
  const auto fits = [&](const Band& band) { return has_room(band, style.cell); };
  if (!std::ranges::all_of(bands.rows, fits)) bands.rows.clear();
  return bands;
}

double widest_name(const std::vector<Band>& bands) {
  std::size_t longest = 0;
  for (const Band& band : bands) {
    for (const std::string& name : band.names) longest = std::max(longest, name.size());
  }
  return static_cast<double>(longest + 2) * kBandFont * kCharWidth;
}

void draw_row_bands(SvgWriter& out, const Panel& panel, const std::vector<Band>& bands) {
  const double x = panel.x(panel.style.grid.cols) + 7;
  for (const Band& band : bands) {
    out.path(fmt::format("M{0} {1}h4v{2}h-4", svg_number(x), svg_number(panel.y(band.first) + 2),
                         svg_number(panel.style.cell * static_cast<double>(band.count) - 4)),
             kFaintInk, 1);
  }
  out.open_text({.size = kBandFont});
  for (const Band& band : bands) {
    const double step = kBandFont * kLineHeight;
    double y = (panel.y(band.first) + panel.y(band.first + band.count)) / 2 +
               kBandFont * kBaseline - step * static_cast<double>(band.names.size() - 1) / 2;
    for (std::size_t i = 0; i < band.names.size(); ++i) {
      const bool is_last = i + 1 == band.names.size();
      out.text(x + 10, y, is_last ? band.names[i] : band.names[i] + " →");  // regions side by side
      y += step;
    }
  }
  out.close();
}

void draw_col_bands(SvgWriter& out, const Panel& panel, const std::vector<Band>& bands) {
  const double y = panel.y(panel.style.grid.rows) + 7;
  for (const Band& band : bands) {
    out.path(fmt::format("M{0} {1}v4h{2}v-4", svg_number(panel.x(band.first) + 2), svg_number(y),
                         svg_number(panel.style.cell * static_cast<double>(band.count) - 4)),
             kFaintInk, 1);
  }
  out.open_text({.size = kBandFont, .anchor = Anchor::Middle});
  for (const Band& band : bands) {
    out.text((panel.x(band.first) + panel.x(band.first + band.count)) / 2, y + 17,
             band.names.front());
  }
  out.close();
}

void draw_regions(SvgWriter& out, const Panel& panel, std::int64_t slab) {
  const std::string edges = region_edges(panel);
  if (edges.empty()) return;
  out.path(edges, kInk, panel.style.cell < kOutlinedCell ? 1 : kRegionLine);
  const Bands bands = bands_of(panel.style, slab);
  if (!bands.rows.empty()) draw_row_bands(out, panel, bands.rows);
  if (!bands.cols.empty()) draw_col_bands(out, panel, bands.cols);
}

void draw_slab_name(SvgWriter& out, const Panel& panel, std::int64_t slab) {
  const std::string name = panel.style.grid.slab_name(slab);
  if (name.empty()) return;
  out.open_text({.size = 12, .font = Font::Mono});
  out.text(panel.x0, panel.y0 - kTickFont - 11, name);
  out.close();
}

// Enough room for the ticks and band names of every slab.
Margins panel_margins(const PanelStyle& style) {
  Margins margins;
  margins.left = tick_width(style.grid) + 8;
  margins.top = kTickFont + 7 + (style.grid.slab_shape.empty() ? 0 : kTitleHeight);
  for (std::int64_t slab = 0; slab < style.grid.slabs; ++slab) {
    const Bands bands = bands_of(style, slab);
    if (!bands.rows.empty()) margins.right = std::max(margins.right, widest_name(bands.rows) + 20);
    if (!bands.cols.empty()) margins.bottom = 28;
  }
  return margins;
}

// Draws slab number `slab` with the upper left corner of its cells at (x, y).
void draw_panel(SvgWriter& out, const PanelStyle& style, std::int64_t slab, double x, double y) {
  const Panel panel{style, x, y, make_cells(style, slab)};
  draw_slab_name(out, panel, slab);
  draw_col_ticks(out, panel);
  draw_row_ticks(out, panel);
  draw_cells(out, panel);
  draw_labels(out, panel);
  draw_replica_marks(out, panel);
  draw_regions(out, panel, slab);
}

}  // namespace

// --- svg legend ----------------------------------------------------------------------------------
//
// The legend of a picture: swatches with their values. Beside the grid, rows stand under each
// other; below a wide grid, rows without names follow each other in a strip.

namespace {

struct Size {
  double width = 0, height = 0;
};

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

// The room a legend takes, beside or below the grid.
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

// Draws it with its upper left corner at (x, y).
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
