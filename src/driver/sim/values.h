// SPDX-License-Identifier: Apache-2.0
// The values of a simulated run and what is asked of them: arguments with their arrays, files that
// arrays go to, expectations. One launch names them as the kernel's parameters are named; several
// launches have names of their own.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/args/file_plan.h"
#include "driver/report_parts.h"
#include "driver/sim/args.h"
#include "driver/sim/memory.h"
#include "driver/sim/refusals.h"
#include "driver/sim/tool.h"

namespace ww::driver {

struct SimValues {
  std::vector<SimArg> args{};                          // by number
  std::vector<std::string> names{}, titles{};          // `a`; "parameter 0 `a`"
  std::vector<SimBuffer> buffers{};                    // SimBuffer::param is the number
  std::vector<std::pair<std::size_t, SimOut>> outs{};  // with the number
  std::vector<Expectation> expectations{};
  std::map<std::size_t, Array> before{};  // by number, where an expectation asks

  /// The value that a key of a text means; a Diag with all that a user needs to know otherwise.
  std::function<Result<std::size_t>(std::string_view text, Span key)> find{};
  /// The error for a name in an expectation that no value has.
  std::function<Diag(std::string_view name)> unknown{};

  /// nullptr: the value is not one with an array.
  [[nodiscard]] const SimBuffer* buffer_of(std::size_t number) const;
};

/// "parameter 2 `n` is not a buffer: its argument is `n=i32:7`", at that place.
Diag not_a_buffer(const SimValues& values, std::size_t number, Span at);

// --- before the run; whether all is well, else the refusals say why -------------------------------

/// `files` learns which are read and written.
bool read_outs(SimValues& values, const SimRequest& request, Refusals& refusals, FilePlan& files);
bool read_expectations(SimValues& values, const SimRequest& request, Refusals& refusals);
/// Keeps what expectations ask of the arrays before the run; those without contents have nothing.
bool keep_before(SimValues& values, Refusals& refusals);

// --- after it -------------------------------------------------------------------------------------

std::vector<BufferReport> report_buffers(const SimValues& values);
std::vector<ExpectReport> check_expectations(const SimValues& values, Refusals& refusals);
/// Writes the files that were asked for, and notes their names.
void write_files(const SimValues& values, Refusals& refusals, std::vector<BufferReport>& buffers);

}  // namespace ww::driver
