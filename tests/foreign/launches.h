// SPDX-License-Identifier: Apache-2.0
// The launches of tests/foreign/launches.txt. A section opens with `file NAME TARGET`: that CUDA
// file, compiled for that target, is loaded once, and its launches follow one another on it, so
// that variables of the module keep what the launch before left there. A launch is a line
//
//   launch KERNEL grid=X,Y,Z block=X,Y,Z cluster=X shared=BYTES finds=CHECKS print digest=HEX
//
// of which only the kernel and the block are needed, and a line for each argument, indented:
//
//   out f32[100] zero            a buffer whose bytes after the launch go into the digest
//   in u32[100] bits:1           a buffer that is only read
//   s32 -5                       a value
//   pack s8 3 pad 7 f64 2.5      a struct by value
//
// Buffers are filled with `zero`, `const:V`, `iota:FIRST`, `list:V,V,...`, `bits:SEED` (any bits),
// `int:LOW:HIGH:SEED` and `uniform:LOW:HIGH:SEED` (numbers), `edge:SEED` (what the instruction
// sweep takes: special values beside ordinary ones) or `odd:SEED` (the same with the lowest bit
// set).
//
// `finds=race,uninit`: the checks that must find something, and no others. `print`: the digest
// covers what the kernel prints, too. `approx=E why=REASON` instead of equal bits: floats may
// differ by E times the larger of 1 and their size. `why` gives the reason of `approx` and `finds`.
// `digest=?` has not been recorded yet. `skip FILE REASON` names a file that cannot run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isa/type.h"

namespace ww::corpus {

struct Argument {
  bool is_buffer = false, is_output = false;
  isa::Type type = isa::Type::B32;  // of an element
  std::size_t count = 1;
  std::vector<std::byte> bytes;  // at the start
};

struct LaunchLine {
  std::size_t line = 0;  // in the file
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::optional<std::array<std::uint32_t, 3>> cluster;
  std::uint32_t shared = 0;
  bool prints = false;
  std::string finds;  // names of checks, by commas, in alphabetical order
  double approx = 0;  // 0: all bits must agree
  std::string why;
  std::optional<std::uint64_t> digest;
  std::vector<Argument> arguments;
};

struct Section {
  std::string file, target;
  std::vector<LaunchLine> launches;

  /// "vector_add for sm_90a".
  [[nodiscard]] std::string title() const { return file + " for " + target; }
};

struct LaunchList {
  std::vector<Section> sections;
  std::map<std::string, std::string> skipped;  // file -> why
  std::vector<std::string> errors;             // "line 5: ..."
};

LaunchList parse_launches(const std::string& text);
/// tests/foreign/launches.txt.
LaunchList read_launches();

/// The values of one fill; nothing if there is no such fill.
std::optional<std::vector<std::byte>> make_fill(isa::Type type, std::size_t count,
                                                const std::string& fill);
/// The bytes of one number: "-5", "2.5"; nothing if it is none.
std::optional<std::vector<std::byte>> make_value(isa::Type type, const std::string& text);

/// An element as a number.
double number_of(isa::Type type, const std::byte* bytes);
/// How many bytes.
std::size_t size_of(isa::Type type);

}  // namespace ww::corpus
