// SPDX-License-Identifier: Apache-2.0
// operator new of a program that compiles, included by one file of it. Compiling
// makes and drops hundreds of thousands of small vectors, nodes and strings; glibc keeps seven free
// blocks of a size at hand and takes the long way for the eighth. Here each thread keeps all that it
// has freed, in one list per size, and takes them back in a few instructions.
//
// Small blocks lie in slabs of one size each, within a range of addresses that is reserved when the
// first is wanted; so a block's address says that it is ours, and how large it is. What is larger, or
// finds no room in the range, is malloc's. A thread that ends leaves its free blocks to the others.
#pragma once

#if !defined(__SANITIZE_ADDRESS__)  // which watches every block itself

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace ww::pooled {

inline constexpr std::size_t kUnit = 16;  // sizes are multiples of it, and so are addresses
inline constexpr std::size_t kMaxSize = 2048;
inline constexpr std::size_t kSizes = kMaxSize / kUnit + 1;
inline constexpr std::size_t kSlab = std::size_t{1} << 16U;
inline constexpr std::size_t kRange = std::size_t{1} << 34U;

struct Free {
  Free* next;
};

/// What a thread has at hand, by size.
struct Lists {
  std::array<Free*, kSizes> freed;
  std::array<std::byte*, kSizes> fresh, end;  // the rest of a slab
  bool is_known;                              // to `leaving`, if it is to be
};
inline constinit thread_local Lists here{};

/// What threads that have ended left behind, by size: lists and rests of slabs, each taken whole by one
/// thread. They are chained through their first blocks, so that a thread ends without a walk over all it
/// has ever freed, however many threads there were before it.
struct LeftList {
  Free* next;  // of the first block
  LeftList* other;
};
struct LeftRest {
  std::byte* end;
  LeftRest* other;
};
static_assert(sizeof(LeftList) <= kUnit && sizeof(LeftRest) <= kUnit);
inline constinit std::mutex left_mutex;
inline constinit std::array<LeftList*, kSizes> left_lists{};
inline constinit std::array<LeftRest*, kSizes> left_rests{};

inline constinit std::atomic<std::byte*> range{nullptr};  // the end of memory: there is none
inline constinit std::atomic<std::size_t> slabs{0};       // that are taken
inline constinit std::array<std::uint8_t, kRange / kSlab> size_of_slab{};

/// Leaves the lists of a thread to the others when it ends. The process ends with its main thread, which
/// has none.
struct Leaving {
  bool is_used = false;
  Leaving() = default;
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() {
    const std::lock_guard lock(left_mutex);
    for (std::size_t size = 0; size < kSizes; ++size) {
      if (Free* const first = std::exchange(here.freed[size], nullptr)) {
        Free* const next = first->next;
        left_lists[size] = new (first) LeftList{next, left_lists[size]};
      }
      std::byte* const rest = std::exchange(here.fresh[size], here.end[size]);
      if (rest != here.end[size])
        left_rests[size] = new (rest) LeftRest{here.end[size], left_rests[size]};
    }
  }
};
inline thread_local Leaving leaving;
[[gnu::noinline]] inline void notice_thread() {
  here.is_known = true;
  if (::gettid() != ::getpid()) leaving.is_used = true;
}

/// Reserved by the first thread that asks; nullptr when the system refuses, now and later.
inline std::byte* reserved_range() {
  static std::byte* const made = [] {
    void* const at = ::mmap(nullptr, kRange, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    std::byte* const start = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    range.store(start, std::memory_order_relaxed);
    return start;
  }();
  return made;
}

/// A block of what was left behind, with the rest of its list or slab; nullptr: nothing was.
inline void* take_left(std::size_t size) {
  const std::lock_guard lock(left_mutex);
  if (LeftList* const list = left_lists[size]) {
    left_lists[size] = list->other;
    here.freed[size] = list->next;
    return list;
  }
  LeftRest* const rest = left_rests[size];
  if (rest == nullptr) return nullptr;
  left_rests[size] = rest->other;
  here.fresh[size] = reinterpret_cast<std::byte*>(rest) + size * kUnit;
  here.end[size] = rest->end;
  return rest;
}

/// A block when the thread has none of that size: from those left behind, or a new slab.
[[gnu::noinline]] inline void* more_of(std::size_t size) {
  if (!here.is_known) notice_thread();
  if (void* const block = take_left(size)) return block;
  std::byte* const start = reserved_range();
  const std::size_t slab = start == nullptr ? 0 : slabs.fetch_add(1);
  if (start == nullptr || slab >= size_of_slab.size()) return nullptr;
  size_of_slab[slab] = static_cast<std::uint8_t>(size);
  std::byte* const first = start + slab * kSlab;
  here.fresh[size] = first + size * kUnit;
  here.end[size] = first + kSlab / (size * kUnit) * (size * kUnit);
  return first;
}

inline void* take(std::size_t bytes) {
  if (bytes <= kMaxSize) {
    const std::size_t size = bytes == 0 ? 1 : (bytes + kUnit - 1) / kUnit;
    if (Free* const block = here.freed[size]) {
      here.freed[size] = block->next;
      return block;
    }
    if (here.fresh[size] != here.end[size])
      return std::exchange(here.fresh[size], here.fresh[size] + size * kUnit);
    if (void* const block = more_of(size)) return block;
  }
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}

inline void give_back(void* block) {
  std::byte* const start = range.load(std::memory_order_relaxed);
  const auto at = static_cast<std::size_t>(static_cast<std::byte*>(block) - start);
  if (start == nullptr || at >= kRange) return std::free(block);
  if (!here.is_known) notice_thread();
  const std::size_t size = size_of_slab[at / kSlab];
  here.freed[size] = new (block) Free{here.freed[size]};
}

}  // namespace ww::pooled

// NOLINTBEGIN(misc-definitions-in-headers): one file of a program includes this.
void* operator new(std::size_t bytes) { return ww::pooled::take(bytes); }
void operator delete(void* block) noexcept { ww::pooled::give_back(block); }
void operator delete(void* block, std::size_t) noexcept { ww::pooled::give_back(block); }
// NOLINTEND(misc-definitions-in-headers)

#endif
