// SPDX-License-Identifier: Apache-2.0
// `StableVec<T>`: a vector whose elements stay where they are when more are added, so that a
// reference to one may be held while others come into being. It keeps them in chunks of about four
// kilobytes; an access costs one load more than a vector's. `std::deque` gives the same promise, but
// libstdc++'s has chunks of 512 bytes: of elements of 104 bytes, adding one took 191 instructions
// rather than 87, and reading one at random 23 rather than 19.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace ww {

/// References and pointers to elements live until the vector is destroyed or assigned to; moving it
/// takes them along. Elements are never removed.
template <typename T>
class StableVec {
 public:
  StableVec() = default;
  StableVec(const StableVec& other)
      : StableVec() {  // so that what is there is freed if a copy throws
    chunks_.reserve(other.chunks_.size());
    for (const T& element : other) put(element);
  }
  StableVec(StableVec&& other) noexcept
      : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  StableVec& operator=(StableVec other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~StableVec() {
    std::size_t left = size_;
    for (T* const chunk : chunks_) {
      const std::size_t count = std::min(left, kChunk);
      std::destroy_n(chunk, count);
      std::allocator<T>().deallocate(chunk, kChunk);
      left -= count;
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  [[nodiscard]] const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  [[nodiscard]] T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }

  T& push_back(const T& element) { return put(element); }
  T& push_back(T&& element) { return put(std::move(element)); }

  template <typename Owner, typename Element>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator() = default;
    Iterator(Owner& owner, std::size_t at) : owner_(&owner), at_(at) {}
    Element& operator*() const { return (*owner_)[at_]; }
    Element* operator->() const { return &(*owner_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*owner_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Owner* owner_ = nullptr;
    std::size_t at_ = 0;
  };
  [[nodiscard]] auto begin() const { return Iterator<const StableVec, const T>(*this, 0); }
  [[nodiscard]] auto end() const { return Iterator<const StableVec, const T>(*this, size_); }
  [[nodiscard]] auto begin() { return Iterator<StableVec, T>(*this, 0); }
  [[nodiscard]] auto end() { return Iterator<StableVec, T>(*this, size_); }

 private:
  template <typename Element>
  T& put(Element&& element) {
    const std::size_t at = size_ % kChunk;
    if (size_ / kChunk == chunks_.size()) add_chunk();
    T* const made = std::construct_at(chunks_[size_ / kChunk] + at, std::forward<Element>(element));
    ++size_;
    return *made;
  }
  [[gnu::noinline]] void add_chunk() { chunks_.push_back(std::allocator<T>().allocate(kChunk)); }

  static constexpr std::size_t kChunk = std::bit_ceil(4096 / sizeof(T));
  std::vector<T*> chunks_;  // each with room for kChunk elements, so that none of them moves
  std::size_t size_ = 0;
};

}  // namespace ww
