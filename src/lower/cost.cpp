// SPDX-License-Identifier: Apache-2.0
#include "lower/cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "layout/canonical.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kBanks = 32;
constexpr std::int64_t kBankBytes = 4;

// Different words wanted by one group of lanes: 128 bytes, or more where lanes begin inside words.
class Group {
 public:
  Group() { first_.fill(kNone); }
  void want(std::int64_t byte, std::int64_t bytes) {
    for (std::int64_t word = byte / kBankBytes; word <= (byte + bytes - 1) / kBankBytes; ++word)
      if (count_ < kMaxWords) want_word(word);
  }
  [[nodiscard]] Wavefronts turns() const {
    return {*std::ranges::max_element(in_bank_), (count_ + kBanks - 1) / kBanks};
  }

 private:
  static constexpr std::uint8_t kMaxWords = 64, kNone = 255;

  void want_word(std::int64_t word) {
    const std::size_t bank = as_index(word) % as_index(kBanks);
    for (std::uint8_t i = first_[bank]; i != kNone; i = next_[i])
      if (words_[i] == word) return;
    words_[count_] = word;
    next_[count_] = std::exchange(first_[bank], count_);
    ++count_;
    ++in_bank_[bank];
  }

  std::array<std::int64_t, kMaxWords> words_;  // NOLINT: the first `count_` of them
  std::array<std::uint8_t, kMaxWords> next_;   // NOLINT: in the same bank, or kNone
  std::array<std::uint8_t, kBanks> first_;     // NOLINT: by bank; filled in the constructor
  std::array<std::uint8_t, kBanks> in_bank_{};
  std::uint8_t count_ = 0;
};

}  // namespace

Wavefronts AccessLog::count(const Placing& place) const {
  Wavefronts sum;
  for (const WarpAccess& access : accesses_) {
    const auto lanes =
        as_index(std::max<std::int64_t>(1, std::min<std::int64_t>(32, 128 / access.bytes)));
    for (std::size_t first = 0; first < access.linear.size(); first += lanes) {
      Group group;
      const std::size_t end = std::min(first + lanes, access.linear.size());
      for (std::size_t l = first; l < end; ++l)
        if (access.linear[l] != WarpAccess::kNoAddress)
          group.want(place(access.linear[l]) * side_.bits / 8, access.bytes);
      const Wavefronts turns = group.turns();
      sum.needed += turns.needed;
      sum.ideal += turns.ideal;
    }
  }
  return sum;
}

Wavefronts AccessLog::count() const {
  return count([&](std::int64_t linear) { return side_.swizzle(linear); });
}

// XOR swizzles in units of 16 bytes, over 32, 64 and 128 bytes.
std::string AccessLog::swizzle_remedy(std::int64_t needed) const {
  if (!side_.swizzle.is_none() || side_.bits > 64) return {};
  const int unit = std::countr_zero(static_cast<unsigned>(128 / side_.bits));
  for (const int len : {1, 2, 3}) {
    const auto swizzle = layout::Swizzle::make(unit, len, 3);
    if (!swizzle) continue;
    const Wavefronts turns = count([&](std::int64_t linear) { return (*swizzle)(linear); });
    if (turns.conflicts() == 0)
      return fmt::format(
          "a {}-byte swizzle, SwizzleLayout({}, {}, 3), needs {} instead of {} turns", 16 << len,
          unit, len, turns.needed, needed);
  }
  return {};
}

// One more unit of 16 bytes at the end of each row.
std::string AccessLog::padding_remedy(const Call& call, std::int64_t needed) const {
  const ir::Buffer& buffer = call.f()[side_.buffer];
  const auto whole = ir::layout_of(call.f(), buffer);
  const auto shape = ir::const_shape(call.f(), buffer);
  if (!whole || !shape || shape->size() < 2 || !layout::is_trivial(*whole)) return {};
  const std::int64_t row = shape->back();
  const std::int64_t pad = 128 / side_.bits;
  const Wavefronts turns = count([&](std::int64_t linear) { return linear + linear / row * pad; });
  if (turns.conflicts() != 0) return {};
  return fmt::format("rows of {} elements instead of {} need {} instead of {} turns", row + pad,
                     row, turns.needed, needed);
}

std::string AccessLog::remedy(const Call& call, const Wavefronts& now) const {
  if (now.conflicts() == 0) return {};
  if (std::string found = swizzle_remedy(now.needed); !found.empty()) return found;
  return padding_remedy(call, now.needed);
}

void add_costs(PlanReport& report, const Call& call, const AccessLog& log) {
  if (log.empty()) return;
  const Wavefronts turns = log.count();
  if (!report.wavefronts) report.wavefronts = Wavefronts{};
  report.wavefronts->needed += turns.needed;
  report.wavefronts->ideal += turns.ideal;
  if (report.remedy.empty()) report.remedy = log.remedy(call, turns);
}

}  // namespace ww::lower
