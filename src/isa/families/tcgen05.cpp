// SPDX-License-Identifier: Apache-2.0
// tcgen05 without its multiplications: tensor memory is handed out, loaded, stored, copied into,
// and asynchronous work on it is waited for. PTX manual, "TensorCore 5th generation family
// instructions".
//
// Where the manual says generic address (alloc, commit without a state space), ptxas takes the
// 32-bit shared addresses as well; what is meant is shared memory, so the rows say shared.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::tcgen05_rows {
namespace {

// A warp moves `num` times 32 lanes x 32 bits, 16 x 64, 16 x 128 or 16 x 256.
int registers(const Binding& binding, std::string_view) {
  const int each = binding.word("shape").as<int>({{"16x256b", 4}, {"16x128b", 2}}).value_or(1);
  return binding.number("num") * each;
}

// One lane has room for 128 registers of a single load or store.
constexpr Rule kFit128{"shape=16x128b", "num!=x128", "`.16x128b` goes up to `.x64`"};
constexpr Rule kFit256{"shape=16x256b", "num!=x64|x128", "`.16x256b` goes up to `.x32`"};

constexpr Row kRows[] = {
    {.mnemonic = "tcgen05.alloc",
     .slots = "group=cta_group::1|cta_group::2 sync aligned space?=shared::cta type=b32",
     .operands = "[dst:shared] columns:u32(32|64|128|256|512)",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "reserves columns of tensor memory and writes their address to shared memory"},
    // ptxas 13.0 takes every multiple of 32 here, alloc only the powers of two of the manual.
    {.mnemonic = "tcgen05.dealloc",
     .slots = "group=cta_group::1|cta_group::2 sync aligned type=b32",
     .operands = "taddr:u32 columns:u32(0..2147483616/32)",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "gives columns of tensor memory back"},
    {.mnemonic = "tcgen05.relinquish_alloc_permit",
     .slots = "group=cta_group::1|cta_group::2 sync aligned",
     .operands = "",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "promises that this block allocates no more"},

    {.mnemonic = "tcgen05.fence::before_thread_sync",
     .slots = "",
     .operands = "",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "orders earlier tcgen05 work before a following hand-over to another thread"},
    {.mnemonic = "tcgen05.fence::after_thread_sync",
     .slots = "",
     .operands = "",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "orders later tcgen05 work behind a hand-over from another thread"},

    // The manual demands `.aligned` of ld and st; ptxas 13.0 does not.
    {.mnemonic = "tcgen05.ld",
     .slots = "sync aligned? shape=32x32b|16x64b|16x128b|16x256b num=$repeat pack?=pack::16b "
              "type=b32",
     .operands = ">r{*}:b32 [taddr:tensor]",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {kFit128, kFit256},
     .count = registers,
     .about = "tensor memory to registers"},
    {.mnemonic = "tcgen05.ld",
     .slots = "sync aligned? shape=16x32bx2 num=$repeat pack?=pack::16b type=b32",
     .operands = ">r{*}:b32 [taddr:tensor] #half_split",
     .gates = {{"", Feature::TensorMemory, 86}},
     .count = registers,
     .about = "tensor memory to registers, the upper half of the warp from an offset address"},
    {.mnemonic = "tcgen05.ld.red",
     .slots = "sync aligned? shape=32x32b num=x2|x4|x8|x16|x32|x64|x128 op=min|max abs? NaN? "
              "type=f32",
     .operands = ">r{*}:b32 >red:b32 [taddr:tensor]",
     .gates = {{"", Feature::TensorLoadRed, 88}},
     .count = registers,
     .about = "tensor memory to registers, and their smallest or greatest number"},
    {.mnemonic = "tcgen05.ld.red",
     .slots = "sync aligned? shape=16x32bx2 num=x2|x4|x8|x16|x32|x64|x128 op=min|max abs? NaN? "
              "type=f32",
     .operands = ">r{*}:b32 >red:b32 [taddr:tensor] #half_split",
     .gates = {{"", Feature::TensorLoadRed, 88}},
     .count = registers,
     .about = "the same, the upper half of the warp from an offset address"},
    {.mnemonic = "tcgen05.ld.red",
     .slots = "sync aligned? shape=32x32b num=x2|x4|x8|x16|x32|x64|x128 op=min|max type=u32|s32",
     .operands = ">r{*}:b32 >red:b32 [taddr:tensor]",
     .gates = {{"", Feature::TensorLoadRed, 88}},
     .count = registers,
     .about = "tensor memory to registers, and their smallest or greatest integer"},
    {.mnemonic = "tcgen05.ld.red",
     .slots = "sync aligned? shape=16x32bx2 num=x2|x4|x8|x16|x32|x64|x128 op=min|max "
              "type=u32|s32",
     .operands = ">r{*}:b32 >red:b32 [taddr:tensor] #half_split",
     .gates = {{"", Feature::TensorLoadRed, 88}},
     .count = registers,
     .about = "the same, the upper half of the warp from an offset address"},
    {.mnemonic = "tcgen05.st",
     .slots = "sync aligned? shape=32x32b|16x64b|16x128b|16x256b num=$repeat unpack?=unpack::16b "
              "type=b32",
     .operands = "[taddr:tensor] r{*}:b32/r",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {kFit128, kFit256},
     .count = registers,
     .about = "registers to tensor memory"},
    {.mnemonic = "tcgen05.st",
     .slots = "sync aligned? shape=16x32bx2 num=$repeat unpack?=unpack::16b type=b32",
     .operands = "[taddr:tensor] #half_split r{*}:b32/r",
     .gates = {{"", Feature::TensorMemory, 86}},
     .count = registers,
     .about = "registers to tensor memory, the upper half of the warp to an offset address"},
    {.mnemonic = "tcgen05.wait::ld",
     .slots = "sync aligned",
     .operands = "",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "waits for this thread's tcgen05.ld"},
    {.mnemonic = "tcgen05.wait::st",
     .slots = "sync aligned",
     .operands = "",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "waits for this thread's tcgen05.st"},

    {.mnemonic = "tcgen05.cp",
     .slots = "group=cta_group::1|cta_group::2 shape=128x256b|4x256b|128x128b dst?=b8x16 "
              "src?=b6x16_p32|b4x16_p64",
     .operands = "[taddr:tensor] desc:u64",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {{"src", "dst", "the format in shared memory goes with `.b8x16`"},
               {"dst", "src", "`.b8x16` goes with the format in shared memory"}},
     .about = "shared to tensor memory"},
    {.mnemonic = "tcgen05.cp",
     .slots = "group=cta_group::1|cta_group::2 shape=64x128b multicast=warpx2::02_13|warpx2::01_23 "
              "dst?=b8x16 src?=b6x16_p32|b4x16_p64",
     .operands = "[taddr:tensor] desc:u64",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {{"src", "dst", "the format in shared memory goes with `.b8x16`"},
               {"dst", "src", "`.b8x16` goes with the format in shared memory"}},
     .about = "shared to tensor memory, to two groups of 32 lanes at once"},
    {.mnemonic = "tcgen05.cp",
     .slots = "group=cta_group::1|cta_group::2 shape=32x128b multicast=warpx4 dst?=b8x16 "
              "src?=b6x16_p32|b4x16_p64",
     .operands = "[taddr:tensor] desc:u64",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {{"src", "dst", "the format in shared memory goes with `.b8x16`"},
               {"dst", "src", "`.b8x16` goes with the format in shared memory"}},
     .about = "shared to tensor memory, to all four groups of 32 lanes at once"},
    {.mnemonic = "tcgen05.shift",
     .slots = "group=cta_group::1|cta_group::2 down",
     .operands = "[taddr:tensor]",
     .gates = {{"", Feature::TensorShift, 86}},
     .about = "moves the rows of tensor memory down by one"},
    {.mnemonic = "tcgen05.commit",
     .slots = "group=cta_group::1|cta_group::2 mbarrier::arrive::one space?=shared::cluster "
              "multicast?=multicast::cluster type=b64",
     .operands = "[mbar:shared::cluster] mask@multicast:u16/r",
     .gates = {{"", Feature::TensorMemory, 86}},
     .about = "makes a barrier track all asynchronous tcgen05 work of this thread so far"},
};

}  // namespace

constinit const FamilyRows family{
    "tcgen05", "tcgen05.alloc, ld, st, cp, shift, commit, wait, fence: tensor memory", kRows};

}  // namespace ww::isa::tcgen05_rows
