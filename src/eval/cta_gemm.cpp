// SPDX-License-Identifier: Apache-2.0
// D = alpha · A·B + beta · C by its definition: sums of products that are exact, or as good as, and
// rounded once. Tensor cores add in other ways, which is what results are compared for.
#include <optional>

#include "eval/cta.h"
#include "eval/exact_sum.h"
#include "ir/gemm_factors.h"

namespace ww::eval {
namespace {

using ir::Region;

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

// The elements, read by `element`, row by row of the matrix or of its transpose.
template <typename T, typename Read>
std::vector<T> elements(const std::vector<Word>& bits, Matrix shape, bool transposed,
                        const Read& element) {
  std::vector<T> out(bits.size());
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.columns; ++c)
      out[transposed ? c * shape.rows + r : r * shape.columns + c] =
          element(bits[r * shape.columns + c]);
  return out;
}

}  // namespace

void Cta::tile_gemm(const ir::TileCall& call, const UnitInstance& unit) {
  Tile d;
  Tile a;
  Tile b;
  if (!make_tile(std::get<Region>(call.args[0]), unit, d) ||
      !make_tile(std::get<Region>(call.args[1]), unit, a) ||
      !make_tile(std::get<Region>(call.args[2]), unit, b))
    return;
  const num::DType type = d.info->ir->dtype;
  Product product{.turns_a = ir::is_true(call.args[4]),
                  .turns_b = ir::is_true(call.args[5]),
                  .alpha = ir::gemm_number(factor(call.args[6], unit, "`alpha`", 1), type),
                  .beta = ir::gemm_number(factor(call.args[7], unit, "`beta`", 0), type)};
  const auto d_shape = matrix_of(d.extents);
  const auto a_shape = matrix_of(a.extents);
  const auto b_shape = matrix_of(b.extents);
  if (!d_shape || !a_shape || !b_shape) return tile_unsupported(call, "an operand is no matrix");
  const Matrix left = transposed_if(product.turns_a, *a_shape);
  const Matrix right = transposed_if(product.turns_b, *b_shape);
  if (left.rows != d_shape->rows || right.columns != d_shape->columns || left.columns != right.rows)
    return tile_unsupported(call, "the matrices do not fit each other");
  product.rows = d_shape->rows;
  product.columns = d_shape->columns;
  product.depth = left.columns;
  const Values a_values = read_tile(a, unit, false);
  const Values b_values = read_tile(b, unit, false);
  Values c_values;
  if (product.beta != 0 && is_given(call.args[3]) && !read_operand(call.args[3], unit, d, c_values))
    return;
  const bool is_int = !is_float(type) && !is_float(a_values.type) && !is_float(b_values.type);
  Values out{.type = type, .bits = std::vector<Word>(d.count), .undefined = {}};
  if (is_int)
    multiply_ints(product, a_values, b_values, c_values, out);
  else
    multiply_reals(product, a_values, b_values, c_values, out);
  write_tile(d, unit, out);
}

void Cta::multiply_reals(const Product& p, const Values& a, const Values& b, const Values& c,
                         Values& out) {
  const auto read_as = [](num::DType type) {
    return [type](Word bits) { return as_real(type, bits); };
  };
  // Both with `depth` as their inner dimension.
  const Matrix a_shape = transposed_if(p.turns_a, {p.rows, p.depth});
  const Matrix b_shape = transposed_if(p.turns_b, {p.depth, p.columns});
  const std::vector<double> left = elements<double>(a.bits, a_shape, p.turns_a, read_as(a.type));
  const std::vector<double> right = elements<double>(b.bits, b_shape, !p.turns_b, read_as(b.type));
  for (std::size_t at = 0; at < out.bits.size(); ++at) {
    if (at % p.columns == 0 && !spend_products(p.columns * p.depth)) return;
    const double* x = left.data() + at / p.columns * p.depth;
    const double* y = right.data() + at % p.columns * p.depth;
    const double addend = c.bits.empty() ? 0 : p.beta * as_real(c.type, c.bits[at]);
    ExactSum sum;
    for (std::size_t k = 0; k < p.depth; ++k) sum.add(x[k] * y[k]);
    if (p.alpha == 1) sum.add(addend);
    out.bits[at] = from_real(out.type, p.alpha == 1 ? sum.value() : p.alpha * sum.value() + addend);
  }
}

// Integers wrap, so that unsigned arithmetic gives the low bits whatever the order.
void Cta::multiply_ints(const Product& p, const Values& a, const Values& b, const Values& c,
                        Values& out) {
  const auto read_as = [](num::DType type) {
    return [type](Word bits) { return static_cast<Word>(as_int(type, bits)); };
  };
  const Matrix a_shape = transposed_if(p.turns_a, {p.rows, p.depth});
  const Matrix b_shape = transposed_if(p.turns_b, {p.depth, p.columns});
  const std::vector<Word> left = elements<Word>(a.bits, a_shape, p.turns_a, read_as(a.type));
  const std::vector<Word> right = elements<Word>(b.bits, b_shape, !p.turns_b, read_as(b.type));
  const Word alpha = from_real(num::DType::Int64, p.alpha);
  const Word beta = from_real(num::DType::Int64, p.beta);
  for (std::size_t at = 0; at < out.bits.size(); ++at) {
    if (at % p.columns == 0 && !spend_products(p.columns * p.depth)) return;
    const Word* x = left.data() + at / p.columns * p.depth;
    const Word* y = right.data() + at % p.columns * p.depth;
    Word sum = 0;
    for (std::size_t k = 0; k < p.depth; ++k) sum += x[k] * y[k];
    const Word addend = c.bits.empty() ? 0 : beta * static_cast<Word>(as_int(c.type, c.bits[at]));
    out.bits[at] = from_int(out.type, static_cast<std::int64_t>(alpha * sum + addend));
  }
}

}  // namespace ww::eval
