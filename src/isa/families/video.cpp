// SPDX-License-Identifier: Apache-2.0
// Video instructions: arithmetic on words wider than their result, and on two halves or four bytes of
// a word at a time. PTX manual, "Video instructions". Operands are whole words: selections of parts
// (`%r1.b2`, `%r1.h10`) and the negations of vmad are not read.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::video_rows {
namespace {

// One result, perhaps combined with c.
constexpr Row scalar(std::string_view name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? op2?=add|min|max",
          .operands = ">d:b32 a:b32 b:b32 c@op2:b32",
          .about = about};
}
constexpr Row shift(std::string_view name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32 sat? mode=clamp|wrap op2?=add|min|max",
          .operands = ">d:b32 a:b32 b:b32 c@op2:b32",
          .about = about};
}
// Two halves or four bytes, or c plus all of them. ptxas takes no immediates here.
constexpr Row parts(std::string_view name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? add?",
          .operands = ">d:b32 a:b32/r b:b32/r c:b32/r",
          .rules = {{"sat", "!add", "the sum of the parts does not saturate"}},
          .about = about};
}
constexpr Row set_parts(std::string_view name, std::string_view about) {
  return {.mnemonic = name,
          .slots = "atype=u32|s32 btype=u32|s32 cmp=eq|ne|lt|le|gt|ge add?",
          .operands = ">d:b32 a:b32/r b:b32/r c:b32/r",
          .about = about};
}

constexpr Row kRows[] = {
    scalar("vadd", "a + b in 34 bits, perhaps saturated and combined with c"),
    scalar("vsub", "a - b in the same way"),
    scalar("vabsdiff", "|a - b| in the same way"),
    scalar("vmin", "the lesser in the same way"),
    scalar("vmax", "the greater in the same way"),
    shift("vshl", "a shifted left"),
    shift("vshr", "a shifted right"),
    {.mnemonic = "vmad",
     .slots = "dtype=u32|s32 atype=u32|s32 btype=u32|s32 sat? scale?=shr7|shr15",
     .operands = ">d:b32 a:b32 b:b32 c:b32",
     .about = "a * b + c, shifted right"},
    {.mnemonic = "vset",
     .slots = "atype=u32|s32 btype=u32|s32 cmp=eq|ne|lt|le|gt|ge op2?=add|min|max",
     .operands = ">d:b32 a:b32 b:b32 c@op2:b32",
     .about = "1 where the comparison holds, else 0"},
    parts("vadd2", "sums of two halves"),
    parts("vsub2", "differences of two halves"),
    parts("vavrg2", "means of two halves"),
    parts("vabsdiff2", "distances of two halves"),
    parts("vmin2", "the lesser of each two halves"),
    parts("vmax2", "the greater of each two halves"),
    set_parts("vset2", "compares two halves"),
    parts("vadd4", "sums of four bytes"),
    parts("vsub4", "differences of four bytes"),
    parts("vavrg4", "means of four bytes"),
    parts("vabsdiff4", "distances of four bytes"),
    parts("vmin4", "the lesser of each two bytes"),
    parts("vmax4", "the greater of each two bytes"),
    set_parts("vset4", "compares four bytes"),
};

}  // namespace

constinit const FamilyRows family{
    "video", "vadd, vsub, vmad, vadd2, vadd4 and others: words, halves and bytes with saturation",
    kRows};

}  // namespace ww::isa::video_rows
