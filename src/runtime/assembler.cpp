// SPDX-License-Identifier: Apache-2.0
#include "runtime/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/file_io.h"
#include "base/process.h"
#include "base/split.h"

namespace ww::runtime {

// --- ptxas remarks -------------------------------------------------------------------------------

namespace {

struct Row {
  std::string_view code, why;
};
// Reproduced with ptxas 13.0, but for C7510 and C7515, which build logs of others show.
constexpr Row kRows[] = {
    {"C7504", "`setmaxnreg` is ignored in separate compilation: assemble without `-c`"},
    {"C7505", "`setmaxnreg` is ignored with `-g`"},
    {"C7508",
     "`setmaxnreg` is ignored: the kernel needs `.maxnreg`, or `.maxntid` with `.minnctapersm`, "
     "and "
     "no calls to other modules"},
    {"C7509", "an extern call between wgmma instructions: inline it"},
    {"C7510", "a call between wgmma instructions: inline it"},
    {"C7511", "not enough registers for the wgmma pipeline: a smaller tile, or one accumulator"},
    {"C7512",
     "not enough registers, or an accumulator is written between two wgmma: wait for group 0 "
     "first"},
    {"C7513", "registers of A change while a wgmma reads them: wait for its group first"},
    {"C7514",
     "an accumulator is read before its group is waited for, also across the end of a loop: "
     "`wgmma.wait_group 0` behind the loop, one accumulator in flight"},
    {"C7515", "an accumulator is written by other code before its group is waited for"},
    {"C7518", "no `wgmma.wait_group` in a branch that only some threads take"},
    {"C7520", "no `wgmma.fence` in a branch that only some threads take"},
};

}  // namespace

std::vector<PtxasRemark> slow_remarks(std::string_view output) {
  std::vector<PtxasRemark> out;
  for (const std::string_view line : split_words(output, '\n')) {
    const auto* const row = std::ranges::find_if(
        kRows, [&](const Row& each) { return line.find(each.code) != std::string_view::npos; });
    if (row != std::end(kRows)) out.push_back({std::string(line), row->why});
  }
  return out;
}

namespace {

constexpr std::string_view kCubin = "kernel.cubin";
constexpr std::size_t kMaxCubinBytes = std::size_t{1} << 30U;
constexpr std::size_t kMaxNotes = 12;

Diag refused(const std::string& ptxas, target::Arch arch, const Finished& finished) {
  const bool has_exited = finished.signal == 0;
  Diag out = diag(DiagKind::DeviceError, "`{}` refused the PTX for `{}`: {} {}", ptxas,
                  target::info(arch).name, has_exited ? "exit status" : "signal",
                  has_exited ? finished.status : finished.signal);
  for (const std::string_view line : split_words(finished.output, '\n'))
    if (out.notes.size() < kMaxNotes) out.notes.push_back({std::string(line), {}});
  return out;
}

Diag slowed(const std::string& ptxas, const std::vector<PtxasRemark>& remarks) {
  Diag out = diag(DiagKind::DeviceError, "`{}` assembles the PTX to slow code: {} of its remarks",
                  ptxas, remarks.size());
  for (const PtxasRemark& remark : remarks) {
    if (out.notes.size() >= kMaxNotes) break;
    out.notes.push_back({remark.line, {}});
    out.notes.push_back({std::string(remark.why), {}});
  }
  return out;
}

// What it said; the cubin is in the folder.
Result<std::string> run_ptxas(const std::string& ptxas, std::string_view ptx, target::Arch arch,
                              const ScratchFolder& folder, std::vector<std::string> more = {}) {
  const std::string source = folder.file("kernel.ptx");
  WW_TRY_VOID(write_file_atomically(source, ptx));
  std::vector<std::string> words{ptxas, fmt::format("-arch={}", target::info(arch).name), source,
                                 "-o", folder.file(kCubin)};
  words.insert(words.end(), more.begin(), more.end());
  Finished finished = WW_TRY(run_program(std::move(words)));
  if (!finished.good()) return fail(refused(ptxas, arch, finished));
  return std::move(finished.output);
}

// The 40 of "Used 40 registers".
std::optional<std::uint32_t> number_before(std::string_view text, std::string_view what) {
  const std::size_t end = text.find(what);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  std::uint32_t out = 0;
  const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, out);
  if (error != std::errc() || rest != text.data() + end) return std::nullopt;
  return out;
}

Result<std::string> find_tool(std::string_view name, std::string_view variable,
                              const ToolSearch& search) {
  if (!search.given.empty()) {
    if (is_program(search.given)) return search.given;
    return fail(DiagKind::Io, "`{}`, given as `{}`, is not a program", search.given, name);
  }
  std::string found = find_program(name, fmt::format("{}:{}", search.path, kCudaPrograms));
  if (!found.empty()) return found;
  return fail(
      diag(DiagKind::Io, "`{}` is not here: it is in no folder of PATH and not in `{}`", name,
           kCudaPrograms)
          .with_note(fmt::format("it comes with NVIDIA's CUDA toolkit; {}=/path/to/{} names one",
                                 variable, name)));
}

// What `nvdisasm` lists, with lines of PTX.
Result<std::string> disassemble(const std::string& nvdisasm, const ScratchFolder& folder) {
  Finished finished = WW_TRY(run_program({nvdisasm, "-c", "-gp", folder.file(kCubin)}));
  if (finished.good()) return std::move(finished.output);
  Diag out = diag(DiagKind::DeviceError, "`{}` does not read what `ptxas` has made: {} {}",
                  nvdisasm, finished.signal == 0 ? "exit status" : "signal",
                  finished.signal == 0 ? finished.status : finished.signal);
  for (const std::string_view line : split_words(finished.output, '\n'))
    if (out.notes.size() < kMaxNotes) out.notes.push_back({std::string(line), {}});
  return fail(std::move(out));
}

// Any kernel or function of what `ptxas -v` says.
bool has_spills(std::string_view said) {
  for (const std::string_view line : split_words(said, '\n'))
    if (number_before(line, " bytes spill stores").value_or(0) > 0) return true;
  return false;
}

// The 25 of "around line 25"; 0: there is none.
std::uint32_t line_in(std::string_view remark) {
  constexpr std::string_view kBefore = "line ";
  const std::size_t at = remark.find(kBefore);
  std::uint32_t out = 0;
  if (at != std::string_view::npos)
    std::from_chars(remark.data() + at + kBefore.size(), remark.data() + remark.size(), out);
  return out;
}

}  // namespace

Result<std::string> find_ptxas(const ToolSearch& search) {
  return find_tool("ptxas", "PTXAS", search);
}

Result<std::string> find_nvdisasm(const ToolSearch& search) {
  return find_tool("nvdisasm", "NVDISASM", search);
}

Result<std::string> assemble(const std::string& ptxas, std::string_view ptx, target::Arch arch,
                             SlowRemarks slow) {
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  const std::string said = WW_TRY(run_ptxas(ptxas, ptx, arch, folder));
  const std::vector<PtxasRemark> remarks = slow_remarks(said);
  if (!remarks.empty() && slow == SlowRemarks::Refuse) return fail(slowed(ptxas, remarks));
  return read_file(folder.file(kCubin), kMaxCubinBytes);
}

Result<AssembledSize> assembled_size(const std::string& ptxas, std::string_view ptx,
                                     target::Arch arch) {
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  const std::string said = WW_TRY(run_ptxas(ptxas, ptx, arch, folder, {"-v"}));
  const auto registers = number_before(said, " registers");
  const auto local = number_before(said, " bytes stack frame");
  const auto stores = number_before(said, " bytes spill stores");
  const auto loads = number_before(said, " bytes spill loads");
  if (registers && local && stores && loads)
    return AssembledSize{*registers, *local, *stores + *loads, slow_remarks(said)};
  return fail(DiagKind::DeviceError, "`{} -v` does not say how many registers a kernel takes",
              ptxas);
}

Result<std::string> sass_listing(const SassTools& tools, std::string_view ptx, target::Arch arch,
                                 const std::string& kernel) {
  const std::string ptxas = WW_TRY(find_ptxas(tools.ptxas));
  const std::string nvdisasm = WW_TRY(find_nvdisasm(tools.nvdisasm));
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  WW_TRY(run_ptxas(ptxas, ptx, arch, folder, {"-lineinfo", "-e", kernel}));
  return disassemble(nvdisasm, folder);
}

Result<std::vector<SassRemark>> read_sass(const SassTools& tools, std::string_view ptx,
                                          target::Arch arch, const std::string& kernel) {
  const std::string ptxas = WW_TRY(find_ptxas(tools.ptxas));
  const std::string nvdisasm = WW_TRY(find_nvdisasm(tools.nvdisasm));
  const ScratchFolder folder = WW_TRY(ScratchFolder::make());
  const std::string said =
      WW_TRY(run_ptxas(ptxas, ptx, arch, folder, {"-v", "-lineinfo", "-e", kernel}));
  const std::string listing = WW_TRY(disassemble(nvdisasm, folder));
  const std::vector<SassFunction> functions = WW_TRY(read_listing(listing));
  if (std::ranges::find(functions, kernel, &SassFunction::name) == functions.end())
    return fail(DiagKind::DeviceError, "`{}` lists no code of `{}`", nvdisasm, kernel);
  std::vector<SassRemark> out;
  for (const PtxasRemark& remark : slow_remarks(said))
    out.push_back({.kind = SassKind::Assembler,
                   .line = line_in(remark.line),
                   .count = 1,
                   .text = fmt::format("{} ({})", remark.why, remark.line)});
  const SassSource source{.arch = arch, .ptx = ptx, .has_spills = has_spills(said)};
  for (const SassFunction& function : functions) {
    std::vector<SassRemark> found = sass_remarks(function, source);
    std::ranges::move(found, std::back_inserter(out));
  }
  std::ranges::stable_sort(out, {}, &SassRemark::line);
  return out;
}

}  // namespace ww::runtime
