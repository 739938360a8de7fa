// SPDX-License-Identifier: Apache-2.0
#include "driver/call/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/join.h"
#include "driver/args/array.h"
#include "driver/sim/options.h"

namespace ww::driver {
namespace {

std::optional<Wide> as_integer(const CallArg& arg) {
  if (const auto* value = std::get_if<bool>(&arg)) return Wide{*value ? 1 : 0};
  if (const auto* value = std::get_if<std::int64_t>(&arg)) return Wide{*value};
  if (const auto* value = std::get_if<std::uint64_t>(&arg)) return Wide{*value};
  return std::nullopt;
}

// Extents of 1 may have any stride; so may arrays without elements.
bool is_c_order(const ArrayView& view) {
  if (view.strides.empty() || std::ranges::find(view.shape, 0) != view.shape.end()) return true;
  std::int64_t wanted = std::max(1, num::storage_bits(view.dtype) / 8);
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    if (view.shape[d] != 1 && view.strides[d] != wanted) return false;
    wanted *= view.shape[d];
  }
  return true;
}

}  // namespace

std::string number_text(const CallArg& arg) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ArrayView>)
          return "an array";
        else
          return fmt::format("{}", value);
      },
      arg);
}

Result<std::uint64_t> bits_of_number(const CallArg& arg, num::DType type, std::string_view title) {
  const std::optional<Wide> integer = as_integer(arg);
  if (num::is_float(type))
    return bits_from(type, integer ? static_cast<double>(*integer) : std::get<double>(arg));
  if (!integer)
    return fail(DiagKind::BadArgument, "{} was given {}, a float: expected a number of type {}",
                title, number_text(arg), num::name_of(type));
  const IntRange range = int_range(type);
  if (*integer < range.min || *integer > range.max)
    return fail(DiagKind::BadArgument, "{} was given {}: expected a number of type {}", title,
                number_text(arg), num::name_of(type));
  return bits_from_int(type, static_cast<std::int64_t>(*integer));
}

Result<void> check_c_order(const ArrayView& view, std::string_view title) {
  if (is_c_order(view)) return {};
  return fail(
      diag(DiagKind::BadArgument,
           "{} was given an array of shape [{}] with strides of [{}] bytes: expected C order",
           title, join(view.shape, ","), join(view.strides, ","))
          .with_note("a contiguous copy can be passed"));
}

Result<sim::RunOptions> sim_options(const SimCallOptions& options) {
  sim::RunOptions out;
  if (!options.schedule.empty()) out.schedule = WW_TRY(parse_schedule(options.schedule));
  if (!options.checks.empty()) out.checks = WW_TRY(sim::parse_checks(options.checks));
  if (!options.limits.empty()) out.limits = WW_TRY(parse_limits(options.limits)).on(out.limits);
  out.stop = options.stop;
  return out;
}

}  // namespace ww::driver
