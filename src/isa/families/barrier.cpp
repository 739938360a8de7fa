// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA, a warp and a cluster. PTX manual, "bar, barrier", "bar.warp.sync",
// "barrier.cluster".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::barrier_rows {
namespace {

// `bar` is `barrier.cta` with `.aligned`; both spellings have the same operands.
#define ID "a:u32(0..15)"
#define THREADS "b:u32(32..2147483616/32)"
#define MAYBE_THREADS "b?:u32(0..2147483616/32)"

constexpr Gate kCta{"cta", Feature::Sm75, 78};
constexpr Gate kCluster{"", Feature::Sm90, 78};

constexpr Row kRows[] = {
    {.mnemonic = "bar",
     .slots = "cta? sync",
     .operands = ID " " MAYBE_THREADS,
     .gates = {kCta},
     .about = "waits for all threads, or the given number of them"},
    {.mnemonic = "bar",
     .slots = "cta? arrive",
     .operands = ID " " THREADS,
     .gates = {kCta},
     .about = "counts as arrived and goes on"},
    {.mnemonic = "bar",
     .slots = "cta? red op=popc type=u32",
     .operands = ">d:u32 " ID " " MAYBE_THREADS " c:pred",
     .gates = {kCta},
     .about = "waits and counts the threads whose predicate holds"},
    {.mnemonic = "bar",
     .slots = "cta? red op=and|or type=pred",
     .operands = ">p:pred " ID " " MAYBE_THREADS " c:pred",
     .gates = {kCta},
     .about = "waits and combines the threads' predicates"},
    {.mnemonic = "barrier",
     .slots = "cta? sync aligned?",
     .operands = ID " " MAYBE_THREADS,
     .gates = {kCta},
     .about = "waits for all threads, or the given number of them"},
    {.mnemonic = "barrier",
     .slots = "cta? arrive aligned?",
     .operands = ID " " THREADS,
     .gates = {kCta},
     .about = "counts as arrived and goes on"},
    {.mnemonic = "barrier",
     .slots = "cta? red op=popc aligned? type=u32",
     .operands = ">d:u32 " ID " " MAYBE_THREADS " c:pred",
     .gates = {kCta},
     .about = "waits and counts the threads whose predicate holds"},
    {.mnemonic = "barrier",
     .slots = "cta? red op=and|or aligned? type=pred",
     .operands = ">p:pred " ID " " MAYBE_THREADS " c:pred",
     .gates = {kCta},
     .about = "waits and combines the threads' predicates"},
    {.mnemonic = "bar.warp.sync",
     .slots = "",
     .operands = "mask:b32",
     .about = "waits for the lanes of the mask"},
    {.mnemonic = "barrier.cluster.arrive",
     .slots = "sem?=release|relaxed aligned?",
     .operands = "",
     .gates = {kCluster, {"sem", Feature::Sm90, 80}},
     .about = "counts as arrived at the barrier of the cluster"},
    {.mnemonic = "barrier.cluster.wait",
     .slots = "acquire? aligned?",
     .operands = "",
     .gates = {kCluster, {"acquire", Feature::Sm90, 80}},
     .about = "waits for all threads of the cluster"},
};

}  // namespace

constinit const FamilyRows family{"barrier", "bar, barrier, bar.warp.sync, barrier.cluster", kRows};

}  // namespace ww::isa::barrier_rows
