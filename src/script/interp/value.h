// SPDX-License-Identifier: Apache-2.0
// Values of the compile-time evaluator: those of Python that host code uses (numbers, texts, lists,
// functions …), those of the language (layouts, axes, element types, kernels), and the handles to
// what a kernel under construction consists of (IR expressions, buffers, regions).
//
// A `Value` is small and copied freely. Compound ones point to objects that a `Heap` owns; the heap
// lives as long as the evaluation, so cycles (a function that sees itself) are no problem.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/wide.h"
#include "ir/function.h"
#include "layout/layout.h"
#include "script/syntax/ast.h"

namespace ww::script {

// clang-format off
enum class Kind : std::uint8_t {
  // Python
  None, Bool, Int, Float, Str, Tuple, List, Dict, Set, Slice, Range, Ellipsis,
  Generator,  // what a generator expression, `zip` or `map` gives: iterated once
  Function,   // def or lambda of the source
  Builtin,    // a function of ours: a row of a table
  Method,     // a method of a value, not yet called
  Class, Instance,
  // The language
  Namespace,  // T, T.cuda, math …: a dotted path
  DType,      // an element type, callable
  Axis, AxisTerm,         // laneid, 4 @ laneid
  SpecMaker, Spec,        // S and R; S[…] + R[…] + 5 @ warpid
  Iter,                   // Iter(8, 4, laneid): a part of a layout
  Swizzle, Layout,
  Annotation, // T.handle, T.let[…], T.Buffer(…): what may stand behind a parameter's colon
  Kernel,     // @T.prim_func, compiled (or with its errors)
  Jit,        // @T.jit, waits for its constants
  Inline,     // @T.inline or @T.macro
  // Inside a kernel
  Ir,         // an expression
  Buffer, Region,
  Loop,       // T.serial(…), T.grid(…) …: what a `for` runs over
  Meta,       // T.meta_var(x)
  Accessor,   // B.sub, waits for its index
  Frame,      // T.attr({…}): for `with`, or the rest of the block
  Launch,     // T.cuda.LaunchConfig(…)
  PtxPath,    // T.ptx.ld.global_…: an instruction so far
  PtxPart,    // T.ptx.addr(…), T.ptx.SINK …
  Pool,       // T.SMEMPool() …
  // Neither
  Opaque,     // made by Python that is not modelled
  Poison,     // made by a statement that was in error already; silences what follows from it
};
// clang-format on

/// What a Value points to; its kind says which of those below.
struct Object {
  std::size_t serial = 0;  // counts up over a heap's life
};

struct Value {
  Kind kind = Kind::None;
  bool truth = false;  // Bool
  /// Ir: ExprId; Buffer: BufferId; DType: num::DType; SpecMaker: 'S' or 'R'; Int and Float: 0, or
  /// an element type (evaluator.h)
  std::uint32_t id = 0;
  Wide integer = 0;          // Int
  double real = 0;           // Float
  Object* object = nullptr;  // the others

  [[nodiscard]] ir::ExprId expr() const { return {id}; }
  [[nodiscard]] ir::BufferId buffer() const { return {id}; }
  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  template <typename T>
  [[nodiscard]] T& as() const {
    return *static_cast<T*>(object);
  }
};

/// A value, and the place of the source that gives it, which messages point to.
struct Given : Value {
  Span span;
};

inline Value none() { return {}; }
inline Value of_bool(bool truth) { return {.kind = Kind::Bool, .truth = truth}; }
inline Value of_int(Wide integer) { return {.kind = Kind::Int, .integer = integer}; }
inline Value of_float(double real) { return {.kind = Kind::Float, .real = real}; }
inline Value of_expr(ir::ExprId expr) { return {.kind = Kind::Ir, .id = expr.index}; }
inline Result<Value> of_expr(const Result<ir::ExprId>& expr) { return of_expr(WW_TRY(expr)); }
inline Value of_buffer(ir::BufferId buffer) { return {.kind = Kind::Buffer, .id = buffer.index}; }
/// Numbers of the host: a bool counts as 0 or 1.
inline bool is_intlike(const Value& v) { return v.is(Kind::Int) || v.is(Kind::Bool); }
inline bool is_number(const Value& v) { return is_intlike(v) || v.is(Kind::Float); }
/// A value of the program: known at run time only.
inline bool is_kernel_value(const Value& v) { return v.is(Kind::Ir) || v.is(Kind::Buffer); }
inline Wide int_of(const Value& v) { return v.is(Kind::Bool) ? Wide{v.truth} : v.integer; }
inline double float_of(const Value& v) {
  return v.is(Kind::Float) ? v.real : static_cast<double>(int_of(v));
}
inline bool is_sequence(const Value& v) { return v.is(Kind::Tuple) || v.is(Kind::List); }

inline Value poison() { return {.kind = Kind::Poison}; }

struct StrObject : Object {
  std::string text;
};
struct SeqObject : Object {  // Tuple, List, Set, Generator
  std::vector<Value> items;
};
struct DictObject : Object {  // in the order of insertion
  std::vector<std::pair<Value, Value>> items;
};
struct SliceObject : Object {
  Value begin, end, step;
};
struct RangeObject : Object {
  std::int64_t begin = 0, end = 0, step = 1;
  [[nodiscard]] std::int64_t size() const;
};

class Env;
/// A source text's tree, and where its places lie among all texts of an evaluation.
struct Unit {
  Ast ast;
  std::size_t base = 0;
  bool is_library = false;  // code that the user did not write: what it does is at the user's call
  [[nodiscard]] Span span(Place place) const {
    return Span::at(base + place.begin, base + place.end);
  }
};

struct FunctionObject : Object {                                            // Function, Jit, Inline
  enum class Binding : std::uint8_t { Instance, Class, Static, Property };  // as a class's member
  const Unit* unit = nullptr;
  StmtId def = {};  // or
  ExprId lambda = {};
  Env* env = nullptr;
  std::string name;
  std::vector<Value> defaults;  // one per parameter; meaningful where the parameter has a default
  Binding binding = Binding::Instance;
};
struct ClassObject : Object {
  std::string name;
  Env* env = nullptr;  // what its body binds
  /// All classes that it inherits from, each once, in the order in which names are looked up.
  std::vector<const ClassObject*> bases;
  std::vector<std::pair<Symbol, std::optional<Value>>>
      fields;  // annotated names and their defaults

  /// A name bound in the class or, in their order, in its bases; null if there is none.
  [[nodiscard]] const Value* find(Symbol member) const;
  [[nodiscard]] bool is_or_inherits(const ClassObject& other) const;
};
struct InstanceObject : Object {
  ClassObject* type = nullptr;
  std::vector<std::pair<Symbol, Value>> fields;

  /// Null if there is none.
  [[nodiscard]] Value* find(Symbol field);
};
struct BuiltinRow;
struct BuiltinObject : Object {
  const BuiltinRow* row = nullptr;
};
struct MethodObject : Object {
  Value self;
  std::string name;
  const BuiltinRow* row = nullptr;  // of a value of ours
  Value function;                   // of a class of the source
};
struct NamespaceObject : Object {
  std::string path;  // "T.cuda"
};
struct AxisObject : Object {
  layout::Axis axis;
};
struct AxisTermObject : Object {
  Wide amount = 0;
  layout::Axis axis;
};
struct SpecObject : Object {
  layout::Iters shard;
  layout::Iters replica;
  layout::Offsets offset;
  bool has_shard = false;
};
struct IterObject : Object {
  layout::Iter iter;
};
struct SwizzleObject : Object {
  layout::Swizzle swizzle;
};
struct LayoutObject : Object {
  layout::Layout layout;
};
struct AnnotationObject : Object {
  enum class What : std::uint8_t { Handle, Let, Constexpr, Buffer, Array, TensorMap, Optional };
  What what = What::Handle;
  ir::Type type;  // Handle: what it points to; Let: the type, or void; Array: element type
  std::vector<Value> shape;     // Array
  std::vector<Value> args;      // Buffer: the arguments of T.Buffer, by parameter
  Value inner;                  // Optional
  bool is_open = false;         // Buffer: the element type is given with the constants, and is one
  std::vector<ir::Type> types;  // of these; empty: any
};
struct KernelObject : Object {
  ir::Function function;
  std::vector<Diag> errors;
  Span span;
};
struct RegionObject : Object {
  ir::Region region;
};
struct LoopObject : Object {
  ir::LoopKind loop = ir::LoopKind::Serial;
  std::vector<std::pair<Value, Value>> ranges;  // begin, end; several for a grid
  Value step;
  std::vector<std::pair<std::string, Value>> annotations;
  ir::Type type = ir::Type::of(num::DType::Int32);
  ir::HardwareId hardware;  // of ThreadBinding
};
struct MetaObject : Object {
  Value value;
};
struct FrameObject : Object {
  std::vector<std::pair<std::string, ir::Setting>> attrs;
};
struct LaunchObject : Object {
  struct Dims {
    std::vector<Value> extents;  // x first; empty: not given
    Span span;
  };
  Dims grid, block, cluster, preferred;
  std::vector<std::string_view> attributes;  // of ir/launch/launch.h, which are set
};
struct PtxPathObject : Object {
  std::vector<std::string> words;
  bool is_quoted = false;  // T.ptx["…"]: an opcode as it stands
};
struct PtxPartObject : Object {
  ir::PtxOperandKind kind = ir::PtxOperandKind::Sink;
  Value value;
  Value offset;
};
struct OpaqueObject : Object {
  Span span;           // the statement or expression it comes from
  std::string reason;  // "`numpy` is not modelled"
  /// `n = T.int32()` outside of kernels: one that uses it has an extent of this type.
  std::optional<ir::Type> extent = {};
  /// Of `tvm.target.Target(…)`; empty: not known.
  std::string arch = {};
};

/// Owns all objects of an evaluation, and counts what they take.
class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() {
    for (const Owned& owned : objects_) owned.release(owned.object);
  }

  /// Memory is counted in units of eight bytes.
  static constexpr std::size_t kMaxUnits = 48U << 20U;
  static constexpr std::size_t kPerValue = sizeof(Value) / 8;
  static constexpr std::size_t kPerObject = 6;  // what the allocator and the heap add to one

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    auto object = std::make_unique<T>(std::forward<Args>(args)...);
    object->serial = objects_.size();
    objects_.push_back({object.get(), [](void* p) { delete static_cast<T*>(p); }});
    units_ += sizeof(T) / 8 + kPerObject;
    return object.release();
  }
  /// Counts memory that an object takes beyond itself.
  void count(std::size_t units) { units_ += units; }
  void count_values(std::size_t values) { units_ += values * kPerValue; }
  /// The serial number of the next object.
  [[nodiscard]] std::size_t next_serial() const { return objects_.size(); }
  [[nodiscard]] bool is_full() const { return units_ > kMaxUnits; }
  [[nodiscard]] bool has_room(std::size_t units) const {
    return units <= kMaxUnits && units_ <= kMaxUnits - units;
  }
  [[nodiscard]] bool has_room_for_values(std::size_t values) const {
    return values <= kMaxUnits && has_room(values * kPerValue);
  }

  Value str(std::string text);
  Value tuple(std::vector<Value> items) { return seq(Kind::Tuple, std::move(items)); }
  Value list(std::vector<Value> items) { return seq(Kind::List, std::move(items)); }
  Value seq(Kind kind, std::vector<Value> items);
  template <typename T>
  Value wrap(Kind kind, T object) {
    return {.kind = kind, .object = make<T>(std::move(object))};
  }

 private:
  struct Owned {
    void* object;
    void (*release)(void*);
  };
  std::vector<Owned> objects_;
  std::size_t units_ = 0;
};

/// Names in scope: a chain of tables. Reading looks outwards, writing stays in the innermost, but
/// for names that a `global` or `nonlocal` statement sends elsewhere.
class Env {
 public:
  explicit Env(Env* parent = nullptr) : parent_(parent) {}

  [[nodiscard]] Env* parent() const { return parent_; }
  /// The value here or further out; null if the name has none.
  [[nodiscard]] const Value* find(Symbol name) const;
  [[nodiscard]] const Value* find_here(Symbol name) const;
  void set(Symbol name, Value value);
  /// Where the name is bound: this table or one further out; null if nowhere.
  Env* owner(Symbol name);
  [[nodiscard]] const std::vector<std::pair<Symbol, Value>>& names() const { return names_; }
  /// From now on the name means the one of `target`.
  void redirect(Symbol name, Env& target) { redirects_.emplace_back(name, &target); }
  [[nodiscard]] Env* redirected(Symbol name) const;
  /// Of a comprehension: `:=` in it binds further out.
  bool is_comprehension = false;

 private:
  Env* parent_;
  std::vector<std::pair<Symbol, Env*>> redirects_;
  std::vector<std::pair<Symbol, Value>> names_;
  std::vector<std::uint32_t> index_;  // by symbol, for large tables: place in names_ plus one
};

/// What messages call a value's type: "int", "tuple", "layout", "buffer".
std::string_view type_name(const Value& value);
/// Compares values that are equal by content (numbers, texts, lists, layouts, types), others by
/// identity. Counts what it looks at, and gives up where lists hold each other without end.
class Comparison {
 public:
  bool same(const Value& a, const Value& b);
  /// -1, 0 or 1; nothing when the two have no order.
  std::optional<int> order(const Value& a, const Value& b);
  [[nodiscard]] std::size_t visits() const { return visits_; }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  bool enter();
  bool same_content(const Value& a, const Value& b);
  bool same_items(const std::vector<Value>& a, const std::vector<Value>& b);
  bool same_pairs(const Value& a, const Value& b);
  bool same_fields(const InstanceObject& a, const InstanceObject& b);
  std::size_t visits_ = 0;
  int depth_ = 0;
  bool gave_up_ = false;
};
/// The value itself where it is opaque, or an opaque one in a list, tuple, set, dict or object: what
/// depends on all of it is not known. Null where there is none in what is looked at, which is bounded.
const Value* opaque_in(const Value& value);
std::string_view text_of(const Value& str);
/// As Python's repr, for messages: long ones are cut.
std::string repr(const Value& value);
/// As Python's repr, whole. Nothing when it is longer than `limit` bytes or nested without end.
std::optional<std::string> full_repr(const Value& value, std::size_t limit);

}  // namespace ww::script
