// SPDX-License-Identifier: Apache-2.0
// Instructions for the words of warps that read or write tensor memory: which shape has the cells
// of a word, which words make an *atom* of the shape, and which atoms one instruction. The shapes
// are in the table of tcgen05_ldst.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lower/copy_async/tensor_words.h"

namespace ww::lower {

enum class TensorShape : std::uint8_t { S16x256b, S16x128b, S16x64b, S32x32b, S16x32bx2 };

struct TensorShapeFacts {
  TensorShape shape;
  std::string_view name;
  int words;    // of an atom
  int columns;  // of an atom
  int most;     // atoms of an instruction
};

/// One instruction.
struct TensorIssue {
  const TensorShapeFacts* shape = nullptr;
  std::int64_t num = 1;
  bool is_packed = false;
  std::int64_t split = 0;  // 16x32bx2: columns from the lower to the upper lanes
  // By warp of the unit: does it take part, and the corner within its quarter.
  std::vector<bool> used;
  std::vector<QuarterCell> corner;
  std::vector<std::int64_t> slots = {};  // first element of each register operand

  [[nodiscard]] std::string opcode(bool is_load) const;
  /// A part of the corners, by warp.
  [[nodiscard]] std::vector<std::int64_t> by_warp(std::int64_t QuarterCell::*part) const;
};

struct TensorIssues {
  std::vector<TensorIssue> issues;
  std::int64_t most_registers = 0;  // of one instruction; 0: no limit was met
};

/// The instructions that move all words, in the order of registers, widest first. `threads` of a
/// CTA share the register file. Declines words that no shape has, and corners that follow no
/// formula.
Match<TensorIssues> tensor_issues(std::vector<TensorWord> words, std::int64_t threads);

}  // namespace ww::lower
