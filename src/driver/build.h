// SPDX-License-Identifier: Apache-2.0
// The compiler as a library: a source text in; the tile program, the lowered program, the report of
// what was chosen, and PTX out. driver/run/device_run.h runs the result. docs/guide/library.md
// has an example.
//
//     const Build build = build_kernel(SourceText("scale.py", text), {.target = "sm_90a"});
//     if (!build.good()) std::fputs(build.errors.c_str(), stderr);
//     use(build.ptx, build.report);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "ir/function.h"
#include "lower/lowering_report.h"
#include "script/compile.h"
#include "target/target.h"

namespace ww::driver {

// --- imported files ------------------------------------------------------------------------------
//
// Files that a source file imports from its own folder: `from gemm_hopper import build` beside
// `gemm_hopper.py`. Modules of the language come first, and what is not there is left to the compiler, which
// says so where it is used.

inline constexpr std::size_t kMaxImportedFiles = 64;

struct ImportedFile {
  std::string module;  // "gemm_hopper"
  std::string path;    // "examples/gemm_hopper.py"
  std::string text;
};

/// All that the file and its imports import, each once and before its users. A source named as an
/// example finds the examples that come with the program where its folder has no such file.
/// Io or TooLarge where a file is there and cannot be read.
Result<std::vector<ImportedFile>> imported_files(const std::string& path, std::string_view text);

// --- kernel file ---------------------------------------------------------------------------------
//
// A kernel expression that stands in a file: `--kernel @best.json`, as `warpwright tune -o` writes
// it.

/// The text under `kernel` in a JSON file. Io and TooLarge where it cannot be read, Syntax and
/// BadArgument where there is no such text in it.
Result<std::string> kernel_in_file(const std::string& path);
/// The same for the text of such a file.
Result<std::string> kernel_in_json(std::string_view text, const std::string& path);

/// How far a kernel has come.
enum class Phase : std::uint8_t { Nothing, Tile, Lowered, Ptx };

struct BuildOptions {
  std::string kernel = {};   // an expression, with `::NAME` behind it or not; empty: the only one
  std::string dialect = {};  // "d1", "d2"; empty: as the file is written
  std::string target = {};   // "sm_90a"; empty or "auto": default_target
  std::string prelude = {};  // script::Options::prelude, and
  std::string module = {};
  std::vector<script::ModuleFile> modules = {};
  Phase until = Phase::Ptx;
};

struct Build {
  std::optional<script::Compiled> compiled = {};  // the source, and the tile program
  std::optional<target::Target> target = {};      // none before lowering unless it was given
  lower::LoweringReport report = {};  // of all primitives, also where nothing accepted one
  std::optional<ir::Function> lowered = {};
  std::string ptx = {};
  std::string entry = {};   // the kernel's name in it: the function's, as far as PTX has such names
  std::string errors = {};  // rendered, in the order of the source
  /// The same as data, but for what has no place in the source or the kernel expression. Places
  /// are those of `compiled->source`, then of `compiled->expression`, one past its end.
  std::vector<Diag> diags = {};
  Phase phase = Phase::Nothing;
  bool is_checked = false;  // the tile program against the limits and instructions of `target`

  [[nodiscard]] bool good() const { return errors.empty(); }
  [[nodiscard]] const ir::Function& tile() const { return *compiled->function; }
};

/// Compiles a kernel of the text up to a phase, or as far as it goes.
Build build_kernel(const SourceText& source, const BuildOptions& options = {});

/// Which kernel of which file, as text.
struct SourceRequest {
  std::string path;
  std::string kernel = {};  // or `@FILE`: driver/build.h
  std::string dialect = {};
  std::string target = {};
  const SourceText* text = nullptr;  // of the file, where it has been read before
};
/// Io or TooLarge where there is no such text.
Result<SourceText> read_source(const std::string& path);
/// With the files that it imports from its folder (driver/build.h).
Build build_file(const SourceRequest& request, Phase until);

/// Goes on until a phase, for `build.target` (none: default_target). Nothing happens to a build
/// with errors.
void advance(Build& build, Phase until);
/// What keeps a lowered program from being written as PTX, if anything does; the build stays as it
/// is.
std::optional<Diag> ptx_problem(const Build& build);
/// Chooses what to lower a tile program for.
void set_target(Build& build, const target::Target& target);

/// sm_100a when the program uses tensor memory, else sm_90a; the newest PTX version.
target::Target usual_target(const ir::Function& tile);
/// The same; where the program's instructions need another target, the smallest that has all of
/// them, if there is one.
target::Target default_target(const ir::Function& tile);
/// The first instruction of the program that a target lacks, as the error for it.
std::optional<Diag> lacking(const ir::Function& tile, const target::Target& target);
/// What `--target` says: nothing for "" and "auto". False, with the reason in `errors`, if the
/// name is unknown.
bool read_target(const std::string& text, std::optional<target::Target>& target,
                 std::string& errors);
/// What read_target takes.
std::vector<std::string> target_names();

}  // namespace ww::driver
