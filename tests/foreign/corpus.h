// SPDX-License-Identifier: Apache-2.0
// The CUDA C++ files of tests/foreign/cuda, small kernels of our own that between them make nvcc
// write most of the PTX there is. A file opens with
//
//   // targets: sm_80 sm_90a           what it must compile for, oldest first
//   // options: -use_fast_math         what nvcc is given besides; the line may be absent
//
// and then says what each kernel computes and how it is launched.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "foreign/toolchain.h"

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

/// Compiles files as one, each in a namespace named after it, to `name`.ptx in the folder: nvcc reads its
/// own headers for half a second whatever it compiles. Kernels that are `extern "C"` keep their names.
Outcome compile_together(const Toolchain& tools, std::span<const File> files,
                         const std::string& target, std::vector<std::string> options,
                         const std::filesystem::path& folder, const std::string& name);

}  // namespace ww::corpus
