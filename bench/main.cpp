// SPDX-License-Identifier: Apache-2.0
// The benchmark program: what Google Benchmark runs, then the matrix products and the row kernels
// of the suite `kernels`, whose competitors take turns (kernels/rounds.h), which Google Benchmark
// cannot do. Takes the options of Google Benchmark, of which these obey --benchmark_filter, _format
// and _repetitions, and `--no_rivals`, which leaves out cuBLAS, Triton and PyTorch; `--report=FILE`
// writes a page (report/page.h), `--report_options=TEXT` is what it says of the options. Exit
// status 1: a kernel's result was wrong, or something failed; 2: the page cannot be read or
// written.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "base/join.h"
#include "base/leftovers.h"
#include "base/pooled_new.h"
#include "base/process.h"
#include "base/source.h"
#include "compile/examples.h"
#include "json/json.h"
#include "kernels/gemm_measure.h"
#include "kernels/gemm_table.h"
#include "kernels/gpu.h"
#include "report/machine.h"
#include "report/page.h"
#include "report/rows.h"
#include "report/sections.h"
#include "rows/row_measure.h"
#include "rows/row_table.h"
#include "runtime/assembler.h"

namespace ww::bench {
namespace {

constexpr int kRoundsPerRepetition = 5;

struct Options {
  std::string filter;
  bool json = false;
  int repetitions = 3;
  bool with_rivals = true;
  std::string report = {};          // the page; "": none
  std::string report_options = {};  // as the user wrote them
};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads what products and row kernels obey, and takes away what Google Benchmark does not know.
Options read_options(int& argc, char** argv) {
  Options out;
  const auto value = [](std::string_view text, std::string_view name) {
    return text.starts_with(name) ? std::optional(text.substr(name.size())) : std::nullopt;
  };
  for (const std::string_view text : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (const auto filter = value(text, "--benchmark_filter=")) out.filter = *filter;
    if (const auto format = value(text, "--benchmark_format=")) out.json = *format == "json";
    if (const auto number = value(text, "--benchmark_repetitions="))
      (void)std::from_chars(number->data(), number->data() + number->size(), out.repetitions);
    if (text == "--no_rivals") out.with_rivals = false;
    if (const auto file = value(text, "--report=")) out.report = *file;
    if (const auto given = value(text, "--report_options=")) out.report_options = *given;
  }
  const auto is_ours = [](std::string_view text) {
    return text == "--no_rivals" || text.starts_with("--report");
  };
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, is_ours) - argv);
  argv[argc] = nullptr;
  return out;
}

// --- the GPU and the rivals ----------------------------------------------------------------------

// The name of the GPU, or why it cannot be used.
Result<std::string> usable_gpu() {
  const auto gpu = WW_TRY(Gpu::open(WW_TRY(runtime::load_cuda_calls())));
  return gpu.memory().name();
}

// A rival that is a script in Python.
template <typename Rival>
Result<Rival> start_script(std::string_view file) {
  const std::string python = find_program("python3", environment("PATH"));
  if (python.empty()) return fail(DiagKind::Io, "`python3` is in no folder of PATH");
  return Rival::start(python, WW_TRY(file_above(file)));
}

Result<SourceText> source_of(std::string_view file) { return example(file); }

// --- the products --------------------------------------------------------------------------------

Rivals find_rivals(bool with_rivals) {
  const auto triton = [] { return start_script<Triton>("bench/kernels/triton_gemm.py"); };
  const Diag left_out = diag(DiagKind::Io, "left out on request");
  if (!with_rivals) return {fail(left_out), fail(left_out), fail(left_out)};
  const std::string folders = environment("LD_LIBRARY_PATH");
  return {load_cublas(cublas_places("cublas", folders)),
          load_cublas_lt(cublas_places("cublasLt", folders)), triton()};
}

std::string found_ptxas() {
  const auto found =
      runtime::find_ptxas({.given = environment("PTXAS"), .path = environment("PATH")});
  return found ? *found : "";
}

struct Products {
  std::vector<GemmResult> results = {};
  std::string skipped = {};  // why there are none
  std::string gpu = {};
};

Products measure(const std::vector<GemmRow>& rows, const Options& options) {
  const auto gpu = usable_gpu();
  if (!gpu) return {.skipped = gpu.error().text};
  const auto calls = runtime::load_cuda_calls();
  Products out{.gpu = *gpu};
  Rivals rivals = find_rivals(options.with_rivals);
  GemmBench bench(*calls,
                  {.rounds = kRoundsPerRepetition * options.repetitions,
                   .ptxas = found_ptxas(),
                   .source = source_of},
                  rivals);
  std::FILE* const to = options.json ? stderr : stdout;  // so that it can be watched
  fmt::print(to, "\nmatrix products on {}\n{}", out.gpu, table_head());
  for (const GemmRow& row : rows) {
    out.results.push_back(bench.measure(row));
    fmt::print(to, "{}", table_lines(out.results.back()));
    std::fflush(to);
  }
  fmt::print(to, "{}", table_foot(out.results));
  return out;
}

void add_products(Json& json, const Products& products) {
  json["products"] = products_json(products.results);
  if (!products.gpu.empty()) json["products_gpu"] = products.gpu;
  if (!products.skipped.empty()) json["products_skipped"] = products.skipped;
}

// --- the row kernels -----------------------------------------------------------------------------

struct RowKernels {
  std::vector<rows::RowResult> results = {};
  std::string skipped = {};  // why there are none
  std::string gpu = {};
};

RowKernels measure(const std::vector<rows::BenchRow>& chosen, const Options& options) {
  const auto gpu = usable_gpu();
  if (!gpu) return {.skipped = gpu.error().text};
  const auto calls = runtime::load_cuda_calls();
  RowKernels out{.gpu = *gpu};
  auto torch = options.with_rivals
                   ? start_script<rows::TorchRows>("bench/rows/torch_rows.py")
                   : Result<rows::TorchRows>(fail(DiagKind::Io, "left out on request"));
  rows::RowBench bench(*calls,
                       {.rounds = kRoundsPerRepetition * options.repetitions,
                        .ptxas = found_ptxas(),
                        .source = source_of},
                       torch);
  std::FILE* const to = options.json ? stderr : stdout;  // so that it can be watched
  fmt::print(to, "\nrow kernels on {}, next to {}\n", out.gpu,
             torch ? torch->versions() : "no others: " + torch.error().text);
  for (const rows::BenchRow& row : chosen) {
    const bool is_new_kind = out.results.empty() || out.results.back().row.problem.is_attention() !=
                                                        row.problem.is_attention();
    if (is_new_kind) fmt::print(to, "{}", rows::table_head(row.problem));
    out.results.push_back(bench.measure(row));
    fmt::print(to, "{}", rows::table_line(out.results.back()));
    std::fflush(to);
  }
  fmt::print(to, "{}", rows::table_foot(out.results));
  return out;
}

void add_row_kernels(Json& json, const RowKernels& kernels) {
  json["rows"] = rows::rows_json(kernels.results);
  if (!kernels.gpu.empty()) json["rows_gpu"] = kernels.gpu;
  if (!kernels.skipped.empty()) json["rows_skipped"] = kernels.skipped;
}

// --- Google Benchmark ----------------------------------------------------------------------------

// Shows results while they come in, and keeps them as JSON.
class ShowAndKeep : public benchmark::BenchmarkReporter {
 public:
  explicit ShowAndKeep(benchmark::BenchmarkReporter& shown) : shown_(shown) {}

  bool ReportContext(const Context& context) override {
    kept_.SetOutputStream(&GetOutputStream());
    return shown_.ReportContext(context) && kept_.ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    shown_.ReportRuns(runs);
    kept_.ReportRuns(runs);
  }
  void Finalize() override {
    shown_.Finalize();
    kept_.Finalize();
  }

 private:
  benchmark::BenchmarkReporter& shown_;
  benchmark::JSONReporter kept_;
};

// What it printed in JSON. That no benchmark matches is an error only when there is nothing else.
Json run_benchmarks(const Options& options, bool has_others) {
  std::ostringstream output, errors;
  benchmark::BenchmarkReporter* const shown = benchmark::CreateDefaultDisplayReporter();
  ShowAndKeep both(*shown);
  benchmark::BenchmarkReporter* const reporter = options.report.empty() ? shown : &both;
  if (options.json || reporter == &both) reporter->SetOutputStream(&output);
  reporter->SetErrorStream(&errors);
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks(reporter);
  if (matched > 0 || !has_others) std::cerr << errors.str();
  if (Json out = Json::parse(output.str()).value_or(nullptr); out.type() == JsonType::Object)
    return out;
  return {{"context", Json::object()}, {"benchmarks", Json::array()}};
}

// --- the report ----------------------------------------------------------------------------------

constexpr std::size_t kMaxPageBytes = std::size_t{1} << 24U;

Result<Page> read_page(const std::string& file) {
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) return Page();
  return Page::read(WW_TRY(read_file(file, kMaxPageBytes)));
}

std::string gpu_name() {
  const auto gpu = usable_gpu();
  return gpu ? *gpu : "";
}

Measurement measurement(const Json& result, const Options& options) {
  const auto context = result.value("context", Json::object());
  const auto load = context.value("load_avg", Json::array());
  return {.machine = this_machine(find_tool("nvcc"), gpu_name()),
          .version = context.value("warpwright", "unknown"),
          .date = context.value("date", "").substr(0, 10),
          .load = load.size() == 0 ? 0 : load[0].get<double>(),
          .options = options.report_options,
          .is_filtered = options.report_options.contains("--filter")};
}

int user_error(const Diag& diag, const std::string& file) {
  const auto text = diag.span.known ? read_file(file, kMaxPageBytes) : std::string();
  fmt::print(stderr, "{}", render(diag, SourceText(file, text ? *text : "")));
  return 2;
}

// The page with the sections that this run has measured.
int write_report(Page page, const Json& result, const Options& options) {
  if (const Rows rows = read_rows(result); !rows.failed.empty()) {
    fmt::print(stderr, "`{}` stays as it is, for something failed:\n{}\n", options.report,
               join(rows.failed, "\n"));
    return 1;
  }
  const std::vector<Section> sections = sections_of(result, measurement(result, options));
  if (sections.empty()) {
    fmt::print("`{}` stays as it is: nothing was measured\n", options.report);
    return 0;
  }
  const Section head = page_head();
  page.put(head.name, head.text);
  std::vector<std::string> kept = page.names(), written;
  std::erase(kept, head.name);
  for (const Section& section : sections) {
    page.put(section.name, section.text);
    std::erase(kept, section.name);
    written.push_back(section.name);
  }
  if (const auto good = write_file_atomically(options.report, page.text()); !good)
    return user_error(good.error(), options.report);
  fmt::print("`{}`: measured {}; kept {}\n", options.report, join(written, ", "),
             kept.empty() ? "nothing" : fmt::to_string(join(kept, ", ")));
  return 0;
}

// --- all of it -----------------------------------------------------------------------------------

int run(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const auto page = options.report.empty() ? Result<Page>(Page()) : read_page(options.report);
  if (!page) return user_error(page.error(), options.report);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  // Rows of one's own take the place of all others (kernels/kernel_rows.h).
  const bool is_own = !environment("WW_BENCH_KERNELS").empty();
  const auto product_rows = is_own ? std::vector<GemmRow>() : gemm_rows(options.filter);
  const auto kernel_rows =
      is_own ? std::vector<rows::BenchRow>() : rows::bench_rows(options.filter);
  Json json = run_benchmarks(options, !product_rows.empty() || !kernel_rows.empty());
  benchmark::Shutdown();
  Products products;
  if (!product_rows.empty()) {
    products = measure(product_rows, options);
    add_products(json, products);
  }
  RowKernels kernels;
  if (!kernel_rows.empty()) {
    kernels = measure(kernel_rows, options);
    add_row_kernels(json, kernels);
  }
  if (!options.report.empty())
    if (const int status = write_report(*page, json, options); status != 0) return status;
  if (options.json) {
    Json out = {{"schema", "warpwright/bench/1"}};
    out.update(json);
    fmt::print("{}\n", out.dump(2));
  }
  if (!options.json && !products.skipped.empty())
    fmt::print("{} matrix products skipped: {}\n", product_rows.size(), products.skipped);
  if (!options.json && !kernels.skipped.empty())
    fmt::print("{} row kernels skipped: {}\n", kernel_rows.size(), kernels.skipped);
  return std::ranges::all_of(products.results, &GemmResult::good) &&
                 std::ranges::all_of(kernels.results, &rows::RowResult::good)
             ? 0
             : 1;
}

}  // namespace
}  // namespace ww::bench

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  (void)std::signal(SIGXFSZ, SIG_IGN);
  ww::clean_up_on_signals();
  return ww::bench::run(argc, argv);
}
