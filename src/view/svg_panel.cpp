// SPDX-License-Identifier: Apache-2.0
#include "view/svg_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace ww::view {
namespace {

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

}  // namespace

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

}  // namespace ww::view
