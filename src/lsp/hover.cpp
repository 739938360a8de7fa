// SPDX-License-Identifier: Apache-2.0
// textDocument/hover: a buffer with its layout as a table (and a picture), a primitive with its
// plan and what every variant said, a name with its line of the reference.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/base64.h"
#include "base/join.h"
#include "base/split.h"
#include "driver/explain.h"
#include "driver/report_parts.h"
#include "ir/print/print.h"
#include "layout/slice.h"
#include "layout/text.h"
#include "lsp/cursor.h"
#include "lsp/features.h"
#include "lsp/names.h"
#include "num/dtype.h"
#include "script/syntax/parser.h"
#include "view/layout_view.h"
#include "view/svg.h"
#include "view/table.h"

namespace ww::lsp {
namespace {

// Editors cut a hover that is longer than some hundred thousand characters.
constexpr std::size_t kMaxPictureBytes = 90'000;
constexpr std::int64_t kPictureSide = 16;  // elements
constexpr std::size_t kMaxShownCalls = 3;
constexpr std::int64_t kMaxTablePlaces = std::int64_t{1} << 20U;

// --- texts ---------------------------------------------------------------------------------------

/// What a hover says, for clients with Markdown and without.
class HoverText {
 public:
  explicit HoverText(bool is_markdown) : is_markdown_(is_markdown) {}

  void say(std::string_view text) { add(std::string(text)); }
  void show(std::string_view code, std::string_view language = "text") {
    while (code.ends_with('\n')) code.remove_suffix(1);
    add(is_markdown_ ? fmt::format("```{}\n{}\n```", language, code) : std::string(code));
  }
  void draw(std::string_view svg, std::string_view title);
  [[nodiscard]] std::string code(std::string_view text) const {
    return is_markdown_ ? fmt::format("`{}`", text) : std::string(text);
  }
  [[nodiscard]] Json json(const Json& range) const {
    return {{"contents", {{"kind", is_markdown_ ? "markdown" : "plaintext"}, {"value", text_}}},
            {"range", range}};
  }

 private:
  void add(const std::string& part) { text_ += (text_.empty() ? "" : "\n\n") + part; }

  bool is_markdown_;
  std::string text_;
};

void HoverText::draw(std::string_view svg, std::string_view title) {
  add(fmt::format("![{}](data:image/svg+xml;base64,{})", title,
                  base64(std::as_bytes(std::span(svg)))));
}

// --- buffers -------------------------------------------------------------------------------------

struct FoundBuffer {
  const KernelAnalysis* kernel;
  ir::BufferId id;
};

// The buffer of that name whose declaration is the last before the place.
std::optional<FoundBuffer> find_buffer(const KernelAnalysis& kernel, std::string_view name,
                                       std::size_t offset) {
  if (kernel.build.phase < driver::Phase::Tile) return std::nullopt;
  const ir::Function& f = kernel.build.tile();
  std::optional<FoundBuffer> out;
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
    const ir::Buffer& buffer = f[ir::BufferId{i}];
    if (buffer.name != name) continue;
    const bool is_before = !buffer.span.known || buffer.span.begin <= offset;
    if (!out || is_before) out = FoundBuffer{&kernel, ir::BufferId{i}};
  }
  return out;
}

std::string shape_of(const ir::Function& f, const ir::Buffer& buffer) {
  std::vector<std::string> extents;
  for (const ir::ExprId each : buffer.shape) extents.push_back(ir::print(f, each));
  return join(extents, ", ");
}

// "float16[128, 64] in shared memory, 16384 bytes", and what a thread has of it.
std::string buffer_sentence(const ir::Function& f, const ir::Buffer& buffer,
                            const std::optional<view::LayoutView>& view) {
  std::string out = fmt::format("{}[{}], {}", num::name_of(buffer.dtype), shape_of(f, buffer),
                                ir::name_of(buffer.scope));
  const int bits = num::storage_bits(buffer.dtype);
  const auto bytes = [&](std::int64_t elements) {
    return driver::plural(static_cast<std::uint64_t>((elements * bits + 7) / 8), "byte");
  };
  if (const auto shape = ir::const_shape(f, buffer)) {
    std::int64_t size = 1;
    for (const std::int64_t each : *shape) size *= each;
    out += fmt::format(", {}", bytes(size));
  }
  if (!view || view->kind() != view::PictureKind::Registers) return out;
  for (std::size_t i = 0; i < view->axes().size(); ++i)
    if (view->axes()[i].name() == "m") {
      const std::int64_t held = view->range(i).max - view->range(i).min + 1;
      out += fmt::format("; {} ({}) of a thread",
                         driver::plural(static_cast<std::uint64_t>(held), "element"), bytes(held));
    }
  return out;
}

std::optional<view::LayoutView> view_of(const ir::Function& f, const ir::Buffer& buffer) {
  const auto shape = ir::const_shape(f, buffer);
  const auto layout = ir::layout_of(f, buffer);
  if (!shape || !layout || shape->empty()) return std::nullopt;
  std::int64_t size = 1;
  for (const std::int64_t each : *shape)
    if ((size *= each) > kMaxTablePlaces) return std::nullopt;
  auto view = view::LayoutView::make(*layout, *shape, {num::storage_bits(buffer.dtype)});
  return view ? std::optional(*std::move(view)) : std::nullopt;
}

// A part of a buffer: the first elements, no more than `side` in each of the last two dimensions and
// one in the others, which are left out.
std::optional<view::LayoutView> corner_of(const ir::Function& f, const ir::Buffer& buffer,
                                          std::int64_t side) {
  const layout::Shape shape = *ir::const_shape(f, buffer);
  std::vector<layout::Slice1> region;
  layout::Shape flat;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_shown = d + 2 >= shape.size();
    region.push_back({0, is_shown ? std::min(side, shape[d]) : 1});
    if (is_shown) flat.push_back(region.back().extent);
  }
  const auto sliced =
      layout::slice(*ir::layout_of(f, buffer), shape, region, layout::Machine::Cuda);
  if (!sliced) return std::nullopt;
  auto view = view::LayoutView::make(*sliced, flat, {num::storage_bits(buffer.dtype)});
  return view ? std::optional(*std::move(view)) : std::nullopt;
}

void add_picture(HoverText& out, const ir::Function& f, const ir::Buffer& buffer) {
  for (std::int64_t side = kPictureSide; side >= 4; side /= 2) {
    const auto corner = corner_of(f, buffer, side);
    if (!corner) return;
    const auto svg = view::to_svg(*corner);
    if (!svg) return;
    if (svg->size() / 3 * 4 > kMaxPictureBytes) continue;
    return out.draw(*svg, fmt::format("the first {} elements of {}", corner->size(), buffer.name));
  }
}

Json buffer_hover(const Question& about, const FoundBuffer& found, Span span) {
  const ir::Function& f = found.kernel->build.tile();
  const ir::Buffer& buffer = f[found.id];
  const auto view = view_of(f, buffer);
  HoverText out(about.client.has_markdown);
  out.say(fmt::format("{}: {}", out.code(buffer.name), buffer_sentence(f, buffer, view)));
  for (const infer::Inferred& each : found.kernel->build.compiled->layouts.buffers)
    if (each.buffer == found.id)
      out.say(fmt::format("layout inferred, {}: {}", each.reason, out.code(each.text)));
  if (const auto layout = ir::layout_of(f, buffer))
    out.say(fmt::format("layout {}", out.code(layout::to_text(*layout))));
  else
    out.say("row-major, with extents known at launch");
  if (!view) return out.json(about.range(span));
  if (about.client.has_pictures) add_picture(out, f, buffer);
  const std::size_t rank = view->shape().size();
  const auto slab = rank > 2 ? corner_of(f, buffer, kMaxTablePlaces) : std::nullopt;
  if (slab) {
    std::string index;
    for (std::size_t d = 2; d < rank; ++d) index += "0, ";
    out.say(fmt::format("{}:", out.code(fmt::format("{}[{}:, :]", buffer.name, index))));
  }
  out.show(view::to_table(slab ? *slab : *view, {.width = 100, .max_rows = 8, .max_slabs = 1}));
  return out.json(about.range(span));
}

// --- primitives, names ---------------------------------------------------------------------------

// What a call became, without its operands.
std::string plan_key(const lower::CallReport& call) {
  std::string out = call.chosen;
  for (const lower::InstructionCount& each : call.plan.instructions)
    out += fmt::format(" {} {}", each.per_thread, each.opcode);
  if (call.plan.wavefronts) out += fmt::format(" {}", call.plan.wavefronts->needed);
  return out;
}

// The calls whose text begins at the name: one line of the source may be lowered several times. The
// first with each plan is shown.
Json primitive_hover(const Question& about, const NameAt& name) {
  HoverText out(about.client.has_markdown);
  std::vector<std::string> plans;
  std::size_t calls = 0;
  for (const KernelAnalysis& kernel : about.analysis.kernels)
    for (const lower::CallReport& call : kernel.build.report.calls) {
      const auto at = place_in_document(kernel, call.span);
      if (!at || at->begin != name.path_span.begin) continue;
      ++calls;
      std::string plan = plan_key(call);
      if (std::ranges::find(plans, plan) != plans.end()) continue;
      plans.push_back(std::move(plan));
      if (plans.size() > kMaxShownCalls) continue;
      out.say(call.chosen.empty()
                  ? "nothing takes this call"
                  : fmt::format("{}: {}", out.code(call.chosen), call.plan.summary));
      out.show(fmt::format("{} by {}\n{}", call.name, call.threads, driver::call_text(call)));
    }
  if (calls > std::min(plans.size(), kMaxShownCalls))
    out.say(fmt::format("the line is lowered {} times, in {}: {} shows all", calls,
                        driver::plural(plans.size(), "way"), out.code("warpwright explain")));
  return plans.empty() ? Json(nullptr) : out.json(about.range(name.path_span));
}

Json api_hover(const Question& about, const NameAt& name) {
  const auto api = find_api(reference_path(about.analysis, name.path));
  if (!api) return nullptr;
  HoverText out(about.client.has_markdown);
  out.show(api->signature, "python");
  out.say(api->about);
  return out.json(about.range(name.span));
}

}  // namespace

Json hover(const Question& about, std::size_t offset) {
  const auto name = name_at(about.analysis.text->bytes(), offset);
  if (!name) return nullptr;
  if (Json found = primitive_hover(about, *name); !found.is_null()) return found;
  if (name->path.find('.') == std::string::npos) {
    const KernelAnalysis* const here = about.analysis.kernel_at(offset);
    if (here != nullptr)
      if (const auto buffer = find_buffer(*here, name->path, offset))
        return buffer_hover(about, *buffer, name->span);
  }
  return api_hover(about, *name);
}

// --- definitions ---------------------------------------------------------------------------------
//
// textDocument/definition: where a name is bound, across the modules of the user that a file
// imports. Modules are looked for beside the file, then in the folders of the workspace.

namespace {

namespace fs = std::filesystem;

constexpr int kMaxImports = 16;  // from file to file

struct Found {
  std::string path;
  std::shared_ptr<const Text> text;
  Span span;
};

std::shared_ptr<const Syntax> parsed(std::shared_ptr<const Text> text) {
  auto out = std::make_shared<Syntax>();
  auto ast = script::parse_file(text->bytes(), out->symbols);
  if (!ast) return nullptr;
  out->ast = *std::move(ast);
  out->text = std::move(text);
  return out;
}

class Finder {
 public:
  Finder(const ClientFeatures& client, const ReadText& read) : client_(client), read_(read) {}

  // The binding of a path ("build", "tiles.build") in a file.
  std::optional<Found> resolve(const std::string& file, const Syntax& syntax,
                               const std::optional<Binding>& binding, std::string_view rest,
                               int depth = 0) {
    if (!binding || depth > kMaxImports) return std::nullopt;
    if (binding->kind != Binding::Kind::Import)
      return rest.empty() ? std::optional(Found{file, syntax.text, binding->span}) : std::nullopt;
    if (binding->module.empty()) return in_module(file, import_path(*binding, rest), rest, depth);
    // `from pkg import tiles` is a module, `from tiles import build` a name of one.
    if (auto found = in_module(file, binding->module + "." + binding->imported, rest, depth))
      return found;
    const std::string inside =
        rest.empty() ? binding->imported : fmt::format("{}.{}", binding->imported, rest);
    return in_module(file, binding->module, inside, depth);
  }

 private:
  // `import a.b` binds `a`, and `a.b.build` is `build` of the module `a.b`.
  static std::string import_path(const Binding& binding, std::string_view& rest) {
    if (binding.name != binding.imported.substr(0, binding.imported.find('.')))
      return binding.imported;
    std::string out = binding.name;
    while (out.size() < binding.imported.size()) {
      const std::string_view word = rest.substr(0, rest.find('.'));
      const std::string longer = fmt::format("{}.{}", out, word);
      if (word.empty() || !(binding.imported + ".").starts_with(longer + ".")) break;
      out = longer;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return out;
  }

  // A name of a module, or its begin for none.
  std::optional<Found> in_module(const std::string& file, const std::string& module,
                                 std::string_view rest, int depth) {
    const std::string path = path_of_module(file, module);
    const auto text = path.empty() ? nullptr : read_(path);
    if (text == nullptr) return std::nullopt;
    if (rest.empty()) return Found{path, text, Span::at(0, 0)};
    const auto syntax = parsed(text);
    if (syntax == nullptr) return std::nullopt;
    const std::string_view first = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), first.size() + 1));
    return resolve(path, *syntax, binding_in_file(*syntax, first), rest, depth + 1);
  }

  [[nodiscard]] std::string path_of_module(const std::string& file, std::string_view module) const {
    std::vector<fs::path> folders = {fs::path(file).parent_path()};
    std::size_t dots = 0;
    while (dots < module.size() && module[dots] == '.') ++dots;
    module.remove_prefix(dots);
    for (std::size_t i = 1; i < dots; ++i) folders[0] = folders[0].parent_path();
    if (dots == 0) folders.insert(folders.end(), client_.folders.begin(), client_.folders.end());
    for (fs::path path : folders) {
      for (const std::string_view word : split_words(module, '.')) path /= std::string(word);
      std::error_code ignored;
      if (const fs::path plain = path.string() + ".py"; fs::is_regular_file(plain, ignored))
        return plain.string();
      if (const fs::path package = path / "__init__.py"; fs::is_regular_file(package, ignored))
        return package.string();
    }
    return "";
  }

  const ClientFeatures& client_;
  const ReadText& read_;
};

}  // namespace

Json definition(const Question& about, std::size_t offset, const ReadText& read) {
  const Analysis& analysis = about.analysis;
  const auto name = name_at(analysis.text->bytes(), offset);
  if (!name || analysis.syntax == nullptr || analysis.syntax->text != analysis.text) return nullptr;
  const std::string_view path = name->path;
  const std::string_view first = path.substr(0, path.find('.'));
  const std::string_view rest = path.substr(std::min(path.size(), first.size() + 1));
  Finder finder(about.client, read);
  const auto found = finder.resolve(analysis.path, *analysis.syntax,
                                    binding_of(*analysis.syntax, first, offset), rest);
  if (!found) return nullptr;
  const bool is_here = found->path == analysis.path;
  return {{"uri", is_here ? about.uri : uri_of(found->path)},
          {"range", range_json(*found->text, found->span, about.client.encoding)}};
}

}  // namespace ww::lsp
