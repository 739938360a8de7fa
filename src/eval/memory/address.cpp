// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/address.h"

#include <algorithm>
#include <iterator>
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

// In the shared window, as on hardware, the memory of CTA r of the cluster begins at r << 24.
constexpr int kWindowRankShift = 24;

// Numbers of CTAs, plus one; 0: the own one.
std::int32_t known_rank(const Cta& cta, std::int64_t field) {
  return field == 0 || field - 1 == rank_of(cta) ? kOwnCta : static_cast<std::int32_t>(field - 1);
}

bool has_rank(Cta& cta, std::int64_t rank) {
  const auto ctas = static_cast<std::int64_t>(cta.cluster->size());
  if (rank >= 0 && rank < ctas) return true;
  describe(finding(cta, Check::Bounds),
           "CTA {} of the cluster is named by {}, and the cluster has {}", rank, cta_text(cta),
           ctas);
  return false;
}

constexpr Word kOutside = Located::kOutside;

// One index of the elements that threads name: makes row-major numbers longer by a dimension.
class IndexAdder {
 public:
  IndexAdder(Cta& cta, const BufferInfo& info, std::size_t dim, Threads ts)
      : cta_(cta), info_(info), dim_(dim), ts_(ts) {}

  /// `is_last`: lanes follow each other along this dimension, unless the index is a vector.
  void add(ir::ExprId id, bool is_last, Words& flats) {
    const Words index = evaluate(cta_, id, ts_);
    const IntReader as_index(cta_.type_of(id));
    const bool is_vector = index.size() == flats.size() && flats.size() > ts_.size();
    std::optional<Words> extents;
    if (info_.shape[dim_] == kKnownInside)
      extents.emplace(evaluate(cta_, info_.ir->shape[dim_], ts_));
    for (std::size_t first = 0, lane = 0; first < flats.size(); first += ts_.size(), ++lane) {
      const Word* const from = index.begin() + (is_vector ? first : 0);
      const auto more = static_cast<std::int64_t>(is_last && !is_vector ? lane : 0);
      for (std::size_t t = 0; t < ts_.size(); ++t) {
        const std::int64_t extent = extents
                                        ? as_int(cta_.type_of(info_.ir->shape[dim_]), (*extents)[t])
                                        : info_.shape[dim_];
        add_one(as_index(from[t]) + more, extent, t, flats[first + t]);
      }
    }
  }

 private:
  void add_one(std::int64_t at, std::int64_t extent, std::size_t t, Word& flat) {
    if (flat == kOutside) return;
    if (at >= 0 && at < extent) {
      flat = flat * static_cast<Word>(extent) + static_cast<Word>(at);
      return;
    }
    report(at, extent, t);
    flat = kOutside;
  }
  void report(std::int64_t at, std::int64_t extent, std::size_t t) {
    const Element element{.at = {}, .owner = ts_[t], .info = &info_, .flat = 0};
    describe(finding(cta_, Check::Bounds, element),
             "index {} of dimension {} of `{}` in {} of {} leaves its extent {}", at, dim_,
             info_.ir->name, thread_text(ts_[t]), cta_text(cta_), extent);
  }

  Cta& cta_;
  const BufferInfo& info_;
  std::size_t dim_;
  Threads ts_;
};

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
  return (address & low_mask(kWindowRankShift)) | static_cast<Word>(rank) << kWindowRankShift;
}

Word window_address(const Cta& cta, Address at) {
  const std::int32_t rank = at.rank == kOwnCta ? rank_of(cta) : at.rank;
  const Word offset = cta.launch.root(at.root).window + static_cast<Word>(at.bit / 8);
  return (offset + (static_cast<Word>(rank) << kWindowRankShift)) & low_mask(32);
}

Address shared_address(const Cta& cta, std::uint32_t address) {
  const std::uint32_t rank = address >> kWindowRankShift;
  if (rank >= cta.cluster->size()) return {};
  address &= (std::uint32_t{1} << kWindowRankShift) - 1;
  for (std::size_t r = 0; r < cta.launch.roots.size(); ++r) {
    const Root& root = cta.launch.roots[r];
    if (ir::is_shared(root.scope) && address >= root.window && address < root.window + root.bytes)
      return {static_cast<std::int32_t>(r), std::int64_t{address - root.window} * 8,
              known_rank(cta, std::int64_t{rank} + 1)};
  }
  return {};
}

Address address_from(const Cta& cta, ir::Type type, Word value) {
  if (type.is_value() && num::bits_of(type.dtype) == 32)
    return shared_address(cta, static_cast<std::uint32_t>(value));
  return pointee(cta, value);
}

Bases::Bases(Cta& cta, const BufferInfo& info, Threads ts) : all_{info.root, info.offset_bits} {
  const bool has_pointer = info.root == kNoRoot && info.ir->pointer.valid();
  const bool has_address = info.ir->scope == ir::Scope::Tmem && info.allocated_addr.valid();
  if (!has_pointer && !has_address && !info.elem_offset.valid() && !info.byte_offset.valid())
    return;
  each_.assign(ts.size(), all_);
  if (has_pointer) {
    const Words pointers = evaluate(cta, info.ir->pointer, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      each_[i] = pointee(cta, pointers[i]) + info.offset_bits;
  }
  const auto add = [&](ir::ExprId offset, std::int64_t bits) {
    if (!offset.valid()) return;
    const Words values = evaluate(cta, offset, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      each_[i].bit += as_int(cta.type_of(offset), values[i]) * bits;
  };
  add(info.elem_offset, info.bits);
  add(info.byte_offset, 8);
  if (!has_address) return;
  const Words addresses = evaluate(cta, info.allocated_addr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto address = static_cast<std::int64_t>(addresses[i] & low_mask(32));
    each_[i].bit += (address >> 16) * kTmemLaneBits + (address & 0xffff) * 32;
  }
}

bool Bases::are_equal() const {
  return each_.empty() || std::ranges::count(each_, each_[0]) == std::ssize(each_);
}

namespace {

Words find_flats(Cta& cta, const BufferInfo& info, std::span<const ir::ExprId> indices, int lanes,
                 Threads ts) {
  Words flats = constant(cta, 0, ts.size() * static_cast<std::size_t>(lanes));
  for (std::size_t d = 0; d < indices.size(); ++d)
    IndexAdder(cta, info, d, ts).add(indices[d], d + 1 == indices.size(), flats);
  return flats;
}

}  // namespace

Located::Located(Cta& cta, const BufferInfo& info, std::span<const ir::ExprId> indices, int lanes,
                 Threads ts)
    : info_(&info),
      threads_(ts),
      flats_(find_flats(cta, info, indices, lanes, ts)),
      bases_(cta, info, ts),
      is_tmem_(info.ir->scope == ir::Scope::Tmem) {
  for (std::size_t n = 0; n < ts.size(); ++n) {
    if (bases_[n].exists()) continue;
    for (std::size_t i = n; i < size(); i += ts.size())
      if (flats_[i] != kOutside) is_reachable(cta, (*this)[i], info.bits);
  }
}

}  // namespace ww::eval
