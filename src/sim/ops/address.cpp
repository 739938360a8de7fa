// SPDX-License-Identifier: Apache-2.0
// Addresses between state spaces. Generic and global addresses are the same; the windows of the
// others are in sim/memory/memory.h.
#include "isa/operand.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/run/unit.h"

namespace ww::sim::address_ops {
namespace {

Space space_of(const Decode& in) { return *parse_space(in.word("space")); }

// Adds the Constant, and where the local memory of the function starts.
template <bool kIsLocal>
void run_add(Warp& warp, const Op& op) {
  const auto* a = warp.source<std::uint64_t>(op.p[1]);
  const std::uint64_t add =
      static_cast<std::uint64_t>(op.as<Constant>().value) + (kIsLocal ? warp.here.local : 0);
  std::uint64_t sum[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) sum[l] = a[l] + add;
  warp.write(op.p[0], sum);
}

bool decode_cvta(Decode& in) {
  const Place offset = in.frame_offset(1);
  in.op.set(Constant{
      static_cast<std::int64_t>(offset.present() ? kLocalWindow : window_of(space_of(in)))});
  if (offset.present()) return in.runs(run_add<true>, {in.result(0), offset});
  return in.runs(run_add<false>, {in.result(0), in.source(1)});
}

bool decode_cvta_to(Decode& in) {
  in.op.set(Constant{-static_cast<std::int64_t>(window_of(space_of(in)))});
  return in.runs(run_add<false>, {in.result(0), in.source(1)});
}

bool lies_in(Warp& warp, std::uint64_t address, Space space) {
  constexpr std::uint64_t kSize = std::uint64_t{1} << 32U;
  const std::uint64_t window = window_of(space);
  if (window != 0) {
    if (address - window >= kSize) return false;
    return space != Space::Shared || shared_rank(address) == warp.cta->rank;
  }
  const Region* region = warp.unit->context.memory->find(address);
  if (space == Space::Const) return region != nullptr && region->space == Space::Const;
  return address >= kGlobalStart && (region == nullptr || region->space == Space::Global);
}

template <typename T>
void run_isspacep(Warp& warp, const Op& op) {
  const auto* a = warp.source<T>(op.p[1]);
  Mask bits = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (lies_in(warp, a[l], op.as<Space>())) bits |= lane_bit(l);
  });
  warp.set_pred(op.p[0], bits);
}

bool decode_isspacep(Decode& in) {
  in.op.set(space_of(in));
  return in.runs(in.width(1) == 4 ? run_isspacep<std::uint32_t> : run_isspacep<std::uint64_t>,
                 {in.result(0), in.source(1)});
}

constexpr OpRow kRows[] = {
    {"cvta", decode_cvta}, {"cvta.to", decode_cvta_to}, {"isspacep", decode_isspacep}};

}  // namespace

constinit const OpFamily family{"address", kRows, true};

}  // namespace ww::sim::address_ops
