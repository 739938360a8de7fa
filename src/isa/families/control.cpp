// SPDX-License-Identifier: Apache-2.0
// Control flow and the few instructions about the thread as a whole. PTX manual, "Control flow
// instructions", "Miscellaneous instructions".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::control_rows {
namespace {

constexpr Row kRows[] = {
    {.mnemonic = "bra", .slots = "uni?", .operands = "^target", .about = "goes on at the label"},
    {.mnemonic = "brx.idx",
     .slots = "uni?",
     .operands = "index:u32/r ~targets",
     .about = "goes on at one of a list of labels"},
    {.mnemonic = "call", .slots = "uni?", .operands = "*", .about = "calls a function"},
    {.mnemonic = "ret",
     .slots = "uni?",
     .operands = "",
     .about = "returns to the caller, or ends the thread"},
    {.mnemonic = "exit", .slots = "", .operands = "", .about = "ends the thread"},
    {.mnemonic = "trap", .slots = "", .operands = "", .about = "stops the kernel with an error"},
    {.mnemonic = "brkpt", .slots = "", .operands = "", .about = "stops for a debugger"},
    {.mnemonic = "pmevent",
     .slots = "",
     .operands = "#event(0..15)",
     .about = "counts a performance event"},
    {.mnemonic = "pmevent.mask",
     .slots = "",
     .operands = "#events(0..65535)",
     .about = "counts several performance events"},
    {.mnemonic = "nanosleep",
     .slots = "type=u32",
     .operands = "t:u32",
     .about = "pauses for about that many nanoseconds"},
};

}  // namespace

constinit const FamilyRows family{"control", "branches, calls, exit, trap", kRows};

}  // namespace ww::isa::control_rows
