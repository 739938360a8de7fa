// SPDX-License-Identifier: Apache-2.0
// mma.sync: D = A * B + C of one warp on registers. Which lane holds which element is written down
// here as index arithmetic (g = lane / 4, t = lane % 4, e elements in a register):
//
//   A, 16 rows   register r, element j:  row g + 8 * (r % 2), k = 4e * (r / 2) + e * t + j
//   A, 8 rows    register r, element j:  row g,               k = 4e * r + e * t + j
//   B            register r, element j:  column g,            k = 4e * r + e * t + j
//   C, D         32 and 64 bits, register r:  row g + 8 * (r / 2), column 2t + r % 2
//   C, D         f16, register r, half h:     row g + 8r,          column 2t + h
//
// so four neighbouring lanes hold 4e neighbours of one row. Of a sparse A, k counts the elements that
// are kept (sparse_rows.h). The sums are num/matrix_tile.h's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "num/matrix_tile.h"
#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/mma_forms.h"
#include "sim/ops/open_lines.h"
#include "sim/ops/sparse_rows.h"
#include "sim/run/meet.h"
#include "sim/run/unit.h"

namespace ww::sim::mma_ops {
namespace {

using num::DType;
using num::TileShape;

constexpr unsigned kGroups = 8;  // values of g
constexpr unsigned kQuad = 4;    // values of t

/// The elements of a register, one to a word.
template <unsigned kBits>
void spread(const std::uint32_t* words, std::uint32_t* to) {
  constexpr unsigned kEach = 32 / kBits;
  constexpr std::uint32_t kMask = kBits == 32 ? ~0U : (1U << kBits) - 1U;
  for (unsigned t = 0; t < kQuad; ++t) {
    for (unsigned j = 0; j < kEach; ++j) to[t * kEach + j] = (words[t] >> (j * kBits)) & kMask;
  }
}

/// Registers to rows of K elements. `two_blocks`: registers go in pairs over rows g and g + 8.
template <unsigned kBits>
void gather(Warp& warp, const Place* places, unsigned regs, bool two_blocks, unsigned k,
            std::uint32_t* to) {
  constexpr unsigned kRun = kQuad * 32 / kBits;
  for (unsigned r = 0; r < regs; ++r) {
    const auto* words = warp.source<std::uint32_t>(places[r]);
    const unsigned block = two_blocks ? r % 2 : 0;
    const unsigned first = kRun * (two_blocks ? r / 2 : r);
    for (unsigned g = 0; g < kGroups; ++g) {
      spread<kBits>(words + kQuad * g, to + std::size_t{g + 8 * block} * k + first);
    }
  }
}

void gather_bits(unsigned bits, Warp& warp, const Place* places, unsigned regs, bool two_blocks,
                 unsigned k, std::uint32_t* to) {
  switch (bits) {
    case 4:
      return gather<4>(warp, places, regs, two_blocks, k, to);
    case 8:
      return gather<8>(warp, places, regs, two_blocks, k, to);
    case 16:
      return gather<16>(warp, places, regs, two_blocks, k, to);
    default:
      return gather<32>(warp, places, regs, two_blocks, k, to);
  }
}

// Registers 2i and 2i + 1 hold neighbouring columns of rows g + 8i.
template <typename T>
void gather_sums(Warp& warp, const Place* places, unsigned regs, T* to) {
  for (unsigned r = 0; r < regs; r += 2) {
    const auto* even = warp.source<T>(places[r]);
    const auto* odd = warp.source<T>(places[r + 1]);
    T* row = to + std::size_t{r} * 4 * 8;
    for (unsigned l = 0; l < kLanes; ++l) {
      row[2 * l] = even[l];
      row[2 * l + 1] = odd[l];
    }
  }
}

template <typename T>
void scatter_sums(Warp& warp, const Place* places, unsigned regs, const T* from) {
  for (unsigned r = 0; r < regs; r += 2) {
    alignas(64) T even[kLanes];
    alignas(64) T odd[kLanes];
    const T* row = from + std::size_t{r} * 4 * 8;
    for (unsigned l = 0; l < kLanes; ++l) {
      even[l] = row[2 * l];
      odd[l] = row[2 * l + 1];
    }
    warp.write(places[r], even);
    warp.write(places[r + 1], odd);
  }
}

void gather_halves(Warp& warp, const Place* places, unsigned regs, std::uint32_t* to) {
  for (unsigned r = 0; r < regs; ++r) {
    const auto* words = warp.source<std::uint32_t>(places[r]);
    for (unsigned l = 0; l < kLanes; ++l) {
      std::uint32_t* at = to + (l / 4 + 8 * r) * 8 + 2 * (l % 4);
      at[0] = words[l] & 0xFFFFU;
      at[1] = words[l] >> 16U;
    }
  }
}

void scatter_halves(Warp& warp, const Place* places, unsigned regs, const std::uint32_t* from) {
  for (unsigned r = 0; r < regs; ++r) {
    std::uint32_t words[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint32_t* at = from + (l / 4 + 8 * r) * 8 + 2 * (l % 4);
      words[l] = (at[0] & 0xFFFFU) | (at[1] << 16U);
    }
    warp.write(places[r], words);
  }
}

// 4- and 6-bit floats in bytes: e2m1 is in bits 5 to 2, the others in bits 5 to 0.
void align_narrow(DType type, std::uint32_t* elements, unsigned count) {
  if (type != DType::Float4E2M1fn) return;
  for (unsigned i = 0; i < count; ++i) elements[i] = (elements[i] >> 2U) & 0xFU;
}

struct Inputs {
  alignas(64) std::uint32_t a[num::kMaxTileM * num::kMaxTileK];
  alignas(64) std::uint32_t b[num::kMaxTileN * num::kMaxTileK];
};

void gather_inputs(Warp& warp, const MmaForm& form, const Place* a, const Place* b, Inputs& in) {
  const auto k = static_cast<unsigned>(form.shape.k);
  gather_bits(form.bits, warp, a, form.a_regs, form.shape.m == 16, form.a_length(), in.a);
  gather_bits(form.bits, warp, b, form.b_regs, false, k, in.b);
  if (form.in_bytes) {
    align_narrow(form.a, in.a, static_cast<unsigned>(form.shape.m) * form.a_length());
    align_narrow(form.b, in.b, static_cast<unsigned>(form.shape.n) * k);
  }
}

// The scale factors' bytes. Row m of A has them in lane 4 * (m % 8) + 2 * thread + m / 8, column n
// of B in lane 4 * n + thread, from byte `first` on.
struct ScaleBytes {
  std::array<std::uint8_t, 16 * 4> a{};
  std::array<std::uint8_t, 8 * 4> b{};
};

ScaleBytes gather_scales(Warp& warp, const MmaForm& form, const Place* scales) {
  ScaleBytes out;
  const auto* sa = warp.source<std::uint32_t>(scales[0]);
  const auto* sb = warp.source<std::uint32_t>(scales[3]);
  const auto first = [&](Place place) { return warp.source<std::uint16_t>(place)[0]; };
  const unsigned byte_a = first(scales[1]) & 3U;
  const unsigned thread_a = first(scales[2]) & 1U;
  const unsigned byte_b = first(scales[4]) & 3U;
  const unsigned thread_b = first(scales[5]) & 3U;
  const auto byte = [](std::uint32_t word, unsigned at) {
    return static_cast<std::uint8_t>(word >> (8 * (at & 3U)));
  };
  for (unsigned s = 0; s < form.scale_count; ++s) {
    for (unsigned m = 0; m < 16; ++m) {
      out.a[m * form.scale_count + s] = byte(sa[4 * (m % 8) + 2 * thread_a + m / 8], byte_a + s);
    }
    for (unsigned n = 0; n < 8; ++n) {
      out.b[n * form.scale_count + s] = byte(sb[4 * n + thread_b], byte_b + s);
    }
  }
  return out;
}

num::TileScales tile_scales(const MmaForm& form, const ScaleBytes& bytes) {
  return {form.scale_type, static_cast<int>(form.scale_count), bytes.a.data(), bytes.b.data()};
}

void multiply_tile(const RunContext& context, const MmaForm& form, TileShape shape,
                   const std::uint32_t* a, const std::uint32_t* b, const ScaleBytes& bytes,
                   std::uint32_t* sums) {
  const bool exact = context.options->exact_matrix;
  switch (form.kind) {
    case MmaKind::F64:
    case MmaKind::Quads:
      break;
    case MmaKind::F16:
      return num::product_f16(context.matrix, exact, form.a, form.b, shape, a, b, sums);
    case MmaKind::F32:
      return num::product_f32(context.matrix, exact, form.a, form.b, shape, a, b, sums);
    case MmaKind::S32:
      return num::product_s32(form.saturates, form.a, form.b, shape, a, b, sums);
    case MmaKind::Bits:
      return num::product_b1(form.is_xor ? num::BitOp::Xor : num::BitOp::And, form.bit_shape(), a,
                             b, sums);
    case MmaKind::Scaled:
      return num::product_scaled(context.matrix, exact, form.a, form.b, shape, a, b,
                                 tile_scales(form, bytes), sums);
  }
}

// --- sparse A ------------------------------------------------------------------------------------

SparseRows sparse_rows(const MmaForm& form) { return {form.bits, form.a_length()}; }

void multiply_sparse(Warp& warp, const MmaForm& form, const std::uint32_t* words, const Inputs& in,
                     const ScaleBytes& bytes, std::uint32_t* sums) {
  const SparseRows rows = sparse_rows(form);
  multiply_rows(
      rows, num::kMaxTileM,
      [&](unsigned row) { return metadata_of_row(rows, words, row, form.selector); }, in.a, in.b,
      sums,
      [&](unsigned row, TileShape shape, const std::uint32_t* a, const std::uint32_t* b,
          std::uint32_t* tile) {
        ScaleBytes own = bytes;  // the row's scales, first
        std::copy_n(bytes.a.begin() + row * form.scale_count, form.scale_count, own.a.begin());
        multiply_tile(warp.unit->context, form, shape, a, b, own, tile);
      });
}

// --- products ------------------------------------------------------------------------------------

// Places: D, A, B, C, the metadata of a sparse A, then the scales.
void run_mma(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const MmaForm form = unpack_form(op);
  const Place* d = &warp.program->places[op.extra];
  const Place* a = d + form.d_regs;
  const Place* b = a + form.a_regs;
  const Place* c = b + form.b_regs;
  const Place* metadata = c + form.d_regs;
  const bool halves = form.kind == MmaKind::F16;
  Inputs in;
  gather_inputs(warp, form, a, b, in);
  const ScaleBytes scales = form.kind == MmaKind::Scaled
                                ? gather_scales(warp, form, metadata + (form.is_sparse ? 1 : 0))
                                : ScaleBytes{};
  alignas(64) std::uint32_t sums[num::kMaxTileM * num::kMaxTileN];
  halves ? gather_halves(warp, c, form.d_regs, sums) : gather_sums(warp, c, form.d_regs, sums);
  if (form.is_sparse) {
    const auto* const words = warp.source<std::uint32_t>(*metadata);
    check_metadata(warp, sparse_rows(form), words, form.selector,
                   form.is_ordered ? PlaceOrder::Ascending : PlaceOrder::Any);
    multiply_sparse(warp, form, words, in, scales, sums);
  } else {
    multiply_tile(warp.unit->context, form, form.shape, in.a, in.b, scales, sums);
  }
  halves ? scatter_halves(warp, d, form.d_regs, sums) : scatter_sums(warp, d, form.d_regs, sums);
}

// --- undefined elements --------------------------------------------------------------------------

// Lanes that have yet to come may have registers that are not written yet.
bool are_all_here(const Warp& warp) { return (warp.live & ~warp.exec) == 0; }

// Of lanes that contribute no metadata it may be undefined.
void track_product(Warp& warp, const Op& op) {
  if (!are_all_here(warp)) return;
  const MmaForm form = unpack_form(op);
  const std::span<const Place> all(&warp.program->places[op.extra], op.count);
  const std::size_t factors = std::size_t{form.d_regs} + form.a_regs + form.b_regs;
  const std::size_t metadata = form.is_sparse ? factors + form.d_regs : all.size();
  const auto lanes_of = [&](std::size_t i) {
    return i == metadata ? metadata_lanes(sparse_rows(form), form.selector) : kAllLanes;
  };
  for (std::size_t i = form.d_regs; i < all.size(); ++i)
    calculate_with(warp, all[i], warp.exec & lanes_of(i));
  OpenLines lines(warp);
  const bool is_tall = form.shape.m == 16;
  lines.add_rows(all.subspan(form.d_regs, form.a_regs),
                 [&](unsigned r, unsigned lane) { return lane / 4 + (is_tall ? 8 * (r % 2) : 0); });
  lines.add_columns(all.subspan(form.d_regs + form.a_regs, form.b_regs),
                    [](unsigned, unsigned lane) { return lane / 4; });
  for (std::size_t i = factors + form.d_regs; i < all.size(); ++i)
    lines.add_all(all[i], lanes_of(i));
  const bool halves = form.kind == MmaKind::F16;
  const unsigned bytes = form.kind == MmaKind::F64 ? 8 : halves ? 2 : 4;
  lines.mark(all.first(form.d_regs), all.subspan(factors, form.d_regs), halves ? 2 : 1, bytes,
             [&](unsigned r, unsigned lane, unsigned part) {
               return halves ? SumCell{lane / 4 + 8 * r, 2 * (lane % 4) + part}
                             : SumCell{lane / 4 + 8 * (r / 2), 2 * (lane % 4) + r % 2};
             });
}

// --- double precision ----------------------------------------------------------------------------

void run_mma_f64(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const MmaForm form = unpack_form(op);
  const Place* d = &warp.program->places[op.extra];
  const Place* a = d + form.d_regs;
  const Place* b = a + form.a_regs;
  const Place* c = b + form.b_regs;
  const auto k = static_cast<unsigned>(form.shape.k);
  std::uint64_t rows[16 * 16];
  std::uint64_t columns[8 * 16];
  std::uint64_t sums[16 * 8];
  for (unsigned r = 0; r < form.a_regs; ++r) {
    const auto* values = warp.source<std::uint64_t>(a[r]);
    const bool tall = form.shape.m == 16;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned row = l / 4 + (tall ? 8 * (r % 2) : 0);
      rows[row * k + 4 * (tall ? r / 2 : r) + l % 4] = values[l];
    }
  }
  for (unsigned r = 0; r < form.b_regs; ++r) {
    const auto* values = warp.source<std::uint64_t>(b[r]);
    for (unsigned l = 0; l < kLanes; ++l) columns[l / 4 * k + 4 * r + l % 4] = values[l];
  }
  gather_sums(warp, c, form.d_regs, sums);
  num::product_f64(form.rounding, form.shape, rows, columns, sums);
  scatter_sums(warp, d, form.d_regs, sums);
}

// --- m8n8k4 of halves: four products, one for each eight lanes -----------------------------------

constexpr std::uint8_t kColumnA = 1, kRowB = 2, kWideC = 4, kWideD = 8;  // of Op::mode2

struct QuadPair {
  std::uint32_t a[8 * 4], b[8 * 4], c[8 * 8];
};

// Lane's place x among the eight of its pair, and which pair.
unsigned pair_of(unsigned lane) { return (lane / 4) % 4; }
unsigned place_in_pair(unsigned lane) { return lane % 4 + 4 * (lane / 16); }

std::uint32_t half_of(const Warp& warp, const Place* places, unsigned i, unsigned lane) {
  return (warp.source<std::uint32_t>(places[i / 2])[lane] >> (16 * (i % 2))) & 0xFFFFU;
}

void gather_pair(Warp& warp, const Op& op, const Place* a, const Place* b, const Place* c,
                 unsigned pair, QuadPair& to) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (pair_of(lane) != pair) continue;
    const unsigned x = place_in_pair(lane);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned cross = (i + 4 * (lane / 16)) * 4 + lane % 4;
      to.a[(op.mode2 & kColumnA) != 0 ? cross : x * 4 + i] = half_of(warp, a, i, lane);
      to.b[(op.mode2 & kRowB) != 0 ? cross : x * 4 + i] = half_of(warp, b, i, lane);
    }
    for (unsigned i = 0; i < 8; ++i) {
      if ((op.mode2 & kWideC) != 0) {
        const unsigned row = (lane & 1U) + (i & 2U) + 4 * (lane / 16);
        const unsigned column = (i & 4U) + (lane & 2U) + (i & 1U);
        to.c[row * 8 + column] = warp.source<std::uint32_t>(c[i])[lane];
      } else {
        to.c[x * 8 + i] = half_of(warp, c, i, lane);
      }
    }
  }
}

void scatter_pair(const Op& op, unsigned pair, const QuadPair& from, std::uint32_t (*d)[kLanes]) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (pair_of(lane) != pair) continue;
    const unsigned x = place_in_pair(lane);
    for (unsigned i = 0; i < 8; ++i) {
      if ((op.mode2 & kWideD) != 0) {
        const unsigned row = (lane & 1U) + (i & 2U) + 4 * (lane / 16);
        const unsigned column = (i & 4U) + (lane & 2U) + (i & 1U);
        d[i][lane] = from.c[row * 8 + column];
      } else {
        const std::uint32_t half = from.c[x * 8 + i] & 0xFFFFU;
        d[i / 2][lane] = i % 2 == 0 ? half : d[i / 2][lane] | (half << 16U);
      }
    }
  }
}

// The chips since sm_80 have no such instruction, and what the assembler writes for it rounds in a
// way that is not established: fused multiply-adds in single precision, ascending in k, come
// nearest to an H200 (two thirds of the f32 results bit for bit, the rest off by an ulp or two;
// nearly all f16 results).
void multiply_pair(QuadPair& it, bool wide_c, bool wide_d) {
  for (unsigned i = 0; i < 8 * 8; ++i) {
    const unsigned row = i / 8;
    const unsigned column = i % 8;
    float sum = wide_c ? std::bit_cast<float>(it.c[i])
                       : num::f16_to_f32(static_cast<std::uint16_t>(it.c[i]));
    for (unsigned k = 0; k < 4; ++k) {
      sum = std::fma(num::f16_to_f32(static_cast<std::uint16_t>(it.a[row * 4 + k])),
                     num::f16_to_f32(static_cast<std::uint16_t>(it.b[column * 4 + k])), sum);
    }
    it.c[i] = !wide_d      ? num::f32_to_f16(sum)
              : sum != sum ? 0x7FFF'FFFFU
                           : std::bit_cast<std::uint32_t>(sum);
  }
}

void run_mma_pairs(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const bool wide_d = (op.mode2 & kWideD) != 0;
  const bool wide_c = (op.mode2 & kWideC) != 0;
  const unsigned d_regs = wide_d ? 8 : 4;
  const Place* d = &warp.program->places[op.extra];
  const Place* a = d + d_regs;
  const Place* b = a + 2;
  const Place* c = b + 2;
  std::uint32_t out[8][kLanes];
  for (unsigned pair = 0; pair < 4; ++pair) {
    QuadPair it;
    gather_pair(warp, op, a, b, c, pair, it);
    multiply_pair(it, wide_c, wide_d);
    scatter_pair(op, pair, it, out);
  }
  for (unsigned r = 0; r < d_regs; ++r) warp.write(d[r], out[r]);
}

// All of a pair's results depend on all that its lanes have.
void track_pairs(Warp& warp, const Op& op) {
  if (!are_all_here(warp)) return;
  const std::size_t d_regs = (op.mode2 & kWideD) != 0 ? 8 : 4;
  const std::span<const Place> all(&warp.program->places[op.extra], op.count);
  OpenLines lines(warp);
  for (const Place place : all.subspan(d_regs)) calculate_with(warp, place, warp.exec);
  lines.add_rows(all.subspan(d_regs), [](unsigned, unsigned lane) { return pair_of(lane); });
  lines.mark(all.first(d_regs), {}, 1, 4, [](unsigned, unsigned lane, unsigned) {
    return SumCell{pair_of(lane), 0};
  });
}

bool decode_pairs(Decode& in) {
  if (in.word("atype") != "f16") {
    in.refusal = "the hardware takes it and multiplies nothing";
    return false;
  }
  in.op.run = run_mma_pairs;
  in.op.track = track_pairs;
  in.op.mode2 = static_cast<std::uint8_t>(
      (in.word("alayout") == "col" ? kColumnA : 0) | (in.word("blayout") == "row" ? kRowB : 0) |
      (in.word("ctype") == "f32" ? kWideC : 0) | (in.word("dtype") == "f32" ? kWideD : 0));
  return true;
}

// --- decoding ------------------------------------------------------------------------------------

bool decode_product(Decode& in, std::vector<Place>& places) {
  std::optional<MmaForm> form = form_in(in);
  if (!form) return false;
  std::size_t next = 4;  // operand
  if (form->is_sparse) {
    places.push_back(in.source(next++));
    form->selector = static_cast<unsigned>(in.immediate(next++));
    const unsigned selectors = kMaxSparseGroups / sparse_rows(*form).groups();
    if (form->selector >= selectors) {
      in.refusal = fmt::format(
          "sparsity selector {}; this shape has {}, and an H200 takes others for illegal "
          "instructions",
          form->selector, selectors == 1 ? "0 alone" : "0 and 1");
      return false;
    }
  }
  if (form->kind == MmaKind::Scaled) add_scale_places(in, next, places);
  in.op.run = form->kind == MmaKind::F64 ? run_mma_f64 : run_mma;
  in.op.track = track_product;
  pack_form(*form, in.op);
  return true;
}

bool decode_mma(Decode& in) {
  std::vector<Place> places = in.results(0);
  for (std::size_t i = 1; i < 4; ++i) {
    const std::vector<Place> part = in.sources(i);
    places.insert(places.end(), part.begin(), part.end());
  }
  const bool pairs = in.word("shape") == "m8n8k4" && in.word("dtype") != "f64";
  if (!(pairs ? decode_pairs(in) : decode_product(in, places))) return false;
  in.further(places);
  return true;
}

constexpr OpRow kRows[] = {{"mma", decode_mma}};

}  // namespace

constinit const OpFamily family{"mma", kRows};

}  // namespace ww::sim::mma_ops
