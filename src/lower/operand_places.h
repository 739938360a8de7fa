// SPDX-License-Identifier: Apache-2.0
// An operand of a primitive as places, element by element: the form in which variants see it, so
// that two spellings of one layout look the same to them.
//
// The elements of the region are numbered row-major over its extents. Element x stands at
//
//     swizzle(base + linear[x] + Σ stride·coef[x])          in elements of its storage
//
// where base is an expression (a runtime tile offset, for instance) of which a divisor is known,
// and the strides are extents known at launch only. In registers this is a place in those of
// certain threads of the unit; in tensor memory it is a place in a lane, so that the 32-bit column
// is the place times the bits of an element over 32.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "layout/layout.h"
#include "lower/call.h"

namespace ww::lower {

/// A stride known at launch only, and how often each element takes it.
struct RuntimeStride {
  ir::ExprId stride;
  std::int64_t divisor = 1;
  std::vector<std::int64_t> coef;
};

/// From one copy of a replicated element to another.
struct Shift {
  std::int64_t thread = 0;
  std::int64_t place = 0;
  std::int64_t lane = 0;
};

/// A dimension in which a region may leave its buffer (`fill_value=`, `clip=`): element x is inside
/// where coordinate[x] < room and start + coordinate[x] >= 0.
struct Edge {
  ir::ExprId room;   // from the region's start to the end of the buffer; none: it ends inside
  ir::ExprId start;  // of the region; none: it does not begin below 0
  std::int64_t divisor = 1;        // of room
  std::int64_t start_divisor = 1;  // of start
  std::vector<std::int64_t> coordinate = {};
};

struct OperandPlaces {
  ir::BufferId buffer;
  ir::Scope scope = ir::Scope::Global;
  num::DType dtype = num::DType::Float32;
  int bits = 32;
  std::int64_t align_bytes = 1;   // of the storage
  ir::ExprId base;                // none: 0
  std::int64_t base_divisor = 0;  // 0: no base
  std::vector<std::int64_t> linear;
  std::vector<RuntimeStride> strides;
  layout::Swizzle swizzle;
  std::vector<Shift> replicas{{}};  // at least one, which is no shift

  // Registers: element x is held by threads owner[x] + replica + spread of the unit.
  std::vector<std::int64_t> owner;
  std::vector<std::int64_t> spread{0};

  // Tensor memory: the lane of element x.
  std::vector<std::int64_t> lane;

  // Dimensions in which the region is not known to stay inside.
  std::vector<Edge> edges;

  [[nodiscard]] ir::ExprId base_expr(CodeWriter& code) const {
    return base.valid() ? base : code.n(0);
  }
  [[nodiscard]] bool is_register() const { return scope == ir::Scope::Local; }
  [[nodiscard]] bool is_tensor() const { return scope == ir::Scope::Tmem; }
  [[nodiscard]] std::size_t size() const { return linear.size(); }
  /// Is the swizzle of a sum the sum of the base and the swizzle of the rest?
  [[nodiscard]] bool base_commutes() const {
    return swizzle.is_none() || base_divisor == 0 || base_divisor % swizzle.period() == 0;
  }
  /// The place of an element up to the base: after the swizzle where that can be said.
  [[nodiscard]] std::int64_t place(std::size_t x) const {
    return base_commutes() ? swizzle(linear[x]) : linear[x];
  }
  /// Elements that lie one after the other wherever the base is: within a swizzle's units.
  [[nodiscard]] std::int64_t longest_run() const {
    return base_commutes() ? std::int64_t{1} << 40 : std::int64_t{1} << swizzle.per_element();
  }
  /// By which elements are put in the order of their places: runtime strides count most.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rank(std::size_t x) const {
    std::int64_t far = 0;
    for (const RuntimeStride& stride : strides) far = far * 4096 + stride.coef[x];
    return {far, linear[x]};
  }
  /// Is element y the next one after x in storage?
  [[nodiscard]] bool follows(std::size_t x, std::size_t y) const {
    const bool is_next = swizzle.is_none() ? linear[y] == linear[x] + 1 : follows_swizzled(x, y);
    if (!is_next || strides.empty()) return is_next;
    return std::ranges::all_of(strides,
                               [&](const RuntimeStride& s) { return s.coef[x] == s.coef[y]; });
  }
  /// Does element x stand at a multiple of that many bytes?
  [[nodiscard]] bool is_aligned(std::size_t x, std::int64_t bytes) const;
  /// The same for all elements at once: the base, the storage and the strides.
  [[nodiscard]] bool base_is_aligned(std::int64_t bytes) const;

 private:
  /// But for the strides.
  [[nodiscard]] bool follows_swizzled(std::size_t x, std::size_t y) const;
};

/// Every thread of the unit that holds an element of an operand in registers: visit(x, thread,
/// slot), the elements in order.
template <typename Visit>
void for_each_holder(const OperandPlaces& side, std::int64_t threads, Visit&& visit) {
  for (std::size_t x = 0; x < side.size(); ++x)
    for (const Shift& replica : side.replicas)
      for (const std::int64_t spread : side.spread) {
        const std::int64_t u = side.owner[x] + replica.thread + spread;
        if (u < threads) visit(x, u, side.linear[x] + replica.place);
      }
}

/// The slot in which thread u of the unit has element x of an operand in registers; nothing when it
/// has none.
inline std::optional<std::int64_t> slot_of(const OperandPlaces& side, std::size_t x,
                                           std::int64_t u) {
  for (const Shift& replica : side.replicas) {
    const std::int64_t shift = u - side.owner[x] - replica.thread;
    if (std::ranges::binary_search(side.spread, shift)) return side.linear[x] + replica.place;
  }
  return std::nullopt;
}

/// Has each thread the same elements of two operands in registers of the same numbers?
inline bool held_alike(const OperandPlaces& one, const OperandPlaces& other) {
  const auto is_same = [](const Shift& a, const Shift& b) {
    return a.thread == b.thread && a.place == b.place;
  };
  return std::ranges::equal(one.replicas, other.replicas, is_same) && one.spread == other.spread &&
         one.linear == other.linear && one.owner == other.owner;
}

inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 20;

/// An operand of the call by its number, or why it cannot be enumerated: extents known at run time
/// only, more than `kMaxElements`, a runtime start that crosses digits of a layout, thread axes
/// beyond the unit.
Match<OperandPlaces> operand_places(const Call& call, std::size_t operand);

/// The same without a look at what was asked before.
Match<OperandPlaces> enumerated_places(const Call& call, std::size_t operand);

/// The same of registers; declines memory.
Match<OperandPlaces> register_places(const Call& call, std::size_t operand);

/// Declines an operand that holds each element at several places (`replica`).
Match<void> check_one_place(const Call& call, const OperandPlaces& side);
/// Declines an operand that takes too many registers, in all threads together, to go through them.
Match<void> check_cells(const Call& call, const OperandPlaces& registers, std::size_t operand);

/// 32-bit registers of a thread that the elements at these slots take.
std::int64_t words_of(std::vector<std::int64_t> slots, int bits);

/// Does the region provably begin, or end, inside its buffer, in dimension d?
bool begins_inside(CodeWriter& code, const ir::Region& region, std::size_t d);

bool ends_inside(CodeWriter& code, const ir::Region& region, std::size_t d);

/// Elements of a flat view that holds all places of an operand.
std::int64_t view_elements(const Call& call, const OperandPlaces& side);

/// Such a view, under the buffer's name.
ir::BufferId flat_view(const Call& call, CodeWriter& code, const OperandPlaces& side);

/// Bits from the start of its storage to a buffer whose elements are so wide; nothing when that is
/// known at run time only.
std::optional<std::int64_t> constant_offset(const ir::Function& function, const ir::Buffer& buffer,
                                            int element_bits);

/// First bit of each element from the start of the storage, for constant places; nothing otherwise.
std::optional<std::vector<std::int64_t>> bit_places(const Call& call, const OperandPlaces& side);

/// Has each element of two operands provably the same place, wherever that is known at run time only?
bool are_same_places(const ir::Function& f, const OperandPlaces& a, const OperandPlaces& b);

/// Bytes to which the storage of a buffer is aligned, offsets of views included.
std::int64_t storage_alignment(const Context& context, ir::BufferId buffer);

// Addresses of tensor memory, whose lanes and columns count from where a buffer was allocated.

/// The lane of tensor memory from which the lanes of an operand count: where its address is made of
/// a base and a row.
std::int64_t tensor_base_lane(const Call& call, const OperandPlaces& tensor);
/// The address of a 32-bit column of an operand in tensor memory: `lane` and `column` from where
/// `base` is, which has the buffer's address, and from a run-time start of the region on.
ir::ExprId tensor_address(CodeWriter& code, const OperandPlaces& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column);

}  // namespace ww::lower
