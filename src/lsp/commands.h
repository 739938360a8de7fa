// SPDX-License-Identifier: Apache-2.0
// workspace/executeCommand: the commands of the code lenses. Both take their time, so they are jobs
// of a thread of their own; a newer one for the same document takes the place of an older one.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lsp/analyst.h"
#include "lsp/connection.h"
#include "lsp/explorer.h"
#include "lsp/worker.h"

namespace ww::lsp {

class Commands {
 public:
  /// `explore`: the words that start the explorer, before the file. The others outlive it.
  Commands(Connection& connection, Analyst& analyst, std::vector<std::string> explore)
      : connection_(connection), analyst_(analyst), explorers_(std::move(explore)) {}

  // With the connection's lock held:
  /// Sends a response when the command has ended, or says what is wrong with the request.
  void execute(const Message& request);
  /// Ends the command of the request with that id, if there is one; it is still responded to.
  void cancel(const Json& id);

  /// Waits, without the lock, until no command is left.
  void wait_until_idle() { runner_.wait_until_idle(); }

 private:
  void run(const Json& id, const Document& document, const KernelChoice& choice);
  /// An empty `kernel`: the only one of the file.
  void explore(const Json& id, const Document& document, const std::string& kernel);
  /// The job of a command, which responds where it is dropped or fails.
  Job job_of(const Json& id, std::string key);

  Connection& connection_;
  Analyst& analyst_;
  Explorers explorers_;
  std::map<std::string, std::string> keys_;  // of jobs by the id of their requests, as text
  Worker runner_;                            // its jobs use all of the above
};

}  // namespace ww::lsp
