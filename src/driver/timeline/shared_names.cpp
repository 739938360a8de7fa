// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/shared_names.h"

#include <algorithm>
#include <optional>

#include "ir/function.h"
#include "num/dtype.h"

namespace ww::driver {
namespace {

// In bytes from the start of its base; none: known at run time only.
std::optional<std::uint64_t> offset_in_base(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t offset = 0;
  if (buffer.byte_offset.valid()) {
    const auto bytes = ir::const_int(f, buffer.byte_offset);
    if (!bytes) return std::nullopt;
    offset += *bytes;
  }
  if (buffer.elem_offset.valid()) {
    const auto elements = ir::const_int(f, buffer.elem_offset);
    if (!elements) return std::nullopt;
    offset += *elements * num::storage_bits(buffer.dtype) / 8;
  }
  if (offset < 0) return std::nullopt;
  return static_cast<std::uint64_t>(offset);
}

std::optional<std::uint64_t> bytes_of_shape(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t bits = num::storage_bits(buffer.dtype);
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = ir::const_int(f, extent);
    if (!value || *value <= 0) return std::nullopt;
    bits *= *value;
  }
  return static_cast<std::uint64_t>((bits + 7) / 8);
}

// The barriers of a class of the language are its member `buf`.
std::string short_name(const ir::Buffer& buffer) {
  constexpr std::string_view kMember = "_buf";
  std::string name = buffer.name;
  if (buffer.dtype == num::DType::Uint64 && name.size() > kMember.size() && name.ends_with(kMember))
    name.resize(name.size() - kMember.size());
  return name;
}

}  // namespace

std::vector<SharedName> shared_names(const Build& build, const sim::Program& program) {
  const ir::Function& f = build.tile();
  std::vector<SharedName> out;
  for (std::size_t i = 0; i < f.buffer_count(); ++i) {
    const ir::Buffer& buffer = f[ir::BufferId{static_cast<std::uint32_t>(i)}];
    if (buffer.origin != ir::BufferOrigin::View || !ir::is_shared(buffer.scope)) continue;
    const std::string& base = f[buffer.base].name;
    const auto variable = std::ranges::find(program.shared, base, &sim::SharedVariable::name);
    const auto offset = offset_in_base(f, buffer);
    const auto bytes = bytes_of_shape(f, buffer);
    if (variable == program.shared.end() || !offset || !bytes || buffer.name.empty()) continue;
    out.push_back(
        {.name = short_name(buffer),
         .offset = variable->offset + *offset,
         .bytes = *bytes,
         .element = static_cast<std::uint32_t>(std::max(1, num::storage_bits(buffer.dtype) / 8))});
  }
  std::ranges::stable_sort(out, {}, &SharedName::bytes);
  return out;
}

}  // namespace ww::driver
