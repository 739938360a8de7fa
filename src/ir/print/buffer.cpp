// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/print/printer.h"

namespace ww::ir::printing {
namespace {

// float32 is what a declaration without a type means.
void append_dtype(std::vector<std::string>& args, num::DType dtype) {
  if (dtype != num::DType::Float32) args.push_back(fmt::format("\"{}\"", num::name_of(dtype)));
}

std::string tuple_text(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

// In one dimension, no layout and the plain one are the same.
bool is_flat(const Buffer& buffer) {
  return buffer.layout_kind != LayoutKind::Explicit && buffer.shape.size() == 1;
}

}  // namespace

std::string annotation(Type type) {
  if (!type.is_pointer()) return "T." + to_text(type);
  return type.opaque ? "T.handle" : fmt::format("T.handle(\"{}\")", num::name_of(type.dtype));
}

std::string Writer::shape(const Buffer& buffer) const {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) extents.push_back(expr(extent));
  return tuple_text(extents);
}

// Scope, layout, offsets and alignment, as far as they are not the default.
void Writer::append_fields(std::vector<std::string>& args, const Buffer& buffer) const {
  const auto add = [&](std::string_view key, const std::string& value) {
    args.push_back(fmt::format("{}={}", key, value));
  };
  if (buffer.elem_offset.valid()) add("elem_offset", expr(buffer.elem_offset));
  if (buffer.byte_offset.valid()) add("byte_offset", expr(buffer.byte_offset));
  if (buffer.scope != Scope::Global) add("scope", fmt::format("\"{}\"", name_of(buffer.scope)));
  if (buffer.allocated_addr.valid()) add("allocated_addr", expr(buffer.allocated_addr));
  if (buffer.layout_kind == LayoutKind::None) add("layout", "None");
  if (buffer.layout_kind == LayoutKind::Explicit && buffer.layout)
    add("layout", layout_text(*buffer.layout));
  if (buffer.align != 0) add("align", fmt::format("{}", buffer.align));
}

// `T.Buffer((8, "n"), "float16")`: extents of run time are declared here, by quoted names, unless
// they stand in front of the kernel.
std::string Writer::buffer_annotation(const Buffer& buffer) const {
  std::vector<std::string> extents;
  for (const ExprId extent : buffer.shape) {
    const std::string text = expr(extent);
    const bool is_declared = const_int(f_, extent) || !names_.host_extents().empty();
    extents.push_back(is_declared ? text : quoted(text));
  }
  std::vector<std::string> args = {tuple_text(extents)};
  append_dtype(args, buffer.dtype);
  append_fields(args, buffer);
  return fmt::format("T.Buffer({})", fmt::join(args, ", "));
}

std::string Writer::allocation(const Buffer& buffer) const {
  std::vector<std::string> args = {shape(buffer)};
  append_dtype(args, buffer.dtype);
  const bool has_short = buffer.scope == Scope::Shared || buffer.scope == Scope::Local;
  if (is_flat(buffer) && has_short && !buffer.elem_offset.valid() && !buffer.byte_offset.valid()) {
    if (buffer.align != 0) args.push_back(fmt::format("align={}", buffer.align));
    return fmt::format("T.alloc_{}({})", name_of(buffer.scope), fmt::join(args, ", "));
  }
  append_fields(args, buffer);
  return fmt::format("T.alloc_buffer({})", fmt::join(args, ", "));
}

// What stands right of the `=` where a buffer is declared.
std::string Writer::declaration(BufferId id) const {
  const Buffer& buffer = f_[id];
  std::vector<std::string> args;
  std::string_view function = "decl_buffer";
  if (buffer.origin == BufferOrigin::Param) {
    function = "match_buffer";
    args.push_back(names_.of(buffer.param));
  }
  args.push_back(shape(buffer));
  append_dtype(args, buffer.dtype);
  if (buffer.origin == BufferOrigin::View)
    args.push_back(fmt::format("data={}.data", names_.of(buffer.base)));
  if (buffer.origin == BufferOrigin::Pointer && buffer.pointer.valid())
    args.push_back(fmt::format("data={}", expr(buffer.pointer)));
  append_fields(args, buffer);
  return fmt::format("T.{}({})", function, fmt::join(args, ", "));
}

}  // namespace ww::ir::printing
