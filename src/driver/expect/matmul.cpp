// SPDX-License-Identifier: Apache-2.0
// The matrix product of driver/expect/value.h. It runs over rows of B, which lie side by side in
// memory, so that the compiler can use vector instructions; four of them at a time, so that a row
// of C is loaded and stored once for four multiplications; and in blocks of B that stay in the
// cache. For each element of C the products are still added one by one, in the order of k.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "driver/expect/value.h"

namespace ww::driver {
namespace {

constexpr std::size_t kBlockRows = 64;  // of B; with 256 columns of 8 bytes they take 128 KiB
constexpr std::size_t kBlockColumns = 256;

struct Extents {
  std::size_t m, n, k;
};

// c[0..n) += a[0] b[0..n) + ... + a[rows-1] (row of b), rows of b `stride` apart.
template <typename T>
void add_rows(T* c, const T* a, const T* b, std::size_t rows, std::size_t stride, std::size_t n) {
  std::size_t k = 0;
  for (; k + 4 <= rows; k += 4) {
    const T* b0 = b + k * stride;
    const T* b1 = b0 + stride;
    const T* b2 = b1 + stride;
    const T* b3 = b2 + stride;
    const T a0 = a[k];
    const T a1 = a[k + 1];
    const T a2 = a[k + 2];
    const T a3 = a[k + 3];
    for (std::size_t j = 0; j < n; ++j)
      c[j] = (((c[j] + a0 * b0[j]) + a1 * b1[j]) + a2 * b2[j]) + a3 * b3[j];
  }
  for (; k < rows; ++k)
    for (std::size_t j = 0; j < n; ++j) c[j] += a[k] * b[k * stride + j];
}

template <typename T>
void multiply_one(T* c, const T* a, const T* b, Extents e) {
  for (std::size_t k = 0; k < e.k; k += kBlockRows)
    for (std::size_t j = 0; j < e.n; j += kBlockColumns)
      for (std::size_t i = 0; i < e.m; ++i)
        add_rows(c + i * e.n + j, a + i * e.k + k, b + k * e.n + j, std::min(kBlockRows, e.k - k),
                 e.n, std::min(kBlockColumns, e.n - j));
}

template <typename T>
std::vector<T> multiply(const std::vector<T>& a, const std::vector<T>& b, Extents e,
                        std::size_t count) {
  std::vector<T> out(count);
  const std::size_t batches = e.m * e.n == 0 ? 0 : count / (e.m * e.n);
  for (std::size_t i = 0; i < batches; ++i)
    multiply_one(out.data() + i * e.m * e.n, a.data() + i * e.m * e.k, b.data() + i * e.k * e.n, e);
  return out;
}

std::vector<double> reals_of(ExprValue value) {
  if (!value.is_integer) return std::move(value.reals);
  std::vector<double> out;
  for (std::int64_t i = 0; i < value.size(); ++i) out.push_back(value.real(i));
  return out;
}

// Overflow of unsigned numbers is defined, and the bits are those of signed ones.
std::vector<std::uint64_t> words_of(const ExprValue& value) {
  return {value.ints.begin(), value.ints.end()};
}

ArrayShape without_matrix(const ArrayShape& shape) { return {shape.begin(), shape.end() - 2}; }

ArrayShape joined(ArrayShape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

}  // namespace

Result<ExprValue> matmul(ExprValue a, ExprValue b, std::int64_t most) {
  const auto refused = [a_shape = a.shape, b_shape = b.shape](std::string_view why) {
    return fail(DiagKind::BadArgument, "the shapes {} and {} have no matrix product: {}",
                shape_text(a_shape), shape_text(b_shape), why);
  };
  if (a.shape.empty() || b.shape.empty()) return refused("a number is not a matrix");
  const bool is_row = a.shape.size() == 1;
  const bool is_column = b.shape.size() == 1;
  if (is_row) a.shape.insert(a.shape.begin(), 1);
  if (is_column) b.shape.push_back(1);

  const std::int64_t m = a.shape.end()[-2];
  const std::int64_t k = a.shape.end()[-1];
  const std::int64_t n = b.shape.end()[-1];
  if (b.shape.end()[-2] != k)
    return refused(fmt::format("the inner extents are {} and {}", k, b.shape.end()[-2]));
  const auto batch = common_shape(without_matrix(a.shape), without_matrix(b.shape));
  if (!batch) return refused("their leading dimensions differ");

  ExprValue out{.shape = joined(*batch, m, n), .is_integer = a.is_integer && b.is_integer};
  out.is_unsigned = out.is_integer && (a.is_unsigned || b.is_unsigned);
  const auto count = static_cast<std::size_t>(WW_TRY(value_count(out.shape, most)));
  a = WW_TRY(broadcast_to(std::move(a), joined(*batch, m, k)));
  b = WW_TRY(broadcast_to(std::move(b), joined(*batch, k, n)));
  const Extents extents{static_cast<std::size_t>(m), static_cast<std::size_t>(n),
                        static_cast<std::size_t>(k)};
  if (out.is_integer) {
    const auto words = multiply(words_of(a), words_of(b), extents, count);
    out.ints.assign(words.begin(), words.end());
  } else {
    out.reals = multiply(reals_of(std::move(a)), reals_of(std::move(b)), extents, count);
  }
  if (is_column) out.shape.pop_back();
  if (is_row) out.shape.erase(out.shape.end() - (is_column ? 1 : 2));
  return out;
}

}  // namespace ww::driver
