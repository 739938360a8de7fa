// SPDX-License-Identifier: Apache-2.0
// D = alpha · A·B + beta · C by its definition: sums of products that are exact, or as good as, and
// rounded once. Tensor cores add in other ways, which is what results are compared for.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/memory/access.h"
#include "eval/sync/async_copies.h"
#include "eval/tile/operands.h"
#include "eval/tile/primitives.h"
#include "ir/gemm_factors.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

/// A matrix product: `turns_…` operands are transposed first.
struct Product {
  bool turns_a = false;
  bool turns_b = false;
  double alpha = 1;
  double beta = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

// --- sums ----------------------------------------------------------------------------------------

/// A sum of doubles that carries its rounding errors along.
class ExactSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    rest_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + rest_ : sum_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// The two dimensions of a matrix: unit extents in front do not count.
std::optional<Matrix> matrix_of(const layout::Shape& extents) {
  layout::Shape dims = extents;
  for (std::size_t d = 0; d < dims.size() && dims.size() > 2;)
    if (dims[d] == 1)
      dims.erase(d);
    else
      ++d;
  if (dims.size() != 2) return std::nullopt;
  return Matrix{static_cast<std::size_t>(dims[0]), static_cast<std::size_t>(dims[1])};
}

Matrix transposed_if(bool is_transposed, Matrix m) {
  return is_transposed ? Matrix{m.columns, m.rows} : m;
}

// The elements, read by `read_element`, row by row of the matrix or of its transpose.
template <typename Read>
auto matrix_elements(const TileValues& values, Matrix shape, bool transposed,
                     const Read& read_element) {
  std::vector<decltype(read_element(values.type, Word{}))> out(values.bits.size());
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.columns; ++c)
      out[transposed ? c * shape.rows + r : r * shape.columns + c] =
          read_element(values.type, values.bits[r * shape.columns + c]);
  return out;
}

// Calls `compute` for each element of the product: its index, and the row and column to multiply.
template <typename Read, typename Compute>
void each_product(Cta& cta, const Product& p, const TileValues& a, const TileValues& b,
                  const Read& read_element, const Compute& compute) {
  // Both with `depth` as their inner dimension.
  const Matrix a_shape = transposed_if(p.turns_a, {p.rows, p.depth});
  const Matrix b_shape = transposed_if(p.turns_b, {p.depth, p.columns});
  const auto left = matrix_elements(a, a_shape, p.turns_a, read_element);
  const auto right = matrix_elements(b, b_shape, !p.turns_b, read_element);
  for (std::size_t at = 0; at < p.rows * p.columns; ++at) {
    if (at % p.columns == 0 && !spend_products(cta, p.columns * p.depth)) return;
    compute(at, left.data() + at / p.columns * p.depth, right.data() + at % p.columns * p.depth);
  }
}

void multiply_reals(Cta& cta, const Product& p, const TileValues& a, const TileValues& b,
                    const TileValues& c, TileValues& out) {
  each_product(cta, p, a, b, as_real, [&](std::size_t at, const double* x, const double* y) {
    const double addend = c.bits.empty() ? 0 : p.beta * as_real(c.type, c.bits[at]);
    ExactSum sum;
    for (std::size_t k = 0; k < p.depth; ++k) sum.add(x[k] * y[k]);
    if (p.alpha == 1) sum.add(addend);
    out.bits[at] = from_real(out.type, p.alpha == 1 ? sum.value() : p.alpha * sum.value() + addend);
  });
}

// Integers wrap, so that unsigned arithmetic gives the low bits whatever the order.
void multiply_ints(Cta& cta, const Product& p, const TileValues& a, const TileValues& b,
                   const TileValues& c, TileValues& out) {
  const auto read_int = [](num::DType type, Word bits) {
    return static_cast<Word>(as_int(type, bits));
  };
  const Word alpha = from_real(num::DType::Int64, p.alpha);
  const Word beta = from_real(num::DType::Int64, p.beta);
  each_product(cta, p, a, b, read_int, [&](std::size_t at, const Word* x, const Word* y) {
    Word sum = 0;
    for (std::size_t k = 0; k < p.depth; ++k) sum += x[k] * y[k];
    const Word addend = c.bits.empty() ? 0 : beta * read_int(c.type, c.bits[at]);
    out.bits[at] = from_int(out.type, static_cast<std::int64_t>(alpha * sum + addend));
  });
}

}  // namespace

// Fills in the sizes: D is (rows, columns), A (rows, depth), B (depth, columns) once they are
// transposed. False: they do not fit each other, and `why` says how.
bool fit_sizes(const Tile& d, const Tile& a, const Tile& b, Product& product,
               std::string_view& why) {
  const auto d_shape = matrix_of(d.extents);
  const auto a_shape = matrix_of(a.extents);
  const auto b_shape = matrix_of(b.extents);
  why = "an operand is not a matrix";
  if (!d_shape || !a_shape || !b_shape) return false;
  const Matrix left = transposed_if(product.turns_a, *a_shape);
  const Matrix right = transposed_if(product.turns_b, *b_shape);
  why = "the matrices do not fit each other";
  product.rows = d_shape->rows;
  product.columns = d_shape->columns;
  product.depth = left.columns;
  return left.rows == product.rows && right.columns == product.columns &&
         right.rows == product.depth;
}

// alpha · A·B + beta · C in the type of `out`, whose elements are there; no C where it is empty.
void multiply(Cta& cta, const Product& product, const TileValues& a, const TileValues& b,
              const TileValues& c, TileValues& out) {
  const bool is_int = !is_float(out.type) && !is_float(a.type) && !is_float(b.type);
  (is_int ? multiply_ints : multiply_reals)(cta, product, a, b, c, out);
}

void tile_gemm(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  std::array<Tile, 3> tiles;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    auto tile = make_tile(cta, std::get<ir::Region>(call.args[k]), unit);
    if (!tile) return;
    tiles[k] = *std::move(tile);
  }
  const auto& [d, a, b] = tiles;
  const num::DType type = d.info->ir->dtype;
  Product product{
      .turns_a = ir::is_true(call.args[4]),
      .turns_b = ir::is_true(call.args[5]),
      .alpha = ir::gemm_number(read_factor(cta, call.args[6], unit, "`alpha`", 1), type),
      .beta = ir::gemm_number(read_factor(cta, call.args[7], unit, "`beta`", 0), type)};
  std::string_view why;
  if (!fit_sizes(d, a, b, product, why)) return tile_unsupported(cta, call, why);
  const TileValues a_values = read_tile(cta, a, unit, false);
  const TileValues b_values = read_tile(cta, b, unit, false);
  TileValues c_values;
  if (product.beta != 0 && is_given(call.args[3]) &&
      !read_operand(cta, call.args[3], unit, d, c_values))
    return;
  TileValues out{.type = type, .bits = std::vector<Word>(d.count), .undefined = {}};
  multiply(cta, product, a_values, b_values, c_values, out);
  write_tile(cta, d, unit, out);
}

// --- asynchronous products -----------------------------------------------------------------------
//
// gemm_async into registers: C (+)= A·Bᵀ by its definition. Factors are read when the product starts,
// and C changes when its threads have waited for the group it was committed to; until then C must not
// be touched, nor the factors written. Products of one unit on one C follow each other: a later one
// adds to what an earlier one will leave.

namespace {

/// What the products of the unit that are in flight will leave.
using Pending = std::map<std::tuple<std::int32_t, std::int64_t, Thread>, Content>;

auto place_of(const Element& element) {
  return std::tuple(element.at.root, element.at.bit, element.owner);
}

// In the order in which they were started.
Pending pending_of(const Cta& cta, const UnitInstance& unit) {
  Pending out;
  for (const std::optional<AsyncCopy>& copy : cta.async.in_flight)
    if (copy && copy->kind == AsyncKind::Product && copy->agent == unit.agent)
      for (const Transfer& transfer : copy->transfers)
        out[place_of(transfer.to)] = transfer.content;
  return out;
}

bool does_add(Cta& cta, const ir::TileArg& accum, const UnitInstance& unit) {
  const auto* expr = std::get_if<ir::ExprId>(&accum);
  if (expr == nullptr) return ir::is_true(accum);
  return uniform_int(cta, *expr, unit, "`accum`") != 0;
}

// C as it is when the product comes to it.
TileValues read_sums(Cta& cta, const Tile& c, const UnitInstance& unit, const Pending& pending) {
  TileValues out{.type = c.info->ir->dtype, .bits = std::vector<Word>(c.count), .undefined = {}};
  const Access by = access_of(cta, unit.agent);
  for (std::size_t x = 0; x < c.count; ++x) {
    const Element& element = c.elements[x * c.copies];
    const auto found = pending.find(place_of(element));
    out.bits[x] =
        found != pending.end() ? found->second.value : read_defined(cta, element, c.info->bits, by);
  }
  return out;
}

// Where a product will write, only products of its unit may be in flight.
void check_target(Cta& cta, const Element& element, int bits, const UnitInstance& unit) {
  Storage& storage = storage_of(cta, element);
  const std::int64_t bit = bit_of(cta, element);
  if (!storage.is_target(bit, bits) && !storage.is_source(bit, bits)) return;
  describe(finding(cta, Check::Async, element),
           "{} of {} starts a product into {} while a {} {} it is under way",
           agent_text(unit.agent), cta_text(cta), element_text(cta, element),
           work_on(cta, element, bits), storage.is_target(bit, bits) ? "into" : "from");
}

void add_sources(Cta& cta, const Tile& tile, AsyncCopy& copy) {
  for (const Element& element : tile.elements)
    if (element.at.exists() && is_reachable(cta, element, tile.info->bits))
      copy.sources.emplace_back(element, tile.info->bits);
}

}  // namespace

void tile_gemm_async(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  std::array<Tile, 3> tiles;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    auto tile = make_tile(cta, std::get<ir::Region>(call.args[k]), unit);
    if (!tile) return;
    tiles[k] = *std::move(tile);
  }
  const auto& [c, a, b] = tiles;
  // B is (N, K) unless it is transposed.
  Product product{.turns_a = ir::is_true(call.args[ir::kAsyncTransA]),
                  .turns_b = !ir::is_true(call.args[ir::kAsyncTransB])};
  std::string_view why;
  if (!fit_sizes(c, a, b, product, why)) return tile_unsupported(cta, call, why);
  const bool adds = does_add(cta, call.args[ir::kAsyncAccum], unit);
  product.beta = adds ? 1 : 0;
  const TileValues a_values = read_tile(cta, a, unit, false);
  const TileValues b_values = read_tile(cta, b, unit, false);
  const Pending pending = pending_of(cta, unit);
  const TileValues sums = adds ? read_sums(cta, c, unit, pending) : TileValues{};
  TileValues out{.type = c.info->ir->dtype, .bits = std::vector<Word>(c.count), .undefined = {}};
  multiply(cta, product, a_values, b_values, sums, out);
  AsyncCopy copy{.kind = AsyncKind::Product, .agent = unit.agent};
  for (std::size_t i = 0; i < c.elements.size(); ++i) {
    const Element& element = c.elements[i];
    if (!element.at.exists() || !is_reachable(cta, element, c.info->bits)) continue;
    if (!pending.contains(place_of(element))) check_target(cta, element, c.info->bits, unit);
    copy.transfers.push_back({element, c.info->bits, {out.bits[i / c.copies], 0}});
  }
  add_sources(cta, a, copy);
  add_sources(cta, b, copy);
  start_copy(cta, std::move(copy), unit.threads);
}

}  // namespace ww::eval
