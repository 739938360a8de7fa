// SPDX-License-Identifier: Apache-2.0
// Vectors of words that are needed for a moment, by the million: their memory is used again.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "eval/value/arithmetic.h"

namespace ww::eval {

/// Keeps the memory; must outlive what is taken from it.
struct WordPool {
  struct Block {
    std::unique_ptr<Word[]> words;  // NOLINT(modernize-avoid-c-arrays): a vector would set them
    std::size_t size = 0;
  };
  std::vector<Block> free;
};

/// A vector of words with unspecified contents.
class Words {
 public:
  Words(WordPool& pool, std::size_t size) : pool_(&pool), size_(size) {
    if (!pool.free.empty()) {
      block_ = std::move(pool.free.back());
      pool.free.pop_back();
    }
    if (block_.size < size) block_ = {std::make_unique_for_overwrite<Word[]>(size), size};
  }
  Words(Words&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        block_(std::move(other.block_)),
        size_(other.size_) {}
  Words& operator=(Words&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (pool_ != nullptr) pool_->free.push_back(std::move(block_));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  Word& operator[](std::size_t i) { return block_.words[i]; }
  Word operator[](std::size_t i) const { return block_.words[i]; }
  Word* begin() { return block_.words.get(); }
  Word* end() { return begin() + size_; }
  [[nodiscard]] const Word* begin() const { return block_.words.get(); }
  [[nodiscard]] const Word* end() const { return begin() + size_; }

 private:
  WordPool* pool_;
  WordPool::Block block_;
  std::size_t size_;
};

/// Bits of a value, and which of them nothing has written.
struct Content {
  Word value = 0;
  Word undefined = 0;
  [[nodiscard]] Content part(unsigned shift, int bits) const {
    return {value >> shift & low_mask(bits), undefined >> shift & low_mask(bits)};
  }
};

/// The same for a vector of them.
struct Contents {
  Words value;
  Words undefined;
  [[nodiscard]] std::size_t size() const { return value.size(); }
  Content operator[](std::size_t i) const { return {value[i], undefined[i]}; }
  void set(std::size_t i, Content content) {
    value[i] = content.value;
    undefined[i] = content.undefined;
  }
  void add(std::size_t i, Content content, unsigned shift) {
    value[i] |= content.value << shift;
    undefined[i] |= content.undefined << shift;
  }
};

}  // namespace ww::eval
