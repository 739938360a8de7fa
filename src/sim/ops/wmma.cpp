// SPDX-License-Identifier: Apache-2.0
// wmma: fragments loaded from memory, multiplied and stored by a warp. wmma_fragment.h says which
// lane holds which element; the sums are num/matrix_tile.h's.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "num/float_format.h"
#include "num/half_lanes.h"
#include "num/matrix_tile.h"
#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/memory_ops.h"
#include "sim/ops/open_lines.h"
#include "sim/ops/wmma_fragment.h"
#include "sim/run/meet.h"

namespace ww::sim::wmma_ops {
namespace {

using num::DType;
using wmma::Cell;
using wmma::Fragment;
using wmma::make_fragment;
using wmma::Matrix;

struct TypeRow {
  std::string_view word;
  DType type;
  std::uint8_t bits;
  bool is_integer = false;
};
constexpr TypeRow kTypes[] = {
    {"f16", DType::Float16, 16},   {"bf16", DType::Bfloat16, 16}, {"tf32", DType::Tfloat32, 32},
    {"f32", DType::Float32, 32},   {"f64", DType::Float64, 64},   {"s8", DType::Int8, 8, true},
    {"u8", DType::Uint8, 8, true}, {"s4", DType::Int4, 4, true},  {"u4", DType::Uint4, 4, true},
    {"b1", DType::Uint32, 1},      {"s32", DType::Int32, 32},
};

// --- memory --------------------------------------------------------------------------------------

Fragment unpack_fragment(const Op& op) {
  Fragment fragment{};
  static_assert(sizeof fragment <= sizeof op.imm);
  std::memcpy(&fragment, &op.imm, sizeof fragment);
  return fragment;
}

constexpr std::uint8_t kColumns = 1;  // Op::mode: column after column

/// What one lane moves at a time: a register whose elements lie side by side, or one element.
struct Move {
  unsigned reg, first_bit, bytes;
};

class Mover {
 public:
  Mover(Warp& warp, const Op& op) : warp_(warp), op_(op), fragment_(unpack_fragment(op)) {
    const Address& at = warp.program->addresses[op.address];
    use_base(warp, at, warp.exec);
    lane_addresses(warp, at, base_.data());
    space_ = at.space;
    stride_ = warp.source<std::uint32_t>(op.p[0]);
    if (warp.undefined.are_kept()) use_value(warp, op.p[0], warp.exec);
  }

  [[nodiscard]] const Fragment& fragment() const { return fragment_; }

  template <typename Visit>
  void for_each_move(Visit&& visit) const {
    const bool by_rows = op_.mode != kColumns;
    const bool along_k = fragment_.matrix == Matrix::B ? !by_rows : by_rows;
    const bool is_together = fragment_.matrix == Matrix::C
                                 ? fragment_.parts() == 1 || by_rows != fragment_.is_wide()
                                 : along_k;
    const unsigned bits = is_together ? fragment_.reg_bits() : fragment_.bits;
    for (unsigned reg = 0; reg < fragment_.regs; ++reg)
      for (unsigned bit = 0; bit < fragment_.reg_bits(); bit += bits)
        visit(Move{reg, bit, bits / 8});
  }

  /// Calls visit(region, offset, lane) for the lanes whose addresses are good. `stored`: of a store,
  /// what it writes.
  template <typename Visit>
  void visit_lanes(const Move& move, const StoredBytes* stored, Visit&& visit) const {
    std::uint64_t address[kLanes] = {};
    for_each_lane(warp_.exec, [&](unsigned l) { address[l] = base_[l] + offset_of(move, l); });
    const bool writes = stored != nullptr;
    const AccessKind kind = writes ? AccessKind::Write : AccessKind::Read;
    visit_regions(
        warp_, address, warp_.exec, move.bytes, kind, space_, [&](Region& region, Mask group) {
          access_checks(warp_, region, address, group, move.bytes,
                        writes ? Touched::Write : Touched::Read, {}, stored);
          for_each_lane(group, [&](unsigned l) { visit(region, region.offset(address[l], l), l); });
        });
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(const Move& move, unsigned lane) const {
    const Cell cell = fragment_.cell(lane, move.reg, move.first_bit / fragment_.bits);
    const bool by_rows = op_.mode != kColumns;
    const std::uint64_t outer = by_rows ? cell.row : cell.column;
    const std::uint64_t inner = by_rows ? cell.column : cell.row;
    return (outer * stride_[lane] + inner) * fragment_.bits / 8;
  }

  Warp& warp_;
  const Op& op_;
  Fragment fragment_;
  std::array<std::uint64_t, kLanes> base_{};
  Space space_{};
  const std::uint32_t* stride_ = nullptr;
};

void run_load(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Mover mover(warp, op);
  const unsigned width = mover.fragment().reg_bits() / 8;
  std::array<std::array<std::byte, 8 * kLanes>, 8> values{};
  std::array<std::array<std::uint8_t, kLanes>, 8> undefined{};
  mover.for_each_move([&](const Move& move) {
    mover.visit_lanes(move, nullptr, [&](Region& region, std::uint64_t from, unsigned l) {
      const unsigned at = move.first_bit / 8;
      std::memcpy(values[move.reg].data() + std::size_t{l} * width + at, region.data + from,
                  move.bytes);
      if (warp.undefined.are_kept())
        undefined[move.reg][l] |=
            static_cast<std::uint8_t>(undefined_bits(region, from, move.bytes) << at);
    });
  });
  for (unsigned r = 0; r < mover.fragment().regs; ++r) {
    const Place place = warp.program->places[op.extra + r];
    with_bytes(width, [&]<typename T>() {
      T lanes[kLanes];
      std::memcpy(lanes, values[r].data(), sizeof lanes);
      warp.write(place, lanes);
    });
    if (warp.undefined.are_kept()) set_loaded_bytes(warp, place, undefined[r].data());
  }
}

void run_store(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Mover mover(warp, op);
  const unsigned width = mover.fragment().reg_bits() / 8;
  ++warp.unit->activity;
  mover.for_each_move([&](const Move& move) {
    const Place place = warp.program->places[op.extra + move.reg];
    const std::byte* lanes = warp.source<std::byte>(place);
    const bool tracks = warp.undefined.are_kept() && !place.is_constant();
    const std::uint8_t* undefined = tracks ? warp.undefined.of(place) : nullptr;
    const unsigned at = move.first_bit / 8;
    const auto leaves = [&](const Region& region, std::uint64_t address, unsigned l) {
      return std::memcmp(region.data + region.offset(address, l),
                         lanes + std::size_t{l} * width + at, move.bytes) == 0;
    };
    const StoredBytes stored(leaves);
    mover.visit_lanes(move, &stored, [&](Region& region, std::uint64_t to, unsigned l) {
      std::memcpy(region.data + to, lanes + std::size_t{l} * width + at, move.bytes);
      if (region.space == Space::Global) show_value(warp, place, lane_bit(l), width);
      const unsigned open = undefined == nullptr ? 0U : unsigned{undefined[l]} >> at;
      mark_bytes(region, to, move.bytes, open);
      if (open != 0)
        warp.unit->origins.stored(warp.unit_warp(), region, to, move.bytes,
                                  origin_of(warp, place, l));
    });
  });
}

// --- products ------------------------------------------------------------------------------------

constexpr unsigned kMaxTall = 32, kMaxShort = 16, kMaxDepth = 32;

/// The factors, [row][k] and [column][k], and the sums of both widths, in the tall orientation.
struct Tile {
  alignas(64) std::uint32_t a[kMaxTall * kMaxDepth];
  alignas(64) std::uint32_t b[kMaxShort * kMaxDepth];
  std::uint64_t wide_a[8 * 4], wide_b[8 * 4];
  std::uint64_t sums[kMaxTall * kMaxShort];
};

/// An instruction's types; its shape is in its fragments.
struct Product {
  Fragment a, b, c, d;
  DType type;
  bool is_integer = false;
  num::Rounding rounding = num::Rounding::NearestEven;
  bool saturates = false;
  bool is_xor = false;
};

// Calls visit(element's index in the tall orientation, bits) for all elements of a fragment.
template <typename Index, typename Visit>
void for_each_element(Warp& warp, const Fragment& fragment, const Place* places, Index&& index,
                      Visit&& visit) {
  const std::uint64_t mask = fragment.bits >= 32 ? ~std::uint64_t{0} : (1ULL << fragment.bits) - 1;
  for (unsigned r = 0; r < fragment.regs; ++r) {
    const bool is_wide = fragment.bits == 64;
    const auto* narrow = is_wide ? nullptr : warp.source<std::uint32_t>(places[r]);
    const auto* wide = is_wide ? warp.source<std::uint64_t>(places[r]) : nullptr;
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t word = is_wide ? wide[l] : narrow[l];
      for (unsigned part = 0; part < fragment.parts(); ++part)
        visit(index(fragment.cell(l, r, part)), (word >> (part * fragment.bits)) & mask);
    }
  }
}

// Bits go to the product by words: a register of bits is one element.
Fragment by_words(Fragment fragment) {
  if (fragment.bits != 1) return fragment;
  fragment.bits = 32;
  fragment.k = static_cast<std::uint8_t>(fragment.k / 32);
  return fragment;
}

void gather_factors(Warp& warp, const Product& product, const Place* a, const Place* b, Tile& to) {
  const Fragment fa = by_words(product.a);
  const Fragment fb = by_words(product.b);
  const unsigned k = fa.k;
  const bool is_wide = fa.is_wide();
  const auto index_a = [&](const Cell& at) { return at.row * k + at.column; };
  const auto index_b = [&](const Cell& at) { return at.column * k + at.row; };
  std::uint32_t* rows = is_wide ? to.b : to.a;
  std::uint32_t* columns = is_wide ? to.a : to.b;
  for_each_element(warp, fa, a, index_a, [&](unsigned i, std::uint64_t bits) {
    if (fa.bits == 64)
      to.wide_a[i] = bits;
    else
      rows[i] = static_cast<std::uint32_t>(bits);
  });
  for_each_element(warp, fb, b, index_b, [&](unsigned i, std::uint64_t bits) {
    if (fb.bits == 64)
      to.wide_b[i] = bits;
    else
      columns[i] = static_cast<std::uint32_t>(bits);
  });
}

unsigned sum_index(const Fragment& sums, const Cell& at) {
  const unsigned across = std::min(sums.m, sums.n);
  return sums.is_wide() ? at.column * across + at.row : at.row * across + at.column;
}

// In two steps over k, as the assembler has it: an H200 gives these bits, and not those of one step.
void multiply_tf32(const RunContext& context, num::TileShape shape, const std::uint32_t* a,
                   const std::uint32_t* b, std::uint32_t* sums) {
  constexpr unsigned kStep = 4;
  const auto depth = static_cast<unsigned>(shape.k);
  for (unsigned first = 0; first < depth; first += kStep) {
    alignas(64) std::uint32_t part_a[num::kMaxTileM * kStep], part_b[num::kMaxTileN * kStep];
    for (unsigned i = 0; i < num::kMaxTileM * kStep; ++i)
      part_a[i] = a[i / kStep * depth + first + i % kStep];
    for (unsigned i = 0; i < num::kMaxTileN * kStep; ++i)
      part_b[i] = b[i / kStep * depth + first + i % kStep];
    num::product_f32(context.matrix, context.options->exact_matrix, DType::Tfloat32,
                     DType::Tfloat32, {shape.m, shape.n, static_cast<int>(kStep)}, part_a, part_b,
                     sums);
  }
}

// One block of 16x8 sums (8x8 in m8n8).
void multiply_block(const RunContext& context, const Product& product, num::TileShape shape,
                    const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums) {
  const bool exact = context.options->exact_matrix;
  if (product.type == DType::Uint32) {
    const num::TileShape bits{shape.m, shape.n, shape.k * 32};
    num::product_b1(product.is_xor ? num::BitOp::Xor : num::BitOp::And, bits, a, b, sums);
  } else if (product.is_integer) {
    num::product_s32(product.saturates, product.type, product.type, shape, a, b, sums);
  } else if (product.type == DType::Tfloat32) {
    multiply_tf32(context, shape, a, b, sums);
  } else if (product.c.bits == 16 && product.d.bits == 16) {
    num::product_f16(context.matrix, exact, product.type, product.type, shape, a, b, sums);
  } else {
    num::product_f32(context.matrix, exact, product.type, product.type, shape, a, b, sums);
  }
}

std::uint64_t with_other_width(const Product& product, std::uint64_t bits, bool is_result) {
  if (product.c.bits == product.d.bits) return bits;
  if (!is_result)
    return product.c.bits == 16
               ? std::bit_cast<std::uint32_t>(num::f16_to_f32(static_cast<std::uint16_t>(bits)))
               : bits;
  return product.d.bits == 16
             ? num::f32_to_f16(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
             : bits;
}

void multiply(const RunContext& context, const Product& product, Tile& tile) {
  const Fragment fa = by_words(product.a);
  const unsigned across = std::min(fa.m, fa.n);
  const unsigned height = std::min(16U, fa.tall());
  const num::TileShape shape{static_cast<int>(height), 8, fa.k};
  if (fa.bits == 64) {
    num::product_f64(product.rounding, shape, tile.wide_a, tile.wide_b, tile.sums);
    return;
  }
  for (unsigned row = 0; row < fa.tall(); row += height)
    for (unsigned column = 0; column < across; column += 8) {
      alignas(64) std::uint32_t sums[num::kMaxTileM * num::kMaxTileN];
      for (unsigned i = 0; i < height * 8; ++i)
        sums[i] = static_cast<std::uint32_t>(tile.sums[(row + i / 8) * across + column + i % 8]);
      multiply_block(context, product, shape, tile.a + std::size_t{row} * fa.k,
                     tile.b + std::size_t{column} * fa.k, sums);
      for (unsigned i = 0; i < height * 8; ++i)
        tile.sums[(row + i / 8) * across + column + i % 8] = sums[i];
    }
}

void scatter_sums(Warp& warp, const Product& product, const Place* places, const Tile& tile) {
  const Fragment& d = product.d;
  for (unsigned r = 0; r < d.regs; ++r) {
    std::uint64_t words[kLanes] = {};
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned part = 0; part < d.parts(); ++part) {
        const std::uint64_t bits = tile.sums[sum_index(d, d.cell(l, r, part))];
        words[l] |= with_other_width(product, bits, true) << (part * d.bits);
      }
    if (d.bits == 64) {
      warp.write(places[r], words);
    } else {
      std::uint32_t narrow[kLanes];
      std::ranges::transform(words, narrow,
                             [](std::uint64_t w) { return static_cast<std::uint32_t>(w); });
      warp.write(places[r], narrow);
    }
  }
}

Product unpack_product(const Op& op);

// Places: D, A, B, C.
void run_product(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Product product = unpack_product(op);
  const Place* d = &warp.program->places[op.extra];
  const Place* a = d + product.d.regs;
  const Place* b = a + product.a.regs;
  const Place* c = b + product.b.regs;
  Tile tile;
  gather_factors(warp, product, a, b, tile);
  for_each_element(
      warp, product.c, c, [&](const Cell& at) { return sum_index(product.c, at); },
      [&](unsigned i, std::uint64_t bits) {
        tile.sums[i] = with_other_width(product, bits, false);
      });
  multiply(warp.unit->context, product, tile);
  scatter_sums(warp, product, d, tile);
}

// Fragments are made of those of mma: of A and B a lane's register has elements of one line.
void track_product(Warp& warp, const Op& op) {
  if ((warp.live & ~warp.exec) != 0) return;  // others have yet to come
  const Product product = unpack_product(op);
  const std::span<const Place> all(&warp.program->places[op.extra], op.count);
  const Fragment &a = product.a, &b = product.b, &c = product.c, &d = product.d;
  const std::size_t factors = std::size_t{d.regs} + a.regs + b.regs;
  for (const Place place : all.subspan(d.regs)) calculate_with(warp, place, warp.exec);
  OpenLines lines(warp);
  lines.add_rows(all.subspan(d.regs, a.regs),
                 [&](unsigned r, unsigned lane) { return a.cell(lane, r, 0).row; });
  lines.add_columns(all.subspan(std::size_t{d.regs} + a.regs, b.regs),
                    [&](unsigned r, unsigned lane) { return b.cell(lane, r, 0).column; });
  const auto cell_of = [](const Fragment& fragment) {
    return [&fragment](unsigned r, unsigned lane, unsigned part) {
      const Cell cell = fragment.cell(lane, r, part);
      return SumCell{cell.row, cell.column};
    };
  };
  const bool is_same = c.bits == d.bits;
  if (!is_same) {  // of another width, C lies elsewhere: its elements count for all of their rows
    lines.add_rows(all.subspan(factors, c.regs),
                   [&](unsigned r, unsigned lane) { return c.cell(lane, r, 0).row; });
  }
  lines.mark(all.first(d.regs), is_same ? all.subspan(factors, c.regs) : std::span<const Place>(),
             d.parts(), d.bits / 8U, cell_of(d));
}

// --- decoding ------------------------------------------------------------------------------------

const TypeRow& type_in(std::string_view word) {
  return *std::ranges::find(kTypes, word.empty() ? "f16" : word, &TypeRow::word);
}

Fragment fragment_in(const Decode& in, Matrix matrix, const TypeRow& type) {
  std::array<std::uint8_t, 3> numbers{};  // "m16n16k16"
  std::size_t at = numbers.size();
  for (const char c : in.word("shape")) {
    if (c < '0' || c > '9') {
      at = at == numbers.size() ? 0 : at + 1;
    } else {
      numbers.at(at) = static_cast<std::uint8_t>(numbers.at(at) * 10 + (c - '0'));
    }
  }
  const auto [m, n, k] = numbers;
  return make_fragment(matrix, m, n, k, type.bits, type.type == DType::Float16);
}

// Shape, types and modes, eight bytes; the fragments follow from them.
struct Packed {
  std::uint8_t m, n, k, type, c_bits, d_bits, rounding, flags;
};
static_assert(sizeof(Packed) == sizeof(std::int64_t));
constexpr std::uint8_t kSaturates = 1, kIsXor = 2;

Product unpack_product(const Op& op) {
  Packed packed;
  std::memcpy(&packed, &op.imm, sizeof packed);
  Product out{};
  out.type = kTypes[packed.type].type;
  out.is_integer = kTypes[packed.type].is_integer;
  out.rounding = static_cast<num::Rounding>(packed.rounding);
  out.saturates = (packed.flags & kSaturates) != 0;
  out.is_xor = (packed.flags & kIsXor) != 0;
  const auto fragment = [&](Matrix matrix, std::uint8_t bits) {
    return make_fragment(matrix, packed.m, packed.n, packed.k, bits, out.type == DType::Float16);
  };
  out.a = fragment(Matrix::A, kTypes[packed.type].bits);
  out.b = fragment(Matrix::B, kTypes[packed.type].bits);
  out.c = fragment(Matrix::C, packed.c_bits);
  out.d = fragment(Matrix::C, packed.d_bits);
  return out;
}

num::Rounding rounding_in(const Decode& in) {
  const std::string_view word = in.word("rnd");
  return word == "rz"   ? num::Rounding::TowardZero
         : word == "rm" ? num::Rounding::Down
         : word == "rp" ? num::Rounding::Up
                        : num::Rounding::NearestEven;
}

bool decode_product(Decode& in) {
  const TypeRow& type = type_in(in.word("atype"));
  const Fragment shape = fragment_in(in, Matrix::A, type);
  const Packed packed{shape.m,
                      shape.n,
                      shape.k,
                      static_cast<std::uint8_t>(&type - kTypes),
                      type_in(in.word("ctype")).bits,
                      type_in(in.word("dtype")).bits,
                      static_cast<std::uint8_t>(rounding_in(in)),
                      static_cast<std::uint8_t>((in.has("satfinite") ? kSaturates : 0) |
                                                (in.word("op") == "xor" ? kIsXor : 0))};
  std::memcpy(&in.op.imm, &packed, sizeof packed);
  in.op.run = run_product;
  in.op.track = track_product;
  std::vector<Place> places = in.results(0);
  for (std::size_t i = 1; i < 4; ++i) {
    const std::vector<Place> part = in.sources(i);
    places.insert(places.end(), part.begin(), part.end());
  }
  in.further(places);
  return true;
}

// The leading dimension, where the text has none: that of a matrix without gaps.
Place stride_in(Decode& in, const Fragment& fragment) {
  if (in.given(2)) return in.source(2);
  const bool by_rows = in.word("layout") == "row";
  const unsigned rows = fragment.matrix == Matrix::B ? fragment.k : fragment.m;
  const unsigned columns = fragment.matrix == Matrix::A ? fragment.k : fragment.n;
  return in.constant(by_rows ? columns : rows, 4);
}

bool decode_memory(Decode& in) {
  const std::string_view matrix = in.word("matrix");
  const bool loads = matrix != "d";
  const Fragment fragment = fragment_in(in,
                                        matrix == "a"   ? Matrix::A
                                        : matrix == "b" ? Matrix::B
                                                        : Matrix::C,
                                        type_in(in.word("type")));
  std::memcpy(&in.op.imm, &fragment, sizeof fragment);
  in.op.run = loads ? run_load : run_store;
  in.op.mode = in.word("layout") == "col" ? kColumns : 0;
  in.op.flags = kTracksItself;
  in.op.p[0] = stride_in(in, fragment);
  in.op.address = in.address(loads ? 1 : 0);
  in.further(loads ? in.results(0) : in.sources(1));
  return true;
}

constexpr OpRow kRows[] = {
    {"wmma.load", decode_memory}, {"wmma.store", decode_memory}, {"wmma.mma", decode_product}};

}  // namespace

constinit const OpFamily family{"wmma", kRows};

}  // namespace ww::sim::wmma_ops
