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
  void put(std::int64_t bit, int bits, Word value, Word undefined);
  /// Forgets the contents of a range of bytes.
  void forget(std::size_t begin, std::size_t count);

  [[nodiscard]] std::size_t granule_of(std::int64_t bit) const {
    return static_cast<std::size_t>(bit) >> granule_shift_;
  }
  History& history(std::size_t granule);

  /// Copies in flight: `change` is 1 where one begins, -1 where it ends.
  void mark_target(std::int64_t bit, int bits, int change) { mark(targets_, bit, bits, change); }
  void mark_source(std::int64_t bit, int bits, int change) { mark(sources_, bit, bits, change); }
  [[nodiscard]] bool is_target(std::int64_t bit, int bits) const {
    return is_marked(targets_, bit, bits);
  }
  [[nodiscard]] bool is_source(std::int64_t bit, int bits) const {
    return is_marked(sources_, bit, bits);
  }

  void keep_written() { written_.assign(bytes_.size(), 0); }
  [[nodiscard]] bool was_written(std::int64_t bit, int bits) const {
    return get(written_, bit, bits) == low_mask(bits);
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }
  /// What it takes of the host.
  [[nodiscard]] std::uint64_t host_bytes() const {
    return bytes_.size() + defined_.size() + written_.size() + pages_.size() * sizeof(pages_[0]) +
           made_pages_ * sizeof(Page) + (targets_.size() + sources_.size()) * sizeof(targets_[0]);
  }

 private:
  static constexpr std::size_t kPage = 256;
  using Page = std::array<History, kPage>;

  static Word get(const std::vector<std::uint8_t>& from, std::int64_t bit, int bits) {
    const std::uint8_t* at = from.data() + bit / 8;
    if (bits < 8) return (*at >> (bit % 8)) & low_mask(bits);
    Word word = 0;
    std::memcpy(&word, at, static_cast<std::size_t>(bits / 8));  // little-endian hosts only
    return word;
  }
  static void set(std::vector<std::uint8_t>& in, std::int64_t bit, int bits, Word word);
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
  [[nodiscard]] bool is_before(const Access& first, const Access& second) const;
  void read_one(History& history, const Access& by, std::optional<Conflict>& conflict) const;
  void write_one(History& history, const Access& by, std::optional<Conflict>& conflict) const;

  const Order* order_;
  const Clock* clock_;
  std::uint32_t cluster_;
  bool ignore_other_;
};

}  // namespace ww::eval
