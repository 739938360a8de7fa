// SPDX-License-Identifier: Apache-2.0
// For tests: a kernel that records shared addresses in a cluster, and the values on hardware.
// tests/hardware/cluster compares the virtual GPU with a GPU by the same kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ww::sim {

constexpr unsigned kOwnWords = 8, kMappedWords = 5;
/// Words that each CTA of a cluster of that size writes.
constexpr unsigned cluster_address_words(unsigned ctas) { return kOwnWords + kMappedWords * ctas; }

/// `addresses(out)`: one thread a CTA. All addresses are of one variable, less where that is in the memory
/// of a CTA, because hardware begins with bytes of its own. First those of the CTA itself:
///
///   0 its address            1 the same with bit 24 cleared, which is the even CTA of a pair
///   2 its rank, by getctarank, and 6 by its generic address
///   3, 4 the words at 0 and 1, as shared::cluster     5 isspacep of the generic address: 1 cta, 2 cluster
///   7 the generic address as a shared one
///
/// then for each rank r: 0 the address by mapa, 1 its rank, 2 the word there, 3 by how much mapa of the
/// generic address moves that, 4 isspacep of it.
constexpr std::string_view kClusterAddresses = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry addresses(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<32>;
  .reg .b64 %d<8>;
  .shared .align 16 .b32 cell[4];
  ld.param.u64 %d0, [out];
  mov.u32 %r0, cell;
  and.b32 %r1, %r0, 0x00FFFFFF;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mad.lo.u32 %r4, %r3, 5, 8;
  mov.u32 %r5, %ctaid.x;
  mul.lo.u32 %r4, %r4, %r5;
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d0, %d0, %d1;
  add.u32 %r6, %r2, 100;
  st.shared.u32 [cell], %r6;
  barrier.cluster.arrive;
  barrier.cluster.wait;

  sub.u32 %r7, %r0, %r1;
  st.global.u32 [%d0], %r7;
  and.b32 %r8, %r0, 0xFEFFFFFF;
  sub.u32 %r7, %r8, %r1;
  st.global.u32 [%d0+4], %r7;
  getctarank.shared::cluster.u32 %r7, %r0;
  st.global.u32 [%d0+8], %r7;
  ld.shared::cluster.u32 %r7, [%r0];
  st.global.u32 [%d0+12], %r7;
  ld.shared::cluster.u32 %r7, [%r8];
  st.global.u32 [%d0+16], %r7;
  cvt.u64.u32 %d2, %r0;
  cvta.shared.u64 %d2, %d2;
  isspacep.shared::cta %p1, %d2;
  isspacep.shared::cluster %p2, %d2;
  selp.u32 %r7, 1, 0, %p1;
  selp.u32 %r9, 2, 0, %p2;
  or.b32 %r7, %r7, %r9;
  st.global.u32 [%d0+20], %r7;
  getctarank.u64 %r7, %d2;
  st.global.u32 [%d0+24], %r7;
  cvta.to.shared.u64 %d3, %d2;
  cvt.u32.u64 %r7, %d3;
  sub.u32 %r7, %r7, %r1;
  st.global.u32 [%d0+28], %r7;

  mov.u32 %r10, 0;
NEXT:
  mapa.shared::cluster.u32 %r11, %r0, %r10;
  sub.u32 %r7, %r11, %r1;
  st.global.u32 [%d0+32], %r7;
  getctarank.shared::cluster.u32 %r7, %r11;
  st.global.u32 [%d0+36], %r7;
  ld.shared::cluster.u32 %r7, [%r11];
  st.global.u32 [%d0+40], %r7;
  mapa.u64 %d4, %d2, %r10;
  sub.u64 %d5, %d4, %d2;
  cvt.u32.u64 %r7, %d5;
  st.global.u32 [%d0+44], %r7;
  isspacep.shared::cta %p1, %d4;
  isspacep.shared::cluster %p2, %d4;
  selp.u32 %r7, 1, 0, %p1;
  selp.u32 %r9, 2, 0, %p2;
  or.b32 %r7, %r7, %r9;
  st.global.u32 [%d0+48], %r7;
  add.u64 %d0, %d0, 20;
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, %r3;
  @%p1 bra NEXT;

  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
}
)";

/// What CTAs of clusters of that size write on an H200.
inline std::vector<std::uint32_t> cluster_addresses(unsigned grid, unsigned ctas) {
  constexpr unsigned kRank = 24;
  std::vector<std::uint32_t> out;
  for (unsigned block = 0; block < grid; ++block) {
    const std::uint32_t rank = block % ctas;
    const std::uint32_t even = rank & ~1U;
    const std::uint32_t own[kOwnWords] = {
        rank << kRank, even << kRank, rank, 100 + rank, 100 + even, 3, rank, rank << kRank};
    out.insert(out.end(), own, own + kOwnWords);
    for (std::uint32_t r = 0; r < ctas; ++r) {
      const std::uint32_t mapped[kMappedWords] = {r << kRank, r, 100 + r, (r - rank) << kRank,
                                                  r == rank ? 3U : 2U};
      out.insert(out.end(), mapped, mapped + kMappedWords);
    }
  }
  return out;
}

}  // namespace ww::sim
