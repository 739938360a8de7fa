// SPDX-License-Identifier: Apache-2.0
#include "eval/memory/storage.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace ww::eval {

static_assert(std::endian::native == std::endian::little);

Storage::Storage(std::size_t bytes, std::size_t granule, bool is_defined)
    : bytes_(bytes, 0),
      defined_(bytes, is_defined ? 0xff : 0),
      granule_shift_(std::countr_zero(granule) + 3) {
  WW_CHECK(std::has_single_bit(granule), "a granule of {} bytes", granule);
}

void Storage::forget(std::size_t begin, std::size_t count) {
  std::fill_n(defined_.begin() + static_cast<std::ptrdiff_t>(begin), count, std::uint8_t{0});
}

void Storage::make_page(std::size_t page) {
  if (pages_.empty()) pages_.resize(granule_of(size_bits()) / kPage + 1);
  pages_[page] = std::make_unique<Page>();
  ++made_pages_;
}

void Storage::mark(std::vector<std::uint16_t>& marks, std::int64_t bit, int bits, int change) {
  if (marks.empty()) marks.resize(granule_of(size_bits()) + 1);
  for (std::size_t g = granule_of(bit); g <= granule_of(bit + bits - 1); ++g)
    marks[g] = static_cast<std::uint16_t>(marks[g] + change);
}

bool Storage::is_marked(const std::vector<std::uint16_t>& marks, std::int64_t bit, int bits) const {
  for (std::size_t g = granule_of(bit); g <= granule_of(bit + bits - 1); ++g)
    if (marks[g] != 0) return true;
  return false;
}

bool RaceCheck::is_excused(const Access& first, const Access& second) const {
  if (first.is_atomic && second.is_atomic) return true;
  if (first.cta == second.cta) return false;
  if (first.cta / cluster_ == second.cta / cluster_ &&
      (first.time <= clock_->cluster_floor ||
       order_->is_before(first.cta % cluster_, first.agent, first.time, second.agent)))
    return true;
  return ignore_other_;
}

void RaceCheck::read_one(History& history, const Access& by,
                         std::optional<Conflict>& conflict) const {
  if (!is_before(history.write, by)) conflict = Conflict{history.write, true};
  Access& read = history.read;
  if (read.agent.kind != AgentKind::None && read.cta != by.cta) {
    if (read.cta / cluster_ != by.cta / cluster_)
      history.other_cta_read = true;
    else if (!is_before(read, by))
      history.other_read = read;
    read = by;
  } else if (is_before(read, by)) {
    read = by;
  } else {
    read = Access{.agent = merge(read.agent, by.agent),
                  .is_atomic = read.is_atomic && by.is_atomic,
                  .cta = by.cta,
                  .time = std::max(read.time, by.time),
                  .step = by.step};
  }
}

namespace {

// Whether both are made by one statement of threads of one warp, at once.
bool is_together(const Access& first, const Access& second) {
  return second.agent.kind == AgentKind::Thread && first.cta == second.cta &&
         first.time == second.time && first.step == second.step &&
         (first.agent.kind == AgentKind::Thread || first.agent.kind == AgentKind::Warp) &&
         warp_of(first.agent) == warp_of(second.agent);
}

}  // namespace

void RaceCheck::write_one(History& history, const Access& by,
                          std::optional<Conflict>& conflict) const {
  const bool together = is_together(history.write, by);
  if (!together && !is_before(history.write, by)) conflict = Conflict{history.write, true};
  // A primitive reads all it needs before it writes.
  const bool is_own_read = history.read.agent == by.agent && history.read.time == by.time &&
                           history.read.step == by.step && history.read.cta == by.cta;
  if (!is_own_read && !is_before(history.read, by)) conflict = Conflict{history.read, false};
  if (history.other_cta_read && !ignore_other_) conflict = Conflict{history.read, false};
  if (!is_before(history.other_read, by)) conflict = Conflict{history.other_read, false};
  const Agent writer = together ? merge(history.write.agent, by.agent) : by.agent;
  history = {};
  history.write = by;
  history.write.agent = writer;
}

std::optional<Conflict> RaceCheck::read(Storage& storage, std::int64_t bit, int bits,
                                        const Access& by) const {
  std::optional<Conflict> conflict;
  const std::size_t last = storage.granule_of(bit + bits - 1);
  for (std::size_t g = storage.granule_of(bit); g <= last; ++g)
    read_one(storage.history(g), by, conflict);
  return conflict;
}

std::optional<Conflict> RaceCheck::write(Storage& storage, std::int64_t bit, int bits,
                                         const Access& by) const {
  std::optional<Conflict> conflict;
  const std::size_t last = storage.granule_of(bit + bits - 1);
  for (std::size_t g = storage.granule_of(bit); g <= last; ++g)
    write_one(storage.history(g), by, conflict);
  return conflict;
}

}  // namespace ww::eval
