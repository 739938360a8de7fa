// SPDX-License-Identifier: Apache-2.0
// workspace/executeCommand: the commands of the code lenses. Both take their time, so they are jobs
// of a thread of their own; a newer one for the same document takes the place of an older one.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/leftovers.h"
#include "base/result.h"
#include "lsp/analyst.h"
#include "lsp/connection.h"
#include "lsp/worker.h"

namespace ww::lsp {

// --- explorer ------------------------------------------------------------------------------------
//
// The explorer as a program of its own: `warpwright explore FILE` prints an address on its first
// line and serves it until it is ended. One for each file and kernel, ended with this object.

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
