// SPDX-License-Identifier: Apache-2.0
// The registers of a warpgroup as wgmma deals them. With thread 32w + 4g + t of the warpgroup, e
// elements to a register:
//
//     D, 32 bits   register r          row 16w + g + 8·(r / 2 % 2)   column 8·(r / 4) + 2t + r % 2
//     D, 16 bits   register r, half h  row 16w + g + 8·(r % 2)       column 8·(r / 2) + 2t + h
//     A            register r, part j  row 16w + g + 8·(r % 2)       k = 4e·(r / 2) + e·t + j
//
// Registers need not follow each other: an instruction names each. All threads of all warpgroups must
// have the same element of their part in one register.
#pragma once

#include "lower/gemm_async/product.h"

namespace ww::lower {

/// Eight columns of 64 rows: by half of the rows and by column of a pair, the slot in each thread.
struct ResultBlock {
  std::int64_t slots[2][2] = {};
};

/// The part of D that each warpgroup of the unit has: `rows` times `columns` blocks. Warpgroup w has
/// the rows and columns of the first one moved by w times a distance.
struct ResultParts {
  std::vector<std::int64_t> rows;     // first row of each atom of 64, in warpgroup 0
  std::vector<std::int64_t> columns;  // first column of each block of 8, in warpgroup 0
  std::int64_t row_step = 0, column_step = 0;
  std::int64_t warpgroups = 1;
  std::vector<ResultBlock> blocks;  // by row and column

  [[nodiscard]] const ResultBlock& at(std::size_t row, std::size_t column) const {
    return blocks[row * columns.size() + column];
  }
};

/// Declines rows that are no atoms of 64 for each warpgroup and columns that are no blocks of 8
/// (`shape`), and elements that are elsewhere (`fragment`).
Match<ResultParts> result_parts(const Call& call, const AsyncProduct& p);

/// First slots of the four registers of A, for 64 rows from `row` and one instruction's depth from
/// `k` on; the same in all warpgroups, whose rows are `row_step` apart.
Match<std::vector<std::int64_t>> factor_registers(const AsyncProduct& p, const ResultParts& parts,
                                                  std::int64_t row, std::int64_t k);

}  // namespace ww::lower
