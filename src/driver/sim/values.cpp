// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file_io.h"
#include "driver/args/file_plan.h"
#include "driver/args/npy.h"

namespace ww::driver {
namespace {

// `$2` or a name.
std::optional<std::size_t> value_named(const SimValues& values, std::string_view name) {
  const std::size_t skip = name.starts_with('$') ? 1 : 0;
  const auto number = values.find(name, Span::at(skip, name.size()));
  return number ? std::optional(*number) : std::nullopt;
}

// All that an expectation speaks of must be there before anything runs.
bool check_names(const SimValues& values, const Expectation& expectation, Refusals& refusals) {
  for (const ExprNode& node : expectation.nodes) {
    const auto name = expectation.name_of(node);
    if (!name) continue;
    const auto number = value_named(values, *name);
    if (!number)
      return refusals.add(values.unknown(*name).with_span(node.span), "--expect", expectation.text);
    const SimArg& arg = values.args[*number];
    if (!arg.is_memory() && arg.kind != ArgKind::Scalar)
      return refusals.add(
          diag(DiagKind::BadArgument, "`{}` is not an array: its argument is `{}`", *name, arg.text)
              .with_span(node.span),
          "--expect", expectation.text);
  }
  return true;
}

Result<Array> array_of(const SimValues& values, std::size_t number) {
  const SimBuffer* const buffer = values.buffer_of(number);
  if (buffer != nullptr) return read_buffer(*buffer);
  return values.args[number].scalar;
}

Result<ExpectResult> judge(const SimValues& values, const Expectation& expectation) {
  std::vector<std::pair<std::string, Array>> arrays;
  std::map<std::string, std::vector<bool>, std::less<>> defined;
  for (const std::string& name : expectation.names()) {
    const std::size_t number = *value_named(values, name);
    arrays.emplace_back(name, WW_TRY(array_of(values, number)));
    const SimBuffer* const buffer = values.buffer_of(number);
    if (buffer != nullptr) defined.emplace(name, defined_elements(*buffer));
  }
  const FindArray find = [&](std::string_view name) -> const Array* {
    const auto found = std::ranges::find(arrays, name, &std::pair<std::string, Array>::first);
    return found == arrays.end() ? nullptr : &found->second;
  };
  const FindWritten find_defined = [&](std::string_view name) {
    const auto found = defined.find(name);
    return found == defined.end() ? nullptr : &found->second;
  };
  const FindArray before = [&](std::string_view name) -> const Array* {
    const auto found = values.before.find(*value_named(values, name));
    return found == values.before.end() ? nullptr : &found->second;
  };
  return check_expectation(expectation, find, {}, find_defined, before);
}

}  // namespace

const SimBuffer* SimValues::buffer_of(std::size_t number) const {
  const auto found = std::ranges::find(buffers, number, &SimBuffer::param);
  return found == buffers.end() ? nullptr : &*found;
}

Diag not_a_buffer(const SimValues& values, std::size_t number, Span at) {
  return diag(DiagKind::BadArgument, "{} is not a buffer: its argument is `{}`",
              values.titles[number], values.args[number].text)
      .with_span(at);
}

bool read_outs(SimValues& values, const SimRequest& request, Refusals& refusals, FilePlan& files) {
  files.reads(request.path, "the program");
  for (const SimArg& arg : values.args)
    if (arg.kind == ArgKind::File)
      files.reads(arg.path, fmt::format("the argument `{}`", arg.part(arg.key)));
  for (const std::string& text : request.outs) {
    auto out = parse_sim_out(text);
    if (!out) return refusals.add(out.error(), "--out", text);
    const auto number = values.find(text, out->key);
    if (!number) return refusals.add(number.error(), "--out", text);
    if (!values.args[*number].is_memory())
      return refusals.add(not_a_buffer(values, *number, out->key), "--out", text);
    auto good = files.writes(out->path, values.titles[*number]);
    if (!good) return refusals.add(std::move(good).error().with_span(out->value), "--out", text);
    values.outs.emplace_back(*number, std::move(*out));
  }
  return true;
}

bool read_expectations(SimValues& values, const SimRequest& request, Refusals& refusals) {
  for (const std::string& text : request.expects) {
    if (!refusals.keep(parse_expectation(text), values.expectations.emplace_back(), "--expect",
                       text))
      return false;
    if (!check_names(values, values.expectations.back(), refusals)) return false;
  }
  return true;
}

bool keep_before(SimValues& values, Refusals& refusals) {
  for (const Expectation& expectation : values.expectations)
    for (const std::string& name : expectation.names_before()) {
      const std::size_t number = *value_named(values, name);
      const SimBuffer* const buffer = values.buffer_of(number);
      if (buffer != nullptr && buffer->is_output) continue;
      auto array = array_of(values, number);
      if (!array) return refusals.add(array.error());
      values.before.emplace(number, std::move(*array));
    }
  return true;
}

std::vector<BufferReport> report_buffers(const SimValues& values) {
  std::vector<BufferReport> reports;
  for (const SimBuffer& buffer : values.buffers) {
    const UndefinedElements undefined = undefined_elements(buffer);
    BufferReport& out = reports.emplace_back(BufferReport{.param = buffer.param,
                                                          .name = values.names[buffer.param],
                                                          .dtype = buffer.dtype,
                                                          .shape = buffer.shape,
                                                          .is_output = buffer.is_output,
                                                          .undefined = undefined.count});
    if (undefined.count > 0) out.first_undefined = index_of(buffer.shape, undefined.first);
    out.first = first_elements(buffer, kShownElements);
  }
  return reports;
}

std::vector<ExpectReport> check_expectations(const SimValues& values, Refusals& refusals) {
  std::vector<ExpectReport> reports;
  for (const Expectation& expectation : values.expectations) {
    auto result = judge(values, expectation);
    if (result) {
      reports.push_back({expectation.text, std::move(*result)});
    } else {
      refusals.add(result.error(), "--expect", expectation.text);
    }
  }
  return reports;
}

void write_files(const SimValues& values, Refusals& refusals, std::vector<BufferReport>& buffers) {
  for (const auto& [number, out] : values.outs) {
    const auto array = read_buffer(*values.buffer_of(number));
    const auto written =
        array ? write_file_atomically(out.path, to_npy(*array)) : Result<void>(fail(array.error()));
    if (!written) {
      refusals.add(written.error());
      continue;
    }
    std::ranges::find(buffers, number, &BufferReport::param)->file = out.path;
  }
}

}  // namespace ww::driver
