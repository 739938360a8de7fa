// SPDX-License-Identifier: Apache-2.0
#include "lower/cost.h"

#include <algorithm>
#include <array>
#include <bit>

#include "layout/canonical.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

constexpr std::size_t kBanks = 32;
constexpr std::int64_t kBankBytes = 4;

// Different words wanted by one group of lanes: 128 bytes, or more where lanes begin inside words.
class Group {
 public:
  void want(std::int64_t byte, std::int64_t bytes) {
    for (std::int64_t word = byte / kBankBytes; word <= (byte + bytes - 1) / kBankBytes; ++word) {
      const auto end = words_.begin() + static_cast<std::ptrdiff_t>(count_);
      if (count_ < words_.size() && std::find(words_.begin(), end, word) == end)
        words_[count_++] = word;
    }
  }
  [[nodiscard]] Wavefronts turns() const {
    std::array<std::int64_t, kBanks> in_bank{};
    for (std::size_t i = 0; i < count_; ++i) ++in_bank[as_index(words_[i]) % kBanks];
    const auto all = static_cast<std::int64_t>((count_ + kBanks - 1) / kBanks);
    return {*std::ranges::max_element(in_bank), all};
  }

 private:
  std::array<std::int64_t, 64> words_{};
  std::size_t count_ = 0;
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
