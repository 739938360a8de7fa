// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/conflicts.h"

#include <cstdlib>
#include <new>

namespace ww::sim {
namespace {

// A first touch is announced before it looks at the others', in one order for all threads: of two
// units at a word, one sees the other.
constexpr auto kOrder = std::memory_order_seq_cst;

std::uint32_t name_of(std::uint64_t unit) { return static_cast<std::uint32_t>(unit + 1); }

}  // namespace

Conflicts::Conflicts(GlobalMemory& memory) : memory_(memory), before_(memory) {
  for (const auto& region : memory.regions()) {
    owners_.push_back(nullptr);
    if (!region->writable) continue;
    // Zeros that the host makes when they are first touched.
    owners_.back() = static_cast<WordOwners*>(  // NOLINT: freed below
        std::calloc(region->size / 4 + 1, sizeof(WordOwners)));
    if (owners_.back() == nullptr) throw std::bad_alloc();
    region->owners = owners_.back();
  }
}

void Conflicts::stop_watching() {
  for (const auto& region : memory_.regions()) region->owners = nullptr;
}

Conflicts::~Conflicts() {
  stop_watching();
  for (WordOwners* const owners : owners_) std::free(owners);  // NOLINT
}

template <typename Visit>
void Conflicts::for_each_word(const Region& region, const std::uint64_t* address, Mask lanes,
                              unsigned bytes, const Visit& visit) {
  for_each_lane(lanes, [&](unsigned l) {
    const std::uint64_t first = (address[l] - region.base) / 4;
    const std::uint64_t last = (address[l] - region.base + bytes - 1) / 4;
    for (std::uint64_t word = first; word <= last; ++word) {
      if (visit(region.owners[word])) found_.store(true, std::memory_order_relaxed);
    }
  });
}

void Conflicts::note_read(const Region& region, const std::uint64_t* address, Mask lanes,
                          unsigned bytes, std::uint64_t unit) {
  const std::uint32_t self = name_of(unit);
  for_each_word(region, address, lanes, bytes, [&](WordOwners& owners) {
    std::uint32_t reader = owners.read.load(std::memory_order_relaxed);
    while (reader != self && reader != WordOwners::kMany) {
      if (owners.read.compare_exchange_weak(reader, reader == 0 ? self : WordOwners::kMany, kOrder))
        break;
    }
    const std::uint32_t writer = owners.wrote.load(kOrder);
    return writer != 0 && writer != self;
  });
}

void Conflicts::note_write(const Region& region, const std::uint64_t* address, Mask lanes,
                           unsigned bytes, std::uint64_t unit) {
  const std::uint32_t self = name_of(unit);
  for_each_word(region, address, lanes, bytes, [&](WordOwners& owners) {
    if (owners.wrote.load(std::memory_order_relaxed) == self) return false;
    const std::uint32_t writer = owners.wrote.exchange(self, kOrder);
    const std::uint32_t reader = owners.read.load(kOrder);
    return writer != 0 || (reader != 0 && reader != self);
  });
}

void Conflicts::note_atomic(const Region& region, const std::uint64_t* address, Mask lanes,
                            unsigned bytes, std::uint64_t unit, std::uint32_t opcode) {
  const std::uint32_t code = WordOwners::kAtomic | opcode;
  for_each_word(region, address, lanes, bytes, [&](WordOwners& owners) {
    const std::uint32_t before = owners.wrote.load(std::memory_order_relaxed) == code
                                     ? code
                                     : owners.wrote.exchange(code, kOrder);
    const std::uint32_t reader = owners.read.load(kOrder);
    return (before != 0 && before != code) || (reader != 0 && reader != name_of(unit));
  });
}

}  // namespace ww::sim
