// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "driver/sim/report.h"

namespace ww::driver {
namespace {

// So many times the ideal is worth a word.
constexpr std::uint64_t kMinFactor = 2;

bool has_word(std::string_view opcode, std::string_view word) {
  for (std::size_t at = opcode.find(word); at != std::string_view::npos;
       at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.'))
      return true;
  }
  return false;
}

// The opcode of a line: its first word behind labels and a guard.
std::string_view opcode_in(const sim::Program& program, const sim::OpInfo& info) {
  const std::string_view text = program.source.text().substr(info.offset);
  return text.substr(0, std::min(text.find_first_of(" \t\n;{"), text.size()));
}

std::string remote_release() {
  return "the release of cluster scope waits for all writes of the thread (MEMBAR.ALL.GPU in "
         "SASS); if the arrival only says that a slot is free, "
         "`mbarrier.arrive.shared::cluster.b64` is enough";
}

void add_by_opcode(const SimReport& report, std::vector<Advice>& out) {
  const sim::Program& program = *report.program;
  for (const sim::OpInfo& info : program.infos) {
    if (info.line == 0) continue;
    const std::string_view opcode = opcode_in(program, info);
    if (opcode.starts_with("mbarrier.arrive") && has_word(opcode, "release") &&
        has_word(opcode, "cluster") && has_word(opcode, "shared::cluster"))
      out.push_back({Slow::RemoteRelease, info.line, remote_release()});
    if ((opcode.starts_with("ld.") || opcode.starts_with("st.")) && has_word(opcode, "local"))
      out.push_back({Slow::LocalMemory, info.line,
                     "local memory, which is global memory of a thread: an array indexed at run "
                     "time, or registers that were spilled"});
  }
}

void add_by_counts(const SimReport& report, std::vector<Advice>& out) {
  for (const auto& [line, count] : counts_by_line(report)) {
    if (count.wavefronts >= kMinFactor * count.ideal_wavefronts && count.ideal_wavefronts > 0)
      out.push_back({Slow::BankConflict, line,
                     fmt::format("{} wavefronts of shared memory, {} at best: bank conflicts",
                                 count.wavefronts, count.ideal_wavefronts)});
    if (count.sectors >= kMinFactor * count.ideal_sectors && count.ideal_sectors > 0)
      out.push_back({Slow::Uncoalesced, line,
                     fmt::format("{} sectors of global memory, {} at best: lanes do not access "
                                 "neighbouring bytes",
                                 count.sectors, count.ideal_sectors)});
  }
}

}  // namespace

std::string_view name_of(Slow kind) {
  switch (kind) {
    case Slow::RemoteRelease:
      return "remote release";
    case Slow::LocalMemory:
      return "local memory";
    case Slow::BankConflict:
      return "bank conflict";
    case Slow::Uncoalesced:
      return "uncoalesced";
  }
  return "";
}

std::vector<Advice> advise(const SimReport& report) {
  std::vector<Advice> out;
  if (!report.simulated) return out;
  add_by_opcode(report, out);
  if (report.counted) add_by_counts(report, out);
  std::ranges::stable_sort(out, {}, &Advice::line);
  return out;
}

void add_sass(const SimRequest& request, SimReport& report) {
  if (!request.sass) return;
  const sim::Program& program = *report.program;
  report.sass = sass_advice(*request.sass, program.source.text(), program.target.arch,
                            std::string(report.kernel->name));
}

}  // namespace ww::driver
