// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/sampled_values.h"

#include <algorithm>

#include "base/wide.h"
#include "lower/proof/scalars.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kFar = 1 << 24;  // ends of ranges beyond this are no numbers to try

// Which of few values a sample takes: the ends, then each of the others, beginning with another for
// each variable (`place`), so that they are not in step. As many samples as values have them all.
std::int64_t turn_of(std::int64_t sample, std::int64_t count, std::int64_t place) {
  if (sample == 0) return 0;
  if (sample == 1) return count - 1;
  if (sample < count) return 1 + (sample - 2 + place) % (count - 2);
  return (sample + place * (sample / count)) % count;
}

}  // namespace

SampledValues::SampledValues(int sample, FewValues& few)
    : sample_(sample),
      few_(few),
      random_(0x9E37'79B9'7F4A'7C15U * static_cast<std::uint64_t>(sample + 1)) {}

std::int64_t SampledValues::within(const std::string& key, ir::Range range, std::int64_t divisor) {
  const auto [found, is_new] = chosen_.try_emplace(key, 0);
  if (is_new) found->second = choose(key, range, divisor);
  return found->second;
}

std::int64_t SampledValues::of_type(ir::Type type, const std::string& key, ir::Range range) {
  const bool is_address = type == ir::Type::of(num::DType::Uint32) && range.max > kFar;
  if (!type.is_float() && !is_address) return within(key, range);
  const auto [found, is_new] = chosen_.try_emplace(key, 0);
  if (is_new)
    found->second = is_address
                        ? address(key)
                        : scalars::any_float(type.dtype, key, static_cast<std::uint64_t>(sample_));
  return found->second;
}

// An address that was loaded, of tensor memory for instance: two of them must not be alike in every
// sample, as they would be at the ends of their range.
std::int64_t SampledValues::address(const std::string& key) const {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U + static_cast<std::uint64_t>(sample_);
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return static_cast<std::int64_t>(hash >> 40U & 0x1FFU);
}

// The ends of the range first, then small numbers, which keep small regions inside their buffers,
// then any; now and then one at its end among others. Of few values each in turn, not all variables
// in step.
std::int64_t SampledValues::choose(const std::string& key, ir::Range range, std::int64_t divisor) {
  constexpr std::int64_t kLarge = 200, kFew = 8;
  const std::int64_t least = std::max(range.min, -kLarge);
  const std::int64_t most =
      std::min(range.max, std::max(least, std::int64_t{0}) + kLarge * divisor);
  const std::int64_t end = range.max < kFar ? range.max : most;
  std::int64_t value = sample_ == 0 ? least : end;
  const std::int64_t first = -floor_div(-least, divisor) * divisor;
  const std::int64_t count = floor_div(end - first, divisor) + 1;
  if (count > 1 && count <= kFew) {
    const std::int64_t turn = turn_of(sample_, count, std::ssize(few_));
    few_.try_emplace(key, static_cast<std::size_t>(count))
        .first->second[static_cast<std::size_t>(turn)] = true;
    return first + turn * divisor;
  }
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  const bool takes_end = sample_ % 4 == 3 && random_ >> 63U == 1;
  if (sample_ > 1 && !takes_end) {
    const std::int64_t from = std::max(least, std::int64_t{0});
    const std::int64_t span = std::min<std::int64_t>(most - from, divisor << (sample_ % 8)) + 1;
    value =
        from + static_cast<std::int64_t>(
                   (random_ >> 33U) % static_cast<std::uint64_t>(std::max<std::int64_t>(1, span)));
    if (sample_ % 4 == 2) value = std::min(most, from + (sample_ / 4 + 1) * divisor);  // one by one
    // A little below 0, where regions may begin that are filled up.
    if (sample_ % 8 == 5 && least < 0) value = std::max(least, -(sample_ / 8 + 1) * divisor);
  }
  value = floor_div(value, divisor) * divisor;
  return value < least ? value + divisor : value;
}

std::int64_t SampledValues::room_behind(std::int64_t extent, bool may_leave,
                                        std::size_t salt) const {
  // Beyond the region's end; the rest of the cases are before it.
  const std::int64_t further[] = {0,       1,          extent / 2 + 1, -1, -(extent / 2) - 1,
                                  -extent, -extent - 1};
  const std::size_t cases = may_leave ? std::size(further) : 3;
  const auto sample = static_cast<std::size_t>(sample_);
  return further[(sample + salt * (sample / cases + 1)) % cases];
}

void SampledValues::note_outcome(const std::string& condition, const PerUnit& outcome) {
  std::vector<bool>& seen = few_.try_emplace(condition, 2).first->second;
  for (std::size_t t = 0; t < outcome.distinct(); ++t) seen[outcome[t] != 0 ? 1 : 0] = true;
}

}  // namespace ww::lower
