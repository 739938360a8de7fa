// SPDX-License-Identifier: Apache-2.0
// `Expected<T, E>`: a T, or the reason E why there is none. It is std::expected with the reason on the
// heap. A reason has strings and lists, and thousands of places pass one on. As a pointer it takes
// three instructions at each; as a value it took three moves and three destructions, 3 to 13
// percent of a folder's code.
//
// The members are those of std::expected that we use, with the same meaning, and failure(), which hands
// the reason on to an Expected of another type.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace ww {

template <typename E>
struct DiscardReason {
  [[gnu::noinline]] void operator()(E* reason) const { delete reason; }
};
template <typename E>
using ReasonPtr = std::unique_ptr<E, DiscardReason<E>>;

/// The failing side of any Expected<T, E>.
template <typename E>
class [[nodiscard]] Unexpected {
 public:
  explicit Unexpected(E reason) : reason_(new E(std::move(reason))) {}
  explicit Unexpected(ReasonPtr<E> reason) : reason_(std::move(reason)) {}
  E&& error() && { return std::move(*reason_); }
  ReasonPtr<E> release() && { return std::move(reason_); }

 private:
  ReasonPtr<E> reason_;
};

template <typename T, typename E>
class [[nodiscard]] Expected {
 public:
  Expected() requires std::is_default_constructible_v<T> : value_(), has_value_(true) {}
  // NOLINTBEGIN(bugprone-forwarding-reference-overload): it does not take an Expected.
  template <typename U = T>
  requires(!std::is_same_v<std::remove_cvref_t<U>, Expected> &&
           !std::is_same_v<std::remove_cvref_t<U>, Unexpected<E>> &&
           std::is_constructible_v<T, U>) explicit(!std::is_convertible_v<U, T>) Expected(U&& value)
      : value_(std::forward<U>(value)), has_value_(true) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)
  Expected(Unexpected<E>&& why) : reason_(std::move(why).release()), has_value_(false) {}
  /// From an Expected of another type that a T is made of.
  template <typename U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U, T>) Expected(Expected<U, E>&& other)
      : has_value_(other.has_value()) {
    if (has_value_)
      std::construct_at(&value_, *std::move(other));
    else
      std::construct_at(&reason_, std::move(other).failure().release());
  }

  Expected(Expected&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, std::move(other.value_));
    else
      std::construct_at(&reason_, std::move(other.reason_));
  }
  Expected(const Expected& other) requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, other.value_);
    else
      std::construct_at(&reason_, other.reason_ ? new E(*other.reason_) : nullptr);
  }
  Expected& operator=(Expected other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~Expected() {
    if (has_value_)
      value_.~T();
    else
      reason_.~ReasonPtr<E>();
  }

  [[nodiscard]] bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }

  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

  /// The value, which is there unless we have a bug.
  T& value() & { return checked().value_; }
  const T& value() const& { return checked().value_; }
  T&& value() && { return std::move(checked().value_); }
  template <typename U>
  T value_or(U&& other) const& {
    return has_value_ ? value_ : static_cast<T>(std::forward<U>(other));
  }
  template <typename U>
  T value_or(U&& other) && {
    return has_value_ ? std::move(value_) : static_cast<T>(std::forward<U>(other));
  }

  E& error() & { return *reason_; }
  const E& error() const& { return *reason_; }
  E&& error() && { return std::move(*reason_); }
  Unexpected<E> failure() && { return Unexpected<E>(std::move(reason_)); }
  Unexpected<E> failure() const& { return Unexpected<E>(*reason_); }

  friend bool operator==(const Expected& result, const T& value) {
    return result.has_value_ && result.value_ == value;
  }

 private:
  Expected& checked() {
    WW_CHECK(has_value_, "a value is taken of a failure");
    return *this;
  }
  const Expected& checked() const { return const_cast<Expected*>(this)->checked(); }

  union {
    T value_;
    ReasonPtr<E> reason_;
  };
  bool has_value_;
};

/// Nothing, or the reason why it was not done.
template <typename E>
class [[nodiscard]] Expected<void, E> {
 public:
  Expected() = default;
  Expected(Unexpected<E>&& why) : reason_(std::move(why).release()), has_value_(false) {}
  Expected(Expected&& other) noexcept = default;
  Expected(const Expected& other)
      : reason_(other.reason_ ? new E(*other.reason_) : nullptr), has_value_(other.has_value_) {}
  Expected& operator=(Expected other) noexcept {
    reason_ = std::move(other.reason_);
    has_value_ = other.has_value_;
    return *this;
  }
  ~Expected() = default;

  [[nodiscard]] bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }
  void operator*() const {}
  void value() const { WW_CHECK(has_value_, "success is taken of a failure"); }

  E& error() & { return *reason_; }
  const E& error() const& { return *reason_; }
  E&& error() && { return std::move(*reason_); }
  Unexpected<E> failure() && { return Unexpected<E>(std::move(reason_)); }
  Unexpected<E> failure() const& { return Unexpected<E>(*reason_); }

 private:
  ReasonPtr<E> reason_;
  bool has_value_ = true;
};

}  // namespace ww
