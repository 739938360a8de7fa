// SPDX-License-Identifier: Apache-2.0
// Clusters of CTAs and dependent grids. PTX manual, "mapa", "getctarank", "griddepcontrol",
// "clusterlaunchcontrol".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::cluster_rows {
namespace {

constexpr Gate kSm90{"", Feature::Sm90, 78};

constexpr Row kRows[] = {
    {.mnemonic = "mapa",
     .slots = "space?=shared::cluster type=u32|u64",
     .operands = ">d:type a:type/y rank:u32",
     .gates = {kSm90},
     .about = "the address of the same place in the shared memory of another CTA"},
    {.mnemonic = "getctarank",
     .slots = "space?=shared::cluster type=u32|u64",
     .operands = ">d:u32 a:type/y",
     .gates = {kSm90},
     .about = "the CTA whose shared memory an address lies in"},
    {.mnemonic = "griddepcontrol",
     .slots = "action=launch_dependents|wait",
     .operands = "",
     .gates = {kSm90},
     .about = "lets dependent grids start, or waits for the grid before"},
    {.mnemonic = "clusterlaunchcontrol.try_cancel",
     .slots =
         "async space?=shared::cta mbarrier::complete_tx::bytes multicast::cluster::all? type=b128",
     .operands = "[addr:shared] [mbar:shared]",
     .gates = {{"", Feature::Sm100, 86}, {"multicast::cluster::all", Feature::ClusterCancel, 86}},
     .about = "asks to take over the work of a cluster that has not started"},
    {.mnemonic = "clusterlaunchcontrol.query_cancel",
     .slots = "is_canceled type=pred btype=b128",
     .operands = ">p:pred a:b128/r",
     .gates = {{"", Feature::Sm100, 86}},
     .about = "whether the request was granted"},
    {.mnemonic = "clusterlaunchcontrol.query_cancel",
     .slots = "get_first_ctaid v4 type=b32 btype=b128",
     .operands = ">d{4}:b32/_ a:b128/r",
     .gates = {{"", Feature::Sm100, 86}},
     .about = "the first CTA of the work taken over"},
    {.mnemonic = "clusterlaunchcontrol.query_cancel",
     .slots = "dim=get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z type=b32 btype=b128",
     .operands = ">d:b32 a:b128/r",
     .gates = {{"", Feature::Sm100, 86}},
     .about = "one coordinate of the first CTA"},
};

}  // namespace

constinit const FamilyRows family{"cluster",
                                  "mapa, getctarank, griddepcontrol, clusterlaunchcontrol", kRows};

}  // namespace ww::isa::cluster_rows
