// SPDX-License-Identifier: Apache-2.0
// mma.sync: D = A * B + C of one warp on registers (register_matrix.h says which lane holds which
// element, sparse_rows.h which elements a sparse A keeps), and the products of wmma, which are
// blocks of the same.
#include "sim/ops/mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "num/half_lanes.h"
#include "sim/checks/undefined.h"
#include "sim/ops/families.h"
#include "sim/ops/open_lines.h"
#include "sim/run/meet.h"

namespace ww::sim::mma_ops {
namespace {

// The most elements of a factor, and blocks of D.
constexpr unsigned kMostElements = 16 * 64, kMostBlocks = 2;

/// The places of a product, operand by operand.
struct ProductPlaces {
  std::span<const Place> all, d, a, b, c, others;

  ProductPlaces(const Warp& warp, const Op& op, const RegisterProduct& product)
      : all(warp.places(op)) {
    std::span<const Place> rest = all;
    const auto take = [&](const RegisterMatrix& matrix) {
      const std::span<const Place> taken = rest.first(matrix.regs);
      rest = rest.subspan(matrix.regs);
      return taken;
    };
    d = take(product.d);
    a = take(product.a);
    b = take(product.b);
    c = take(product.c);
    others = rest;
  }
};

// 4-bit floats in bytes are in bits 5 to 2.
void align_narrow(num::DType type, const RegisterMatrix& it, std::uint32_t* elements) {
  if (type != num::DType::Float4E2M1fn || it.bits != 8) return;
  for (unsigned i = 0; i < it.lines * it.length; ++i)
    elements[i] = (elements[i] >> 2U) & 0xFU;  // NOLINT: all of them were gathered
}

// The scale factors' bytes. Row m of A has them in lane 4 * (m % 8) + 2 * thread + m / 8, column n
// of B in lane 4 * n + thread, from byte `first` on.
struct ScaleBytes {
  std::array<std::uint8_t, 16 * 4> a{};
  std::array<std::uint8_t, 8 * 4> b{};
};

ScaleBytes scales_of(const Warp& warp, unsigned count, const Place* scales) {
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
  for (unsigned s = 0; s < count; ++s) {
    for (unsigned m = 0; m < 16; ++m)
      out.a[m * count + s] = byte(sa[4 * (m % 8) + 2 * thread_a + m / 8], byte_a + s);
    for (unsigned n = 0; n < 8; ++n) out.b[n * count + s] = byte(sb[4 * n + thread_b], byte_b + s);
  }
  return out;
}

// --- products ------------------------------------------------------------------------------------

void multiply(Warp&, const RegisterProduct& it, const ProductPlaces&, std::uint64_t* a,
              std::uint64_t* b, std::uint64_t* sums) {
  num::product_f64(
      it.rule.rounding,
      {static_cast<int>(it.d.lines), static_cast<int>(it.d.length), static_cast<int>(it.rule.k)}, a,
      b, sums);
}

// Sums in single precision may start, or end, as halves.
void multiply(Warp& warp, const RegisterProduct& it, const ProductPlaces& places, std::uint32_t* a,
              std::uint32_t* b, std::uint32_t* sums) {
  const ProductRule& rule = it.rule;
  align_narrow(rule.a, it.a, a);
  align_narrow(rule.b, it.b, b);
  RowMetadata metadata{};
  if (rule.is_sparse) {
    metadata = metadata_of_rows(rule.sparse_rows(), warp.source<std::uint32_t>(places.others[0]),
                                it.selector);
    check_metadata(warp, rule.sparse_rows(), metadata, it.selector, it.order);
  }
  ScaleBytes scales;
  if (rule.scale_count != 0)
    scales = scales_of(warp, rule.scale_count, &places.others[rule.is_sparse ? 1 : 0]);
  const unsigned count = it.d.lines * it.d.length;
  const bool is_single = rule.kind == SumKind::F32;
  for (unsigned i = 0; is_single && it.c.bits == 16 && i < count; ++i) {
    const auto half = static_cast<std::uint16_t>(sums[i]);
    sums[i] = std::bit_cast<std::uint32_t>(num::f16_to_f32(half));  // NOLINT: it was gathered
  }
  for (unsigned at = 0; at < count; at += kSumsOfBlock) {
    const unsigned line = it.d.lines > kBlockRows ? at / kBlockColumns : 0;
    const unsigned column = it.d.lines > kBlockRows ? 0 : at / kBlockRows;
    multiply_block(warp.unit->context, rule, it.d.block_lines,
                   {.a = a + std::size_t{line} * rule.a_length(),
                    .b = b + std::size_t{column} * rule.k,
                    .metadata = metadata.data(),
                    .scales_a = scales.a.data(),
                    .scales_b = scales.b.data()},
                   sums + at);
  }
  for (unsigned i = 0; is_single && it.d.bits == 16 && i < count; ++i)
    sums[i] = num::f32_to_f16(std::bit_cast<float>(sums[i]));
}

template <typename Word>
void run_product(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const auto& it = form_of<RegisterProduct>(op);
  const ProductPlaces places(warp, op, it);
  const RegisterFile registers = register_file(warp);
  alignas(64) Word a[kMostElements], b[kMostElements], sums[kMostBlocks * kSumsOfBlock];
  gather_factor(registers, it.a, places.a.data(), a);
  gather_factor(registers, it.b, places.b.data(), b);
  const unsigned blocks = it.d.regs / it.d.block_regs;
  for (unsigned i = 0; i < blocks; ++i)
    gather_sums(registers, it.c, &places.c[i * it.c.block_regs], sums + i * kSumsOfBlock);
  multiply(warp, it, places, a, b, sums);
  warp.unit->counters.add_products(std::uint64_t{blocks} * kSumsOfBlock * it.rule.k);
  for (unsigned i = 0; i < blocks; ++i)
    scatter_sums(registers, it.d, &places.d[i * it.d.block_regs], sums + i * kSumsOfBlock);
}

// --- undefined elements --------------------------------------------------------------------------

// Lanes that have yet to come may have registers that are not written yet.
bool are_all_here(const Warp& warp) { return (warp.live & ~warp.exec) == 0; }

// Of lanes that contribute no metadata it may be undefined.
void track_product(Warp& warp, const Op& op) {
  if (!are_all_here(warp)) return;
  const auto& it = form_of<RegisterProduct>(op);
  const ProductPlaces places(warp, op, it);
  for (const std::span<const Place> factor : {places.a, places.b, places.c})
    for (const Place place : factor) calculate_with(warp, place, warp.exec);
  OpenLines lines(warp);
  lines.add_rows(places.a, it.a);
  lines.add_columns(places.b, it.b);
  for (std::size_t i = 0; i < places.others.size(); ++i) {
    const bool is_metadata = it.rule.is_sparse && i == 0;
    const Mask lanes = is_metadata ? metadata_lanes(it.rule.sparse_rows(), it.selector) : kAllLanes;
    calculate_with(warp, places.others[i], warp.exec & lanes);
    lines.add_all(places.others[i], lanes);
  }
  const bool is_same = it.c.bits == it.d.bits;
  if (!is_same) lines.add_rows(places.c, it.c);  // its elements count for all of their rows
  lines.mark(places.d, is_same ? places.c : std::span<const Place>(), it.d);
}

// --- m8n8k4 of halves: four products, one for each eight lanes -----------------------------------

struct QuadForm {
  bool a_by_columns = false, b_by_rows = false;
  bool wide_c = false, wide_d = false;
};

struct QuadTile {
  std::uint32_t a[8 * 4], b[8 * 4], c[8 * 8];
};

unsigned quad_of(unsigned lane) { return lane / 4 % 4; }

// Where a lane's element i is in its tile.
unsigned place_in_quad(unsigned lane) { return lane % 4 + 4 * (lane / 16); }
unsigned factor_place(unsigned lane, unsigned i, bool crosses) {
  return crosses ? (i + 4 * (lane / 16)) * 4 + lane % 4 : place_in_quad(lane) * 4 + i;
}
unsigned sum_place(unsigned lane, unsigned i, bool is_wide) {
  if (!is_wide) return place_in_quad(lane) * 8 + i;
  const unsigned row = (lane & 1U) + (i & 2U) + 4 * (lane / 16);
  const unsigned column = (i & 4U) + (lane & 2U) + (i & 1U);
  return row * 8 + column;
}

std::uint32_t half_of(const Warp& warp, const Place* places, unsigned i, unsigned lane) {
  return (warp.source<std::uint32_t>(places[i / 2])[lane] >> (16 * (i % 2))) & 0xFFFFU;
}

// The chips since sm_80 have no such instruction, and what the assembler writes for it rounds in a
// way that is not established: fused multiply-adds in single precision, ascending in k, come
// nearest to an H200 (two thirds of the f32 results bit for bit, the rest off by an ulp or two;
// nearly all f16 results).
void multiply_quad(QuadTile& it, const QuadForm& form) {
  for (unsigned i = 0; i < 8 * 8; ++i) {
    const unsigned row = i / 8;
    const unsigned column = i % 8;
    float sum = form.wide_c ? std::bit_cast<float>(it.c[i])
                            : num::f16_to_f32(static_cast<std::uint16_t>(it.c[i]));
    for (unsigned k = 0; k < 4; ++k) {
      sum = std::fma(num::f16_to_f32(static_cast<std::uint16_t>(it.a[row * 4 + k])),
                     num::f16_to_f32(static_cast<std::uint16_t>(it.b[column * 4 + k])), sum);
    }
    it.c[i] = !form.wide_d ? num::f32_to_f16(sum)
              : sum != sum ? 0x7FFF'FFFFU
                           : std::bit_cast<std::uint32_t>(sum);
  }
}

void run_quads(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const auto& form = form_of<QuadForm>(op);
  const unsigned d_regs = form.wide_d ? 8 : 4;
  const Place* const d = warp.places(op).data();
  const Place* a = d + d_regs;
  const Place* b = a + 2;
  const Place* c = b + 2;
  QuadTile tiles[4];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    QuadTile& it = tiles[quad_of(lane)];
    for (unsigned i = 0; i < 4; ++i) {
      it.a[factor_place(lane, i, form.a_by_columns)] = half_of(warp, a, i, lane);
      it.b[factor_place(lane, i, form.b_by_rows)] = half_of(warp, b, i, lane);
    }
    for (unsigned i = 0; i < 8; ++i)
      it.c[sum_place(lane, i, form.wide_c)] =
          form.wide_c ? warp.source<std::uint32_t>(c[i])[lane] : half_of(warp, c, i, lane);
  }
  for (QuadTile& it : tiles) multiply_quad(it, form);
  std::uint32_t out[8][kLanes] = {};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint32_t sum = tiles[quad_of(lane)].c[sum_place(lane, i, form.wide_d)];
      out[form.wide_d ? i : i / 2][lane] |= form.wide_d ? sum : (sum & 0xFFFFU) << (16 * (i % 2));
    }
  }
  for (unsigned r = 0; r < d_regs; ++r) warp.write(d[r], out[r]);
}

// All of a quad's results depend on all that its lanes have.
void track_quads(Warp& warp, const Op& op) {
  if (!are_all_here(warp)) return;
  const std::size_t d_regs = form_of<QuadForm>(op).wide_d ? 8 : 4;
  const std::span<const Place> all = warp.places(op);
  OpenLines lines(warp);
  for (const Place place : all.subspan(d_regs)) calculate_with(warp, place, warp.exec);
  lines.add_lanes(all.subspan(d_regs), quad_of);
  lines.mark(all.first(d_regs), {}, 1, 4, [](unsigned, unsigned lane, unsigned) {
    return Cell{quad_of(lane), 0};
  });
}

bool decode_quads(Decode& in) {
  if (in.word("atype") != "f16") {
    in.refusal = "the hardware takes it and multiplies nothing";
    return false;
  }
  in.op.run = run_quads;
  in.op.track = track_quads;
  in.keep(QuadForm{.a_by_columns = in.word("alayout") == "col",
                   .b_by_rows = in.word("blayout") == "row",
                   .wide_c = in.word("ctype") == "f32",
                   .wide_d = in.word("dtype") == "f32"});
  in.further(product_places(in));
  return true;
}

// --- decoding ------------------------------------------------------------------------------------

// Two spellings of A's scale, its selectors; then B's. Operand `first` is the first of them.
void add_scale_places(Decode& in, std::size_t first, std::vector<Place>& places) {
  for (const std::size_t at : {first, first + 3}) {
    places.push_back(in.sources(in.given(at) ? at : at + 1)[0]);
    const std::vector<Place> ids = in.sources(at + 2);
    places.insert(places.end(), ids.begin(), ids.end());
  }
}

bool decode_product(Decode& in) {
  RegisterProduct product{.rule = rule_in(in)};
  const ProductRule& rule = product.rule;
  const auto m = static_cast<unsigned>(isa::product_shape(in.word("shape")).m);
  const unsigned sum_bits = rule.kind == SumKind::F16 ? 16 : rule.kind == SumKind::F64 ? 64 : 32;
  product.a = in_registers(m, rule.a_length(), rule.bits, m);
  product.b = in_registers(kBlockColumns, rule.k, rule.bits, kBlockColumns);
  product.c = product.d = in_registers(m, kBlockColumns, sum_bits, m, true);
  std::vector<Place> places = product_places(in);
  std::size_t next = 4;  // operand
  if (rule.is_sparse) {
    if (in.word("sp") == "sp::ordered_metadata") product.order = PlaceOrder::Ascending;
    places.push_back(in.source(next++));
    product.selector = static_cast<unsigned>(in.immediate(next++));
    const unsigned selectors = kMaxSparseGroups / rule.sparse_rows().groups();
    if (product.selector >= selectors) {
      in.refusal = fmt::format(
          "sparsity selector {}; this shape has {}, and an H200 takes others for illegal "
          "instructions",
          product.selector, selectors == 1 ? "0 alone" : "0 and 1");
      return false;
    }
  }
  if (rule.kind == SumKind::Scaled) add_scale_places(in, next, places);
  return runs_product(in, product, places);
}

bool decode_mma(Decode& in) {
  const bool by_quads = in.word("shape") == "m8n8k4" && in.word("dtype") != "f64";
  return by_quads ? decode_quads(in) : decode_product(in);
}

constexpr OpRow kRows[] = {{"mma", decode_mma}};

}  // namespace

bool runs_product(Decode& in, const RegisterProduct& product, const std::vector<Place>& places) {
  in.op.run =
      product.rule.kind == SumKind::F64 ? run_product<std::uint64_t> : run_product<std::uint32_t>;
  in.op.track = track_product;
  in.keep(product);
  in.further(places);
  return true;
}

std::vector<Place> product_places(Decode& in, bool exchanges) {
  std::vector<Place> places = in.results(0);
  std::array<std::vector<Place>, 3> sources{in.sources(1), in.sources(2), in.sources(3)};
  if (exchanges) std::swap(sources[0], sources[1]);
  for (const std::vector<Place>& each : sources)
    places.insert(places.end(), each.begin(), each.end());
  return places;
}

constinit const OpFamily family{"mma", kRows};

}  // namespace ww::sim::mma_ops
