// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: D = A*B (+ D) by the tensor core of a block or of a pair of blocks, D in tensor
// memory, B behind a 64-bit descriptor in shared memory, A behind one or in tensor memory. PTX
// manual, "TensorCore 5th generation: matrix multiply-accumulate instructions".
//
// Operands in order: D, A, B, with `.sp` the metadata of A, the 32-bit instruction descriptor, with
// `.block_scale` the scales of A and B, a mask of rows of D to leave alone, whether D is added
// (a predicate, or a constant), and a power of two that D is divided by first.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::tcgen05_mma_rows {
namespace {

// One bit for every row that the instruction writes: 128 in one block, 256 in two.
int mask_registers(const Binding& binding, std::string_view) {
  return binding.word("group") == "cta_group::2" ? 8 : 4;
}

constexpr Rule kShift{"ashift", "collector!=collector::a::fill|collector::a::use",
                      "a shifted A is not kept for or taken from the collector buffer"};
constexpr Rule kSizeOf8{
    "kind=kind::mxf8f6f4", "size!=scale_vec::2X|scale_vec::4X|block16",
    "`.kind::mxf8f6f4` has a scale for every 32 numbers: `.block32` or `.scale_vec::1X`"};
constexpr Rule kSizeOf4{
    "kind=kind::mxf4", "size!=scale_vec::1X|scale_vec::4X|block16",
    "`.kind::mxf4` has a scale for every 32 numbers: `.block32` or `.scale_vec::2X`"};
constexpr Rule kSizeOfNv{
    "kind=kind::mxf4nvf4", "size=scale_vec::2X|scale_vec::4X|block16|block32",
    "`.kind::mxf4nvf4` needs `.block16`, `.block32`, `.scale_vec::2X` or `.scale_vec::4X`"};

constexpr Gate kBlocks{"size=block16|block32", Feature::TensorMemory, 88};
constexpr Gate kNoSize{"!size", Feature::TensorMemory, 88};  // ptxas reads it as `.block32`
constexpr Gate kVectors{"size=scale_vec::1X|scale_vec::2X|scale_vec::4X", Feature::TensorScaleVec,
                        86};
constexpr Gate kNvf4{"kind=kind::mxf4nvf4", Feature::TensorMemory, 87};

constexpr Row kRows[] = {
    // --- dense ---
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32|kind::f8f6f4 "
              "collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}},
     .count = mask_registers,
     .about = "floats of one of three kinds"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32|kind::f8f6f4 ashift? "
              "collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "floats of one of three kinds, A in tensor memory"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32 collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 idesc:u32 mask?{*}:b32/r add_d:pred #scale_d(0..15)",
     .gates = {{"", Feature::TensorScaleD, 86}},
     .count = mask_registers,
     .about = "floats, D scaled down before the sum"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32 ashift? "
              "collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 idesc:u32 mask?{*}:b32/r add_d:pred #scale_d(0..15)",
     .gates = {{"", Feature::TensorScaleD, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "floats, D scaled down before the sum, A in tensor memory"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 "
              "block_scale size?=$scale_sizes collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 idesc:u32 [scale_a:tensor] [scale_b:tensor] add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}, kBlocks, kNoSize, kVectors, kNvf4},
     .rules = {kSizeOf8, kSizeOf4, kSizeOfNv},
     .about = "narrow floats with block scales"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 "
              "block_scale size?=$scale_sizes collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 idesc:u32 [scale_a:tensor] [scale_b:tensor] "
                 "add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}, kBlocks, kNoSize, kVectors, kNvf4},
     .rules = {kSizeOf8, kSizeOf4, kSizeOfNv},
     .about = "narrow floats with block scales, A in tensor memory"},
    // The scale of D is not in the manual for integers; ptxas 13.0 takes any number.
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::i8 collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 idesc:u32 mask?{*}:b32/r add_d:pred #scale_d?",
     .gates = {{"", Feature::TensorInt8, 86}},
     .count = mask_registers,
     .about = "bytes"},
    {.mnemonic = "tcgen05.mma",
     .slots = "group=cta_group::1|cta_group::2 kind=kind::i8 ashift? collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 idesc:u32 mask?{*}:b32/r add_d:pred #scale_d?",
     .gates = {{"", Feature::TensorInt8, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "bytes, A in tensor memory"},
    // --- sparse A ---
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32|kind::f8f6f4 "
              "collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}},
     .count = mask_registers,
     .about = "sparse A: floats of one of three kinds"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32|kind::f8f6f4 ashift? "
              "collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "sparse A: floats of one of three kinds, A in tensor memory"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32 collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred "
                 "#scale_d(0..15)",
     .gates = {{"", Feature::TensorScaleD, 86}},
     .count = mask_registers,
     .about = "sparse A: floats, D scaled down before the sum"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::f16|kind::tf32 ashift? "
              "collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred "
                 "#scale_d(0..15)",
     .gates = {{"", Feature::TensorScaleD, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "sparse A: floats, D scaled down before the sum, A in tensor memory"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 "
              "block_scale size?=$scale_sizes collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 [scale_a:tensor] "
                 "[scale_b:tensor] add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86},
               kBlocks,
               kNoSize,
               kVectors,
               kNvf4,
               {"kind=kind::mxf4|kind::mxf4nvf4", Feature::TensorSparseMxf4, 86}},
     .rules = {kSizeOf8, kSizeOf4, kSizeOfNv},
     .about = "sparse A: narrow floats with block scales"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4 "
              "block_scale size?=$scale_sizes collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 [scale_a:tensor] "
                 "[scale_b:tensor] add_d:pred",
     .gates = {{"", Feature::TensorMemory, 86},
               kBlocks,
               kNoSize,
               kVectors,
               kNvf4,
               {"kind=kind::mxf4|kind::mxf4nvf4", Feature::TensorSparseMxf4, 86}},
     .rules = {kSizeOf8, kSizeOf4, kSizeOfNv},
     .about = "sparse A: narrow floats with block scales, A in tensor memory"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::i8 collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorInt8, 86}},
     .count = mask_registers,
     .about = "sparse A: bytes"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::i8 ashift? collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 mask?{*}:b32/r add_d:pred",
     .gates = {{"", Feature::TensorInt8, 86}},
     .rules = {kShift},
     .count = mask_registers,
     .about = "sparse A: bytes, A in tensor memory"},
    // Not in the manual; ptxas 13.0 takes it without a mask.
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::i8 collector?=$collect_a",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 add_d:pred #scale_d",
     .gates = {{"", Feature::TensorInt8, 86}},
     .about = "sparse A: bytes, D scaled down before the sum"},
    {.mnemonic = "tcgen05.mma",
     .slots = "sp group=cta_group::1|cta_group::2 kind=kind::i8 ashift? collector?=$collect_a",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 add_d:pred #scale_d",
     .gates = {{"", Feature::TensorInt8, 86}},
     .rules = {kShift},
     .about = "sparse A: bytes, D scaled down before the sum, A in tensor memory"},
    // --- weight stationary: B stays in a collector buffer ---
    {.mnemonic = "tcgen05.mma.ws",
     .slots = "group=cta_group::1 kind=kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
              "collector?=$collect_b",
     .operands = "[d:tensor] a:u64 b:u64 idesc:u32 add_d:pred zero_columns?:u64",
     .gates = {{"", Feature::TensorMemory, 86}, {"kind=kind::i8", Feature::TensorInt8, 86}},
     .about = "B stays in a collector buffer, with columns of B that count as zero"},
    {.mnemonic = "tcgen05.mma.ws",
     .slots = "group=cta_group::1 kind=kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
              "collector?=$collect_b",
     .operands = "[d:tensor] [a:tensor] b:u64 idesc:u32 add_d:pred zero_columns?:u64",
     .gates = {{"", Feature::TensorMemory, 86}, {"kind=kind::i8", Feature::TensorInt8, 86}},
     .about =
         "B stays in a collector buffer, with columns of B that count as zero, A in tensor memory"},
    {.mnemonic = "tcgen05.mma.ws",
     .slots = "sp group=cta_group::1 kind=kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
              "collector?=$collect_b",
     .operands = "[d:tensor] a:u64 b:u64 [meta:tensor] idesc:u32 add_d:pred zero_columns?:u64",
     .gates = {{"", Feature::TensorMemory, 86}, {"kind=kind::i8", Feature::TensorInt8, 86}},
     .about = "sparse A: B stays in a collector buffer, with columns of B that count as zero"},
    {.mnemonic = "tcgen05.mma.ws",
     .slots = "sp group=cta_group::1 kind=kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
              "collector?=$collect_b",
     .operands = "[d:tensor] [a:tensor] b:u64 [meta:tensor] idesc:u32 add_d:pred zero_columns?:u64",
     .gates = {{"", Feature::TensorMemory, 86}, {"kind=kind::i8", Feature::TensorInt8, 86}},
     .about = "sparse A: B stays in a collector buffer, with columns of B that count as zero, A in "
              "tensor memory"},
};

}  // namespace

constinit const FamilyRows family{
    "tcgen05_mma", "tcgen05.mma: matrix multiply-accumulate in tensor memory", kRows};

}  // namespace ww::isa::tcgen05_mma_rows
