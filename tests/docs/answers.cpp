// SPDX-License-Identifier: Apache-2.0
// The program as a server of scripts that ask it thousands of questions (scripts/make_variants.py): a process for
// each would spend most of its time starting. Reads command lines from stdin until it ends: the number of words, then each
// word as its length and its bytes. Answers each with a line `STATUS LENGTH` and what the program would print.
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/heap.h"
#include "base/pooled_new.h"
#include "cli/app.h"

namespace {

/// A number and the newline behind it; false at the end of the input.
bool read_number(std::size_t& out) { return std::cin >> out && std::cin.get() == '\n'; }

bool read_words(std::vector<std::string>& out) {
  std::size_t count = 0;
  if (!read_number(count)) return false;
  out.clear();
  while (count-- > 0) {
    std::size_t length = 0;
    if (!read_number(length)) return false;
    std::string word(length, '\0');
    if (!std::cin.read(word.data(), static_cast<std::streamsize>(length))) return false;
    out.push_back(std::move(word));
  }
  return true;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  ww::keep_freed_memory();
  std::vector<std::string> words;
  while (read_words(words)) {
    const ww::cli::Outcome outcome = ww::cli::run_program(ww::cli::all_commands(), words);
    std::cout << static_cast<int>(std::to_underlying(outcome.status)) << ' ' << outcome.out.size()
              << '\n'
              << outcome.out << std::flush;
  }
  return 0;
}
