// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm_async/shared_factor.h"

#include "base/join.h"
#include "lower/as_index.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kCoreLines = 8;  // lines, or values of k, that lie as the width says

bool is_offset(std::int64_t chunks) { return chunks >= 0 && chunks <= kMaxOffset; }

bool has_offsets(const FactorDescriptor& d) {
  return is_offset(d.start) && is_offset(d.leading) && is_offset(d.stride);
}

}  // namespace

std::uint32_t FactorDescriptor::low_fields() const {
  return static_cast<std::uint32_t>(leading) << 16U;
}

std::uint32_t FactorDescriptor::high_fields() const {
  const std::uint32_t code = width == 8 ? 1 : width == 4 ? 2 : width == 2 ? 3 : 0;
  return static_cast<std::uint32_t>(stride) | code << 30U;
}

std::string FactorDescriptor::text() const {
  std::string out = is_mn_major ? "MN-major" : "K-major";
  out += width == 1 ? std::string(", no swizzle")
                    : fmt::format(", swizzle of {} bytes", width * kChunkBytes);
  const bool has_leading = width == 1 || is_mn_major;
  if (has_leading && leading != 0) out += fmt::format(", leading offset {}", leading * kChunkBytes);
  if (stride != 0) out += fmt::format(", stride offset {}", stride * kChunkBytes);
  return out;
}

Match<SharedFactor> SharedFactor::read(const Call& call, const OperandPlaces& side,
                                       std::string_view name) {
  SharedFactor out(side, name);
  const std::string& buffer = call.f()[side.buffer].name;
  const layout::Swizzle& own = side.swizzle;
  if (!side.strides.empty())
    return decline("layout", "{} in `{}` has extents known at run time only", name, buffer);
  if (side.replicas.size() > 1)
    return decline("replica", "`{}` holds each element of {} at several places", buffer, name);
  if (!own.is_none()) {
    const bool is_known = own.inner() && own.atom() == 3 && own.len() <= 3 &&
                          (side.bits << own.per_element()) == kChunkBytes * 8;
    if (!is_known)
      return decline("swizzle",
                     "`{}` has a swizzle ({}, {}, {}) of elements of {} bits; a descriptor has 32, "
                     "64 and 128 bytes in units of 16, `mma_shared_layout` makes them",
                     buffer, own.per_element(), own.len(), own.atom(), side.bits);
    out.width_ = std::int64_t{1} << own.len();
  }
  const std::int64_t pattern =
      out.width_ == 1 ? kChunkBytes : kCoreLines * out.width_ * kChunkBytes;
  if (side.align_bytes % pattern != 0)
    return decline(
        "alignment",
        "`{}` begins at a multiple of {} bytes, expected {}: the swizzle goes by address", buffer,
        side.align_bytes, pattern);
  if (side.base_divisor * side.bits % (kChunkBytes * 8) != 0)
    return decline(
        "alignment",
        "{} begins at a multiple of {} bits in `{}`, expected one of 128: wgmma counts 16 bytes",
        name, side.base_divisor * side.bits, buffer);
  return out;
}

template <typename At>
std::optional<std::int64_t> SharedFactor::chunk(const At& at) const {
  const std::int64_t each = kChunkBytes * 8 / side_->bits;
  const std::int64_t first = side_->linear[at(0)];
  if (first % each != 0) return std::nullopt;
  for (std::int64_t j = 1; j < each; ++j)
    if (side_->linear[at(j)] != first + j) return std::nullopt;
  return first / each;
}

std::optional<FactorDescriptor> SharedFactor::k_major(const FactorPart& part) const {
  const std::int64_t each = kChunkBytes * 8 / side_->bits;
  const auto at = [&](std::int64_t line, std::int64_t c) {
    return chunk([&](std::int64_t j) { return part.at(line, c * each + j); });
  };
  const auto first = at(0, 0);
  if (!first) return std::nullopt;
  FactorDescriptor out{
      .width = width_, .start = *first, .leading = 1, .stride = kCoreLines * width_};
  if (part.lines > kCoreLines) out.stride = at(kCoreLines, 0).value_or(-1) - *first;
  if (width_ == 1) out.leading = at(0, 1).value_or(-1) - *first;
  if (!has_offsets(out)) return std::nullopt;
  const std::int64_t across = width_ == 1 ? out.leading : 1;
  for (std::int64_t line = 0; line < part.lines; ++line)
    for (std::int64_t c = 0; c * each < part.depth; ++c)
      if (at(line, c) !=
          *first + line % kCoreLines * width_ + line / kCoreLines * out.stride + c * across)
        return std::nullopt;
  return out;
}

std::optional<FactorDescriptor> SharedFactor::mn_major(const FactorPart& part) const {
  const std::int64_t each = kChunkBytes * 8 / side_->bits;
  const auto at = [&](std::int64_t c, std::int64_t k) {
    return chunk([&](std::int64_t j) { return part.at(c * each + j, k); });
  };
  const auto first = at(0, 0);
  const std::int64_t chunks = part.lines / each;
  if (!first || part.lines % each != 0) return std::nullopt;
  FactorDescriptor out{.is_mn_major = true,
                       .width = width_,
                       .start = *first,
                       .leading = kCoreLines * width_,
                       .stride = kCoreLines * width_};
  // Without a swizzle the two change their roles.
  std::int64_t& along = width_ == 1 ? out.stride : out.leading;
  std::int64_t& deep = width_ == 1 ? out.leading : out.stride;
  if (chunks > width_) along = at(width_, 0).value_or(-1) - *first;
  if (part.depth > kCoreLines) deep = at(0, kCoreLines).value_or(-1) - *first;
  if (!has_offsets(out)) return std::nullopt;
  for (std::int64_t k = 0; k < part.depth; ++k)
    for (std::int64_t c = 0; c < chunks; ++c)
      if (at(c, k) != *first + c % width_ + c / width_ * along + k % kCoreLines * width_ +
                          k / kCoreLines * deep)
        return std::nullopt;
  return out;
}

std::string SharedFactor::seen(const FactorPart& part) const {
  std::vector<std::string> out;
  const auto add = [&](std::int64_t line, std::int64_t k) {
    if (line < part.lines && k < part.depth)
      out.push_back(fmt::format("({}, {}) at byte {}", line, k,
                                side_->linear[part.at(line, k)] * side_->bits / 8));
  };
  const std::int64_t each = kChunkBytes * 8 / side_->bits;
  add(0, 0);
  add(0, 1);
  add(0, each);
  add(1, 0);
  add(kCoreLines, 0);
  return join(out, ", ");
}

Match<FactorDescriptor> SharedFactor::find(const FactorPart& part, bool may_turn) const {
  if (const auto found = k_major(part)) return *found;
  const auto turned = mn_major(part);
  if (turned && may_turn) return *turned;
  if (turned)
    return decline("major",
                   "{} lies along {}, elements of {} bits; wgmma takes that of 16 bits only, "
                   "expected 16 bytes along K",
                   name_, name_ == "A" ? "M" : "N", side_->bits);
  const std::string swizzle = width_ == 1
                                  ? std::string("without a swizzle")
                                  : fmt::format("with a swizzle of {} bytes", width_ * kChunkBytes);
  return decline(
      "descriptor",
      "no matrix descriptor gives {} lines of {} elements of {}, {}: before it (line, k) {}",
      part.lines, part.depth, name_, swizzle, seen(part));
}

}  // namespace ww::lower
