// SPDX-License-Identifier: Apache-2.0
// `warpwright compile` as a library: a source file in, the chosen kernel out in one of several
// forms. docs/guide/running.md shows them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "runtime/assembler.h"

namespace ww::driver {

/// What `--emit` takes, with a line on each.
struct EmitForm {
  std::string_view name;
  std::string_view help;
};
const std::vector<EmitForm>& emit_forms();

struct CompileRequest {
  SourceRequest source;
  std::string emit = "tile";
  std::string registers = {};      // ptx: "views" for %f and %fd; empty or "assembled"
  std::string output = {};         // a file; empty: the text is the result
  bool with_main = false;          // cuda: a host program around the kernel
  ArgRequest arguments = {};       // of that
  std::string limits = {};         // of its evaluation; driver/sim/options.h
  runtime::ToolSearch ptxas = {};  // cubin: where the assembler is
  bool allow_slow = false;         // cubin: also where it remarks on slow code
};
struct CompileOutcome {
  std::string out = {};
  std::string errors = {};
};
CompileOutcome run_compile(const CompileRequest& request);

/// A build in one of the forms, without options. The build has come as far as the form needs. What
/// cannot be written in that form is added to `errors`.
std::string form_text(const Build& build, std::string_view form, std::string& errors);

}  // namespace ww::driver
