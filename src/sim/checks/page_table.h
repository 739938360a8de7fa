// SPDX-License-Identifier: Apache-2.0
// Pages by number; caches the last ones used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ww::sim {

template <typename Page>
class PageTable {
 public:
  /// The page of that number, made if there is none.
  Page& at(std::uint64_t number) {
    const Recent& recent = recent_[number % recent_.size()];
    return number == recent.number ? *recent.page : open(number);
  }
  /// nullptr: there is none.
  Page* find(std::uint64_t number) {
    Recent& recent = recent_[number % recent_.size()];
    if (number == recent.number) return recent.page;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    recent = {number, found->second.get()};
    return recent.page;
  }
  [[nodiscard]] auto begin() const { return pages_.begin(); }
  [[nodiscard]] auto end() const { return pages_.end(); }
  /// How many there are, spare ones included.
  [[nodiscard]] std::size_t size() const { return pages_.size() + spare_.size(); }
  /// Leaves no page. They are kept as they are, to be used again.
  void recycle() {
    for (auto& [number, page] : pages_) spare_.push_back(std::move(page));
    pages_.clear();
    recent_.fill({});
  }

  /// Those to be used again are made anew.
  void drop_spare() { spare_.clear(); }

 private:
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };

  // Apart, so that what is left is short enough for loops.
  [[gnu::noinline]] Page& open(std::uint64_t number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr && !spare_.empty()) {
      page = std::move(spare_.back());
      spare_.pop_back();
    }
    if (page == nullptr) page = std::make_unique<Page>();
    recent_[number % recent_.size()] = {number, page.get()};
    return *page;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> spare_;
  std::array<Recent, 256> recent_{};  // by number
};

}  // namespace ww::sim
