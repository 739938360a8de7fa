// SPDX-License-Identifier: Apache-2.0
// Finds and runs other programs and parts of this one, with a folder for their files. It never uses
// a shell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/leftovers.h"
#include "base/result.h"

namespace ww {

/// Whether the path names a file that may be executed.
bool is_program(const std::string& path);
/// The first program of that name in the folders, which have `:` between them as in PATH; "" when
/// there is none.
std::string find_program(std::string_view name, std::string_view folders);

/// A file that is built and installed with this program and loaded or started by it.
struct ProgramPart {
  std::string_view what;    // "the benchmark program"
  std::string_view file;    // its name
  std::string_view target;  // what builds it
};
/// Its path: beside the program in a build folder, in ../libexec/warpwright once installed. Io where it
/// is in neither.
Result<std::string> find_part(const ProgramPart& part);

struct Finished {
  int status = 0;      // what it exited with
  int signal = 0;      // what it died of; 0: it exited
  std::string output;  // stdout and stderr together
  [[nodiscard]] bool good() const { return status == 0 && signal == 0; }
};

/// File descriptors that a program gets as its own; -1: nothing comes, or what comes is dropped.
struct Streams {
  int in = -1, out = -1, err = -1;
};
/// Whether a program becomes the first of a process group, so that it can be ended with all that it
/// starts, and a terminal's Ctrl-C does not reach it.
enum class Group : std::uint8_t { Ours, Own };
/// Starts a program, the first of the words, in a folder (empty: this one); its process id. The
/// caller waits for it. Signals that this process ignores are not ignored in the program.
Result<int> start_program(std::vector<std::string> words, const Streams& streams,
                          const std::string& folder = {}, Group group = Group::Ours);

/// Runs a program (words[0] is its path) to its end, with nothing to read and `folder` as working
/// folder (empty: the present one). Io when it cannot be started. It ends with this process, if
/// that cleans up (base/leftovers.h), and when the work on this thread is cancelled (base/cancel.h).
Result<Finished> run_program(std::vector<std::string> words, const std::string& folder = {});

/// A new folder in the temporary folder, removed with all it holds at the end, a Leftover until
/// then.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const;

 private:
  explicit ScratchFolder(const std::string& path)
      : path_(path), leftover_(Leftover::folder(path)) {}
  std::string path_;
  Leftover leftover_;
};

}  // namespace ww
