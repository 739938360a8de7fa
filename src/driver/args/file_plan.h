// SPDX-License-Identifier: Apache-2.0
// The files that a command reads and those it is going to write, looked at before it begins: no
// output takes the place of an input or of another output, and each can be written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "driver/build.h"
#include "num/dtype.h"

namespace ww::driver {

// --- file spec -----------------------------------------------------------------------------------
//
// `@FILE.npy[:TYPE]`: the array of a file as an argument, and how raw items of it are to be read.

struct FileSpec {
  std::string path;
  std::optional<num::DType> type = {};  // to read it as
  Span type_span = {};
};

/// `value` is what stands behind the `@`. A last word behind a colon is a type, so that a file
/// whose name ends like that is read with its type behind it. Syntax, or as num::parse_dtype says,
/// at its place.
Result<FileSpec> parse_file_spec(Piece value);

// --- assignment ----------------------------------------------------------------------------------
//
// `NAME=VALUE`, as several options of the command line take it.

/// Cut at the first `=`; neither side is empty.
struct Assignment {
  std::string text;
  std::string name;
  std::string value;
  Span name_span, value_span;
};

/// Syntax unless it is one. `what` is what help calls the value: "SPEC".
Result<Assignment> cut_assignment(const std::string& text, std::string_view what);

class FilePlan {
 public:
  /// `what` is how a message calls the file: "the source".
  void reads(std::string path, std::string what);
  /// The source file, and that of `--kernel @FILE`.
  void reads(const SourceRequest& source);
  /// The files in `--arg NAME=@FILE`. Other forms are left to their readers.
  void reads_args(std::span<const std::string> args);

  /// BadArgument when the file is read or written already, under whatever name; Io when it cannot
  /// be written. Devices and pipes may be written several times.
  Result<void> writes(const std::string& path, std::string_view what);

 private:
  struct File {
    std::string path;
    std::string what;
  };
  std::vector<File> inputs_;
  std::vector<File> outputs_;
};

}  // namespace ww::driver
