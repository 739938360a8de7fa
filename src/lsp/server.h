// SPDX-License-Identifier: Apache-2.0
// The language server: messages in, messages out. It knows which message may come when, and hands
// each to what answers it: the analyst or the commands, which have threads of their own.
//
//   Server server({.version = "1.0"}, [](const Json& message) { send(message); });
//   while (!server.is_done()) server.receive(next_message());
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lsp/analyst.h"
#include "lsp/commands.h"
#include "lsp/connection.h"

namespace ww::lsp {

struct ServerOptions {
  std::string version = {};
  std::vector<std::string> explore = {};  // the words that start the explorer, before the file
};

class Server {
 public:
  Server(ServerOptions options, Connection::Send send);

  /// The contents of one message, whatever they are.
  void receive(std::string_view contents);
  /// A message that could not be read at all.
  void refuse(ErrorCode code, std::string_view text);

  /// After `exit`.
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// By the protocol: 0 when `shutdown` came before the end, else 1.
  [[nodiscard]] int status() const { return is_shut_down_ ? 0 : 1; }

  /// For tests: until no job is left.
  void wait_until_idle();

 private:
  void handle_request(const Message& message);
  void handle_notification(const Message& message);
  void initialize(const Message& message);

  std::string version_;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool is_done_ = false;
  Connection connection_;
  Analyst analyst_;
  Commands commands_;  // the last: its jobs, which are still answered at the end, use the others
};

// --- messages from a file descriptor -------------------------------------------------------------
//
// `warpwright lsp` as a library: a server on two file descriptors.

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
