// SPDX-License-Identifier: Apache-2.0
#include "ir/shared_size.h"

#include "ir/visit.h"
#include "layout/image.h"
#include "layout/views.h"

namespace ww::ir {

std::optional<std::int64_t> storage_bytes(const Function& f, const Buffer& buffer) {
  const std::optional<layout::Layout> all = layout_of(f, buffer);
  if (!all || !layout::require_constant(*all, "size")) return std::nullopt;
  const Result<layout::Layout> own = layout::storage(*all);
  if (!own) return std::nullopt;
  const Result<std::int64_t> span = layout::memory_span(*own);
  if (!span) return std::nullopt;
  return (*span * num::storage_bits(buffer.dtype) + 7) / 8;
}

std::optional<StoragePart> storage_part(const Function& f, const Buffer& buffer) {
  const auto offset = [&](ExprId e) { return e.valid() ? const_int(f, e) : 0; };
  const std::optional<std::int64_t> elements = offset(buffer.elem_offset);
  const std::optional<std::int64_t> plain = offset(buffer.byte_offset);
  const std::optional<std::int64_t> size = storage_bytes(f, buffer);
  if (!elements || !plain || !size) return std::nullopt;
  const std::int64_t begin = *plain + *elements * num::storage_bits(buffer.dtype) / 8;
  return StoragePart{begin, begin + *size};
}

std::int64_t end_in_shared(std::int64_t used, const Buffer& buffer, std::int64_t bytes) {
  constexpr std::int64_t kDefaultAlign = 64;
  const std::int64_t align = buffer.align > 0 ? buffer.align : kDefaultAlign;
  return (used + align - 1) / align * align + bytes;
}

std::int64_t dynamic_shared_bytes(const Function& f) {
  std::int64_t bytes = 0;
  for_each_stmt(f, f.body, [&](StmtId id) {
    if (f[id].kind != StmtKind::Alloc || f[f[id].buffer].scope != Scope::SharedDyn) return;
    bytes += storage_bytes(f, f[f[id].buffer]).value_or(0);
  });
  return bytes;
}

}  // namespace ww::ir
