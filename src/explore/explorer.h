// SPDX-License-Identifier: Apache-2.0
// `warpwright explore` as a library: a page on which a kernel is edited, compiled, explained and
// stepped through, served on this machine alone.
//
//     Result<std::unique_ptr<Explorer>> explorer = Explorer::start({.file = …}, 0);
//     print(explorer->address());
//     explorer->serve();               // until stop(), from another thread
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "explore/http.h"
#include "explore/session.h"

namespace ww::explore {

class Explorer {
 public:
  /// Takes a port of 127.0.0.1 (0: any free one).
  static Result<std::unique_ptr<Explorer>> start(SessionOptions options, int port);

  [[nodiscard]] std::string address() const { return server_->address(); }
  void serve() { server_->serve(); }
  void stop() { server_->stop(); }
  [[nodiscard]] Session& session() { return session_; }

 private:
  explicit Explorer(SessionOptions options) : session_(std::move(options)) {}

  Session session_;
  std::unique_ptr<HttpServer> server_;
};

/// The answer to one request that the guard has let pass.
Answer answer_request(Session& session, const std::string& method, const std::string& path,
                      const std::string& body, const Peer& peer);

}  // namespace ww::explore
