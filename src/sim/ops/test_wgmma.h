// SPDX-License-Identifier: Apache-2.0
// For tests, here and on a device: a kernel around one wgmma.mma_async. Each block of 128 threads
// copies its image to shared memory, loads its registers, multiplies, and stores D.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ww::sim {

/// One wgmma.mma_async.
struct WgmmaSpec {
  std::string_view d = "f32", a = "f16", b = "f16";
  unsigned n = 8;
  bool a_in_registers = false;
  bool trans_a = false, trans_b = false;
  int scale_a = 1, scale_b = 1;
  bool saturates = false, is_sparse = false;
  unsigned selector = 0;
  unsigned image_bytes = 40960;

  [[nodiscard]] bool is_integer() const { return d == "s32"; }
  [[nodiscard]] bool is_half() const { return a == "f16" || a == "bf16"; }
  /// Bits of an element; single bits go 32 to an element.
  [[nodiscard]] unsigned bits() const {
    if (a == "tf32" || a == "b1") return 32;
    return is_half() ? 16 : 8;
  }
  /// Elements of a stored row of A, and of a column of B.
  [[nodiscard]] unsigned a_length() const { return 256 / bits(); }
  [[nodiscard]] unsigned k() const { return a_length() * (is_sparse ? 2 : 1); }
  [[nodiscard]] unsigned d_registers() const { return d == "f16" ? n / 4 : n / 2; }

  [[nodiscard]] std::string opcode() const {
    return fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}{}.{}.{}.{}{}",
                       is_sparse ? ".sp" : "", n, a == "b1" ? 256 : k(),
                       saturates ? ".satfinite" : "", d, a, b, a == "b1" ? ".and.popc" : "");
  }
};

/// Registers {%c0, %c1, …}.
inline std::string register_list(std::string_view name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ",", name, i);
  return text + "}";
}

/// The instruction: D in %c, A in %x or its descriptor in %da, B's descriptor in %db, metadata in
/// %m, scale-d in %p1.
inline std::string wgmma_text(const WgmmaSpec& spec) {
  std::string text =
      fmt::format("{} {}, {}, %db", spec.opcode(), register_list("c", spec.d_registers()),
                  spec.a_in_registers ? register_list("x", 4) : "%da");
  if (spec.is_sparse) text += fmt::format(", %m, {}", spec.selector);
  text += ", %p1";
  if (!spec.is_integer()) text += fmt::format(", {}, {}", spec.scale_a, spec.scale_b);
  if (spec.is_half() && !spec.a_in_registers) text += spec.trans_a ? ", 1" : ", 0";
  if (spec.is_half()) text += spec.trans_b ? ", 1" : ", 0";
  return text + ";\n";
}

/// Declarations, and code that loads everything. Parameters: images, registers of A (4 words a
/// thread), of D, metadata (1 word a thread), three 64-bit words a block (descriptors of A and B
/// whose start is relative to the image, and whether D is added to), and the results.
inline std::string wgmma_prelude(const WgmmaSpec& spec) {
  const unsigned count = spec.d_registers();
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u64 a3, "
      ".param .u64 a4, .param .u64 a5) {{\n"
      ".reg .pred %p<4>; .reg .b32 %r<16>, %c<{}>, %x<4>, %m; .reg .b64 %a<6>, %d<8>, %da, %db;\n"
      ".shared .align 1024 .b8 image[{}];\n"
      "ld.param.u64 %a0, [a0]; ld.param.u64 %a1, [a1]; ld.param.u64 %a2, [a2];\n"
      "ld.param.u64 %a3, [a3]; ld.param.u64 %a4, [a4]; ld.param.u64 %a5, [a5];\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %r0;\n"
      "mov.u32 %r3, image; mad.wide.u32 %d0, %r1, {}, %a0;\n"
      "shl.b32 %r4, %r0, 4;\n"
      "copy: setp.lt.u32 %p0, %r4, {}; @!%p0 bra copied;\n"
      "cvt.u64.u32 %d1, %r4; add.u64 %d1, %d1, %d0; add.u32 %r5, %r4, %r3;\n"
      "ld.global.v4.b32 {{%r6,%r7,%r8,%r9}}, [%d1]; st.shared.v4.b32 [%r5], {{%r6,%r7,%r8,%r9}};\n"
      "add.u32 %r4, %r4, 2048; bra copy;\ncopied:\n"
      "mad.wide.u32 %d2, %r2, 16, %a1; ld.global.v4.b32 {}, [%d2];\n"
      "mad.wide.u32 %d3, %r2, 4, %a3; ld.global.b32 %m, [%d3];\n"
      "mad.wide.u32 %d4, %r1, 24, %a4; ld.global.b64 %da, [%d4]; ld.global.b64 %db, [%d4+8];\n"
      "ld.global.b64 %d5, [%d4+16]; setp.ne.u64 %p1, %d5, 0;\n"
      "shr.u32 %r10, %r3, 4; cvt.u64.u32 %d6, %r10; add.u64 %da, %da, %d6; add.u64 %db, %db, %d6;\n"
      "mad.wide.u32 %d7, %r2, {}, %a2;\n",
      count, spec.image_bytes, spec.image_bytes, spec.image_bytes, register_list("x", 4),
      4 * count);
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("ld.global.b32 %c{}, [%d7+{}];\n", i, 4 * i);
  return text + fmt::format("mad.wide.u32 %d7, %r2, {}, %a5;\n", 4 * count);
}

/// Stores D, and ends.
inline std::string wgmma_epilogue(const WgmmaSpec& spec) {
  std::string text;
  for (unsigned i = 0; i < spec.d_registers(); ++i)
    text += fmt::format("st.global.b32 [%d7+{}], %c{};\n", 4 * i, i);
  return text + "ret;\n}\n";
}

inline std::string wgmma_kernel(const WgmmaSpec& spec) {
  return ".version 8.8\n.target sm_90a\n.address_size 64\n" + wgmma_prelude(spec) +
         "fence.proxy.async; bar.sync 0;\nwgmma.fence.sync.aligned;\n" + wgmma_text(spec) +
         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
         wgmma_epilogue(spec);
}

}  // namespace ww::sim
