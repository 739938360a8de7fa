// SPDX-License-Identifier: Apache-2.0
// NVIDIA's compilers, to compare with. They may be absent.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ww::bench {

/// The path of `nvcc` or `ptxas`: in the folders of PATH, then in /usr/local/cuda/bin, then in
/// $CUDA_HOME/bin. Io when it is in none of them.
Result<std::string> find_tool(const std::string& name);

/// Runs a program (words[0] is its path) to its end. DeviceError with the last line that it wrote
/// when it fails.
Result<void> run_tool(std::vector<std::string> words);

/// A folder that is gone with all it holds at the end.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path);
  std::string path_;
};

}  // namespace ww::bench
