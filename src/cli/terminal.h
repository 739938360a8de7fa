// SPDX-License-Identifier: Apache-2.0
// Text of ours on a terminal: with colours, and broken where the terminal ends. What goes into a
// file or a pipe has neither, so that it is the same everywhere. And the line that shows progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace ww::cli {

/// How a text is shown.
struct Dress {
  bool colored = false;
  std::size_t columns = 0;  // 0: lines are not broken
};

/// For what is written to a file descriptor, with what --color says. `auto` colours on a terminal
/// that is not `dumb`, unless NO_COLOR is set and not empty.
Dress dress_for(int descriptor, std::string_view color);

/// Columns of the terminal that stdout is: what COLUMNS says, else the terminal itself, else 80; 0
/// where it is none.
std::size_t terminal_columns();

/// The text, printable (base/printable.h) unless its look is Plain: names of files and lines of
/// sources may hold anything. On top of that come escape sequences for colours, and line breaks at
/// spaces; what follows a break is indented as far as the text it belongs to. Nothing else changes:
/// without the sequences, and the breaks with their indentation taken for a space, it is the same
/// text. Lines that show source (indented by four or more) and rows of tables are not broken. Texts
/// of more than a megabyte are not coloured.
std::string dressed(std::string_view text, Look look, const Dress& dress);

// --- progress ------------------------------------------------------------------------------------
//
// A line on stderr that is overwritten as work goes on, and erased at the end. The one thing that
// a command prints while it works: it is worth something only then, and only to a person.

class Progress {
 public:
  Progress() = default;
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What a run calls now and then with how much is done; none where stderr is no terminal.
  std::function<bool(std::uint64_t, std::uint64_t)> callback();

 private:
  using Clock = std::chrono::steady_clock;

  bool update(std::uint64_t done, std::uint64_t all);

  Clock::time_point last_ = Clock::now();
  bool is_shown_ = false;
};

}  // namespace ww::cli
