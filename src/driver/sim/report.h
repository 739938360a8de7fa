// SPDX-License-Identifier: Apache-2.0
// What the text and the JSON of a simulated run share: places in the PTX text, and counters summed
// by family and by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/sim/tool.h"
#include "sim/checks/findings.h"
#include "sim/program.h"
#include "sim/run/counters.h"

namespace ww::driver {

/// Where a `.loc` says an op comes from.
struct SourcePlace {
  std::string_view file;  // empty: a number that no `.file` has
  std::uint32_t line = 0, column = 0;
};
std::optional<SourcePlace> source_of(const sim::Program& program, std::uint32_t op);

/// A generic address as people count: in its state space.
struct AddressPlace {
  std::string_view space;  // "global", "shared", "local", "param", "code"
  std::uint64_t address = 0;
};
AddressPlace place_of(std::uint64_t generic);

/// "block (1,0,0) warp 1 lanes 0-3".
std::string party_text(const sim::Dim3& grid, const sim::Party& party);
/// "`shfl.sync.bfly.b32` in line 21, `max.u32` in line 22": what an undefined value went through.
std::string way_text(const sim::Program& program, const sim::FoundOrigin& origin);
/// "; shared address 0x80", unless the finding's own words say it.
std::string address_text(const sim::Finding& finding);
/// "matrix products as on Hopper"; empty for a program without any.
std::string arithmetic_text(const sim::Program& program, const std::string& mode);
/// "finished", or what happened instead and why.
std::string outcome_text(const sim::LaunchReport& run);

/// The parameters whose arrays an earlier grid still writes.
std::vector<std::string> awaited_names(const SimReport& report);

/// The names of the checks in a set.
std::vector<std::string_view> check_names(const sim::CheckSet& checks);

struct FamilyCount {
  std::string_view family;
  sim::OpCount count;
};
/// Families that executed anything, in the order of the catalogue.
std::vector<FamilyCount> counts_by_family(const sim::Program& program,
                                          const sim::Counters& counters);

struct LineCount {
  std::uint32_t line = 0;
  sim::OpCount count;
};
/// Lines that executed anything, ascending.
std::vector<LineCount> counts_by_line(const sim::Program& program, const sim::Counters& counters);
/// Whether an access to shared or global memory was counted.
bool touches_memory(const sim::OpCount& count);
/// Lanes per instruction.
double mean_lanes(const sim::OpCount& count);

// --- advice --------------------------------------------------------------------------------------
//
// What costs more than it looks, in the PTX of a kernel that ran and, where accesses were counted, in
// how it used memory. Nothing here is wrong; the report lists it under `slow`.

enum class Slow : std::uint8_t { RemoteRelease, LocalMemory, BankConflict, Uncoalesced };
/// "remote release", "bank conflict".
std::string_view name_of(Slow kind);

struct Advice {
  Slow kind{};
  std::uint32_t line = 0;  // of the PTX
  std::string text;        // what it costs, and what to do
};

/// By line. Conflicts and sectors only if the run counted them.
std::vector<Advice> advise(const SimReport& report);

// --- findings by cause ---------------------------------------------------------------------------
//
// Findings by cause. One wrong wait in unrolled code makes a finding for every pair of instructions
// behind it. Two findings of one check have one cause if they share an instruction, or if both parties
// stand at the same source lines; without `.loc`, if both parties have the same opcodes and the
// findings say the same but for their numbers. Findings of different checks have one cause if both
// parties are the same instructions. The first finding of a group, in the order of execution, stands
// for it.

/// Places in the list of findings, ascending; the first is the root.
using FindingGroup = std::vector<std::size_t>;

/// In the order of their roots.
std::vector<FindingGroup> group_findings(const sim::Program& program,
                                         std::span<const sim::Finding> findings);

/// A group whose findings are not all shown one by one.
inline constexpr std::size_t kMinFolded = 4;
inline bool is_folded(const FindingGroup& group) { return group.size() >= kMinFolded; }

/// "219 more of this cause, 5632 times: lines 120, 124, … with lines 33, 35, …".
std::string rest_text(const sim::Program& program, std::span<const sim::Finding> findings,
                      const FindingGroup& group);

/// "3", or "220 of 3 causes" where some are folded.
std::string findings_count_text(std::size_t findings, std::span<const FindingGroup> groups);

}  // namespace ww::driver
