// SPDX-License-Identifier: Apache-2.0
// Memory behind buffers: bytes, which of their bits have been written, who touched them last, and
// which of them asynchronous copies still read or write. Addresses count bits, because elements may
// have four.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "eval/memory/order.h"
#include "eval/value/arithmetic.h"

namespace ww::eval {

/// Who touches memory: an agent of a CTA (its number in the grid), at a step of the launch.
struct Access {
  Agent agent;
  bool is_atomic = false;
  std::uint32_t cta = 0;
  std::uint32_t time = 0;
  std::uint32_t step = 0;
  friend bool operator==(const Access&, const Access&) = default;
};

/// The last write and the reads since then, of one granule of memory.
struct History {
  Access write;
  Access read;
  Access other_read;            // of another CTA of the cluster, that nothing orders before `read`
  bool other_cta_read = false;  // a CTA of another cluster, before that of `read`, has read it, too
};

class Storage {
 public:
  Storage() = default;
  /// `granule`: bytes that share a history, the size of the smallest element; a power of two.
  Storage(std::size_t bytes, std::size_t granule, bool is_defined);

  [[nodiscard]] std::int64_t size_bits() const {
    return static_cast<std::int64_t>(bytes_.size()) * 8;
  }
  [[nodiscard]] bool holds(std::int64_t bit, int bits) const {
    return bit >= 0 && bit + bits <= size_bits();
  }

  // `bits` is 4 (within a byte), 8, 16, 32 or 64 (at whole bytes); the place must be held.
  [[nodiscard]] Word value(std::int64_t bit, int bits) const { return get(bytes_, bit, bits); }
  [[nodiscard]] Word undefined(std::int64_t bit, int bits) const {
    return ~get(defined_, bit, bits) & low_mask(bits);
  }
  /// Sets the bits; those of `undefined` count as not written.
  void put(std::int64_t bit, int bits, Word value, Word undefined) {
    set(bytes_, bit, bits, value);
    set(defined_, bit, bits, ~undefined);
    if (!written_.empty()) set(written_, bit, bits, ~undefined);
  }
  /// Forgets the contents of a range of bytes.
  void forget(std::size_t begin, std::size_t count);

  [[nodiscard]] std::size_t granule_of(std::int64_t bit) const {
    return static_cast<std::size_t>(bit) >> granule_shift_;
  }
  History& history(std::size_t granule) {
    const std::size_t page = granule / kPage;
    if (page >= pages_.size() || !pages_[page]) make_page(page);
    return (*pages_[page])[granule % kPage];
  }

  /// Copies in flight: `change` is 1 where one begins, -1 where it ends.
  void mark_target(std::int64_t bit, int bits, int change) { mark(targets_, bit, bits, change); }
  void mark_source(std::int64_t bit, int bits, int change) { mark(sources_, bit, bits, change); }
  [[nodiscard]] bool is_target(std::int64_t bit, int bits) const {
    return !targets_.empty() && is_marked(targets_, bit, bits);
  }
  [[nodiscard]] bool is_source(std::int64_t bit, int bits) const {
    return !sources_.empty() && is_marked(sources_, bit, bits);
  }

  void keep_written() { written_.assign(bytes_.size(), 0); }
  [[nodiscard]] bool was_written(std::int64_t bit, int bits) const {
    return get(written_, bit, bits) == low_mask(bits);
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }
  /// The host memory it takes.
  [[nodiscard]] std::uint64_t host_bytes() const {
    return bytes_.size() + defined_.size() + written_.size() + pages_.size() * sizeof(pages_[0]) +
           made_pages_ * sizeof(Page) + (targets_.size() + sources_.size()) * sizeof(targets_[0]);
  }

 private:
  static constexpr std::size_t kPage = 256;
  using Page = std::array<History, kPage>;

  // Copies of a size that the compiler knows are one instruction. Little-endian hosts only.
  template <typename T>
  static Word load(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  template <typename T>
  static void store(std::uint8_t* at, Word word) {
    const auto value = static_cast<T>(word);
    std::memcpy(at, &value, sizeof(T));
  }
  static Word get(const std::vector<std::uint8_t>& from, std::int64_t bit, int bits) {
    const std::uint8_t* at = from.data() + (bit >> 3);
    switch (bits) {
      case 8:
        return *at;
      case 16:
        return load<std::uint16_t>(at);
      case 32:
        return load<std::uint32_t>(at);
      case 64:
        return load<std::uint64_t>(at);
      default:
        return (*at >> (bit & 7)) & low_mask(bits);
    }
  }
  static void set(std::vector<std::uint8_t>& in, std::int64_t bit, int bits, Word word) {
    std::uint8_t* at = in.data() + (bit >> 3);
    switch (bits) {
      case 8:
        return store<std::uint8_t>(at, word);
      case 16:
        return store<std::uint16_t>(at, word);
      case 32:
        return store<std::uint32_t>(at, word);
      case 64:
        return store<std::uint64_t>(at, word);
      default: {
        const auto mask = static_cast<unsigned>(low_mask(bits) << (bit & 7));
        const auto moved = static_cast<unsigned>(word << (bit & 7));
        *at = static_cast<std::uint8_t>((*at & ~mask) | (moved & mask));
      }
    }
  }
  void make_page(std::size_t page);
  void mark(std::vector<std::uint16_t>& marks, std::int64_t bit, int bits, int change);
  [[nodiscard]] bool is_marked(const std::vector<std::uint16_t>& marks, std::int64_t bit,
                               int bits) const;

  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> defined_;  // a bit for each bit
  std::vector<std::uint8_t> written_;  // the same, since the start; or empty
  int granule_shift_ = 3;              // a granule is so many bits, as a power of two
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t made_pages_ = 0;
  std::vector<std::uint16_t> targets_;  // by granule; empty while no copy is in flight
  std::vector<std::uint16_t> sources_;
};

/// Two accesses that nothing orders.
struct Conflict {
  Access earlier;
  bool earlier_wrote = false;
};

/// Decides whether accesses are ordered, and remembers them.
class RaceCheck {
 public:
  /// `ctas_per_cluster` run together. `ignore_other_ctas`: whatever happens between clusters may be
  /// ordered by atomics and fences.
  RaceCheck(const Order& order, const Clock& clock, std::uint32_t ctas_per_cluster,
            bool ignore_other_ctas)
      : order_(&order),
        clock_(&clock),
        cluster_(ctas_per_cluster),
        ignore_other_(ignore_other_ctas) {}

  std::optional<Conflict> read(Storage& storage, std::int64_t bit, int bits,
                               const Access& by) const;
  std::optional<Conflict> write(Storage& storage, std::int64_t bit, int bits,
                                const Access& by) const;

 private:
  [[nodiscard]] bool is_before(const Access& first, const Access& second) const {
    if (first.agent.kind == AgentKind::None) return true;
    if (first.cta == second.cta && order_->is_before(first.agent, first.time, second.agent))
      return true;
    return is_excused(first, second);
  }
  /// Is it no race, though nothing within the CTA orders them?
  [[nodiscard]] bool is_excused(const Access& first, const Access& second) const;
  void read_one(History& history, const Access& by, std::optional<Conflict>& conflict) const;
  void write_one(History& history, const Access& by, std::optional<Conflict>& conflict) const;

  const Order* order_;
  const Clock* clock_;
  std::uint32_t cluster_;
  bool ignore_other_;
};

}  // namespace ww::eval
