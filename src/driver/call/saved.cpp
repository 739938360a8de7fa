// SPDX-License-Identifier: Apache-2.0
#include "driver/call/saved.h"

#include <utility>

#include "ir/print/print.h"
#include "json/json.h"
#include "script/compile.h"
#include "target/target.h"

namespace ww::driver {
namespace {

constexpr std::string_view kSchema = "warpwright/saved/1";

// The programs print so that they compile to themselves; the names of files in them are not shown.
Result<ir::Function> read_program(const std::string& text, const target::Target& target,
                                  script::Dialect dialect) {
  script::Compiled compiled =
      script::compile(SourceText("saved", text), {.dialect = dialect, .target = target});
  if (compiled.function) return *std::move(compiled.function);
  return fail(Diag{.kind = DiagKind::BadArgument,
                   .text = compiled.errors.empty() ? "a saved program without a kernel"
                                                   : compiled.errors.front().text,
                   .span = {},
                   .notes = {}});
}

Result<std::string> member(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  if (found == nullptr || found->type() != JsonType::String)
    return fail(DiagKind::BadArgument, "a saved build without `{}`", name);
  return found->get<std::string>();
}

}  // namespace

std::string save_build(const Build& build) {
  const Json out = {{"schema", kSchema},
                    {"target", target::info(build.target->arch).name},
                    {"dialect", script::name_of(build.compiled->dialect)},
                    {"entry", build.entry},
                    {"tile", ir::print(build.tile())},
                    {"lowered", ir::print(*build.lowered)},
                    {"ptx", build.ptx}};
  return out.dump();
}

Result<Build> load_build(std::string_view saved, const SourceText& source) {
  const Json json = Json::parse(saved).value_or(nullptr);
  if (json.type() != JsonType::Object)
    return fail(DiagKind::Syntax, "a saved build is a JSON object");
  if (WW_TRY(member(json, "schema")) != kSchema)
    return fail(DiagKind::BadArgument, "a saved build of schema `{}`: expected `{}`",
                WW_TRY(member(json, "schema")), kSchema);
  Build out;
  const std::string arch = WW_TRY(member(json, "target"));
  if (!read_target(arch, out.target, out.errors) || !out.target)
    return fail(DiagKind::BadArgument, "a saved build for `{}`", arch);
  const auto dialect =
      WW_TRY(member(json, "dialect")) == "d1" ? script::Dialect::D1 : script::Dialect::D2;
  out.compiled =
      script::Compiled{std::nullopt, {}, {}, dialect, source, SourceText("--kernel", "")};
  out.compiled->function = WW_TRY(read_program(WW_TRY(member(json, "tile")), *out.target, dialect));
  out.lowered = WW_TRY(read_program(WW_TRY(member(json, "lowered")), *out.target, dialect));
  out.ptx = WW_TRY(member(json, "ptx"));
  out.entry = WW_TRY(member(json, "entry"));
  out.phase = Phase::Ptx;
  out.is_checked = true;
  return out;
}

}  // namespace ww::driver
