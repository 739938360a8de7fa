// SPDX-License-Identifier: Apache-2.0
// mbarrier: barriers that live in shared memory, count threads and bytes, and are waited for by
// phase. PTX manual, "Parallel synchronization: mbarrier".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::mbarrier_rows {
namespace {

#define SPACE "space?=shared|shared::cta"
#define ANY_SPACE "space?=shared|shared::cta|shared::cluster"

constexpr Gate kBase{"", Feature::Sm80, 70};
constexpr Gate kCta{"space=shared::cta", Feature::Sm80, 78};
constexpr Gate kCluster{"space=shared::cluster", Feature::Sm90, 80};
constexpr Gate kSem{"sem", Feature::Sm80, 80};  // ptxas; the manual asks for sm_90 at any scope
constexpr Gate kScope{"scope=cluster", Feature::Sm90, 80};
constexpr Gate kRelaxed{"sem=relaxed", Feature::Sm90, 86};
constexpr Rule kSemScope{"sem", "scope"};
constexpr Rule kScopeSem{"scope", "sem"};

// The state of a barrier in another CTA is of no use here: the result must be dropped.
std::string remote_drops_state(const Binding& binding, std::span<const Operand> operands) {
  if (binding.word("space") != "shared::cluster" || operands[0].kind == OperandKind::Sink)
    return "";
  return "an arrive on a barrier of the cluster returns nothing; write `_` as its result";
}

// With a count and without .noComplete it is a form of sm_90.
constexpr Row kRows[] = {
    {.mnemonic = "mbarrier.init",
     .slots = SPACE " type=b64",
     .operands = "[addr:space] count:u32",
     .gates = {kBase, kCta},
     .about = "makes a barrier for that many arrivals"},
    {.mnemonic = "mbarrier.inval",
     .slots = SPACE " type=b64",
     .operands = "[addr:space]",
     .gates = {kBase, kCta},
     .about = "ends a barrier, so that its memory can be used otherwise"},
    {.mnemonic = "mbarrier.expect_tx",
     .slots = "relaxed? scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = "[addr:space] bytes:u32",
     .gates = {{"", Feature::Sm90, 80}},
     .rules = {{"relaxed", "scope"}, {"scope", "relaxed"}},
     .about = "expects that many more bytes in this phase"},
    {.mnemonic = "mbarrier.complete_tx",
     .slots = "relaxed? scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = "[addr:space] bytes:u32",
     .gates = {{"", Feature::Sm90, 80}},
     .rules = {{"relaxed", "scope"}, {"scope", "relaxed"}},
     .about = "counts that many bytes as arrived"},
    {.mnemonic = "mbarrier.arrive",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space]",
     .gates = {kBase, kCta, kCluster, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "counts one arrival"},
    {.mnemonic = "mbarrier.arrive",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] count:u32",
     .gates = {{"", Feature::Sm90, 78}, kCta, kCluster, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "counts several arrivals"},
    {.mnemonic = "mbarrier.arrive.expect_tx",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] bytes:u32",
     .gates = {{"", Feature::Sm90, 80}, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "expects bytes, then counts one arrival"},
    {.mnemonic = "mbarrier.arrive.noComplete",
     .slots = "sem?=release scope?=cta " SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] count:u32",
     .gates = {kBase, kCta, kSem},
     .rules = {kSemScope, kScopeSem},
     .about = "counts arrivals that do not end the phase"},
    {.mnemonic = "mbarrier.arrive_drop",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space]",
     .gates = {kBase, kCta, kCluster, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "counts one arrival and leaves the barrier for good"},
    {.mnemonic = "mbarrier.arrive_drop",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] count:u32",
     .gates = {{"", Feature::Sm90, 78}, kCta, kCluster, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "counts several arrivals and drops as many"},
    {.mnemonic = "mbarrier.arrive_drop.expect_tx",
     .slots = "sem?=release|relaxed scope?=cta|cluster " ANY_SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] bytes:u32",
     .gates = {{"", Feature::Sm90, 80}, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .verify = remote_drops_state,
     .about = "expects bytes, counts one arrival and leaves the barrier"},
    {.mnemonic = "mbarrier.arrive_drop.noComplete",
     .slots = "sem?=release scope?=cta " SPACE " type=b64",
     .operands = ">state:b64/_ [addr:space] count:u32",
     .gates = {kBase, kCta, kSem},
     .rules = {kSemScope, kScopeSem},
     .about = "drops arrivals that do not end the phase"},
    {.mnemonic = "mbarrier.test_wait",
     .slots = "sem?=acquire|relaxed scope?=cta|cluster " SPACE " type=b64",
     .operands = ">done:pred [addr:space] state:b64",
     .gates = {kBase, kCta, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .about = "whether the phase of that state is over"},
    {.mnemonic = "mbarrier.test_wait.parity",
     .slots = "sem?=acquire|relaxed scope?=cta|cluster " SPACE " type=b64",
     .operands = ">done:pred [addr:space] parity:u32",
     .gates = {{"", Feature::Sm80, 71}, kCta, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .about = "whether the phase of that parity is over"},
    {.mnemonic = "mbarrier.try_wait",
     .slots = "sem?=acquire|relaxed scope?=cta|cluster " SPACE " type=b64",
     .operands = ">done:pred [addr:space] state:b64 time?:u32",
     .gates = {{"", Feature::Sm90, 78}, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .about = "waits for the end of the phase, for a time"},
    {.mnemonic = "mbarrier.try_wait.parity",
     .slots = "sem?=acquire|relaxed scope?=cta|cluster " SPACE " type=b64",
     .operands = ">done:pred [addr:space] parity:u32 time?:u32",
     .gates = {{"", Feature::Sm90, 78}, kSem, kScope, kRelaxed},
     .rules = {kSemScope, kScopeSem},
     .about = "waits for the end of the phase of that parity, for a time"},
    {.mnemonic = "mbarrier.pending_count",
     .slots = "type=b64",
     .operands = ">count:u32 state:b64",
     .gates = {kBase},
     .about = "how many arrivals the state still lacked"},
};

}  // namespace

constinit const FamilyRows family{"mbarrier", "mbarrier: barriers in shared memory, by phase",
                                  kRows};

}  // namespace ww::isa::mbarrier_rows
