// SPDX-License-Identifier: Apache-2.0
// The call on layouts, and the comparison of two texts.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/source.h"
#include "driver/layout/tool.h"
#include "explore/calls.h"

namespace ww::explore {

Result<Json> call_layout(Session& /*session*/, const Json& request) {
  const driver::LayoutRequest wanted{.notation = WW_TRY(text_field(request, "notation")),
                                     .shape = WW_TRY(text_field(request, "shape")),
                                     .ops = WW_TRY(texts_field(request, "ops")),
                                     .dtype = WW_TRY(text_field(request, "dtype")),
                                     .on = WW_TRY(text_field(request, "on"))};
  const driver::LayoutOutcome outcome = driver::run_layout(wanted);
  Json out = driver::with_schema("explore-layout");
  out["layout"] = nullptr;
  out["error"] = nullptr;
  out["remarks"] = outcome.remarks;
  if (outcome.refusal) {
    out["error"] = render(outcome.refusal->diag, outcome.refusal->source);
    return out;
  }
  auto report = driver::report_json(*outcome.report);
  if (report)
    out["layout"] = *std::move(report);
  else
    out["error"] = render(report.error());
  return out;
}

namespace {

constexpr std::size_t kMaxDiffLines = 20'000;
/// Pairs of equal lines that are looked at, about.
constexpr std::size_t kMaxDiffSteps = 40'000'000;

/// Lines as numbers: equal ones have the same.
struct Numbered {
  std::vector<std::uint32_t> left, right;
};

// The longest common subsequence by Myers' shortest edit: d differences in (d + size) · d steps.
// Gives the pairs of equal lines; those of the common begin and end are known already.
class EditPath {
 public:
  EditPath(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right)
      : left_(left), right_(right) {}

  std::vector<std::pair<std::size_t, std::size_t>> pairs() {
    const auto n = static_cast<std::ptrdiff_t>(left_.size());
    const auto m = static_cast<std::ptrdiff_t>(right_.size());
    const std::ptrdiff_t most = n + m;
    std::vector<std::ptrdiff_t> reach(static_cast<std::size_t>(2 * most + 2), 0);
    std::size_t steps = 0;
    for (std::ptrdiff_t d = 0; d <= most; ++d) {
      trace_.push_back(
          std::vector<std::ptrdiff_t>(reach.begin() + (most - d), reach.begin() + (most + d + 2)));
      steps += static_cast<std::size_t>(2 * d + 2);
      if (steps > kMaxDiffSteps) return {};
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && reach[at(most, k - 1)] < reach[at(most, k + 1)]);
        std::ptrdiff_t x = down ? reach[at(most, k + 1)] : reach[at(most, k - 1)] + 1;
        std::ptrdiff_t y = x - k;
        while (x < n && y < m && same(x, y)) ++x, ++y;
        reach[at(most, k)] = x;
        if (x >= n && y >= m) return walk_back(d);
      }
    }
    return {};
  }

 private:
  static std::size_t at(std::ptrdiff_t zero, std::ptrdiff_t k) {
    return static_cast<std::size_t>(zero + k);
  }
  [[nodiscard]] bool same(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return left_[static_cast<std::size_t>(x)] == right_[static_cast<std::size_t>(y)];
  }
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> walk_back(std::ptrdiff_t d) const {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    auto x = static_cast<std::ptrdiff_t>(left_.size());
    auto y = static_cast<std::ptrdiff_t>(right_.size());
    for (; d >= 0; --d) {
      const auto& reach = trace_[static_cast<std::size_t>(d)];
      const std::ptrdiff_t k = x - y;
      const bool down = k == -d || (k != d && reach[at(d, k - 1)] < reach[at(d, k + 1)]);
      const std::ptrdiff_t before = down ? k + 1 : k - 1;
      const std::ptrdiff_t from = d == 0 ? 0 : reach[at(d, before)];
      const std::ptrdiff_t from_y = d == 0 ? 0 : from - before;
      while (x > from && y > from_y)
        out.emplace_back(static_cast<std::size_t>(--x), static_cast<std::size_t>(--y));
      x = from;
      y = from_y;
    }
    std::ranges::reverse(out);
    return out;
  }

  const std::vector<std::uint32_t>&left_, &right_;
  std::vector<std::vector<std::ptrdiff_t>> trace_;
};

Numbered numbered(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  std::map<std::string_view, std::uint32_t> numbers;
  const auto number = [&](const std::vector<std::string>& lines) {
    std::vector<std::uint32_t> out;
    for (const std::string& line : lines)
      out.push_back(
          numbers.emplace(line, static_cast<std::uint32_t>(numbers.size())).first->second);
    return out;
  };
  Numbered out;
  out.left = number(left);
  out.right = number(right);
  return out;
}

}  // namespace

// Rows of (left line, right line, same), 1-based; 0 where a side has none.
Result<Json> call_diff(Session& /*session*/, const Json& request) {
  const auto left = WW_TRY(texts_field(request, "left"));
  const auto right = WW_TRY(texts_field(request, "right"));
  if (left.size() > kMaxDiffLines || right.size() > kMaxDiffLines)
    return fail(DiagKind::TooLarge, "texts of {} and {} lines; at most {} are compared",
                left.size(), right.size(), kMaxDiffLines);
  const Numbered lines = numbered(left, right);
  auto pairs = EditPath(lines.left, lines.right).pairs();
  pairs.emplace_back(left.size(), right.size());
  Json rows = Json::array();
  std::size_t l = 0, r = 0;
  for (const auto& [next_l, next_r] : pairs) {
    while (l < next_l) rows.push_back(Json::array({++l, 0, false}));
    while (r < next_r) rows.push_back(Json::array({0, ++r, false}));
    if (l < left.size() && r < right.size()) rows.push_back(Json::array({++l, ++r, true}));
  }
  return driver::with_schema("explore-diff", {{"rows", std::move(rows)}});
}

}  // namespace ww::explore
