// SPDX-License-Identifier: Apache-2.0
// A server on pipes: bytes in, bytes out, the status, the log.
#include "lsp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "lsp/protocol.h"

namespace ww::lsp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Served {
  Result<int> status = 0;
  std::string out = {};
};

// All the input is there before the server starts, and its answers fit into a pipe.
Served served(const std::string& input, const std::string& log = {}) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) throw std::runtime_error("no pipe");
  EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  Served result{.status = serve({.version = "1", .in = in[0], .out = out[1], .log = log})};
  ::close(in[0]);
  ::close(out[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(out[0], buffer.data(), buffer.size())) > 0;)
    result.out.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(out[0]);
  return result;
}

const std::string kHello = framed(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
const std::string kShutdown = framed(R"({"jsonrpc":"2.0","id":2,"method":"shutdown"})");
const std::string kExit = framed(R"({"jsonrpc":"2.0","method":"exit"})");

TEST(Serve, SaysGoodbye) {
  const Served all = served(kHello + kShutdown + kExit);
  EXPECT_EQ(*all.status, 0);
  EXPECT_THAT(all.out, AllOf(testing::StartsWith("Content-Length: "),
                             HasSubstr(R"({"jsonrpc":"2.0","id":2,"result":null})")));
  EXPECT_EQ(*served(kHello + kExit).status, 1);
  EXPECT_EQ(*served(kHello).status, 1) << "the end of the input";
  EXPECT_EQ(*served(kHello + kShutdown).status, 0);
  EXPECT_EQ(*served("").status, 1);
}

TEST(Serve, AnswersBadHeaders) {
  const Served broken = served(kHello + "Content-Length: x\r\n\r\n" + kShutdown);
  EXPECT_EQ(*broken.status, 1);
  EXPECT_THAT(broken.out,
              HasSubstr(R"("error":{"code":-32700,"message":"`Content-Length` is `x`)"));
  const Served large = served(kHello + "Content-Length: 67108865\r\n\r\n");
  EXPECT_THAT(large.out, HasSubstr("a message of 67108865 bytes, expected at most 67108864"));
}

TEST(Serve, KeepsALog) {
  const ScratchFolder folder = *ScratchFolder::make();
  ASSERT_EQ(*served(kHello + kShutdown + kExit, folder.file("log")).status, 0);
  std::ostringstream text;
  text << std::ifstream(folder.file("log")).rdbuf();
  EXPECT_THAT(text.str(),
              AllOf(HasSubstr(" -> {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\"}\n"),
                    HasSubstr(" <- {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}\n")));
  const Served none = served(kHello, folder.file("no/log"));
  ASSERT_FALSE(none.status);
  EXPECT_EQ(none.status.error().kind, DiagKind::Io);
}

}  // namespace
}  // namespace ww::lsp
