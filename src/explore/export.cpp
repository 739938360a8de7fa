// SPDX-License-Identifier: Apache-2.0
// The modules become one: each without its `import` lines and its `export` words, behind its own
// imports. Names at the top of modules are therefore unique over all of them, which the page's
// tests check.
#include "explore/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/split.h"
#include "explore/calls.h"
#include "explore/page_files.h"
#include "explore/run_call.h"
#include "explore/snapshots.h"

namespace ww::explore {
namespace {

constexpr std::string_view kMain = "js/main.js";
constexpr std::string_view kImport = "import ";
constexpr std::string_view kExport = "export ";
// The answers hold what one file can: more moments would be more than a browser likes to read.
constexpr std::uint64_t kMaxExportedMoments = 100'000;
// Inside the file all is one script; nothing is fetched.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'\">";

// --- the modules ---------------------------------------------------------------------------------

// What a line imports from: "./dom.js" as "js/dom.js".
std::optional<std::string> imported(std::string_view line) {
  const std::size_t end = line.rfind('"');
  const std::size_t begin = line.find("\"./");
  if (!line.starts_with(kImport) || begin == std::string_view::npos || end <= begin) return {};
  return "js/" + std::string(line.substr(begin + 3, end - begin - 3));
}

Result<void> add_module(const std::string& path, std::set<std::string>& seen, std::string& out) {
  if (!seen.insert(path).second) return {};
  const EmbeddedFile* const file = find_page_file(path);
  if (file == nullptr)
    return fail(DiagKind::BadArgument, "the page has no module `{}` to export", path);
  std::string own;
  for (std::string_view line : ww::split(file->text, '\n')) {
    if (const auto other = imported(line)) {
      WW_TRY_VOID(add_module(*other, seen, out));
      continue;
    }
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    own += line;
    own += '\n';
  }
  out += own;
  return {};
}

// --- the answers ---------------------------------------------------------------------------------

Json program_json(const OpenedFile& file) {
  return {{"file", file.name},
          {"source", file.source},
          {"kernel", file.kernel},
          {"target", file.target}};
}

// By the notation that the page asks for.
Result<Json> layouts_json(Session& session, const Json& buffers) {
  Json out = Json::object();
  for (const Json& buffer : buffers) {
    if (buffer["shape"].size() == 0) continue;
    std::string extents;
    for (const Json& extent : buffer["shape"])
      extents += (extents.empty() ? "" : ",") + extent.dump();
    const std::string notation = buffer["layout"].is_null() ? fmt::format("row_major({})", extents)
                                                            : buffer["layout"].get<std::string>();
    const Json answer = WW_TRY(call_layout(
        session, {{"notation", notation}, {"shape", extents}, {"dtype", buffer["dtype"]}}));
    if (answer["layout"].is_null()) continue;
    out[notation] = answer["layout"];
  }
  return out;
}

Result<Json> moves_json(Session& session, const Json& program, const Json& explain) {
  Json out = Json::array();
  if (explain.is_null()) return out;
  for (const Json& primitive : explain["primitives"]) {
    Json request = program;
    const Json& at = primitive["at"];
    request["line"] = at.is_null() ? Json(1) : at["line"];
    request["column"] = at.is_null() ? Json(0) : at["column"];
    out.push_back(WW_TRY(call_moves(session, request)));
  }
  return out;
}

Result<Json> answers_json(Session& session, const OpenedFile& file) {
  const Json program = program_json(file);
  Json out;
  out["start"] = WW_TRY(call_start(session, {}));
  out["check"] = WW_TRY(call_check(session, program));
  out["code"] = WW_TRY(call_code(session, program));
  out["explain"] = WW_TRY(call_explain(session, program));
  out["layouts"] = WW_TRY(layouts_json(session, out["explain"]["buffers"]));
  out["moves"] = WW_TRY(moves_json(session, program, out["explain"]["explain"]));
  Json wish = program;
  wish["schedule"] = "step";
  const std::atomic<bool> never = false;
  RunProgress progress;
  out["run"] = run_result(session, WW_TRY(run_wish(wish)), never, progress);
  out["steps"] = out["states"] = nullptr;
  const Json& recording = out["run"]["recording"];
  if (recording.type() == JsonType::Object) {
    const std::uint64_t moments =
        std::min(recording["moments"].get<std::uint64_t>(), kMaxExportedMoments);
    out["steps"] = WW_TRY(call_steps(session, {{"recording", recording["id"]}, {"to", moments}}));
    const auto run = WW_TRY(recording_field(session, {{"recording", recording["id"]}}));
    out["states"] = snapshots_json(*run, moments);
  }
  return out;
}

// --- the file ------------------------------------------------------------------------------------

// JSON inside a script: no text in it ends the script.
std::string script_text(const Json& value) {
  std::string out;
  for (const char c : value.dump()) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

Result<void> replace_once(std::string& text, std::string_view what, const std::string& with) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos)
    return fail(DiagKind::BadArgument, "the page has no `{}` to export", what);
  text.replace(at, what.size(), with);
  return {};
}

}  // namespace

Result<std::string> exported_page(Session& session) {
  if (!session.options.file)
    return fail(DiagKind::BadArgument, "`--export` without a file: it writes a page about one");
  const EmbeddedFile* const index = find_page_file("");
  const EmbeddedFile* const style = find_page_file("style.css");
  if (index == nullptr || style == nullptr)
    return fail(DiagKind::BadArgument, "this program was built without the explorer's page");
  std::string modules;
  std::set<std::string> seen;
  WW_TRY_VOID(add_module(std::string(kMain), seen, modules));
  if (modules.find("</script") != std::string::npos)
    return fail(DiagKind::BadArgument,
                "a module of the page holds `</script`, the end of a script");
  const Json answers = WW_TRY(answers_json(session, *session.options.file));
  std::string page(index->text);
  WW_TRY_VOID(replace_once(page, "<link rel=\"stylesheet\" href=\"style.css\">",
                           fmt::format("{}\n<style>\n{}</style>", kPolicy, style->text)));
  WW_TRY_VOID(replace_once(page, "<script type=\"module\" src=\"js/main.js\"></script>", ""));
  WW_TRY_VOID(
      replace_once(page, "</body>",
                   fmt::format("<script type=\"application/json\" id=\"answers\">{}</script>\n"
                               "<script type=\"module\">\n{}</script>\n</body>",
                               script_text(answers), modules)));
  return page;
}

}  // namespace ww::explore
