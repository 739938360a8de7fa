// SPDX-License-Identifier: Apache-2.0
#include "runtime/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/file_io.h"
#include "base/process.h"
#include "base/split.h"

namespace ww::runtime {
namespace {

constexpr std::string_view kUsualPlace = "/usr/local/cuda/bin";
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

}  // namespace

Result<std::string> find_ptxas(const ToolSearch& search) {
  if (!search.given.empty()) {
    if (is_program(search.given)) return search.given;
    return fail(DiagKind::Io, "`{}`, given as `ptxas`, is not a program", search.given);
  }
  std::string found = find_program("ptxas", fmt::format("{}:{}", search.path, kUsualPlace));
  if (!found.empty()) return found;
  return fail(
      diag(DiagKind::Io, "`ptxas` is not here: it is in no folder of PATH and not in `{}`",
           kUsualPlace)
          .with_note("it comes with NVIDIA's CUDA toolkit; PTXAS=/path/to/ptxas names one"));
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

}  // namespace ww::runtime
