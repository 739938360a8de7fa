// SPDX-License-Identifier: Apache-2.0
// cp.async: copies of 4, 8 or 16 bytes from global to shared memory that a thread starts and waits
// for in groups. PTX manual, "Data movement: non-bulk copy".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::cp_async_rows {
namespace {

// The manual says that src-size is less than cp-size; ptxas 13.0 takes it equal, too.
std::string source_fits(const Binding&, std::span<const Operand> operands) {
  const Operand& size = operands[2];
  if (operands.size() < 4 || operands[3].kind != OperandKind::Integer) return "";
  if (operands[3].value >= 0 && operands[3].value <= size.value) return "";
  return "the source size is " + std::to_string(operands[3].value) + ", more than the copied " +
         std::to_string(size.value) + " bytes";
}

constexpr Gate kBase{"", Feature::Sm80, 70};
constexpr Gate kHint{"hint", Feature::Sm80, 74};
constexpr Gate kPrefetch{"prefetch", Feature::Sm80, 74};

constexpr Row kRows[] = {
    {.mnemonic = "cp.async",
     .slots = "cop=ca dst=shared|shared::cta src=global hint?=L2::cache_hint prefetch?=$prefetch",
     .operands = "[dst:dst] [src:src] #cp_size(4|8|16) src_size?:u32 policy@hint:b64/r",
     .gates = {kBase, kHint, kPrefetch},
     .verify = source_fits,
     .about = "copies 4, 8 or 16 bytes through L1; bytes beyond src_size become zero"},
    {.mnemonic = "cp.async",
     .slots = "cop=cg dst=shared|shared::cta src=global hint?=L2::cache_hint prefetch?=$prefetch",
     .operands = "[dst:dst] [src:src] #cp_size(16) src_size?:u32 policy@hint:b64/r",
     .gates = {kBase, kHint, kPrefetch},
     .verify = source_fits,
     .about = "copies 16 bytes through L2 only"},
    {.mnemonic = "cp.async",
     .slots = "cop=ca dst=shared|shared::cta src=global hint?=L2::cache_hint prefetch?=$prefetch",
     .operands = "[dst:dst] [src:src] #cp_size(4|8|16) ignore_src:pred/r policy@hint:b64/r",
     .gates = {{"", Feature::Sm80, 75}},
     .about = "copies, or writes zeros where the predicate holds"},
    {.mnemonic = "cp.async",
     .slots = "cop=cg dst=shared|shared::cta src=global hint?=L2::cache_hint prefetch?=$prefetch",
     .operands = "[dst:dst] [src:src] #cp_size(16) ignore_src:pred/r policy@hint:b64/r",
     .gates = {{"", Feature::Sm80, 75}},
     .about = "copies 16 bytes, or writes zeros where the predicate holds"},
    {.mnemonic = "cp.async.commit_group",
     .slots = "",
     .operands = "",
     .gates = {kBase},
     .about = "closes the group of all copies not yet in one"},
    {.mnemonic = "cp.async.wait_group",
     .slots = "",
     .operands = "#n(0..9223372036854775807)",
     .gates = {kBase},
     .about = "waits until at most the n newest groups are pending"},
    {.mnemonic = "cp.async.wait_all",
     .slots = "",
     .operands = "",
     .gates = {kBase},
     .about = "waits for every copy of the thread"},
    {.mnemonic = "cp.async.mbarrier.arrive",
     .slots = "noinc? space?=shared|shared::cta type=b64",
     .operands = "[mbar:space]",
     .gates = {kBase, {"space=shared::cta", Feature::Sm80, 78}},
     .about = "arrives on the mbarrier once the thread's earlier copies are done"},
};

}  // namespace

constinit const FamilyRows family{
    "cp_async", "cp.async: asynchronous copies from global to shared memory, in groups", kRows};

}  // namespace ww::isa::cp_async_rows
