// SPDX-License-Identifier: Apache-2.0
// Another program that answers questions: a line to its standard input, a line from its standard
// output. What it writes to standard error is dropped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::bench {

class Child {
 public:
  /// Starts a program; words[0] is its path. Io when it cannot be started.
  static Result<Child> start(std::vector<std::string> words);
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child& operator=(Child&&) = delete;
  /// Closes its standard input, which is a reason for it to end, and waits a little before it ends
  /// it.
  ~Child();

  /// The answer, without the end of the line. Io when the program has ended, or says nothing for
  /// `patience` seconds; it is not asked again then.
  Result<std::string> ask(std::string_view question, double patience);

 private:
  Child(int pid, int end) : pid_(pid), end_(end) {}
  Result<void> write(std::string_view text) const;

  int pid_ = -1;
  int end_ = -1;      // of a socket, its standard input and output at the other end
  std::string rest_;  // read, and not yet given out
};

}  // namespace ww::bench
