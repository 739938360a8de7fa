// SPDX-License-Identifier: Apache-2.0
// `warpwright explore` as a process of its own, and a client that sends it anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ww::explore_server_test {

/// A connection to the server.
class Client {
 public:
  explicit Client(int port);
  ~Client();
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;

  /// False: the server takes no more.
  bool send(std::string_view bytes) const;
  /// No more will be sent.
  void half_close() const;
  /// What comes next, up to a number of bytes; empty: the server has closed it.
  [[nodiscard]] std::string receive() const;
  /// All that comes until the server closes it.
  [[nodiscard]] std::string receive_all() const;
  /// Lines of a stream, until one holds the word; empty: it ended before.
  [[nodiscard]] std::string receive_until(std::string_view word) const;

 private:
  int socket_;
};

struct Reply {
  int status = 0;  // 0: nothing came
  std::string head, body;
};
Reply parse_reply(const std::string& bytes);

/// What a process has in use.
struct Usage {
  std::size_t threads = 0, files = 0, kilobytes = 0;
};

class Server {
 public:
  explicit Server(std::vector<std::string> options = {});
  /// Ends the process, whatever it does.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] Client connect() const { return Client(port_); }
  /// The head of a POST as the page sends it, for a body of that size.
  [[nodiscard]] std::string head(std::string_view call, std::size_t size) const;
  [[nodiscard]] Reply post(std::string_view call, std::string_view body) const;
  [[nodiscard]] Reply get(std::string_view path) const;
  [[nodiscard]] Reply raw(std::string_view bytes) const;

  /// A line of what it writes to standard error.
  [[nodiscard]] std::string said() const;
  [[nodiscard]] Usage usage() const;
  /// Waits until it has no more threads than when it started.
  void settle() const;
  [[nodiscard]] bool is_alive() const;
  [[nodiscard]] std::vector<int> children() const;
  /// Waits until the programs that it started are gone. A thread that ends them with the server stays.
  void outlive_children() const;
  /// Sends a signal and waits for the end: its exit status; -1: it died of a signal.
  int end(int signal);

 private:
  int process_ = 0, port_ = 0;
  int errors_ = -1;  // its standard error
  std::string token_;
  std::size_t threads_ = 0;
};

}  // namespace ww::explore_server_test
