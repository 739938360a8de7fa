// SPDX-License-Identifier: Apache-2.0
#include "call_args.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <string>

#include "bindings.h"
#include "driver/report_parts.h"
#include "num/dtype.h"

namespace nb = nanobind;

namespace ww::python {
namespace {

// The settings of a tensor map: names and their text.
driver::TensorMapSettings read_map(const nb::dict& settings) {
  driver::TensorMapSettings out;
  for (const auto& [key, text] : settings) {
    const auto name = nb::cast<std::string>(key);
    const auto value = nb::cast<std::string>(text);
    const auto done = driver::set_map_setting(out, {name, 0}, {value, 0});
    if (!done) raise(done.error());
  }
  return out;
}

driver::CallArg read_array(const nb::tuple& array, HostArgs& to) {
  using Numbers = std::vector<std::int64_t>;
  const auto dtype = num::parse_dtype(nb::cast<std::string>(array[1]));
  if (!dtype) raise(dtype.error());
  driver::CallArg out{.is_read_only = nb::cast<bool>(array[4]),
                      .dtype = *dtype,
                      .bits = nb::cast<std::uintptr_t>(array[0]),
                      .shape = to.kept.emplace_front(nb::cast<Numbers>(array[2]))};
  if (!array[3].is_none()) out.strides = to.kept.emplace_front(nb::cast<Numbers>(array[3]));
  if (array.size() > 5) out.map = &to.maps.emplace_front(read_map(nb::cast<nb::dict>(array[5])));
  return out;
}

driver::CallArg read_int(nb::handle number) {
  std::int64_t value = 0;
  if (nb::try_cast(number, value)) return driver::number_arg(value);
  std::uint64_t large = 0;
  if (nb::try_cast(number, large)) return driver::number_arg(large);
  raise(DiagKind::BadArgument, nb::cast<std::string>(nb::str(number)) + " has more than 64 bits\n");
}

}  // namespace

HostArgs::HostArgs(const nb::sequence& args) {
  for (const nb::handle each : args)
    all.push_back(nb::isinstance<nb::tuple>(each) ? read_array(nb::cast<nb::tuple>(each), *this)
                                                  : read_number(each, "an argument"));
}

driver::CallArg read_number(nb::handle number, const std::string& name) {
  if (nb::isinstance<nb::bool_>(number)) return driver::number_arg(nb::cast<bool>(number));
  if (nb::isinstance<nb::int_>(number)) return read_int(number);
  if (nb::isinstance<nb::float_>(number)) return driver::number_arg(nb::cast<double>(number));
  raise(DiagKind::BadArgument, "`" + name + "` was given " +
                                   nb::cast<std::string>(nb::str(number.type().attr("__name__"))) +
                                   ": expected a number or a tensor of the GPU\n");
}

std::pair<std::string, std::string> report_of(const SimCall& run, driver::CallOptions options) {
  std::atomic<bool> stop = false;
  options.stop = &stop;
  std::optional<Result<driver::RunReport>> report;
  run_interruptibly([&] { report = run(options); }, stop);
  if (!*report) raise(report->error());
  return {driver::run_text(**report), driver::json_text(driver::run_json(**report))};
}

}  // namespace ww::python
