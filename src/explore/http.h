// SPDX-License-Identifier: Apache-2.0
// An HTTP server on 127.0.0.1, small and wary: one request per connection, bounded numbers, sizes and
// times. cpp-httplib parses and writes; it is in a module that is loaded when a server is made
// (http_module.h).
//
// A connection has its own thread. Reading a request may take kReadSeconds in all, however slowly it
// comes; more connections than kMaxConnections wait to be accepted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::explore {

inline constexpr int kMaxConnections = 256;
inline constexpr int kReadSeconds = 5;
inline constexpr int kWriteSeconds = 30;  // for what is written at once

/// The browser's end of a connection.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Whether it has gone away, or the server is told to stop: then the answer is of no use.
  [[nodiscard]] virtual bool is_gone() const = 0;
};

/// Takes a piece of a streamed answer; false: the browser takes no more.
using Write = std::function<bool(std::string_view)>;

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::function<void(const Write&)> stream = {};  // instead of the body, piece by piece
  std::shared_ptr<void> hold = {};                // kept until the answer is sent
};

/// Answers a request that the guard lets pass: the method, the path below the token, the body.
using Respond = std::function<Answer(const std::string& method, const std::string& path,
                                     const std::string& body, const Peer& peer)>;

class HttpServer {
 public:
  virtual ~HttpServer() = default;
  [[nodiscard]] virtual int port() const = 0;
  /// "http://127.0.0.1:PORT/TOKEN/".
  [[nodiscard]] virtual std::string address() const = 0;
  /// Answers until `stop` is called, and returns when all connections are closed.
  virtual void serve() = 0;
  /// From any thread.
  virtual void stop() = 0;
};

/// Takes a port (0: any free one). Io where it is taken, and where the module is missing or of another
/// version than this, the program's; BadArgument where the program was compiled without cpp-httplib.
Result<std::unique_ptr<HttpServer>> make_server(const std::string& version, int port,
                                                const std::string& token, Respond respond);

}  // namespace ww::explore
