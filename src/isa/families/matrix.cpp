// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix, movmatrix: 8x8 and 16-wide matrices between shared memory and the registers
// of a warp. PTX manual, "Warp level matrix load/store/transpose".
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::matrix_rows {
namespace {

// m16n16 holds two registers per matrix, everything else one.
int registers(const Binding& binding, std::string_view) {
  return binding.number("num") * (binding.word("shape") == "m16n16" ? 2 : 1);
}

constexpr Row kRows[] = {
    {.mnemonic = "ldmatrix",
     .slots = "sync aligned shape=m8n8 num=x1|x2|x4 trans? space?=shared|shared::cta type=b16",
     .operands = ">d{num}:b32 [p:space]",
     .gates = {{"", Feature::Sm75, 65}, {"space=shared::cta", Feature::Sm75, 78}},
     .about = "8x8 matrices of 16-bit elements, one register each"},
    {.mnemonic = "ldmatrix",
     .slots = "sync aligned shape=m8n16 num=x1|x2|x4 space?=shared|shared::cta dst=b8x16 "
              "src=b6x16_p32|b4x16_p64",
     .operands = ">d{num}:b32 [p:space]",
     .gates = {{"", Feature::MatrixB8, 86}},
     .about = "8x16 matrices of 6- or 4-bit elements, each unpacked to a byte"},
    {.mnemonic = "ldmatrix",
     .slots = "sync aligned shape=m16n16 num=x1|x2 trans space?=shared|shared::cta type=b8",
     .operands = ">d{*}:b32 [p:space]",
     .gates = {{"", Feature::MatrixB8, 86}},
     .count = registers,
     .about = "16x16 matrices of bytes, transposed, two registers each"},
    {.mnemonic = "ldmatrix",
     .slots = "sync aligned shape=m16n16 num=x1|x2 trans space?=shared|shared::cta dst=b8x16 "
              "src=b6x16_p32|b4x16_p64",
     .operands = ">d{*}:b32 [p:space]",
     .gates = {{"", Feature::MatrixB8, 86}},
     .count = registers,
     .about = "16x16 matrices of 6- or 4-bit elements, unpacked to bytes and transposed"},
    {.mnemonic = "stmatrix",
     .slots = "sync aligned shape=m8n8 num=x1|x2|x4 trans? space?=shared|shared::cta type=b16",
     .operands = "[p:space] r{num}:b32/r",
     .gates = {{"", Feature::Sm90, 78}},
     .about = "8x8 matrices of 16-bit elements, one register each"},
    {.mnemonic = "stmatrix",
     .slots = "sync aligned shape=m16n8 num=x1|x2|x4 trans space?=shared|shared::cta type=b8",
     .operands = "[p:space] r{num}:b32/r",
     .gates = {{"", Feature::MatrixB8, 86}},
     .about = "16x8 matrices of bytes, stored transposed: 8 rows of 16 bytes"},
    {.mnemonic = "movmatrix",
     .slots = "sync aligned shape=m8n8 trans type=b16",
     .operands = ">d:b32 a:b32/r",
     .gates = {{"", Feature::Sm75, 78}},
     .about = "transposes an 8x8 matrix of 16-bit elements across the lanes of a warp"},
};

}  // namespace

constinit const FamilyRows family{
    "matrix",
    "ldmatrix, stmatrix, movmatrix: matrices between shared memory and a warp's registers", kRows};

}  // namespace ww::isa::matrix_rows
