// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/join.h"
#include "ir/print/printer.h"

namespace ww::ir::printing {
namespace {

// float32 is what a declaration without a type means.
void append_dtype(std::vector<std::string>& args, num::DType dtype) {
  if (dtype != num::DType::Float32) args.push_back(fmt::format("\"{}\"", num::name_of(dtype)));
}

std::string tuple_text(const std::vector<std::string>& items) {
  return fmt::format("({}{})", join(items, ", "), items.size() == 1 ? "," : "");
}

// In one dimension, no layout and the plain one are the same.
bool is_flat(const Buffer& buffer) {
  return buffer.layout_kind != LayoutKind::Explicit && buffer.shape.size() == 1;
}

std::string shape_text(const Context& c, const Buffer& buffer) {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) extents.push_back(expr(c, extent));
  return tuple_text(extents);
}

// Scope, layout, offsets and alignment, as far as they are not the default.
void append_fields(const Context& c, std::vector<std::string>& args, const Buffer& buffer) {
  const auto add = [&](std::string_view key, const std::string& value) {
    args.push_back(fmt::format("{}={}", key, value));
  };
  if (buffer.elem_offset.valid()) add("elem_offset", expr(c, buffer.elem_offset));
  if (buffer.byte_offset.valid()) add("byte_offset", expr(c, buffer.byte_offset));
  if (buffer.scope != Scope::Global) add("scope", fmt::format("\"{}\"", name_of(buffer.scope)));
  if (buffer.allocated_addr.valid()) add("allocated_addr", expr(c, buffer.allocated_addr));
  if (buffer.layout_kind == LayoutKind::None) add("layout", "None");
  if (buffer.layout_kind == LayoutKind::Explicit && buffer.layout)
    add("layout", layout_text(*buffer.layout));
  if (buffer.align != 0) add("align", fmt::format("{}", buffer.align));
}

}  // namespace

std::string annotation(Type type) {
  if (!type.is_pointer()) return "T." + to_text(type);
  return type.opaque ? "T.handle" : fmt::format("T.handle(\"{}\")", num::name_of(type.dtype));
}

std::string buffer_annotation(const Context& c, const Buffer& buffer) {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) {
    const std::string text = expr(c, extent);
    const bool is_declared = const_int(c.f, extent) || !c.names.host_extents().empty();
    extents.push_back(is_declared ? text : quoted(text));
  }
  std::vector<std::string> args = {tuple_text(extents)};
  append_dtype(args, buffer.dtype);
  append_fields(c, args, buffer);
  return fmt::format("T.Buffer({})", join(args, ", "));
}

std::string allocation(const Context& c, const Buffer& buffer) {
  std::vector<std::string> args = {shape_text(c, buffer)};
  append_dtype(args, buffer.dtype);
  const bool has_short = buffer.scope == Scope::Shared || buffer.scope == Scope::Local;
  if (is_flat(buffer) && has_short && !buffer.elem_offset.valid() && !buffer.byte_offset.valid()) {
    if (buffer.align != 0) args.push_back(fmt::format("align={}", buffer.align));
    return fmt::format("T.alloc_{}({})", name_of(buffer.scope), join(args, ", "));
  }
  append_fields(c, args, buffer);
  return fmt::format("T.alloc_buffer({})", join(args, ", "));
}

std::string declaration(const Context& c, BufferId id) {
  const Buffer& buffer = c.f[id];
  std::vector<std::string> args;
  std::string_view function = "decl_buffer";
  if (buffer.origin == BufferOrigin::Param) {
    function = "match_buffer";
    args.push_back(c.names.of(buffer.param));
  }
  args.push_back(shape_text(c, buffer));
  append_dtype(args, buffer.dtype);
  if (buffer.origin == BufferOrigin::View)
    args.push_back(fmt::format("data={}.data", c.names.of(buffer.base)));
  if (buffer.origin == BufferOrigin::Pointer && buffer.pointer.valid())
    args.push_back(fmt::format("data={}", expr(c, buffer.pointer)));
  append_fields(c, args, buffer);
  return fmt::format("T.{}({})", function, join(args, ", "));
}

}  // namespace ww::ir::printing
