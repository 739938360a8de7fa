// SPDX-License-Identifier: Apache-2.0
// `warpwright bench`: runs the benchmarks, a separate executable (bench/) so that the program
// itself carries no benchmark library. This file only finds it and translates options. Benchmarks
// are named `<suite>/<what>`, which is how a suite is chosen.
#include <fmt/format.h>
#include <regex.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/append.h"
#include "base/file_io.h"
#include "base/process.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/version.h"

namespace ww::cli::bench_command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuites[] = {"compile", "kernels", "layout", "ptx", "sim"};

constexpr std::int64_t kRepetitions = 3;

struct Options {
  std::string suite;  // empty: all
  std::string filter;
  std::int64_t repetitions = kRepetitions;
  bool json = false;
  bool no_rivals = false;
  bool report = false;
  std::string output;
};

Result<void> check_regex(const std::string& text) {
  regex_t compiled;
  const int error = ::regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) {
    ::regfree(&compiled);
    return {};
  }
  std::array<char, 128> reason{};
  (void)::regerror(error, &compiled, reason.data(), reason.size());
  return fail(DiagKind::BadArgument, "`{}` is not a regular expression: {}", text, reason.data());
}

// The name's part after `<suite>/` is what the user's expression is about.
std::string name_filter(const Options& options) {
  const std::string suite = options.suite.empty() ? "[a-z_]+" : options.suite;
  const bool anchored = options.filter.starts_with('^');
  return fmt::format("^{}/{}({})", suite, anchored ? "" : ".*", options.filter.substr(anchored));
}

constexpr std::string_view kPage = "docs/evidence/benchmarks.md";

// Where the report goes: as asked for, or the page of the checkout that the user is in.
Result<fs::path> page_for(const Options& options) {
  if (!options.output.empty()) return fs::path(options.output);
  std::error_code ignored;
  for (fs::path folder = fs::current_path(ignored);; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / kPage, ignored)) return folder / kPage;
    if (folder == folder.parent_path()) break;
  }
  return fail(diag(DiagKind::BadArgument, "`--report` has no page to write")
                  .with_note(fmt::format("neither this folder nor one above it has `{}`", kPage))
                  .with_note("`-o FILE` writes another one"));
}

Result<void> check_report(const Options& options) {
  if (!options.report && !options.output.empty())
    return fail(DiagKind::BadArgument, "`-o {}` is for `--report`", options.output);
  if (options.report && options.json)
    return fail(DiagKind::BadArgument, "`--report` writes a page, `--json` JSON; only one of them");
  return {};
}

// The options other than the suite, as a shell takes them.
std::string options_text(const Options& options) {
  std::string out;
  if (!options.filter.empty()) append(out, " --filter '{}'", options.filter);
  if (options.no_rivals) out += " --no-rivals";
  if (options.repetitions != kRepetitions) append(out, " --repetitions {}", options.repetitions);
  return out;
}

// Measuring takes minutes, so check the page first.
Result<void> add_report(const Options& options, std::vector<std::string>& words) {
  const fs::path page = WW_TRY(page_for(options));
  WW_TRY_VOID(check_writable(page));
  words.push_back("--report=" + page.string());
  words.push_back("--report_options=" + options_text(options));
  return {};
}

Outcome run(const Options& options, const std::string& color) {
  if (const auto valid = check_regex(options.filter); !valid) return user_error(valid.error());
  if (const auto valid = check_report(options); !valid) return user_error(valid.error());
  std::vector<std::string> report;
  if (options.report)
    if (const auto added = add_report(options, report); !added) return user_error(added.error());
  const auto executable = find_part(
      {.what = "the benchmark program", .file = "warpwright-bench", .target = "warpwright-bench"});
  if (!executable) return user_error(executable.error());
  Outcome out{.become = {*executable, "--benchmark_filter=" + name_filter(options),
                         fmt::format("--benchmark_format={}", options.json ? "json" : "console"),
                         fmt::format("--benchmark_repetitions={}", options.repetitions),
                         "--benchmark_report_aggregates_only=true",
                         fmt::format("--benchmark_color={}",
                                     dress_for(STDOUT_FILENO, color).colored ? "true" : "false"),
                         fmt::format("--benchmark_context=warpwright={}", version())}};
  if (options.no_rivals) out.become.emplace_back("--no_rivals");
  out.become.insert(out.become.end(), report.begin(), report.end());
  return out;
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.argument("SUITE", options->suite, Need::Optional, kSuites,
               "which benchmarks: compile, kernels, layout, ptx, sim (default: all)");
  set.flag("--json", options->json,
           "print JSON instead of a table: Google Benchmark's, matrix products and row kernels");
  set.flag("--report", options->report,
           "write the results into a Markdown page; sections not measured stay as they are");
  set.text("-o,--output", "FILE", options->output,
           "the page for --report (default: docs/evidence/benchmarks.md of this checkout)");
  set.flag("--no-rivals", options->no_rivals,
           "leave out cuBLAS, Triton and PyTorch, which take part if installed");
  set.text("--filter", "REGEX", options->filter,
           "only benchmarks whose name (after `SUITE/`) matches this regular expression");
  set.number("--repetitions", options->repetitions, 2, 1000,
             "how often each is repeated; mean, median and spread are shown (default: 3)");
  return [options, &set] { return run(*options, set.color()); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "bench",
    .summary = "measure the speed of Warpwright itself on this machine",
    .description =
        "Runs the benchmarks of a suite and prints time per operation: mean, median, standard\n"
        "deviation and coefficient of variation over the repetitions.\n"
        "\n"
        "`compile` also measures nvcc and ptxas if they are installed. `kernels` needs a GPU and\n"
        "skips its benchmarks without one. WW_BENCH_KERNELS names other kernels for it:\n"
        "FILE::EXPRESSION for files of examples/, separated by `;`.\n"
        "\n"
        "Matrix products are part of `kernels`: ours, the ceiling of mma.sync, cuBLAS and Triton\n"
        "take turns, five rounds per repetition; the table shows medians. So are the kernels of\n"
        "examples/rows/ next to the driver's copy, Triton and PyTorch. The exit status is 1 if a\n"
        "result is wrong.\n"
        "\n"
        "With --report the results also go into docs/evidence/benchmarks.md or another page:\n"
        "medians, the machine and the date, with the command for each table. Sections that this\n"
        "run did not measure stay as they are, such as the GPU's on a machine without one.",
    .examples =
        "# how fast are the layout operations here\n"
        "warpwright bench layout\n"
        "# two of them, for a script\n"
        "warpwright bench layout --filter 'compose|inverse' --json\n"
        "# all that this machine can measure, into docs/evidence/benchmarks.md\n"
        "warpwright bench --report\n"
        "# matrix products of ours alone\n"
        "warpwright bench kernels --filter gemm --no-rivals\n"
        "# softmax, norms and the like next to Triton and PyTorch\n"
        "warpwright bench kernels --filter rows\n"
        "# a kernel on the GPU, with your own parameters\n"
        "WW_BENCH_KERNELS='transpose.py::build(m=8192, n=8192)' warpwright bench kernels",
    .set_up = set_up};

}  // namespace ww::cli::bench_command
