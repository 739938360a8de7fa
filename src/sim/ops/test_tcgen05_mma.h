// SPDX-License-Identifier: Apache-2.0
// For tests: a kernel around one tcgen05.mma. Each block of 128 threads copies its image to shared
// memory and its cells to tensor memory; thread 0 of the first block multiplies; all copy their cells
// back.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ww::sim {

/// One tcgen05.mma.
struct TensorProductSpec {
  std::string_view kind = "f16";
  std::string_view scales = "";  // ".block_scale.block32"
  std::string_view flags = "";   // ".collector::a::fill"
  bool is_pair = false, is_ws = false, a_in_tensor = false, has_mask = false, is_sparse = false;
  bool has_zero_columns = false;  // of .ws, in place of the mask
  int scale_d = -1;               // none
  unsigned columns = 32;
  unsigned d_column = 0, a_column = 0, scale_a_column = 0, scale_b_column = 0, metadata_column = 0;
  unsigned image_bytes = 16384;

  [[nodiscard]] std::string opcode() const {
    return fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}{}{}", is_ws ? ".ws" : "",
                       is_sparse ? ".sp" : "", is_pair ? 2 : 1, kind, scales, flags);
  }
};

/// The instruction: tensor memory from %r20 on, the descriptors of A in %da and of B in %db, the
/// descriptor in %idesc, whether D is added in %p1, the mask in %m or columns of B that count as
/// zero in %d7.
inline std::string tensor_product_text(const TensorProductSpec& spec) {
  const std::string a =
      spec.a_in_tensor ? fmt::format("[%r20+{}]", spec.a_column) : std::string("%da");
  std::string text = fmt::format("{} [%r20+{}], {}, %db", spec.opcode(), spec.d_column, a);
  if (spec.is_sparse) text += fmt::format(", [%r20+{}]", spec.metadata_column);
  text += ", %idesc";
  if (!spec.scales.empty())
    text += fmt::format(", [%r20+{}], [%r20+{}]", spec.scale_a_column, spec.scale_b_column);
  if (spec.has_mask)
    text += spec.is_pair ? ", {%m0,%m1,%m2,%m3,%m4,%m5,%m6,%m7}" : ", {%m0,%m1,%m2,%m3}";
  text += ", %p1";
  if (spec.scale_d >= 0) text += fmt::format(", {}", spec.scale_d);
  if (spec.has_zero_columns) text += ", %d7";
  return text + ";\n";
}

/// 32 registers %v.
inline std::string thirty_two() {
  std::string text = "{";
  for (unsigned i = 0; i < 32; ++i) text += fmt::format("{}%v{}", i == 0 ? "" : ",", i);
  return text + "}";
}

/// Declarations, and code that loads everything. Parameters: images, cells, words a block (64 bits:
/// descriptors of A and B relative to the image, the instruction descriptor, whether D is added;
/// then 8 of the mask), and the cells that come out. %p0: thread 0 of the first block; %p2: warp 0.
inline std::string tensor_product_prelude(const TensorProductSpec& spec) {
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u64 a3) {{\n"
      ".reg .pred %p<8>; .reg .b32 %r<32>, %v<32>, %m<8>, %idesc; .reg .b64 %a<4>, %d<8>, %da, "
      "%db;\n"
      ".shared .align 1024 .b8 image[{0}]; .shared .align 8 .b64 bar; .shared .b32 base;\n"
      "ld.param.u64 %a0, [a0]; ld.param.u64 %a1, [a1]; ld.param.u64 %a2, [a2]; ld.param.u64 %a3, "
      "[a3];\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %r0;\n"
      "setp.eq.u32 %p0, %r2, 0; setp.eq.u32 %p3, %r0, 0; setp.lt.u32 %p2, %r0, 32;\n"
      "@%p2 tcgen05.alloc.cta_group::{1}.sync.aligned.shared::cta.b32 [base], {2};\n"
      "mov.u32 %r3, image; mad.wide.u32 %d0, %r1, {0}, %a0; shl.b32 %r4, %r0, 4;\n"
      "copy: setp.lt.u32 %p4, %r4, {0}; @!%p4 bra copied;\n"
      "cvt.u64.u32 %d1, %r4; add.u64 %d1, %d1, %d0; add.u32 %r5, %r4, %r3;\n"
      "ld.global.v4.b32 {{%r6,%r7,%r8,%r9}}, [%d1]; st.shared.v4.b32 [%r5], {{%r6,%r7,%r8,%r9}};\n"
      "add.u32 %r4, %r4, 2048; bra copy;\ncopied:\n"
      "mad.wide.u32 %d2, %r2, {3}, %a1; mad.wide.u32 %d3, %r2, {3}, %a3;\n"
      "ld.global.b64 %da, [%a2]; ld.global.b64 %db, [%a2+8]; ld.global.b32 %idesc, [%a2+16];\n"
      "ld.global.b64 %d5, [%a2+24]; setp.ne.u64 %p1, %d5, 0;\n"
      "shr.u32 %r10, %r3, 4; cvt.u64.u32 %d6, %r10; add.u64 %da, %da, %d6; add.u64 %db, %db, "
      "%d6;\n",
      spec.image_bytes, spec.is_pair ? 2 : 1, spec.columns, 4 * spec.columns);
  for (unsigned i = 0; i < 8; ++i)
    text += fmt::format("ld.global.b32 %m{}, [%a2+{}];\n", i, 32 + 4 * i);
  if (spec.has_zero_columns) text += "ld.global.b64 %d7, [%a2+32];\n";
  text += "@%p3 mbarrier.init.shared.b64 [bar], 1;\n";
  if (spec.is_pair) text += "@%p3 fence.mbarrier_init.release.cluster;\n";
  text +=
      "bar.sync 0; ld.shared.b32 %r20, [base];\n"
      "and.b32 %r21, %r0, 96; shl.b32 %r21, %r21, 16; add.u32 %r22, %r20, %r21;\n";
  for (unsigned c = 0; c < spec.columns; c += 32) {
    for (unsigned i = 0; i < 32; ++i)
      text += fmt::format("ld.global.b32 %v{}, [%d2+{}];\n", i, 4 * (c + i));
    text += fmt::format("tcgen05.st.sync.aligned.32x32b.x32.b32 [%r22+{}], {};\n", c, thirty_two());
  }
  return text;
}

/// What comes between the copies and the product.
inline std::string tensor_product_ready(const TensorProductSpec& spec) {
  return fmt::format(
      "tcgen05.wait::st.sync.aligned;\nfence.proxy.async;\ntcgen05.fence::before_thread_sync;\n{}"
      "tcgen05.fence::after_thread_sync;\n@!%p0 bra issued;\n",
      spec.is_pair ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                   : "bar.sync 0;\n");
}

/// What completes it, and makes all wait.
inline std::string tensor_product_done(const TensorProductSpec& spec) {
  const std::string commit =
      spec.is_pair
          ? "mov.b16 %mask, 3;\ntcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::"
            "cluster.multicast::cluster.b64 [%r23], %mask;\n"
          : "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r23];\n";
  return "{ .reg .b16 %mask;\nmov.u32 %r23, bar;\n" + commit + "}\n" +
         "issued:\nmbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra issued;\n"
         "tcgen05.fence::after_thread_sync;\n";
}

/// Stores the cells, and ends.
inline std::string tensor_product_epilogue(const TensorProductSpec& spec) {
  std::string text;
  for (unsigned c = 0; c < spec.columns; c += 32) {
    text += fmt::format(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 {}, [%r22+{}];\n"
        "tcgen05.wait::ld.sync.aligned;\n",
        thirty_two(), c);
    for (unsigned i = 0; i < 32; ++i)
      text += fmt::format("st.global.b32 [%d3+{}], %v{};\n", 4 * (c + i), i);
  }
  return text + fmt::format(
                    "tcgen05.fence::before_thread_sync;\n{}"
                    "@%p2 tcgen05.dealloc.cta_group::{}.sync.aligned.b32 %r20, {};\nret;\n}}\n",
                    spec.is_pair ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                                 : "bar.sync 0;\n",
                    spec.is_pair ? 2 : 1, spec.columns);
}

inline constexpr std::string_view kTensorProductHead =
    ".version 8.8\n.target sm_100a\n.address_size 64\n";

inline std::string tensor_product_kernel(const TensorProductSpec& spec) {
  return std::string(kTensorProductHead) + tensor_product_prelude(spec) +
         tensor_product_ready(spec) + tensor_product_text(spec) + tensor_product_done(spec) +
         tensor_product_epilogue(spec);
}

}  // namespace ww::sim
