// SPDX-License-Identifier: Apache-2.0
#include "explore/http_module.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "explore/guard.h"

namespace ww::explore {

namespace {

using Clock = std::chrono::steady_clock;

// What a browser may do with what it gets: scripts, styles and data from here alone, in no frame of
// another page, kept nowhere.
const httplib::Headers& safe_headers() {
  static const httplib::Headers headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return headers;
}

// --- a connection --------------------------------------------------------------------------------

/// A socket as the library reads and writes it, with a time for the whole request.
class Connection final : public httplib::Stream, public Peer {
 public:
  Connection(int socket, const std::atomic<bool>& stopping)
      : socket_(socket),
        stopping_(stopping),
        deadline_(Clock::now() + std::chrono::seconds(kReadSeconds)) {}
  ~Connection() override { close_slowly(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Of Peer
  [[nodiscard]] bool is_gone() const override {
    return stopping_ || wait_for(POLLRDHUP, Clock::now()) || has_failed_;
  }

  /// What lasts until the answer is sent.
  void hold(std::shared_ptr<void> what) { held_ = std::move(what); }

  // Of httplib::Stream
  [[nodiscard]] bool is_readable() const override { return wait_for(POLLIN, deadline_); }
  [[nodiscard]] bool is_writable() const override { return !has_failed_; }
  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_ && !fill()) return -1;
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    const auto deadline = Clock::now() + std::chrono::seconds(kWriteSeconds);
    size_t written = 0;
    while (written < size && !has_failed_) {
      if (!wait_for(POLLOUT, deadline)) has_failed_ = true;
      if (has_failed_) break;
      const ssize_t count =
          ::send(socket_, from + written, size - written, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) written += static_cast<size_t>(count);
      if (count < 0 && errno != EINTR && errno != EAGAIN) has_failed_ = true;
    }
    return has_failed_ ? -1 : static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = "", port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip = "", port = 0; }
  [[nodiscard]] socket_t socket() const override { return socket_; }

  [[nodiscard]] bool send_piece(std::string_view piece) {
    return write(piece.data(), piece.size()) >= 0;
  }

 private:
  // Whether the event comes before the time is over. Looks up now and then for the end of the server.
  [[nodiscard]] bool wait_for(short event, Clock::time_point deadline) const {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd entry{.fd = socket_, .events = event, .revents = 0};
      const int count = ::poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, 100)));
      if (count > 0) return (entry.revents & (event | POLLERR | POLLHUP | POLLNVAL)) != 0;
      if (left <= 0 || (stopping_ && event == POLLIN)) return false;
    }
  }
  bool fill() {
    if (!wait_for(POLLIN, deadline_)) return false;
    const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    begin_ = 0;
    end_ = count > 0 ? static_cast<size_t>(count) : 0;
    return count > 0;
  }
  // Bytes that were not read would make the system drop the answer: they are, for a moment.
  void close_slowly() {
    ::shutdown(socket_, SHUT_WR);
    const auto deadline = Clock::now() + std::chrono::milliseconds(300);
    size_t drained = 0;
    while (drained <= 2 * kMaxBody && wait_for(POLLIN, deadline)) {
      const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (count <= 0) break;
      drained += static_cast<size_t>(count);
    }
    ::close(socket_);
  }

  int socket_;
  const std::atomic<bool>& stopping_;
  Clock::time_point deadline_;
  bool has_failed_ = false;
  std::array<char, 16384> buffer_{};
  size_t begin_ = 0, end_ = 0;
  std::shared_ptr<void> held_;
};

// The connection whose request this thread answers: the library's handlers do not have it.
thread_local Connection* current = nullptr;

/// A thread for each connection, up to kMaxConnections; then the server accepts no more. Where the
/// system has no thread left, the one that accepts answers itself.
class Threads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ < kMaxConnections; });
    ++running_;
    const auto shared = std::make_shared<std::function<void()>>(std::move(task));
    try {
      std::thread([this, shared] { run(*shared); }).detach();
    } catch (const std::system_error&) {
      lock.unlock();
      run(*shared);
    }
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
  }

 private:
  void run(const std::function<void()>& task) {
    task();
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
};

// --- the server ----------------------------------------------------------------------------------

Head head_of(const httplib::Request& request) {
  return {.method = request.method,
          .target = request.target,
          .header = [&request](std::string_view name) {
            std::vector<std::string> values;
            const auto range = request.headers.equal_range(std::string(name));
            for (auto at = range.first; at != range.second; ++at) values.push_back(at->second);
            return values;
          }};
}

// The text of a message is ours: no character in it needs more than this.
std::string error_body(const std::string& text) {
  std::string out = "{\"error\": \"";
  for (const char c : text) {
    const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\';
    out += is_plain ? c : ' ';
  }
  return out + "\"}\n";
}

// What goes wrong in the middle of a stream ends it; the browser sees that it is cut.
bool write_stream(const std::function<void(const Write&)>& stream, httplib::DataSink& sink) {
  try {
    stream([&](std::string_view piece) { return sink.write(piece.data(), piece.size()); });
  } catch (const std::exception&) {
    return false;
  }
  sink.done();
  return true;
}

class Server final : public HttpServer, private httplib::Server {
 public:
  Server(std::string token, Respond respond) : respond_(std::move(respond)) {
    guard_.token = std::move(token);
    new_task_queue = [] { return new Threads; };
    set_payload_max_length(kMaxBody);
    // Not SO_REUSEPORT, the library's own choice: another program could share the port.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_default_headers(safe_headers());
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return before_body(request, response);
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          response.status = 500;
          response.set_content(error_body("a bug in Warpwright, or no memory"), "application/json");
        });
    Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      std::string path;
      if (guard_.refuse(head_of(request), path)) return;
      answer(request, path, response);
    });
  }

  bool bind(int port) {
    const std::string host = "127.0.0.1";
    guard_.port = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
    // The library lets five wait.
    return guard_.port > 0 && ::listen(svr_sock_, kMaxConnections) == 0;
  }
  [[nodiscard]] int port() const override { return guard_.port; }
  [[nodiscard]] std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/{}/", guard_.port, guard_.token);
  }
  void serve() override {
    if (!stopping_) (void)listen_after_bind();
  }
  void stop() override {
    stopping_ = true;
    httplib::Server::stop();
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, stopping_);
    current = &connection;
    bool is_closed = false;
    const bool good = process_request(connection, true, is_closed, [](httplib::Request& request) {
      request.headers.erase("Accept-Encoding");  // compressing for one's own machine takes longer
      request.headers.erase("Range");
      request.ranges.clear();
    });
    current = nullptr;
    return good;
  }

  HandlerResponse before_body(const httplib::Request& request, httplib::Response& response) {
    std::string path;
    if (const auto refusal = guard_.refuse(head_of(request), path)) {
      response.status = refusal->status;
      if (!refusal->text.empty())
        response.set_content(error_body(refusal->text), "application/json");
      return HandlerResponse::Handled;
    }
    if (request.method != "GET") return HandlerResponse::Unhandled;
    answer(request, path, response);
    return HandlerResponse::Handled;
  }

  void answer(const httplib::Request& request, const std::string& path,
              httplib::Response& response) {
    Answer made = respond_(request.method, path, request.body, *current);
    response.status = made.status;
    current->hold(std::move(made.hold));
    if (!made.stream) {
      response.body = std::move(made.body);
      return response.set_header("Content-Type", made.type);
    }
    response.set_chunked_content_provider(
        made.type, [stream = std::move(made.stream)](size_t, httplib::DataSink& sink) {
          return write_stream(stream, sink);
        });
  }

  Guard guard_;
  Respond respond_;
  std::atomic<bool> stopping_ = false;
};

std::unique_ptr<HttpServer> make(int port, const std::string& token, Respond respond, int& error) {
  auto server = std::make_unique<Server>(token, std::move(respond));
  if (server->bind(port)) return server;
  error = errno;
  return nullptr;
}

}  // namespace

}  // namespace ww::explore

const ww::explore::HttpModule ww_http_module{.version = WW_VERSION,
                                             .make_server = ww::explore::make};
