// SPDX-License-Identifier: Apache-2.0
// Memory fences, between threads and between proxies. PTX manual, "membar, fence".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::fence_rows {
namespace {

constexpr Gate kCluster{"scope=cluster", Feature::Sm90, 78};

constexpr Row kRows[] = {
    {.mnemonic = "membar",
     .slots = "level=cta|gl|sys",
     .operands = "",
     .about = "orders the thread's memory accesses for that scope"},
    {.mnemonic = "membar.proxy",
     .slots = "kind=alias",
     .operands = "",
     .gates = {{"", Feature::Sm75, 75}},
     .about = "orders accesses through different virtual addresses"},
    {.mnemonic = "fence",
     .slots = "sem?=sc|acq_rel|acquire|release scope=$scope",
     .operands = "",
     .gates = {kCluster},
     .about = "orders the thread's memory accesses for that scope"},
    {.mnemonic = "fence.acquire",
     .slots = "sync_restrict::shared::cluster cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 86}},
     .about = "an acquire fence for shared memory of the cluster"},
    {.mnemonic = "fence.release",
     .slots = "sync_restrict::shared::cta cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 86}},
     .about = "a release fence for the own shared memory"},
    {.mnemonic = "fence.mbarrier_init",
     .slots = "release cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "makes new mbarriers known to the cluster"},
    {.mnemonic = "fence.proxy",
     .slots = "kind=alias",
     .operands = "",
     .gates = {{"", Feature::Sm75, 75}},
     .about = "orders accesses through different virtual addresses"},
    {.mnemonic = "fence.proxy",
     .slots = "kind=async space?=global|shared::cta|shared::cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "orders ordinary accesses with asynchronous ones"},
    {.mnemonic = "fence.proxy",
     .slots = "kind=tensormap::generic release scope=$scope",
     .operands = "",
     .gates = {{"", Feature::Sm90, 83}},
     .about = "orders changes of a tensor map before its use"},
    {.mnemonic = "fence.proxy",
     .slots = "kind=tensormap::generic acquire scope=$scope",
     .operands = "[addr:generic] #size(128)",
     .gates = {{"", Feature::Sm90, 83}},
     .about = "makes changes of a tensor map visible"},
    {.mnemonic = "fence.proxy.async::generic",
     .slots = "acquire sync_restrict::shared::cluster cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 86}},
     .about = "orders asynchronous results before ordinary accesses"},
    {.mnemonic = "fence.proxy.async::generic",
     .slots = "release sync_restrict::shared::cta cluster",
     .operands = "",
     .gates = {{"", Feature::Sm90, 86}},
     .about = "orders ordinary accesses before asynchronous ones"},
};

}  // namespace

constinit const FamilyRows family{"fence", "membar and fence, proxy fences too", kRows};

}  // namespace ww::isa::fence_rows
