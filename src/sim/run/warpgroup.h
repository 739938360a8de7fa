// SPDX-License-Identifier: Apache-2.0
// Warpgroups: four warps, the first of which has a number that is a multiple of 4, multiply
// matrices together with wgmma. The four wait for each other at wgmma.mma_async; the rest is done as
// late as the rules allow. When the first of them waits for the group of a product, its operands are
// read, for all four; each gets its rows of D when it waits itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/checks/origins.h"
#include "sim/lanes.h"

namespace ww::sim {

class Cta;
class Unit;
class Warp;

constexpr unsigned kGroupWarps = 4;

/// The operands of a product as they were read; of ops/wgmma_product.cpp.
struct ProductOperands;

/// A warp's part of a wgmma.mma_async.
struct ProductPart {
  Warp* warp = nullptr;     // null: it did not come
  std::uint32_t frame = 0;  // where the registers of its function start
  Mask lanes = 0;
  std::uint32_t group = 0;  // groups that it had closed before
  bool is_waited = false;
  std::uint64_t a = 0, b = 0;  // descriptors
  bool adds = true;            // D is added to
};

/// A wgmma.mma_async that some warp has not waited for.
struct PendingProduct {
  std::uint32_t op = 0;
  std::uint32_t number = 0;  // from 1, in the order of issue
  std::array<ProductPart, kGroupWarps> parts{};
  std::shared_ptr<const ProductOperands> operands{};  // null: not read yet
  /// Where in shared memory the 16-byte chunks of A and B are, in the order of reading them.
  std::vector<std::uint32_t> a, b;
};

/// A setmaxnreg that some warps of the group have executed, and others have not.
struct RegisterRequest {
  std::uint32_t op = 0;
  unsigned first = 0;  // the first of them, by its number in the CTA
  Mask members = 0;    // they, by their numbers in the group
};

/// Of the product that is being issued, where undefined bytes of operands in shared memory come from, by
/// line; none: there are none.
struct OpenOperands {
  std::uint32_t op = 0;
  std::uint32_t number = 0;
  std::vector<OriginId> a, b;
};

struct Warpgroup {
  std::vector<PendingProduct> products;  // in the order of issue
  std::vector<RegisterRequest> requests;
  std::uint32_t issued = 0;
  std::array<ProductPart, kGroupWarps> arrived{};  // at the wgmma.mma_async where they wait
  OpenOperands open;

  /// How much memory it takes, about: all products have as many chunks as the last, or so.
  [[nodiscard]] std::uint64_t bytes() const {
    const std::uint64_t waiting = requests.size() * sizeof(RegisterRequest);
    if (products.empty()) return waiting;
    const PendingProduct& last = products.back();
    return waiting + products.size() * (sizeof last + 4 * (last.a.size() + last.b.size()));
  }
};

/// The warps of a warp's group, null where the CTA has none.
std::array<Warp*, kGroupWarps> group_of(const Warp& warp);
Warpgroup& warpgroup_of(Warp& warp);

/// Whether a warp waits for the others of its group at that op.
bool waits_in_group(const Warp& warp, std::uint32_t op);
/// Lets a warp that waits for others that cannot come go on without them. Whether it waited.
bool break_group(Warp& warp);
/// "warp 3, which has ended": those of the group that are not at the running op, and where they
/// are. Empty: all are there.
std::string missing_warps(const Warp& warp);
/// The kernel has ended: reports products that no warp waits for.
void report_unwaited_products(Unit& unit);

}  // namespace ww::sim
