// SPDX-License-Identifier: Apache-2.0
// ld, st and their relatives in every state space, with vectors, cache operators, eviction
// priorities and memory-model qualifiers. PTX manual, "Data movement and conversion: ld,
// ld.global.nc, ldu, st, st.async, st.bulk, multimem, prefetch, applypriority, discard,
// createpolicy".
#include <fmt/format.h>

#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::load_store_rows {
namespace {

// A vector holds 128 bits, or 256 in global memory from sm_100 on. ptxas 13.0 also stores .v8 of 8-
// and 16-bit types, which the manual does not list, and crashes on loading them.
std::string vector_fits(const Binding& binding, std::span<const Operand>) {
  const int lanes = binding.has("vec") ? binding.number("vec") : 1;
  const int bits = info(binding.type("type")).bits;
  if (binding.has("evict2") && lanes * bits != 256) {
    return fmt::format("`.{}` is for 256-bit vectors: `.v8.b32` or `.v4.b64`",
                       binding.word("evict2"));
  }
  const bool is_store = binding.form().mnemonic.is_one_of({"st", "st.async"});
  if (lanes == 8 && bits < 32 && is_store) return "";
  if (lanes == 8 && bits != 32)
    return fmt::format("`.v8` holds 32-bit elements, not {}-bit ones", bits);
  if (lanes * bits <= 128) return "";
  if (lanes * bits == 256 && bits != 128) {
    const Word space = binding.word("space");
    if (space == "global" || space.empty()) return "";
    return fmt::format("256-bit vectors are for global and generic addresses, not for {} ones",
                       space);
  }
  return fmt::format("`.v{}.{}` is {} bits; a vector holds 128, in global memory 256", lanes,
                     binding.word("type"), lanes * bits);
}

// Modifier tails and operands that most rows share.
#define LD_TAIL " hint?=L2::cache_hint prefetch?=$prefetch vec?=v2|v4|v8 type=$data"
#define ST_TAIL " hint?=L2::cache_hint vec?=v2|v4|v8 type=$data"
#define EVICT " evict1?=$l1evict evict2?=$l2evict"
#define LD_SPACES " space?=$spaces"
#define ST_SPACES " space?=global|local|param|param::func|shared|shared::cta|shared::cluster"
#define MM_SPACES " space?=global|shared|shared::cta|shared::cluster"
#define LD_OPERANDS ">d{vec}:type/w_b [a:space] policy@hint:b64"
#define ST_OPERANDS "[a:space] b{vec}:type/wb policy@hint:b64"

constexpr Gate kHint{"hint", Feature::Sm80, 74};
constexpr Gate kPrefetch{"prefetch", Feature::Sm75, 74};
constexpr Gate kPrefetch256{"prefetch=L2::256B", Feature::Sm80, 74};
constexpr Gate kEvictL1{"evict1", Feature::Sm75, 74};
constexpr Gate kEvictL2{"evict2", Feature::Sm100, 88};
constexpr Gate kShared{"space=shared::cta", Feature::Sm75, 78};
constexpr Gate kCluster{"space=shared::cluster", Feature::Sm90, 78};
constexpr Gate kScopeCluster{"scope=cluster", Feature::Sm90, 78};
constexpr Gate kParam{"space=param::entry|param::func", Feature::Sm75, 83};
constexpr Gate kParamFunc{"space=param::func", Feature::Sm75, 83};
constexpr Gate kB128{"type=b128", Feature::Sm75, 83};
constexpr Gate kB128Sys{"scope=sys type=b128", Feature::Sm75, 84};
constexpr Gate kV8{"vec=v8 type=b32|u32|s32|f32", Feature::Sm100, 88};
constexpr Gate kV4x64{"vec=v4 type=b64|u64|s64|f64", Feature::Sm100, 88};

#define OFF_CHIP \
  "space!=shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func"
#define ST_OFF_CHIP "space!=shared|shared::cta|shared::cluster|local|param|param::func"
#define MM_OFF_CHIP "space!=shared|shared::cta|shared::cluster"
constexpr std::string_view kOffChip =
    "caches, their hints and policies are for global and generic addresses";
// Seen on ptxas 13.0, at every architecture; only `ld.relaxed.cluster` survives.
constexpr std::string_view kWideCluster = "ptxas crashes on 256-bit vectors with `.cluster` here";

constexpr Row kRows[] = {
    // ld
    {.mnemonic = "ld",
     .slots = "weak?" LD_SPACES EVICT LD_TAIL,
     .operands = LD_OPERANDS,
     .gates = {kHint, kPrefetch, kPrefetch256, kEvictL1, kEvictL2, kShared, kCluster, kParam, kB128,
               kV8, kV4x64},
     .rules = {{"evict1", OFF_CHIP, kOffChip},
               {"evict2", OFF_CHIP, kOffChip},
               {"hint", OFF_CHIP, kOffChip},
               {"prefetch", OFF_CHIP, kOffChip}},
     .verify = vector_fits,
     .about = "loads"},
    {.mnemonic = "ld",
     .slots = "weak?" LD_SPACES " cop=ca|cg|cs|lu|cv" LD_TAIL,
     .operands = LD_OPERANDS,
     .gates = {kHint, kPrefetch, kPrefetch256, kShared, kCluster, kParam, kB128, kV8, kV4x64},
     .rules = {{"hint", OFF_CHIP, kOffChip}, {"prefetch", OFF_CHIP, kOffChip}},
     .verify = vector_fits,
     .about = "loads with a cache operator"},
    {.mnemonic = "ld",
     .slots = "volatile" MM_SPACES " prefetch?=$prefetch vec?=v2|v4|v8 type=$data",
     .operands = ">d{vec}:type/w_b [a:space]",
     .gates = {kPrefetch, kPrefetch256, kShared, kCluster, kB128, kV8, kV4x64},
     .rules = {{"prefetch", MM_OFF_CHIP, kOffChip}},
     .verify = vector_fits,
     .about = "loads; never merged, dropped or reordered with other volatile accesses"},
    {.mnemonic = "ld",
     .slots = "sem=relaxed|acquire scope=$scope" MM_SPACES EVICT LD_TAIL,
     .operands = LD_OPERANDS,
     .gates = {kHint, kPrefetch, kPrefetch256, kEvictL1, kEvictL2, kShared, kCluster, kScopeCluster,
               kB128, kB128Sys, kV8, kV4x64},
     .rules = {{"evict1", MM_OFF_CHIP, kOffChip},
               {"evict2", MM_OFF_CHIP, kOffChip},
               {"hint", MM_OFF_CHIP, kOffChip},
               {"prefetch", MM_OFF_CHIP, kOffChip},
               {"sem=acquire scope=cluster vec=v8 type=b32|u32|s32|f32", "", kWideCluster},
               {"sem=acquire scope=cluster vec=v4 type=b64|u64|s64|f64", "", kWideCluster}},
     .verify = vector_fits,
     .about = "loads as a relaxed or acquire operation of the memory model"},
    {.mnemonic = "ld",
     .slots = "mmio relaxed sys space?=global type=$data",
     .operands = ">d:type/wb [a:space]",
     .gates = {{"", Feature::Sm75, 82}, {"type=b128", Feature::Sm75, 84}},
     .about = "loads from a memory-mapped device"},
    {.mnemonic = "ld",
     .slots = "space=global cop?=ca|cg|cs nc" EVICT LD_TAIL,
     .operands = LD_OPERANDS,
     .gates = {kHint, kPrefetch, kPrefetch256, kEvictL1, kEvictL2, kB128, kV8, kV4x64},
     .rules = {{"cop evict1", "", "a cache operator and an eviction priority exclude each other"}},
     .verify = vector_fits,
     .about = "loads data that no thread writes during the kernel, through the read-only cache"},
    {.mnemonic = "ldu",
     .slots = "space?=global vec?=v2|v4 type=$data",
     .operands = ">d{vec}:type/w_b [a:space]",
     .gates = {kB128},
     .rules = {{"vec=v4 type=b64|u64|s64|f64", "", "a vector of `ldu` holds 128 bits at most"}},
     .verify = vector_fits,
     .about = "loads read-only data from an address that is the same in all lanes"},
    // st
    {.mnemonic = "st",
     .slots = "weak?" ST_SPACES EVICT ST_TAIL,
     .operands = ST_OPERANDS,
     .gates = {kHint, kEvictL1, kEvictL2, kShared, kCluster, kParamFunc, kB128, kV8, kV4x64},
     .rules = {{"evict1", ST_OFF_CHIP, kOffChip},
               {"evict2", ST_OFF_CHIP, kOffChip},
               {"hint", ST_OFF_CHIP, kOffChip}},
     .verify = vector_fits,
     .about = "stores"},
    {.mnemonic = "st",
     .slots = "weak?" ST_SPACES " cop=wb|cg|cs|wt" ST_TAIL,
     .operands = ST_OPERANDS,
     .gates = {kHint, kShared, kCluster, kParamFunc, kB128, kV8, kV4x64},
     .rules = {{"hint", ST_OFF_CHIP, kOffChip}},
     .verify = vector_fits,
     .about = "stores with a cache operator"},
    {.mnemonic = "st",
     .slots = "volatile" MM_SPACES " vec?=v2|v4|v8 type=$data",
     .operands = "[a:space] b{vec}:type/wb",
     .gates = {kShared, kCluster, kB128, kV8, kV4x64},
     .verify = vector_fits,
     .about = "stores; never merged, dropped or reordered with other volatile accesses"},
    {.mnemonic = "st",
     .slots = "sem=relaxed|release scope=$scope" MM_SPACES EVICT ST_TAIL,
     .operands = ST_OPERANDS,
     .gates = {kHint, kEvictL1, kEvictL2, kShared, kCluster, kScopeCluster, kB128, kB128Sys, kV8,
               kV4x64},
     .rules = {{"evict1", MM_OFF_CHIP, kOffChip},
               {"evict2", MM_OFF_CHIP, kOffChip},
               {"hint", MM_OFF_CHIP, kOffChip},
               {"scope=cluster vec=v8 type=b32|u32|s32|f32", "", kWideCluster},
               {"scope=cluster vec=v4 type=b64|u64|s64|f64", "", kWideCluster}},
     .verify = vector_fits,
     .about = "stores as a relaxed or release operation of the memory model"},
    {.mnemonic = "st",
     .slots = "mmio relaxed sys space?=global type=$data",
     .operands = "[a:space] b:type/wb",
     .gates = {{"", Feature::Sm75, 82}, {"type=b128", Feature::Sm75, 84}},
     .about = "stores to a memory-mapped device"},
    {.mnemonic = "st.async",
     .slots =
         "weak? space?=shared|shared::cta|shared::cluster mbarrier::complete_tx::bytes vec?=v2|v4 "
         "type=b32|b64|u32|u64|s32|s64|f32|f64",
     .operands = "[a:shared] b{vec}:type/b [mbar:shared]",
     .gates = {{"", Feature::Sm90, 81}},
     .rules = {{"vec=v4 type=b64|u64|s64|f64", "", "`.v4` of 64-bit elements exceeds 128 bits"}},
     .about = "stores into a shared memory of the cluster and signals the mbarrier there"},
    {.mnemonic = "st.async",
     .slots = "mmio? release scope=gpu|sys space?=global "
              "type=b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     .operands = "[a:space] b:type/w",
     .gates = {{"", Feature::Sm100, 87}},
     .about = "stores to global memory without waiting, ordered as a release"},
    {.mnemonic = "st.bulk",
     .slots = "weak? space?=shared::cta",
     .operands = "[a:space] size:u64 #initial(0)",
     .gates = {{"", Feature::Sm100, 86}},
     .about = "fills a run of shared memory with zeros"},
    // caches
    {.mnemonic = "prefetch",
     .slots = "space?=global|local level=L1|L2",
     .operands = "[a:space]",
     .about = "brings a line into a cache"},
    {.mnemonic = "prefetch",
     .slots = "space?=global level=L2::evict_last|L2::evict_normal",
     .operands = "[a:space]",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "brings a line into L2 with an eviction priority"},
    {.mnemonic = "prefetchu",
     .slots = "level=L1",
     .operands = "[a:generic]",
     .about = "brings a line into the uniform cache"},
    {.mnemonic = "applypriority",
     .slots = "space?=global level=L2::evict_normal",
     .operands = "[a:space] #size(128)",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "changes the eviction priority of 128 bytes"},
    {.mnemonic = "discard",
     .slots = "space?=global level=L2",
     .operands = "[a:space] #size(128)",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "drops 128 bytes from L2 without writing them back"},
    {.mnemonic = "createpolicy.fractional",
     .slots = "first=L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
              "second?=L2::evict_first|L2::evict_unchanged type=b64",
     .operands = ">policy:b64 fraction?:f32",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "makes a cache policy for a share of the accesses"},
    {.mnemonic = "createpolicy.range",
     .slots =
         "space?=global first=L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
         "second?=L2::evict_first|L2::evict_unchanged type=b64",
     .operands = ">policy:b64 [a:space] primary:b32 total:b32",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "makes a cache policy for a range of addresses"},
    {.mnemonic = "createpolicy.cvt",
     .slots = "L2 type=b64",
     .operands = ">policy:b64 access:b64",
     .gates = {{"", Feature::Sm80, 74}},
     .about = "makes a cache policy from an access property"},
};

}  // namespace

constinit const FamilyRows family{
    "load_store", "ld, st, prefetch and cache control, in every state space", kRows};

}  // namespace ww::isa::load_store_rows
