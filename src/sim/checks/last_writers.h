// SPDX-License-Identifier: Apache-2.0
// Who wrote each word of global memory last, where units can synchronise through it: for the report
// of a thread that waits for a value there.
#pragma once

#include <array>
#include <cstdint>

#include "sim/checks/findings.h"
#include "sim/checks/page_table.h"
#include "sim/lanes.h"

namespace ww::sim {

class LastWriters {
 public:
  /// The lanes have written these bytes, or changed them by an atomic.
  void note(const Party& by, const std::uint64_t* address, unsigned bytes) {
    const Writer writer{by.op, static_cast<std::uint32_t>(by.block), by.warp};
    for_each_lane(by.lanes, [&](unsigned l) {
      for (std::uint64_t word = address[l] / 4; word <= (address[l] + bytes - 1) / 4; ++word)
        pages_.at(word / kPageWords)[word % kPageWords] = writer;
    });
  }
  /// Who wrote this word last, without lanes; an op of kNoOp: nobody.
  [[nodiscard]] Party of(std::uint64_t address) {
    const Page* const page = pages_.find(address / 4 / kPageWords);
    if (page == nullptr) return {};
    const Writer& writer = (*page)[address / 4 % kPageWords];
    return {writer.op, writer.block, writer.warp, 0};
  }
  /// How much memory it takes, about.
  [[nodiscard]] std::uint64_t bytes() const { return pages_.size() * sizeof(Page); }

 private:
  static constexpr unsigned kPageWords = 256;
  struct Writer {
    std::uint32_t op = kNoOp, block = 0, warp = 0;
  };
  using Page = std::array<Writer, kPageWords>;

  PageTable<Page> pages_;
};

}  // namespace ww::sim
