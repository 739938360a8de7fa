// SPDX-License-Identifier: Apache-2.0
// Source texts of kernels with asynchronous products: A and B come from global memory into swizzled
// shared memory (A also into registers), some products follow each other on C, which goes back.
#pragma once

#include <cstdint>
#include <string>

#include "engines/family.h"

namespace ww::test {

struct WgmmaCase {
  std::string a = "float16", b = "float16", out = "float32";
  std::int64_t m = 64, n = 64, k = 64;  // of one product
  std::string swizzle_a = "128B", swizzle_b = "128B";
  bool turns_a = false, turns_b = false;
  bool is_a_in_registers = false;
  std::int64_t warpgroups = 1;  // of the CTA, over the rows of C
  bool is_of_cta = true;        // scope
  bool is_waited = false;       // `gemm`, which fences and waits itself
  std::int64_t stages = 1;      // of A and B; the product uses each in turn
  std::int64_t margin = 0;      // rows of A and B before and behind the slice that is multiplied
  std::string accum = "i > 0";  // of product i
  std::int64_t keep = 0;        // groups that stay under way
  std::string beta = "0.0";     // of `gemm`: 1.0 adds to C, which is zero before the first
  std::string settings = {};    // further ones of the call
  // Statements in place of the usual ones; "-": none. `rounds` is a parameter, which is 0.
  std::string fence = "T.ptx.wgmma.fence()", commit = "T.ptx.wgmma.commit_group()",
              wait = "T.ptx.wgmma.wait_group(0)",
              proxy = "T.ptx.fence.proxy_async(\"shared::cta\")";
  std::string c_layout = {}, a_layout = {}, b_layout = {};  // empty: what wgmma wants
  std::string before_wait = {};  // a statement while products are under way

  /// "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" with that many columns.
  [[nodiscard]] std::string opcode(std::int64_t columns) const;
};

std::string source_of(const WgmmaCase& c);
/// On small whole numbers: all engines have the same bits.
Program program_of(const WgmmaCase& c);
/// On normal numbers.
Program normal_program_of(const WgmmaCase& c);

}  // namespace ww::test
