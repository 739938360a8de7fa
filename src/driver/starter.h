// SPDX-License-Identifier: Apache-2.0
// The program that `warpwright new` writes: a commented kernel that compiles and runs as it is, to
// be changed. The texts are src/driver/templates/*.py.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::driver {

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

}  // namespace ww::driver
