// SPDX-License-Identifier: Apache-2.0
// From source text to the IR of one kernel.
//
//   const SourceText source("gemm.py", text);
//   const Compiled compiled = compile(source, {.kernel = "build(num=2, trans=False)"});
//   for (const Diag& error : compiled.errors) std::cerr << compiled.render(error);
//
// Nothing in a source can touch a file, a process or the network; steps, recursion and memory are
// bounded. The same text gives the same function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "base/embedded_file.h"
#include "base/result.h"
#include "base/source.h"
#include "infer/infer.h"
#include "ir/function.h"
#include "target/target.h"

namespace ww::script {

/// The two spellings of the language. They differ in meaning in one thing, the order of the
/// elements of `.local()`: D1 keeps the order of the layout's iters, D2 counts places in storage.
enum class Dialect : std::uint8_t { D1, D2 };
std::string_view name_of(Dialect dialect);  // "d1", "d2"

/// A file of the source behind the first: the module that others import it as, and statements of
/// host Python that run before it, in its scope. It has a scope of its own.
struct ModuleFile {
  std::string module;
  std::string prelude = {};
};

struct Options {
  /// Which kernel: an expression over the file's names, with `::name` behind it for a kernel that
  /// is defined while the expression is evaluated. Empty: the only kernel of the file, or its value
  /// `kernel` where it defines none.
  std::string kernel = {};
  /// Statements of host Python that run before the file, in its scope: values that a caller binds
  /// to names of it.
  std::string prelude = {};
  /// The module that the other files import the first as, and the first itself; empty: none.
  std::string module = {};
  /// One for each file of the source behind the first. They run before the first, in this order;
  /// what files import of files that come later is there when all have run.
  std::vector<ModuleFile> modules = {};
  /// Overrides what the file's imports say.
  std::optional<Dialect> dialect = {};
  /// Its limits and instructions count when the kernel is verified; none: those of any target.
  std::optional<target::Target> target = {};
  /// Steps of evaluation: expressions and statements.
  std::uint64_t max_steps = 50'000'000;
};

struct Compiled {
  std::optional<ir::Function> function;  // when there are no errors
  std::vector<Diag> errors;              // in the order of the source
  infer::Layouts layouts = {};           // of buffers with `layout="auto"`
  Dialect dialect = Dialect::D1;
  SourceText source;  // the file
  /// The kernel expression, and behind it the preludes, each after a line break; their places
  /// follow the source's.
  SourceText expression;

  /// The diagnostic as people read it, each place in the text it belongs to.
  [[nodiscard]] std::string render(const Diag& diag) const;
};

/// Compiles the chosen kernel. Never throws on bad input.
Compiled compile(const SourceText& source, const Options& options = {});

/// Whether a text can be read as Options::kernel, whatever its names are: Syntax, TooLarge, with
/// the place in it.
Result<void> check_kernel_syntax(std::string_view kernel);

// --- modules that a text imports -----------------------------------------------------------------
//
// The modules that a source file imports and the language does not have.

/// Names without dots, in the order of the text, each once; none for a text that cannot be read.
std::vector<std::string> imported_modules(std::string_view text);

// --- the library of classes ----------------------------------------------------------------------
//
// Classes for kernels that are written in the language itself (script/library.py): barriers, the
// stages of a ring, roles of warps, tile schedulers. A source that names one is compiled together
// with the file.

/// What the file is called, in errors too: the module that TVM has these classes in.
inline constexpr std::string_view kLibraryModule = "tvm.backend.cuda.lang";

/// The one file, which cmake/embed.cmake puts there.
std::span<const EmbeddedFile> library_files();
inline std::string_view library_text() { return library_files().front().text; }

/// A class of the library, with the comment on what it is for.
struct LibraryClass {
  std::string_view name;
  std::string_view text;
};
const std::vector<LibraryClass>& library_classes();

/// Whether a text has the name of one of them in it.
bool names_library_class(std::string_view text);

}  // namespace ww::script
