// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/predicate.h"

#include "ir/settings.h"

namespace ww::lower {
namespace {

constexpr int kBits = 8;  // of a bool

using Extents = std::vector<std::int64_t>;

Try<Extents> extents_in(ProofValues& values, const ir::Region& region) {
  Extents out;
  for (const ir::RangeExpr& range : region.ranges)
    out.push_back(WW_TRY(values.uniform(range.extent)));
  return out;
}

}  // namespace

Try<std::optional<PredicateTile>> PredicateTile::make(const Call& call, ProofValues& values,
                                                      std::int64_t first_thread, int sample) {
  const ir::Region& region = *ir::copy_settings(call.tile).predicate_tile;
  const auto names = WW_TRY(names_of(call, values, region, kBits, first_thread));
  if (!names) return std::nullopt;
  PredicateTile out(ir::storage_of(call.f(), region.buffer), names->granules);
  const auto copied = WW_TRY(extents_in(values, call.region(0)));
  const auto bools = WW_TRY(extents_in(values, region));
  const Stretch decides(copied, bools);
  std::int64_t count = 1;
  for (const std::int64_t extent : copied) count *= extent;
  for (std::int64_t x = 0; x < count; ++x) out.decides_.push_back(static_cast<Name>(decides(x)));
  out.sample_ = sample;
  return out;
}

bool PredicateTile::holds(Name name) const {
  if (sample_ < 2) return sample_ == 0;
  const auto number = static_cast<std::uint64_t>(names_.known_as(name));
  std::uint64_t hash = (number + 1) * 0x9E37'79B9'7F4A'7C15U + static_cast<std::uint64_t>(sample_);
  hash = (hash ^ hash >> 30U) * 0xBF58'476D'1CE4'E5B9U;
  return (hash >> 40U & 1U) != 0;
}

Try<bool> PredicateTile::read(std::size_t thread, std::int64_t bit) const {
  const Name name = names_.at(names_.row_of(thread), granule_at(bit, kBits));
  if (name < 0) return wrong("byte {} is read, outside the predicate", bit / 8);
  return holds(name);
}

Try<std::vector<bool>> PredicateTile::left_out(int element_bits, int granule) const {
  const auto group = static_cast<std::size_t>(std::max(1, granule / element_bits));
  const auto parts = static_cast<std::size_t>(std::max(1, element_bits / granule));
  std::vector<bool> out(decides_.size() * parts / group + 1);
  for (std::size_t x = 0; x < decides_.size(); ++x) {
    const bool is_left_out = !holds(decides_[x]);
    const std::size_t first = x / group * parts;
    if (x % group != 0 && out[first] != is_left_out)
      return unknown("elements of a granule are copied and others are not");
    for (std::size_t i = 0; i < parts; ++i) out[first + i] = is_left_out;
  }
  return out;
}

}  // namespace ww::lower
