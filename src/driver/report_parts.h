// SPDX-License-Identifier: Apache-2.0
// What the reports of all runs have in common, on the virtual GPU and elsewhere: facts, buffers,
// expectations, what the kernel printed; and the JSON that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/expect/expect.h"
#include "json/json.h"
#include "num/dtype.h"

namespace ww::driver {

/// What became of a buffer.
struct BufferReport {
  std::size_t param = 0;
  std::string name;
  num::DType dtype{};
  std::vector<std::int64_t> shape;
  bool is_output = false;                       // the kernel writes it
  std::int64_t undefined = 0;                   // elements
  std::vector<std::int64_t> first_undefined{};  // index of the first one
  std::vector<std::string> first{};             // elements; `?` is an undefined one
  std::string file{};                           // that it was written to
};

struct ExpectReport {
  std::string text;
  ExpectResult result;
};

bool all_hold(std::span<const ExpectReport> expectations);

/// Elements of a buffer in a report.
inline constexpr std::size_t kShownElements = 8;

/// The index of an element by its place in C order.
std::vector<std::int64_t> index_of(std::span<const std::int64_t> shape, std::int64_t element);

/// "3 blocks".
std::string plural(std::uint64_t count, std::string_view what);
/// "kernel      vector_add …"
void add_fact(std::string& out, std::string_view name, std::string_view text);
/// A line for each buffer that the kernel writes, is not wholly defined, or went to a file;
/// `numbered` ones begin with the parameter's number.
void add_buffers(std::string& out, std::span<const BufferReport> buffers, bool numbered);
void add_expectations(std::string& out, std::span<const ExpectReport> expectations);
void add_printed(std::string& out, std::string_view printed);

/// The cells of one line of a table.
using TableRow = std::vector<std::string>;
/// The width of each column's widest cell. Rows may be of different lengths.
std::vector<std::size_t> column_widths(std::span<const TableRow> rows);

}  // namespace ww::driver

namespace ww::sim {
struct Counters;
struct OpCount;
struct SchedulesReport;
struct Program;
}  // namespace ww::sim

namespace ww::driver {

/// The schedules that a launch ran in, if they are several, and what went wrong in the last one.
void add_schedules(std::string& out, const sim::SchedulesReport& schedules);
/// Null: it ran in one.
Json schedules_json(const sim::SchedulesReport& schedules);

// --- as JSON -------------------------------------------------------------------------------------
//
// The JSON that the reports of all runs share.

struct SassAdvice;

/// `keys` with the name of their schema before them: "warpwright/run/1",
/// docs/reference/schema/run.json. The number changes when a key is removed or changes its meaning;
/// keys may be added under it.
Json with_schema(std::string_view name, const Json& keys = Json::object());

/// null for an empty text.
Json text_or_null(const std::string& text);
Json buffer_json(const BufferReport& buffer);
Json expectation_json(const ExpectReport& each);
/// What was counted of an instruction or of a family, and of each family of a run.
Json count_json(const sim::OpCount& count);
Json families_json(const sim::Program& program, const sim::Counters& counters);
/// With `--sass`.
Json sass_json(const SassAdvice& advice);

/// The value as text: what fits into a line stands on one, the rest is indented by two. Ends with a
/// line break.
std::string json_text(const Json& value);
/// The same, each value on its own line.
std::string json_lines(const Json& value);

}  // namespace ww::driver
