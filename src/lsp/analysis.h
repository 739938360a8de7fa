// SPDX-License-Identifier: Apache-2.0
// What the compiler knows of a document: its kernels, each compiled and lowered, and its problems.
//
// A file's kernels are what `warpwright` would offer: functions that are kernels, and
// builders that can be called without arguments. A comment `# warpwright: build(2)` names others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "base/proposal.h"
#include "driver/build.h"
#include "lsp/documents.h"
#include "script/interp/candidates.h"

namespace ww::lsp {

// --- directives ----------------------------------------------------------------------------------
//
// What comments of a file say about its kernels, for files whose builders need arguments and for
// runs with arguments and expectations:
//
//   # warpwright: build(2, dtype="float16") --arg n=5 --expect 'B == A'
//   #   warpwright run scale.py --kernel 'build(2)' --expect 'B == A'
//
// The first form is an order to check that kernel. The second is a command line for people; its
// kernel, arguments and expectations are used where no order says otherwise.

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

/// More kernels of one file are not checked, and a remark says so.
inline constexpr std::size_t kMaxKernels = 24;

/// As the protocol numbers them.
enum class Severity : std::uint8_t { Error = 1, Warning = 2, Information = 3, Hint = 4 };

/// What a client shows below the text. Places are bytes of the document.
struct Problem {
  Severity severity = Severity::Error;
  std::string code;  // "UnknownName"
  std::string text;
  Span span;                // known
  std::vector<Note> notes;  // without a place where that is not in the document
  std::optional<Proposal> fix = {};
};

/// The tree of a text that could be parsed.
struct Syntax {
  std::shared_ptr<const Text> text;
  script::Ast ast;
  script::SymbolTable symbols;
  std::vector<script::Candidate> candidates;
};

/// A kernel to check and to run.
struct KernelChoice {
  std::string expression;   // what `--kernel` would say
  Span at = {};             // where it is shown: the name of a function, or an order
  Span body = {};           // the definition; unknown: somewhere else
  Span written = {};        // the expression in an order; unknown: nowhere
  std::string target = {};  // and what a run of it is given
  std::vector<std::string> args = {};
  std::vector<std::string> expects = {};
};

struct KernelAnalysis {
  KernelChoice choice;
  driver::Build build;  // up to Phase::Lowered
};

struct Analysis {
  std::string path;
  std::int64_t version = 0;
  std::shared_ptr<const Text> text;
  std::shared_ptr<const Syntax> syntax;  // of this text, or of the last before it that had one
  std::vector<KernelAnalysis> kernels;
  std::vector<Problem> problems;  // in the order of the text, none twice
  /// Names of buffers; where a kernel has errors also those of the document before.
  std::vector<std::string> buffers;

  /// The kernel whose definition has this place; else the first; null: there is none.
  [[nodiscard]] const KernelAnalysis* kernel_at(std::size_t offset) const;
};

/// Compiles everything. `last` is what was known of the document before, or null. Ends with
/// Cancelled (base/cancel.h) when its scope says so.
Analysis analyse(const Document& document, const Analysis* last);
/// Problems that only show when PTX is written; takes as long as half of analyse.
std::vector<Problem> emission_problems(const Analysis& analysis);

/// Where a place of a build lies in the document; nothing: elsewhere.
std::optional<Span> place_in_document(const KernelAnalysis& kernel, Span span);

}  // namespace ww::lsp
