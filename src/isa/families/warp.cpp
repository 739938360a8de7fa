// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together: shuffles, votes, matches, reductions, election. PTX manual,
// "shfl.sync, vote.sync, match.sync, activemask, redux.sync, elect.sync"; "shfl (deprecated)" and "vote
// (deprecated)" are without `.sync`, for the lanes that run.
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::warp_rows {
namespace {

// Without `.sync`: on sm_70 and later up to PTX 6.3.
constexpr Gate kBeforeVolta{"", Feature::Sm75, 63, 63};

constexpr Row kRows[] = {
    {.mnemonic = "shfl",
     .slots = "sync mode=up|down|bfly|idx type=b32",
     .operands = ">d|p?:b32 a:b32 b:b32 c:b32 mask:b32",
     .about = "reads a register of another lane"},
    {.mnemonic = "shfl",
     .slots = "mode=up|down|bfly|idx type=b32",
     .operands = ">d|p?:b32 a:b32 b:b32 c:b32",
     .gates = {kBeforeVolta},
     .about = "reads a register of another lane that runs"},
    {.mnemonic = "vote",
     .slots = "sync mode=all|any|uni type=pred",
     .operands = ">p:pred a:pred mask:b32",
     .about = "whether the predicate holds in all, in any, or equally in all lanes"},
    {.mnemonic = "vote",
     .slots = "sync mode=ballot type=b32",
     .operands = ">d:b32 a:pred mask:b32",
     .about = "the lanes in which the predicate holds"},
    {.mnemonic = "vote",
     .slots = "mode=all|any|uni type=pred",
     .operands = ">p:pred a:pred",
     .gates = {kBeforeVolta},
     .about = "whether the predicate holds in all, in any, or equally in all lanes that run"},
    {.mnemonic = "vote",
     .slots = "mode=ballot type=b32",
     .operands = ">d:b32 a:pred",
     .gates = {kBeforeVolta},
     .about = "the lanes that run and in which the predicate holds"},
    {.mnemonic = "match.any",
     .slots = "sync type=b32|b64",
     .operands = ">d:b32 a:type mask:b32",
     .about = "the lanes with the same value"},
    {.mnemonic = "match.all",
     .slots = "sync type=b32|b64",
     .operands = ">d|p?:b32/_ a:type mask:b32",
     .about = "the mask if all lanes have the same value, else 0"},
    {.mnemonic = "activemask",
     .slots = "type=b32",
     .operands = ">d:b32",
     .about = "the lanes that run now"},
    {.mnemonic = "redux",
     .slots = "sync op=add|min|max type=u32|s32",
     .operands = ">d:type a:type mask:b32",
     .gates = {{"", Feature::Sm80, 70}},
     .about = "sum, least or greatest over the lanes"},
    {.mnemonic = "redux",
     .slots = "sync op=and|or|xor type=b32",
     .operands = ">d:b32 a:b32 mask:b32",
     .gates = {{"", Feature::Sm80, 70}},
     .about = "bits combined over the lanes"},
    {.mnemonic = "redux",
     .slots = "sync op=min|max abs? NaN? type=f32",
     .operands = ">d:f32 a:f32 mask:b32",
     .gates = {{"", Feature::FloatRedux, 86}},
     .about = "least or greatest over the lanes"},
    {.mnemonic = "elect",
     .slots = "sync",
     .operands = ">d|p:b32/_ mask:b32",
     .gates = {{"", Feature::Sm90, 80}},
     .about = "picks one lane; the predicate holds in it alone"},
    {.mnemonic = "setmaxnreg",
     .slots = "action=inc|dec sync aligned type=u32",
     .operands = "#count(24..256/8)",
     .gates = {{"", Feature::RegisterBudget, 80}},
     .about = "takes or gives back registers for the warps of a warpgroup"},
};

}  // namespace

constinit const FamilyRows family{"warp", "shfl, vote, match, redux, elect, activemask, setmaxnreg",
                                  kRows};

}  // namespace ww::isa::warp_rows
