// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with copies between tensor memory and registers whose effect can be seen
// from outside:
//
//     allocate columns
//     fill all their cells   word by word, from `cells_in`
//     fill the registers     place by place, from `r0_in`, `r1_in` …
//     the copies             each waited for, and a barrier behind it
//     dump                   the registers that were loaded, and all cells if any were stored
//     give the columns back
//
// Cells are filled and dumped by instructions of one column (tcgen05.st and .ld 32x32b.x1), written
// by hand, so that nothing of what is tested takes part.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engines/programs.h"

namespace ww::test {

struct TensorCopy {
  Operand tensor = {};  // of memory "tmem"
  Operand local = {};
  std::string made = {};            // how the registers come about, where not by alloc_buffer
  std::string address = "base[0]";  // of the tile's first column
  bool is_load = true;              // into registers
  std::string scope = "wg";
  std::string around = {};  // a line that the copy stands under: "if wg == 1:"
  std::string settings = {};
};

/// Regions and addresses may name `stage`, a parameter which is 1.
struct TensorProgram {
  std::string dtype = "float32";
  std::int64_t threads = 128;
  std::int64_t columns = 32;  // that are allocated
  std::vector<TensorCopy> copies = {};
  std::string target = "sm_100a";
};

/// A tile of tensor memory with a layout as text.
Operand tensor(Extents shape, std::string layout, std::string region = {});
/// The layout of an accumulator, "tmem_datapath_layout("F", 64, 16, 1)", as a tile.
Operand datapath(char letter, std::int64_t rows, std::int64_t columns, int sub_slab = 0,
                 std::string region = {});
/// Registers of a warpgroup as an instruction of that shape has them.
Operand fragment(std::string_view shape, std::int64_t rows, std::int64_t columns,
                 const std::string& dtype, std::string region = {});
/// One row per thread.
Operand row_registers(std::int64_t columns, std::string region = {});
/// "base[0] + T.uint32(4)"
std::string base_plus(std::int64_t columns);
/// The least number of columns that can be allocated and holds so many.
std::int64_t allocation_of(std::int64_t columns);

std::string source_of(const TensorProgram& each);
Program program_of(const TensorProgram& each);

/// Instructions between registers and tensor memory in PTX, without those of filling and dumping:
/// {"ld 32x32b.x4": 1, "st 16x64b.x2.unpack::16b": 2}.
using Moves = std::map<std::string, int>;
Moves moves_of(std::string_view ptx);
std::string text_of(const Moves& moves);

/// Registers of an instruction: "ld 16x128b.x4" has 8 of them.
std::size_t registers_of(std::string_view move);
/// An instruction in PTX with another number of registers than its shape has, or nothing.
std::string wrong_registers(std::string_view ptx);

}  // namespace ww::test
