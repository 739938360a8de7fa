// SPDX-License-Identifier: Apache-2.0
// The names of one module, each stored once. Everything else in a module holds a `NameId`, so that
// comparing two names is comparing two integers and an operand stays small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace ww::ptx {

/// A name of a NamePool: its number in the order of first use. Means nothing without its pool.
enum class NameId : std::uint32_t {};

/// The empty text, which every pool has; means "no name".
constexpr NameId kNoName{0};

/// A growing set of texts. Copies number the names alike, so ids may be used with either copy.
class NamePool {
 public:
  NamePool();
  NamePool(const NamePool& other);
  NamePool(NamePool&& other) noexcept;
  NamePool& operator=(const NamePool& other);
  NamePool& operator=(NamePool&& other) noexcept;
  ~NamePool() = default;

  /// The id of `text`, which is copied into the pool when it is new. Any bytes are fine. Throws
  /// BugError beyond 2^32 - 1 names or a text of 4 GiB.
  NameId intern(std::string_view text);
  /// The id of `text` if it is in the pool.
  [[nodiscard]] std::optional<NameId> find(std::string_view text) const;

  /// The text of an id of this pool. The view stays valid as long as the pool lives, also when more
  /// names come in or the pool is moved.
  [[nodiscard]] std::string_view text(NameId id) const {
    const Entry& entry = entries_[static_cast<std::uint32_t>(id)];
    return {entry.data, entry.length};
  }
  /// How many names there are; ids run from 0 (the empty text) to size() - 1.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    const char* data;
    std::uint32_t length;
  };
  // What a text is found by. Up to eight bytes are their own key, so that for most names, which are
  // registers, a slot says all; longer ones have a hash and, in its low bits, their last character.
  struct Key {
    std::uint64_t bits;
    std::uint32_t length;
  };
  // Open addressing, a power of two of them, at most half in use.
  struct Slot {
    std::uint64_t bits = 0;
    std::uint32_t length = 0;
    std::uint32_t id = 0;  // 0, the empty text, is not looked up here and marks a free slot
  };

  void swap(NamePool& other) noexcept;
  [[nodiscard]] Key key_of(std::string_view text) const;
  static Key short_key(std::string_view text);
  [[nodiscard]] std::uint64_t hash(std::string_view text) const;
  [[nodiscard]] bool holds(const Slot& slot, const char* text) const;
  [[nodiscard]] std::size_t home_of(Key key) const;
  [[nodiscard]] Slot* slot_of(Key key, const char* text) const;
  NameId add(std::string_view text, Key key, Slot* slot);
  const char* store(std::string_view text);
  void make_slots(unsigned slot_bits);
  void grow();
  void reseed();

  std::vector<Entry> entries_;
  std::unique_ptr<Slot[]> slots_;
  unsigned slot_bits_ = 0;  // 2^slot_bits_ slots
  std::uint64_t seed_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;  // into the last chunk
  std::size_t free_bytes_ = 0;
};

}  // namespace ww::ptx
