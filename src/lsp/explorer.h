// SPDX-License-Identifier: Apache-2.0
// The explorer as a program of its own: `warpwright explore FILE` prints an address on its first
// line and serves it until it is ended. One for each file and kernel, ended with this object.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/leftovers.h"
#include "base/result.h"

namespace ww::lsp {

class Explorers {
 public:
  /// The words before the file: the program, `explore`.
  explicit Explorers(std::vector<std::string> command) : command_(std::move(command)) {}
  ~Explorers();
  Explorers(const Explorers&) = delete;
  Explorers& operator=(const Explorers&) = delete;

  /// The address for a file, of a program that is there or is started. Io when it cannot be
  /// started or ends without an address, with what it said. Cancelled when `stop` is set.
  Result<std::string> address(const std::string& path, const std::string& kernel,
                              const std::atomic<bool>& stop);

 private:
  struct Running {
    int process = 0;
    int output = -1;
    std::string address = {};
    Leftover leftover;
  };
  static Result<Running> start(std::vector<std::string> words);
  static bool is_alive(const Running& running);
  static int end(Running& running);

  std::vector<std::string> command_;
  std::map<std::string, Running> running_;
};

}  // namespace ww::lsp
