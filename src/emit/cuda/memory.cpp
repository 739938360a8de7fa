// SPDX-License-Identifier: Apache-2.0
// Buffers and pointers. An allocation is an array `<buffer>_ptr`; a view of the same elements from
// the start has its storage's name, any other view is a pointer of its own type.
#include "emit/cuda/memory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>

#include "base/join.h"
#include "emit/cuda/calls.h"
#include "emit/cuda/exprs.h"
#include "emit/cuda/types.h"

namespace ww::emit::cuda {

namespace {

using ir::Scope;

constexpr std::int64_t kDefaultAlign = 64;
constexpr std::int64_t kSharedAlign = 128;   // what the asynchronous copies ask for
constexpr std::uint64_t kWidestAccess = 16;  // bytes

// nvcc makes one wide load of neighbouring small ones, up to the next power of two, where the
// alignment allows it: the array goes on for as long as such a load from within it may reach.
std::int64_t with_room_for_wide_loads(std::int64_t elements, int bytes_each) {
  const auto bytes = static_cast<std::uint64_t>(elements * bytes_each);
  const std::uint64_t unit = std::min(kWidestAccess, std::bit_ceil(bytes));
  return static_cast<std::int64_t>((bytes + unit - 1) / unit * unit) / bytes_each;
}

// The same elements from the start of the same storage?
bool is_alias(const Context& c, BufferId id) {
  const Buffer& b = c.f[id];
  if (b.origin != BufferOrigin::View && b.origin != BufferOrigin::Param) return false;
  const auto is_zero = [&](ExprId e) { return !e.valid() || ir::const_int(c.f, e) == 0; };
  if (!is_zero(b.elem_offset) || !is_zero(b.byte_offset)) return false;
  if (b.origin == BufferOrigin::View)
    return memory_type(b.dtype) == memory_type(c.f[b.base].dtype) &&
           (c.f[b.base].origin == BufferOrigin::Alloc || is_alias(c, b.base) ||
            c.f[b.base].origin == BufferOrigin::Pointer) &&
           !c.f[b.base].elem_offset.valid() && !c.f[b.base].byte_offset.valid();
  const std::optional<std::size_t> param = ir::find_param(c.f, c.f[b.param].name);
  const BufferId first = param ? ir::buffer_of_param(c.f, *param) : BufferId{};
  return !first.valid() || memory_type(c.f[first].dtype) == memory_type(b.dtype);
}

std::string base_name(const Context& c, BufferId id) {
  const Buffer& b = c.f[id];
  if (is_alias(c, id) && b.origin == BufferOrigin::View) return base_name(c, b.base);
  return c.names.of(id);
}

// The text of the only index.
std::string flat_index(Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices, Span span) {
  if (indices.size() == 1) return expr(c, indices[0]);
  if (indices.empty()) return "0";
  return refuse(c, span, "`{}` is accessed with {} indices, expected a lowered program with one",
                c.f[buffer].name, indices.size());
}

// Where the storage of a view, parameter or pointer begins, as some pointer.
std::string storage_pointer(Context& c, const Buffer& b) {
  if (b.origin == BufferOrigin::Pointer) return expr(c, b.pointer);
  if (b.origin == BufferOrigin::Param) return c.names.of(b.param);
  const Buffer& base = c.f[b.base];
  if (base.origin == BufferOrigin::Pointer) return expr(c, base.pointer);
  if (base.origin == BufferOrigin::Param) return c.names.of(base.param);
  return c.names.of(b.base);
}

}  // namespace

// --- elements ------------------------------------------------------------------------------------

std::string element_at(Context& c, BufferId buffer, const std::string& place, Span span) {
  if (is_packed(c.f[buffer].dtype) && !c.names.is_variable(buffer))
    refuse(c, span,
           "`{}` has elements of {} bits, which share bytes and cannot be named one by one",
           c.f[buffer].name, num::bits_of(c.f[buffer].dtype));
  if (c.names.is_variable(buffer)) return c.names.of(buffer);
  return fmt::format("{}[{}]", base_name(c, buffer), place);
}

std::string element(Context& c, BufferId buffer, const SmallVec<ExprId, 3>& indices, Span span) {
  const std::string index = flat_index(c, buffer, indices, span);
  return element_at(c, buffer, index, span);
}

Text load(Context& c, const Expr& e) {
  if (is_packed(e.type.dtype) && !c.names.is_variable(e.buffer))
    return {fmt::format("{}({}, {})", c.helpers.use("ww_nibble"), base_name(c, e.buffer),
                        flat_index(c, e.buffer, e.args, e.span))};
  Text out = {element(c, e.buffer, e.args, e.span)};
  if (e.type.dtype != DType::Bool || c.names.is_variable(e.buffer)) return out;
  return {fmt::format("{} != 0", out.text), kEqual};
}

// Two threads could write the halves of a byte in memory that they share.
bool store_packed(Context& c, const Stmt& s) {
  const Buffer& b = c.f[s.buffer];
  if (!is_packed(b.dtype) || b.scope != Scope::Local || c.names.is_variable(s.buffer)) return false;
  const std::string place = flat_index(c, s.buffer, s.args, s.span);
  line(c, "{}({}, {}, {});", c.helpers.use("ww_put_nibble"), base_name(c, s.buffer), place,
       expr(c, s.expr));
  return true;
}

// --- pointers ------------------------------------------------------------------------------------

// Element pointers of packed types count bytes.
Text pointer(Context& c, const Expr& e) {
  const Buffer& b = c.f[e.buffer];
  if (e.op == ExprOp::BufferData) {
    const BufferId root = ir::storage_of(c.f, e.buffer);
    const std::string name =
        c.f[root].origin == BufferOrigin::Pointer ? expr(c, c.f[root].pointer) : base_name(c, root);
    const bool is_same = !e.type.opaque &&
                         memory_type(e.type.dtype) == memory_type(c.f[root].dtype) &&
                         c.f[root].origin != BufferOrigin::Pointer;
    if (is_same) return {name};
    return {fmt::format("reinterpret_cast<{}>({})", type_text(e.type), name)};
  }
  const std::string place = flat_index(c, e.buffer, e.args, e.span);
  const std::string scaled = is_packed(b.dtype) ? fmt::format("({}) / 2", place) : place;
  return {fmt::format("&{}[{}]", base_name(c, e.buffer), scaled), kUnary};
}

std::string pointer_as(Context& c, ExprId id, ir::Type wanted) {
  const ir::Type type = c.f[id].type;
  const std::string text = expr(c, id);
  if (type_text(type) == type_text(wanted) || wanted.opaque) return text;
  return fmt::format("reinterpret_cast<{}>({})", type_text(wanted), text);
}

std::string offset_pointer(Context& c, const Expr& e) {
  const ir::Type type = c.f[e.args[0]].type;
  const bool by_bytes = e.callee == Intrinsic::ByteOffset;
  if (!by_bytes && !type.opaque && !is_packed(type.dtype))
    return fmt::format("{}({}, {})", c.helpers.use("tvm_builtin_pointer_offset"),
                       expr(c, e.args[0]), expr(c, e.args[1]));
  const std::string offset = by_bytes || !is_packed(type.dtype)
                                 ? expr(c, e.args[1])
                                 : fmt::format("{} / 2", expr(c, e.args[1], kProduct));
  const std::string_view target = e.type.opaque ? "uint8_t" : memory_type(e.type.dtype);
  return fmt::format("{}<{}>({}, {})", c.helpers.use("tvm_builtin_byte_offset"), target,
                     expr(c, e.args[0]), offset);
}

// --- declarations --------------------------------------------------------------------------------

void alloc(Context& c, const Stmt& s) {
  const Buffer& b = c.f[s.buffer];
  const std::string unused = c.names.is_read(s.buffer) ? "" : "[[maybe_unused]] ";
  const std::string& name = c.names.of(s.buffer);
  if (c.names.is_variable(s.buffer)) return line(c, "{}{} {};", unused, value_type(b.dtype), name);
  const bool is_shared = ir::is_shared(b.scope);
  const std::int64_t align = std::max(b.align, is_shared ? kSharedAlign : kDefaultAlign);
  if (b.scope == Scope::SharedDyn)
    return line(c, "extern __shared__ __align__({}) {} {}[];", align, memory_type(b.dtype), name);
  std::int64_t elements = 1;
  for (const ExprId extent : b.shape) {
    const std::optional<std::int64_t> value = ir::const_int(c.f, extent);
    if (!value) refuse(c, s.span, "`{}` has an extent of run time", b.name);
    elements *= value.value_or(1);
  }
  if (is_packed(b.dtype)) elements = (elements * num::bits_of(b.dtype) + 7) / 8;
  if (is_shared) elements = with_room_for_wide_loads(elements, bytes_of(b.dtype));
  line(c, "{}{}alignas({}) {} {}[{}];", unused, is_shared ? "__shared__ " : "", align,
       memory_type(b.dtype), name, elements);
}

void declare(Context& c, const Stmt& s) {
  const Buffer& b = c.f[s.buffer];
  if (is_alias(c, s.buffer) || !c.names.is_used(s.buffer)) return;
  if (b.scope == Scope::Tmem)
    return static_cast<void>(
        refuse(c, s.span, "`{}` is in tensor memory, expected a lowered program without", b.name));
  const std::string type = fmt::format("{}*", memory_type(b.dtype));
  std::string text = storage_pointer(c, b);
  if (b.byte_offset.valid()) {
    text = fmt::format("{}<{}>({}, {})", c.helpers.use("tvm_builtin_byte_offset"),
                       memory_type(b.dtype), text, expr(c, b.byte_offset));
  } else if (b.origin != BufferOrigin::Pointer || type_text(c.f[b.pointer].type) != type) {
    text = fmt::format("reinterpret_cast<{}>({})", type, text);
  }
  if (b.elem_offset.valid()) {
    text += is_packed(b.dtype) ? fmt::format(" + {} / 2", expr(c, b.elem_offset, kProduct))
                               : fmt::format(" + {}", expr(c, b.elem_offset, kSum));
  }
  line(c, "{} {} = {};", type, c.names.of(s.buffer), text);
}

// --- vectors -------------------------------------------------------------------------------------
//
// Vectors are values of a struct `ww_vec<T, N>`. An elementwise expression over vectors becomes one
// function of the lane's number, so that no intermediate vector is made:
//
//     ww_lanes<float, 4>([&](int lane) { return A_ptr[i + lane] + 1.0f; })
//
// A shuffle must know its lane's number; around one, the lanes are listed one by one.

namespace {

bool needs_numbers(const Context& c, ExprId id) {
  const Expr& e = c.f[id];
  if (e.op == ExprOp::Shuffle) return true;
  if (e.op == ExprOp::Reinterpret || e.type.lanes == 1) return false;
  for (const ExprId arg : e.args)
    if (needs_numbers(c, arg)) return true;
  return false;
}

std::string lanes_of(Context& c, ir::Type type,
                     const std::function<std::string(const Lane&)>& text) {
  c.helpers.use("ww_lanes");
  return fmt::format("ww_lanes<{}, {}>([&](int ww_lane) {{ return {}; }})", value_type(type.dtype),
                     type.lanes, text(Lane{"ww_lane"}));
}

// n elements that follow each other from one index on.
bool is_run(const Context& c, const SmallVec<ExprId, 3>& indices, ir::Type type) {
  return type.lanes > 1 && indices.size() == 1 && c.f[indices[0]].type.lanes == 1;
}

// Whether the vector lies at a multiple of its size, in storage of this program (what parameters
// point to may be anywhere).
bool is_aligned(Context& c, BufferId id, ExprId at, ir::Type type) {
  const ir::Buffer& buffer = c.f[id];
  const bool is_own = buffer.origin == BufferOrigin::Alloc;
  const std::int64_t bytes = std::int64_t{bytes_of(type.dtype)} * type.lanes;
  const bool is_power = (type.lanes & (type.lanes - 1)) == 0;
  if (!is_own || !is_power || is_packed(type.dtype)) return false;
  const std::int64_t wanted = std::min<std::int64_t>(bytes, 16);
  const std::int64_t divisor = c.ranges.divisor(at);
  return divisor * bytes_of(type.dtype) % wanted == 0;
}

std::string vector_load(Context& c, const Expr& e) {
  if (!is_aligned(c, e.buffer, e.args[0], e.type) || e.type.is_bool())
    return lanes_of(c, e.type, [&](const Lane& at) {
      const std::string place = fmt::format("{} + {}", expr(c, e.args[0], kSum), at.text);
      return element_at(c, e.buffer, place, e.span);
    });
  return fmt::format("*reinterpret_cast<const {}*>(&{})", type_text(e.type),
                     element_at(c, e.buffer, expr(c, e.args[0]), e.span));
}

}  // namespace

std::string vector_text(Context& c, ExprId id) {
  const Expr& e = c.f[id];
  c.helpers.use("ww_vec");
  if (e.op == ExprOp::Var) return c.names.of(e.var);
  if (e.op == ExprOp::Reinterpret) return reinterpret(c, e).text;
  if (e.op == ExprOp::Load && is_run(c, e.args, e.type)) return vector_load(c, e);
  if (e.op == ExprOp::Call && ir::facts_of(e.callee).effect != ir::Effect::Pure &&
      ir::facts_of(e.callee).effect != ir::Effect::Exchange)
    return call(c, e, nullptr).text;
  if (!needs_numbers(c, id))
    return lanes_of(c, e.type, [&](const Lane& at) { return lane(c, id, at).text; });
  std::vector<std::string> lanes;
  for (int k = 0; k < e.type.lanes; ++k)
    lanes.push_back(lane(c, id, Lane{fmt::format("{}", k), k}).text);
  return fmt::format("{}{{{{{}}}}}", type_text(e.type), join(lanes, ", "));
}

Text lane(Context& c, ExprId id, const Lane& at) {
  const Expr& e = c.f[id];
  if (e.type.lanes == 1 || e.op == ExprOp::IntImm || e.op == ExprOp::FloatImm)
    return render_as(c, id, nullptr);
  switch (e.op) {
    case ExprOp::Var:
      return {fmt::format("{}.lane[{}]", c.names.of(e.var), at.text)};
    case ExprOp::Broadcast:
      if (c.f[e.args[0]].has_effect)
        refuse(c, e.span, "a value with an effect is broadcast to a vector");
      return render(c, e.args[0]);
    case ExprOp::Ramp: {
      const Known known{.fits = e.no_wrap};
      const bool is_one = ir::const_int(c.f, e.args[1]) == 1;
      const Text step = is_one ? Text{at.text}
                               : c.numbers.binary(ExprOp::Mul, e.type.dtype, render(c, e.args[1]),
                                                  {at.text}, known);
      return c.numbers.binary(ExprOp::Add, e.type.dtype, render(c, e.args[0]), step, known);
    }
    case ExprOp::Load: {
      if (!is_run(c, e.args, e.type))
        return {element_at(c, e.buffer, lane(c, e.args[0], at).text, e.span)};
      const std::string place = fmt::format("{} + {}", expr(c, e.args[0], kSum), at.text);
      return {element_at(c, e.buffer, place, e.span)};
    }
    case ExprOp::Shuffle:
      return shuffled(c, e, at);
    case ExprOp::Reinterpret:
      return {fmt::format("{}.lane[{}]", reinterpret(c, e).text, at.text)};
    default:
      return render_as(c, id, &at);
  }
}

Text shuffled(Context& c, const Expr& e, const Lane& at) {
  const auto vectors = static_cast<std::size_t>(e.integer);
  const std::size_t place = vectors + static_cast<std::size_t>(at.number.value_or(0));
  const auto wanted =
      place < e.args.size() ? ir::const_int(c.f, e.args[place]) : std::optional<std::int64_t>();
  if (!wanted) return {refuse(c, e.span, "a shuffle whose lane numbers are not constant")};
  std::int64_t left = *wanted;
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::int64_t lanes = c.f[e.args[v]].type.lanes;
    if (left < lanes)
      return lane(c, e.args[v], Lane{fmt::format("{}", left), static_cast<int>(left)});
    left -= lanes;
  }
  return {refuse(c, e.span, "a shuffle takes lane {}, which its vectors do not have", *wanted)};
}

void vector_store(Context& c, const Stmt& s) {
  const ir::Type type = c.f[s.expr].type;
  const std::string value = vector_text(c, s.expr);
  if (is_run(c, s.args, type)) {
    const std::string first = element_at(c, s.buffer, expr(c, s.args[0]), s.span);
    if (is_aligned(c, s.buffer, s.args[0], type) && !type.is_bool())
      return line(c, "*reinterpret_cast<{}*>(&{}) = {};", type_text(type), first, value);
    return line(c, "{}(&{}, {});", c.helpers.use("ww_store"), first, value);
  }
  // All lanes are computed before one is written.
  line(c, "{");
  ++c.indent;
  line(c, "const {} ww_value = {};", type_text(type), value);
  for (int k = 0; k < type.lanes; ++k) {
    const Text place = lane(c, s.args[0], Lane{fmt::format("{}", k), k});
    line(c, "{} = ww_value.lane[{}];", element_at(c, s.buffer, place.text, s.span), k);
  }
  --c.indent;
  line(c, "}");
}

}  // namespace ww::emit::cuda
