// SPDX-License-Identifier: Apache-2.0
// The kernel being written: the data that the whole emitter works on. Functions that take it as
// their first parameter do the work, by topic:
//
//   emit.cpp     the kernel around all others     memory.h     buffers, pointers, vectors
//   stmts.h      statements and instructions      calls.h      functions, shuffles, atomics, printf
//   exprs.h      scalar expressions
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/cuda/emit.h"
#include "emit/cuda/helpers.h"
#include "emit/cuda/names.h"
#include "emit/cuda/numbers.h"
#include "emit/cuda/pending.h"
#include "ir/known_words.h"
#include "ir/launch/launch.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::cuda {

/// A lane of a vector: its number in the text, and as a number where it is known.
struct Lane {
  std::string text;
  std::optional<int> number = {};
};

struct Context {
  Context(const ir::Function& function, const CudaOptions& cuda_options, ir::LaunchShape shape);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const ir::Function& f;
  const CudaOptions& options;
  ir::LaunchShape launch;
  ir::Facts facts;
  ir::Ranges ranges;
  Names names;
  PendingLoads pending;
  ir::KnownWords known;

  Helpers helpers;
  Numbers numbers;
  std::string kernel_name;                                     // in the text; `main` cannot be one
  std::vector<std::pair<std::string, std::string>> functions;  // of func_call: name, source
  std::optional<Diag> error;  // the first; what is written after it does not matter
  std::string out;            // the body of the kernel
  std::vector<Span> spans;    // of its lines
  Span at = {};               // of the statement that is being written
  int indent = 1;
};

/// Notes what CUDA C++ cannot express. Gives a placeholder to go on with.
std::string refuse(Context& c, Diag problem);
template <typename... Args>
std::string refuse(Context& c, Span span, fmt::format_string<Args...> format, Args&&... args) {
  return refuse(c, diag(DiagKind::NotEmitted, format, std::forward<Args>(args)...).with_span(span));
}

/// Adds a line to the kernel's body.
void line(Context& c, std::string_view text);
template <typename First, typename... Args>
void line(Context& c, fmt::format_string<First, Args...> format, First&& first, Args&&... args) {
  line(c, std::string_view(
              fmt::format(format, std::forward<First>(first), std::forward<Args>(args)...)));
}

}  // namespace ww::emit::cuda
