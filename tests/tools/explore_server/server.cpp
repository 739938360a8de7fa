// SPDX-License-Identifier: Apache-2.0
#include "tools/explore_server/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "base/process.h"

namespace ww::explore_server_test {
namespace {

namespace fs = std::filesystem;

std::string read_line(int descriptor) {
  std::string out;
  char c = 0;
  while (::read(descriptor, &c, 1) == 1 && c != '\n') out += c;
  return out;
}

std::size_t entries(const std::string& folder) {
  std::error_code error;
  const fs::directory_iterator all(folder, error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

// --- a client ------------------------------------------------------------------------------------

Client::Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

Client::Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

bool Client::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Client::half_close() const { ::shutdown(socket_, SHUT_WR); }

std::string Client::receive() const {
  std::string out(4096, '\0');
  const ssize_t count = ::recv(socket_, out.data(), out.size(), 0);
  out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return out;
}

std::string Client::receive_all() const {
  std::string out;
  while (true) {
    const std::string part = receive();
    if (part.empty()) return out;
    out += part;
  }
}

std::string Client::receive_until(std::string_view word) const {
  std::string out;
  while (out.find(word) == std::string::npos) {
    const std::string part = receive();
    if (part.empty()) return "";
    out += part;
  }
  return out;
}

Reply parse_reply(const std::string& bytes) {
  Reply out;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.1 ") || end == std::string::npos) return out;
  out.status = std::atoi(bytes.c_str() + 9);
  out.head = bytes.substr(0, end);
  out.body = bytes.substr(end + 4);
  return out;
}

// --- the server ----------------------------------------------------------------------------------

Server::Server(std::vector<std::string> options) {
  int ends[2] = {-1, -1};
  int error_ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(error_ends, O_CLOEXEC), 0);
  errors_ = error_ends[0];
  std::vector<std::string> words = {WW_PROGRAM, "explore"};
  words.insert(words.end(), options.begin(), options.end());
  const auto started = start_program(words, {.out = ends[1], .err = error_ends[1]});
  ::close(ends[1]);
  ::close(error_ends[1]);
  EXPECT_TRUE(started);
  process_ = started.value_or(0);
  const std::string address = read_line(ends[0]);
  ::close(ends[0]);
  const std::string begin = "http://127.0.0.1:";
  EXPECT_TRUE(address.starts_with(begin) && address.ends_with("/")) << address;
  if (address.size() <= begin.size() + 34) return;
  port_ = std::atoi(address.c_str() + begin.size());
  token_ = address.substr(address.size() - 33, 32);
  (void)get("api/start");  // all threads that stay are there now
  threads_ = usage().threads;
  while (usage().threads < threads_) threads_ = usage().threads;
}

Server::~Server() {
  if (process_ > 0) (void)end(SIGKILL);
  ::close(errors_);
}

std::string Server::said() const { return read_line(errors_); }

std::string Server::head(std::string_view call, std::size_t size) const {
  return fmt::format(
      "POST /{}/api/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nOrigin: http://127.0.0.1:{}\r\n"
      "Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
      token_, call, port_, port_, size);
}

Reply Server::raw(std::string_view bytes) const {
  const Client client = connect();
  (void)client.send(bytes);
  return parse_reply(client.receive_all());
}

Reply Server::post(std::string_view call, std::string_view body) const {
  return raw(head(call, body.size()) + std::string(body));
}

Reply Server::get(std::string_view path) const {
  return raw(fmt::format("GET /{}/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", token_, path, port_));
}

Usage Server::usage() const {
  Usage out;
  out.threads = entries(fmt::format("/proc/{}/task", process_));
  out.files = entries(fmt::format("/proc/{}/fd", process_));
  std::ifstream status(fmt::format("/proc/{}/status", process_));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) out.kilobytes = std::strtoull(line.c_str() + 6, nullptr, 10);
  return out;
}

void Server::settle() const {
  while (is_alive() && usage().threads > threads_)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

bool Server::is_alive() const { return ::waitpid(process_, nullptr, WNOHANG) == 0; }

// A program belongs to the thread that started it.
std::vector<int> Server::children() const {
  std::vector<int> out;
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process_), gone)) {
    std::ifstream in(task.path() / "children");
    out.insert(out.end(), std::istream_iterator<int>(in), std::istream_iterator<int>());
  }
  return out;
}

void Server::outlive_children() const {
  while (is_alive() && !children().empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

int Server::end(int signal) {
  int status = 0;
  ::kill(process_, signal);
  if (::waitpid(std::exchange(process_, 0), &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace ww::explore_server_test
