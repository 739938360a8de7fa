// SPDX-License-Identifier: Apache-2.0
// Declarations of buffers: the parameters that all of them share, and what becomes of them.
#pragma once

#include <cstdint>
#include <span>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

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

}  // namespace ww::script
