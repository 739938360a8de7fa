// SPDX-License-Identifier: Apache-2.0
// What comments of a file say about its kernels, for files whose builders need arguments and for
// runs with arguments and expectations:
//
//   # warpwright: build(2, dtype="float16") --arg n=5 --expect 'B == A'
//   #   warpwright run scale.py --kernel 'build(2)' --expect 'B == A'
//
// The first form is an order to check that kernel. The second is a command line for people; its
// kernel, arguments and expectations are used where no order says otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "lsp/text.h"

namespace ww::lsp {

struct Directive {
  bool is_order = false;    // the first form
  std::string kernel = {};  // the expression; "": the only kernel of the file
  Span kernel_span = {};    // of the expression in an order
  std::string target = {};
  std::vector<std::string> args = {};
  std::vector<std::string> expects = {};
  std::optional<Diag> problem = {};  // with an order that cannot be read
};

/// Of a file with that name: command lines for other files, for a GPU, or with other options than
/// `--kernel`, `--target`, `--arg`, `--expect` and `--device` are for people alone.
std::vector<Directive> directives_of(const Text& text, std::string_view path);

}  // namespace ww::lsp
