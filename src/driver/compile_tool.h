// SPDX-License-Identifier: Apache-2.0
// `warpwright compile` as a library: a source file in, the chosen kernel out in one of several
// forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/compile.h"
#include "target/target.h"

namespace ww::driver {

/// Which kernel of which file, as text.
struct SourceRequest {
  std::string path;
  std::string kernel = {};   // an expression, with `::NAME` behind it or not; empty: the only one
  std::string dialect = {};  // "d1", "d2"; empty: as the file is written
  std::string target = {};   // "sm_90a"; empty or "auto": any
};

/// A kernel that compiled and was verified, or the rendered errors.
struct LoadedKernel {
  std::optional<script::Compiled> compiled;
  std::optional<target::Target> target;
  std::string errors;
};
LoadedKernel load_kernel(const SourceRequest& request);

/// What `--emit` takes, with a line on each.
struct EmitForm {
  std::string_view name;
  std::string_view help;
};
const std::vector<EmitForm>& emit_forms();

struct CompileRequest {
  SourceRequest source;
  std::string emit = "tile";
  std::string output = {};  // a file; empty: the text is the result
};
struct CompileOutcome {
  std::string out;
  std::string errors;
};
CompileOutcome run_compile(const CompileRequest& request);

}  // namespace ww::driver
