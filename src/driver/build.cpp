// SPDX-License-Identifier: Apache-2.0
#include "driver/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "base/file_io.h"
#include "driver/examples.h"
#include "driver/report_parts.h"
#include "emit/ptx/emit.h"
#include "ir/verify/verify.h"
#include "lower/lower.h"
#include "ptx/printer.h"
#include "script/compile.h"
#include "script/syntax/parser.h"

namespace ww::driver {

// --- imported files ------------------------------------------------------------------------------

namespace {

class Importer {
 public:
  explicit Importer(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path()),
        main_(std::filesystem::path(path).stem().string()) {
    seen_.insert(main_);
  }

  Result<void> follow(std::string_view text) {
    for (const std::string& module : script::imported_modules(text)) {
      if (!seen_.insert(module).second) continue;
      std::optional<ImportedFile> file = WW_TRY(find(module));
      if (!file) continue;
      if (++count_ > kMaxImportedFiles)
        return fail(DiagKind::TooLarge, "`{}` imports more than {} files of its folder", main_,
                    kMaxImportedFiles);
      WW_TRY_VOID(follow(file->text));
      out_.push_back(*std::move(file));
    }
    return {};
  }

  std::vector<ImportedFile> take() { return std::move(out_); }

 private:
  [[nodiscard]] Result<std::optional<ImportedFile>> find(const std::string& module) const {
    const std::string path = (folder_ / (module + ".py")).string();
    std::error_code error;
    if (std::filesystem::exists(path, error))
      return ImportedFile{module, path, WW_TRY(read_file(path, script::kMaxSourceBytes))};
    for (const EmbeddedFile& file : embedded_examples())
      if (file.path == path) return ImportedFile{module, path, std::string(file.text)};
    return std::nullopt;
  }

  std::filesystem::path folder_;
  std::string main_;
  std::set<std::string> seen_;
  std::size_t count_ = 0;
  std::vector<ImportedFile> out_;
};

}  // namespace

Result<std::vector<ImportedFile>> imported_files(const std::string& path, std::string_view text) {
  Importer importer(path);
  WW_TRY_VOID(importer.follow(text));
  return importer.take();
}

// --- kernel file ---------------------------------------------------------------------------------

namespace {
constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
}

Result<std::string> kernel_in_file(const std::string& path) {
  return kernel_in_json(WW_TRY(read_file(path, kMaxBytes)), path);
}

Result<std::string> kernel_in_json(std::string_view text, const std::string& path) {
  const Result<Json> parsed = Json::parse(text);
  if (!parsed) return fail(diag(parsed.error().kind, "`{}` holds {}", path, parsed.error().text));
  const Json& json = *parsed;
  if (json.type() != JsonType::Object || !json.contains("kernel") ||
      json["kernel"].type() != JsonType::String)
    return fail(diag(DiagKind::BadArgument, "`{}` has no text under the key `kernel`", path)
                    .with_note("`warpwright tune -o FILE` writes such files"));
  return json["kernel"].get<std::string>();
}

namespace {

void add_errors(Build& build, std::span<const Diag> errors) {
  const script::Compiled& compiled = *build.compiled;
  for (const Diag& error : errors) {
    if (!error.span.known) build.errors += fmt::format("{}: ", compiled.source.name());
    build.errors += compiled.render(error);
    build.diags.push_back(error);
  }
}

// A function without errors comes back as the tile program, everything else as errors.
void compile_tile(Build& build, const SourceText& source, const BuildOptions& options) {
  script::Options script;
  script.kernel = options.kernel;
  script.target = build.target;
  script.prelude = options.prelude;
  script.module = options.module;
  script.modules = options.modules;
  if (!options.dialect.empty())
    script.dialect = options.dialect == "d1" ? script::Dialect::D1 : script::Dialect::D2;
  build.compiled = script::compile(source, script);
  add_errors(build, build.compiled->errors);
  build.is_checked = build.target.has_value();
  if (build.good()) build.phase = Phase::Tile;
}

// Against the target, which may not have been known when the program was compiled.
void check_tile(Build& build) {
  if (!build.target) build.target = default_target(build.tile());
  if (!std::exchange(build.is_checked, true))
    add_errors(build, ir::verify_on_target(build.tile(), *build.target));
}

// A primitive that nothing takes: which of its operands have layouts that were inferred.
void add_inferred_layouts(const Build& build, Diag& error) {
  for (const infer::Inferred& each : build.compiled->layouts.buffers) {
    const ir::Buffer& buffer = build.tile()[each.buffer];
    const auto names_it = [&](const lower::OperandReport& operand) {
      return operand.region.starts_with(buffer.name + "[");
    };
    for (const lower::CallReport& call : build.report.calls)
      if (call.chosen.empty() && call.span == error.span &&
          std::ranges::any_of(call.operands, names_it))
        error.notes.push_back(
            {fmt::format("the layout of `{}` is inferred: `{}`; another can be written in the "
                         "place of \"auto\"",
                         buffer.name, each.text),
             buffer.span});
  }
}

Result<ptx::Module> ptx_of(const Build& build, const ir::Function& lowered) {
  return emit::ptx_module(lowered, {.target = *build.target, .source = &build.compiled->source});
}

struct Emitted {
  Result<ptx::Module> module;
  std::string text;
};
Emitted emitted(const Build& build, const ir::Function& lowered) {
  auto module = ptx_of(build, lowered);
  std::string text = module ? ptx::print(*module) : "";
  return {std::move(module), std::move(text)};
}

// With PTX, if asked for, which is written while the lowered program is proven.
std::optional<Emitted> lower_tile(Build& build, bool with_ptx) {
  lower::Lowering lowering(build.tile(), {.target = *build.target});
  std::optional<Emitted> ptx;
  if (with_ptx && lowering.unproven() != nullptr) ptx = emitted(build, *lowering.unproven());
  lower::Lowered lowered = std::move(lowering).proven();
  build.report = std::move(lowered.report);
  for (Diag& error : lowered.errors)
    if (error.kind == DiagKind::NoVariant) add_inferred_layouts(build, error);
  add_errors(build, lowered.errors);
  if (!build.good()) return std::nullopt;
  build.lowered = std::move(lowered.function);
  build.phase = Phase::Lowered;
  return ptx;
}

void take_ptx(Build& build, Emitted ptx) {
  if (!ptx.module) {
    add_errors(build, std::span(&ptx.module.error(), 1));
    return;
  }
  build.ptx = std::move(ptx.text);
  build.entry = ptx.module->text(ptx.module->functions.back().name);
  build.phase = Phase::Ptx;
}

bool uses_tensor_memory(const ir::Function& tile) {
  for (std::uint32_t i = 0; i < tile.buffer_count(); ++i)
    if (tile[ir::BufferId{i}].scope == ir::Scope::Tmem) return true;
  return std::ranges::any_of(tile.ptx_calls, [](const ir::PtxCall& call) {
    return call.opcode.mnemonic().text().starts_with("tcgen05.");
  });
}

}  // namespace

std::optional<Diag> lacking(const ir::Function& tile, const target::Target& target) {
  if (tile.ptx_calls.empty()) return std::nullopt;
  const std::vector<Diag> errors = ir::verify_on_target(tile, target);
  return errors.empty() ? std::nullopt : std::optional(errors.front());
}

target::Target usual_target(const ir::Function& tile) {
  return {.arch = uses_tensor_memory(tile) ? target::Arch::Sm100a : target::Arch::Sm90a,
          .ptx = target::ptx_versions().back()};
}

target::Target default_target(const ir::Function& tile) {
  const target::Target usual = usual_target(tile);
  if (!lacking(tile, usual)) return usual;
  for (const target::ArchInfo& info : target::kArchs)
    if (const target::Target other{info.arch, usual.ptx}; !lacking(tile, other)) return other;
  return usual;
}

bool read_target(const std::string& text, std::optional<target::Target>& target,
                 std::string& errors) {
  if (text.empty() || text == "auto") return true;
  const auto arch = target::parse_arch(text);
  if (!arch) {
    errors += render(arch.error(), SourceText("--target", text));
    return false;
  }
  target = target::Target{.arch = *arch, .ptx = target::ptx_versions().back()};
  return true;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"auto"};
  for (const target::ArchInfo& arch : target::kArchs) names.emplace_back(arch.name);
  return names;
}

Build build_kernel(const SourceText& source, const BuildOptions& options) {
  Build build;
  if (!read_target(options.target, build.target, build.errors)) return build;
  compile_tile(build, source, options);
  advance(build, options.until);
  return build;
}

Result<SourceText> read_source(const std::string& path) {
  return SourceText(path, WW_TRY(read_file(path, script::kMaxSourceBytes)));
}

Build build_file(const SourceRequest& request, Phase until) {
  BuildOptions options{.kernel = request.kernel,
                       .dialect = request.dialect,
                       .target = request.target,
                       .until = until};
  if (request.kernel.starts_with('@')) {
    auto kernel = kernel_in_file(request.kernel.substr(1));
    if (!kernel) return {.errors = render(kernel.error())};
    options.kernel = *std::move(kernel);
  }
  auto source =
      request.text != nullptr ? Result<SourceText>(*request.text) : read_source(request.path);
  if (!source) return {.errors = render(source.error())};
  auto imported = imported_files(source->name(), source->text());
  if (!imported) return {.errors = render(imported.error())};
  for (const ImportedFile& file : *imported) {
    source->add_file(file.path, file.text);
    options.modules.push_back({.module = file.module});
  }
  return build_kernel(*source, options);
}

void set_target(Build& build, const target::Target& target) {
  build.target = target;
  build.is_checked = false;
}

std::optional<Diag> ptx_problem(const Build& build) {
  const auto module = ptx_of(build, *build.lowered);
  return module ? std::nullopt : std::optional(module.error());
}

void advance(Build& build, Phase until) {
  const auto is_due = [&](Phase phase) {
    return build.good() && build.phase < phase && phase <= until;
  };
  if (is_due(Phase::Lowered)) check_tile(build);
  std::optional<Emitted> ptx;
  if (is_due(Phase::Lowered)) ptx = lower_tile(build, until >= Phase::Ptx);
  if (is_due(Phase::Ptx)) take_ptx(build, ptx ? *std::move(ptx) : emitted(build, *build.lowered));
}

}  // namespace ww::driver
