// SPDX-License-Identifier: Apache-2.0
#include "driver/args/array_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/join.h"
#include "base/suggest.h"
#include "driver/args/text.h"
#include "num/float_format.h"

namespace ww::driver {

namespace {

using num::DType;

bool has_only_powers(DType type) {
  return is_float(type) && num::format_of(type).mantissa_bits == 0;
}

// The largest power of two N such that the type holds 0, 1, ..., N - 1 exactly.
std::int64_t counting_limit(DType type) {
  std::int64_t limit = std::int64_t{1} << (num::format_of(type).mantissa_bits + 1);
  while (static_cast<double>(limit - 1) > num::largest(type)) limit /= 2;
  return limit;
}

// All integers between these are held exactly.
IntRange exact_integers(DType type) {
  if (!is_float(type)) return int_range(type);
  if (has_only_powers(type)) return {1, 2};
  const Wide most = std::min<Wide>(Wide{1} << (num::format_of(type).mantissa_bits + 1),
                                   static_cast<Wide>(std::min(num::largest(type), 0x1p62)));
  return {-most, most};
}

// What a word gets: the pieces behind its colon, and the seed to use when they name none.
struct Arguments {
  Piece whole;
  std::vector<Piece> pieces;
  std::uint64_t seed = 0;
};

Result<std::uint64_t> seed_at(const Arguments& arguments, std::size_t index) {
  if (index >= arguments.pieces.size()) return arguments.seed;
  const Piece& piece = arguments.pieces[index];
  const Result<Wide> seed = located(parse_wide(piece.text), piece);
  if (!seed)
    return fail(Diag(seed.error()).with_note("the value there is a seed, as in `randn:7`"));
  if (*seed >= 0) return static_cast<std::uint64_t>(*seed);
  return fail_at(piece.span(), DiagKind::BadArgument, "the seed is {}; it must not be negative",
                 piece.text);
}

// Of `SEED` and `LO,HI[,SEED]`, the place of the seed.
std::size_t seed_place(const Arguments& arguments) { return arguments.pieces.size() == 1 ? 0 : 2; }

void fill_with(Array& out, std::uint64_t bits) {
  out.set_all([bits](std::int64_t) { return bits; });
}

Result<void> fill_full(Array& out, const Arguments& arguments) {
  const Piece value = arguments.whole;
  const Array scalar = WW_TRY(located(parse_scalar(out.dtype, value.text), value));
  fill_with(out, scalar.bits(0));
  return {};
}

// The values themselves, in C order.
Result<void> fill_list(Array& out, const Arguments& arguments) {
  const auto count = static_cast<std::int64_t>(arguments.pieces.size());
  if (count != out.size())
    return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                   "{} values for an array of {}, expected {}", count, shape_text(out.shape),
                   out.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const Piece& piece = arguments.pieces[static_cast<std::size_t>(i)];
    out.set_bits(i, WW_TRY(located(parse_scalar(out.dtype, piece.text), piece)).bits(0));
  }
  return {};
}

// A constant that not every type has. Its text is ours, so a Diag must not point into it.
Result<void> fill_constant(Array& out, std::string_view value) {
  auto scalar = parse_scalar(out.dtype, value);
  if (!scalar) {
    scalar.error().span = {};
    return std::move(scalar).failure();
  }
  fill_with(out, scalar->bits(0));
  return {};
}
Result<void> fill_zeros(Array& out, const Arguments&) { return fill_constant(out, "0"); }
Result<void> fill_ones(Array& out, const Arguments&) { return fill_constant(out, "1"); }

Result<void> fill_eye(Array& out, const Arguments&) {
  if (out.shape.size() != 2)
    return fail(DiagKind::BadArgument, "the shape is {}; `eye` needs two dimensions",
                shape_text(out.shape));
  WW_TRY_VOID(fill_constant(out, "0"));
  for (std::int64_t i = 0; i < std::min(out.shape[0], out.shape[1]); ++i)
    out.set_int(i * out.shape[1] + i, 1);
  return {};
}

Result<void> fill_arange(Array& out, const Arguments&) {
  const DType type = out.dtype;
  if (has_only_powers(type)) {
    out.set_all([=](std::int64_t i) { return bits_from_int(type, std::int64_t{1} << (i % 8)); });
    return {};
  }
  const std::int64_t limit = is_float(type)        ? counting_limit(type)
                             : type == DType::Bool ? 2
                                                   : out.size();
  out.set_all([=](std::int64_t i) { return bits_from_int(type, i % limit); });
  return {};
}

Result<void> refuse_integers(const Array& out, std::string_view word) {
  if (is_float(out.dtype)) return {};
  return fail(diag(DiagKind::BadArgument, "`{}` makes fractions, which `{}` does not have", word,
                   num::name_of(out.dtype))
                  .with_note("`randint` makes integers"));
}

Result<void> fill_randn(Array& out, const Arguments& arguments) {
  WW_TRY_VOID(refuse_integers(out, "randn"));
  if (has_only_powers(out.dtype))
    return fail(DiagKind::BadArgument, "`randn` makes negative numbers, which `{}` does not have",
                num::name_of(out.dtype));
  RandomStream random(WW_TRY(seed_at(arguments, 0)));
  out.set_all([&, type = out.dtype](std::int64_t) {
    return num::encode(type, random.normal(), num::Rounding::NearestEven, num::Overflow::Saturate);
  });
  return {};
}

struct RealRange {
  double low = 0;
  double high = 1;
};

// A bound must itself be a value of the type, up to rounding.
Result<double> bound_at(const Arguments& arguments, std::size_t index, DType type) {
  const Piece& piece = arguments.pieces[index];
  WW_TRY_VOID(located(parse_scalar(type, piece.text), piece));
  const double bound = WW_TRY(located(parse_real(piece.text), piece));
  if (std::isfinite(bound)) return bound;
  return fail_at(piece.span(), DiagKind::BadArgument, "`{}` is not a bound of a range", piece.text);
}

Diag empty_range(const Arguments& arguments) {
  return diag_at(arguments.whole.span(), DiagKind::BadArgument,
                 "nothing lies from {} up to, but without, {}", arguments.pieces[0].text,
                 arguments.pieces[1].text);
}

Result<RealRange> real_range(const Arguments& arguments, DType type) {
  RealRange range;
  if (arguments.pieces.size() >= 2) {
    range = {WW_TRY(bound_at(arguments, 0, type)), WW_TRY(bound_at(arguments, 1, type))};
    if (!(range.low < range.high)) return fail(empty_range(arguments));
    if (!std::isfinite(range.high - range.low))
      return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                     "the range from {} to {} is wider than a 64-bit float", range.low, range.high);
  }
  if (has_only_powers(type) && range.low <= 0)
    return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                   "`{}` has no zero; give a range above it", num::name_of(type));
  return range;
}

Result<void> fill_rand(Array& out, const Arguments& arguments) {
  WW_TRY_VOID(refuse_integers(out, "rand"));
  const RealRange range = WW_TRY(real_range(arguments, out.dtype));
  RandomStream random(WW_TRY(seed_at(arguments, seed_place(arguments))));
  out.set_all([&, type = out.dtype](std::int64_t) {
    return bits_from(type, range.low + (range.high - range.low) * random.unit());
  });
  return {};
}

// Both ends included.
Result<IntRange> integer_range(const Arguments& arguments, DType type) {
  const IntRange exact = exact_integers(type);
  if (arguments.pieces.size() < 2) {
    const Wide low = std::max<Wide>(exact.min, exact.min < 0 ? -8 : 0);
    return IntRange{low, std::min<Wide>(exact.max, exact.min < 0 ? 7 : 15)};
  }
  std::array<Wide, 2> bounds{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Piece& piece = arguments.pieces[i];
    bounds[i] = WW_TRY(located(parse_wide(piece.text), piece));
  }
  const IntRange range{bounds[0], bounds[1] - 1};
  if (range.min > range.max) return fail(empty_range(arguments));
  if (range.min < exact.min || range.max > exact.max)
    return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                   "the integers are from {} to {}; `{}` holds those from {} to {} exactly",
                   range.min, range.max, num::name_of(type), exact.min, exact.max);
  return range;
}

Result<void> fill_randint(Array& out, const Arguments& arguments) {
  const IntRange range = WW_TRY(integer_range(arguments, out.dtype));
  RandomStream random(WW_TRY(seed_at(arguments, seed_place(arguments))));
  const auto choices = static_cast<std::uint64_t>(range.max - range.min + 1);  // 2^64 becomes 0
  out.set_all([&, type = out.dtype](std::int64_t) {
    const std::uint64_t value = static_cast<std::uint64_t>(range.min) + random.below(choices);
    return bits_from_int(type, static_cast<std::int64_t>(value));
  });
  return {};
}

struct WordRow {
  ArrayWord word;
  std::size_t min_arguments;
  std::size_t max_arguments;
  Result<void> (*fill)(Array& out, const Arguments& arguments);
};

constexpr std::string_view kRangeAndSeed = "[SEED] or [LO,HI,SEED]";
constexpr std::size_t kAnyCount = std::numeric_limits<std::size_t>::max();

// clang-format off
constexpr std::array kWordRows = {
    WordRow{{"arange",  "",            "0, 1, 2, ..., starting over where the type ends"}, 0, 0, fill_arange},
    WordRow{{"zeros",   "",            "all 0"},                                           0, 0, fill_zeros},
    WordRow{{"ones",    "",            "all 1"},                                           0, 0, fill_ones},
    WordRow{{"full",    "VALUE",       "all VALUE"},                                       1, 1, fill_full},
    WordRow{{"list",    "VALUE,...",   "these values, as many as the array has"},          1, kAnyCount, fill_list},
    WordRow{{"eye",     "",            "1 where row and column are equal, else 0"},        0, 0, fill_eye},
    WordRow{{"randn",   "[SEED]",      "random, nearly normal with deviation 1"},          0, 1, fill_randn},
    WordRow{{"rand",    kRangeAndSeed, "random, uniform from LO (0) up to HI (1)"},        0, 3, fill_rand},
    WordRow{{"randint", kRangeAndSeed, "random integers from LO up to, but without, HI"},  0, 3, fill_randint},
};
// clang-format on

constexpr auto kWords = [] {
  std::array<ArrayWord, kWordRows.size()> words{};
  for (std::size_t i = 0; i < kWordRows.size(); ++i) words[i] = kWordRows[i].word;
  return words;
}();

Result<const WordRow*> find_row(Piece name) {
  std::vector<std::string_view> names;
  for (const WordRow& row : kWordRows) {
    if (row.word.name == name.text) return &row;
    names.push_back(row.word.name);
  }
  const bool is_number = parse_real(name.text.substr(0, name.text.find(','))).has_value();
  const bool is_list = name.text.contains(',');
  const std::string meant =
      is_number ? fmt::format("; did you mean `{}:{}`?", is_list ? "list" : "full", name.text)
                : did_you_mean(name.text, names);
  return fail(diag_at(name.span(), DiagKind::UnknownName,
                      "`{}` does not name the contents of an array{}", name.text, meant)
                  .with_note(fmt::format("there are {}, and @FILE.npy", join(names, ", "))));
}

Result<void> check_count(const WordRow& row, const Arguments& arguments) {
  const std::size_t count = arguments.pieces.size();
  if (count >= row.min_arguments && count <= row.max_arguments) return {};
  if (row.max_arguments == 0)
    return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                   "`{}` takes no arguments, found `{}`", row.word.name, arguments.whole.text);
  return fail_at(arguments.whole.span(), DiagKind::BadArgument,
                 "`{}` has {} arguments; expected `{}:{}`", row.word.name, count, row.word.name,
                 row.word.arguments);
}

}  // namespace

std::span<const ArrayWord> array_words() { return kWords; }

Result<Array> make_array(DType type, std::vector<std::int64_t> shape, std::string_view spec,
                         std::uint64_t seed) {
  const Piece whole = trimmed({spec, 0});
  const std::size_t colon = std::min(whole.text.find(':'), whole.text.size());
  const Piece name = trimmed({whole.text.substr(0, colon), whole.offset});
  Arguments arguments{.whole = {whole.text.substr(whole.text.size()), whole.span().end},
                      .pieces = {},
                      .seed = seed};
  if (colon < whole.text.size())
    arguments.whole = trimmed({whole.text.substr(colon + 1), whole.offset + colon + 1});
  arguments.pieces = split_top(arguments.whole, ',');

  const WordRow* row = WW_TRY(find_row(name));
  WW_TRY_VOID(check_count(*row, arguments));
  Array out = WW_TRY(Array::zeros(type, std::move(shape)));
  if (auto filled = row->fill(out, arguments); !filled)
    return fail(std::move(filled).error().with_span(whole.span()));
  return out;
}

}  // namespace ww::driver
