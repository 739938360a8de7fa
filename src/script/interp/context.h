// SPDX-License-Identifier: Apache-2.0
// The state of the compile-time evaluator, which runs host Python and builds the IR of kernels
// while it runs them. This is the data that everything else works on; what happens to it is in
// functions that take it first (evaluator.h), in a file for each topic:
//
//   expressions, operators, collections   nodes of the tree, and values under operators
//   conversions                           what functions ask of values
//   access, layouts, regions              attributes and subscripts
//   calls, arguments                      functions and classes of the source
//   host_stmts, imports                   statements of the host
//   kernel, kernel_body                   kernels and their statements
//
// The functions of the language are in api/, as tables of BuiltinRow.
//
// Host code that is not modelled gives *opaque* values. They pass through assignments, calls and
// operators, and only an attempt to learn something from one is an error, which names its origin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/build.h"
#include "ir/function.h"
#include "script/compile.h"
#include "script/interp/value.h"

namespace ww::script {

struct PoolObject;

/// What `T.device_entry(launch=…)` declares: the ids that `T.cuda.block_idx` and its like read.
struct LaunchIds {
  std::vector<ir::ExprId> grid, block, cluster;  // extents, x first; empty without a launch
  std::map<ir::ScopeIdKind, std::vector<ir::VarId>> declared;
  std::size_t declarations = 0;   // statements at the begin of the kernel that declare them
  std::set<std::uint32_t> reads;  // what was read, by ExprId; a name is bound to it as it is
};

/// What is being built between `def` and the end of a kernel.
struct KernelContext {
  ir::Function function;
  std::vector<ir::Block> blocks;  // innermost last
  std::vector<Diag> errors;
  std::vector<PoolObject*> pools;
  std::set<std::uint32_t> inferred;  // scalars, by BufferId, with the type of their first value
  LaunchIds launch;
  std::map<const Object*, ir::VarId> extents;        // that the host has declared
  std::set<std::uint32_t> open_maps;                 // tensor maps without a value yet, by VarId
  std::map<std::uint32_t, ir::HardwareId> open_ids;  // of `T.env_thread`, not launched yet
  bool in_device = false;
  int loops = 0;
  std::size_t first_serial = 0;    // objects from this serial on were made in the kernel
  const Env* constants = nullptr;  // while its parameters are bound: the constants among them
};

/// What an evaluation may still take; the heap counts memory.
struct Budget {
  static constexpr int kMaxDepth = 1000;  // of expressions and statements inside each other
  std::uint64_t steps_left;
  const char* stack_base;  // where the C++ stack stood at the start
  int depth = 0;
  int inline_depth = 0;
};

/// A file that others import.
struct FileScope {
  Env* env = nullptr;
  std::optional<Diag> failure = {};  // why it has not run to its end
};

/// The host function that runs, or the module.
struct HostCall {
  Value returned;
  std::optional<Diag> ambiguous_return;  // a `return` that may or may not be taken
  std::optional<Span> yielded;           // a `yield`
};

struct Context {
  Context(const Options& options, Dialect file_dialect, SymbolTable names);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Heap heap;
  SymbolTable symbols;
  Dialect dialect;
  std::optional<target::Target> target;  // what is compiled for, where that is known
  Budget budget;

  const Unit* unit = nullptr;        // of the code that runs
  std::optional<Span> library_call;  // the user's call that code of a library runs for
  std::vector<std::unique_ptr<Env>> envs;
  Env* module = nullptr;
  std::map<std::string, FileScope, std::less<>> files;  // that can be imported, by module
  const Env* library = nullptr;  // classes that T has and that are written in the language
  HostCall host_call;
  std::optional<Value> last_needed;  // the opaque value of the last error about one

  KernelContext* kernel = nullptr;     // under construction
  std::vector<KernelObject*> kernels;  // in the order in which they were defined

  [[nodiscard]] const Ast& ast() const { return unit->ast; }
  [[nodiscard]] Span span(Place place) const {
    return unit->is_library && library_call ? *library_call : unit->span(place);
  }
  [[nodiscard]] Span span(ExprId id) const { return span(ast()[id].place); }
  [[nodiscard]] bool in_kernel() const { return kernel != nullptr; }
  [[nodiscard]] ir::Function& fn() const { return kernel->function; }
};

Env* new_env(Context& in, Env* parent);
/// Fails when the budget of steps or memory is used up.
Result<void> spend(Context& in, std::uint64_t steps, Span span);
/// The same for a comparison of two values, which may have given up.
Result<void> spend(Context& in, const Comparison& comparison, const Value& a, const Value& b,
                   Span span);
/// A statement of that kind, to be filled in and emitted.
ir::Stmt stmt_node(ir::StmtKind kind, Span span);
/// A new variable of the kernel.
ir::VarId new_var(Context& in, ir::VarKind kind, ir::Type type, Span span,
                  std::string_view name = {});
/// Adds a statement to the innermost block of the kernel.
ir::StmtId emit(Context& in, ir::Stmt stmt);
/// A call for what it does.
void emit_call(Context& in, ir::ExprId call, Span span);
/// A store to what an expression loads.
void emit_store(Context& in, ir::ExprId place, ir::ExprId value, Span span);

/// Sets a variable for the time of a scope.
template <typename T>
class Saved {
 public:
  Saved(T& place, T value) : place_(place), old_(std::exchange(place, std::move(value))) {}
  ~Saved() { place_ = std::move(old_); }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;

 private:
  T& place_;
  T old_;
};

}  // namespace ww::script
