// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/address.h"

#include <optional>

#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"

namespace ww::eval {
namespace {

// A pointer holds the number of its memory plus one, and a byte offset that may be negative. The
// low bits are those of the offset, so that alignment can be asked of the number.
constexpr int kOffsetBits = 44;
constexpr std::int64_t kOffsetBias = std::int64_t{1} << (kOffsetBits - 1);

// Of what is in shared memory, the upper part of the offset is the number of another CTA of the
// cluster plus one.
constexpr int kRankShift = 34;
constexpr std::int64_t kRankUnit = std::int64_t{1} << kRankShift;

// The same in the shared window.
constexpr int kWindowRankShift = 24;

// Numbers of CTAs, plus one; 0: the own one.
std::int32_t known_rank(const Cta& cta, std::int64_t field) {
  return field == 0 || field - 1 == rank_of(cta) ? kOwnCta : static_cast<std::int32_t>(field - 1);
}

bool has_rank(Cta& cta, std::int64_t rank) {
  const auto ctas = static_cast<std::int64_t>(cta.cluster->size());
  if (rank >= 0 && rank < ctas) return true;
  if (Finding* found = finding(cta, Check::Bounds); found != nullptr)
    found->text = fmt::format("CTA {} of the cluster is named by {}, and the cluster has {}", rank,
                              cta_text(cta), ctas);
  return false;
}

// Sets `flat` of the elements; which of them leave the buffer.
std::vector<char> flatten_indices(Cta& cta, const BufferInfo& info,
                                  std::span<const ir::ExprId> indices, Threads ts,
                                  std::vector<Element>& elements) {
  const std::size_t n = ts.size();
  std::vector<char> is_bad(elements.size(), 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Words index = evaluate(cta, indices[d], ts);
    const num::DType type = cta.type_of(indices[d]);
    std::optional<Words> extents;
    if (info.shape[d] == kKnownInside) extents.emplace(evaluate(cta, info.ir->shape[d], ts));
    const bool is_last = d + 1 == indices.size();
    const bool is_vector = index.size() == elements.size() && elements.size() > n;
    for (std::size_t i = 0, t = 0, lane = 0; i < elements.size(); ++i, ++t) {
      if (t == n) {
        t = 0;
        ++lane;
      }
      Element& element = elements[i];
      std::int64_t at = as_int(type, index[is_vector ? i : t]);
      if (is_last && !is_vector) at += static_cast<std::int64_t>(lane);
      const std::int64_t extent =
          extents ? as_int(cta.type_of(info.ir->shape[d]), (*extents)[t]) : info.shape[d];
      if (at < 0 || at >= extent) {
        if (Finding* found = is_bad[i] == 0 ? finding(cta, Check::Bounds, element) : nullptr;
            found != nullptr)
          found->text =
              fmt::format("index {} of dimension {} of `{}` in {} of {} leaves its extent {}", at,
                          d, info.ir->name, thread_text(element.owner), cta_text(cta), extent);
        is_bad[i] = 1;
        at = 0;
      }
      element.flat = element.flat * extent + at;
    }
  }
  return is_bad;
}

}  // namespace

Word pointer_to(Address at) {
  if (!at.exists()) return 0;
  const std::int64_t byte = (at.bit >> 3) + (std::int64_t{at.rank} - kOwnCta) * kRankUnit;
  return (static_cast<Word>(at.root + 1) << kOffsetBits) | static_cast<Word>(byte + kOffsetBias);
}

Address pointee(const Cta& cta, Word pointer) {
  const auto root = static_cast<std::int64_t>(pointer >> kOffsetBits) - 1;
  if (root < 0 || root >= static_cast<std::int64_t>(cta.launch.roots.size())) return {};
  const auto byte = static_cast<std::int64_t>(pointer & low_mask(kOffsetBits)) - kOffsetBias;
  const Address at{static_cast<std::int32_t>(root), byte * 8};
  if (!ir::is_shared(cta.launch.root(at.root).scope)) return at;
  const std::int64_t field = (byte + kRankUnit / 2) >> kRankShift;
  return {at.root, (byte - field * kRankUnit) * 8, known_rank(cta, field)};
}

std::int32_t rank_of(const Cta& cta) {
  const auto& extents = cta.launch.shape.cluster;
  return static_cast<std::int32_t>(cta.number % (extents[0] * extents[1] * extents[2]));
}

Address address_in(Cta& cta, Address at, std::int64_t rank) {
  if (!has_rank(cta, rank)) return {};
  return {at.root, at.bit, known_rank(cta, rank + 1)};
}

Word window_address_in(Cta& cta, Word address, std::int64_t rank) {
  if (!has_rank(cta, rank)) return 0;
  return (address & low_mask(kWindowRankShift)) | static_cast<Word>(rank + 1) << kWindowRankShift;
}

Address shared_address(const Cta& cta, std::uint32_t address) {
  const std::uint32_t field = address >> kWindowRankShift;
  if (field > cta.cluster->size()) return {};
  address &= (std::uint32_t{1} << kWindowRankShift) - 1;
  for (std::size_t r = 0; r < cta.launch.roots.size(); ++r) {
    const Root& root = cta.launch.roots[r];
    if (ir::is_shared(root.scope) && address >= root.window && address < root.window + root.bytes)
      return {static_cast<std::int32_t>(r), std::int64_t{address - root.window} * 8,
              known_rank(cta, field)};
  }
  return {};
}

Address address_from(const Cta& cta, ir::Type type, Word value) {
  if (type.is_value() && num::bits_of(type.dtype) == 32)
    return shared_address(cta, static_cast<std::uint32_t>(value));
  return pointee(cta, value);
}

std::vector<Address> bases_of(Cta& cta, const BufferInfo& info, Threads ts) {
  std::vector<Address> bases(ts.size(), Address{info.root, info.offset_bits});
  if (info.root == kNoRoot && info.ir->pointer.valid()) {
    const Words pointers = evaluate(cta, info.ir->pointer, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      bases[i] = pointee(cta, pointers[i]) + info.offset_bits;
  }
  const auto add = [&](ir::ExprId offset, std::int64_t bits) {
    if (!offset.valid()) return;
    const Words values = evaluate(cta, offset, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      bases[i].bit += as_int(cta.type_of(offset), values[i]) * bits;
  };
  add(info.elem_offset, info.bits);
  add(info.byte_offset, 8);
  if (info.ir->scope == ir::Scope::Tmem && info.allocated_addr.valid()) {
    const Words addresses = evaluate(cta, info.allocated_addr, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const auto address = static_cast<std::int64_t>(addresses[i] & low_mask(32));
      bases[i].bit += (address >> 16) * kTmemLaneBits + (address & 0xffff) * 32;
    }
  }
  return bases;
}

std::vector<Element> locate(Cta& cta, const BufferInfo& info, std::span<const ir::ExprId> indices,
                            int lanes, Threads ts) {
  const std::size_t n = ts.size();
  std::vector<Element> out(n * static_cast<std::size_t>(lanes));
  for (std::size_t i = 0, t = 0; i < out.size(); ++i, ++t) {
    if (t == n) t = 0;
    out[i].owner = ts[t];
    out[i].info = &info;
  }
  const std::vector<char> is_bad = flatten_indices(cta, info, indices, ts, out);
  const std::vector<Address> bases = bases_of(cta, info, ts);
  const bool is_tmem = info.ir->scope == ir::Scope::Tmem;
  for (std::size_t i = 0, t = 0; i < out.size(); ++i, ++t) {
    if (t == n) t = 0;
    if (is_bad[i] != 0) continue;
    const Spot spot = info.placement.spot(out[i].flat);
    out[i].at = bases[t] + spot.memory * info.bits;
    if (is_tmem) out[i].at.bit += spot.owner * kTmemLaneBits;
    if (!out[i].at.exists()) is_reachable(cta, out[i], info.bits);
  }
  return out;
}

}  // namespace ww::eval
