// SPDX-License-Identifier: Apache-2.0
// Vectors of words that are needed for a moment, by the million: their memory is used again.
#pragma once

#include <utility>
#include <vector>

#include "eval/value/arithmetic.h"

namespace ww::eval {

/// Keeps the memory; must outlive what is taken from it.
struct WordPool {
  std::vector<std::vector<Word>> free;
};

/// A vector of words with unspecified contents.
class Words {
 public:
  Words(WordPool& pool, std::size_t size) : pool_(&pool) {
    if (!pool.free.empty()) {
      data_ = std::move(pool.free.back());
      pool.free.pop_back();
    }
    data_.resize(size);
  }
  Words(Words&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), data_(std::move(other.data_)) {}
  Words& operator=(Words&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    return *this;
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (pool_ != nullptr) pool_->free.push_back(std::move(data_));
  }

  [[nodiscard]] std::size_t size() const { return data_.size(); }
  Word& operator[](std::size_t i) { return data_[i]; }
  Word operator[](std::size_t i) const { return data_[i]; }
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  [[nodiscard]] auto begin() const { return data_.begin(); }
  [[nodiscard]] auto end() const { return data_.end(); }

 private:
  WordPool* pool_;
  std::vector<Word> data_;
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
