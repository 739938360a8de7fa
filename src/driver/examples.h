// SPDX-License-Identifier: Apache-2.0
// The examples that come with the program, and the programs that `warpwright new` begins.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "base/result.h"
#include "json/json.h"

namespace ww::driver {

struct Example {
  std::string name;                   // "transpose", "basics/gemm"
  std::string group;                  // "Layouts written by hand"
  std::string path;                   // "examples/transpose.py"
  std::string summary;                // the first sentence of the file
  std::vector<std::string> commands;  // runs that the file says to try, as they are typed
  std::string_view text;
};

/// In the order of examples/index.txt, by difficulty.
const std::vector<Example>& examples();
/// UnknownName with the nearest one. A name may have `examples/` before it and `.py` behind it.
Result<Example> find_example(std::string_view name);

/// A line for each, aligned, below the name of its group; and the same for programs (docs/reference/cli.md).
std::string examples_text();
Json examples_json();

// --- starter -------------------------------------------------------------------------------------
//
// The program that `warpwright new` writes: a commented kernel that compiles and runs as it is, to
// be changed. The texts are src/driver/templates/*.py.

struct StarterKind {
  std::string_view name;    // of the template
  std::string_view help;    // one line
  std::string_view expect;  // what holds after a run
};
std::span<const StarterKind> starter_kinds();

struct StarterRequest {
  std::string name;           // a path; `.py` may be left out
  std::string kind = "copy";  // one of starter_kinds()
  bool overwrites = false;
};

struct Starter {
  std::string path;
  std::string text;
  std::string run = {};      // the command that runs it, with its expectation
  std::string explain = {};  // the command that explains it
};

/// The program; writes nothing. The last part of the name becomes the kernel's: BadArgument at its
/// place where it is no identifier, or a word of Python's.
Result<Starter> make_starter(const StarterRequest& request);

/// Makes it and writes it. Io where a file is there already that may not be overwritten, where the
/// folder is missing, and where it cannot be written.
Result<Starter> write_starter(const StarterRequest& request);

/// A word as a shell takes it: quoted where it needs to be.
std::string shell_word(std::string_view word);

// --- files of the program ------------------------------------------------------------------------
//
// Files that are part of the program; cmake/embedded_files.cmake puts them there.

/// The programs that examples/index.txt names, in its order; their paths begin at the root of the
/// project: "examples/transpose.py".
std::span<const EmbeddedFile> embedded_examples();
/// examples/index.txt.
std::span<const EmbeddedFile> embedded_index();
/// src/driver/templates/*.py.
std::span<const EmbeddedFile> embedded_templates();

}  // namespace ww::driver
