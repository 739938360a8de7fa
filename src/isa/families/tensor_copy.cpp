// SPDX-License-Identifier: Apache-2.0
// Tensor copies and tensor maps: boxes of a tensor of 1 to 5 dimensions copied, combined or
// prefetched by the copy engine, described by a 128-byte map and the coordinates of the box. PTX
// manual, "Data movement and conversion instructions: tensor copy" and "tensormap.replace".
//
// Modes: tile takes a box as it is; gather4 and scatter4 take four rows of a matrix, given by one
// column and four row numbers; im2col takes the boxes under a moving filter, with offsets into
// them.
//
// The address of the map is a generic one in a register; as a name, ptxas 13.0 takes that of a
// global variable only, hence `:global`.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::tensor_copy_rows {
namespace {

// How many coordinates, or offsets, an address or list holds.
int numbers(const Binding& binding, std::string_view operand) {
  const Word mode = binding.word("mode");
  const int dims = binding.number("dim");
  if (operand == "offsets") return mode == "im2col" ? dims - 2 : 2;  // the w modes: halo and offset
  return mode.is_one_of({"tile::gather4", "tile::scatter4"}) ? 5 : dims;
}

constexpr Rule kGather{"mode=tile::gather4", "dim=2d", "`.tile::gather4` is `.2d`"};
constexpr Rule kScatter{"mode=tile::scatter4", "dim=2d", "`.tile::scatter4` is `.2d`"};
constexpr Rule kNoOffsets{"mode=im2col_no_offs", "dim=3d|4d|5d",
                          "`.im2col_no_offs` is `.3d`, `.4d` or `.5d`"};

constexpr Row kRows[] = {
    // --- global to shared ---
    {.mnemonic = "cp.async.bulk.tensor",
     .slots = "dim=$dims dst=shared::cta src=global mode?=tile|tile::gather4 "
              "mbarrier::complete_tx::bytes group?=cta_group::1|cta_group::2 hint?=L2::cache_hint",
     .operands = "[d:dst] [map{*}:global] [mbar:shared] policy@hint:u64",
     .gates = {{"", Feature::Sm90, 86},
               {"mode=tile::gather4", Feature::Sm100, 86},
               {"group", Feature::CtaPairCopies, 86}},
     .rules = {kGather},
     .count = numbers,
     .about = "a box, or four rows, to this block's shared memory"},
    {.mnemonic = "cp.async.bulk.tensor",
     .slots = "dim=3d|4d|5d dst=shared::cta src=global mode=im2col|im2col::w|im2col::w::128 "
              "mbarrier::complete_tx::bytes group?=cta_group::1|cta_group::2 hint?=L2::cache_hint",
     .operands = "[d:dst] [map{*}:global] [mbar:shared] offsets{*}:u16 policy@hint:u64",
     .gates = {{"", Feature::Sm90, 86},
               {"mode=im2col::w", Feature::Sm100, 86},
               {"mode=im2col::w::128", Feature::CtaPairCopies, 86},
               {"group", Feature::CtaPairCopies, 86}},
     .count = numbers,
     .about = "columns of an image to this block's shared memory"},
    {.mnemonic = "cp.async.bulk.tensor",
     .slots = "dim=$dims dst=shared::cluster src=global mode?=tile|tile::gather4 "
              "mbarrier::complete_tx::bytes multicast?=multicast::cluster "
              "group?=cta_group::1|cta_group::2 hint?=L2::cache_hint",
     .operands = "[d:dst] [map{*}:global] [mbar:shared::cluster] mask@multicast:u16 "
                 "policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80},
               {"mode=tile::gather4", Feature::CtaPairCopies, 86},
               {"group", Feature::CtaPairCopies, 86}},
     .rules = {kGather},
     .count = numbers,
     .about = "a box, or four rows, to a block of the cluster, or to several at once"},
    {.mnemonic = "cp.async.bulk.tensor",
     .slots = "dim=3d|4d|5d dst=shared::cluster src=global mode=im2col|im2col::w|im2col::w::128 "
              "mbarrier::complete_tx::bytes multicast?=multicast::cluster "
              "group?=cta_group::1|cta_group::2 hint?=L2::cache_hint",
     .operands = "[d:dst] [map{*}:global] [mbar:shared::cluster] offsets{*}:u16 "
                 "mask@multicast:u16 policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80},
               {"mode=im2col::w|im2col::w::128", Feature::CtaPairCopies, 86},
               {"group", Feature::CtaPairCopies, 86}},
     .count = numbers,
     .about = "columns of an image to a block of the cluster, or to several at once"},

    // --- shared to global ---
    {.mnemonic = "cp.async.bulk.tensor",
     .slots = "dim=$dims dst=global src=shared::cta mode?=tile|tile::scatter4|im2col_no_offs "
              "bulk_group hint?=L2::cache_hint",
     .operands = "[map{*}:global] [s:src] policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}, {"mode=tile::scatter4", Feature::CtaPairCopies, 86}},
     .rules = {kScatter, kNoOffsets},
     .count = numbers,
     .about = "a box, four rows or columns of an image from shared memory"},
    // The manual has no `.tile::scatter4` here; ptxas 13.0 takes it.
    {.mnemonic = "cp.reduce.async.bulk.tensor",
     .slots = "dim=$dims dst=global src=shared::cta op=add|min|max|inc|dec|and|or|xor "
              "mode?=tile|tile::scatter4|im2col_no_offs bulk_group hint?=L2::cache_hint",
     .operands = "[map{*}:global] [s:src] policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}, {"mode=tile::scatter4", Feature::CtaPairCopies, 86}},
     .rules = {kScatter, kNoOffsets},
     .count = numbers,
     .about = "combines a box in shared memory into the tensor"},

    // --- prefetch ---
    {.mnemonic = "cp.async.bulk.prefetch.tensor",
     .slots = "dim=$dims L2 src=global mode?=tile|tile::gather4 hint?=L2::cache_hint",
     .operands = "[map{*}:global] policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80}, {"mode=tile::gather4", Feature::CtaPairCopies, 86}},
     .rules = {kGather},
     .count = numbers,
     .about = "brings a box, or four rows, into the L2 cache"},
    {.mnemonic = "cp.async.bulk.prefetch.tensor",
     .slots = "dim=3d|4d|5d L2 src=global mode=im2col|im2col::w|im2col::w::128 "
              "hint?=L2::cache_hint",
     .operands = "[map{*}:global] offsets{*}:u16 policy@hint:u64",
     .gates = {{"", Feature::Sm90, 80},
               {"mode=im2col::w|im2col::w::128", Feature::CtaPairCopies, 86}},
     .count = numbers,
     .about = "brings columns of an image into the L2 cache"},
    {.mnemonic = "prefetch",
     .slots = "space?=const|param tensormap",
     .operands = "[map:space]",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "brings a tensor map into the cache that serves tensor copies"},

    // --- tensor maps ---
    {.mnemonic = "tensormap.replace",
     .slots = "tile global_address space?=global|shared::cta map=b1024 type=b64",
     .operands = "[map:space] value:b64",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the address of the tensor"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile rank space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] value:b32",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the number of dimensions less one"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile field=box_dim|global_dim|element_stride space?=global|shared::cta map=b1024 "
              "type=b32",
     .operands = "[map:space] #dimension(0..4) value:u32",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the size of the box or the tensor, or the step between elements, in one dimension"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile global_stride space?=global|shared::cta map=b1024 type=b64",
     .operands = "[map:space] #dimension(0..4) value:b64",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the distance in bytes between neighbours in one dimension"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile elemtype space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(0..12)",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the element type"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile elemtype space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(13..15)",
     .gates = {{"", Feature::NarrowFloats, 87}},
     .about = "the element type: packed numbers of 4 or 6 bits"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile interleave_layout space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(0..2)",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "how channels are interleaved: not, by 16 bytes, by 32 bytes"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile swizzle_mode space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(0..3)",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "the swizzle in shared memory: none, 32, 64 or 128 bytes"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile swizzle_mode space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(4)",
     .gates = {{"", Feature::TensormapSwizzle96, 88}},
     .about = "the swizzle in shared memory: 96 bytes"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile swizzle_atomicity space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(0..3)",
     .gates = {{"", Feature::NarrowFloats, 86}},
     .about = "the unit that the swizzle moves: 16 bytes, 32, 32 with halves swapped, 64"},
    {.mnemonic = "tensormap.replace",
     .slots = "tile fill_mode space?=global|shared::cta map=b1024 type=b32",
     .operands = "[map:space] #value(0..1)",
     .gates = {{"", Feature::TensormapEdit, 83}},
     .about = "what is read outside the tensor: zeros or a NaN"},
    {.mnemonic = "tensormap.cp_fenceproxy",
     .slots = "dst=global src=shared::cta tensormap::generic release scope=$scope sync aligned",
     .operands = "[d:dst] [s:src] #size(128)",
     .gates = {{"", Feature::Sm90, 83}},
     .about = "copies an edited map to global memory and makes it visible to tensor copies"},
};

}  // namespace

constinit const FamilyRows family{
    "tensor_copy", "cp.async.bulk.tensor and tensor maps: boxes of tensors by the copy engine",
    kRows};

}  // namespace ww::isa::tensor_copy_rows
