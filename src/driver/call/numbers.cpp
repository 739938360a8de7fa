// SPDX-License-Identifier: Apache-2.0
#include "driver/call/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/sim/options.h"

namespace ww::driver {
namespace {

using Kind = CallArg::Kind;

double real_of(const CallArg& arg) { return std::bit_cast<double>(arg.bits); }

// Of all kinds but Float.
Wide integer_of(const CallArg& arg) {
  return arg.kind == Kind::Int ? Wide{std::bit_cast<std::int64_t>(arg.bits)} : Wide{arg.bits};
}

// Extents of 1 may have any stride; so may arrays without elements.
bool is_c_order(const CallArg& array) {
  if (array.strides.empty() || std::ranges::find(array.shape, 0) != array.shape.end()) return true;
  std::int64_t wanted = std::max(1, num::storage_bits(array.dtype) / 8);
  for (std::size_t d = array.shape.size(); d-- > 0;) {
    if (array.shape[d] != 1 && array.strides[d] != wanted) return false;
    wanted *= array.shape[d];
  }
  return true;
}

}  // namespace

std::string number_text(const CallArg& arg) {
  if (arg.is_array()) return "an array";
  if (arg.kind == Kind::Float) return fmt::format("{}", real_of(arg));
  return arg.kind == Kind::Bool ? fmt::format("{}", arg.bits != 0)
                                : fmt::format("{}", integer_of(arg));
}

Result<std::uint64_t> bits_of_number(const CallArg& arg, num::DType type, std::string_view title) {
  const bool is_real = arg.kind == Kind::Float;
  if (num::is_float(type))
    return bits_from(type, is_real ? real_of(arg) : static_cast<double>(integer_of(arg)));
  if (is_real)
    return fail(DiagKind::BadArgument, "{} was given {}, a float: expected a number of type {}",
                title, number_text(arg), num::name_of(type));
  const Wide integer = integer_of(arg);
  const IntRange range = int_range(type);
  if (integer < range.min || integer > range.max)
    return fail(DiagKind::BadArgument, "{} was given {}: expected a number of type {}", title,
                number_text(arg), num::name_of(type));
  return bits_from_int(type, static_cast<std::int64_t>(integer));
}

Result<void> check_c_order(const CallArg& array, std::string_view title) {
  if (is_c_order(array)) return {};
  return fail(
      diag(DiagKind::BadArgument,
           "{} was given an array of shape [{}] with strides of [{}] bytes: expected C order",
           title, join(array.shape, ","), join(array.strides, ","))
          .with_note("a contiguous copy can be passed"));
}

Result<sim::RunOptions> sim_options(const CallOptions& options) {
  sim::RunOptions out;
  if (!options.schedule.empty()) out.schedule = WW_TRY(parse_schedule(options.schedule));
  if (!options.checks.empty()) out.checks = WW_TRY(sim::parse_checks(options.checks));
  if (!options.limits.empty()) out.limits = WW_TRY(parse_limits(options.limits)).on(out.limits);
  out.stop = options.stop;
  return out;
}

}  // namespace ww::driver
