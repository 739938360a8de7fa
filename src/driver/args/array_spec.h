// SPDX-License-Identifier: Apache-2.0
// Arrays from a few words, as kernel arguments are given on the command line: `arange`, `full:0.5`,
// `randint:-4,4,7`. The same words give the same bytes on every host (driver/args/random_stream.h
// says how). One row per word; the rows are the help text, too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/args/typed_text.h"
#include "num/dtype.h"

namespace ww::driver {

struct ArrayWord {
  std::string_view name;
  /// Syntax behind `name:`, in brackets when it may be left out; empty when there is none.
  std::string_view arguments;
  std::string_view help;
};

/// All words, in the order of the help text.
std::span<const ArrayWord> array_words();

/// The array that `spec` describes. `seed` is for random arrays whose spec names none: give each
/// argument of a kernel its own.
///
///   arange      0, 1, 2, ... in C order. Integers wrap modulo 2^bits; a float type starts over at
///               the largest power of two below which it holds every integer: 2048 for float16,
///               256 for bfloat16, 16 for e4m3, 8 for e5m2, e3m2 and e2m3, 4 for e2m1. ue8m0 has
///               powers of two only and gets 1, 2, 4, ..., 128, 1, 2, ...
///   zeros, ones, eye
///   full:VALUE  any value that parse_scalar takes
///   list:VALUE,...  as many values as there are elements, in C order
///   randn       nearly normal, rounded to nearest; within ±6
///   rand        uniform in [LO,HI), [0,1) unless given, rounded to nearest (so HI may occur)
///   randint     integers in [LO,HI), all of which the type must hold exactly; unless given, as
///               much of [-8,8) as the type has (unsigned: [0,16), bool: [0,2))
///
/// Fails with UnknownName (and the nearest word), Syntax or BadArgument at a place in `spec`, and
/// like byte_size for the shape.
Result<Array> make_array(num::DType type, std::vector<std::int64_t> shape, std::string_view spec,
                         std::uint64_t seed = 0);

}  // namespace ww::driver
