// SPDX-License-Identifier: Apache-2.0
#include "base/pooled_new.h"

#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__)

#include <algorithm>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

namespace ww::pooled_new_test {
namespace {

constexpr std::size_t kUnusual = pooled::kMaxSmall - 3;  // hardly anything else has this size

TEST(PooledNew, BlocksKeepWhatIsWritten) {
  std::vector<void*> blocks;
  for (std::size_t bytes = 0; bytes < 3 * pooled::kMaxSmall; ++bytes) {
    blocks.push_back(::operator new(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % pooled::kUnit, 0U) << bytes;
    std::memset(blocks.back(), static_cast<int>(bytes % 251), bytes);
  }
  for (std::size_t bytes = 0; bytes < blocks.size(); ++bytes) {
    const auto* first = static_cast<const unsigned char*>(blocks[bytes]);
    EXPECT_TRUE(std::all_of(first, first + bytes, [&](unsigned char c) {
      return c == bytes % 251;
    })) << bytes;
    if (bytes % 2 == 0)
      ::operator delete(blocks[bytes]);
    else
      ::operator delete(blocks[bytes], bytes);
  }
}

// A block holds what was asked for, wastes little, and no smaller class would do.
TEST(PooledNew, ClassesFitClosely) {
  for (std::size_t size = 1; size < pooled::kClasses; ++size) {
    const std::size_t bytes = pooled::block_bytes(size);
    EXPECT_EQ(pooled::class_of(bytes), size);
    EXPECT_EQ(bytes % pooled::kUnit, 0U);
    if (size == 1) continue;
    const std::size_t smaller = pooled::block_bytes(size - 1);
    EXPECT_EQ(pooled::class_of(smaller + 1), size);
    EXPECT_LE(bytes - smaller, std::max(pooled::kUnit, bytes / 5)) << size;
  }
}

// Blocks of each class, next to each other and of several slabs each, and of malloc's beyond the last.
TEST(PooledNew, LargeBlocksKeepWhatIsWritten) {
  struct Block {
    unsigned char* first;
    std::size_t bytes;
  };
  std::vector<Block> blocks;
  for (std::size_t size = pooled::kSmallClasses; size < pooled::kClasses; ++size)
    for (const std::size_t bytes : {pooled::block_bytes(size), pooled::block_bytes(size) + 1})
      for (int twice = 0; twice < 2; ++twice) {
        blocks.push_back({static_cast<unsigned char*>(::operator new(bytes)), bytes});
        std::memset(blocks.back().first, static_cast<int>(blocks.size() % 251), bytes);
      }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [first, bytes] = blocks[i];
    EXPECT_EQ(std::count(first, first + bytes, (i + 1) % 251), static_cast<std::ptrdiff_t>(bytes))
        << bytes;
    ::operator delete(first);
  }
}

TEST(PooledNew, FreedBlocksAreTakenAgain) {
  void* const one = ::operator new(kUnusual);
  ::operator delete(one, kUnusual);
  void* const other = ::operator new(kUnusual + 1);  // of the same class
  EXPECT_EQ(one, other);
  ::operator delete(other);
}

// More blocks than a slab has, freed by another thread than the one that took them.
TEST(PooledNew, EndedThreadsLeaveTheirBlocks) {
  std::vector<void*> blocks(3 * pooled::kSlab / kUnusual);
  std::thread([&] {
    for (void*& block : blocks) block = ::operator new(kUnusual);
  }).join();
  std::thread([&] {
    for (void* const block : blocks) ::operator delete(block);
  }).join();
  std::vector<void*> again(blocks.size());
  std::size_t found = 0;
  std::thread([&] {
    for (void*& block : again) block = ::operator new(kUnusual);
  }).join();
  for (void* const block : again) {
    found += static_cast<std::size_t>(std::ranges::count(blocks, block));
    ::operator delete(block);
  }
  EXPECT_GT(found, blocks.size() / 2);
  std::ranges::sort(again);
  EXPECT_EQ(std::ranges::adjacent_find(again), again.end());
}

// Threads one after the other, each with a few blocks, share a slab and a list: nothing is lost, and
// nothing is given out twice.
TEST(PooledNew, ThreadsInTurnShareWhatWasLeft) {
  constexpr std::size_t kSize = pooled::kMaxSmall - 19;  // of another class than above
  constexpr std::size_t kThreads = 200, kBlocks = 3;
  const std::size_t before = pooled::slabs;
  std::vector<void*> kept;
  for (std::size_t t = 0; t < kThreads; ++t)
    std::thread([&] {
      std::vector<void*> blocks(kBlocks);
      for (void*& block : blocks) block = ::operator new(kSize);
      kept.push_back(blocks.front());
      for (std::size_t i = 1; i < kBlocks; ++i) ::operator delete(blocks[i]);
    }).join();
  std::ranges::sort(kept);
  EXPECT_EQ(std::ranges::adjacent_find(kept), kept.end());
  // A slab has 8 of them; some more for whatever else threads need.
  EXPECT_LE(pooled::slabs - before, kThreads / (pooled::kSlab / pooled::kMaxSmall) + 20);
  for (void* const block : kept) ::operator delete(block);
}

// One thread takes blocks and another frees them, as long as both live. The second keeps two lists and
// passes on the rest, which the first takes again.
TEST(PooledNew, BlocksFreedByAnotherThreadComeBack) {
  constexpr std::size_t kRounds = 200, kBlocks = 1000;
  for (const std::size_t bytes : {std::size_t{48}, kUnusual - 48, std::size_t{100'000}}) {
    const std::size_t size = pooled::class_of(bytes);
    std::vector<void*> blocks(kBlocks);
    std::barrier turn(2);
    const std::size_t before = pooled::slabs;
    std::thread frees([&] {
      for (std::size_t round = 0; round < kRounds; ++round) {
        turn.arrive_and_wait();
        for (void* const block : blocks) ::operator delete(block);
        turn.arrive_and_wait();
      }
    });
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (void*& block : blocks) block = ::operator new(bytes);
      std::ranges::sort(blocks);
      ASSERT_EQ(std::ranges::adjacent_find(blocks), blocks.end());
      turn.arrive_and_wait();
      turn.arrive_and_wait();
    }
    frees.join();
    const std::size_t most = kBlocks + 4 * pooled::kFullCount[size];
    const std::size_t per_slab = pooled::kSlab / pooled::block_bytes(size);
    const std::size_t taken = per_slab == 0 ? most * (pooled::block_bytes(size) / pooled::kSlab + 1)
                                            : most / per_slab + 2;
    EXPECT_LE(pooled::slabs - before, taken + 20) << bytes;
  }
}

// A thread at the edge between two lists does not pass a list back and forth.
TEST(PooledNew, AThreadKeepsAFullListBesideTheOneInUse) {
  constexpr std::size_t kSize = pooled::kMaxSmall - 83;
  const std::size_t size = pooled::class_of(kSize);
  const std::size_t full = pooled::kFullCount[size];
  std::thread([&] {
    std::vector<void*> blocks(3 * full);
    for (void*& block : blocks) block = ::operator new(kSize);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ::operator delete(blocks[i]);
      EXPECT_EQ(pooled::passed_lists[size] != nullptr, i >= 2 * full) << i;
    }
    // The rest of the last slab comes before the full list, and that before what was passed on.
    const std::size_t rest = pooled::kSlab / kSize - blocks.size() % (pooled::kSlab / kSize);
    for (std::size_t i = 0; i < 2 * full; ++i) blocks[i] = ::operator new(kSize);
    EXPECT_NE(pooled::passed_lists[size], nullptr);
    for (std::size_t i = 0; i <= rest; ++i) blocks[2 * full + i] = ::operator new(kSize);
    EXPECT_EQ(pooled::passed_lists[size], nullptr);
    for (std::size_t i = 0; i <= 2 * full + rest; ++i) ::operator delete(blocks[i]);
  }).join();
}

// The end of a thread does not walk over what it has freed: the second block of its list is as it was.
TEST(PooledNew, EndedThreadsLeaveTheirListsWhole) {
  constexpr std::size_t kSize = pooled::kMaxSmall - 35;  // of a third class
  const std::size_t size = pooled::class_of(kSize);
  std::vector<void*> blocks(5);
  std::thread([&] {
    for (void*& block : blocks) block = ::operator new(kSize);
    for (void* const block : blocks) ::operator delete(block);
  }).join();
  ASSERT_EQ(static_cast<void*>(pooled::passed_lists[size]), blocks[4]);
  EXPECT_EQ(pooled::numbered(pooled::passed_lists[size]->next), blocks[3]);
  EXPECT_NE(pooled::passed_rests[size], nullptr);
}

}  // namespace
}  // namespace ww::pooled_new_test

#endif
