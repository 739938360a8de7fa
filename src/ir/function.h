// SPDX-License-Identifier: Apache-2.0
// The IR of a kernel, for both levels.
//
// A *tile program* has scope ids, buffers with layouts over hardware axes, and tile primitives. A
// *lowered program* has none of these: launch variables, flat buffers, loops, address arithmetic
// and PTX instructions. Both are made of the same nodes, and a verifier (ir/verify/verify.h) knows
// which of them may occur at which level.
//
// A `Function` is a plain value that owns its nodes; ids name them. Nodes stay where they are when
// others are added: a reference to one lives as long as the function. Expressions are immutable
// once made and may be shared; a statement belongs to one block. Every expression has its type:
// nothing is converted implicitly. Build expressions with ir/build.h, which checks types, inserts
// conversions and folds constants.
//
// Vector loads and stores: with one index per dimension and scalar type they touch one element;
// when the last index is a vector (Ramp) of n lanes, n elements; when the type has n lanes and all
// indices are scalar, the n elements that follow each other in the last dimension from there on
// (vload).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/diag.h"
#include "base/id.h"
#include "base/small_vec.h"
#include "base/stable_vec.h"
#include "ir/hardware_id.h"
#include "ir/type.h"
#include "isa/opcode.h"
#include "layout/layout.h"

namespace ww::ir {

using ExprId = Id<struct Expr>;
using StmtId = Id<struct Stmt>;
using VarId = Id<struct Var>;
using BufferId = Id<struct Buffer>;
using TileCallId = Id<struct TileCall>;
using PtxCallId = Id<struct PtxCall>;

enum class ExprOp : std::uint8_t {
#define WW_EXPR_OP(id, spelling, arguments, group, takes, precedence) id,
#include "ir/expr_ops.def"
#undef WW_EXPR_OP
};
enum class ExprGroup : std::uint8_t { Leaf, Infix, Compare, Logic, Prefix, Function };
std::string_view name_of(ExprOp op);      // "FloorDiv"
std::string_view spelling_of(ExprOp op);  // "//"
ExprGroup group_of(ExprOp op);
int arity_of(ExprOp op);  // -1: varies
/// What an operator asks of its operands beyond having one type.
enum class Takes : std::uint8_t { Number, Float, Integer, IntegerOrBool, Bool, Any };
Takes taken_by(ExprOp op);
/// Does the operator take operands of the type?
bool takes(ExprOp op, Type type);
/// The comparison with its sides swapped; other operators stay.
ExprOp mirrored(ExprOp op);

enum class Intrinsic : std::uint8_t {
#define WW_INTRINSIC(id, name, min, max, effect, result) id,
#include "ir/intrinsics.def"
#undef WW_INTRINSIC
};
enum class Effect : std::uint8_t { Pure, Reads, Writes, Exchange, Barrier };
enum class ResultRule : std::uint8_t {
  Same,
  Value,
  Bool,
  Int32,
  Uint32,
  Void,
  Pointer,
  Pointee,
  Declared
};
struct IntrinsicFacts {
  Intrinsic id;
  std::string_view name;  // after `T.`
  int min_args;
  int max_args;  // -1: any number
  Effect effect;
  ResultRule result;
  std::string_view group;  // the title above it in the list: "Synchronisation"
};
const IntrinsicFacts& facts_of(Intrinsic intrinsic);
const std::vector<IntrinsicFacts>& all_intrinsics();
/// Does it give its argument, as hints and promises about it do?
constexpr bool is_its_argument(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::Likely || intrinsic == Intrinsic::Uniform ||
         intrinsic == Intrinsic::WarpUniform;
}
/// By name without `T.`: "cuda.cta_sync".
std::optional<Intrinsic> find_intrinsic(std::string_view name);

enum class TileOp : std::uint8_t {
#define WW_TILE_OP(id, name, parameters) id,
#include "ir/tile_ops.def"
};
std::string_view name_of(TileOp op);
std::optional<TileOp> find_tile_op(std::string_view name);
const std::vector<std::string_view>& all_tile_op_names();

enum class TileParamKind : std::uint8_t { Region, RegionOrScalar, Scalar, Bool, Flag, Float, Int };
/// A parameter of a tile primitive, from tile_ops.def.
struct TileParam {
  std::string_view name;
  TileParamKind kind;
  bool required;
  std::string_view default_text;  // "False", "1.0", "-1", or empty
};
const std::vector<TileParam>& params_of(TileOp op);

/// Units of execution, smallest first.
enum class Unit : std::uint8_t { Thread, Warp, Warpgroup, Cta, Pair, Cluster, Kernel };
std::string_view name_of(
    Unit unit);  // "thread", "warp", "warpgroup", "cta", "pair", "cluster", "kernel"

enum class ScopeIdKind : std::uint8_t {
#define WW_SCOPE_ID(id, name, parent, child, dims, fixed) id,
#include "ir/scope_ids.def"
#undef WW_SCOPE_ID
};
struct ScopeIdFacts {
  ScopeIdKind id;
  std::string_view name;  // "warp_id_in_wg"
  Unit parent;
  Unit child;
  int max_dims;
  std::int64_t fixed_extent;  // 0: as declared
};
const ScopeIdFacts& facts_of(ScopeIdKind kind);
const std::vector<ScopeIdFacts>& all_scope_ids();

// --- expressions ---------------------------------------------------------------------------------

struct Expr {
  ExprOp op = ExprOp::IntImm;
  Type type = {};
  Span span = {};
  SmallVec<ExprId, 3> args = {};
  std::int64_t integer = 0;  // IntImm; Shuffle: number of vectors among args
  double real = 0;           // FloatImm
  VarId var = {};            // Var
  BufferId buffer = {};      // Load, AddressOf, BufferData
  Intrinsic callee{};        // Call
  std::uint32_t text = 0;    // TextImm: number in Function::texts
  bool no_wrap = false;      // index arithmetic, which must not overflow: ir/indices.h

  // Function::add works these out, from the operands too.
  bool reads_memory = false;  // evaluating it later may give another value
  bool has_effect = false;    // a call in it does more than compute or read
  std::uint32_t nodes = 1;    // written out, shared ones as often as used; the greatest: or more
};

/// What a variable means. All variables are immutable.
enum class VarKind : std::uint8_t {
  Param,    // scalar or pointer parameter
  Extent,   // a shape's extent, known at launch: `n = T.int32()`
  ScopeId,  // bound by a ScopeIds statement
  Loop,
  Let,     // bound by a Bind statement
  Launch,  // bound by a LaunchThread statement
};
struct Var {
  std::string name;
  Type type = {};
  VarKind kind = VarKind::Let;
  Span span = {};
};

// --- buffers -------------------------------------------------------------------------------------

enum class BufferOrigin : std::uint8_t {
  Param,    // the memory a parameter points to (match_buffer, or T.Buffer as annotation)
  Alloc,    // its own storage
  View,     // other elements over the storage of buffer `base`
  Pointer,  // storage at a pointer
};
/// How the elements lie in the storage.
enum class LayoutKind : std::uint8_t {
  RowMajor,  // by default; extents may be runtime values
  Explicit,  // `layout`
  None,      // none given: flat, addresses count elements (lowered programs)
};

/// A buffer: typed elements with a shape. Element c is `elem_offset` elements plus `byte_offset`
/// bytes plus layout(c) after the start of its storage.
struct Buffer {
  std::string name;
  num::DType dtype = num::DType::Float32;
  std::vector<ExprId> shape;
  Scope scope = Scope::Global;
  LayoutKind layout_kind = LayoutKind::RowMajor;
  std::optional<layout::Layout> layout;  // Explicit only
  BufferOrigin origin = BufferOrigin::Alloc;
  VarId param = {};            // Param
  BufferId base = {};          // View: the buffer whose storage it shares; never itself a View
  ExprId pointer = {};         // Pointer
  ExprId elem_offset = {};     // none: 0
  ExprId byte_offset = {};     // none: 0
  ExprId allocated_addr = {};  // tmem: the address of its first column (uint32)
  std::int64_t align = 0;      // bytes; 0: the default, 64
  bool is_scalar = false;      // written by bare name in the source: `x: T.int32 = 0`
  bool is_annotation = false;  // Param: given as annotation of the parameter, not by match_buffer
  Span span = {};
};

/// min ≤ index < min + extent, along one dimension.
struct RangeExpr {
  ExprId min = {};
  ExprId extent = {};
};
struct Region {
  BufferId buffer = {};
  std::vector<RangeExpr> ranges;
  Span span = {};
};

// --- statements ----------------------------------------------------------------------------------

/// A constant in attributes and configurations, or an expression.
using Setting = std::variant<bool, std::int64_t, double, std::string, ExprId>;

/// An argument of a tile primitive: left out, a region, a scalar, or a constant.
using TileArg = std::variant<std::monostate, Region, ExprId, Setting>;

struct TileCall {
  TileOp op = TileOp::Copy;
  Unit scope = Unit::Thread;
  std::vector<TileArg> args;  // one per parameter of the op
  std::string dispatch;       // forced variant, or empty
  std::vector<std::pair<std::string, Setting>> config;
  std::vector<std::pair<std::string, BufferId>> workspace;
};

enum class PtxOperandKind : std::uint8_t {
  Value,     // an expression; for a destination, a Load of one element (an lvalue)
  At,        // the 32-bit register that a pointer to private memory points to
  Address,   // [expr + offset]
  Sink,      // `_`
  Predicate  // an integer or bool used as a predicate
};
/// An operand of a PTX instruction. Destinations are those of the catalogue's form.
struct PtxOperand {
  PtxOperandKind kind = PtxOperandKind::Value;
  ExprId expr = {};
  ExprId offset = {};  // Address; none: 0
};
struct PtxCall {
  isa::Opcode opcode = {};                // bound when the call is made
  std::vector<PtxOperand> operands = {};  // flat, in the order of the PTX text
  ExprId predicate = {};                  // executed where it holds; none: everywhere
  bool keep = false;                      // predicated off: destinations keep their values
};

enum class StmtKind : std::uint8_t {
  Bind,      // var = expr
  Alloc,     // buffer comes into being
  Declare,   // buffer is another view; no code
  Store,     // buffer[args] = expr
  For,       // var from args[0], args[1] times, step args[2] (constant or none); body
  While,     // expr; body
  If,        // expr; body; other
  Assert,    // expr; message
  Evaluate,  // expr, for its effect
  Break,
  Continue,
  Return,
  Attr,          // attr = setting; for `body`, or the rest of the block when `is_open`
  ScopeIds,      // scope_id: vars, extents in args (none: extent follows from others)
  LaunchThread,  // var over args[0], `hardware`
  Tile,          // tile
  Ptx,           // ptx
};
std::string_view name_of(StmtKind kind);

enum class LoopKind : std::uint8_t { Serial, Unroll, Vectorized, Parallel, ThreadBinding };
std::string_view name_of(LoopKind kind);  // "serial", "unroll", …

using Block = std::vector<StmtId>;

/// The Attr around the code of a tile primitive.
inline constexpr std::string_view kPrimitiveAttr = "primitive";

struct Stmt {
  StmtKind kind = StmtKind::Evaluate;
  Span span = {};
  ExprId expr = {};
  SmallVec<ExprId, 3> args = {};
  VarId var = {};
  BufferId buffer = {};
  LoopKind loop = LoopKind::Serial;
  ScopeIdKind scope_id{};
  std::vector<VarId> vars = {};  // ScopeIds
  TileCallId tile = {};
  PtxCallId ptx = {};
  HardwareId hardware = {};  // LaunchThread; For: ThreadBinding
  std::string message = {};  // Assert; may be empty
  std::string attr = {};     // Attr
  Setting setting = false;   // Attr
  std::vector<std::pair<std::string, Setting>>
      settings{};        // For: annotations (`unroll` …); ScopeIds: `preferred0` …
  bool is_open = false;  // Attr
  Block body = {};
  Block other = {};

  [[nodiscard]] bool is_loop() const { return kind == StmtKind::For || kind == StmtKind::While; }
  /// Does it leave the round of a loop?
  [[nodiscard]] bool is_jump() const {
    return kind == StmtKind::Break || kind == StmtKind::Continue;
  }
  // Of a For.
  [[nodiscard]] ExprId first() const { return args[0]; }
  [[nodiscard]] ExprId trips() const { return args[1]; }
  [[nodiscard]] ExprId step() const { return args.size() > 2 ? args[2] : ExprId{}; }  // none: 1
};
// --- functions -----------------------------------------------------------------------------------

/// Which nodes may occur: see the top of this file.
enum class Level : std::uint8_t { Tile, Lowered };

struct Param {
  VarId var = {};        // scalar or pointer
  BufferId buffer = {};  // when annotated as T.Buffer; `var` is its pointer then, too
};

class Function {
 public:
  std::string name = "main";
  std::vector<Param> params;
  std::vector<std::pair<std::string, Setting>> attrs;
  Level level = Level::Tile;
  bool has_device_entry = false;
  Block host;  // what stands before T.device_entry(): Bind and Declare of matched buffers, mostly
  Block body;

  std::vector<std::string> texts;
  StableVec<TileCall> tile_calls;
  StableVec<PtxCall> ptx_calls;

  // In function.cpp, because each file that compiles them takes a second longer.
  Function();
  Function(const Function& other);
  Function(Function&& other) noexcept;
  Function& operator=(const Function& other);
  Function& operator=(Function&& other) noexcept;
  ~Function();

  ExprId add(Expr expr);
  StmtId add(Stmt stmt);
  VarId add(Var var);
  BufferId add(Buffer buffer);
  TileCallId add(TileCall call);
  PtxCallId add(PtxCall call);
  std::uint32_t add_text(std::string text);

  /// The node of a name that `add` gave.
  template <typename Node>
  [[nodiscard]] const Node& operator[](Id<Node> id) const {
    return get(pool<Node>(*this), id);
  }
  /// The same, to be changed. An expression only in templates, and in tests that plant faults: what
  /// `add` has worked out stays as it was, here and in the expressions above.
  template <typename Node>
  Node& at(Id<Node> id) {
    return get(pool<Node>(*this), id);
  }
  /// Expressions stay as they are; this is for the code that has just made one.
  void set_no_wrap(ExprId id, bool no_wrap = true) { get(exprs_, id).no_wrap = no_wrap; }

  [[nodiscard]] std::size_t expr_count() const { return exprs_.size(); }
  [[nodiscard]] std::size_t stmt_count() const { return stmts_.size(); }
  [[nodiscard]] std::size_t var_count() const { return vars_.size(); }
  [[nodiscard]] std::size_t buffer_count() const { return buffers_.size(); }

 private:
  template <typename Node, typename Self>
  static auto& pool(Self& self) {
    if constexpr (std::same_as<Node, Expr>) return self.exprs_;
    if constexpr (std::same_as<Node, Stmt>) return self.stmts_;
    if constexpr (std::same_as<Node, Var>) return self.vars_;
    if constexpr (std::same_as<Node, Buffer>) return self.buffers_;
    if constexpr (std::same_as<Node, TileCall>) return self.tile_calls;
    if constexpr (std::same_as<Node, PtxCall>) return self.ptx_calls;
  }
  template <typename Pool, typename IdType>
  static auto get(Pool& pool, IdType id) -> decltype(pool[0]) {
    if (id.index >= pool.size()) [[unlikely]]
      raise_missing(id.index, pool.size());
    return pool[id.index];
  }
  /// Out of line: every access to a node has this check.
  [[noreturn, gnu::cold, gnu::noinline]] static void raise_missing(std::size_t node,
                                                                   std::size_t count);
  StableVec<Expr> exprs_;
  StableVec<Stmt> stmts_;
  StableVec<Var> vars_;
  StableVec<Buffer> buffers_;
};

// --- questions -----------------------------------------------------------------------------------

/// The value of an integer constant (bool and uint64 as int64), if it is one.
inline std::optional<std::int64_t> const_int(const Function& function, ExprId expr) {
  if (!expr.valid() || function[expr].op != ExprOp::IntImm) return std::nullopt;
  return function[expr].integer;
}
/// By how much the variable of a loop grows in each round.
inline std::int64_t step_of(const Function& function, const Stmt& loop) {
  return const_int(function, loop.step()).value_or(1);
}
/// Is it a call of one of these functions?
template <std::same_as<Intrinsic>... Callees>
bool is_call(const Expr& e, Callees... callees) {
  return e.op == ExprOp::Call && ((e.callee == callees) || ...);
}
/// Does the statement consist of such a call?
template <std::same_as<Intrinsic>... Callees>
bool is_call(const Function& function, const Stmt& stmt, Callees... callees) {
  return stmt.kind == StmtKind::Evaluate && is_call(function[stmt.expr], callees...);
}
/// Is it another pointer plus a number of elements or bytes?
inline bool moves_pointer(const Expr& e) {
  return is_call(e, Intrinsic::PointerOffset, Intrinsic::ByteOffset);
}
/// Is it the address of an element, or of a buffer's first byte?
inline bool takes_address(const Expr& e) {
  return e.op == ExprOp::AddressOf || e.op == ExprOp::BufferData;
}
/// Is it the same pointer, to another type?
inline bool retypes_pointer(const Expr& e) {
  return (e.op == ExprOp::Reinterpret || e.op == ExprOp::Cast) && e.type.is_pointer();
}
/// All extents when they are constant.
std::optional<layout::Shape> const_shape(const Function& function, const Buffer& buffer);
/// The buffer's layout: the explicit one, or row-major over a constant shape (a None layout counts
/// as row-major). Nothing when an extent is a runtime value.
std::optional<layout::Layout> layout_of(const Function& function, const Buffer& buffer);
/// One dimension with one element: its bare name may stand for the element.
bool has_one_element(const Function& function, const Buffer& buffer);
/// Does an axis of kind Thread move in the buffer's layout?
bool has_thread_axes(const Buffer& buffer);
/// The buffer that owns the storage: itself, or the base of a view.
BufferId storage_of(const Function& function, BufferId buffer);
/// The parameter's place, by the name of the parameter or of the buffer matched to it.
std::optional<std::size_t> find_param(const Function& function, std::string_view name);
/// The buffer matched to a parameter, the first of them if several; none for a scalar.
BufferId buffer_of_param(const Function& function, std::size_t param);

}  // namespace ww::ir
