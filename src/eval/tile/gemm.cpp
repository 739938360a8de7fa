// SPDX-License-Identifier: Apache-2.0
// D = alpha · A·B + beta · C by its definition: sums of products that are exact, or as good as, and
// rounded once. Tensor cores add in other ways, which is what results are compared for.
#include <array>
#include <optional>

#include "eval/cta/limits.h"
#include "eval/tile/primitives.h"
#include "eval/tile/product.h"
#include "eval/value/exact_sum.h"
#include "ir/gemm_factors.h"
#include "ir/settings.h"

namespace ww::eval {
namespace {

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

}  // namespace ww::eval
