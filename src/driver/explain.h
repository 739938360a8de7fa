// SPDX-License-Identifier: Apache-2.0
// What the compiler chose and why, as people read it: `warpwright explain`, and a line for each
// primitive in the report of a run. docs/guide/running.md shows both, docs/reference/cli.md the
// JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/build.h"
#include "driver/sass_advice.h"
#include "infer/infer.h"
#include "json/json.h"
#include "lower/lowering_report.h"

namespace ww::driver {

/// A primitive in one line: where, what, by which variant, with which instructions.
struct PrimitiveLine {
  std::size_t line = 0, column = 0;
  std::string file = {};     // that the line is of, where it is not the kernel's
  std::string call;          // "Tx.warp.copy"
  std::string variant;       // "ldstmatrix"; empty: nothing accepted it
  std::string instructions;  // "2 x ldmatrix.sync.aligned.m8n8.x4.shared.b16"
};
std::vector<PrimitiveLine> primitive_lines(const Build& build);
/// Aligned in columns, each line with its break.
std::string to_text(const std::vector<PrimitiveLine>& lines);

/// What `explain` says of a primitive below its place: operands, verdicts, the plan.
std::string call_text(const lower::CallReport& call);
/// "64, 64 at best: no bank conflicts".
std::string wavefronts_text(const lower::Wavefronts& wavefronts);
/// Does it take twice the wavefronts of shared memory that it needs, or more?
bool is_slow(const lower::CallReport& call);

/// "sm_90a, PTX 9.0".
std::string target_text(const target::Target& target);

/// The copies that a conversion between layouts executes.
std::vector<const lower::CallReport*> conversion_calls(const lower::LoweringReport& report,
                                                       const infer::Conversion& conversion);

/// The whole report of a build that has been lowered, or of which something could not be.
/// With remarks on its machine code, if there are any (nullptr: it was not asked for).
std::string explain_text(const Build& build, const SassAdvice* sass = nullptr);
Json explain_json(const Build& build, const SassAdvice* sass = nullptr);

struct ExplainRequest {
  SourceRequest source;
  bool json = false;
  std::optional<runtime::SassTools> sass = {};  // read the machine code with these
};
/// Where lowering fails there is a text, too: it shows the refusals of all variants.
struct ExplainOutcome {
  std::string out = {};
  std::string errors = {};
};
ExplainOutcome run_explain(const ExplainRequest& request);

}  // namespace ww::driver
