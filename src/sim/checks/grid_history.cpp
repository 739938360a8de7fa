// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/grid_history.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ww::sim {

GridHistory::GridHistory(const GlobalMemory& memory) {
  for (const auto& region : memory.regions()) {
    auto& record = records_.emplace_back(std::make_unique<GridRecord>());
    record->writer.resize(region->size);
    record->reader.resize(region->size);
    region->grids = record.get();
    regions_.push_back(region.get());
  }
}

GridHistory::~GridHistory() {
  for (Region* region : regions_) region->grids = nullptr;
}

void GridHistory::begin(std::string kernel, bool is_programmatic) {
  WW_CHECK(launches_.size() < kMaxLaunches, "{} launches", launches_.size());
  launches_.push_back({std::move(kernel), is_programmatic});
}

// All before a launch that is no dependent have ended when it starts.
GridHistory::Running GridHistory::before_wait() const {
  const std::size_t current = launches_.size();
  std::size_t first = current;
  while (first > 1 && launch(first).is_programmatic) --first;
  return {first, current - 1};
}

// The launch before has ended then; those before that one, if it has waited itself.
GridHistory::Running GridHistory::after_wait() const {
  const Running before = before_wait();
  std::size_t ended = before.last;
  while (ended > before.first && launch(ended).has_waited) --ended;
  return {before.first, ended > before.first ? ended - 1 : 0};
}

std::optional<GridHistory::Conflict> GridHistory::conflict(const GridRecord& record,
                                                           std::uint64_t at, std::uint64_t bytes,
                                                           AccessKind kind, Running running) {
  const auto runs = [&](std::uint8_t launch) {
    return launch >= running.first && launch <= running.last;
  };
  for (std::uint64_t i = at; i < at + bytes; ++i) {
    if (runs(record.writer[i])) return Conflict{record.writer[i], true};
    if (kind != AccessKind::Read && runs(record.reader[i]))
      return Conflict{record.reader[i], false};
  }
  return std::nullopt;
}

void GridHistory::note(GridRecord& record, std::uint64_t at, std::uint64_t bytes,
                       AccessKind kind) const {
  const auto current = static_cast<std::uint8_t>(launches_.size());
  auto& list = kind == AccessKind::Read ? record.reader : record.writer;
  const auto first = list.begin() + static_cast<std::ptrdiff_t>(at);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), current);
}

}  // namespace ww::sim
