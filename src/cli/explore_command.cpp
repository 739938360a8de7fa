// SPDX-License-Identifier: Apache-2.0
// `warpwright explore`: the explorer's page on this machine. Everything is in explore/explorer.h; the
// environment and signals are this file's. It prints while it works: the address is worth something
// only then.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/file_io.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "cli/stop_signals.h"
#include "cli/version.h"
#include "driver/build.h"
#include "explore/explorer.h"
#include "explore/export.h"

namespace ww::cli::explore_command {
namespace {

constexpr std::int64_t kMaxPort = 65535;
constexpr std::int64_t kMaxSeconds = 3600;

struct Options {
  driver::SourceRequest source;
  std::int64_t port = 0;
  std::int64_t seconds = 60;
  std::string exported;  // a file to write instead
  bool opens = false;
};

Result<std::optional<explore::OpenedFile>> read_file(const driver::SourceRequest& source) {
  if (source.path.empty()) return std::optional<explore::OpenedFile>();
  const SourceText text = WW_TRY(driver::read_source(source.path));
  return explore::OpenedFile{.name = source.path,
                             .source = std::string(text.text()),
                             .kernel = source.kernel,
                             .target = source.target};
}

// The browser may be this program's child for as long as it likes; it goes on when this one ends.
Result<void> open_page(const std::string& address) {
  for (const char* name : {"xdg-open", "open"}) {
    const std::string program = find_program(name, environment("PATH"));
    if (program.empty()) continue;
    const int child = WW_TRY(start_program({program, address}, {}, {}, Group::Own));
    std::thread([child] { (void)::waitpid(child, nullptr, 0); }).detach();
    return {};
  }
  return fail(DiagKind::Io, "`--open`: neither `xdg-open` nor `open` is on the PATH");
}

Outcome write_page(const Options& options, explore::SessionOptions given) {
  explore::Session session(std::move(given));
  const auto page = explore::exported_page(session);
  if (!page) return user_error(page.error());
  const auto written = write_file_atomically(options.exported, *page);
  if (!written) return user_error(written.error());
  return {.out = fmt::format("{} written\n", printable_name(options.exported))};
}

bool write_now(int descriptor, const std::string& text) {
  return ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// What is too large for base/pooled_new.h, an answer's text for one, goes back to the system when it is
// freed. glibc would keep it for each of its arenas, and every request has a thread of its own.
void keep_no_large_blocks() {
#ifdef M_MMAP_THRESHOLD
  (void)::mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

Outcome serve(const Options& options) {
  auto file = read_file(options.source);
  if (!file) return user_error(file.error());
  explore::SessionOptions session{.version = std::string(version()),
                                  .file = *std::move(file),
                                  .sass = sass_tools(),
                                  .program = own_program(),
                                  .limits = {.seconds = static_cast<double>(options.seconds)}};
  if (!options.exported.empty()) return write_page(options, std::move(session));
  auto explorer = explore::Explorer::start(std::move(session), static_cast<int>(options.port));
  if (!explorer) return user_error(explorer.error());
  keep_no_large_blocks();
  const StopSignals signals([&] { (*explorer)->stop(); });
  if (!write_now(STDOUT_FILENO, (*explorer)->address() + "\n"))
    return user_error(diag(DiagKind::Io, "cannot write the address to standard output"));
  // Without a browser of ours, the address can still be opened by hand.
  if (options.opens)
    if (const auto opened = open_page((*explorer)->address()); !opened)
      (void)write_now(STDERR_FILENO, render(opened.error()));
  (*explorer)->serve();
  return {};
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.argument("FILE", options->source.path, Need::Optional,
               "the source file to open; without it the page begins with an example");
  declare_kernel(set, options->source);
  set.number("--port", options->port, 0, kMaxPort, "port to listen on (default 0: any free one)");
  set.number("--seconds", options->seconds, 1, kMaxSeconds,
             "time limit of a request in seconds (default 60)");
  set.text("--export", "FILE", options->exported,
           "write a read-only page about FILE that needs no server, and end");
  set.flag("--open", options->opens, "open the page in the browser");
  return [options] { return serve(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "explore",
    .summary = "edit, explain and step through a kernel in the browser",
    .description =
        "Serves a page on this machine and prints its address. On the page you edit, compile and\n"
        "explain a kernel and step through its run on the virtual GPU, without a GPU or network.\n"
        "The address holds a secret, and only this machine can reach it. Ctrl-C ends it.\n"
        "docs/reference/explorer.md describes the requests of the page and their answers.",
    .examples =
        "# a page on a file\n"
        "warpwright explore examples/transpose.py --open\n"
        "# one file to send to others: the page with all answers in it, read-only\n"
        "warpwright explore examples/transpose.py --export transpose.html\n"
        "# on a remote machine, through an SSH tunnel: open the printed address here\n"
        "ssh -L 8080:127.0.0.1:8080 gpu warpwright explore gemm.py --port 8080",
    .set_up = set_up};

}  // namespace ww::cli::explore_command
