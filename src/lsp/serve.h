// SPDX-License-Identifier: Apache-2.0
// `warpwright lsp` as a library: a server on two file descriptors.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ww::lsp {

struct ServeRequest {
  std::string version = {};               // of the program
  std::vector<std::string> explore = {};  // the words that start the explorer, before the file
  int in = 0;
  int out = 1;
  std::string log = {};  // a file that gets a line for each message; empty: none
};

/// Serves until `exit`, the end of the input, or a header that cannot be read. The status to exit
/// with, by the protocol: 0 when `shutdown` came first, else 1. Io when the log cannot be written.
Result<int> serve(const ServeRequest& request);

}  // namespace ww::lsp
