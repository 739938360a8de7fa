// SPDX-License-Identifier: Apache-2.0
#include "explore/placed_buffers.h"

#include <algorithm>

#include "driver/build.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "lower/lowering_report.h"

namespace ww::explore {
namespace {

constexpr std::int64_t kMaxElements = 1 << 18;  // of a buffer whose elements are named

std::vector<std::int64_t> elements_by_place(const layout::Layout& layout, std::int64_t size) {
  std::vector<std::int64_t> out;
  for (std::int64_t flat = 0; flat < size; ++flat) {
    const auto place = layout::apply(layout, flat);
    if (!place || place->size() != 1 || (*place)[0].value < 0) return {};
    const auto at = static_cast<std::size_t>((*place)[0].value);
    if (at >= static_cast<std::size_t>(kMaxElements) * 4) return {};
    if (at >= out.size()) out.resize(at + 1, -1);
    out[at] = flat;
  }
  return out;
}

std::optional<PlacedBuffer> placed(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t size = 1;
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = ir::const_int(f, extent);
    if (!value) return std::nullopt;
    size *= *value;
  }
  PlacedBuffer out{.name = buffer.name,
                   .element_bits = static_cast<unsigned>(num::storage_bits(buffer.dtype))};
  out.bytes = static_cast<std::uint64_t>(size) * out.element_bits / 8;
  if (!buffer.layout || layout::is_trivial(*buffer.layout)) return out;
  if (size <= kMaxElements) out.elements = elements_by_place(*buffer.layout, size);
  out.is_numbered = !out.elements.empty();
  if (out.is_numbered) out.bytes = out.elements.size() * out.element_bits / 8;
  return out;
}

}  // namespace

std::vector<PlacedBuffer> placed_buffers(const ir::Function& f, const driver::RunCapture& capture) {
  std::vector<PlacedBuffer> out;
  const auto add_shared = [&](std::string_view name, std::uint64_t offset) {
    for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
      const ir::Buffer& buffer = f[ir::BufferId{i}];
      if (buffer.name != name || !ir::is_shared(buffer.scope)) continue;
      auto made = placed(f, buffer);
      if (!made) return;
      made->is_shared = true;
      made->begin = offset;
      return out.push_back(*std::move(made));
    }
  };
  for (const driver::SharedName& each : capture.source.names) add_shared(each.name, each.offset);
  for (const sim::SharedVariable& each : capture.program->shared)
    add_shared(each.name, each.offset);
  for (std::size_t i = 0; i < f.params.size() && i < capture.arguments.size(); ++i) {
    const ir::BufferId id = ir::buffer_of_param(f, i);
    if (!id.valid()) continue;
    auto made = placed(f, f[id]);
    if (!made) continue;
    made->begin = capture.arguments[i];
    out.push_back(*std::move(made));
  }
  return out;
}

void put_operands_first(const driver::Build& build, std::uint64_t line, std::uint64_t column,
                        std::vector<PlacedBuffer>& buffers) {
  const SourceText& source = build.compiled->source;
  std::vector<std::string> names;
  for (const lower::CallReport& call : build.report.calls) {
    const SourceText::Position at = source.position(call.span.begin);
    if (!call.span.known || at.line != line || (column != 0 && at.column != column)) continue;
    for (const lower::OperandReport& operand : call.operands)
      names.push_back(operand.region.substr(0, operand.region.find('[')));
  }
  std::stable_partition(buffers.begin(), buffers.end(), [&](const PlacedBuffer& buffer) {
    return std::ranges::find(names, buffer.name) != names.end();
  });
}

const PlacedBuffer* find_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                std::uint64_t address) {
  for (const PlacedBuffer& each : buffers)
    if (each.is_shared == is_shared && address >= each.begin && address < each.begin + each.bytes)
      return &each;
  return nullptr;
}

const PlacedBuffer* find_smallest_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                         std::uint64_t address) {
  const PlacedBuffer* out = nullptr;
  for (const PlacedBuffer& each : buffers) {
    const bool has_it =
        each.is_shared == is_shared && address >= each.begin && address < each.begin + each.bytes;
    if (has_it && (out == nullptr || each.bytes < out->bytes)) out = &each;
  }
  return out;
}

std::optional<std::int64_t> element_at(const PlacedBuffer& buffer, std::uint64_t place) {
  if (!buffer.is_numbered) return std::nullopt;
  if (buffer.elements.empty()) return static_cast<std::int64_t>(place);
  if (place >= buffer.elements.size() || buffer.elements[place] < 0) return std::nullopt;
  return buffer.elements[place];
}

}  // namespace ww::explore
