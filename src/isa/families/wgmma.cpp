// SPDX-License-Identifier: Apache-2.0
// wgmma: D = A*B (+ D) by the four warps of a warpgroup, asynchronously. B, and A unless it is in
// registers, lie in shared memory behind a 64-bit descriptor. PTX manual, "Asynchronous warpgroup
// level matrix multiply-accumulate operation using wgmma instructions".
//
// The operands after A and B: with `.sp` the metadata and its selector; `scale_d`, false for D =
// A*B (a predicate, or a constant); 1 or -1 for A and B; for 16-bit types whether A, and B, are
// stored transposed. A in registers cannot be. The manual demands `.aligned`, ptxas 13.0 does not.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::wgmma_rows {
namespace {

// The N columns of 64 rows are dealt to 128 threads: N/2 numbers each, two in a register if halves.
int accumulators(const Binding& binding, std::string_view) {
  const std::string_view shape = binding.word("shape");
  const int n = number_in(shape.substr(0, shape.find('k')));
  return binding.word("dtype") == "f16" ? n / 4 : n / 2;
}

constexpr Row kRows[] = {
    // --- dense ---
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f16 atype=f16 btype=f16",
     .operands = ">d{*}:f16x2 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "halves, half-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f16 atype=f16 btype=f16",
     .operands = ">d{*}:f16x2 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "halves, half-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f32 atype=f16 btype=f16",
     .operands = ">d{*}:f32 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "halves, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f32 atype=f16 btype=f16",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "halves, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f32 atype=bf16 btype=bf16",
     .operands = ">d{*}:f32 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "brain floats, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k16 dtype=f32 atype=bf16 btype=bf16",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1) "
                 "#trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "brain floats, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k8 dtype=f32 atype=tf32 btype=tf32",
     .operands = ">d{*}:f32 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "single precision cut to 10 bits of mantissa"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k8 dtype=f32 atype=tf32 btype=tf32",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "single precision cut to 10 bits of mantissa; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32 dtype=f16 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f16x2 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "8-bit floats, half-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32 dtype=f16 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f16x2 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "8-bit floats, half-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32 dtype=f32 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f32 a:u64 b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "8-bit floats, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32 dtype=f32 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 scale_d:pred(0|1) #scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "8-bit floats, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32int satfinite? dtype=s32 atype=s8|u8 btype=s8|u8",
     .operands = ">d{*}:s32 a:u64 b:u64 scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 80},
               {"atype=s8 btype=u8", Feature::Wgmma, 84},
               {"atype=u8 btype=s8", Feature::Wgmma, 84}},
     .count = accumulators,
     .about = "bytes, 32-bit accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k32int satfinite? dtype=s32 atype=s8|u8 btype=s8|u8",
     .operands = ">d{*}:s32 a{4}:b32/r b:u64 scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 80},
               {"atype=s8 btype=u8", Feature::Wgmma, 84},
               {"atype=u8 btype=s8", Feature::Wgmma, 84}},
     .count = accumulators,
     .about = "bytes, 32-bit accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k256int dtype=s32 atype=b1 btype=b1 op=and popc",
     .operands = ">d{*}:s32 a:u64 b:u64 scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "single bits: counts the ones of the and"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sync aligned? shape=$m64k256int dtype=s32 atype=b1 btype=b1 op=and popc",
     .operands = ">d{*}:s32 a{4}:b32/r b:u64 scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 80}},
     .count = accumulators,
     .about = "single bits: counts the ones of the and; A in registers"},
    // --- sparse A ---
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f16 atype=f16 btype=f16",
     .operands = ">d{*}:f16x2 a:u64 b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1) #trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: halves, half-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f16 atype=f16 btype=f16",
     .operands = ">d{*}:f16x2 a{4}:f16x2/r b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: halves, half-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f32 atype=f16 btype=f16",
     .operands = ">d{*}:f32 a:u64 b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1) #trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: halves, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f32 atype=f16 btype=f16",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: halves, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f32 atype=bf16 btype=bf16",
     .operands = ">d{*}:f32 a:u64 b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1) #trans_a(0|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: brain floats, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k32 dtype=f32 atype=bf16 btype=bf16",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1) #trans_b(0|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: brain floats, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k16 dtype=f32 atype=tf32 btype=tf32",
     .operands = ">d{*}:f32 a:u64 b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: single precision cut to 10 bits of mantissa"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k16 dtype=f32 atype=tf32 btype=tf32",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 meta:b32/r #sel(0..1) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: single precision cut to 10 bits of mantissa; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64 dtype=f16 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f16x2 a:u64 b:u64 meta:b32/r #sel(0) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: 8-bit floats, half-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64 dtype=f16 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f16x2 a{4}:f16x2/r b:u64 meta:b32/r #sel(0) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: 8-bit floats, half-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64 dtype=f32 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f32 a:u64 b:u64 meta:b32/r #sel(0) scale_d:pred(0|1) #scale_a(-1|1) "
                 "#scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: 8-bit floats, single-precision accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64 dtype=f32 atype=$fp8 btype=$fp8",
     .operands = ">d{*}:f32 a{4}:f16x2/r b:u64 meta:b32/r #sel(0) scale_d:pred(0|1) "
                 "#scale_a(-1|1) #scale_b(-1|1)",
     .gates = {{"", Feature::Wgmma, 82}},
     .count = accumulators,
     .about = "sparse A: 8-bit floats, single-precision accumulator; A in registers"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64int satfinite? dtype=s32 atype=s8|u8 btype=s8|u8",
     .operands = ">d{*}:s32 a:u64 b:u64 meta:b32/r #sel(0) scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 82},
               {"atype=s8 btype=u8", Feature::Wgmma, 84},
               {"atype=u8 btype=s8", Feature::Wgmma, 84}},
     .count = accumulators,
     .about = "sparse A: bytes, 32-bit accumulator"},
    {.mnemonic = "wgmma.mma_async",
     .slots = "sp sync aligned? shape=$m64k64int satfinite? dtype=s32 atype=s8|u8 btype=s8|u8",
     .operands = ">d{*}:s32 a{4}:b32/r b:u64 meta:b32/r #sel(0) scale_d:pred(0|1)",
     .gates = {{"", Feature::Wgmma, 82},
               {"atype=s8 btype=u8", Feature::Wgmma, 84},
               {"atype=u8 btype=s8", Feature::Wgmma, 84}},
     .count = accumulators,
     .about = "sparse A: bytes, 32-bit accumulator; A in registers"},
    {.mnemonic = "wgmma.fence",
     .slots = "sync aligned?",
     .operands = "",
     .gates = {{"", Feature::Wgmma, 80}},
     .about = "orders register accesses before the next wgmma.mma_async"},
    {.mnemonic = "wgmma.commit_group",
     .slots = "sync aligned?",
     .operands = "",
     .gates = {{"", Feature::Wgmma, 80}},
     .about = "closes the group of all wgmma.mma_async so far"},
    {.mnemonic = "wgmma.wait_group",
     .slots = "sync aligned?",
     .operands = "#n(0..2147483647)",
     .gates = {{"", Feature::Wgmma, 80}},
     .about = "waits until at most the newest n groups are pending"},
};

}  // namespace

constinit const FamilyRows family{
    "wgmma", "wgmma: asynchronous matrix multiply-accumulate by a warpgroup", kRows};

}  // namespace ww::isa::wgmma_rows
