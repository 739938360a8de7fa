// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, cp.reduce.async.bulk and their groups: blocks of contiguous bytes copied, combined
// or prefetched by the copy engine. PTX manual, "Data movement and conversion instructions: bulk
// copy".
//
// Sizes are multiples of 16 bytes below 1 MiB, what one barrier phase can count; a register's value
// is not looked at. Into shared memory a barrier is told of the bytes, out of it groups are waited
// for.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::bulk_copy_rows {
namespace {

constexpr Row kRows[] = {
    {.mnemonic = "cp.async.bulk",
     .slots = "dst=shared::cta src=global mbarrier::complete_tx::bytes hint?=L2::cache_hint",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) [mbar:shared] policy@hint:u64",
     .gates = {{"", Feature::Sm90, 86}},
     .about = "global to this block's shared memory"},
    {.mnemonic = "cp.async.bulk",
     .slots = "dst=shared::cluster src=global mbarrier::complete_tx::bytes "
              "multicast?=multicast::cluster hint?=L2::cache_hint",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) [mbar:shared::cluster] "
                 "mask@multicast:u16 policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "global to the shared memory of a block of the cluster, or of several at once"},
    {.mnemonic = "cp.async.bulk",
     .slots = "dst=shared::cluster src=shared::cta mbarrier::complete_tx::bytes",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) [mbar:shared::cluster]",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "this block's shared memory to another block's"},
    {.mnemonic = "cp.async.bulk",
     .slots = "dst=global src=shared::cta bulk_group hint?=L2::cache_hint cp_mask?",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) policy@hint:u64 mask@cp_mask:u16",
     .gates = {{"", Feature::Sm90, 80}, {"cp_mask", Feature::Sm100, 86}},
     .about = "shared to global memory, with a mask only some bytes of every 16"},

    {.mnemonic = "cp.reduce.async.bulk",
     .slots = "dst=shared::cluster src=shared::cta mbarrier::complete_tx::bytes "
              "op=and|or|xor|add|inc|dec|min|max type=b32|u32|s32|u64",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) [mbar:shared::cluster]",
     .gates = {{"", Feature::Sm90, 80}},
     .rules = {{"op=and|or|xor", "type=b32", "bitwise operations here are `.b32`"},
               {"op=add", "type=u32|s32|u64", "`.add` here is `.u32`, `.s32` or `.u64`"},
               {"op=inc|dec", "type=u32", "`.inc` and `.dec` are `.u32`"},
               {"op=min|max", "type=u32|s32", "`.min` and `.max` here are `.u32` or `.s32`"}},
     .about = "combines this block's shared memory into another block's"},
    {.mnemonic = "cp.reduce.async.bulk",
     .slots = "dst=global src=shared::cta bulk_group hint?=L2::cache_hint "
              "op=and|or|xor|add|inc|dec|min|max type=b32|u32|s32|b64|u64|s64|f16|bf16|f32|f64",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}},
     .rules =
         {{"op=and|or|xor", "type=b32|b64", "bitwise operations are `.b32` or `.b64`"},
          {"op=add", "type=u32|s32|u64|f32|f64",
           "`.add` is `.u32`, `.s32`, `.u64`, `.f32` or `.f64`; `.f16` and `.bf16` need `.noftz`"},
          {"op=inc|dec", "type=u32", "`.inc` and `.dec` are `.u32`"},
          {"op=min|max", "type=u32|s32|u64|s64|f16|bf16",
           "`.min` and `.max` are of an integer type, `.f16` or `.bf16`"}},
     .about = "combines shared into global memory"},
    {.mnemonic = "cp.reduce.async.bulk",
     .slots = "dst=global src=shared::cta bulk_group hint?=L2::cache_hint add noftz type=f16|bf16",
     .operands = "[d:dst] [s:src] size:u32(0..1048560/16) policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "adds 16-bit floats in shared to global memory, keeping subnormal numbers"},

    {.mnemonic = "cp.async.bulk.prefetch",
     .slots = "L2 src=global hint?=L2::cache_hint",
     .operands = "[s:src] size:u32(0..1048560/16) policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "brings global memory into the L2 cache"},

    {.mnemonic = "cp.async.bulk.commit_group",
     .slots = "",
     .operands = "",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "closes the group of this thread's bulk copies so far"},
    {.mnemonic = "cp.async.bulk.wait_group",
     .slots = "read?",
     .operands = "#n",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "waits until at most n groups are pending, with `.read` until they have read"},
};

}  // namespace

constinit const FamilyRows family{
    "bulk_copy", "cp.async.bulk, cp.reduce.async.bulk: contiguous bytes by the copy engine", kRows};

}  // namespace ww::isa::bulk_copy_rows
