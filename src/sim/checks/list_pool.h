// SPDX-License-Identifier: Apache-2.0
// Many short lists in one vector. A list is the place of its first node plus one, or 0 where it is
// empty; every node has the rest of its list in `next`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ww::sim {

template <typename Node>
class ListPool {
 public:
  [[nodiscard]] Node& operator[](std::uint32_t list) { return nodes_[list - 1]; }
  [[nodiscard]] const Node& operator[](std::uint32_t list) const { return nodes_[list - 1]; }

  /// Puts a node in front of the list.
  void add(std::uint32_t& list, const Node& node) {
    std::uint32_t at = free_;
    if (at != 0) {
      free_ = (*this)[at].next;
      (*this)[at] = node;
    } else {
      nodes_.push_back(node);
      at = static_cast<std::uint32_t>(nodes_.size());
    }
    (*this)[at].next = std::exchange(list, at);
  }
  /// Empties the list; its nodes can be used again.
  void drop(std::uint32_t& list) {
    while (list != 0) {
      const std::uint32_t next = std::exchange((*this)[list].next, free_);
      free_ = std::exchange(list, next);
    }
  }
  /// A list of new nodes like these, in the opposite order.
  [[nodiscard]] std::uint32_t copy(std::uint32_t list) {
    std::uint32_t copied = 0;
    for (std::uint32_t i = list; i != 0; i = (*this)[i].next) {
      Node node = (*this)[i];
      node.next = copied;
      nodes_.push_back(node);
      copied = static_cast<std::uint32_t>(nodes_.size());
    }
    return copied;
  }
  void clear() {
    nodes_.clear();
    free_ = 0;
  }
  [[nodiscard]] std::uint64_t bytes() const { return nodes_.size() * sizeof(Node); }

 private:
  std::vector<Node> nodes_;
  std::uint32_t free_ = 0;  // a list
};

}  // namespace ww::sim
