// SPDX-License-Identifier: Apache-2.0
#include "sections.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/append.h"
#include "rows.h"
#include "table_text.h"
#include "turn_tables.h"

namespace ww::bench {
namespace {

// --- numbers -------------------------------------------------------------------------------------

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e4) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e7) return fmt::format("{:.0f} µs", nanoseconds / 1e3);
  return fmt::format("{:.1f} ms", nanoseconds / 1e6);
}
std::optional<double> milliseconds(const Row* row) {
  return row == nullptr ? std::nullopt : std::optional(row->nanoseconds / 1e6);
}
std::optional<double> counter(const Row* row, const std::string& name) {
  return row == nullptr ? std::nullopt : row->counter(name);
}
std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
  return a && b && *b != 0 ? std::optional(*a / *b) : std::nullopt;
}
std::string times_text(std::optional<double> value) {
  return value ? number_text(*value) + " ×" : std::string(kNone);
}
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// --- compile -------------------------------------------------------------------------------------

std::string tool_cell(const Rows& rows, const std::string& name) {
  if (rows.skipped.contains(name)) return "not here";
  return number_text(milliseconds(rows.find(name)));
}

std::string compile_tables(const Rows& rows) {
  constexpr std::string_view kTitles[] = {
      "example", ">source → PTX, ms", ">elapsed",        ">read",       ">lower", ">prove",
      ">emit",   ">`nvcc -ptx`, ms",  ">nvcc over ours", ">`ptxas`, ms"};
  constexpr std::string_view kWhole = "/source_to_ptx";
  Table programs(kTitles);
  for (const Row* row : rows.under("compile/")) {
    if (!row->name.ends_with(kWhole)) continue;
    const std::string of = row->name.substr(0, row->name.size() - kWhole.size());
    const auto phase = [&](std::string_view name) {
      return milliseconds(rows.find(fmt::format("{}/{}", of, name)));
    };
    const auto lowered = phase("tile_to_lowered"), unproven = phase("tile_to_unproven");
    const std::string proof =
        lowered && unproven ? number_text(std::max(0.0, *lowered - *unproven)) : std::string(kNone);
    const std::string cells[] = {code(of.substr(8)),
                                 number_text(milliseconds(row)),
                                 number_text(row->elapsed / 1e6),
                                 number_text(phase("source_to_tile")),
                                 number_text(unproven),
                                 proof,
                                 number_text(phase("lowered_to_ptx")),
                                 tool_cell(rows, of + "/nvcc_to_ptx"),
                                 times_text(counter(rows.find(of + "/nvcc_to_ptx"), "ratio")),
                                 tool_cell(rows, of + "/ptxas")};
    programs.add(cells);
  }
  constexpr std::string_view kFrontEnd[] = {"front end", ">ms"};
  Table front_end(kFrontEnd);
  for (const Row* row : rows.under("compile/")) {
    if (std::ranges::count(row->name, '/') != 1) continue;
    const std::string cells[] = {code(last_part(row->name)), number_text(milliseconds(row))};
    front_end.add(cells);
  }
  return programs.text() + front_end.text();
}

// --- layout --------------------------------------------------------------------------------------

std::string layout_tables(const Rows& rows) {
  constexpr std::string_view kTitles[] = {"operation, ns", ">rank 4", ">rank 5", ">rank 6"};
  constexpr std::string_view kOthers[] = {"operation", ">whole", ">per element, ns"};
  Table operations(kTitles), others(kOthers);
  std::set<std::string> done;
  for (const Row* row : rows.under("layout/")) {
    const std::string of = row->name.substr(0, row->name.rfind('/'));
    if (last_part(row->name).find_first_not_of("0123456789") != std::string_view::npos) {
      const auto rate = row->counter("items_per_second");
      const std::string cells[] = {code(row->name.substr(7)), time_text(row->nanoseconds),
                                   number_text(ratio(1e9, rate))};
      others.add(cells);
    } else if (done.insert(of).second) {
      std::vector<std::string> cells = {code(of.substr(7))};
      for (const int rank : {4, 5, 6}) {
        const auto ms = milliseconds(rows.find(fmt::format("{}/{}", of, rank)));
        cells.push_back(ms ? fmt::format("{:.0f}", *ms * 1e6) : std::string(kNone));
      }
      operations.add(cells);
    }
  }
  return operations.text() + others.text();
}

// --- ptx and kernels -----------------------------------------------------------------------------

std::string rate_text(const Row& row) {
  if (const auto share = row.counter("of_copy"))
    return fmt::format("{} TB/s, {:.1f} %", number_text(row.counter("bytes_per_second"), 1e-12),
                       100 * *share);
  if (const auto bytes = row.counter("bytes_per_second"))
    return fmt::format("{:.0f} MB/s", *bytes / 1e6);
  if (const auto items = row.counter("items_per_second"))
    return fmt::format("{} ns per instruction", number_text(1e9 / *items));
  return "";
}

std::string plain_table(const Rows& rows, std::string_view suite) {
  constexpr std::string_view kTitles[] = {"benchmark", ">median", ">rate"};
  Table out(kTitles);
  for (const Row* row : rows.under(suite)) {
    const std::string cells[] = {code(row->name.substr(suite.size())), time_text(row->nanoseconds),
                                 rate_text(*row)};
    out.add(cells);
  }
  return out.text();
}
std::string ptx_tables(const Rows& rows) { return plain_table(rows, "ptx/"); }
std::string kernel_tables(const Rows& rows) { return plain_table(rows, "kernels/"); }

// --- sim -----------------------------------------------------------------------------------------

constexpr double kMega = 1e-6;
constexpr double kLanes = 32;

// Instructions per second, without checks and with all.
std::string code_table(const Rows& rows) {
  constexpr std::string_view kTitles[] = {"code, M/s", ">warp instructions, checks off",
                                          ">on",       ">thread instructions, checks off",
                                          ">on",       ">off over on"};
  Table out(kTitles);
  for (const std::string_view each : {"integer", "float", "memory", "mixed"}) {
    const auto rate = [&](std::string_view checks) {
      return counter(rows.find(fmt::format("sim/{}/{}", each, checks)), "items_per_second");
    };
    const auto off = rate("unchecked"), on = rate("checked");
    if (!off && !on) continue;
    const std::string cells[] = {std::string(each),
                                 number_text(off, kMega),
                                 number_text(on, kMega),
                                 number_text(off, kMega * kLanes),
                                 number_text(on, kMega * kLanes),
                                 times_text(ratio(off, on))};
    out.add(cells);
  }
  return out.text();
}

// The same code on more and more cores.
std::string cores_table(const Rows& rows) {
  constexpr std::string_view kTitles[] = {"cores", ">warp instructions, M/s, checks off",
                                          ">over one core", ">checks on", ">over one core"};
  constexpr std::string_view kOff = "sim/cores/unchecked/", kOn = "sim/cores/checked/";
  const auto rate = [&](std::string_view of, std::string_view cores) {
    return counter(rows.find(fmt::format("{}{}", of, cores)), "items_per_second");
  };
  Table out(kTitles);
  for (const Row* row : rows.under(kOff)) {
    const std::string_view cores = last_part(row->name);
    const auto off = rate(kOff, cores), on = rate(kOn, cores);
    const std::string cells[] = {std::string(cores), number_text(off, kMega),
                                 times_text(ratio(off, rate(kOff, "1"))), number_text(on, kMega),
                                 times_text(ratio(on, rate(kOn, "1")))};
    out.add(cells);
  }
  return out.text();
}

std::string products_on_sim(const Rows& rows) {
  constexpr std::string_view kTitles[] = {"matrix products, GFLOP/s", ">exact", ">plain",
                                          ">exact, checks on"};
  constexpr double kGiga = 1e-9;
  Table out(kTitles);
  for (const std::string_view each : {"mma_f16", "wgmma_f16", "tcgen05_f16", "gemm_1024"}) {
    std::vector<std::string> cells = {code(each)};
    for (const std::string_view how : {"exact", "plain", "checked"})
      cells.push_back(
          number_text(counter(rows.find(fmt::format("sim/{}/{}", each, how)), "FLOP"), kGiga));
    if (std::ranges::count(cells, kNone) < 3) out.add(cells);
  }
  return out.text();
}

std::string sim_tables(const Rows& rows) {
  std::string out = code_table(rows) + cores_table(rows) + products_on_sim(rows);
  if (const auto ms = milliseconds(rows.find("sim/start_up")))
    append(out, "\nReading, checking and decoding a kernel of one screen: {} ms.\n",
           number_text(*ms));
  return out;
}

// --- sections ------------------------------------------------------------------------------------

struct Suite {
  std::string_view name;
  std::string_view filter;  // what makes the section alone, where the suite has others
  std::string (*tables)(const Rows& rows);
  std::string_view text;
};

constexpr Suite kSuites[] = {
    {"compile", "", compile_tables,
     R"(Every program of `examples/` from source text to PTX, in one process: in all, and by phase. *read* makes the checked tile
program, *lower* chooses instructions, *prove* executes the chosen code on names of elements and compares it with what the
primitive means, *emit* writes PTX. Next to it the time of NVIDIA's compilers, as separate processes: `nvcc -ptx` for the CUDA C++
of the same program (`warpwright compile --emit cuda`), `ptxas` for our PTX. Times are processor time, of all threads; *elapsed* is
source → PTX by the clock, which is less for large kernels, because proofs run beside the rest. *nvcc over ours* divides
by source → PTX, measured next to nvcc. Then the front end alone, from source text to a checked tile program, for a kernel of one
screen and for one of 2000 lines, and two steps of it.)"},
    {"layout", "", layout_tables,
     R"(Layouts that kernels use: rank 4 is an `mma` C fragment (16×8), 5 an A fragment (16×16), 6 a `tcgen05` register tile
(64×64). Each benchmark checks its own answer before it is timed. Enumerations write all places of a 128×256 tile:
`registers` on three axes, `swizzled` on one; `reused` means into the memory of the previous call.)"},
    {"ptx", "", ptx_tables,
     R"(Our own reader, printer and checker of PTX on a module of 64 kernels with 2000 lines each, as compilers write them.)"},
    {"sim", "", sim_tables,
     R"(The virtual GPU. The code is a loop of a dozen instructions on one core (processor time), 16 blocks of 128 threads; all threads
take part, so a warp instruction is 32 thread instructions. The second table runs `mixed` on 512 blocks and the given number of
cores, in wall-clock time. Of the matrix products, `mma_f16`, `wgmma_f16` and `tcgen05_f16` are loops of these instructions on one
core, and `gemm_1024` is a product of 1024×1024×1024 halves with cp.async, ldmatrix and mma on all cores; *exact* rounds like the
tensor cores, *plain* does not.)"},
    {"kernels", "copy|transpose", kernel_tables,
     R"(Kernels of `examples/` on a real GPU. `copy_through` moves 4 GiB from global memory through shared memory and registers
back to global memory; RxT is R rounds of 16 bytes for each of T threads, the tile of a CTA. `transpose` turns its tiles
with `ldmatrix.trans` and `stmatrix`; `tma_copy` and `tma_transpose` leave global memory to the copy engine. Times are medians of 20 launches, rates count bytes read and bytes written, and the
percentage is the time of the driver's own copy (`cuMemcpyDtoD`, as in `driver_copy`) of as many bytes in the same
memory, measured next to the kernel, over the kernel's. The same run checks every byte of every result.)"},
};

constexpr std::string_view kProducts = "matrix products";
constexpr std::string_view kProductsText =
    R"(Matrix products of `examples/` on a real GPU; rows and tiles are in `bench/kernels/gemm_rows.cpp`, and
[gemm.md](../guide/gemm.md) says what limits them. A GPU slows down when it draws too much power, so a single number says little:
in each round the ceiling, cuBLAS, our kernels and a kernel in Triton (`bench/kernels/triton_gemm.py`) take turns, each with the
same number of products, 20 ms of them in a row but at most 1000. The table has medians over the rounds, and our best round. The
ceiling is nothing but `mma.sync` on registers (8 warps on each SM, 32 accumulators each), for as long as the products take: no
kernel with this instruction exceeds it. cuBLAS and Triton use `wgmma` on Hopper, which can, and so do our products of the next
section. A tile is BM×BN×BK of a CTA, WM×WN of
a warp, the depth of the ring of shared memory (s), and the number of rows of tiles that CTAs cover together (g). Operands are
normal with deviation 1 (int8: all values), stored as A (M×K) and B (K×N) or, with A' and B', transposed; sums are float32 or
int32. Rates for int8 are in TOP/s. cuBLAS next to `gemm_bias_relu` computes the product alone. The same run compares our results
with sums in float64 (at least 4096 elements) and with cuBLAS (all of them): |d − exact| ≤ 2u·|exact| + 2^-11·√K, u the rounding of
D's type.)";

constexpr std::string_view kByWgmma = "matrix products by wgmma";
constexpr std::string_view kByWgmmaText =
    R"(`examples/gemm_hopper.py` on a real GPU, next to cuBLAS and Triton in the same rounds, as above; [gemm_hopper.md](../guide/gemm_hopper.md)
explains it. Products of 8-bit floats and with a fused gelu are cuBLASLt's, by the first algorithm that its heuristics propose. A tile is
BM×BN of a CTA (BK and stages follow from the type and the shared memory unless they are given), with the rows of tiles that CTAs
cover together (g) and the CTAs of a cluster (c). 8-bit floats are summed by the tensor core alone, and once more with partial sums
promoted to float32 where cuBLASLt does that, too. All launches are recorded in CUDA graphs, so the host's time counts for none. D is
compared as above; sums of 8-bit floats by the tensor core alone may be off by 2^-4·√K.)";

constexpr std::string_view kRowKernels = "row kernels";
constexpr std::string_view kRowKernelsText =
    R"(Kernels of `examples/rows/` on a real GPU, on 512 MiB of X in rows of the given number of elements; rows and parameters are in
`bench/rows/row_problems.cpp`. In each round our kernel, the driver's copy of X (`cuMemcpyDtoD`), a kernel in Triton, PyTorch as
it is and `torch.compile` take turns (`bench/rows/torch_rows.py`), each with the same number of launches, 20 ms of ours in a row, all
recorded in CUDA graphs, so that the host costs nothing, but for the copies: in a graph the driver hands them to other engines, which
reach 2.76 TB/s. Our launches one by one, as the copies are, take about 0.7 % longer. A rate counts the bytes that must move:
every array read or written once. *of copy* and the columns of the others are their rates over the copy's, which reads and writes
as many bytes as X has; a kernel that only reads can exceed 100 %. Triton has a program per row (blocks of columns for `bias_gelu` and
`column_sum`) and the fastest number of warps. For attention the rate counts the operations of its two products, half of them
where it is causal; the others are `scaled_dot_product_attention` with the named backend. All use random numbers with deviation 1.
The same run compares lines of our results with float64, the first, the last and some between: an element may be off by the rounding
of its type and by 2^-17 of the terms that make it.)";

std::string machine_text(const Machine& machine, std::string_view suite) {
  std::string out;
  if (suite == "kernels" && !machine.gpu.empty()) append(out, "{}, ", machine.gpu);
  append(out, "{}, {}", machine.cpu, machine.compiler);
  if (suite == "compile" && !machine.cuda.empty()) append(out, ", CUDA {}", machine.cuda);
  return out;
}

std::string section_text(std::string_view title, std::string_view suite, std::string_view filter,
                         std::string_view text, std::string_view how_often,
                         const std::string& tables, const Measurement& how) {
  const std::string own =
      filter.empty() || how.is_filtered ? "" : fmt::format(" --filter '{}'", filter);
  return fmt::format(
      "## {}\n\n{}\n\nMeasured on {} with version {}{} on {}, load {:.1f} before;\n{}:\n\n"
      "    warpwright bench {}{}{} --report\n{}",
      title, text, how.date, how.version,
      how.machine.commit.empty() ? "" : fmt::format(" ({})", how.machine.commit),
      machine_text(how.machine, suite), how.load, how_often, suite, own, how.options, tables);
}

std::string repetitions_text(const Json& result, const std::vector<const Row*>& rows) {
  int repetitions = 1;
  for (const Json& entry : result.value("benchmarks", Json::array()))
    repetitions = std::max(repetitions, entry.value("repetitions", 1));
  std::vector<double> spreads;
  for (const Row* row : rows) spreads.push_back(row->spread);
  std::ranges::sort(spreads);
  return fmt::format(
      "medians of {} repetitions, spread {:.0f} % in the middle and {:.0f} % at most", repetitions,
      100 * spreads[spreads.size() / 2], 100 * spreads.back());
}

}  // namespace

std::vector<Section> sections_of(const Json& result, const Measurement& how) {
  std::vector<Section> out;
  const Rows rows = read_rows(result);
  for (const Suite& suite : kSuites) {
    const auto mine = rows.under(fmt::format("{}/", suite.name));
    if (mine.empty()) continue;
    out.push_back({std::string(suite.name),
                   section_text(suite.name, suite.name, suite.filter, suite.text,
                                repetitions_text(result, mine), suite.tables(rows), how)});
  }
  const std::string rounds = fmt::format("medians of {} rounds", rounds_of(result, "products"));
  const auto add_products = [&](std::string_view name, std::string_view filter,
                                std::string_view text, ProductKind kind) {
    if (const std::string table = product_table(result, kind); !table.empty())
      out.push_back(
          {std::string(name), section_text(name, "kernels", filter, text, rounds, table, how)});
  };
  add_products(kProducts, "gemm_[^h]", kProductsText, ProductKind::Mma);
  add_products(kByWgmma, "gemm_hopper", kByWgmmaText, ProductKind::Wgmma);
  if (const std::string tables = row_tables(result); !tables.empty())
    out.push_back({std::string(kRowKernels),
                   section_text(kRowKernels, "kernels", "rows", kRowKernelsText,
                                fmt::format("medians of {} rounds", rounds_of(result, "rows")),
                                tables, how)});
  return out;
}

Section page_head() {
  return {"head", R"(# Benchmarks

`warpwright bench --report`, run in a checkout, writes this page. Do not edit its sections: the next run overwrites them.

    warpwright bench --report                    all that this machine can measure
    warpwright bench sim --report                one suite
    warpwright bench kernels --filter rows --report
                                                 one section of it: row kernels; `gemm_hopper`: products by wgmma
    warpwright bench --report -o page.md         on a page elsewhere

A section lies between two lines that only the page's source shows, `<!-- measured: NAME -->` and `<!-- end of NAME -->`. A run
replaces this head and the sections it measured. Everything else stays: sections of other suites, sections that this machine
cannot measure, such as a GPU's, and text outside these lines. So each section says where and when it was measured, and with
which command. Compare numbers only within a section, which is one run. Numbers are medians; the spread is the standard
deviation over the mean.
)"};
}

}  // namespace ww::bench
