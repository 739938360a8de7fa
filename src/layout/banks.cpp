// SPDX-License-Identifier: Apache-2.0
#include "layout/banks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <vector>

#include "base/wide.h"
#include "layout/image.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kWarpLanes = 32;
constexpr std::int64_t kLineBytes = kBanks * kBankBytes;
constexpr std::int64_t kMaxLaneBytes = 16;

struct GroupCost {
  std::int64_t wavefronts = 0;
  std::int64_t ideal = 0;
};

// Lanes served together: each bank delivers one line's word per wavefront, to any number of lanes.
GroupCost group_cost(std::span<const LaneAccess> lanes) {
  std::array<std::set<std::int64_t>, kBanks> lines;
  for (const LaneAccess& lane : lanes)
    for (std::int64_t byte = lane.byte; byte < lane.byte + lane.bytes;
         byte += kBankBytes - byte % kBankBytes)
      lines[static_cast<std::size_t>(byte % kLineBytes / kBankBytes)].insert(byte / kLineBytes);
  GroupCost cost;
  std::int64_t words = 0;
  for (const auto& bank : lines) {
    cost.wavefronts = std::max(cost.wavefronts, static_cast<std::int64_t>(bank.size()));
    words += static_cast<std::int64_t>(bank.size());
  }
  cost.ideal = (words + kBanks - 1) / kBanks;
  return cost;
}

Result<void> check_lane(const LaneAccess& lane) {
  const bool power = lane.bytes >= 1 && lane.bytes <= kMaxLaneBytes &&
                     std::has_single_bit(static_cast<std::uint64_t>(lane.bytes));
  if (!power)
    return fail(DiagKind::BadArgument, "a lane accesses {} bytes: expected 1, 2, 4, 8 or 16",
                lane.bytes);
  if (lane.byte < 0 || lane.byte % lane.bytes != 0)
    return fail(DiagKind::BadArgument, "byte address {} is not aligned to the {} bytes accessed",
                lane.byte, lane.bytes);
  return {};
}

// Addresses of one vector must be consecutive.
Result<LaneAccess> vector_access(std::span<const std::int64_t> addresses, int bits) {
  for (std::size_t i = 1; i < addresses.size(); ++i)
    if (addresses[i] != addresses[0] + static_cast<std::int64_t>(i))
      return fail(DiagKind::BadArgument,
                  "a vector of {} elements is not contiguous: addresses {} then {}",
                  addresses.size(), addresses[i - 1], addresses[i]);
  const std::int64_t total_bits = static_cast<std::int64_t>(addresses.size()) * bits;
  const Wide first_bit = static_cast<Wide>(addresses[0]) * bits;
  if (total_bits % 8 != 0 || first_bit % 8 != 0)
    return fail(DiagKind::BadArgument,
                "{} elements of {} bits at address {} are not a whole number of bytes",
                addresses.size(), bits, addresses[0]);
  if (first_bit / 8 > kMaxPlace)
    return fail(DiagKind::Overflow, "address {} of {}-bit elements leaves ±2^60 bytes",
                addresses[0], bits);
  return LaneAccess{static_cast<std::int64_t>(first_bit / 8), total_bits / 8};
}

}  // namespace

BankPlace bank_place(std::int64_t address, int bits) {
  const auto byte = static_cast<std::int64_t>(ww::floor_div(static_cast<Wide>(address) * bits, 8));
  const std::int64_t line = ww::floor_div(byte, kLineBytes);
  return {byte, line, static_cast<int>((byte - line * kLineBytes) / kBankBytes)};
}

Result<ConflictReport> warp_access_cost(std::span<const LaneAccess> lanes) {
  if (lanes.empty() || lanes.size() > kWarpLanes)
    return fail(DiagKind::BadArgument, "an access by {} lanes: expected 1 to {}", lanes.size(),
                kWarpLanes);
  std::int64_t widest = kBankBytes;
  for (const LaneAccess& lane : lanes) {
    WW_TRY_VOID(check_lane(lane));
    widest = std::max(widest, lane.bytes);
  }
  const auto together = static_cast<std::size_t>(kWarpLanes * kBankBytes / widest);
  ConflictReport report;
  for (std::size_t first = 0; first < lanes.size(); first += together) {
    const GroupCost cost =
        group_cost(lanes.subspan(first, std::min(together, lanes.size() - first)));
    report.wavefronts += cost.wavefronts;
    report.ideal += cost.ideal;
    report.worst_bank = std::max(report.worst_bank, cost.wavefronts);
  }
  return report;
}

Result<ConflictReport> access_cost(const Layout& shared, const Layout& access, std::int64_t lanes,
                                   std::int64_t vec, int bits) {
  constexpr std::int64_t kMaxLaneBits = kMaxLaneBytes * 8;
  if (lanes < 1 || lanes > kWarpLanes || vec < 1 || vec > kMaxLaneBits || bits < 1 ||
      vec * bits > kMaxLaneBits)
    return fail(
        DiagKind::BadArgument,
        "{} lanes of {} elements of {} bits: expected 1 to {} lanes and at most {} bytes a lane",
        lanes, vec, bits, kWarpLanes, kMaxLaneBytes);
  const Image where = WW_TRY(enumerate(shared));
  const Image which = WW_TRY(enumerate(access));
  if (shared.copies() != 1 || access.copies() != 1)
    return fail(DiagKind::BadArgument, "bank conflicts are counted for layouts without replicas");
  if (which.axes.size() > 1)
    return fail(DiagKind::BadAxis, "an access names elements on one axis, `{}` uses {}",
                to_text(access), which.axes.size());
  if (which.size % (lanes * vec) != 0)
    return fail(DiagKind::Indivisible, "the access names {} elements, no multiple of {} lanes · {}",
                which.size, lanes, vec);
  const std::vector<std::int64_t> zeros(static_cast<std::size_t>(std::max(where.size, which.size)),
                                        0);
  const auto addresses =
      where.on(axes::m()).empty() ? std::span<const std::int64_t>(zeros) : where.on(axes::m());
  const auto elements = which.axes.empty() ? std::span<const std::int64_t>(zeros)
                                           : std::span<const std::int64_t>(which.values[0]);
  ConflictReport total;
  std::vector<LaneAccess> pass;
  for (std::int64_t i = 0; i < which.size; i += vec) {
    std::vector<std::int64_t> vector;
    for (std::int64_t v = i; v < i + vec; ++v) {
      const std::int64_t element = elements[static_cast<std::size_t>(v)];
      if (element < 0 || element >= where.size)
        return fail(DiagKind::OutOfBounds, "the access names element {} of {}", element,
                    where.size);
      vector.push_back(addresses[static_cast<std::size_t>(element)]);
    }
    pass.push_back(WW_TRY(vector_access(vector, bits)));
    if (static_cast<std::int64_t>(pass.size()) < lanes) continue;
    const ConflictReport one = WW_TRY(warp_access_cost(pass));
    total.wavefronts += one.wavefronts;
    total.ideal += one.ideal;
    total.worst_bank = std::max(total.worst_bank, one.worst_bank);
    pass.clear();
  }
  return total;
}

}  // namespace ww::layout
