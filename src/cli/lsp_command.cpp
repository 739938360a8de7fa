// SPDX-License-Identifier: Apache-2.0
// `warpwright lsp`: the Language Server Protocol on standard input and output. Everything is in
// lsp/server.h.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/version.h"
#include "lsp/server.h"

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
  set.flag("--stdio", options->stdio,
           "accepted because many clients pass it; stdio is the only transport");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "lsp",
    .summary = "serve editors: the Language Server Protocol on standard input and output",
    .description =
        "The server that an editor starts. It checks kernels while you type and offers quick\n"
        "fixes, shows layouts and plans on hover and the instructions after each primitive, and\n"
        "runs kernels on the virtual GPU. docs/guide/editor.md shows how to set up VS Code,\n"
        "Neovim and Emacs. Exit status 0: the editor shut it down; 1: the connection ended first.",
    .examples =
        "# the command that an editor starts\n"
        "warpwright lsp\n"
        "# with a log of all messages\n"
        "warpwright lsp --log /tmp/warpwright-lsp.log",
    .set_up = set_up};

}  // namespace ww::cli::lsp_command
