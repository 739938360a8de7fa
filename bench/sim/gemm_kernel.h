// SPDX-License-Identifier: Apache-2.0
// A matrix product as PTX, D = A * B' of halves with single-precision sums: blocks of 128x128,
// four warps of 64x64, steps of 32 along K through two stages of cp.async, ldmatrix and mma.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/append.h"

namespace ww::bench {

/// Entry `gemm(a, b, d, size)`: A and B are [size][size] with K innermost, size a multiple of 128.
inline std::string gemm_kernel() {
  // Rows of 32 halves are 80 bytes apart, so that eight of them fall on different banks.
  constexpr int kRow = 80;
  constexpr int kTile = 128 * kRow;
  constexpr int kStage = 2 * kTile;
  std::string text;
  const auto add = [&text]<typename... T>(fmt::format_string<T...> format, T&&... args) {
    append(text, format, std::forward<T>(args)...);
  };
  add(".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 size) {{\n"
      "  .reg .pred %p<4>; .reg .b32 %r<64>; .reg .b32 %a<16>; .reg .b32 %b<16>; .reg .f32 "
      "%c<128>;\n"
      "  .reg .b64 %rd<32>;\n  .shared .align 128 .b8 tiles[{}];\n",
      2 * kStage);
  add("  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; ld.param.u32 %r1, "
      "[size];\n"
      "  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, tiles;\n"
      // Thread t copies rows t / 4 + 32 i, 16 bytes at 16 * (t % 4).
      "  shr.u32 %r6, %r2, 2; and.b32 %r7, %r2, 3; shl.b32 %r8, %r7, 4;\n"
      "  mad.lo.u32 %r9, %r6, {}, %r8; add.u32 %r9, %r9, %r5;\n"
      "  shl.b32 %r10, %r4, 7; add.u32 %r10, %r10, %r6; mul.lo.u32 %r11, %r10, %r1; shl.b32 %r12, "
      "%r7, 3;\n"
      "  add.u32 %r11, %r11, %r12; mul.wide.u32 %rd4, %r11, 2; add.u64 %rd4, %rd4, %rd1;\n"
      "  shl.b32 %r13, %r3, 7; add.u32 %r13, %r13, %r6; mul.lo.u32 %r14, %r13, %r1; add.u32 %r14, "
      "%r14, %r12;\n"
      "  mul.wide.u32 %rd5, %r14, 2; add.u64 %rd5, %rd5, %rd2; mul.wide.u32 %rd6, %r1, 64;\n",
      kRow);
  // Warp w computes rows 64 * (w / 2), columns 64 * (w % 2). ldmatrix rows: lane l gives row l %
  // 16, byte 16 * (l / 16) of A; of B row l % 8 + 8 * (l / 16), byte 16 * (l / 8 % 2).
  add("  shr.u32 %r15, %r2, 5; and.b32 %r16, %r2, 31; shr.u32 %r17, %r15, 1; and.b32 %r18, %r15, "
      "1;\n"
      "  shl.b32 %r17, %r17, 6; shl.b32 %r18, %r18, 6; and.b32 %r19, %r16, 15; shr.u32 %r20, %r16, "
      "4;\n"
      "  add.u32 %r21, %r17, %r19; shl.b32 %r22, %r20, 4; mad.lo.u32 %r21, %r21, {0}, %r22; "
      "add.u32 %r21, %r21, %r5;\n"
      "  and.b32 %r23, %r16, 7; shl.b32 %r24, %r20, 3; add.u32 %r23, %r23, %r24; add.u32 %r23, "
      "%r23, %r18;\n"
      "  shr.u32 %r25, %r16, 3; and.b32 %r25, %r25, 1; shl.b32 %r25, %r25, 4;\n"
      "  mad.lo.u32 %r23, %r23, {0}, %r25; add.u32 %r23, %r23, %r5; add.u32 %r23, %r23, {1};\n",
      kRow, kTile);
  for (int i = 0; i < 128; ++i) add("  mov.f32 %c{}, 0f00000000;\n", i);
  const auto copy = [&](const char* stage) {
    for (int i = 0; i < 4; ++i) {
      add("  add.u32 %r40, %r9, {0}; add.u32 %r41, %r40, {1};\n"
          "  cp.async.cg.shared.global [%r41], [%rd10], 16; cp.async.cg.shared.global [%r41+{2}], "
          "[%rd11], 16;\n"
          "  add.u64 %rd10, %rd10, %rd6; add.u64 %rd11, %rd11, %rd6;\n",
          stage, 32 * kRow * i, kTile);
    }
    add("  cp.async.commit_group;\n");
  };
  add("  mov.u64 %rd10, %rd4; mov.u64 %rd11, %rd5; mov.u32 %r30, 0; mov.u32 %r31, 0;\n");
  copy("%r30");
  add("LOOP:\n  add.u32 %r31, %r31, 32; setp.ge.u32 %p1, %r31, %r1; xor.b32 %r32, %r30, 1;\n"
      "  mul.lo.u32 %r33, %r32, {0}; mul.lo.u32 %r34, %r30, {0};\n"
      "  add.u64 %rd4, %rd4, 64; add.u64 %rd5, %rd5, 64; mov.u64 %rd10, %rd4; mov.u64 %rd11, "
      "%rd5;\n"
      "  @%p1 bra LAST;\n",
      kStage);
  copy("%r33");
  add("  cp.async.wait_group 1; bra READY;\nLAST:\n  cp.async.wait_group 0;\nREADY:\n  bar.sync "
      "0;\n"
      "  add.u32 %r35, %r21, %r34; add.u32 %r36, %r23, %r34;\n");
  for (int k = 0; k < 2; ++k) {
    for (int m = 0; m < 4; ++m) {
      add("  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a{},%a{},%a{},%a{}}}, [%r35+{}];\n", 4 * m,
          4 * m + 1, 4 * m + 2, 4 * m + 3, 16 * m * kRow + 32 * k);
    }
    for (int n = 0; n < 4; ++n) {
      add("  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%b{},%b{},%b{},%b{}}}, [%r36+{}];\n", 4 * n,
          4 * n + 1, 4 * n + 2, 4 * n + 3, 16 * n * kRow + 32 * k);
    }
    for (int m = 0; m < 4; ++m) {
      for (int n = 0; n < 8; ++n) {
        const int c = 4 * (8 * m + n);
        add("  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%c{0},%c{1},%c{2},%c{3}}}, "
            "{{%a{4},%a{5},%a{6},%a{7}}}, {{%b{8},%b{9}}}, {{%c{0},%c{1},%c{2},%c{3}}};\n",
            c, c + 1, c + 2, c + 3, 4 * m, 4 * m + 1, 4 * m + 2, 4 * m + 3, 2 * n, 2 * n + 1);
      }
    }
  }
  add("  bar.sync 0; mov.u32 %r30, %r32; @!%p1 bra LOOP;\n"
      "  shr.u32 %r50, %r16, 2; and.b32 %r51, %r16, 3; shl.b32 %r51, %r51, 1;\n"
      "  shl.b32 %r52, %r4, 7; add.u32 %r52, %r52, %r17; add.u32 %r52, %r52, %r50;\n"
      "  shl.b32 %r53, %r3, 7; add.u32 %r53, %r53, %r18; add.u32 %r53, %r53, %r51;\n"
      "  mad.lo.u32 %r54, %r52, %r1, %r53; mul.wide.u32 %rd20, %r54, 4; add.u64 %rd20, %rd20, "
      "%rd3;\n"
      "  mul.wide.u32 %rd21, %r1, 32;\n");
  for (int m = 0; m < 4; ++m) {
    for (int half = 0; half < 2; ++half) {
      for (int n = 0; n < 8; ++n) {
        const int c = 4 * (8 * m + n) + 2 * half;
        add("  st.global.v2.f32 [%rd20+{}], {{%c{},%c{}}};\n", 32 * n, c, c + 1);
      }
      add("  add.u64 %rd20, %rd20, %rd21;\n");
    }
  }
  add("  ret;\n}}\n");
  return text;
}

}  // namespace ww::bench
