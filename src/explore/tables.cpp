// SPDX-License-Identifier: Apache-2.0
// The calls about the compiler itself: what it is, its examples, the names that completion offers.
// And the table of all calls.
#include <algorithm>
#include <string>

#include "driver/examples.h"
#include "driver/layout/named_layouts.h"
#include "driver/layout/ops.h"
#include "driver/reference.h"
#include "explore/calls.h"
#include "explore/guard.h"
#include "explore/page_files.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "script/api/builtins.h"
#include "sim/checks/findings.h"

namespace ww::explore {
namespace {

struct CallRow {
  std::string_view name;
  Call call;
};
constexpr CallRow kCalls[] = {
    {"start", call_start},   {"example", call_example},   {"reference", call_reference},
    {"check", call_check},   {"explain", call_explain},   {"code", call_code},
    {"layout", call_layout}, {"diff", call_diff},         {"steps", call_steps},
    {"state", call_state},   {"timeline", call_timeline}, {"moves", call_moves},
    {"cancel", call_cancel},
};

Json example_row(const driver::Example& example) {
  return {{"name", example.name},
          {"path", example.path},
          {"title", example.summary},
          {"commands", example.commands}};
}

Json file_json(const std::optional<OpenedFile>& file) {
  if (!file) return nullptr;
  return {{"name", file->name},
          {"source", file->source},
          {"kernel", file->kernel},
          {"target", file->target}};
}

bool has_sass(const runtime::SassTools& tools) {
  return runtime::find_ptxas(tools.ptxas).has_value() &&
         runtime::find_nvdisasm(tools.nvdisasm).has_value();
}

Json gpu_name() {
  const auto calls = runtime::load_cuda_calls();
  if (!calls) return nullptr;
  const auto device = runtime::CudaDevice::open(*calls);
  return device ? Json((*device)->name()) : Json(nullptr);
}

Json rows_of(std::string_view topic) { return driver::reference_json(topic)["rows"]; }

}  // namespace

Call find_call(std::string_view name) {
  const auto row = std::ranges::find(kCalls, name, &CallRow::name);
  return row == std::end(kCalls) ? nullptr : row->call;
}

Result<Json> call_start(Session& session, const Json& /*request*/) {
  Json examples = json_list(driver::examples(), example_row);
  static const Json gpu = gpu_name();
  Json checks =
      json_list(sim::all_checks(), [&](const sim::Check check) { return sim::name_of(check); });
  return driver::with_schema("explore-start", {{"version", session.options.version},
                                               {"targets", driver::target_names()},
                                               {"examples", std::move(examples)},
                                               {"file", file_json(session.options.file)},
                                               {"gpu", gpu},
                                               {"sass", has_sass(session.options.sass)},
                                               {"codemirror", has_codemirror()},
                                               {"checks", checks},
                                               {"limits",
                                                {{"seconds", session.options.limits.seconds},
                                                 {"body_bytes", kMaxBody},
                                                 {"instructions", kMaxInstructions},
                                                 {"memory_bytes", kMaxMemory}}}});
}

Result<Json> call_example(Session& /*session*/, const Json& request) {
  const std::string name = WW_TRY(text_field(request, "name"));
  const driver::Example example = WW_TRY(driver::find_example(name));
  Json out = example_row(example);
  out["source"] = example.text;
  return driver::with_schema("explore-example", out);
}

Result<Json> call_reference(Session& /*session*/, const Json& /*request*/) {
  Json layouts = json_list(driver::named_layouts(), [&](const driver::NamedLayout& each) -> Json {
    return {{"name", each.name}, {"text", each.help}, {"example", each.example}};
  });
  Json ops = json_list(driver::layout_ops(), [&](const driver::LayoutOp& each) -> Json {
    return {{"name", each.name},
            {"arguments", each.arguments},
            {"text", each.help},
            {"example_layout", each.example_layout},
            {"example", each.example}};
  });
  return driver::with_schema("explore-reference", {{"names", rows_of("names")},
                                                   {"primitives", rows_of("primitives")},
                                                   {"namespaces", script::tile_namespaces()},
                                                   {"settings", rows_of("settings")},
                                                   {"layouts", std::move(layouts)},
                                                   {"ops", std::move(ops)}});
}

}  // namespace ww::explore
