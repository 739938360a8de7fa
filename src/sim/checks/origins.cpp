// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/origins.h"

#include <algorithm>

namespace ww::sim {
namespace {

constexpr std::uint32_t kMaxWay = 12;
// Beyond that, values have the number of the first that is like them.
constexpr std::size_t kMaxNodes = std::size_t{1} << 16U;
constexpr std::size_t kMaxAlike = 256;

// Four bytes of a memory. Each warp has a local one, in which the offset counts the bytes of all lanes.
std::uint64_t word_at(unsigned warp, const Region& region, std::uint64_t offset) {
  const std::uint64_t owner = region.space == Space::Local ? std::uint64_t{warp + 1} << 48U : 0;
  return owner + (region.base + offset) / 4;
}

}  // namespace

OriginId Origins::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<OriginId>(nodes_.size());
}

OriginId Origins::from(const Origin& origin) {
  const std::uint64_t where = origin.place.present() ? origin.place.offset() : ~std::uint32_t{0};
  std::vector<OriginId>& alike = beginnings_[(std::uint64_t{origin.op} << 32U) | where];
  for (const OriginId id : alike)
    if (origins_[node(id).origin] == origin) return id;
  if (!alike.empty() && (alike.size() >= kMaxAlike || nodes_.size() >= kMaxNodes))
    return alike.front();
  origins_.push_back(origin);
  alike.push_back(add({.origin = static_cast<std::uint32_t>(origins_.size() - 1)}));
  return alike.back();
}

OriginId Origins::through(OriginId before, std::uint32_t op) {
  const auto [found, is_new] = steps_.try_emplace((std::uint64_t{before} << 32U) | op, before);
  if (!is_new) return found->second;
  const Node last = node(before);
  if (last.steps >= kMaxWay || nodes_.size() >= kMaxNodes) return before;
  for (OriginId id = before; node(id).before != 0; id = node(id).before)
    if (node(id).op == op) return before;
  found->second = add({before, op, last.origin, last.steps + 1});
  return found->second;
}

const Origin& Origins::origin_of(OriginId id) const { return origins_[node(id).origin]; }

std::vector<std::uint32_t> Origins::way_of(OriginId id) const {
  std::vector<std::uint32_t> ops;
  for (; node(id).before != 0; id = node(id).before) ops.push_back(node(id).op);
  std::ranges::reverse(ops);
  return ops;
}

void Origins::stored(unsigned warp, const Region& region, std::uint64_t offset, unsigned bytes,
                     OriginId id) {
  for (std::uint64_t at = offset / 4 * 4; at < offset + bytes; at += 4)
    memory_[word_at(warp, region, at)] = id;
}

OriginId Origins::stored_at(unsigned warp, const Region& region, std::uint64_t offset) const {
  if (memory_.empty()) return 0;
  const auto found = memory_.find(word_at(warp, region, offset));
  return found == memory_.end() ? 0 : found->second;
}

void Origins::stored(std::uint64_t address, OriginId id) { memory_[address / 4] = id; }

OriginId Origins::stored_at(std::uint64_t address) const {
  const auto found = memory_.find(address / 4);
  return found == memory_.end() ? 0 : found->second;
}

void Origins::clear() {
  nodes_.clear();
  origins_.clear();
  beginnings_.clear();
  steps_.clear();
  memory_.clear();
}

}  // namespace ww::sim
