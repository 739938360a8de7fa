// SPDX-License-Identifier: Apache-2.0
#include "view/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <vector>

#include "base/join.h"
#include "layout/text.h"
#include "view/layout_view.h"
#include "view/paint.h"

namespace ww::view {
namespace {

constexpr std::int64_t kLeftOut = -1;  // stands for the indices left out
constexpr std::string_view kEllipsis = "…";

/// One grid's worth of cell texts.
struct Face {
  std::string title;  // empty for the only face
  std::size_t width = 1;
  std::function<std::string(std::int64_t flat)> cell;
};

struct TablePage {
  Grid grid;
  std::vector<std::int64_t> rows, cols, slabs;  // shown indices, kLeftOut for those left out
  std::int64_t row_count = 0;                   // rows with an element
};

/// 0 … total-1, or the first and last ones with a gap between when more than `limit`.
std::vector<std::int64_t> shown_indices(std::int64_t total, std::int64_t limit) {
  const bool fits = total <= limit;
  const std::int64_t tail = fits ? 0 : limit / 2;
  const std::int64_t head = fits ? total : limit - tail;
  std::vector<std::int64_t> shown(static_cast<std::size_t>(head));
  std::iota(shown.begin(), shown.end(), 0);
  if (fits) return shown;
  shown.push_back(kLeftOut);
  for (std::int64_t i = total - tail; i < total; ++i) shown.push_back(i);
  return shown;
}

std::int64_t left_out(const std::vector<std::int64_t>& shown, std::int64_t total) {
  return total - std::ranges::count_if(shown, [](std::int64_t i) { return i != kLeftOut; });
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t length = text == kEllipsis ? 1 : text.size();  // all else is ASCII
  return std::string(width > length ? width - length : 0, ' ').append(text);
}

// ---- faces

std::string set_text(const Labels& labels, const std::vector<PlaceValues>& places) {
  std::vector<std::string> texts;
  for (const PlaceValues& place : places) texts.push_back(labels.text(place));
  return fmt::format("{{{}}}", join(texts, ","));
}

std::size_t label_width(const LayoutView& view, const Labels& labels) {
  const std::vector<std::size_t> parts = longest_parts(labels, view);
  return std::accumulate(parts.begin(), parts.end(), (parts.size() - 1) * labels.separator.size());
}

Face place_face(const LayoutView& view) {
  Labels labels = labels_of(view);
  const std::size_t width = label_width(view, labels);
  if (replica_steps(view)) {
    return {"", width,
            [&view, labels](std::int64_t flat) { return labels.text(view.first_place(flat)); }};
  }
  const auto copies = static_cast<std::size_t>(view.copies());
  return {"", copies * (width + 1) + 1,
          [&view, labels](std::int64_t flat) { return set_text(labels, view.places(flat)); }};
}

std::string bank_text(const layout::BankPlace& place) {
  return fmt::format("{}:{:02}", place.line, place.bank);
}

Face bank_face(const LayoutView& view) {
  const PlaceValues last{view.axes().empty() ? 0 : view.range(0).max};
  return {fmt::format("line:bank of {}-bit elements{}", view.element_bits(),
                      view.is_element_bits_given() ? "" : " (width assumed)"),
          bank_text(view.bank(last)).size(),
          [&view](std::int64_t flat) { return bank_text(view.bank(view.first_place(flat))); }};
}

std::vector<Face> faces_of(const LayoutView& view) {
  std::vector<Face> faces{place_face(view)};
  if (!view.has_banks()) return faces;
  faces.front().title = "address in elements";
  faces.push_back(bank_face(view));
  return faces;
}

// ---- page

std::size_t row_header_width(const Grid& grid) { return grid.row_name(grid.rows - 1).size(); }

std::size_t column_width(const Grid& grid, const Face& face) {
  return std::max(face.width, grid.col_name(grid.cols - 1).size());
}

std::size_t widest_column(const Grid& grid, const std::vector<Face>& faces) {
  std::size_t widest = 1;
  for (const Face& face : faces) widest = std::max(widest, column_width(grid, face));
  return widest;
}

/// Columns of `cell` characters, each after two blanks, that fit into `room`; two in any case.
std::int64_t fitting_columns(std::int64_t room, std::size_t cell) {
  return std::max<std::int64_t>(2, room / static_cast<std::int64_t>(cell + 2));
}

/// Where to wrap one dimension: not at all if it fits, else after a power of two of elements.
std::int64_t wrap_after(std::int64_t size, std::int64_t fitting) {
  if (size <= fitting) return size;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(fitting)));
}

/// The grid, wrapped to the width if it has one dimension only.
Grid fit_grid(const LayoutView& view, const std::vector<Face>& faces, std::int64_t width) {
  const std::int64_t size = view.size();
  Grid one_row = make_grid(view.shape(), size);
  if (view.shape().size() > 1) return one_row;
  const auto header = static_cast<std::int64_t>(fmt::formatted_size("{}", size));
  const std::size_t cell =
      std::max(widest_column(one_row, faces), fmt::formatted_size("+{}", size));
  return make_grid(view.shape(), wrap_after(size, fitting_columns(width - header, cell)));
}

/// The rows that have an element in some slab.
std::vector<std::int64_t> used_rows(const Grid& grid) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    bool is_used = grid.cells.empty();
    for (std::int64_t col = 0; col < grid.cols && !is_used; ++col)
      is_used = grid.element(0, row, col).has_value();
    if (is_used) rows.push_back(row);
  }
  return rows;
}

/// As many of the rows as may be shown, with gaps where rows are missing between them.
std::vector<std::int64_t> shown_rows(const std::vector<std::int64_t>& used, std::int64_t limit) {
  std::vector<std::int64_t> shown;
  for (const std::int64_t i : shown_indices(std::ssize(used), limit)) {
    const std::int64_t row = i == kLeftOut ? kLeftOut : used[static_cast<std::size_t>(i)];
    const bool is_next = shown.empty() || shown.back() == kLeftOut || row == shown.back() + 1;
    if (row != kLeftOut && !is_next) shown.push_back(kLeftOut);
    shown.push_back(row);
  }
  return shown;
}

TablePage make_page(const LayoutView& view, const std::vector<Face>& faces,
                    const TableOptions& options) {
  TablePage page{.grid = options.grid ? *options.grid : fit_grid(view, faces, options.width),
                 .rows = {},
                 .cols = {},
                 .slabs = {}};
  const std::vector<std::int64_t> used = used_rows(page.grid);
  page.row_count = std::ssize(used);
  const std::size_t cell = widest_column(page.grid, faces);
  const auto room = options.width - static_cast<std::int64_t>(row_header_width(page.grid));
  const std::int64_t fitting = fitting_columns(room, cell);
  constexpr std::int64_t kEllipsisRoom = 3;
  const std::int64_t beside_gap = fitting_columns(room - kEllipsisRoom, cell);
  page.cols = shown_indices(page.grid.cols, page.grid.cols <= fitting ? fitting : beside_gap);
  page.rows = shown_rows(used, std::max<std::int64_t>(2, options.max_rows));
  page.slabs = shown_indices(page.grid.slabs, std::max<std::int64_t>(2, options.max_slabs));
  return page;
}

// ---- writing

using CellText = std::function<std::string(std::int64_t col)>;

void write_line(std::string& out, const TablePage& page, std::string_view heading,
                std::size_t width, const CellText& text_at) {
  std::string line = pad_left(heading, row_header_width(page.grid));
  for (const std::int64_t col : page.cols) {
    const bool is_gap = col == kLeftOut;
    line += "  " + (is_gap ? std::string(kEllipsis) : pad_left(text_at(col), width));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

void write_slab(std::string& out, const TablePage& page, const Face& face, std::int64_t slab) {
  const Grid& grid = page.grid;
  const std::size_t width = column_width(grid, face);
  write_line(out, page, "", width, [&](std::int64_t col) { return grid.col_name(col); });
  for (const std::int64_t row : page.rows) {
    if (row == kLeftOut) {
      out += pad_left(kEllipsis, row_header_width(grid)) + "\n";
      continue;
    }
    write_line(out, page, grid.row_name(row), width, [&](std::int64_t col) {
      const auto flat = grid.element(slab, row, col);
      return flat ? face.cell(*flat) : std::string();
    });
  }
}

void write_face(std::string& out, const TablePage& page, const Face& face) {
  if (!face.title.empty()) out += "\n" + face.title + "\n";
  for (const std::int64_t slab : page.slabs) {
    out += "\n";
    if (slab == kLeftOut) {
      out += std::string(kEllipsis) + "\n";
      continue;
    }
    const std::string name = page.grid.slab_name(slab);
    if (!name.empty()) out += name + "\n";
    write_slab(out, page, face, slab);
  }
}

void write_left_out(std::string& out, const TablePage& page) {
  std::vector<std::string> parts;
  const auto note = [&](std::int64_t missing, std::int64_t total, std::string_view what) {
    if (missing > 0) parts.push_back(fmt::format("{} of {} {}", missing, total, what));
  };
  note(left_out(page.slabs, page.grid.slabs), page.grid.slabs, "slabs");
  note(left_out(page.rows, page.row_count), page.row_count, "rows");
  note(left_out(page.cols, page.grid.cols), page.grid.cols, "columns");
  if (!parts.empty()) out += fmt::format("\nleft out: {}\n", join(parts, ", "));
}

void write_header(std::string& out, const LayoutView& view) {
  out += fmt::format("{}\n{}\n{}\n", view.text(), size_sentence(view), image_sentence(view));
  const std::string replicas = replica_sentence(view);
  if (!replicas.empty()) out += replicas + "\n";
  const bool has_titles = view.has_banks();  // each grid then says itself what it shows
  if (!has_titles) out += fmt::format("cells: {}\n", labels_key(labels_of(view), view));
}

}  // namespace

std::string to_table(const LayoutView& view, const TableOptions& options) {
  const std::vector<Face> faces = faces_of(view);
  const TablePage page = make_page(view, faces, options);
  std::string out;
  write_header(out, view);
  if (!page.grid.note.empty()) out += page.grid.note + "\n";
  for (const Face& face : faces) write_face(out, page, face);
  write_left_out(out, page);
  return out;
}

// --- sentences -----------------------------------------------------------------------------------

namespace {

/// A list of replicas longer than this is cut.
constexpr std::size_t kMaxListed = 8;

std::string extent_text(const layout::AxisExtent& extent) {
  const std::string name(extent.axis.name());
  if (extent.min == extent.max) return fmt::format("{} {}", name, extent.min);
  const std::string range = fmt::format("{} {}..{}", name, extent.min, extent.max);
  const bool is_dense = extent.distinct == extent.max - extent.min + 1;
  return is_dense ? range : fmt::format("{} ({} values)", range, extent.distinct);
}

std::string place_of(const layout::Place& place) {
  std::vector<std::string> values;
  for (const auto& [axis, value] : place)
    values.push_back(fmt::format("{} {}", axis.name(), value));
  return join(values, ", ");
}

std::string injective_text(const LayoutView& view) {
  const auto& collision = view.facts().collision;
  if (view.facts().is_injective || !collision) return "injective";
  return fmt::format("not injective: {} and {} share {}", coordinate_text(view, collision->first),
                     coordinate_text(view, collision->second), place_of(collision->place));
}

std::string coverage_text(const layout::ImageFacts& facts) {
  if (facts.places == 1) return "one place";
  if (facts.is_onto_box) return fmt::format("{} places fill their box", facts.places);
  if (facts.box >= layout::kMaxPlace) return fmt::format("{} places in a vast box", facts.places);
  const double percent = 100.0 * static_cast<double>(facts.places) / static_cast<double>(facts.box);
  return fmt::format("{} of {} places in their box ({:.1f} %)", facts.places, facts.box, percent);
}

std::string step_text(const LayoutView& view, const PlaceValues& step) {
  std::string text;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text +=
        fmt::format("{}{}", step[i] > 0 ? "+" : "", layout::place_text(step[i], view.axes()[i]));
  }
  return text;
}

std::vector<PlaceValues> steps_of(const LayoutView& view, std::int64_t flat) {
  std::vector<PlaceValues> places = view.places(flat);
  for (std::size_t k = places.size(); k-- > 0;) {
    for (std::size_t i = 0; i < places[k].size(); ++i) places[k][i] -= places[0][i];
  }
  places.erase(places.begin());
  return places;
}

}  // namespace

std::string size_sentence(const LayoutView& view) {
  std::string sentence = fmt::format("shape {}, {} element{}", layout::shape_text(view.shape()),
                                     view.size(), view.size() == 1 ? "" : "s");
  std::vector<std::string> ranges;
  for (const layout::AxisExtent& extent : view.facts().extents)
    ranges.push_back(extent_text(extent));
  if (ranges.empty()) return sentence;
  return fmt::format("{}; {}", sentence, join(ranges, ", "));
}

std::string image_sentence(const LayoutView& view) {
  return fmt::format("{}; {}", injective_text(view), coverage_text(view.facts()));
}

std::optional<std::vector<PlaceValues>> replica_steps(const LayoutView& view) {
  if (view.copies() <= 1) return std::vector<PlaceValues>{};
  std::vector<PlaceValues> steps = steps_of(view, 0);
  for (std::int64_t flat = 1; flat < view.size(); ++flat) {
    if (steps_of(view, flat) != steps) return std::nullopt;
  }
  return steps;
}

std::string replica_sentence(const LayoutView& view) {
  if (view.copies() <= 1) return "";
  const auto steps = replica_steps(view);
  if (!steps) return fmt::format("each element is held at {} places", view.copies());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(steps->size(), kMaxListed); ++i) {
    texts.push_back(step_text(view, (*steps)[i]));
  }
  if (steps->size() > kMaxListed) texts.emplace_back("…");
  return fmt::format("each element is held at {} places: the one shown and {}", view.copies(),
                     join(texts, ", "));
}

}  // namespace ww::view
