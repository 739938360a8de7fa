// SPDX-License-Identifier: Apache-2.0
#include "sim/run/counters.h"

#include <algorithm>
#include <array>

#include "sim/lanes.h"

namespace ww::sim {
namespace {

constexpr unsigned kBanks = 32;

// Words of four bytes that some lanes touch, each once, in ascending order.
class Words {
 public:
  void add(std::uint64_t address, unsigned bytes) {
    const std::uint64_t last = (address + bytes - 1) / 4;
    for (std::uint64_t word = address / 4; word <= last && count_ < words_.size(); ++word) {
      words_[count_++] = word;
    }
  }
  Wavefronts wavefronts() {
    std::sort(words_.begin(), words_.begin() + count_);
    const auto end = std::unique(words_.begin(), words_.begin() + count_);
    std::array<unsigned, kBanks> used{};
    for (auto word = words_.begin(); word != end; ++word) ++used[*word % kBanks];
    const auto distinct = static_cast<unsigned>(end - words_.begin());
    return {*std::max_element(used.begin(), used.end()), (distinct + kBanks - 1) / kBanks};
  }

 private:
  std::array<std::uint64_t, 160> words_{};
  unsigned count_ = 0;
};

}  // namespace

OpCount& OpCount::operator+=(const OpCount& other) {
  executed += other.executed;
  lanes += other.lanes;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  return *this;
}

void Counters::merge(const Counters& other) {
  instructions += other.instructions;
  engine_steps += other.engine_steps;
  if (ops.size() < other.ops.size()) ops.resize(other.ops.size());
  for (std::size_t i = 0; i < other.ops.size(); ++i) ops[i] += other.ops[i];
}

Wavefronts shared_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned bytes) {
  const unsigned group = bytes <= 4 ? kLanes : bytes == 8 ? kLanes / 2 : kLanes / 4;
  Wavefronts all;
  for (unsigned first = 0; first < kLanes; first += group) {
    Words words;
    for (unsigned l = first; l < first + group; ++l) {
      if (has_lane(lanes, l)) words.add(address[l], bytes);
    }
    const Wavefronts part = words.wavefronts();
    all.needed += part.needed;
    all.ideal += part.ideal;
  }
  return all;
}

Wavefronts row_wavefronts(const std::uint64_t* address, unsigned rows) {
  Wavefronts all;
  for (unsigned first = 0; first < rows; first += 8) {
    Words words;
    for (unsigned r = first; r < first + 8 && r < rows; ++r) words.add(address[r], 16);
    const Wavefronts part = words.wavefronts();
    all.needed += part.needed;
    all.ideal += part.ideal;
  }
  return all;
}

Sectors global_sectors(const std::uint64_t* address, std::uint32_t lanes, unsigned bytes) {
  // Sectors and bytes are counted once each, however many lanes touch them.
  std::array<std::uint64_t, 2 * kLanes> sectors{};
  std::array<std::uint64_t, kLanes> starts{};
  unsigned count = 0;
  unsigned start_count = 0;
  for_each_lane(lanes, [&](unsigned l) {
    sectors[count++] = address[l] / 32;
    if ((address[l] + bytes - 1) / 32 != address[l] / 32) sectors[count++] = address[l] / 32 + 1;
    starts[start_count++] = address[l];
  });
  std::sort(sectors.begin(), sectors.begin() + count);
  std::sort(starts.begin(), starts.begin() + start_count);
  const auto distinct = std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin();
  std::uint64_t covered = 0;
  std::uint64_t end = 0;
  for (unsigned i = 0; i < start_count; ++i) {
    const std::uint64_t from = std::max(starts[i], end);
    const std::uint64_t to = starts[i] + bytes;
    if (to > from) covered += to - from;
    end = std::max(end, to);
  }
  return {static_cast<unsigned>(distinct), static_cast<unsigned>((covered + 31) / 32)};
}

}  // namespace ww::sim
