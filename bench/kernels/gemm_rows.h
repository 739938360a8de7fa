// SPDX-License-Identifier: Apache-2.0
// Which matrix products the suite `kernels` measures, and with which tiles of ours: one table, in
// gemm_rows.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

namespace ww::bench {

/// What a CTA does, as the parameters of examples/gemm_mma.py and gemm_hopper.py have it.
struct Tile {
  int bm = 128, bn = 256, bk = 64;  // of D and along K; 0 and stages 0: the kernel chooses
  int wm = 64, wn = 64;             // of a warp; 0: of no warp, warpgroups multiply
  int stages = 4;
  int group = 16;   // tiles of rows that CTAs go through together
  int ctas = 132;   // that stay and take tile after tile, where the kernel has such
  int cluster = 1;  // CTAs that share what they load
  [[nodiscard]] bool is_of_warps() const { return wm > 0; }
};
/// "128x256x64 64x64 s4 g16", or "128x256x64 s4 g8 c2" of warpgroups in clusters.
std::string tile_text(const Tile& tile);

/// A product and our kernels for it, which take turns.
struct GemmRow {
  std::string name;        // "kernels/gemm_mma/float16/4096"
  std::string file;        // below examples/
  std::string_view takes;  // the parameters of its `build`
  Problem problem;
  std::vector<Tile> tiles;
  std::string more = {};  // that `build` takes besides: "swap=True"
};
std::vector<GemmRow> gemm_rows();
/// The rows whose name the regular expression (POSIX, extended) matches; empty: all. An invalid
/// expression matches nothing.
std::vector<GemmRow> gemm_rows(const std::string& filter);

/// The kernel's name in tables: the file without `.py`.
std::string_view kernel_name(const GemmRow& row);
/// "build(M=4096, ...)", with what its kernel takes.
std::string expression_of(const GemmRow& row, const Tile& tile);

}  // namespace ww::bench
