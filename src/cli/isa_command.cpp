// SPDX-License-Identifier: Apache-2.0
// `warpwright isa`: the PTX instruction catalogue, the check of PTX files and the matrix-copy
// selector. Everything is in driver/isa/tool.h.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/options.h"
#include "driver/isa/tool.h"

namespace ww::cli::isa_command {
namespace {

using driver::IsaFormat;

constexpr std::string_view kActions[] = {"list", "show", "check", "select", "registers"};
constexpr std::size_t kMaxFileBytes = std::size_t{2} << 30U;

struct Options {
  std::string action;
  std::vector<std::string> words;
  bool json = false;

  [[nodiscard]] IsaFormat format() const { return json ? IsaFormat::Json : IsaFormat::Text; }
};

Outcome deliver(const Result<std::string>& text) {
  if (!text) return user_error(text.error());
  return {.out = *text};
}

Outcome wrong_count(const Options& options, std::string_view wanted) {
  return user_error(diag(DiagKind::BadArgument, "`isa {}` takes {}, not {} words", options.action,
                         wanted, options.words.size())
                        .with_note("`warpwright isa --help` shows the usage"));
}

Outcome check_file(const std::string& path, IsaFormat format) {
  const auto text = read_file(path, kMaxFileBytes);
  if (!text) return user_error(text.error());
  driver::IsaCheck result = isa_check(SourceText(path, *text), format);
  return {.status = result.legal ? Exit::Good : Exit::Unexpected,
          .out = std::move(result.out),
          .err = std::move(result.err)};
}

Outcome run(const Options& options) {
  const std::vector<std::string>& words = options.words;
  if (options.action == "list") {
    if (words.size() > 1) return wrong_count(options, "at most one name");
    return deliver(driver::isa_list(words.empty() ? "" : words[0], options.format()));
  }
  if (options.action == "registers") {
    if (!words.empty()) return wrong_count(options, "nothing");
    return {.out = driver::isa_registers(options.format())};
  }
  if (options.action == "select") return deliver(driver::isa_select(words, options.format()));
  if (words.size() != 1) {
    return wrong_count(options, options.action == "show" ? "one instruction" : "one file");
  }
  if (options.action == "show") return deliver(driver::isa_show(words[0], options.format()));
  return check_file(words[0], options.format());
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.argument("ACTION", options->action, Need::Required, kActions,
               "list [FAMILY], show INSTRUCTION, check FILE.ptx,\n"
               "select [family=… num=… shape=…, or id=…], registers");
  set.arguments("WORD", options->words, Need::Optional,
                "the action's family, instruction, file or properties");
  set.flag("--json", options->json, "print JSON (docs/reference/isa.md)");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "isa",
    .summary = "PTX instructions: list and show them, check a file, select matrix copies",
    .description =
        "The catalogue of PTX instructions. `list` names the families, or the syntax lines of one; "
        "`show`\n"
        "describes an instruction, with a picture of which lane and register holds "
        "which\n"
        "element; `check` says whether every instruction of a PTX file is legal for the target "
        "and\n"
        "version the file names, and exits 1 if not; `select` maps the properties of an NVVM "
        "matrix copy\n"
        "to its intrinsic id and to the instruction that does it, or an id to its properties;\n"
        "`registers` shows the register classes.",
    .examples =
        "# where ldmatrix puts each element\n"
        "warpwright isa show ldmatrix\n"
        "# what a full opcode needs, and its fragments\n"
        "warpwright isa show mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\n"
        "# is this file legal for its own target?\n"
        "warpwright isa check kernel.ptx\n"
        "# the intrinsic and the instruction of a transposed load of two matrices\n"
        "warpwright isa select family=ldmatrix num=2 shape=0 sz=0 trans=1 layout=0\n"
        "# what an id in a dump of LLVM means\n"
        "warpwright isa select id=9863",
    .set_up = set_up};

}  // namespace ww::cli::isa_command
