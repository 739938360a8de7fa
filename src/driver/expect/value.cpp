// SPDX-License-Identifier: Apache-2.0
#include "driver/expect/value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "num/float_format.h"

namespace ww::driver {
namespace {

using num::DType;
using num::DTypeKind;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

void make_real(ExprValue& value) {
  if (!value.is_integer) return;
  value.reals.resize(value.ints.size());
  for (std::size_t i = 0; i < value.ints.size(); ++i)
    value.reals[i] = value.real(static_cast<std::int64_t>(i));
  value.ints = {};
  value.is_integer = value.is_unsigned = false;
}

// Two values about to be operands of one operation.
void make_alike(ExprValue& a, ExprValue& b) {
  if (!a.is_integer || !b.is_integer) {
    make_real(a);
    make_real(b);
  }
  a.is_unsigned = b.is_unsigned = a.is_unsigned || b.is_unsigned;
}

// Elements of shape `from`, repeated to shape `to`.
template <typename T>
std::vector<T> repeated(const std::vector<T>& in, const ArrayShape& from, const ArrayShape& to,
                        std::int64_t count) {
  const std::size_t rank = to.size();
  ArrayShape strides(rank, 0);
  std::int64_t stride = 1;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const std::int64_t extent = from[from.size() - i];
    if (extent != 1) strides[rank - i] = stride;
    stride *= extent;
  }
  std::vector<T> out(static_cast<std::size_t>(count));
  ArrayShape at(rank, 0);
  std::int64_t place = 0;
  for (T& element : out) {
    element = in[static_cast<std::size_t>(place)];
    for (std::size_t d = rank; d-- > 0;) {
      place += strides[d];
      if (++at[d] < to[d]) break;
      place -= strides[d] * to[d];
      at[d] = 0;
    }
  }
  return out;
}

// f(a[i], b[i]) for all i; a lone element goes with all of the other side.
template <typename T, typename F>
std::vector<T> pairwise(const std::vector<T>& a, const std::vector<T>& b, std::int64_t count, F f) {
  const std::size_t step_a = a.size() == 1 ? 0 : 1;
  const std::size_t step_b = b.size() == 1 ? 0 : 1;
  std::vector<T> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(a[i * step_a], b[i * step_b]);
  return out;
}

std::uint64_t u(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t s(std::uint64_t value) { return static_cast<std::int64_t>(value); }

template <typename T, typename Less>
T pick(ExpectOp op, T a, T b, Less less) {
  return (op == ExpectOp::Max) == less(a, b) ? b : a;
}

double pick_real(ExpectOp op, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return pick(op, a, b, [](double x, double y) { return x < y; });
}

std::int64_t pick_int(ExpectOp op, std::int64_t a, std::int64_t b, bool is_unsigned) {
  return pick(op, a, b,
              [=](std::int64_t x, std::int64_t y) { return is_unsigned ? u(x) < u(y) : x < y; });
}

std::vector<double> combined_reals(ExpectOp op, const std::vector<double>& a,
                                   const std::vector<double>& b, std::int64_t count) {
  const auto each = [&](auto f) { return pairwise(a, b, count, f); };
  if (op == ExpectOp::Add) return each([](double x, double y) { return x + y; });
  if (op == ExpectOp::Subtract) return each([](double x, double y) { return x - y; });
  if (op == ExpectOp::Multiply) return each([](double x, double y) { return x * y; });
  if (op == ExpectOp::Divide) return each([](double x, double y) { return x / y; });
  if (op == ExpectOp::Power) return each([](double x, double y) { return std::pow(x, y); });
  return each([op](double x, double y) { return pick_real(op, x, y); });
}

bool is_comparison(ExpectOp op) { return op >= ExpectOp::Less && op <= ExpectOp::NotEqual; }

template <typename T>
bool compares(ExpectOp op, T a, T b) {
  switch (op) {
    case ExpectOp::Less:
      return a < b;
    case ExpectOp::LessEqual:
      return a <= b;
    case ExpectOp::Greater:
      return a > b;
    case ExpectOp::GreaterEqual:
      return a >= b;
    case ExpectOp::Equal:
      return a == b;
    default:
      return a != b;
  }
}

// Modulo 2^64, as products are.
std::int64_t int_power(std::int64_t base, std::int64_t exponent) {
  std::uint64_t out = 1;
  std::uint64_t square = u(base);
  for (std::uint64_t left = u(exponent); left != 0; left >>= 1U, square *= square)
    if ((left & 1U) != 0) out *= square;
  return s(out);
}

std::vector<std::int64_t> compared(ExpectOp op, const ExprValue& a, const ExprValue& b,
                                   std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<std::size_t>(a.size() == 1 ? 0 : i);
    const auto y = static_cast<std::size_t>(b.size() == 1 ? 0 : i);
    const bool holds = !a.is_integer   ? compares(op, a.reals[x], b.reals[y])
                       : a.is_unsigned ? compares(op, u(a.ints[x]), u(b.ints[y]))
                                       : compares(op, a.ints[x], b.ints[y]);
    out[static_cast<std::size_t>(i)] = holds ? 1 : 0;
  }
  return out;
}

std::vector<std::int64_t> combined_ints(ExpectOp op, const ExprValue& a, const ExprValue& b,
                                        std::int64_t count) {
  using Int = std::int64_t;
  const auto each = [&](auto f) { return pairwise(a.ints, b.ints, count, f); };
  if (op == ExpectOp::Add) return each([](Int x, Int y) { return s(u(x) + u(y)); });
  if (op == ExpectOp::Subtract) return each([](Int x, Int y) { return s(u(x) - u(y)); });
  if (op == ExpectOp::Multiply) return each([](Int x, Int y) { return s(u(x) * u(y)); });
  if (op == ExpectOp::Power) return each(int_power);
  return each(
      [op, is_unsigned = a.is_unsigned](Int x, Int y) { return pick_int(op, x, y, is_unsigned); });
}

double mapped_real(ExpectOp op, double x) {
  if (op == ExpectOp::Negate) return -x;
  if (op == ExpectOp::Abs) return std::fabs(x);
  if (op == ExpectOp::Sqrt) return std::sqrt(x);
  if (op == ExpectOp::Tanh) return std::tanh(x);
  if (op == ExpectOp::Erf) return std::erf(x);
  return op == ExpectOp::Exp ? std::exp(x) : std::log(x);
}

template <typename T>
std::vector<T> transposed_matrices(const std::vector<T>& in, std::int64_t rows,
                                   std::int64_t columns) {
  std::vector<T> out(in.size());
  const auto r = static_cast<std::size_t>(rows);
  const auto c = static_cast<std::size_t>(columns);
  for (std::size_t base = 0; base < in.size(); base += r * c)
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < c; ++j) out[base + j * r + i] = in[base + i * c + j];
  return out;
}

// Bool holds 0 and 1, other integers their values, from a double toward zero.
std::int64_t truncated_to(DType type, double value) {
  if (num::kind_of(type) == DTypeKind::Bool) return value != 0 ? 1 : 0;
  return int_value_of(type, bits_from(type, std::trunc(value)));
}

Diag mismatch(const ArrayShape& a, const ArrayShape& b) {
  return diag(DiagKind::BadArgument, "the shapes {} and {} do not go together", shape_text(a),
              shape_text(b));
}

// The extents before, of and after the dimension that a reduction removes.
struct Folding {
  std::size_t outer = 1;
  std::size_t extent = 1;
  std::size_t inner = 1;
};

Folding folding_of(const ExprValue& value, std::optional<std::int64_t> dimension) {
  if (!dimension) return {.extent = static_cast<std::size_t>(value.size())};
  Folding out;
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    const auto here = static_cast<std::int64_t>(d);
    std::size_t& part = here < *dimension ? out.outer : here == *dimension ? out.extent : out.inner;
    part *= static_cast<std::size_t>(value.shape[d]);
  }
  return out;
}

template <typename T, typename F>
std::vector<T> folded(const std::vector<T>& in, Folding by, F f) {
  std::vector<T> out(by.outer * by.inner);
  for (std::size_t o = 0; o < by.outer; ++o)
    for (std::size_t k = 0; k < by.extent; ++k)
      for (std::size_t i = 0; i < by.inner; ++i) {
        T& joined = out[o * by.inner + i];
        const T& element = in[(o * by.extent + k) * by.inner + i];
        joined = k == 0 ? element : f(joined, element);
      }
  return out;
}

}  // namespace

Result<std::int64_t> value_count(const ArrayShape& shape, std::int64_t most) {
  const std::int64_t count = WW_TRY(element_count(shape));
  if (count <= most) return count;
  return fail(DiagKind::TooLarge, "a value of shape {} has {} elements; there may be at most {}",
              shape_text(shape), count, most);
}

std::optional<ArrayShape> common_shape(const ArrayShape& a, const ArrayShape& b) {
  ArrayShape out(std::max(a.size(), b.size()));
  for (std::size_t i = 1; i <= out.size(); ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - i] = x == 1 ? y : x;
  }
  return out;
}

double ExprValue::real(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  if (!is_integer) return reals[at];
  return is_unsigned ? static_cast<double>(u(ints[at])) : static_cast<double>(ints[at]);
}

double rounded(DType type, double value) {
  if (type == DType::Float64) return value;
  if (type == DType::Float32) return static_cast<double>(static_cast<float>(value));
  return value_of(type, bits_from(type, value));
}

ExprValue integer_value(std::int64_t value) { return {.is_integer = true, .ints = {value}}; }
ExprValue real_value(double value) { return {.reals = {value}}; }

Result<ExprValue> load_value(const Array& array) {
  const std::int64_t count = WW_TRY(value_count(array.shape, kMaxElements));
  ExprValue out{.shape = array.shape, .dtype = array.dtype};
  out.is_integer = num::kind_of(array.dtype) != DTypeKind::Float;
  out.is_unsigned = array.dtype == DType::Uint64;
  if (out.is_integer) {
    out.ints.resize(static_cast<std::size_t>(count));
    array.each([&, to = out.ints.data()](std::int64_t i, std::uint64_t bits) {
      to[i] = int_value_of(array.dtype, bits);
    });
  } else {
    out.reals.resize(static_cast<std::size_t>(count));
    array.each([&, to = out.reals.data()](std::int64_t i, std::uint64_t bits) {
      to[i] = value_of(array.dtype, bits);
    });
  }
  return out;
}

ExprValue mapped(ExpectOp op, ExprValue value) {
  value.dtype.reset();
  const bool stays_integer = op == ExpectOp::Negate || op == ExpectOp::Abs;
  if (!stays_integer) make_real(value);
  for (double& x : value.reals) x = mapped_real(op, x);
  for (std::int64_t& x : value.ints)
    if (op == ExpectOp::Negate || (x < 0 && !value.is_unsigned)) x = s(0 - u(x));
  return value;
}

ExprValue cast_value(ExprValue value, DType type) {
  value.dtype = type;
  if (num::kind_of(type) == DTypeKind::Float) {
    make_real(value);
    for (double& x : value.reals) x = rounded(type, x);
    return value;
  }
  for (std::int64_t& x : value.ints) x = int_value_of(type, bits_from_int(type, x));
  if (!value.is_integer) {
    for (const double x : value.reals) value.ints.push_back(truncated_to(type, x));
    value.reals = {};
  }
  value.is_integer = true;
  value.is_unsigned = type == DType::Uint64;
  return value;
}

ExprValue transposed(ExprValue value) {
  const std::size_t rank = value.shape.size();
  if (rank < 2 || value.size() == 0) {
    if (rank >= 2) std::swap(value.shape[rank - 2], value.shape[rank - 1]);
    return value;
  }
  std::int64_t& rows = value.shape[rank - 2];
  std::int64_t& columns = value.shape[rank - 1];
  value.reals = transposed_matrices(value.reals, rows, columns);
  value.ints = transposed_matrices(value.ints, rows, columns);
  std::swap(rows, columns);
  return value;
}

Result<ExprValue> broadcast_to(ExprValue value, const ArrayShape& shape) {
  if (value.shape == shape) return value;
  if (common_shape(value.shape, shape) != shape)
    return fail(DiagKind::BadArgument, "the shape {} cannot be broadcast to {}",
                shape_text(value.shape), shape_text(shape));
  const std::int64_t count = WW_TRY(value_count(shape, kMaxElements));
  if (value.is_integer)
    value.ints = repeated(value.ints, value.shape, shape, count);
  else
    value.reals = repeated(value.reals, value.shape, shape, count);
  value.shape = shape;
  return value;
}

Result<ExprValue> combined(ExpectOp op, ExprValue a, ExprValue b, std::int64_t most) {
  const auto shape = common_shape(a.shape, b.shape);
  if (!shape) return fail(mismatch(a.shape, b.shape));
  const std::int64_t count = WW_TRY(value_count(*shape, most));
  const bool has_negative = std::ranges::any_of(b.ints, [](auto n) { return n < 0; });
  if (op == ExpectOp::Divide || (op == ExpectOp::Power && has_negative && !b.is_unsigned))
    make_real(a);
  make_alike(a, b);
  if (a.size() != 1) a = WW_TRY(broadcast_to(std::move(a), *shape));
  if (b.size() != 1) b = WW_TRY(broadcast_to(std::move(b), *shape));
  if (is_comparison(op))
    return ExprValue{.shape = *shape, .is_integer = true, .ints = compared(op, a, b, count)};
  ExprValue out{.shape = *shape, .is_integer = a.is_integer, .is_unsigned = a.is_unsigned};
  if (out.is_integer)
    out.ints = combined_ints(op, a, b, count);
  else
    out.reals = combined_reals(op, a.reals, b.reals, count);
  return out;
}

Result<ExprValue> chosen(ExprValue condition, ExprValue yes, ExprValue no, std::int64_t most) {
  const auto values = common_shape(yes.shape, no.shape);
  if (!values) return fail(mismatch(yes.shape, no.shape));
  const auto shape = common_shape(condition.shape, *values);
  if (!shape) return fail(mismatch(condition.shape, *values));
  const std::int64_t count = WW_TRY(value_count(*shape, most));
  make_alike(yes, no);
  condition = WW_TRY(broadcast_to(std::move(condition), *shape));
  yes = WW_TRY(broadcast_to(std::move(yes), *shape));
  no = WW_TRY(broadcast_to(std::move(no), *shape));
  yes.dtype.reset();
  for (std::int64_t i = 0; i < count; ++i) {
    if (condition.real(i) != 0) continue;
    const auto at = static_cast<std::size_t>(i);
    if (yes.is_integer)
      yes.ints[at] = no.ints[at];
    else
      yes.reals[at] = no.reals[at];
  }
  return yes;
}

namespace {

// The part as numbers: the first element, how many, and how far apart.
struct Taken {
  std::int64_t begin = 0, count = 0, step = 1;
};
Result<Taken> taken_of(const SlicePart& part, std::int64_t extent) {
  const auto from_end = [&](std::int64_t i) { return i < 0 ? i + extent : i; };
  if (part.is_index) {
    const std::int64_t at = from_end(*part.begin);
    if (at >= 0 && at < extent) return Taken{at, 1, 1};
    return fail(DiagKind::BadArgument, "index {} in a dimension of {} elements", *part.begin,
                extent);
  }
  const auto clamped = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(from_end(i), 0, extent);
  };
  const std::int64_t begin = part.begin ? clamped(*part.begin) : 0;
  const std::int64_t end = part.end ? clamped(*part.end) : extent;
  const std::int64_t length = std::max<std::int64_t>(end - begin, 0);
  return Taken{begin, length / part.step + (length % part.step != 0 ? 1 : 0), part.step};
}

template <typename T>
std::vector<T> sliced_elements(const std::vector<T>& in, const ArrayShape& shape,
                               const std::vector<Taken>& taken) {
  std::vector<T> out;
  ArrayShape at(shape.size(), 0);
  while (true) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      place = place * static_cast<std::size_t>(shape[d]) +
              static_cast<std::size_t>(taken[d].begin + at[d] * taken[d].step);
    out.push_back(in[place]);
    std::size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == taken[d - 1].count) at[--d] = 0;
    if (d == 0) return out;
  }
}

}  // namespace

Result<ExprValue> sliced(ExprValue value, const std::vector<SlicePart>& parts) {
  if (parts.size() > value.shape.size())
    return fail(DiagKind::BadArgument, "{} indices into the shape {}, which has {} dimension{}",
                parts.size(), shape_text(value.shape), value.shape.size(),
                value.shape.size() == 1 ? "" : "s");
  std::vector<Taken> taken;
  ArrayShape shape;
  bool is_empty = false;
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    taken.push_back(d < parts.size() ? WW_TRY(taken_of(parts[d], value.shape[d]))
                                     : Taken{0, value.shape[d], 1});
    is_empty = is_empty || taken.back().count == 0;
    if (d >= parts.size() || !parts[d].is_index) shape.push_back(taken.back().count);
  }
  if (is_empty) {
    value.reals = {};
    value.ints = {};
  } else if (value.is_integer) {
    value.ints = sliced_elements(value.ints, value.shape, taken);
  } else {
    value.reals = sliced_elements(value.reals, value.shape, taken);
  }
  value.shape = std::move(shape);
  return value;
}

Result<ExprValue> reduced(ExpectOp op, const ExprValue& value,
                          std::optional<std::int64_t> dimension, bool keeps_dims) {
  const auto rank = static_cast<std::int64_t>(value.shape.size());
  if (dimension && (*dimension < -rank || *dimension >= rank))
    return fail(DiagKind::BadArgument, "the shape {} has no dimension {}", shape_text(value.shape),
                *dimension);
  if (dimension && *dimension < 0) *dimension += rank;
  const Folding folding = folding_of(value, dimension);
  if (folding.extent == 0 && op != ExpectOp::Sum)
    return fail(DiagKind::BadArgument, "the shape {} has no {}", shape_text(value.shape),
                op == ExpectOp::Mean ? "mean" : "largest or smallest element");
  ExprValue out{.is_integer = value.is_integer, .is_unsigned = value.is_unsigned};
  if (keeps_dims) out.shape.assign(value.shape.size(), 1);
  if (dimension) {
    out.shape = value.shape;
    if (keeps_dims)
      out.shape[static_cast<std::size_t>(*dimension)] = 1;
    else
      out.shape.erase(out.shape.begin() + *dimension);
  }
  const bool adds = op == ExpectOp::Sum || op == ExpectOp::Mean;
  if (value.is_integer)
    out.ints = folded(value.ints, folding, [&](std::int64_t x, std::int64_t y) {
      return adds ? s(u(x) + u(y)) : pick_int(op, x, y, value.is_unsigned);
    });
  else
    out.reals = folded(value.reals, folding,
                       [&](double x, double y) { return adds ? x + y : pick_real(op, x, y); });
  if (op == ExpectOp::Mean) {
    make_real(out);
    for (double& x : out.reals) x /= static_cast<double>(folding.extent);
  }
  return out;
}

// --- matrix products -----------------------------------------------------------------------------
//
// The matrix product of driver/expect/value.h. It runs over rows of B, which lie side by side in
// memory, so that the compiler can use vector instructions; four of them at a time, so that a row
// of C is loaded and stored once for four multiplications; and in blocks of B that stay in the
// cache. For each element of C the products are still added one by one, in the order of k.

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
