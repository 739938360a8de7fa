// SPDX-License-Identifier: Apache-2.0
#include "base/pooled_new.h"

#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__)

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace ww::pooled_new_test {
namespace {

constexpr std::size_t kUnusual = pooled::kMaxSize - 3;  // hardly anything else has this size

TEST(PooledNew, BlocksKeepWhatIsWritten) {
  std::vector<void*> blocks;
  for (std::size_t bytes = 0; bytes < 3 * pooled::kMaxSize; ++bytes) {
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

}  // namespace
}  // namespace ww::pooled_new_test

#endif
