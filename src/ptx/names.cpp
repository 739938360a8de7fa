// SPDX-License-Identifier: Apache-2.0
#include "ptx/names.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"

namespace ww::ptx {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr unsigned kFirstSlotBits = 8;
constexpr std::size_t kShort = 8;  // bytes of a text that is its own key
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
constexpr std::size_t kChunkBytes = std::size_t{1} << 16U;
// Names further than this from their home make the table larger, or change the hash.
constexpr std::size_t kLongestRun = 256;

template <typename Word>
std::uint64_t load(const char* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

NamePool::NamePool() : entries_{{"", 0}} { make_slots(kFirstSlotBits); }

// The copy stores its texts anew, in the same order, so ids carry over.
NamePool::NamePool(const NamePool& other) : entries_{{"", 0}}, seed_(other.seed_) {
  entries_.reserve(other.entries_.size());
  for (std::size_t id = 1; id < other.entries_.size(); ++id) {
    const Entry& entry = other.entries_[id];
    entries_.push_back({store({entry.data, entry.length}), entry.length});
  }
  make_slots(other.slot_bits_);
  std::copy_n(other.slots_.get(), std::size_t{1} << slot_bits_, slots_.get());
}

NamePool::NamePool(NamePool&& other) noexcept : NamePool() { swap(other); }

NamePool& NamePool::operator=(const NamePool& other) {
  if (this != &other) *this = NamePool(other);
  return *this;
}

NamePool& NamePool::operator=(NamePool&& other) noexcept {
  swap(other);
  return *this;
}

void NamePool::make_slots(unsigned slot_bits) {
  slot_bits_ = slot_bits;
  slots_ = std::make_unique<Slot[]>(std::size_t{1} << slot_bits);
}

void NamePool::swap(NamePool& other) noexcept {
  std::swap(entries_, other.entries_);
  std::swap(slots_, other.slots_);
  std::swap(slot_bits_, other.slot_bits_);
  std::swap(seed_, other.seed_);
  std::swap(chunks_, other.chunks_);
  std::swap(free_, other.free_);
  std::swap(free_bytes_, other.free_bytes_);
}

NameId NamePool::intern(std::string_view text) {
  if (text.empty()) return kNoName;
  const Key key = key_of(text);
  Slot* slot = slot_of(key, text.data());
  return slot->id != 0 ? NameId{slot->id} : add(text, key, slot);
}

std::optional<NameId> NamePool::find(std::string_view text) const {
  if (text.empty()) return kNoName;
  const Slot* slot = slot_of(key_of(text), text.data());
  return slot->id != 0 ? std::optional(NameId{slot->id}) : std::nullopt;
}

NamePool::Key NamePool::key_of(std::string_view text) const {
  if (text.size() <= kShort) return short_key(text);
  return {hash(text), static_cast<std::uint32_t>(text.size())};
}

// At most eight bytes, the first lowest, and zeros.
inline NamePool::Key NamePool::short_key(std::string_view text) {
  const char* const bytes = text.data();
  const std::size_t size = text.size();
  const auto length = static_cast<std::uint32_t>(size);
  if (size >= 4) {
    const std::uint64_t tail = load<std::uint32_t>(bytes + size - 4);
    return {load<std::uint32_t>(bytes) | tail << (8 * (size - 4)), length};
  }
  const std::uint64_t middle = load<std::uint8_t>(bytes + size / 2);
  const std::uint64_t last = load<std::uint8_t>(bytes + size - 1);
  return {load<std::uint8_t>(bytes) | middle << (8 * (size / 2)) | last << (8 * (size - 1)),
          length};
}

std::uint64_t NamePool::hash(std::string_view text) const {
  const std::uint64_t multiplier = kMultiplier ^ seed_;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t h = text.size();
  for (; end - at > 16; at += 16)
    h = mix(h ^ load<std::uint64_t>(at), multiplier ^ load<std::uint64_t>(at + 8));
  // What is left, up to 16 bytes, as two words that may overlap each other and what is done.
  const char* const head = end - at > 8 ? at : end - 8;
  h = mix(h ^ load<std::uint64_t>(head), multiplier ^ load<std::uint64_t>(end - 8));
  const std::uint64_t last = static_cast<unsigned char>(end[-1]) & 0xFU;
  return (h & ~std::uint64_t{0xF}) | last;
}

// Registers are numbered, and near ones are used together. So names that differ in their last
// character only stand side by side: the rest chooses a block of 16 slots, the last one the slot.
inline std::size_t NamePool::home_of(Key key) const {
  const unsigned shift = key.length <= kShort ? 8 * key.length - 8 : 0;
  const std::uint64_t in_block = key.bits >> shift & 0xFU;
  const std::uint64_t rest = key.bits ^ in_block << shift;
  return (rest ^ seed_) * kMultiplier >> (68U - slot_bits_) << 4U | in_block;
}

// The slot that holds the text, or the free one where it belongs.
inline NamePool::Slot* NamePool::slot_of(Key key, const char* text) const {
  Slot* const slots = slots_.get();
  Slot* const end = slots + (std::size_t{1} << slot_bits_);
  Slot* slot = slots + home_of(key);
  while (slot->id != 0) {
    if (slot->bits == key.bits && slot->length == key.length &&
        (key.length <= kShort || holds(*slot, text)))
      break;
    if (++slot == end) slot = slots;
  }
  return slot;
}

bool NamePool::holds(const Slot& slot, const char* text) const {
  return std::memcmp(entries_[slot.id].data, text, slot.length) == 0;
}

NameId NamePool::add(std::string_view text, Key key, Slot* slot) {
  constexpr std::size_t kMax = std::numeric_limits<std::uint32_t>::max();
  WW_CHECK(entries_.size() < kMax && text.size() <= kMax, "{} names, the next of {} bytes",
           entries_.size(), text.size());
  const auto id = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({store(text), key.length});
  *slot = {key.bits, key.length, id};
  const std::size_t slot_count = std::size_t{1} << slot_bits_;
  const auto at = static_cast<std::size_t>(slot - slots_.get());
  const std::size_t run = (at - home_of(key)) & (slot_count - 1);
  // In a table that is nearly empty, only names made to meet in one place make a long run; another
  // seed parts them again.
  const bool is_sparse = entries_.size() * 4 < slot_count;
  if (run > kLongestRun && is_sparse)
    reseed();
  else if (run > kLongestRun || entries_.size() * 2 > slot_count)
    grow();
  return NameId{id};
}

const char* NamePool::store(std::string_view text) {
  if (text.size() > free_bytes_) {
    free_bytes_ = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(free_bytes_));
    free_ = chunks_.back().get();
  }
  char* const stored = free_;
  std::memcpy(stored, text.data(), text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return stored;
}

// Under the same seed the slots keep their order, and both tables are walked from end to end.
void NamePool::grow() {
  const std::size_t old_count = std::size_t{1} << slot_bits_;
  const std::unique_ptr<Slot[]> old = std::move(slots_);
  make_slots(slot_bits_ + 1);
  for (const Slot& slot : std::span(old.get(), old_count))
    if (slot.id != 0) *slot_of({slot.bits, slot.length}, entries_[slot.id].data) = slot;
}

void NamePool::reseed() {
  seed_ = mix(seed_ + 1, 0xA0761D6478BD642FU);
  make_slots(slot_bits_);
  for (std::uint32_t id = 1; id < entries_.size(); ++id) {
    const Key key = key_of({entries_[id].data, entries_[id].length});
    *slot_of(key, entries_[id].data) = {key.bits, key.length, id};
  }
}

}  // namespace ww::ptx
