// SPDX-License-Identifier: Apache-2.0
// The compile-time evaluator: runs host Python, and builds the IR of kernels while it runs them.
//
// One class, because everything in it shares the heap, the budget and the kernel under
// construction; its parts are files: expressions (eval.cpp), operators (operators.cpp), lists and
// dicts (collections.cpp), texts (format.cpp), what builtins ask of values (conversions.cpp,
// implicit.cpp), calls (calls.cpp, arguments.cpp), host statements (host_stmts.cpp, imports.cpp),
// classes (classes.cpp), kernel statements (kernel*.cpp) and the functions of the language
// (api_*.cpp, tables of BuiltinRow).
//
// Host code that is not modelled gives *opaque* values. They pass through assignments, calls and
// operators, and only an attempt to learn something from one is an error, which names its origin.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
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

class Interp;
struct PoolObject;

/// The arguments of a call as they stand: positional ones, then by name.
struct CallArgs {
  struct Named {
    std::string name;
    Value value;
    Span span;            // of the value
    Span name_span = {};  // of the name, where it is written
  };
  std::vector<Value> plain;
  std::vector<Span> spans;  // of `plain`
  std::vector<Named> named;
  Span call;    // the whole call
  Span callee;  // the function's name
};

/// Arguments of a builtin, bound to the parameters of its signature.
struct Args {
  const BuiltinRow* row = nullptr;
  std::vector<std::optional<Value>> values;  // one per named parameter
  std::vector<Span> spans;
  std::vector<Value> rest;  // `*name`
  std::vector<Span> rest_spans;
  std::vector<CallArgs::Named> extra;  // `**name`
  Span call;
  Value self;  // of a method

  [[nodiscard]] bool has(std::size_t i) const { return values[i].has_value(); }
  [[nodiscard]] const Value& operator[](std::size_t i) const { return *values[i]; }
  [[nodiscard]] Value get(std::size_t i) const { return values[i] ? *values[i] : none(); }
};

/// A function of the language or of Python: `signature` lists its parameters, `name` (needed),
/// `name?` (may be left out), `*name` (any number), `**name` (any keywords).
struct BuiltinRow {
  std::string_view name;  // "T.alloc_buffer", "len", "buffer.view"
  std::string_view signature;
  Result<Value> (*run)(Interp&, Args&);
  bool only_in_kernel = false;
};

/// A row's signature, taken apart.
struct Signature {
  std::vector<std::string_view> names;
  std::vector<bool> required;
  bool has_rest = false;
  bool has_extra = false;
};
Signature read_signature(std::string_view text);
/// The same, kept for the rows of the tables; null for others.
const Signature* signature_of(const BuiltinRow& row);

/// All rows, and look-up by full name.
const BuiltinRow* find_builtin(std::string_view name);
/// Does any row begin with these dotted words?
bool is_namespace(std::string_view path);
/// The last words of all rows directly below a path, for suggestions.
std::vector<std::string_view> members_of(std::string_view path);
/// Was it made by something in error, whole or in part?
bool is_in_error(const Value& value);
/// What `@` is for, said where it is used otherwise.
inline constexpr std::string_view kAxisNote =
    "`stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, "
    "TLane, TCol, of tvm.tirx.layout";

/// The namespace that a module's path stands for, if we know the module.
std::optional<std::string_view> known_module(std::string_view path);

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
  std::map<const Object*, ir::VarId> extents;  // that the host has declared
  bool in_device = false;
  int loops = 0;
};

enum class Flow : std::uint8_t { Next, Break, Continue, Return };

class Interp {
 public:
  Interp(const Options& options, Dialect dialect, SymbolTable names);
  ~Interp();
  Interp(const Interp&) = delete;
  Interp& operator=(const Interp&) = delete;

  // --- running ---
  /// Executes the statements of a file. Statements that fail become opaque; only when the steps or
  /// the memory are used up is it an error.
  Result<void> run_module(const Unit& unit);
  /// Evaluates an expression in the module's scope.
  Result<Value> eval_in_module(const Unit& unit, ExprId expr);
  /// Kernels in the order in which they were defined.
  [[nodiscard]] const std::vector<KernelObject*>& kernels() const { return kernels_; }

  // --- for builtins ---
  Heap heap;
  SymbolTable symbols;
  [[nodiscard]] bool in_kernel() const { return kernel_ != nullptr; }
  KernelContext& kernel() { return *kernel_; }
  ir::Function& fn() { return kernel_->function; }
  [[nodiscard]] Dialect dialect() const { return dialect_; }
  ir::StmtId emit(ir::Stmt stmt);

  Result<Value> call(const Value& callee, CallArgs& args);
  Result<Value> call_builtin(const BuiltinRow& row, CallArgs& args, Value self);
  Result<Value> binary(Op op, const Value& a, const Value& b, Span span);
  Result<Value> unary(Op op, const Value& a, Span span);
  Result<Value> compare(Op op, const Value& a, const Value& b, Span span);
  Result<Value> attribute(const Value& object, std::string_view name, Span span, Span name_span);
  Result<Value> subscript(const Value& object, const Value& index, Span span);
  /// The elements of anything that can be iterated at compile time.
  Result<std::vector<Value>> iterate(const Value& value, Span span);
  Result<bool> truth(const Value& value, Span span);
  Result<bool> same(const Value& a, const Value& b, Span span);
  /// Where among the items a value is, if it is there.
  Result<std::optional<std::size_t>> find_item(const std::vector<Value>& items, const Value& value,
                                               Span span);
  /// What a dict holds under a key; null if nothing.
  Result<Value*> find_key(DictObject& dict, const Value& key, Span span);
  Result<void> put(DictObject& dict, const Value& key, const Value& value, Span span);
  Result<void> append(SeqObject& list, const Value& value, Span span);
  /// Fails when `holder` is older than the kernel under construction and the value is part of it.
  Result<void> check_holds(const Object& holder, const Value& value, Span span);
  /// What `str()` gives.
  Result<std::string> str_of(const Value& value, Span span);

  /// An IR expression from a number or an expression; a (1,)-buffer is loaded.
  Result<ir::Operand> operand(const Value& value, Span span);
  Result<ir::ExprId> expression(const Value& value, Span span);
  /// Converted to a type where the program writes no cast (implicit.cpp): BadType for a float that
  /// would become an integer, and for a constant that the type does not hold.
  Result<ir::ExprId> expression_as(const Value& value, ir::Type type, Span span);
  /// Converted by a cast of the program, whatever is lost.
  Result<ir::ExprId> cast_as(const Value& value, ir::Type type, Span span);
  Result<ir::ExprId> index_expr(const Value& value, Span span);  // an int32, or wider
  Result<std::int64_t> integer(const Value& value, std::string_view what, Span span);
  Result<double> number(const Value& value, std::string_view what, Span span);
  Result<bool> boolean(const Value& value, std::string_view what, Span span);
  Result<std::string> text(const Value& value, std::string_view what, Span span);
  Result<ir::Type> value_type(const Value& value, std::string_view what, Span span);
  Result<std::vector<Value>> sequence(const Value& value, std::string_view what, Span span);
  Result<layout::Shape> int_list(const Value& value, std::string_view what, Span span);
  Result<ir::Setting> setting(const Value& value, std::string_view what, Span span);
  Value layout_value(layout::Layout layout);
  Value opaque(Span span, std::string reason);
  /// The error for using an opaque value where its content matters.
  Diag needs_opaque(const Value& value, Span span);
  /// Gives an unnamed buffer or variable the name it is bound to.
  void give_name(const Value& value, std::string_view name);
  /// Fails when the budget of steps or memory is used up.
  Result<void> spend(std::uint64_t steps, Span span);
  /// The same for a comparison of two values, which may have given up.
  Result<void> spend(const Comparison& comparison, const Value& a, const Value& b, Span span);

  /// Compiles the body of a kernel; `constants` are the values of T.constexpr parameters.
  KernelObject* build_kernel(const FunctionObject& def,
                             const std::vector<CallArgs::Named>& constants, Span span);

 private:
  friend struct KernelBody;

  // eval.cpp
  Result<Value> eval(ExprId id, Env& env);
  Result<Value> eval_kind(const Expr& e, ExprId id, Env& env);
  Result<Value> eval_name(const Expr& e, Env& env);
  Result<Value> eval_lambda(const Expr& e, ExprId id, Env& env);
  Result<Value> eval_walrus(const Expr& e, Env& env);
  Result<Value> eval_logic(const Expr& e, Env& env);
  Result<Value> eval_compare(const Expr& e, Env& env);
  Result<Value> eval_conditional(const Expr& e, Env& env);
  Result<Value> eval_call(const Expr& e, Env& env);
  Result<Value> eval_attribute(const Expr& e, Env& env);
  Result<Value> eval_subscript(const Expr& e, Env& env);
  Result<Value> eval_buffer_base(ExprId id, Env& env);
  Value eval_unsupported(const Expr& e);
  Result<std::optional<Value>> collect_args(const Expr& e, Env& env, CallArgs& out);
  Result<void> collect_pack(const Arg& arg, const Value& value, CallArgs& out);
  static Result<void> collect_keyword(CallArgs::Named arg, CallArgs& out);
  Result<Value> name_error(Symbol name, Span span, Env& env);

  // collections.cpp
  Result<Value> eval_items(const Expr& e, Kind kind, Env& env);
  Result<Value> eval_dict(const Expr& e, Env& env);
  Result<Value> eval_slice(const Expr& e, Env& env);
  Result<Value> eval_comprehension(const Expr& e, Env& env);
  Result<void> run_clauses(const Expr& e, std::size_t clause, Env& env,
                           const std::function<Result<void>(Env&)>& body);

  // format.cpp
  Result<Value> eval_fstring(const Expr& e, Env& env);
  Result<std::string> format_value(const Value& value, char conversion, std::string_view spec,
                                   Span span);

  // arguments.cpp
  Result<void> bind_params(const FunctionObject& function, CallArgs& args, Env& env);

  // calls.cpp
  Result<Value> call_function(const FunctionObject& function, CallArgs& args);
  Result<Value> run_function(const FunctionObject& function, Env& env);
  Result<Value> call_inline(const FunctionObject& function, CallArgs& args);
  Result<Value> call_method(const MethodObject& method, CallArgs& args);
  Result<Value> call_namespace(std::string_view path, CallArgs& args);
  Result<Value> call_dtype(const Value& dtype, CallArgs& args);
  Result<Value> call_annotation(const Value& annotation, CallArgs& args);
  Result<Value> specialize(const FunctionObject& function, CallArgs& args);
  Result<Value> make_kernel(const FunctionObject& def,
                            const std::vector<CallArgs::Named>& constants, Span span);
  Result<Value> make_function(StmtId def, Env& env);
  Result<Value> decorate(Value function, const Stmt& s, Env& env);
  Result<Value> apply_decorator(const Value& function, ExprId decorator, Span head, Env& env);

  // classes.cpp
  Result<void> exec_class(const Stmt& s, Env& env);
  Result<void> exec_class_body(const Stmt& s, ClassObject& type);
  Result<Value> call_class(ClassObject& type, CallArgs& args);
  Result<void> fill_fields(const Value& self, CallArgs& args);
  std::optional<Result<Value>> object_attribute(const Value& object, std::string_view name,
                                                Span span);

  // host_stmts.cpp
  Result<Flow> exec(StmtId id, Env& env);
  Result<Flow> exec_kind(const Stmt& s, StmtId id, Env& env);
  Result<Flow> exec_block(ListOf<StmtId> block, Env& env);
  Result<Flow> exec_if(const Stmt& s, Env& env);
  Result<Flow> exec_for(const Stmt& s, Env& env);
  Result<Flow> exec_while(const Stmt& s, Env& env);
  Result<Flow> exec_with(const Stmt& s, Env& env);
  Result<Flow> exec_try(const Stmt& s, Env& env);
  Result<Flow> caught(const Stmt& s, Result<Flow> failed, Env& env);
  Result<Flow> skip(const Stmt& s, const Value& unknown, Span cause, Env& env);
  void make_opaque(const Stmt& s, Env& env, const std::string& reason);
  Result<void> exec_expression(const Stmt& s, Env& env);
  Result<void> exec_assert(const Stmt& s, Env& env);
  Diag raised(const Stmt& s, Env& env);
  Result<void> exec_scope(const Stmt& s, Env& env);

  // assign.cpp
  Result<void> exec_assign(const Stmt& s, Env& env);
  Result<void> exec_augmented(const Stmt& s, Env& env);
  Result<void> exec_delete(const Stmt& s, Env& env);
  Result<void> bind(Env& env, Symbol name, const Value& value, Span span);
  Result<void> assign(ExprId target, const Value& value, Env& env);
  Result<void> assign_unpacked(const Expr& e, const Value& value, Env& env);
  Result<std::vector<std::pair<ExprId, Value>>> unpack(const Expr& e, const Value& value);
  Result<void> assign_item(const Value& object, const Value& index, const Value& value, Span span);
  Result<void> assign_field(const Value& object, Symbol name, const Value& value, Span span);

  // imports.cpp
  Result<void> exec_import(const Stmt& s, Env& env);
  Value imported(const std::string& module, const Import& import, Span head);
  Value module_value(std::string_view path, Span where);

  Env* new_env(Env* parent);
  [[nodiscard]] Span span(Place place) const { return unit_->span(place); }
  [[nodiscard]] Span span(ExprId id) const { return unit_->span((*ast_)[id].place); }

  const Unit* unit_ = nullptr;  // of the code that runs
  const Ast* ast_ = nullptr;
  Env* module_ = nullptr;
  std::vector<std::unique_ptr<Env>> envs_;
  KernelContext* kernel_ = nullptr;
  std::vector<KernelObject*> kernels_;
  Value returned_;
  Dialect dialect_;
  std::uint64_t steps_left_;
  int depth_ = 0;
  const char* stack_base_;         // where the C++ stack stood at the start
  std::size_t kernel_begins_ = 0;  // objects from this serial on were made in the kernel
  std::optional<Diag> ambiguous_return_;
  std::optional<Span> yielded_;       // a `yield` of the function that runs
  std::optional<Value> last_needed_;  // the opaque value of the last error about one
  int inline_depth_ = 0;
  static constexpr int kMaxDepth = 1000;  // of expressions and statements inside each other
  static constexpr int kMaxInlineDepth = 100;
};

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
