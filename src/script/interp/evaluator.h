// SPDX-License-Identifier: Apache-2.0
// What the evaluator does, by topic: functions that take its state (context.h) first. Expressions
// are evaluated over values of the host and of the kernel alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/ready_made.h"
#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

Result<Value> eval(Context& in, ExprId id, Env& env);

/// What is indexed in a store or a load: a buffer of one element stays a buffer.
Result<Value> eval_buffer_base(Context& in, ExprId id, Env& env);

// --- texts ---------------------------------------------------------------------------------------
//
// Texts from values: `str()` and f-strings.

/// What `str()` gives.
Result<std::string> str_of(const Value& value, Span span);
Result<Value> eval_fstring(Context& in, const Expr& e, Env& env);

// --- operators -----------------------------------------------------------------------------------
//
// Operators and comparisons. Where an operand is a value of run time they build IR.

/// What `@` is for, said where it is used otherwise.
inline constexpr std::string_view kAxisNote =
    "`stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, "
    "TLane, TCol, of tvm.tirx.layout";

Result<Value> binary(Context& in, Op op, const Value& a, const Value& b, Span span);
Result<Value> unary(Context& in, Op op, const Value& a, Span span);
Result<Value> compare(Context& in, Op op, const Value& a, const Value& b, Span span);
Result<bool> same(Context& in, const Value& a, const Value& b, Span span);
/// Whether a condition that is known at compile time holds.
Result<bool> truth(Context& in, const Given& value);

// --- collections ---------------------------------------------------------------------------------
//
// Lists, tuples, texts, dicts and sets: their displays and comprehensions, and what operators,
// subscripts and loops do with them.

/// The elements of anything that can be iterated at compile time.
Result<std::vector<Value>> iterate(Context& in, const Given& value);
/// Where among the items a value is, if it is there.
Result<std::optional<std::size_t>> find_item(Context& in, const std::vector<Value>& items,
                                             const Value& value, Span span);
/// What a dict holds under a key; null if nothing.
Result<Value*> find_key(Context& in, DictObject& dict, const Value& key, Span span);
Result<void> put(Context& in, DictObject& dict, const Value& key, const Value& value, Span span);
Result<void> append(Context& in, SeqObject& list, const Value& value, Span span);
/// Fails when `holder` is older than the kernel under construction and the value is part of it.
Result<void> check_holds(Context& in, const Object& holder, const Value& value, Span span);

/// `+`, `*`, `|`, `&`, `-` where an operand is a collection; nothing when they have no such
/// meaning.
std::optional<Result<Value>> collection_binary(Context& in, Op op, const Value& a, const Value& b,
                                               Span span);
Result<bool> contains(Context& in, const Value& item, const Value& in_what, Span span);
/// Where an index leads, which counts from the end where it is negative; HostError outside.
Result<std::size_t> place_in(Context& in, const Value& sequence, const Value& index,
                             std::size_t size, Span span);
/// `sequence[index]`, of a list, tuple, text or range; the index may be a slice.
Result<Value> item_of(Context& in, const Value& sequence, const Value& index, Span span);
/// `dict[key]`.
Result<Value> value_of(Context& in, DictObject& dict, const Value& key, Span span);
/// Each element once, in the order of their first appearance.
Result<std::vector<Value>> unique(Context& in, const std::vector<Value>& items, Span span);

// Nodes of the tree.
Result<Value> eval_items(Context& in, const Expr& e, Kind kind, Env& env);
Result<Value> eval_dict(Context& in, const Expr& e, Env& env);
Result<Value> eval_slice(Context& in, const Expr& e, Env& env);
Result<Value> eval_comprehension(Context& in, const Expr& e, Env& env);

// --- attributes and subscripts -------------------------------------------------------------------
//
// Attributes and subscripts of every kind of value.

Result<Value> attribute(Context& in, const Value& object, std::string_view name, Span span,
                        Span name_span);
Result<Value> subscript(Context& in, const Value& object, const Value& index, Span span);

// --- layouts -------------------------------------------------------------------------------------
//
// Layouts as values of the language: `4 @ laneid`, `S[(8, 4) : (4 @ laneid, 1)] + R[2 : 4 @
// warpid]`, and what can be asked of them.

/// `@` and `+` where a layout, a specification or an axis takes part; nothing for other operands.
std::optional<Result<Value>> layout_binary(Context& in, Op op, const Value& a, const Value& b,
                                           Span span);

/// S[index] or R[index].
Result<Value> make_spec(Context& in, const Value& maker, const Value& index, Span span);

/// The layout a value stands for: a layout, or a specification as it is.
Result<layout::Layout> as_layout(Context& in, const Given& value, std::string_view what);

/// A layout that the library made as a value. Its error gets `span`.
Result<Value> layout_result(Context& in, Result<layout::Layout> layout, Span span);

/// A swizzle by name ("128B") or by its number of bits (0 to 3).
Result<layout::SwizzleMode> swizzle_mode_arg(Context& in, const Given& value);
/// The same for a tile of this shape, or "auto": the widest that it takes (layout/ready_made.h).
Result<layout::SwizzleMode> tile_swizzle_arg(Context& in, const Given& value,
                                             const layout::Shape& shape, int bits);

/// `SwizzleMode.SWIZZLE_128B_ATOM`: its number.
std::optional<Value> swizzle_mode_member(std::string_view name);

/// The places of an element, one value per axis: `layout.apply(i, j, shape=(8, 4))`. Coordinates
/// may be values of run time.
Result<Value> apply_layout(Context& in, const layout::Layout& layout,
                           const std::vector<Value>& coordinate,
                           const std::optional<std::vector<Value>>& shape, Span span);

/// An attribute of a layout, a swizzle, an iter or an axis that is no method (`shard`,
/// `per_element`, `stride`, `name` …), or nothing.
std::optional<Value> layout_attribute(Context& in, const Value& value, std::string_view name);

// --- regions -------------------------------------------------------------------------------------
//
// Indices of buffers: elements, regions, and the views that buffers give.

/// An index of a buffer: one expression per dimension, or a range per dimension.
struct BufferIndex {
  bool is_element = false;
  std::vector<ir::ExprId> indices;    // is_element; the last may be a vector (a slice with a step)
  std::vector<ir::RangeExpr> ranges;  // otherwise; missing dimensions whole
  ir::BufferId buffer = {};  // of the ranges: the buffer, or a view where a slice has a step
};

/// Reads `B[i, j]`, `B[a:b, :]`, `B[full]` with a tuple of slices. Fewer indices than dimensions
/// give a region with the rest whole. `B[a:b:s, :]` is a region of a view with every s-th element. Checks rank and constant bounds; with `may_leave` not those
/// of slices.
Result<BufferIndex> buffer_index(Context& in, ir::BufferId buffer, const Value& index, Span span,
                                 bool may_leave = false);

/// The element (a load) or region; where that ends is checked when it is used.
Result<Value> index_buffer(Context& in, ir::BufferId buffer, const Value& index, Span span);

/// A region from what a tile primitive got: a region, a buffer as a whole, or one element of one.
/// Only with `may_leave` it may leave its buffer.
Result<ir::Region> as_region(Context& in, const Value& value, std::string_view what, Span span,
                             bool may_leave = false);

/// end - begin, a constant where everything else cancels.
Result<ir::ExprId> region_extent(Context& in, ir::ExprId begin, ir::ExprId end, Span span);
Result<ir::ExprId> linear_difference(Context& in, ir::ExprId a, ir::ExprId b, Span span);

/// `x: T.float32[8]`.
Result<Value> alloc_local(Context& in, const std::vector<Value>& shape, num::DType dtype,
                          Span span);
/// A new scalar register, as the element that an instruction writes and the program reads.
Result<ir::ExprId> alloc_register(Context& in, num::DType dtype, Span span);

/// A method or attribute of a buffer, or nothing.
std::optional<Result<Value>> buffer_attribute(Context& in, const Value& buffer,
                                              std::string_view name, Span span);

/// Of a region: `.buffer`, `.source` and `.region`, a slice for each dimension; of such a slice
/// `.min` and `.extent`. Or nothing.
std::optional<Result<Value>> region_attribute(Context& in, const Value& region,
                                              std::string_view name, Span span);

/// Every `step`-th element of a dimension, from `first` on.
struct Every {
  std::int64_t step = 1;
  std::int64_t first = 0;
};
/// A view of these elements, one entry for each dimension. Steps divide the extents.
Result<ir::BufferId> every_nth(Context& in, ir::BufferId buffer, const std::vector<Every>& dims,
                               Span span);

/// B.sub[…]: a view of a region; integers drop their dimension.
Result<Value> sub_view(Context& in, ir::BufferId buffer, const Value& index, Span span);

// --- conversions ---------------------------------------------------------------------------------
//
// What builtins ask of values: numbers, texts, types, lists, and expressions of the kernel. `what`
// names the value in messages.

/// An IR expression from a number or an expression; a (1,)-buffer is loaded.
Result<ir::Operand> operand(Context& in, const Given& value);
Result<ir::ExprId> expression(Context& in, const Given& value);
/// Converted by a cast of the program, whatever is lost.
Result<ir::ExprId> cast_as(Context& in, const Given& value, ir::Type type);
/// What a branch or a guard asks for.
Result<ir::ExprId> condition_of(Context& in, const Given& value);
/// An int32, or wider.
Result<ir::ExprId> index_expr(Context& in, const Given& value);

Result<std::int64_t> as_integer(Context& in, const Given& value, std::string_view what);
Result<double> as_number(Context& in, const Given& value, std::string_view what);
Result<bool> as_bool(Context& in, const Given& value, std::string_view what);
Result<std::string> as_text(Context& in, const Given& value, std::string_view what);
Result<ir::Type> as_type(Context& in, const Given& value, std::string_view what);
Result<std::vector<Value>> as_sequence(Context& in, const Given& value, std::string_view what);
Result<layout::Shape> as_int_list(Context& in, const Given& value, std::string_view what);
Result<ir::Setting> as_setting(Context& in, const Given& value, std::string_view what);

Value layout_value(Context& in, layout::Layout layout);
/// A value that nothing is known of, made at `span`.
Value opaque_value(Context& in, Span span, std::string reason);
/// The error for using an opaque value where its content matters.
Diag needs_opaque(Context& in, const Given& value);
/// Gives an unnamed buffer or variable the name it is bound to.
void give_name(Context& in, const Value& value, std::string_view name);

// --- numbers with a type -------------------------------------------------------------------------
//
// Numbers of the host that have an element type: what `T.float16(1.5)`, `T.cast(x, "int8")`,
// `T.FloatImm(dtype, x)` and `T.IntImm(dtype, x)` give outside of kernels. They count as the
// numbers they are; arithmetic rounds or wraps as the type does, and a kernel takes them with their
// type, not as literals that adapt.

/// The type of such a number; nothing for plain ones and all other values.
std::optional<num::DType> typed_as(const Value& value);

/// The number without its type.
Value untyped(const Value& value);

enum class Conversion : std::uint8_t { Cast, Exact };
/// The number as one of the type. `Exact` refuses what the type does not hold, as in a kernel;
/// `Cast` wraps and drops fractions. Opaque values stay as they are.
Result<Value> typed_constant(Context& in, const Given& value, ir::Type type, Conversion how);

/// The result of an operator as a number of the type that its operands have: where both have one,
/// the float, or the wider one. BadType for others, as for float16 and bfloat16.
Result<Value> typed_result(Context& in, const Value& a, const Value& b, const Value& result,
                           Span span);

/// What the text of a float that is no digits stands for: "inf", "-inf", "nan".
std::optional<double> special_float(const Value& value);

// --- conversions that are not written ------------------------------------------------------------
//
// Conversions that the program does not write, in assignments, stores and arguments. The rule:
//
//   - a float never becomes an integer or a bool: that takes a cast
//   - a constant must be one that the type holds; a float constant may be rounded
//   - a declared type (of a buffer, or `x: T.int32`) takes wider values of its own kind: integers
//     wrap, floats are rounded. A scalar that has the type of its first value (`x = 0`) does not,
//     because the program never chose that type

/// Converted to a type where the program writes no cast: BadType for a float that would become an
/// integer, and for a constant that the type does not hold.
Result<ir::ExprId> expression_as(Context& in, const Given& value, ir::Type type);

/// The value by the name of a type, `T.int32(x)`: a cast, but a constant must be exact.
Result<ir::ExprId> exact_value(Context& in, const Given& value, ir::Type type);

/// What a value is assigned to, for messages: a name or a buffer, and where it is declared.
struct Assigned {
  std::string_view name;
  bool is_name = true;       // a scalar; otherwise elements of a buffer
  bool is_inferred = false;  // it has the type of its first value
  Span declared = {};
};

/// The value as it is assigned, or BadType by the rule above.
Result<ir::ExprId> assigned_value(Context& in, const Given& value, ir::Type type,
                                  const Assigned& to);

// --- calls ---------------------------------------------------------------------------------------
//
// Calls of every kind of value, functions from their definitions, and classes with their instances.

Result<Value> call(Context& in, const Value& callee, CallArgs& args);
/// With these arguments.
Result<Value> call(Context& in, const Value& callee, std::vector<Value> plain, Span span);
Result<Value> call_builtin(Context& in, const BuiltinRow& row, CallArgs& args, Value self);
/// Was it made by something in error, whole or in part?
bool is_in_error(const Value& value);

/// A `def`, without its decorators.
Result<Value> make_function(Context& in, StmtId def, Env& env);
/// What the decorators of a `def` or a `class` make of it, the innermost first.
Result<Value> decorate(Context& in, Value function, const Stmt& s, Env& env);

Result<void> exec_class(Context& in, const Stmt& s, Env& env);
/// An instance, made with the arguments of its `__init__` or of its fields.
Result<Value> call_class(Context& in, ClassObject& type, CallArgs& args);
/// A field, method or property of an instance or a class; nothing for other values.
std::optional<Result<Value>> object_attribute(Context& in, const Value& object,
                                              std::string_view name, Span span);

// --- imports -------------------------------------------------------------------------------------
//
// `import`: modules that are modelled, and opaque values for all others.

Result<void> exec_import(Context& in, const Stmt& s, Env& env);

/// The namespace that a module's path stands for, if we know the module.
std::optional<std::string_view> known_module(std::string_view path);

// --- statements of the host ----------------------------------------------------------------------
//
// Statements of host Python.

/// Where the program goes on behind a statement.
enum class Flow : std::uint8_t { Next, Break, Continue, Return };

/// Executes the statements of a file. What fails in Python, too (an `assert`, a `raise`, a division by
/// zero), ends it with HostError, and used up steps or memory with Budget. Any other statement that
/// fails is not modelled: what it could change becomes opaque.
Result<void> run_module(Context& in, const Unit& unit);
/// The same for statements of a caller's, which never end with HostError: what they need may come later.
Result<void> run_prelude(Context& in, const Unit& unit);
/// Evaluates an expression in the module's scope.
Result<Value> eval_in_module(Context& in, const Unit& unit, ExprId expr);

Result<Flow> exec(Context& in, StmtId id, Env& env);
Result<Flow> exec_block(Context& in, ListOf<StmtId> block, Env& env);

// --- assignments of the host ---------------------------------------------------------------------
//
// What host statements bind, store and delete.

Result<void> exec_assign(Context& in, const Stmt& s, Env& env);
Result<void> exec_delete(Context& in, const Stmt& s, Env& env);

Result<void> bind_name(Context& in, Env& env, Symbol name, const Value& value, Span span);
/// Stores a value of the host in any target: a name, an item, a field, or several of them.
Result<void> assign_host(Context& in, ExprId target, const Value& value, Env& env);
Result<void> assign_field(Context& in, const Value& object, Symbol name, const Value& value,
                          Span span);
Result<void> assign_item(Context& in, const Value& object, const Value& index, const Value& value,
                         Span span);
/// The targets of `a, *b = value`, each with its part.
Result<std::vector<std::pair<ExprId, Value>>> unpack(Context& in, const Expr& e,
                                                     const Value& value);

// --- kernels -------------------------------------------------------------------------------------
//
// A kernel from its `def`.

/// Compiles the body of a kernel; `constants` are the values of T.constexpr parameters.
KernelObject* build_kernel(Context& in, const FunctionObject& def,
                           const std::vector<CallArgs::Named>& constants, Span span);

// --- assignments in kernels ----------------------------------------------------------------------
//
// Assignments in a kernel: what a name becomes, and stores.

/// Where an assignment stands: all of it, and its right side.
struct AssignSpans {
  Span all;
  Span value;
};

Result<void> kernel_assign(Context& in, const Stmt& s, Env& env);
Result<void> kernel_annotated(Context& in, const Stmt& s, Env& env);
Result<void> kernel_augmented(Context& in, const Stmt& s, Env& env);
/// Assigns to any target: a name, an element, or several of them.
Result<void> assign_in_kernel(Context& in, ExprId target, Value value, Env& env,
                              const AssignSpans& at);

// --- statements of kernels -----------------------------------------------------------------------
//
// Statements of a kernel: each becomes IR, or is decided at compile time when host values decide
// it.
//
// An error in one statement is noted, the names it would have bound are poisoned, and the next
// statement is looked at: one compilation reports as many independent errors as it can.

/// The names that a target binds.
void collect_targets(const Ast& ast, ExprId id, std::vector<Symbol>& out);

/// Builds statements into the innermost block.
void build_block(Context& in, ListOf<StmtId> statements, Env& env);
/// The statements of a function: a text in front of them says what it is for.
void build_function_body(Context& in, ListOf<StmtId> statements, Env& env);
/// The block of what `body` emits.
Result<ir::Block> inner_block(Context& in, const std::function<Result<void>()>& body);

void report_error(Context& in, Diag problem);
/// Poisons the names that a statement in error would have bound.
void poison_names(Context& in, const Stmt& s, Env& env);

}  // namespace ww::script
