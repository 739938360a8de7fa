// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile mode. A box of the tensor that a map describes lies in shared memory
// row by row, the innermost dimension first; elements of the box outside the tensor are filled, or
// not stored. With a swizzle of w bytes rows begin w bytes apart, and bits 4 and up of an address are
// XORed with bits 7 and up, as many as tell the 16-byte chunks of w bytes apart.
#include <optional>
#include <vector>

#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/instruction.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"
#include "ir/tensor_map.h"
#include "isa/form.h"

namespace ww::eval {
namespace {

constexpr std::int64_t kChunk = 16;        // bytes that stay together
constexpr std::int64_t kPatternRow = 128;  // bytes of shared memory, whatever the swizzle

/// A map with the numbers of its launch, and the corner of a box.
struct Box {
  num::DType dtype{};
  Address start;  // of the tensor
  std::vector<std::int64_t> dims, strides, extents, corner;
  std::int64_t swizzle = 0;
  ir::MapFill fill = ir::MapFill::Zero;

  [[nodiscard]] int bits() const { return storage_bits(dtype); }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t out = 1;
    for (const std::int64_t extent : extents) out *= extent;
    return out;
  }
};

// A map without a fill says that its boxes stay inside.
void check_inside(Cta& cta, const Box& box, Thread t) {
  if (box.fill != ir::MapFill::None) return;
  for (std::size_t d = 0; d < box.extents.size(); ++d) {
    const std::int64_t end = box.corner[d] + box.extents[d];
    if (box.corner[d] >= 0 && end <= box.dims[d]) continue;
    describe(finding(cta, Check::Bounds),
             "box {}:{} of dimension {} of a tensor map in {} of {} leaves its extent {}",
             box.corner[d], end, d, thread_text(t), cta_text(cta), box.dims[d]);
    return;
  }
}

// Of the operands from `first` on: the map, then coordinates. Nothing: stopped.
std::optional<std::vector<Box>> boxes_of(Cta& cta, const PtxInstruction& ptx, std::size_t first,
                                         Threads ts) {
  const auto map = ir::find_tensor_map(cta.f, ptx.operand(first).expr);
  if (!map) {
    stop(cta, DiagKind::NotEvaluated,
         fmt::format("`{}` through a map that no `T.tensor_map` makes is not evaluated",
                     ptx.call->opcode.text()));
    return std::nullopt;
  }
  std::vector<Box> out(ts.size());
  const auto numbers = [&](ir::ExprId id, std::vector<std::int64_t> Box::*list) {
    const Words words = evaluate(cta, id, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      (out[i].*list).push_back(as_int(cta.type_of(id), words[i]));
  };
  for (const ir::ExprId dim : map->dims) numbers(dim, &Box::dims);
  for (const ir::ExprId stride : map->strides) numbers(stride, &Box::strides);
  for (std::size_t d = 0; d < map->rank(); ++d)
    numbers(ptx.operand(first + 1 + d).expr, &Box::corner);
  const Words starts = evaluate(cta, map->pointer, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    out[i].dtype = ir::map_dtype(cta.f, *map);
    out[i].start = pointee(cta, starts[i]);
    out[i].extents = map->box;
    out[i].swizzle = map->swizzle;
    out[i].fill = map->fill;
    check_inside(cta, out[i], ts[i]);
  }
  return out;
}

// Where a byte of the box lies, as a distance from the box's start at `start` in the window.
std::int64_t swizzled(const Box& box, std::int64_t start, std::int64_t byte) {
  if (box.swizzle == 0) return byte;
  const std::int64_t at = start + byte;
  return (at ^ (at / kPatternRow % (box.swizzle / kChunk) * kChunk)) - start;
}

// Calls visit(place in shared memory in bytes, element of the tensor or nothing) for each element.
template <typename Visit>
void for_each_element(const Box& box, std::int64_t start, const Visit& visit) {
  const std::int64_t size = box.bits() / 8;
  const std::int64_t row = box.extents[0] * size;
  const std::int64_t pitch = box.swizzle == 0 ? row : std::max(row, box.swizzle);
  for (std::int64_t n = 0; n < box.count(); ++n) {
    std::int64_t rest = n, at = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
      const std::int64_t index = box.corner[d] + rest % box.extents[d];
      rest /= box.extents[d];
      is_inside = is_inside && index >= 0 && index < box.dims[d];
      at += index * (d == 0 ? 1 : box.strides[d - 1]);
    }
    const std::int64_t byte = n / box.extents[0] * pitch + n % box.extents[0] * size;
    visit(swizzled(box, start, byte), is_inside ? std::optional(at) : std::nullopt);
  }
}

std::int64_t window_of(const Cta& cta, Address at) {
  return at.exists() ? cta.launch.root(at.root).window + at.bit / 8 : 0;
}

// The NaN of the copy engine: the same in every 16 bits.
Word fill_of(const Box& box) {
  constexpr Word kNan = 0x7FF7'7FF7'7FF7'7FF7U;
  return box.fill == ir::MapFill::Nan ? kNan & low_mask(box.bits()) : 0;
}

}  // namespace

void ptx_box_load(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> to = ptx_address(cta, ptx.operand(0), ts);
  const auto boxes = boxes_of(cta, ptx, 1, ts);
  if (!boxes) return;
  const std::size_t rank = boxes->front().extents.size();
  const std::vector<Address> mbarriers = ptx_address(cta, ptx.operand(2 + rank), ts);
  const bool is_multicast = ptx.call->opcode.binding().has("multicast");
  const Words masks = is_multicast ? ptx_value(cta, ptx.operand(3 + rank), ts, kCtaMaskBits)
                                   : constant(cta, 0, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Box& box = (*boxes)[i];
    const Access by = access_of(cta, ts[i]);
    AsyncCopy copy{.kind = AsyncKind::Counted, .agent = thread_agent(ts[i])};
    copy.counted = box.count() * box.bits() / 8;
    for_each_element(box, window_of(cta, to[i]), [&](std::int64_t byte, auto from) {
      const Element target = element_at(to[i] + byte * 8, ts[i]);
      if (!is_reachable(cta, target, box.bits())) return;
      Transfer transfer{target, box.bits(), {fill_of(box), 0}};
      if (from) {
        const Element source = element_at(box.start + *from * box.bits(), ts[i]);
        transfer.content = read(cta, source, box.bits(), by);
        if (is_reachable(cta, source, box.bits())) copy.sources.emplace_back(source, box.bits());
      }
      copy.transfers.push_back(transfer);
    });
    if (is_multicast)
      start_multicast(cta, copy, mbarriers[i], ts[i], masks[i]);
    else
      start_counted(cta, std::move(copy), mbarriers[i], ts[i]);
  }
}

void ptx_box_store(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const auto boxes = boxes_of(cta, ptx, 0, ts);
  if (!boxes) return;
  const std::size_t rank = boxes->front().extents.size();
  const std::vector<Address> sources = ptx_address(cta, ptx.operand(1 + rank), ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Box& box = (*boxes)[i];
    const Access by = access_of(cta, ts[i]);
    AsyncCopy copy{.kind = AsyncKind::Bulk, .agent = thread_agent(ts[i])};
    if (ptx.call->opcode.mnemonic() == "cp.reduce.async.bulk.tensor")
      copy.reduce = ir::find_box_reduce(ptx.call->opcode.binding().word("op").text());
    copy.dtype = box.dtype;
    for_each_element(box, window_of(cta, sources[i]), [&](std::int64_t byte, auto to) {
      if (!to) return;
      const Element source = element_at(sources[i] + byte * 8, ts[i]);
      const Element target = element_at(box.start + *to * box.bits(), ts[i]);
      const Content content = read(cta, source, box.bits(), by);
      if (is_reachable(cta, source, box.bits())) copy.sources.emplace_back(source, box.bits());
      if (is_reachable(cta, target, box.bits()))
        copy.transfers.push_back({target, box.bits(), content});
    });
    start_copy(cta, std::move(copy), ts.subspan(i, 1));
  }
}

// --- bulk copies ---------------------------------------------------------------------------------
//
// cp.async.bulk: contiguous bytes by the copy engine. Into shared memory, an mbarrier counts the bytes,
// into global memory the thread waits for its bulk groups.

namespace {

constexpr std::int64_t kUnit = 16;  // bytes, of which addresses and sizes are multiples

// Where a byte is in its memory, as far as alignment goes.
std::int64_t place_of(const Cta& cta, Address at) {
  if (!at.exists()) return 0;
  const Root& root = cta.launch.root(at.root);
  return at.bit / 8 + (ir::is_shared(root.scope) ? std::int64_t{root.window} : 0);
}

// Nothing is copied, and a finding, where the instruction would fault.
bool is_whole(Cta& cta, Address to, Address from, std::int64_t bytes, Thread t) {
  for (const std::int64_t each : {place_of(cta, to), place_of(cta, from), bytes}) {
    if (each % kUnit == 0) continue;
    describe(
        finding(cta, Check::Bounds),
        "{} of {} starts a bulk copy of {} bytes from byte {} to byte {}, expected multiples of "
        "{}",
        thread_text(t), cta_text(cta), bytes, place_of(cta, from), place_of(cta, to), kUnit);
    return false;
  }
  return true;
}

AsyncCopy copy_of(Cta& cta, AsyncKind kind, Address to, Address from, std::int64_t bytes,
                  Thread t) {
  constexpr int kBits = 32;
  AsyncCopy copy{.kind = kind, .agent = thread_agent(t)};
  copy.counted = bytes;
  if (!spend_elements(cta, static_cast<std::size_t>(bytes / (kBits / 8)))) return copy;
  for (std::int64_t bit = 0; bit < bytes * 8; bit += kBits) {
    const Element source = element_at(from + bit, t), target = element_at(to + bit, t);
    const Content content = read(cta, source, kBits, access_of(cta, t));
    if (is_reachable(cta, source, kBits)) copy.sources.emplace_back(source, kBits);
    if (is_reachable(cta, target, kBits)) copy.transfers.push_back({target, kBits, content});
  }
  return copy;
}

}  // namespace

// [to], [from], bytes, and the mbarrier of a copy into shared memory
void ptx_bulk_copy(Cta& cta, const PtxInstruction& ptx, Threads ts) {
  const std::vector<Address> to = ptx_address(cta, ptx.operand(0), ts);
  const std::vector<Address> from = ptx_address(cta, ptx.operand(1), ts);
  const Words sizes = ptx_int(cta, ptx.operand(2), ts);
  const bool is_counted = ptx.kind == PtxKind::BulkCopy;
  const std::vector<Address> mbarriers =
      is_counted ? ptx_address(cta, ptx.operand(3), ts) : std::vector<Address>(ts.size());
  for (std::size_t i = 0; i < ts.size() && !cta.run.stop; ++i) {
    const auto bytes = static_cast<std::int64_t>(sizes[i] & low_mask(kRegisterBits));
    if (!is_whole(cta, to[i], from[i], bytes, ts[i])) continue;
    AsyncCopy copy = copy_of(cta, is_counted ? AsyncKind::Counted : AsyncKind::Bulk, to[i], from[i],
                             bytes, ts[i]);
    if (is_counted)
      start_counted(cta, std::move(copy), mbarriers[i], ts[i]);
    else
      start_copy(cta, std::move(copy), ts.subspan(i, 1));
  }
}

}  // namespace ww::eval
