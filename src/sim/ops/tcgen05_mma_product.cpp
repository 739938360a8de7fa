// SPDX-License-Identifier: Apache-2.0
// The product of a tcgen05.mma: its operands are read when it is done, D is added to 16 rows and 8
// columns at a time, as num/matrix_tile.h and num/warpgroup_product.h have them. Sums of f32 are added
// where D lies; other results, and D of which some lanes stay as they are, go through copies.
//
// D that is added is divided by a power of two first where the instruction says so; what does not fit
// into a subnormal number then is cut off. The documents do not say how.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "num/matrix_tile.h"
#include "num/warpgroup_product.h"
#include "sim/ops/tcgen05_mma_ops.h"

namespace ww::sim {
namespace {

constexpr unsigned kWindows = 4, kWindowLanes = 32;

/// What is read, once for all parts of D.
struct ProductInputs {
  std::array<MatrixWords, 2> a;  // rows of each CTA in shared memory
  MatrixWords b;
};

ElementFormat format_of(const TensorProduct& product, num::DType type) {
  const unsigned container = isa::container_bits(product.form.is.kind);
  return {container == 8 ? static_cast<unsigned>(num::bits_of(type)) : container, 128 / container};
}

void report_undefined(Warp& warp, unsigned lane, std::string_view what, TensorAddress at) {
  if (!warp.is_new(Check::Uninit)) return;
  warp.report_at(Check::Uninit, lane_bit(lane), 0,
                 fmt::format("{} has bytes in lane {}, column {} of tensor memory that nothing has "
                             "written",
                             what, at.lane, at.column));
}

// Columns of B of one CTA. Where some count as zero, the chunks are of the others.
MatrixWords columns_of(const Region& shared, const TensorProduct& product, std::size_t cta) {
  const std::vector<unsigned>& from = product.b_columns;
  const unsigned k = product.rule.k;
  const auto zeros = static_cast<unsigned>(std::ranges::count(from, ZeroColumns::kZero));
  const unsigned used = product.columns_each() - zeros;
  MatrixWords read = unpack_matrix(shared, product.b_chunks[cta], used, k,
                                   format_of(product, product.is.b), product.is.b_is_mn_major);
  if (zeros == 0) return read;
  MatrixWords all(from.size() * k);
  auto next = read.begin();
  for (std::size_t column = 0; column < from.size(); ++column) {
    if (from[column] == ZeroColumns::kZero) continue;
    std::copy_n(next, k, all.begin() + static_cast<std::ptrdiff_t>(column * k));
    next += k;
  }
  return all;
}

ProductInputs read_inputs(Warp& warp, const TensorProduct& product) {
  ProductInputs in;
  const isa::ProductDescriptor& is = product.is;
  for (std::size_t i = 0; i < product.ctas.size(); ++i) {
    const Region& shared = product.ctas[i]->shared;
    if (!product.form.a_in_tensor) {
      in.a[i] = unpack_matrix(shared, product.a_chunks[i], product.rows_each(),
                              product.rule.a_length(), format_of(product, is.a), is.a_is_mn_major);
      if (is.negates_a) flip_signs(in.a[i], is.a);
      unmark_chunks(warp, shared, product.a_chunks[i]);
    }
    MatrixWords b = columns_of(shared, product, i);
    if (i == 0) {
      in.b = std::move(b);
    } else {
      in.b.insert(in.b.end(), b.begin(), b.end());
    }
    unmark_chunks(warp, shared, product.b_chunks[i]);
  }
  if (is.negates_b) flip_signs(in.b, is.b);
  return in;
}

// Notes that the tensor core has read a cell. Undefined bytes are noted for the line of the product, or
// reported: `uninit=early` wants that, and so does what decides where elements lie.
void fetched(Warp& warp, unsigned lane, Cta& cta, TensorAddress at, unsigned bytes,
             std::string_view what, OriginId* line = nullptr) {
  if (FenceTracker* fences = warp.unit->fences.get(); fences != nullptr)
    fences->used_cell(warp, cta.rank, at.lane * kTensorColumns + at.column, TensorUse::Fetch);
  if (!warp.undefined.are_kept() || (tensor_of(cta).undefined_at(at.lane, at.column) & bytes) == 0)
    return;
  if (line == nullptr || warp.undefined.are_early) {
    report_undefined(warp, lane, what, at);
  } else if (*line == 0) {
    *line = origin_in_tensor(warp, cta, at);
  }
}

// The rows of A of a part, from its lanes of tensor memory.
MatrixWords tensor_rows(Warp& warp, unsigned lane, const TensorProduct& product, const DPart& part,
                        UndefinedLines& undefined) {
  Cta& cta = *product.ctas[part.cta];
  TensorMemory& tensor = tensor_of(cta);
  const unsigned container = isa::container_bits(product.form.is.kind);
  MatrixWords words;
  words.reserve(std::size_t{part.rows} * product.rule.a_length());
  for (unsigned i = 0; i < part.rows; ++i) {
    for (unsigned c = 0; c < kRowColumns; ++c) {
      const TensorAddress at{part.lane_of(i), product.a.column + c};
      fetched(warp, lane, cta, at, 0x0F, "A", &undefined.rows[i]);
      const std::uint32_t cell = tensor.at(at.lane, at.column);
      for (unsigned bit = 0; bit < 32; bit += container)
        words.push_back(container == 32 ? cell : (cell >> bit) & ((1U << container) - 1));
    }
  }
  if (product.is.negates_a) flip_signs(words, product.is.a);
  return words;
}

// --- metadata ------------------------------------------------------------------------------------

constexpr unsigned kQuadRows = 8;  // rows r and r + 8 share lanes of metadata

/// The cell with the metadata of a group of a part's row, and its bit.
std::pair<TensorAddress, unsigned> metadata_place(const TensorProduct& product, const DPart& part,
                                                  unsigned row, unsigned group) {
  const unsigned first = product.metadata.column;
  if (product.rule.sparse_rows().groups() == kMaxSparseGroups)
    return {{part.lane_of(row), first + group / kGroupsOfWord},
            group % kGroupsOfWord * kMetadataBits};
  constexpr unsigned kHalf = kGroupsOfWord / 2;
  const unsigned among = row % kBlockRows;
  const unsigned owner = row - among + among % kQuadRows + group / kHalf * kQuadRows;
  return {{part.lane_of(owner), first + product.is.selector},
          (among / kQuadRows * kHalf + group % kHalf) * kMetadataBits};
}

// The metadata of each row of a part. What the manual does not allow is reported.
std::vector<std::uint64_t> read_metadata(Warp& warp, unsigned lane, const TensorProduct& product,
                                         const DPart& part) {
  Cta& cta = *product.ctas[part.cta];
  const SparseRows rows = product.rule.sparse_rows();
  std::vector<std::uint64_t> all(part.rows);
  for (unsigned row = 0; row < part.rows; ++row) {
    for (unsigned group = 0; group < rows.groups(); ++group) {
      const auto [at, bit] = metadata_place(product, part, row, group);
      if (bit % 16 == 0) fetched(warp, lane, cta, at, 3U << bit / 16 * 2, "the metadata");
      const std::uint64_t code = (tensor_of(cta).at(at.lane, at.column) >> bit) & 0xFU;
      all[row] |= code << (group * kMetadataBits);
    }
    if (!warp.checks(Check::Align)) continue;
    const auto bad = find_bad_group(rows, all[row], PlaceOrder::AscendingOrTwoOne);
    if (bad && warp.is_new(Check::Align))
      warp.report(Check::Align, lane_bit(lane),
                  fmt::format("row {} of A has {}", part.row + row, bad->text));
  }
  return all;
}

// --- scales --------------------------------------------------------------------------------------

/// The scales of all lines, `count` to each, as each quarter of the lanes has them.
struct Scales {
  std::array<std::vector<std::uint8_t>, kWindows> of;
};

// `undefined`: of lines `from` on, which the part of D has.
Scales read_scales(Warp& warp, unsigned lane, const TensorProduct& product, Cta& cta, bool is_a,
                   unsigned from, std::vector<OriginId>& undefined) {
  const std::string_view what = is_a ? "the scales of A" : "the scales of B";
  const TensorAddress base = is_a ? product.scale_a : product.scale_b;
  const unsigned first = is_a ? product.is.scale_a_id : product.is.scale_b_id;
  const unsigned count = product.form.is.scale_count;
  const unsigned lines = is_a ? product.rows_each() : product.scale_b_lines();
  const bool splits = !is_a && product.splits_scales();
  Scales scales;
  for (unsigned window = 0; window < kWindows; ++window) {
    for (unsigned line = 0; line < lines; ++line) {
      const TensorAddress at{line % kWindowLanes + window * kWindowLanes,
                             base.column + line / kWindowLanes};
      OriginId other = 0;  // of a line of another part
      const bool is_own = line >= from && line - from < undefined.size();
      fetched(warp, lane, cta, at, ((1U << count) - 1) << first, what,
              is_own ? &undefined[line - from] : &other);
      const std::uint32_t cell = tensor_of(cta).at(at.lane, at.column);
      for (unsigned s = 0; s < count; ++s)
        scales.of[window].push_back(static_cast<std::uint8_t>(cell >> (8 * (first + s))));
    }
    const unsigned first_of = splits ? window / 2 * 2 : 0;
    if (scales.of[window] == scales.of[first_of]) continue;
    report_tensor(
        warp, lane_bit(lane),
        fmt::format("{} differ between lanes {} to {} and lanes {} to {}; {} of tensor memory hold "
                    "the same ones",
                    what, first_of * kWindowLanes, (first_of + 1) * kWindowLanes - 1,
                    window * kWindowLanes, (window + 1) * kWindowLanes - 1,
                    splits ? "both quarters of a half" : "all quarters"));
  }
  return scales;
}

// --- sums ----------------------------------------------------------------------------------------

// A float divided by 2^power, cut off below its least number.
std::uint32_t divided(std::uint32_t bits, unsigned power, unsigned mantissa, unsigned exponents) {
  const std::uint32_t most = (1U << exponents) - 1;
  const std::uint32_t sign = bits & (1U << (mantissa + exponents));
  const std::uint32_t fraction = bits & ((1U << mantissa) - 1);
  const std::uint32_t exponent = (bits >> mantissa) & most;
  if (exponent == most) return bits;
  if (exponent > power) return bits - (power << mantissa);
  const std::uint32_t whole = exponent == 0 ? fraction : fraction | (1U << mantissa);
  const unsigned down = power - (exponent == 0 ? 0 : exponent - 1);
  return sign | (down > mantissa ? 0 : whole >> down);
}

/// Everything that is needed for the blocks of one part.
struct PartSums {
  const RunContext& context;
  const TensorProduct& product;
  const DPart& part;
  UndefinedLines undefined;
  const std::uint32_t* a;
  const std::uint32_t* b;
  std::optional<num::WarpgroupProduct> whole;
  const Scales* scale_a = nullptr;
  const Scales* scale_b = nullptr;
  std::vector<std::uint64_t> metadata;  // of sparse rows
};

void add_block(const PartSums& sums, unsigned i, unsigned j, std::uint32_t* block) {
  if (sums.whole) return sums.whole->add_to(static_cast<int>(i), static_cast<int>(j), block);
  const ProductRule& rule = sums.product.rule;
  const unsigned row = i * kBlockRows, column = j * kBlockColumns;
  BlockFactors in{.a = sums.a + std::size_t{row} * rule.a_length(),
                  .b = sums.b + std::size_t{column} * rule.k};
  if (rule.is_sparse) in.metadata = &sums.metadata[row];
  if (sums.scale_a != nullptr) {
    const unsigned window = sums.part.lane_of(row) / kWindowLanes;
    const unsigned first = sums.product.splits_scales() ? 0 : sums.part.column;
    in.scales_a = &sums.scale_a->of[window][std::size_t{row} * rule.scale_count];
    in.scales_b = &sums.scale_b->of[window][std::size_t{first + column} * rule.scale_count];
  }
  multiply_block(sums.context, rule, kBlockRows, in, block);
}

// --- D -------------------------------------------------------------------------------------------

/// D of one part: where its blocks lie in tensor memory, and copies of them.
class DCells {
 public:
  DCells(Warp& warp, unsigned lane, const TensorProduct& product, const DPart& part)
      : warp_(warp),
        lane_(lane),
        product_(product),
        part_(part),
        cta_(*product.ctas[part.cta]),
        tensor_(tensor_of(cta_)),
        is_half_(product.is.d == num::DType::Float16) {}

  /// Whether sums may be added to the cells themselves: they hold addends as they are, and all of
  /// them are written.
  [[nodiscard]] bool can_add_in_place() const {
    return !is_half_ && product_.form.scale_d == 0 &&
           std::ranges::all_of(product_.disabled, [](std::uint32_t lanes) { return lanes == 0; });
  }
  /// A block, which is zeros if nothing is added. Its rows are in lanes next to each other.
  [[nodiscard]] num::BlockPlace place(unsigned i, unsigned j) {
    constexpr unsigned kHalfRows = kBlockRows / 2, kHalfColumns = kBlockColumns / 2;
    std::uint32_t* const top = &tensor_.at(part_.lane_of(i * kBlockRows), column_of(j));
    std::uint32_t* const bottom = top + std::size_t{kHalfRows} * kTensorColumns;
    for (unsigned row = 0; !product_.adds && row < kBlockRows; ++row)
      std::fill_n(top + std::size_t{row} * kTensorColumns, kBlockColumns, 0U);
    return {{top, top + kHalfColumns, bottom, bottom + kHalfColumns}, kTensorColumns};
  }
  /// A copy of a block; zeros if nothing is added.
  void take(unsigned i, unsigned j, std::uint32_t* block) {
    if (!product_.adds) {
      std::fill_n(block, kBlockRows * kBlockColumns, 0U);
      return;
    }
    for (unsigned row = 0; row < kBlockRows; ++row) {
      std::uint32_t* to = block + std::size_t{row} * kBlockColumns;
      std::memcpy(to, &tensor_.at(part_.lane_of(i * kBlockRows + row), column_of(j)),
                  kBlockColumns * sizeof *to);
      if (is_half_ || product_.form.scale_d != 0) {
        for (unsigned c = 0; c < kBlockColumns; ++c) to[c] = addend(to[c]);
      }
    }
  }
  void put(unsigned i, unsigned j, const std::uint32_t* block) {
    for (unsigned row = 0; row < kBlockRows; ++row) {
      const unsigned lane = part_.lane_of(i * kBlockRows + row);
      if (is_disabled(lane)) continue;
      std::memcpy(&tensor_.at(lane, column_of(j)), block + std::size_t{row} * kBlockColumns,
                  kBlockColumns * sizeof *block);
    }
  }
  /// Before the first block, for `uninit=early`: reports cells that are added to and that nothing has
  /// written.
  void begin() {
    if (!product_.adds || !warp_.undefined.are_early) return;
    for (unsigned row = 0; row < part_.rows; ++row) check_defined(part_.lane_of(row));
  }
  /// After the last block: the cells have been written.
  void end(const UndefinedLines& undefined) {
    FenceTracker* fences = warp_.unit->fences.get();
    const bool is_async = warp_.checks(Check::Async);
    for (unsigned row = 0; row < part_.rows; ++row) {
      const unsigned lane = part_.lane_of(row);
      if (is_async) end_pending(lane);
      if (fences != nullptr)
        fences->used_cell(warp_, cta_.rank, lane * kTensorColumns + product_.d.column,
                          TensorUse::Copy, part_.columns);
      if (!is_disabled(lane)) mark(row, lane, undefined);
    }
  }

 private:
  [[nodiscard]] std::uint32_t addend(std::uint32_t value) const {
    const unsigned scale = product_.form.scale_d;
    if (is_half_) value &= 0xFFFFU;
    if (scale == 0) return value;
    return is_half_ ? divided(value, scale, 10, 5) : divided(value, scale, 23, 8);
  }
  [[nodiscard]] unsigned column_of(unsigned j) const {
    return product_.d.column + j * kBlockColumns;
  }
  // Bytes of a cell that an element takes.
  [[nodiscard]] unsigned used() const { return is_half_ ? 0x03 : 0x0F; }
  // Whether a row of D has undefined elements that are added to.
  [[nodiscard]] bool adds_undefined(unsigned lane) const {
    const std::uint8_t* const undefined = &tensor_.undefined_at(lane, product_.d.column);
    unsigned any = 0;
    for (unsigned c = 0; product_.adds && c < part_.columns; ++c) any |= undefined[c];
    return (any & used()) != 0;
  }
  void check_defined(unsigned lane) {
    if (!adds_undefined(lane)) return;
    for (unsigned c = 0; c < part_.columns; ++c) {
      const TensorAddress at{lane, product_.d.column + c};
      if ((tensor_.undefined_at(at.lane, at.column) & used()) != 0)
        report_undefined(warp_, lane_, "D, which is added to,", at);
    }
  }
  // The elements of a row: undefined ones have been added to, or have an undefined factor.
  void mark(unsigned row, unsigned lane, const UndefinedLines& undefined) {
    const unsigned unused = ~used() & 0x0FU;
    std::uint8_t* const cells = &tensor_.undefined_at(lane, product_.d.column);
    if (!warp_.undefined.are_kept() || warp_.undefined.are_early ||
        (!adds_undefined(lane) && undefined.are_none())) {
      std::memset(cells, static_cast<int>(unused), part_.columns);
      return;
    }
    for (unsigned c = 0; c < part_.columns; ++c) {
      const TensorAddress at{lane, product_.d.column + c};
      OriginId id = undefined.at(row, c);
      if (id == 0 && product_.adds && (cells[c] & used()) != 0)
        id = origin_in_tensor(warp_, cta_, at);
      cells[c] = static_cast<std::uint8_t>(unused | (id != 0 ? used() : 0U));
      if (id != 0) set_origin_in_tensor(warp_, cta_, at, id);
    }
  }
  void end_pending(unsigned lane) {
    TensorMemory::Pending* const pending = &tensor_.pending_at(lane, product_.d.column);
    for (unsigned c = 0; c < part_.columns; ++c)  // zero if the columns were freed before
      pending[c].count = static_cast<std::uint16_t>(pending[c].count - (pending[c].count != 0));
  }
  [[nodiscard]] bool is_disabled(unsigned lane) const {
    return ((product_.disabled[part_.cta * 4 + lane / 32] >> (lane % 32)) & 1U) != 0;
  }

  Warp& warp_;
  unsigned lane_;
  const TensorProduct& product_;
  const DPart& part_;
  Cta& cta_;
  TensorMemory& tensor_;
  bool is_half_;
};

void multiply_part(Warp& warp, unsigned lane, const PartSums& sums) {
  DCells d(warp, lane, sums.product, sums.part);
  const bool in_place = sums.whole && d.can_add_in_place();
  d.begin();
  for (unsigned i = 0; i < sums.part.rows / kBlockRows; ++i) {
    for (unsigned j = 0; j < sums.part.columns / kBlockColumns; ++j) {
      if (in_place) {
        sums.whole->add_to(static_cast<int>(i), static_cast<int>(j), d.place(i, j));
        continue;
      }
      alignas(64) std::uint32_t block[kBlockRows * kBlockColumns];
      d.take(i, j, block);
      add_block(sums, i, j, block);
      d.put(i, j, block);
    }
  }
  d.end(sums.undefined);
}

}  // namespace

void finish_tensor_product(Warp& warp, unsigned lane, const TensorProduct& product) {
  const RunContext& context = warp.unit->context;
  const ProductInputs in = read_inputs(warp, product);
  const unsigned k = product.rule.k;
  warp.unit->counters.add_products(std::uint64_t{product.is.m} * product.is.n * k);
  for (const DPart& part : product.parts) {
    Cta& cta = *product.ctas[part.cta];
    UndefinedLines undefined = undefined_lines(product, part);
    const MatrixWords own = product.form.a_in_tensor
                                ? tensor_rows(warp, lane, product, part, undefined)
                                : MatrixWords{};
    PartSums sums{.context = context,
                  .product = product,
                  .part = part,
                  .undefined = std::move(undefined),
                  .a = product.form.a_in_tensor ? own.data() : in.a[part.cta].data(),
                  .b = &in.b[std::size_t{part.column} * k],
                  .whole = {},
                  .metadata = {}};
    if (product.form.is.is_sparse) sums.metadata = read_metadata(warp, lane, product, part);
    Scales scale_a, scale_b;
    if (product.rule.scale_count != 0) {
      const unsigned column = product.splits_scales() ? 0 : part.column;
      scale_a = read_scales(warp, lane, product, cta, true, 0, sums.undefined.rows);
      scale_b = read_scales(warp, lane, product, cta, false, column, sums.undefined.columns);
      sums.scale_a = &scale_a;
      sums.scale_b = &scale_b;
    }
    sums.whole = whole_product(context, product.rule, part.rows, part.columns,
                               num::ColumnOrder::Straight, sums.a, sums.b);
    multiply_part(warp, lane, sums);
  }
}

}  // namespace ww::sim
