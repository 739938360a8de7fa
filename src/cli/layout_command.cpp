// SPDX-License-Identifier: Apache-2.0
// `warpwright layout`: shows where the elements of a tile live, and works with layouts. Everything
// is in driver/layout/tool.h; here options become a request and the report goes to stdout or a
// file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "driver/layout/tool.h"

namespace ww::cli::layout_command {
namespace {

using driver::LayoutFormat;

constexpr std::string_view kFormats[] = {"table", "text", "json", "svg"};
constexpr std::string_view kTargets[] = {"cuda", "none"};
// Where there is no terminal to say it.
constexpr std::int64_t kDefaultWidth = 160;
constexpr std::int64_t kLeastWidth = 20;

struct Options {
  driver::LayoutRequest request;
  std::string format = "table";
  std::string target = "cuda";
  std::string output;
  std::int64_t width = 0;  // not given
  bool list_ops = false;
  bool list_layouts = false;
};

LayoutFormat format_of(std::string_view name) {
  if (name == "json") return LayoutFormat::Json;
  if (name == "svg") return LayoutFormat::Svg;
  return name == "text" ? LayoutFormat::Text : LayoutFormat::Table;
}

std::int64_t width_of(const Options& options) {
  if (options.width > 0) return options.width;
  const auto columns = static_cast<std::int64_t>(terminal_columns());
  return columns == 0 || !options.output.empty() ? kDefaultWidth : std::max(columns, kLeastWidth);
}

std::string remark_lines(const driver::LayoutOutcome& outcome) {
  std::string out;
  for (const std::string& remark : outcome.remarks) out += remark + "\n";
  return out;
}

// stdout, or the whole file.
Outcome deliver(const Options& options, std::string text) {
  if (options.output.empty()) return {.out = std::move(text)};
  const auto written = write_file_atomically(options.output, text);
  if (!written) return user_error(written.error());
  return {};
}

Outcome show(const Options& options) {
  driver::LayoutRequest request = options.request;
  request.machine = options.target == "cuda" ? layout::Machine::Cuda : layout::Machine::None;
  const driver::LayoutOutcome result = run_layout(request);
  const std::string remarks = remark_lines(result);
  if (result.refusal)
    return {.status = Exit::UserError,
            .err = remarks + render(result.refusal->diag, result.refusal->source)};
  auto text = render_report(*result.report, format_of(options.format), width_of(options));
  Outcome outcome = text ? deliver(options, std::move(*text)) : user_error(text.error());
  if (options.format == "table" || options.format == "text") outcome.look = Look::Table;
  outcome.err = remarks + outcome.err;
  if (outcome.status == Exit::Good && !result.report->holds()) outcome.status = Exit::Unexpected;
  return outcome;
}

Outcome run(const Options& options) {
  if (options.list_ops) return deliver(options, driver::ops_listing());
  if (options.list_layouts) return deliver(options, driver::named_layouts_listing());
  if (options.request.notation.empty())
    return user_error(diag(DiagKind::BadArgument, "no layout was given")
                          .with_note("`warpwright layout --help` shows the usage"));
  return show(options);
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  driver::LayoutRequest& request = options->request;
  set.argument("NOTATION", request.notation, Need::Optional,
               "a layout, or a named one (see --list-layouts)");
  set.text("--shape", "SHAPE", request.shape,
           "logical extents, e.g. 8,16 (default: the layout's own)");
  set.texts("--op", "OP", request.ops, "an operation, applied in order (see --list-ops)");
  set.text(
      "--on", "NOTATION", request.on,
      "a layout of the same elements in tensor memory: rows are its lanes, columns its columns");
  set.choice("--as", "FORMAT", options->format, kFormats,
             "table (default), text (notation and answers), json, svg");
  set.text("-o,--output", "FILE", options->output, "write to a file instead of stdout");
  set.text("--dtype", "DTYPE", request.dtype, "element type, for lines and banks, e.g. float16");
  set.texts("--axis", "AXIS", request.axes,
            "declare an axis: NAME=memory, NAME=device, NAME=thread[:DIVISOR:MODULUS]");
  set.texts("--var", "VAR", request.vars, "declare a run-time variable: NAME=BEGIN:END[:MULTIPLE]");
  set.choice("--target", "TARGET", options->target, kTargets,
             "whose thread axes may be fused and split: cuda (default), none");
  set.number("--width", options->width, kLeastWidth, 10000,
             "characters per line of a table (default: the terminal's, or 160)");
  set.flag("--list-ops", options->list_ops, "list all operations, with an example each");
  set.flag("--list-layouts", options->list_layouts, "list all named layouts, with an example each");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "layout",
    .summary = "show where the elements of a tile live, and work with layouts",
    .description =
        "Shows the place of every element of a tile: lane and register, shared-memory address and\n"
        "bank, tensor-memory lane and column. Operations change the layout or ask about it; they\n"
        "apply from left to right. The resulting notation is printed first. Exit status 1 means\n"
        "that an expectation (`equal`) does not hold. docs/reference/layout.md explains the\n"
        "algebra.",
    .examples =
        "# an 8x8 fragment over the lanes of a warp\n"
        "warpwright layout 'S[(8,4,2):(4@laneid,1@laneid,1)]'\n"
        "# the shared-memory tile of an f16 operand, with banks, as a picture\n"
        "warpwright layout 'mma_shared(float16,128B,64,64)' --as svg -o tile.svg\n"
        "# which element lane 5 holds in register 1\n"
        "warpwright layout 'mma_frag(A,16,float16)' --op at:laneid=5,m=1 --as text\n"
        "# which thread holds lane L, column C of an accumulator of 64 rows\n"
        "warpwright layout 'tcgen05_atom(16x256b,64,8,float32)' --on 'tmem_datapath(F,64,8)'\n"
        "# a region that begins at a run-time index\n"
        "warpwright layout 'row_major(64,128)' --var k=0:8 --op 'slice:0:64,16*k:16*k+16' --as "
        "text\n"
        "# are two layouts the same? Exit status 1 if not\n"
        "warpwright layout 'S[(8,8):(8,1)]' --op 'equal:S[64:1]' --as text",
    .set_up = set_up};

}  // namespace ww::cli::layout_command
