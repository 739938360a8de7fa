// SPDX-License-Identifier: Apache-2.0
// One file of the whole page, with what a recording has of memory in it. The modules become one:
// each without its `import` lines and its `export` words, behind its own imports. Names at the top
// of modules are therefore unique over all of them, which the page's tests check.
#include "explore/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/split.h"
#include "explore/calls.h"
#include "explore/encode.h"
#include "explore/page_files.h"
#include "explore/run_call.h"

namespace ww::explore {

// --- snapshots -----------------------------------------------------------------------------------

namespace {

constexpr std::size_t kPiece = 1024;  // bytes

std::string_view part_name(sim::HistoryPart part) {
  static constexpr std::string_view kTexts[] = {"registers", "undefined registers",
                                                "shared",    "undefined shared",
                                                "tensor",    "undefined tensor"};
  return kTexts[std::to_underlying(part)];
}

/// Pieces of memory, equal ones once.
class Pieces {
 public:
  /// The numbers of the pieces of all regions, or none where they would be too many bytes.
  std::optional<std::vector<std::vector<std::size_t>>> add(const sim::HistoryCursor& cursor,
                                                           std::size_t regions) {
    std::vector<std::vector<std::size_t>> out(regions);
    const std::size_t before = list_.size();
    for (std::size_t r = 0; r < regions; ++r)
      for (auto rest = cursor.bytes(r); !rest.empty();) {
        const auto piece = rest.first(std::min(kPiece, rest.size()));
        out[r].push_back(number_of(piece));
        rest = rest.subspan(piece.size());
      }
    if (bytes_ <= kMaxSnapshotBytes) return out;
    for (; list_.size() > before; list_.pop_back()) {
      bytes_ -= list_.back().size();
      numbers_.erase(list_.back());
    }
    return std::nullopt;
  }

  [[nodiscard]] Json json() const {
    return json_list(list_, [&](const std::string& piece) {
      return base64(std::as_bytes(std::span(piece.data(), piece.size())));
    });
  }

 private:
  std::size_t number_of(std::span<const std::byte> piece) {
    std::string text(reinterpret_cast<const char*>(piece.data()), piece.size());
    const auto [found, is_new] = numbers_.try_emplace(text, list_.size());
    if (is_new) {
      bytes_ += text.size();
      list_.push_back(std::move(text));
    }
    return found->second;
  }

  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> list_;
  std::uint64_t bytes_ = 0;
};

// The last, the first, what was found, then the others from coarse to fine: whatever is left out in
// the end, the rest is spread over the run.
std::vector<std::uint64_t> by_importance(const sim::History& history,
                                         const std::vector<std::uint64_t>& moments) {
  std::vector<std::uint64_t> out;
  const auto add = [&](std::uint64_t moment) {
    if (std::ranges::find(out, moment) == out.end()) out.push_back(moment);
  };
  if (moments.empty()) return out;
  add(moments.back());
  add(moments.front());
  for (const sim::FoundAt& found : history.findings)
    if (std::ranges::binary_search(moments, found.moment) && out.size() < kMaxSnapshots)
      add(found.moment);
  for (std::size_t parts = 2; out.size() < kMaxSnapshots && parts < 2 * moments.size(); parts *= 2)
    for (std::size_t i = 1; i < parts && out.size() < kMaxSnapshots; ++i)
      add(moments[i * moments.size() / parts]);
  return out;
}

Json warps_json(const StoredRun& run) {
  Json out = Json::array();
  for (const auto& changes : run.history().warps) {
    Json list = json_list(changes, [&](const sim::StatusChange& change) {
      return Json::array({change.moment, state_name(change.status),
                          subject_json(run, change.status), run.line_of(change.status.op),
                          run.source_line_of(change.status.op)});
    });
    out.push_back(std::move(list));
  }
  return out;
}

Json barriers_json(const StoredRun& run) {
  Json out = Json::array();
  for (const sim::BarrierHistory& barrier : run.history().barriers) {
    Json changes = json_list(barrier.changes, [&](const sim::BarrierChange& each) {
      return Json::array({each.moment, each.status.is_alive, each.status.phase, each.status.pending,
                          each.status.expected, each.status.bytes});
    });
    Json one = barrier_json(run, barrier);
    one["changes"] = std::move(changes);
    out.push_back(std::move(one));
  }
  return out;
}

Json registers_json(const StoredRun& run) {
  return json_list(run.registers(), [&](const NamedRegister& reg) -> Json {
    return {{"name", reg.name},
            {"type", isa::info(reg.type).name},
            {"offset", reg.place.offset()},
            {"bytes", reg.type == isa::Type::Pred ? 0 : lane_bytes(reg.type)}};
  });
}

}  // namespace

std::vector<std::uint64_t> telling_moments(const sim::History& history, std::uint64_t moments) {
  std::set<std::uint64_t> out = {0, moments};
  for (const sim::FoundAt& found : history.findings) out.insert(found.moment);
  for (const sim::BarrierHistory& barrier : history.barriers)
    for (std::size_t i = 1; i < barrier.changes.size(); ++i) {
      const sim::BarrierStatus& before = barrier.changes[i - 1].status;
      const sim::BarrierStatus& now = barrier.changes[i].status;
      // A phase is over, or all threads came to a barrier.
      if (barrier.is_mbarrier ? now.phase != before.phase : before.is_alive && !now.is_alive)
        out.insert(barrier.changes[i].moment);
    }
  std::vector<std::uint64_t> list(out.begin(), out.end());
  std::erase_if(list, [&](std::uint64_t moment) { return moment > moments; });
  return list;
}

Json snapshots_json(StoredRun& run, std::uint64_t moments) {
  const sim::History& history = run.history();
  const std::vector<std::uint64_t> telling = telling_moments(history, moments);
  Pieces pieces;
  std::vector<std::pair<std::uint64_t, std::vector<std::vector<std::size_t>>>> kept;
  const std::lock_guard lock(run.mutex());
  for (const std::uint64_t moment : by_importance(history, telling)) {
    run.cursor().seek(moment);
    auto numbers = pieces.add(run.cursor(), history.regions.size());
    if (!numbers) break;
    kept.emplace_back(moment, std::move(*numbers));
  }
  std::ranges::sort(kept, {}, [](const auto& each) { return each.first; });
  Json at = json_list(kept, [&](const auto& each) { return each.first; });
  Json regions = Json::array();
  for (std::size_t r = 0; r < history.regions.size(); ++r) {
    Json contents = json_list(kept, [&](const auto& each) { return each.second[r]; });
    regions.push_back({{"part", part_name(history.regions[r].part)},
                       {"index", history.regions[r].index},
                       {"size", history.regions[r].first.size()},
                       {"contents", std::move(contents)}});
  }
  return {{"moments", std::move(at)}, {"telling", telling.size()},
          {"pieces", pieces.json()},  {"regions", std::move(regions)},
          {"names", names_json(run)}, {"registers", registers_json(run)},
          {"warps", warps_json(run)}, {"barriers", barriers_json(run)}};
}

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
