// SPDX-License-Identifier: Apache-2.0
// The tables of functions, one per file of functions.def. A row's name is the full dotted one;
// methods of values are rows too, named after the value's type: `buffer.view`, `layout.tile_to`,
// `list.append`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

#define WW_FUNCTIONS(file, title)                  \
  namespace file##_api {                           \
    extern const std::span<const BuiltinRow> rows; \
  }
#include "script/api/functions.def"
#undef WW_FUNCTIONS

/// A row by its full name; null if there is none.
const BuiltinRow* find_builtin(std::string_view name);
/// Its signature, kept for the rows of the tables; null for others.
const Signature* signature_of(const BuiltinRow& row);
/// Does any row begin with these dotted words?
bool is_namespace(std::string_view path);
/// The last words of all rows directly below a path, for suggestions.
std::vector<std::string_view> members_of(std::string_view path);

/// Every function of ir/intrinsics.def, as it stands.
std::span<const BuiltinRow> intrinsic_rows();

/// The tables with their titles, for the reference.
struct FunctionTable {
  std::string_view title;
  std::span<const BuiltinRow> rows;
};
std::span<const FunctionTable> function_tables();

/// Attributes of the values of one type, from attributes.def.
struct AttributeRow {
  std::string_view type, names;  // "axis", "name name …"
};
std::span<const AttributeRow> attribute_rows();
bool is_attribute(std::string_view type, std::string_view name);

/// What of TVM is not taken, from not_taken.def.
struct NotTaken {
  std::string_view name, reason;
  bool is_name;  // otherwise a construct in words
};
std::span<const NotTaken> not_taken_rows();
/// Why a name of TVM is not taken; nothing for any other.
std::optional<std::string_view> why_not_taken(std::string_view full);

/// An argument that may be left out.
Result<std::int64_t> integer_or(Context& in, const Args& a, std::size_t i, std::string_view what,
                                std::int64_t missing);

/// The error for a keyword that a function with `**name` does not have.
Diag no_parameter(std::string_view function, const CallArgs::Named& given);
/// The one keyword that such a function has, or null; fails for others.
Result<const CallArgs::Named*> only_keyword(const Args& a, std::string_view function,
                                            std::string_view name);

/// Fails with an error of that kind before `T.device_entry()`.
Result<void> require_device(Context& in, const Args& a, DiagKind kind);

/// Python's `print` where the kernel's printf is meant.
Diag print_in_kernel(Span call);

// --- element types -------------------------------------------------------------------------------
//
// Element types as values: Kind::DType.

Value dtype_value(ir::Type type);
ir::Type type_of(const Value& dtype);

/// `bits`, `lanes`, `itemsize`, `type_code` or `dtype` of an element type, or nothing.
std::optional<Value> dtype_attribute(Context& in, const Value& dtype, std::string_view name);

/// `T.float32(x)`: the value converted, or `T.int32()`, an extent that the launch gives.
Result<Value> call_dtype(Context& in, const Value& dtype, CallArgs& args);

// --- launches ------------------------------------------------------------------------------------
//
// A launch that a kernel states at its entry, apart from the ids it reads:
//
//   T.device_entry(launch=T.cuda.LaunchConfig(grid=(4, 2), block=128, cluster=(2,)))
//   bx = T.cuda.block_idx("x")
//
// It becomes the declarations of scope ids that `T.cta_id([4, 2])` and `T.thread_id([128])` are; an
// id that is read is one of these, declared at the begin of the kernel when it is first read.

/// Declares what a `T.cuda.LaunchConfig` says. BadType for anything else.
Result<void> declare_launch(Context& in, const Given& launch);
/// Notes `T.cuda.KernelOptions` as attributes of the kernel. BadType for anything else.
Result<void> take_kernel_options(Context& in, const Given& options);

// --- parameters ----------------------------------------------------------------------------------
//
// Parameters of kernels, and extents that are known at launch only.

/// The extent of that name: the same variable wherever the name stands in a shape.
Result<ir::ExprId> named_extent(Context& in, std::string_view name, Span span);
/// A new extent variable, named when it is bound: `n = T.int32()`.
ir::ExprId new_extent(Context& in, ir::Type type, std::string_view name, Span span);
/// The extent that `n = T.int32()` outside of the kernel is in it, by the name it is used under.
ir::ExprId host_extent(Context& in, const OpaqueObject& declared, std::string_view name);

/// The value as an expression whose place is where it is used: a variable's is where it is bound.
Result<ir::ExprId> used_here(Context& in, const Given& value);

/// The buffer of a parameter annotated as T.Buffer(…).
Result<Value> buffer_param(Context& in, const AnnotationObject& annotation, ir::VarId var,
                           Span span);

/// `T.Buffer(…)`, `T.handle(…)` …: an annotation with arguments.
Result<Value> call_annotation(Context& in, const Value& annotation, CallArgs& args);
/// Emits the declaration of a view.
Result<Value> declare_view(Context& in, ir::Buffer view);

// --- buffers -------------------------------------------------------------------------------------
//
// Declarations of buffers: the parameters that all of them share, and what becomes of them.

/// The places of the shared parameters of a declaration, counted from `shape`.
enum BufferField : std::size_t {
  Shape,
  Dtype,
  Data,
  Strides,
  ElemOffset,
  ScopeName,
  Align,
  OffsetFactor,
  BufferType,
  Separators,
  LayoutArg,
  ByteOffset,
  AllocatedAddr,
  FieldCount
};

/// Arguments of another signature: argument i is the field places[i].
Args as_fields(const Args& a, std::span<const BufferField> places);

/// A buffer by its parameters, but for `data` and `allocated_addr`; `at` is the place of `shape`
/// among the arguments.
Result<ir::Buffer> read_buffer_fields(Context& in, const Args& a, std::size_t at, ir::Scope scope);

/// Where `data=` points: the storage of a buffer, an element of one, or any pointer.
Result<void> apply_data(Context& in, ir::Buffer& buffer, const Given& data);

/// A buffer with those extents, row-major.
ir::Buffer new_buffer(Context& in, ir::Scope scope, num::DType dtype,
                      std::span<const std::int64_t> shape, Span span);
inline constexpr std::int64_t kOne[] = {1};  // the shape of a scalar
/// Gives it that layout in the place of row-major order.
void set_layout(ir::Buffer& buffer, layout::Layout layout);

/// The error for what must know a layout that is not inferred yet.
Diag auto_view(const ir::Function& f, ir::BufferId id, std::string_view what, Span span);

/// Emits an allocation or a declaration.
Value declare_buffer(Context& in, ir::Buffer buffer, ir::StmtKind kind);

// --- pools ---------------------------------------------------------------------------------------
//
// Pools: memory that is handed out piece by piece while a kernel is built. Their pieces are plain
// buffers; nothing of a pool is left in the program.

struct PoolObject : Object {
  bool is_tensor = false;  // columns of tensor memory; otherwise bytes of shared memory
  Span span;               // where it was made
  std::string name;
  bool is_committed = false;
  std::int64_t offset = 0;  // of the next piece
  std::int64_t end = 0;     // the most that was ever needed

  // Shared memory
  ir::BufferId arena = {};  // its own allocation, or
  Value data;               // storage that the program gave
  std::int64_t align = 1;

  // Tensor memory
  std::int64_t columns = 512;
  std::int64_t cta_group = 1;
  std::int64_t alloc_warp = 0, dealloc_warp = 0;
  bool syncs = true;       // the allocating warp meets behind the allocation
  ir::BufferId slot = {};  // where the address is kept, in shared memory
  bool owns_slot = false;  // it comes from a pool
  bool is_freed = false;
  std::vector<ir::ExprId> addresses;  // of the pieces
};

/// A name of a pool that is no method: `offset`, `addr` …; nothing if there is none.
std::optional<Result<Value>> pool_attribute(Context& in, const Value& pool, std::string_view name,
                                            Span span);
/// What messages and buffers call it, once it is bound to a name.
void name_pool(ir::Function& f, PoolObject& pool, const std::string& name);
/// At the end of a kernel: a pool that nothing has committed.
std::optional<Diag> unfinished_pool(const KernelContext& kernel);

// --- tile primitives -----------------------------------------------------------------------------
//
// Tile primitives: `Tx.copy`, `Tx.warp.copy`, `T.wg.copy_async` … by path.

struct TilePath {
  ir::Unit scope = ir::Unit::Thread;
  ir::TileOp op = ir::TileOp::Copy;
};

/// "Tx", "Tx.warp", "T.wg": what primitives hang off.
bool is_tile_namespace(std::string_view path);
std::vector<std::string_view> tile_namespaces();
/// "Tx.warp.copy" → warp, copy.
std::optional<TilePath> parse_tile_path(std::string_view path);
/// Emits the call.
Result<Value> call_tile(Context& in, const TilePath& path, CallArgs& args);

/// A primitive to call behind another one.
struct FoldedInto {
  TilePath path;
  CallArgs args;
};
/// Gives a reduction, of which the layouts say what is reduced, views and axes that say so
/// (layout_folds.cpp). Nothing happens to others.
Result<std::optional<FoldedInto>> read_off_layouts(Context& in, ir::TileCall& call, Span span);

// --- PTX instructions ----------------------------------------------------------------------------
//
// PTX instructions, in both spellings. The older one has a function per instruction with its
// options as arguments, `T.ptx.ldmatrix(False, 2, ".b16", ptr, *registers)`; the newer one writes
// the opcode, `T.ptx["ldmatrix.sync.aligned.m8n8.x2.shared.b16"](d0, d1, ptr)` or dotted,
// `T.ptx.ldmatrix.sync.aligned.m8n8.x2.shared.b16(…)` with `__` for `::` and a trailing `_` behind
// Python's keywords. Both become the same statement.

/// T.ptx.a.b: one more word. `T.ptx.SINK` is the operand `_`.
Result<Value> ptx_word(Context& in, const PtxPathObject& path, std::string_view word);
/// T.ptx["opcode"].
Result<Value> ptx_subscript(Context& in, const PtxPathObject& path, const Value& index, Span span);
/// The instruction; values of expressions (elect_sync) where the older spelling has them.
Result<Value> call_ptx(Context& in, const PtxPathObject& path, CallArgs& args);

// --- functions of PTX ----------------------------------------------------------------------------
//
// The older spelling of PTX instructions: one function each, with options as arguments.

struct PtxFunction {
  std::string_view name;       // behind `T.ptx.`
  std::string_view signature;  // as in BuiltinRow
  Result<Value> (*run)(Context&, Args&);
  std::string_view opcode = {};  // of those that are one instruction, with parameters in braces
};

std::span<const PtxFunction> all_ptx_functions();
const PtxFunction* find_ptx_function(std::string_view name);
Result<Value> call_ptx_function(Context& in, const PtxFunction& function, CallArgs& args);

/// The address of a buffer's first element: what a buffer means where an address is wanted.
Result<ir::ExprId> first_address(Context& in, ir::BufferId buffer, Span span);

/// Emits an instruction.
void emit_ptx(Context& in, ir::PtxCall call, Span span);
/// The instruction of an opcode, whose form tells the operands apart.
Result<Value> issue_ptx(Context& in, const std::string& opcode, CallArgs& args);

}  // namespace ww::script
