// SPDX-License-Identifier: Apache-2.0
// mov in all its meanings: copies, special registers, addresses of variables and functions, and
// packing into or unpacking from wider registers. PTX manual, "Data movement: mov, prmt".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa {
namespace {

constexpr Gate kB128{"", Feature::Sm75, 83};

constexpr Row kRows[] = {
    {.mnemonic = "mov",
     .slots = "type=$move",
     .operands = ">d:type a:type/sy",
     .gates = {{"type=b128", Feature::Sm75, 83}},
     .about = "copies a register, special register, constant, or the address of a variable"},
    // packing: the first part goes to the low bits
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d:b16 a{2}:b8",
     .about = "packs two bytes"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d:b32 a{2}:b16",
     .about = "packs two halves"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d:b32 a{4}:b8",
     .about = "packs four bytes"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d:b64 a{2}:b32",
     .about = "packs two words"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d:b64 a{4}:b16",
     .about = "packs four halves"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d:b128 a{2}:b64",
     .gates = {kB128},
     .about = "packs two 64-bit values"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d:b128 a{4}:b32",
     .gates = {kB128},
     .about = "packs four words"},
    // unpacking: parts that are not wanted may be dropped
    {.mnemonic = "mov",
     .slots = "type=b16",
     .operands = ">d{2}:b8/_ a:b16",
     .about = "unpacks two bytes"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d{2}:b16/_ a:b32",
     .about = "unpacks two halves"},
    {.mnemonic = "mov",
     .slots = "type=b32",
     .operands = ">d{4}:b8/_ a:b32",
     .about = "unpacks four bytes"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d{2}:b32/_ a:b64",
     .about = "unpacks two words"},
    {.mnemonic = "mov",
     .slots = "type=b64",
     .operands = ">d{4}:b16/_ a:b64",
     .about = "unpacks four halves"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d{2}:b64/_ a:b128",
     .gates = {kB128},
     .about = "unpacks two 64-bit values"},
    {.mnemonic = "mov",
     .slots = "type=b128",
     .operands = ">d{4}:b32/_ a:b128",
     .gates = {kB128},
     .about = "unpacks four words"},
    {.mnemonic = "prmt",
     .slots = "type=b32 mode?=f4e|b4e|rc8|ecl|ecr|rc16",
     .operands = ">d:b32 a:b32 b:b32 c:b32",
     .about = "picks four of eight bytes"},
};

}  // namespace

constinit const FamilyRows kMoveRows{"move", "mov and prmt: copies, packing, permuting bytes",
                                     kRows};

}  // namespace ww::isa
