// SPDX-License-Identifier: Apache-2.0
// The explorer's server as a module: that no other command loads it, what `explore` says where it is
// missing or wrong, and that exceptions of answers pass through it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/cancel.h"
#include "base/file_io.h"
#include "base/process.h"
#include "explore/http_module.h"
#include "tools/explore_server/server.h"

namespace ww::explore_server_test::module_test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFile = explore::kHttpModuleFile;

// --- loading it ----------------------------------------------------------------------------------

// The loader lists what it would load, and starts nothing.
TEST(HttpModule, IsNotLoadedWithTheProgram) {
  const std::string env = find_program("env", "/usr/bin:/bin");
  const Finished loaded = run_program({env, "LD_TRACE_LOADED_OBJECTS=1", WW_PROGRAM}).value();
  EXPECT_THAT(loaded.output, HasSubstr("libc.so"));
  for (const char* library : {"httplib", "libssl", "libcrypto", "libbrotli", "libz."})
    EXPECT_THAT(loaded.output, Not(HasSubstr(library)));
}

/// The program in a folder of its own, with what stands beside it there.
class Alone {
 public:
  Alone() { fs::copy_file(WW_PROGRAM, program()); }

  [[nodiscard]] std::string at(const std::string& name) const {
    return (fs::canonical(folder_.path()) / name).string();  // as /proc/self/exe has it
  }
  [[nodiscard]] std::string program() const { return at("warpwright"); }
  /// What `explore` says, which ends at once.
  [[nodiscard]] std::string said() const {
    const Finished ended = run_program({program(), "explore"}).value();
    EXPECT_EQ(ended.status, 2);
    return ended.output;
  }

 private:
  ScratchFolder folder_ = ScratchFolder::make().value();
};

TEST(HttpModule, SaysWhereItWasLookedFor) {
  const Alone alone;
  const std::string said = alone.said();
  EXPECT_THAT(said, HasSubstr("the explorer's server `warpwright-http.so` is not here"));
  EXPECT_THAT(said, HasSubstr("looked for `" + alone.at(kFile) + "`"));
  EXPECT_THAT(said, HasSubstr("/libexec/warpwright/warpwright-http.so`"));
  EXPECT_THAT(said, HasSubstr("build the target `warpwright-http`"));
  EXPECT_TRUE(run_program({alone.program(), "--version"})->good());
}

TEST(HttpModule, SaysWhyItCannotBeLoaded) {
  const Alone alone;
  ASSERT_TRUE(write_file_atomically(alone.at(kFile), "no library\n"));
  const std::string said = alone.said();
  EXPECT_THAT(said, HasSubstr("the explorer's server cannot be loaded: " + alone.at(kFile)));
  EXPECT_THAT(said, HasSubstr("`ldd " + alone.at(kFile) + "`"));
}

TEST(HttpModule, AnotherLibraryIsRefused) {
  const Alone alone;
  fs::copy_file(WW_MODULE_WITHOUT_SERVER, alone.at(kFile));
  EXPECT_THAT(alone.said(),
              HasSubstr("`" + alone.at(kFile) + "` is not the explorer's server: it " +
                        "has no `ww_http_module`"));
}

TEST(HttpModule, AnotherVersionIsRefused) {
  const Alone alone;
  fs::copy_file(WW_MODULE_OF_OTHER_VERSION, alone.at(kFile));
  const std::string said = alone.said();
  EXPECT_THAT(said, HasSubstr("`" + alone.at(kFile) +
                              "` is of version 0.0.0-other, this program of version " WW_VERSION));
  EXPECT_THAT(said, HasSubstr("install the whole of one version of Warpwright"));
}

// --- exceptions ----------------------------------------------------------------------------------

explore::Answer answer(const std::string& path) {
  if (path == "standard") throw std::runtime_error("planted");
  if (path == "cancelled") throw Cancelled{};
  if (path == "stream")
    return {.stream = [](const explore::Write& write) {
      EXPECT_TRUE(write("begin"));
      throw std::runtime_error("planted");
    }};
  try {
    if (path == "caught") throw Cancelled{};
  } catch (const Cancelled&) {
    return {.body = "caught here"};
  }
  return {.body = "fine"};
}

std::string bytes_of(const explore::HttpServer& server, const std::string& path) {
  const Client client(server.port());
  (void)client.send(
      fmt::format("GET /token/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", path, server.port()));
  return client.receive_all();
}

TEST(HttpModule, ExceptionsOfAnswersReachTheirHandlers) {
  void* const handle = ::dlopen(WW_HTTP_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  const auto* const module =
      static_cast<const explore::HttpModule*>(::dlsym(handle, explore::kHttpModuleSymbol));
  ASSERT_NE(module, nullptr);
  int error = 0;
  const auto respond = [](const std::string&, const std::string& path, const std::string&,
                          const explore::Peer&) { return answer(path); };
  const auto server = module->make_server(0, "token", respond, error);
  ASSERT_NE(server, nullptr) << error;
  std::thread serving([&] { server->serve(); });

  EXPECT_EQ(parse_reply(bytes_of(*server, "standard")).status, 500);
  EXPECT_EQ(parse_reply(bytes_of(*server, "cancelled")).status, 500);
  EXPECT_EQ(parse_reply(bytes_of(*server, "caught")).body, "caught here");
  const std::string cut = bytes_of(*server, "stream");
  EXPECT_THAT(cut, HasSubstr("begin"));
  EXPECT_THAT(cut, Not(EndsWith("0\r\n\r\n")));
  EXPECT_EQ(parse_reply(bytes_of(*server, "more")).body, "fine");

  server->stop();
  serving.join();
}

}  // namespace
}  // namespace ww::explore_server_test::module_test
