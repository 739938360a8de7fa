// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/snapshot.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace ww::sim {
namespace {

template <typename T>
std::unique_ptr<T[]> copy_of(const T* from, std::uint64_t size) {
  if (from == nullptr) return nullptr;
  auto to = std::make_unique_for_overwrite<T[]>(size);
  std::memcpy(to.get(), from, size);
  return to;
}

// Where they differ first; `size`: nowhere.
template <typename T>
std::uint64_t first_mismatch(const T* a, const T* b, std::uint64_t size) {
  if (a == nullptr || std::memcmp(a, b, size) == 0) return size;
  return static_cast<std::uint64_t>(std::mismatch(a, a + size, b).first - a);
}

}  // namespace

Snapshot::Snapshot(const GlobalMemory& memory) {
  for (const auto& region : memory.regions())
    if (region->writable)
      saved_.push_back({region.get(), copy_of(region->data, region->size),
                        copy_of(region->undefined, region->size)});
}

void Snapshot::restore() const {
  for (const Saved& saved : saved_) {
    std::memcpy(saved.region->data, saved.data.get(), saved.region->size);
    if (saved.undefined != nullptr)
      std::memcpy(saved.region->undefined, saved.undefined.get(), saved.region->size);
  }
}

std::optional<MemoryPlace> Snapshot::difference() const {
  for (const Saved& saved : saved_) {
    const Region& now = *saved.region;
    const std::uint64_t at =
        std::min(first_mismatch(now.data, saved.data.get(), now.size),
                 first_mismatch(now.undefined, saved.undefined.get(), now.size));
    if (at != now.size) return MemoryPlace{&now, at};
  }
  return std::nullopt;
}

}  // namespace ww::sim
