// SPDX-License-Identifier: Apache-2.0
// Video instructions: arithmetic on words wider than their result, and on two halves or four bytes of
// a word at a time. PTX manual, "Video instructions". Sources may be parts of words (form.h); so may
// a result that is merged into c. The negations of vmad are not read.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::video_rows {
namespace {

// One result, perhaps combined with c.
constexpr Row scalar(Mnemonic name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? op2?=add|min|max",
          .operands = ">d:b32 a:b32/p b:b32/p c@op2:b32",
          .about = about};
}
constexpr Row scalar_merge(Mnemonic name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat?",
          .operands = ">d:b32/p a:b32/p b:b32/p c:b32",
          .about = about};
}
constexpr Row shift(Mnemonic name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32 sat? mode=clamp|wrap op2?=add|min|max",
          .operands = ">d:b32 a:b32/p b:b32/p c@op2:b32",
          .about = about};
}
constexpr Row shift_merge(Mnemonic name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32 sat? mode=clamp|wrap",
          .operands = ">d:b32/p a:b32/p b:b32/p c:b32",
          .about = about};
}
// Two halves or four bytes, or c plus all of them. ptxas takes no immediates here.
constexpr Row parts(Mnemonic name, std::string_view operands, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? add?",
          .operands = operands,
          .rules = {{"sat", "!add", "the sum of the parts does not saturate"}},
          .about = about};
}
constexpr Row set_parts(Mnemonic name, std::string_view operands, std::string_view about) {
  return {.mnemonic = name,
          .slots = "atype=u32|s32 btype=u32|s32 cmp=eq|ne|lt|le|gt|ge add?",
          .operands = operands,
          .about = about};
}

constexpr std::string_view kHalves = ">d:b32/2 a:b32/r2 b:b32/r2 c:b32/r";
constexpr std::string_view kBytes = ">d:b32/4 a:b32/r4 b:b32/r4 c:b32/r";
constexpr std::string_view kMerges = "the same, with its low part written to a part of c";

constexpr Row kRows[] = {
    scalar("vadd", "a + b in 34 bits, perhaps saturated and combined with c"),
    scalar_merge("vadd", kMerges),
    scalar("vsub", "a - b in the same way"),
    scalar_merge("vsub", kMerges),
    scalar("vabsdiff", "|a - b| in the same way"),
    scalar_merge("vabsdiff", kMerges),
    scalar("vmin", "the lesser in the same way"),
    scalar_merge("vmin", kMerges),
    scalar("vmax", "the greater in the same way"),
    scalar_merge("vmax", kMerges),
    shift("vshl", "a shifted left"),
    shift_merge("vshl", kMerges),
    shift("vshr", "a shifted right"),
    shift_merge("vshr", kMerges),
    {.mnemonic = "vmad",
     .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? scale?=shr7|shr15",
     .operands = ">d:b32 a:b32/p b:b32/p c:b32",
     .about = "a * b + c, shifted right"},
    {.mnemonic = "vset",
     .slots = "atype=u32|s32 btype=u32|s32 cmp=eq|ne|lt|le|gt|ge op2?=add|min|max",
     .operands = ">d:b32 a:b32/p b:b32/p c@op2:b32",
     .about = "1 where the comparison holds, else 0"},
    {.mnemonic = "vset",
     .slots = "atype=u32|s32 btype=u32|s32 cmp=eq|ne|lt|le|gt|ge",
     .operands = ">d:b32/p a:b32/p b:b32/p c:b32",
     .about = kMerges},
    parts("vadd2", kHalves, "sums of two halves"),
    parts("vsub2", kHalves, "differences of two halves"),
    parts("vavrg2", kHalves, "means of two halves"),
    parts("vabsdiff2", kHalves, "distances of two halves"),
    parts("vmin2", kHalves, "the lesser of each two halves"),
    parts("vmax2", kHalves, "the greater of each two halves"),
    set_parts("vset2", kHalves, "compares two halves"),
    parts("vadd4", kBytes, "sums of four bytes"),
    parts("vsub4", kBytes, "differences of four bytes"),
    parts("vavrg4", kBytes, "means of four bytes"),
    parts("vabsdiff4", kBytes, "distances of four bytes"),
    parts("vmin4", kBytes, "the lesser of each two bytes"),
    parts("vmax4", kBytes, "the greater of each two bytes"),
    set_parts("vset4", kBytes, "compares four bytes"),
};

}  // namespace

constinit const FamilyRows family{
    "video", "vadd, vsub, vmad, vadd2, vadd4 and others: words, halves and bytes with saturation",
    kRows};

}  // namespace ww::isa::video_rows
