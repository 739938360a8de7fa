// SPDX-License-Identifier: Apache-2.0
#include "driver/args/typed_text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "driver/args/text.h"
#include "num/float_format.h"

namespace ww::driver {
namespace {

using num::DType;
using num::DTypeKind;

Diag beyond_range(DType type, std::string_view text, const std::string& min,
                  const std::string& max) {
  return diag(DiagKind::BadArgument, "`{}` is out of range for `{}`, which goes from {} to {}",
              text, num::name_of(type), min, max);
}

Result<std::uint64_t> int_bits_of(DType type, std::string_view text) {
  const Wide value = WW_TRY(parse_wide(text));
  const IntRange range = int_range(type);
  if (value < range.min || value > range.max)
    return fail(
        beyond_range(type, text, fmt::format("{}", range.min), fmt::format("{}", range.max)));
  return bits_from_int(type, static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
}

Result<std::uint64_t> bool_bits_of(std::string_view text) {
  if (text == "true" || text == "True" || text == "1") return 1U;
  if (text == "false" || text == "False" || text == "0") return 0U;
  return fail(DiagKind::BadArgument, "`{}` is not a bool; expected true, false, 1 or 0", text);
}

Diag lacks(DType type, std::string_view what) {
  return diag(DiagKind::BadArgument, "`{}` has no {}", num::name_of(type), what);
}

Result<std::uint64_t> float_bits_of(DType type, std::string_view text) {
  const double value = WW_TRY(parse_real(text));
  const num::FloatFormat& format = num::format_of(type);
  if (std::isnan(value) && format.specials == num::Specials::None) return fail(lacks(type, "NaN"));
  if (std::isinf(value) && format.specials != num::Specials::Ieee)
    return fail(lacks(type, "infinity"));
  if (!format.has_sign && value < 0) return fail(lacks(type, "negative numbers"));
  if (!format.has_sign && value == 0) return fail(lacks(type, "zero"));
  const double most = num::largest(type);
  if (std::isfinite(value) && std::fabs(value) > most) {
    const std::string shown = element_text(type, bits_from(type, most));
    return fail(beyond_range(type, text, format.has_sign ? "-" + shown : "0", shown));
  }
  return bits_from(type, value);
}

Result<std::uint64_t> bits_of_text(DType type, std::string_view text) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return bool_bits_of(text);
    case DTypeKind::Int:
    case DTypeKind::Uint:
      return int_bits_of(type, text);
    case DTypeKind::Float:
      break;
  }
  return float_bits_of(type, text);
}

struct Signed {
  bool is_negative;
  std::string_view rest;
};
Signed without_sign(std::string_view text) {
  const bool has_sign = !text.empty() && (text.front() == '-' || text.front() == '+');
  return {has_sign && text.front() == '-', text.substr(has_sign ? 1 : 0)};
}

Result<std::int64_t> parse_extent(Piece piece) {
  const std::int64_t extent = WW_TRY(parse_int(piece));
  if (extent >= 1) return extent;
  return fail(diag(DiagKind::BadExtent, "the extent is {}; it must be at least 1", extent)
                  .with_span(piece.span()));
}

}  // namespace

Result<Wide> parse_wide(std::string_view text) {
  const auto refused = [&](DiagKind kind, std::string_view why) {
    return fail(diag(kind, "`{}` {}", text, why).with_span(Span::at(0, text.size())));
  };
  Signed number = without_sign(text);
  const bool is_hex = number.rest.starts_with("0x") || number.rest.starts_with("0X");
  if (is_hex) number.rest.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const char* const end = number.rest.data() + number.rest.size();
  const auto [stop, error] = std::from_chars(number.rest.data(), end, magnitude, is_hex ? 16 : 10);
  if (error == std::errc::invalid_argument || stop != end)
    return refused(DiagKind::Syntax, "is not an integer");
  const bool is_too_low = number.is_negative && magnitude > std::uint64_t{1} << 63U;
  if (error != std::errc() || is_too_low) return refused(DiagKind::Overflow, "is beyond 64 bits");
  const Wide value{magnitude};
  return number.is_negative ? -value : value;
}

Result<double> parse_real(std::string_view text) {
  const auto refused = [&](DiagKind kind, std::string_view why) {
    return fail(diag(kind, "`{}` {}", text, why).with_span(Span::at(0, text.size())));
  };
  const Signed number = without_sign(text);
  double magnitude = 0;
  const char* const end = number.rest.data() + number.rest.size();
  const auto [stop, error] = std::from_chars(number.rest.data(), end, magnitude);
  // from_chars takes a sign of its own, and words such as nan(ind).
  const bool is_plain = !number.rest.starts_with('-') && !number.rest.ends_with(')');
  if (error == std::errc::invalid_argument || stop != end || !is_plain)
    return refused(DiagKind::Syntax, "is not a number");
  if (error != std::errc())
    return refused(DiagKind::Overflow, "is beyond what a 64-bit float holds");
  return number.is_negative ? -magnitude : magnitude;
}

Result<ShapedType> parse_shaped_type(std::string_view text) {
  const Piece whole = trimmed({text, 0});
  const std::size_t open = whole.text.find('[');
  if (open == std::string_view::npos || !whole.text.ends_with(']'))
    return fail(diag(DiagKind::Syntax,
                     "expected a type with a shape, such as `float16[8,16]`, "
                     "found `{}`",
                     whole.text)
                    .with_span(whole.span()));
  const Piece name = trimmed({whole.text.substr(0, open), whole.offset});
  const Piece extents{whole.text.substr(open + 1, whole.text.size() - open - 2),
                      whole.offset + open + 1};
  ShapedType out{WW_TRY(located(num::parse_dtype(name.text), name)), {}};
  for (const Piece& piece : split_top(extents, ','))
    out.shape.push_back(WW_TRY(parse_extent(piece)));
  if (out.shape.empty())
    return fail(diag(DiagKind::Syntax, "expected extents between the brackets, found nothing")
                    .with_span(extents.span()));
  const auto bytes = byte_size(out.dtype, out.shape);
  if (!bytes) return fail(located(bytes.error(), whole));
  return out;
}

Result<Array> parse_scalar(DType type, std::string_view text) {
  const Piece piece = trimmed({text, 0});
  const std::uint64_t bits = WW_TRY(located(bits_of_text(type, piece.text), piece));
  Array out = WW_TRY(Array::zeros(type, {}));
  out.set_bits(0, bits);
  return out;
}

Result<Array> parse_scalar(std::string_view type, std::string_view text) {
  return parse_scalar(WW_TRY(num::parse_dtype(type)), text);
}

}  // namespace ww::driver
