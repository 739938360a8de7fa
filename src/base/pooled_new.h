// SPDX-License-Identifier: Apache-2.0
// Pooled `operator new` for the compiler, included by one file of a program. Compiling makes and drops
// hundreds of thousands of small vectors, nodes and strings; glibc keeps seven free blocks per size
// ready and takes the slow path for the eighth. Here each thread keeps the blocks it frees, in one
// list per size, and takes them back in a few instructions.
//
// A thread keeps two lists of kListBytes per size. When both are full it passes one to all threads, and a
// thread without free blocks takes a passed list before it starts a new slab. So blocks that one thread
// allocates and another frees come back, and a program never holds more than its peak in each size plus
// the lists of its live threads. A thread that ends passes on all its lists.
//
// Blocks of up to a megabyte lie in slabs of one size each, within a range of addresses that is reserved
// when the first is wanted; so a block's address says that it is ours, and how large it is. What is
// larger, or finds no room in the range, is malloc's. The range asks for huge pages: a large kernel
// touches eight megabytes, and to get them four kilobytes at a time took a sixth of its compilation.
#pragma once

#if !defined(__SANITIZE_ADDRESS__)  // which watches every block itself

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace ww::pooled {

inline constexpr std::size_t kUnit = 16;  // block sizes are multiples of it, and so are addresses
inline constexpr std::size_t kMaxSmall = 2048;  // up to here there is a class for each multiple,
inline constexpr std::size_t kMaxSize = std::size_t{1} << 20U;  // then four for each power of two
inline constexpr std::size_t kSmallClasses = kMaxSmall / kUnit + 1;
inline constexpr std::size_t kClasses =
    kSmallClasses + std::size_t{4} * std::countr_zero(kMaxSize / kMaxSmall);
inline constexpr std::size_t kSlab = std::size_t{1} << 14U;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21U;
inline constexpr std::size_t kRange = std::size_t{1} << 34U;

/// The class of the smallest blocks that have so many bytes, of at most kMaxSize.
constexpr std::size_t class_of(std::size_t bytes) {
  if (bytes <= kMaxSmall) return bytes == 0 ? 1 : (bytes + kUnit - 1) / kUnit;
  // 2^power < bytes <= 2^(power + 1)
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarter = (bytes - 1 - (std::size_t{1} << power)) >> (power - 2);
  return kSmallClasses + 4 * (power - std::countr_zero(kMaxSmall)) + quarter;
}
/// How large the blocks of a class are.
constexpr std::size_t block_bytes(std::size_t block_class) {
  if (block_class < kSmallClasses) return block_class * kUnit;
  const std::size_t large = block_class - kSmallClasses;
  return (kMaxSmall / 4 << large / 4) * (5 + large % 4);
}
static_assert(class_of(kMaxSize) + 1 == kClasses && block_bytes(kClasses - 1) == kMaxSize);

inline constexpr std::size_t kListBytes = std::size_t{1} << 16U;
/// How many blocks of a class make a full list.
constexpr std::array<std::uint32_t, kClasses> full_counts() {
  std::array<std::uint32_t, kClasses> out{};
  for (std::size_t block_class = 1; block_class < kClasses; ++block_class) {
    const std::size_t count = kListBytes / block_bytes(block_class);
    out[block_class] = count == 0 ? 1 : static_cast<std::uint32_t>(count);
  }
  return out;
}
inline constexpr std::array<std::uint32_t, kClasses> kFullCount = full_counts();

struct Free {
  Free* next;
};

/// A thread's free blocks, by size class.
struct Lists {
  std::array<Free*, kClasses> freed;
  std::array<std::uint32_t, kClasses> room;     // blocks until `freed` is full
  std::array<Free*, kClasses> full;             // one full list more, or none
  std::array<std::byte*, kClasses> fresh, end;  // the rest of a slab
  bool is_known;                                // to `leaving`, if it is to be
};
inline constinit thread_local Lists here{};

/// What threads have passed on, by class: lists and rests of slabs, each taken whole by one thread. They
/// are chained through their first blocks, so passing one on takes the same time however long it is.
struct PassedList {
  std::uint32_t next;  // of the first block: its number in the range, 0 for none
  std::uint32_t count;
  PassedList* other;
};
struct PassedRest {
  std::byte* end;
  PassedRest* other;
};
static_assert(sizeof(PassedList) <= kUnit && sizeof(PassedRest) <= kUnit);
inline constinit std::mutex passed_mutex;
inline constinit std::array<PassedList*, kClasses> passed_lists{};
inline constinit std::array<PassedRest*, kClasses> passed_rests{};

inline constinit std::atomic<std::byte*> range{nullptr};  // the end of memory: there is none
inline constinit std::atomic<std::size_t> slabs{0};       // that are taken
inline constinit std::array<std::uint8_t, kRange / kSlab> class_of_slab{};

/// The number of a block in the range, never 0, and the block.
static_assert(kRange / kUnit < UINT32_MAX);
inline std::uint32_t number_of(const Free* block) {
  if (block == nullptr) return 0;
  const auto offset =
      reinterpret_cast<const std::byte*>(block) - range.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>(static_cast<std::size_t>(offset) / kUnit) + 1;
}
inline Free* numbered(std::uint32_t number) {
  if (number == 0) return nullptr;
  return reinterpret_cast<Free*>(range.load(std::memory_order_relaxed) + (number - 1) * kUnit);
}

/// With the lock held: passes on a list, or nothing where it is empty.
inline void pass_list(std::size_t block_class, Free* first, std::uint32_t count) {
  if (first == nullptr) return;
  const std::uint32_t next = number_of(first->next);
  passed_lists[block_class] = new (first) PassedList{next, count, passed_lists[block_class]};
}

/// Passes on a thread's blocks when it ends. The main thread ends with the process, and passes on
/// nothing.
struct Leaving {
  bool is_used = false;
  Leaving() = default;
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() {
    const std::lock_guard lock(passed_mutex);
    for (std::size_t block_class = 0; block_class < kClasses; ++block_class) {
      const std::uint32_t count = kFullCount[block_class];
      pass_list(block_class, std::exchange(here.full[block_class], nullptr), count);
      pass_list(block_class, std::exchange(here.freed[block_class], nullptr),
                count - std::exchange(here.room[block_class], count));
      std::byte* const rest = std::exchange(here.fresh[block_class], here.end[block_class]);
      if (rest != here.end[block_class])
        passed_rests[block_class] =
            new (rest) PassedRest{here.end[block_class], passed_rests[block_class]};
    }
  }
};
inline thread_local Leaving leaving;
inline void notice_thread() {
  here.is_known = true;
  if (::gettid() != ::getpid()) leaving.is_used = true;
}

/// The first caller reserves it; nullptr for all callers if the system refuses.
inline std::byte* reserved_range() {
  static std::byte* const made = [] {
    void* at = ::mmap(nullptr, kRange + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return static_cast<std::byte*>(nullptr);
    std::size_t space = kRange + kHugePage;
    auto* const start = static_cast<std::byte*>(std::align(kHugePage, kRange, at, space));
    (void)::madvise(start, kRange, MADV_HUGEPAGE);  // a kernel without them refuses
    range.store(start, std::memory_order_relaxed);
    return start;
  }();
  return made;
}

/// A block of what was passed on, with the rest of its list or slab; nullptr: nothing was.
inline void* take_passed(std::size_t block_class) {
  const std::lock_guard lock(passed_mutex);
  if (PassedList* const list = passed_lists[block_class]) {
    passed_lists[block_class] = list->other;
    here.freed[block_class] = numbered(list->next);
    here.room[block_class] = kFullCount[block_class] - (list->count - 1);
    return list;
  }
  PassedRest* const rest = passed_rests[block_class];
  if (rest == nullptr) return nullptr;
  passed_rests[block_class] = rest->other;
  here.fresh[block_class] = reinterpret_cast<std::byte*>(rest) + block_bytes(block_class);
  here.end[block_class] = rest->end;
  return rest;
}

/// A block when the list in use and the slab have none: of the full list, of those passed on, or of a new
/// slab.
[[gnu::noinline]] inline void* more_of(std::size_t block_class) {
  if (!here.is_known) notice_thread();
  if (Free* const block = std::exchange(here.full[block_class], nullptr)) {
    here.freed[block_class] = block->next;
    here.room[block_class] = 1;
    return block;
  }
  if (void* const block = take_passed(block_class)) return block;
  std::byte* const start = reserved_range();
  const std::size_t bytes = block_bytes(block_class);
  const std::size_t count = (bytes + kSlab - 1) / kSlab;  // more than one: for a single block
  const std::size_t slab = start == nullptr ? 0 : slabs.fetch_add(count);
  if (start == nullptr || slab + count > class_of_slab.size()) return nullptr;
  class_of_slab[slab] = static_cast<std::uint8_t>(block_class);
  std::byte* const first = start + slab * kSlab;
  here.fresh[block_class] = first + bytes;
  here.end[block_class] = first + count * kSlab / bytes * bytes;
  return first;
}

inline void* take(std::size_t bytes) {
  if (bytes <= kMaxSize) {
    const std::size_t block_class = class_of(bytes);
    if (Free* const block = here.freed[block_class]) {
      here.freed[block_class] = block->next;
      ++here.room[block_class];
      return block;
    }
    if (here.fresh[block_class] != here.end[block_class])
      return std::exchange(here.fresh[block_class],
                           here.fresh[block_class] + block_bytes(block_class));
    if (void* const block = more_of(block_class)) return block;
  }
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

/// Makes room in the list in use: it becomes the full list, and a previous full list is passed on.
[[gnu::noinline]] inline void make_room(std::size_t block_class) {
  if (!here.is_known) notice_thread();
  const std::uint32_t count = kFullCount[block_class];
  here.room[block_class] = count;
  Free* const list = std::exchange(here.freed[block_class], nullptr);
  if (list == nullptr) return;  // the first block of its class
  Free* const full = std::exchange(here.full[block_class], list);
  if (full == nullptr) return;
  const std::lock_guard lock(passed_mutex);
  pass_list(block_class, full, count);
}

inline void give_back(void* block) {
  std::byte* const start = range.load(std::memory_order_relaxed);
  const auto at = static_cast<std::size_t>(static_cast<std::byte*>(block) - start);
  if (start == nullptr || at >= kRange) return std::free(block);
  const std::size_t block_class = class_of_slab[at / kSlab];
  if (here.room[block_class] == 0) make_room(block_class);
  --here.room[block_class];
  here.freed[block_class] = new (block) Free{here.freed[block_class]};
}

}  // namespace ww::pooled

// NOLINTBEGIN(misc-definitions-in-headers): one file of a program includes this.
void* operator new(std::size_t bytes) { return ww::pooled::take(bytes); }
void operator delete(void* block) noexcept { ww::pooled::give_back(block); }
void operator delete(void* block, std::size_t) noexcept { ww::pooled::give_back(block); }
// NOLINTEND(misc-definitions-in-headers)

#endif
