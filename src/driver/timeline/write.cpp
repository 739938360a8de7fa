// SPDX-License-Identifier: Apache-2.0
// The options of timelines, and the file.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file_io.h"
#include "driver/report_json.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {
namespace {

struct FormName {
  std::string_view ending;
  TimelineForm form;
};
constexpr std::array<FormName, 3> kForms{
    {{".svg", TimelineForm::Svg}, {".json", TimelineForm::Json}, {".txt", TimelineForm::Text}}};

}  // namespace

Result<TimelineForm> timeline_form(std::string_view path) {
  const auto found = std::ranges::find_if(
      kForms, [&](const FormName& each) { return path.ends_with(each.ending); });
  if (found != kForms.end()) return found->form;
  return fail(diag(DiagKind::BadArgument,
                   "`{}` has none of the endings of a timeline: .svg, .json, .txt", path)
                  .with_span(Span::at(0, path.size())));
}

Result<void> write_timeline(const std::string& path, const Timeline& timeline) {
  switch (WW_TRY(timeline_form(path))) {
    case TimelineForm::Svg:
      return write_file_atomically(path, timeline_svg(timeline));
    case TimelineForm::Json:
      return write_file_atomically(path, json_text(timeline_json(timeline)));
    case TimelineForm::Text:
      return write_file_atomically(path, timeline_text(timeline));
  }
  return {};
}

}  // namespace ww::driver
