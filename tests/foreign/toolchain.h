// SPDX-License-Identifier: Apache-2.0
// Finding and running nvcc and ptxas. Both may be absent, and an older nvcc does not know every
// target; tests ask first and say what they skip.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"

namespace ww::corpus {

struct Outcome {
  int status = 0;      // 128 + signal for a program that died
  std::string output;  // stdout and stderr together
};

/// Runs a program (words[0] is its path) with `folder` as working folder, and waits for its end.
/// Status 127: it could not be started.
Outcome run(const std::vector<std::string>& words, const std::filesystem::path& folder);

/// The path of a tool of CUDA's: in the folders of PATH, then in /usr/local/cuda/bin, then in
/// $CUDA_HOME/bin; "" when it is in none of them.
std::string find_tool(std::string_view name);

/// A folder for a test.
class TestFolder {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ww::ScratchFolder folder_ = ww::ScratchFolder::make().value();
  std::filesystem::path path_ = folder_.path();
};

class Toolchain {
 public:
  /// Both programs, or nothing.
  static std::optional<Toolchain> find();

  /// nvcc's options for code that is looked at rather than timed: fewer optimisations in six tenths of
  /// the time, where this nvcc has them.
  [[nodiscard]] std::vector<std::string> quick_options() const;
  /// The same for code whose small arrays must become registers: all of the optimisations that do so.
  [[nodiscard]] std::vector<std::string> register_options() const;

  /// Whether nvcc compiles for `sm_90`, `sm_90a` ...
  [[nodiscard]] bool knows(const std::string& target) const;

  /// Compiles a CUDA file to `folder`/`output`, as PTX.
  [[nodiscard]] Outcome compile(const std::filesystem::path& source, const std::string& target,
                                const std::vector<std::string>& options,
                                const std::filesystem::path& folder,
                                const std::string& output) const;
  /// Assembles `folder`/`input` to `folder`/`output`. Runs in that folder, so that no path gets
  /// into the result.
  [[nodiscard]] Outcome assemble(const std::filesystem::path& folder, const std::string& input,
                                 const std::string& target, const std::string& output) const;
  /// The same at -O1, which refuses the same and takes half the time: for a cubin that does not run.
  [[nodiscard]] Outcome try_assemble(const std::filesystem::path& folder, const std::string& input,
                                     const std::string& target,
                                     const std::string& output = "tried.cubin") const;
  /// Reads PTX and generates no code, a tenth of the time: finds what is wrong with an instruction, but
  /// not, say, too much shared memory. A virtual target is what makes ptxas stop there; it must be one
  /// that ptxas `reads`.
  [[nodiscard]] Outcome try_read(const std::filesystem::path& folder, const std::string& input,
                                 const std::string& target) const;
  [[nodiscard]] bool reads(const std::string& target) const;

 private:
  static std::optional<Toolchain> look();
  /// Does nvcc know levels of quick compilation?
  [[nodiscard]] bool has_levels() const;

  std::filesystem::path nvcc_;
  std::filesystem::path ptxas_;
  std::set<std::string> architectures_;  // without the suffix `a` or `f`
};

}  // namespace ww::corpus
