// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ww::sim {
namespace {

// Allocations are apart by their own size and then some, so that an index that is off by less than
// the size of an array does not land in another one.
constexpr std::uint64_t kWindowGap = std::uint64_t{1} << 20U;

}  // namespace

std::uint64_t GlobalMemory::place(std::uint64_t& next, std::uint64_t size, std::uint64_t align) {
  const std::uint64_t base = round_up(next, std::max<std::uint64_t>(align, 512));
  next = round_up(base + 2 * std::max<std::uint64_t>(size, 1) + kWindowGap, kWindowGap);
  return base;
}

Region& GlobalMemory::allocate(std::uint64_t size, std::uint64_t align, std::string name,
                               Space space, std::byte fill) {
  const std::uint64_t reserved = std::max<std::uint64_t>(size, 1);
  auto data = std::make_unique<std::byte[]>(reserved);
  auto undefined = std::make_unique<std::uint8_t[]>(reserved);
  std::memset(data.get(), std::to_integer<int>(fill), reserved);
  std::memset(undefined.get(), 0xFF, reserved);
  auto region = std::make_unique<Region>();
  region->base = place(next_, size, align);
  region->size = size;
  region->data = data.get();
  region->undefined = undefined.get();
  region->space = space;
  region->writable = space != Space::Const;
  region->name = std::move(name);
  bytes_ += size;
  data_.push_back(std::move(data));
  undefined_.push_back(std::move(undefined));
  regions_.push_back(std::move(region));
  return *regions_.back();
}

Region& GlobalMemory::adopt(std::uint64_t base, std::span<std::byte> bytes, std::uint8_t* undefined,
                            std::string name) {
  if (undefined == nullptr)
    undefined = undefined_.emplace_back(std::make_unique<std::uint8_t[]>(bytes.size())).get();
  auto region = std::make_unique<Region>();
  region->base = base;
  region->size = bytes.size();
  region->data = bytes.data();
  region->undefined = undefined;
  region->name = std::move(name);
  next_ = std::max(next_, base);
  place(next_, bytes.size(), 1);
  regions_.push_back(std::move(region));
  return *regions_.back();
}

void GlobalMemory::write(Region& region, std::span<const std::byte> bytes) {
  const std::size_t count = std::min<std::size_t>(bytes.size(), region.size);
  if (count == 0) return;
  std::memcpy(region.data, bytes.data(), count);
  std::memset(region.undefined, 0, count);
}

const Region* GlobalMemory::nearest(std::uint64_t address) const {
  const auto above =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](std::uint64_t value, const std::unique_ptr<Region>& region) {
                         return value < region->base;
                       });
  return above == regions_.begin() ? nullptr : std::prev(above)->get();
}

Region* GlobalMemory::find(std::uint64_t address) const {
  const Region* region = nearest(address);
  return region != nullptr && region->holds(address, 1) ? const_cast<Region*>(region) : nullptr;
}

}  // namespace ww::sim
