// SPDX-License-Identifier: Apache-2.0
// Buffers and pointers. An allocation is an array `<buffer>_ptr`; a view of the same elements from
// the start goes by its storage's name, any other view is a pointer of its own type.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "emit/cuda/types.h"
#include "emit/cuda/writer.h"

namespace ww::emit::cuda {

using ir::Buffer;
using ir::BufferId;
using ir::BufferOrigin;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Scope;

namespace {

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

}  // namespace

// The same elements from the start of the same storage?
bool Writer::is_alias(BufferId id) const {
  const Buffer& b = f_[id];
  if (b.origin != BufferOrigin::View && b.origin != BufferOrigin::Param) return false;
  const auto is_zero = [&](ExprId e) { return !e.valid() || ir::const_int(f_, e) == 0; };
  if (!is_zero(b.elem_offset) || !is_zero(b.byte_offset)) return false;
  if (b.origin == BufferOrigin::View)
    return memory_type(b.dtype) == memory_type(f_[b.base].dtype) &&
           (f_[b.base].origin == BufferOrigin::Alloc || is_alias(b.base) ||
            f_[b.base].origin == BufferOrigin::Pointer) &&
           !f_[b.base].elem_offset.valid() && !f_[b.base].byte_offset.valid();
  const std::optional<std::size_t> param = ir::find_param(f_, f_[b.param].name);
  const BufferId first = param ? ir::buffer_of_param(f_, *param) : BufferId{};
  return !first.valid() || memory_type(f_[first].dtype) == memory_type(b.dtype);
}

std::string Writer::base_name(BufferId id) const {
  const Buffer& b = f_[id];
  if (is_alias(id) && b.origin == BufferOrigin::View) return base_name(b.base);
  return names_.of(id);
}

// --- elements ------------------------------------------------------------------------------------

std::string Writer::element(BufferId buffer, ExprId at, Span span) {
  return element_at(buffer, expr(at), span);
}

std::string Writer::element_at(BufferId buffer, const std::string& place, Span span) {
  if (is_packed(f_[buffer].dtype))
    refuse(span, fmt::format("`{}` has elements of {} bits, which share bytes and cannot be named "
                             "one by one",
                             f_[buffer].name, num::bits_of(f_[buffer].dtype)));
  if (names_.is_variable(buffer)) return names_.of(buffer);
  return fmt::format("{}[{}]", base_name(buffer), place);
}

std::string Writer::flat_index(BufferId buffer, const SmallVec<ExprId, 3>& indices, Span span) {
  if (indices.size() == 1) return expr(indices[0]);
  if (indices.empty()) return "0";
  return refuse(span, fmt::format("`{}` is accessed with {} indices, expected a lowered program "
                                  "with one",
                                  f_[buffer].name, indices.size()));
}

Text Writer::load(const Expr& e) {
  const std::string place = flat_index(e.buffer, e.args, e.span);
  Text out = {element_at(e.buffer, place, e.span)};
  if (e.type.dtype != num::DType::Bool || names_.is_variable(e.buffer)) return out;
  return {fmt::format("{} != 0", out.text), kEqual};
}

// --- pointers ------------------------------------------------------------------------------------

// Element pointers of packed types count bytes.
Text Writer::pointer(const Expr& e) {
  const Buffer& b = f_[e.buffer];
  if (e.op == ExprOp::BufferData) {
    const BufferId root = ir::storage_of(f_, e.buffer);
    const std::string name =
        f_[root].origin == BufferOrigin::Pointer ? expr(f_[root].pointer) : base_name(root);
    const bool is_same = !e.type.opaque &&
                         memory_type(e.type.dtype) == memory_type(f_[root].dtype) &&
                         f_[root].origin != BufferOrigin::Pointer;
    if (is_same) return {name};
    return {fmt::format("reinterpret_cast<{}>({})", type_text(e.type), name)};
  }
  const std::string place = flat_index(e.buffer, e.args, e.span);
  const std::string scaled =
      is_packed(b.dtype) ? fmt::format("({}) * {} / 8", place, num::bits_of(b.dtype)) : place;
  return {fmt::format("&{}[{}]", base_name(e.buffer), scaled), kUnary};
}

std::string Writer::pointer_as(ExprId id, ir::Type wanted) {
  const ir::Type type = f_[id].type;
  const std::string text = expr(id);
  if (type_text(type) == type_text(wanted) || wanted.opaque) return text;
  return fmt::format("reinterpret_cast<{}>({})", type_text(wanted), text);
}

// pointer_offset and ptr_byte_offset.
std::string Writer::offset_pointer(const Expr& e) {
  const ir::Type type = f_[e.args[0]].type;
  const bool by_bytes = e.callee == Intrinsic::ByteOffset;
  if (!by_bytes && !type.opaque && !is_packed(type.dtype))
    return fmt::format("{}({}, {})", helpers_.use("tvm_builtin_pointer_offset"), expr(e.args[0]),
                       expr(e.args[1]));
  const std::string offset =
      by_bytes || !is_packed(type.dtype)
          ? expr(e.args[1])
          : fmt::format("{} * {} / 8", expr(e.args[1], kProduct), num::bits_of(type.dtype));
  const std::string_view target = e.type.opaque ? "uint8_t" : memory_type(e.type.dtype);
  return fmt::format("{}<{}>({}, {})", helpers_.use("tvm_builtin_byte_offset"), target,
                     expr(e.args[0]), offset);
}

// --- declarations --------------------------------------------------------------------------------

void Writer::alloc(const ir::Stmt& s) {
  const Buffer& b = f_[s.buffer];
  const std::string unused = names_.is_read(s.buffer) ? "" : "[[maybe_unused]] ";
  const std::string& name = names_.of(s.buffer);
  if (names_.is_variable(s.buffer))
    return line(fmt::format("{}{} {};", unused, value_type(b.dtype), name));
  const bool is_shared = ir::is_shared(b.scope);
  const std::int64_t align = std::max(b.align, is_shared ? kSharedAlign : kDefaultAlign);
  if (b.scope == Scope::SharedDyn)
    return line(
        fmt::format("extern __shared__ __align__({}) {} {}[];", align, memory_type(b.dtype), name));
  std::int64_t elements = 1;
  for (const ExprId extent : b.shape) {
    const std::optional<std::int64_t> value = ir::const_int(f_, extent);
    if (!value) refuse(s.span, fmt::format("`{}` has an extent of run time", b.name));
    elements *= value.value_or(1);
  }
  if (is_packed(b.dtype)) elements = (elements * num::bits_of(b.dtype) + 7) / 8;
  if (is_shared) elements = with_room_for_wide_loads(elements, bytes_of(b.dtype));
  line(fmt::format("{}{}alignas({}) {} {}[{}];", unused, is_shared ? "__shared__ " : "", align,
                   memory_type(b.dtype), name, elements));
}

// Where the storage of a view, parameter or pointer begins, as some pointer.
std::string Writer::storage_pointer(const Buffer& b) {
  if (b.origin == BufferOrigin::Pointer) return expr(b.pointer);
  if (b.origin == BufferOrigin::Param) return names_.of(b.param);
  const Buffer& base = f_[b.base];
  if (base.origin == BufferOrigin::Pointer) return expr(base.pointer);
  if (base.origin == BufferOrigin::Param) return names_.of(base.param);
  return names_.of(b.base);
}

void Writer::declare(const ir::Stmt& s) {
  const Buffer& b = f_[s.buffer];
  if (is_alias(s.buffer) || !names_.is_used(s.buffer)) return;
  if (b.scope == Scope::Tmem)
    return static_cast<void>(refuse(
        s.span,
        fmt::format("`{}` is in tensor memory, expected a lowered program without", b.name)));
  const std::string type = fmt::format("{}*", memory_type(b.dtype));
  std::string text = storage_pointer(b);
  if (b.byte_offset.valid()) {
    text = fmt::format("{}<{}>({}, {})", helpers_.use("tvm_builtin_byte_offset"),
                       memory_type(b.dtype), text, expr(b.byte_offset));
  } else if (b.origin != BufferOrigin::Pointer || type_text(f_[b.pointer].type) != type) {
    text = fmt::format("reinterpret_cast<{}>({})", type, text);
  }
  if (b.elem_offset.valid()) {
    text += is_packed(b.dtype) ? fmt::format(" + {} * {} / 8", expr(b.elem_offset, kProduct),
                                             num::bits_of(b.dtype))
                               : fmt::format(" + {}", expr(b.elem_offset, kSum));
  }
  line(fmt::format("{} {} = {};", type, names_.of(s.buffer), text));
}

}  // namespace ww::emit::cuda
