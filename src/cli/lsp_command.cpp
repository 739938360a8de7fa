// SPDX-License-Identifier: Apache-2.0
// `warpwright lsp`: the Language Server Protocol on standard input and output. Everything is in
// lsp/serve.h.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/version.h"
#include "lsp/serve.h"

namespace ww::cli::lsp_command {
namespace {

struct Options {
  std::string log;
  bool stdio = false;
};

Outcome run(const Options& options) {
  lsp::ServeRequest request;
  request.version = std::string(version());
  request.explore = {own_program(), "explore"};
  request.log = options.log;
  const auto status = serve(request);
  if (!status) return user_error(status.error());
  return {.status = *status == 0 ? Exit::Good : Exit::Unexpected};
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.text("--log", "FILE", options->log,
           "add a line for each message to this file: milliseconds, direction, JSON");
  set.flag("--stdio", options->stdio, "what many clients add; it is always so");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "lsp",
    .summary = "serve editors: the Language Server Protocol on standard input and output",
    .description =
        "Started by an editor: checks kernels while you type, with quick fixes; shows layouts and\n"
        "plans on hover, the instructions behind each primitive, and runs kernels on the virtual\n"
        "GPU. docs/guide/editor.md has the lines that set up VS Code, Neovim and Emacs. Exit\n"
        "status 0: the editor said goodbye; 1: it went away without.",
    .examples =
        "# what an editor starts\n"
        "warpwright lsp\n"
        "# with a record of what was said\n"
        "warpwright lsp --log /tmp/warpwright-lsp.log",
    .set_up = set_up};

}  // namespace ww::cli::lsp_command
