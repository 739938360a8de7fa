// SPDX-License-Identifier: Apache-2.0
// `SmallVec<T, N>`: a vector of trivially copyable values that keeps up to N of them inside itself.
// Layouts are copied all the time and nearly always short; this keeps them off the heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace ww {

template <typename T, std::size_t N>
class SmallVec {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(N > 0);

 public:
  using value_type = T;
  using const_iterator = const T*;

  SmallVec() noexcept {}  // NOLINT(modernize-use-equals-default): the buffer stays uninitialised
  SmallVec(std::initializer_list<T> values) { append(values); }
  explicit SmallVec(std::span<const T> values) { append(values); }
  SmallVec(const SmallVec& other) { copy(other); }
  SmallVec(SmallVec&& other) noexcept { steal(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) copy(other);
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this != &other) steal(other);
    return *this;
  }
  ~SmallVec() {
    if (capacity_ > N) release(data_);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const_iterator begin() const { return data(); }
  [[nodiscard]] const_iterator end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] const T& front() const { return data()[0]; }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data()[size_++] = value;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (size_ + values.size() > capacity_) grow(size_ + values.size());
    std::copy_n(values.data(), values.size(), data() + size_);
    size_ += static_cast<std::uint32_t>(values.size());
  }
  void insert(std::size_t position, T value) {
    push_back(value);
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(std::size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }

  friend bool operator==(const SmallVec& a, const SmallVec& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(buffer_.data()); }  // NOLINT

  // Out of line: these are the rare paths, and inlined they mislead the compiler's warnings about
  // bounds and about freeing what is not on the heap.
  [[gnu::noinline]] static void release(T* values) { ::operator delete(values); }
  [[gnu::noinline]] void grow(std::size_t wanted) {
    const std::size_t capacity = std::max<std::size_t>(wanted, std::size_t{capacity_} * 2);
    T* bigger = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::uninitialized_copy_n(data_, size_, bigger);
    if (capacity_ > N) release(data_);
    data_ = bigger;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  // Copies all N places, used or not: a copy of fixed size is two to four instructions, one of variable
  // size a call. Every vector has room for N values.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
  void take_few(const SmallVec& other) {
    if constexpr (sizeof(T) * N <= 64)
      std::memcpy(static_cast<void*>(data_), other.data_, sizeof(T) * N);
    else
      std::copy_n(other.data_, other.size_, data_);
    size_ = other.size_;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  void copy(const SmallVec& other) {
    if (other.size_ <= N) return take_few(other);
    size_ = 0;
    append(other);
  }
  // Takes the heap block of `other`, or its few values.
  void steal(SmallVec& other) noexcept {
    if (other.capacity_ > N) {
      if (capacity_ > N) release(data_);
      data_ = std::exchange(other.data_, other.inline_data());
      capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(N));
      size_ = other.size_;
    } else {
      take_few(other);
    }
    other.size_ = 0;
  }

  T* data_ = inline_data();
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = static_cast<std::uint32_t>(N);
  alignas(T) std::array<std::byte, sizeof(T) * N> buffer_;  // NOLINT: left uninitialised on purpose
};

}  // namespace ww
