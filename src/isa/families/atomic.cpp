// SPDX-License-Identifier: Apache-2.0
// Read-modify-write: atom returns the old value, red does not, multimem works on several devices.
// PTX manual, "atom, red, red.async", "multimem.ld_reduce, multimem.st, multimem.red".
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::atomic_rows {
namespace {

#define ATOM_HEAD                                       \
  "sem?=relaxed|acquire|release|acq_rel scope?=$scope " \
  "space?=global|shared|shared::cta|shared::cluster "
#define RED_HEAD \
  "sem?=relaxed|release scope?=$scope space?=global|shared|shared::cta|shared::cluster "
#define HINT "hint?=L2::cache_hint "
#define POLICY " policy@hint:b64"

constexpr Gate kHint{"hint", Feature::Sm80, 74};
constexpr Gate kCta{"space=shared::cta", Feature::Sm75, 78};
constexpr Gate kCluster{"space=shared::cluster", Feature::Sm90, 78};
constexpr Gate kScope{"scope=cluster", Feature::Sm90, 78};
constexpr Gate kB128{"type=b128", Feature::Sm90, 83};
constexpr Gate kB128Sys{"scope=sys type=b128", Feature::Sm90, 84};
constexpr Gate kBf16{"type=bf16|bf16x2", Feature::Sm90, 78};
constexpr Gate kVectors{"", Feature::Sm90, 81};
constexpr Rule kHintSpace{"hint", "space!=shared|shared::cta|shared::cluster",
                          "a cache policy is for global and generic addresses"};

// Which types red.async combines how.
constexpr Rule kCounters{"op=inc|dec", "type=u32"};
constexpr Rule kOrder{"op=min|max", "type=u32|s32"};
constexpr Rule kBitwise{"op=and|or|xor", "type=b32"};
constexpr Rule kSums{"op=add", "type=u32|s32|u64|s64"};

constexpr Rule kSemScope{"sem", "scope"};
constexpr Rule kScopeSem{"scope", "sem"};
constexpr Rule kWeak{"weak sem", ""};

// A vector of multimem is 32, 64 or 128 bits wide; single halves and bytes come in vectors only.
std::string multimem_vector(const Binding& binding, std::span<const Operand>) {
  const int lanes = binding.has("vec") ? binding.number("vec") : 1;
  const int bits = info(binding.type("type")).bits * lanes;
  if (bits == 32 || bits == 64 || bits == 128) return "";
  return fmt::format("`{}` moves {} bits; multimem takes 32, 64 or 128", binding.opcode(), bits);
}

constexpr Row kRows[] = {
    // atom
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=and|or|xor " HINT "type=b32|b64",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "combines bits"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=exch " HINT "type=b32|b64|b128",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope, kB128, kB128Sys},
     .rules = {kHintSpace},
     .about = "exchanges"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=cas type=b16|b32|b64|b128",
     .operands = ">d:type/_ [a:space] b:type c:type",
     .gates = {kCta, kCluster, kScope, kB128, kB128Sys},
     .about = "exchanges if the old value equals b"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=add " HINT "type=u32|s32|u64|f32|f64",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "adds"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=add noftz " HINT "type=f16|f16x2|bf16|bf16x2",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope, kBf16},
     .rules = {kHintSpace},
     .about = "adds halves, each half of a pair by itself"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=inc|dec " HINT "type=u32",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "counts up or down and starts again at the limit"},
    {.mnemonic = "atom",
     .slots = ATOM_HEAD "op=min|max " HINT "type=u32|s32|u64|s64",
     .operands = ">d:type/_ [a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "keeps the lesser or greater"},
    {.mnemonic = "atom",
     .slots = "sem?=relaxed|acquire|release|acq_rel scope?=$scope space?=global op=add " HINT
              "vec=v2|v4 type=f32",
     .operands = ">d{vec}:type/_ [a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "adds a vector, each element by itself"},
    {.mnemonic = "atom",
     .slots = "sem?=relaxed|acquire|release|acq_rel scope?=$scope space?=global op=add|min|max "
              "noftz " HINT "vec=v2|v4|v8 type=f16|bf16",
     .operands = ">d{vec}:type/_ [a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "combines a vector of halves"},
    {.mnemonic = "atom",
     .slots = "sem?=relaxed|acquire|release|acq_rel scope?=$scope space?=global op=add|min|max "
              "noftz " HINT "vec=v2|v4 type=f16x2|bf16x2",
     .operands = ">d{vec}:type/_ [a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "combines a vector of pairs"},
    // red
    {.mnemonic = "red",
     .slots = RED_HEAD "op=and|or|xor " HINT "type=b32|b64",
     .operands = "[a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "combines bits"},
    {.mnemonic = "red",
     .slots = RED_HEAD "op=add " HINT "type=u32|s32|u64|f32|f64",
     .operands = "[a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "adds"},
    {.mnemonic = "red",
     .slots = RED_HEAD "op=add noftz " HINT "type=f16|f16x2|bf16|bf16x2",
     .operands = "[a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope, kBf16},
     .rules = {kHintSpace},
     .about = "adds halves, each half of a pair by itself"},
    {.mnemonic = "red",
     .slots = RED_HEAD "op=inc|dec " HINT "type=u32",
     .operands = "[a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "counts up or down and starts again at the limit"},
    {.mnemonic = "red",
     .slots = RED_HEAD "op=min|max " HINT "type=u32|s32|u64|s64",
     .operands = "[a:space] b:type" POLICY,
     .gates = {kHint, kCta, kCluster, kScope},
     .rules = {kHintSpace},
     .about = "keeps the lesser or greater"},
    {.mnemonic = "red",
     .slots = "sem?=relaxed|release scope?=$scope space?=global op=add " HINT "vec=v2|v4 type=f32",
     .operands = "[a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "adds a vector, each element by itself"},
    {.mnemonic = "red",
     .slots = "sem?=relaxed|release scope?=$scope space?=global op=add|min|max noftz " HINT
              "vec=v2|v4|v8 type=f16|bf16",
     .operands = "[a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "combines a vector of halves"},
    {.mnemonic = "red",
     .slots = "sem?=relaxed|release scope?=$scope space?=global op=add|min|max noftz " HINT
              "vec=v2|v4 type=f16x2|bf16x2",
     .operands = "[a:space] b{vec}:type" POLICY,
     .gates = {kVectors},
     .about = "combines a vector of pairs"},
    // red.async
    {.mnemonic = "red.async",
     .slots = "relaxed cluster space?=shared::cluster mbarrier::complete_tx::bytes "
              "op=inc|dec|min|max|and|or|xor|add type=u32|s32|b32|u64|s64",
     .operands = "[a:shared] b:type [mbar:shared]",
     .gates = {{"", Feature::Sm90, 81}},
     .rules = {kCounters, kOrder, kBitwise, kSums},
     .about = "combines into a shared memory of the cluster and signals the mbarrier there"},
    {.mnemonic = "red.async",
     .slots = "mmio? release scope=gpu|sys space?=global op=inc|dec|min|max|and|or|xor|add "
              "type=u32|s32|b32|u64|s64",
     .operands = "[a:space] b:type",
     .gates = {{"", Feature::Sm100, 87}},
     .rules = {kCounters, kOrder, kBitwise, kSums},
     .about = "combines into global memory without waiting, ordered as a release"},
    // multimem
    {.mnemonic = "multimem.ld_reduce",
     .slots = "weak? sem?=relaxed|acquire scope?=$scope space?=global op=min|max|add|and|or|xor "
              "type=b32|b64|u32|u64|s32|s64",
     .operands = ">d:type [a:space]",
     .gates = {{"", Feature::Sm90, 81}},
     .rules = {kSemScope,
               kScopeSem,
               kWeak,
               {"op=and|or|xor", "type=b32|b64"},
               {"op=add", "type=u32|s32|u64"},
               {"op=min|max", "type=u32|s32|u64|s64"}},
     .about = "loads the combined value of all devices"},
    {.mnemonic = "multimem.ld_reduce",
     .slots =
         "weak? sem?=relaxed|acquire scope?=$scope space?=global op=min|max|add "
         "acc?=acc::f32|acc::f16 "
         "vec?=v2|v4|v8 type=f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e5m2|e4m3x2|e4m3x4|e5m2x2|e5m2x4",
     .operands = ">d{vec}:type/_b [a:space]",
     .gates = {{"", Feature::Sm90, 81},
               {"acc=acc::f32", Feature::Sm90, 82},
               {"acc=acc::f16", Feature::MultimemFp8, 86},
               {"type=e4m3|e5m2|e4m3x2|e4m3x4|e5m2x2|e5m2x4", Feature::MultimemFp8, 86}},
     .rules = {kSemScope,
               kScopeSem,
               kWeak,
               {"op=min|max", "type=f16|f16x2|bf16|bf16x2|e4m3|e5m2|e4m3x2|e4m3x4|e5m2x2|e5m2x4"},
               {"op=min|max", "!acc"},
               {"acc=acc::f32", "type=f16|f16x2|bf16|bf16x2"},
               {"acc=acc::f16", "type=e4m3|e5m2|e4m3x2|e4m3x4|e5m2x2|e5m2x4"},
               {"type=f64", "!vec"}},
     .verify = multimem_vector,
     .about = "loads the combined floating-point value of all devices"},
    {.mnemonic = "multimem.st",
     .slots = "weak? sem?=relaxed|release scope?=$scope space?=global vec?=v2|v4|v8 "
              "type=b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e5m2|e4m3x2|e4m3x4|"
              "e5m2x2|e5m2x4",
     .operands = "[a:space] b{vec}:type/b",
     .gates = {{"", Feature::Sm90, 81},
               {"type=e4m3|e5m2|e4m3x2|e4m3x4|e5m2x2|e5m2x4", Feature::MultimemFp8, 86}},
     .rules = {kSemScope, kScopeSem, kWeak, {"vec", "type!=b32|b64|u32|u64|s32|s64|f64"}},
     .verify = multimem_vector,
     .about = "stores to all devices"},
    {.mnemonic = "multimem.red",
     .slots = "sem?=relaxed|release scope?=$scope space?=global op=min|max|add|and|or|xor "
              "type=b32|b64|u32|u64|s32|s64",
     .operands = "[a:space] b:type",
     .gates = {{"", Feature::Sm90, 81}},
     .rules = {kSemScope,
               kScopeSem,
               {"op=and|or|xor", "type=b32|b64"},
               {"op=add", "type=u32|s32|u64"},
               {"op=min|max", "type=u32|s32|u64|s64"}},
     .about = "combines a value into the memory of all devices"},
    {.mnemonic = "multimem.red",
     .slots = "sem?=relaxed|release scope?=$scope space?=global op=add vec?=v2|v4|v8 "
              "type=f16|f16x2|bf16|bf16x2|f32|f64",
     .operands = "[a:space] b{vec}:type",
     .gates = {{"", Feature::Sm90, 81}},
     .rules = {kSemScope, kScopeSem, {"type=f64", "!vec"}},
     .verify = multimem_vector,
     .about = "combines a floating-point value into the memory of all devices"},
};

}  // namespace

constinit const FamilyRows family{"atomic", "atom, red, red.async: read-modify-write", kRows};

}  // namespace ww::isa::atomic_rows
