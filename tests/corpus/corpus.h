// SPDX-License-Identifier: Apache-2.0
// The CUDA C++ files of tests/corpus/cuda, small kernels of our own that between them make nvcc
// write most of the PTX there is. A file opens with
//
//   // targets: sm_80 sm_90a           what it must compile for, oldest first
//   // options: -use_fast_math         what nvcc is given besides; the line may be absent
//
// and then says what each kernel computes and how it is launched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ww::corpus {

struct File {
  std::string name;  // without folder and suffix
  std::filesystem::path path;
  std::vector<std::string> targets;
  std::vector<std::string> options;
};

/// All files, by name. A file without the line `targets` has none.
std::vector<File> all_files();

/// The words of a line, without the blanks.
std::vector<std::string> words_of(const std::string& text);

/// The text of a file; empty when it cannot be read.
std::string read_text(const std::filesystem::path& path);

}  // namespace ww::corpus
