// SPDX-License-Identifier: Apache-2.0
// The files that a command reads and those it is going to write, looked at before it begins: no
// output takes the place of an input or of another output, and each can be written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/build.h"

namespace ww::driver {

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
