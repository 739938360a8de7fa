// SPDX-License-Identifier: Apache-2.0
// wmma: fragments loaded from memory, multiplied and stored by a warp. The manual leaves open which
// lane holds which element. Here a fragment is made of those of mma (register_matrix.h). Halves of
// A and B fill eight registers: the blocks are there several times. Programs may work on the
// elements of a fragment all alike.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/ops/families.h"
#include "sim/ops/lane_ops.h"
#include "sim/ops/memory_ops.h"
#include "sim/ops/mma.h"
#include "sim/run/meet.h"

namespace ww::sim::wmma_ops {
namespace {

// --- memory --------------------------------------------------------------------------------------

struct MemoryForm {
  RegisterMatrix matrix{};
  bool is_along_lines = false;  // elements of a line are neighbours in memory
  unsigned stride_bits = 32;    // what the stride counts
};

/// What one lane moves at a time: a register whose elements lie side by side, or one element.
struct Move {
  unsigned reg, first_bit, bytes;
};

class Mover {
 public:
  Mover(Warp& warp, const Op& op) : warp_(warp), form_(form_of<MemoryForm>(op)) {
    const Address& at = warp.program->addresses[op.address];
    use_base(warp, at, warp.exec);
    lane_addresses(warp, at, base_.data());
    space_ = at.space;
    stride_ = warp.source<std::uint32_t>(op.p[0]);
    if (warp.undefined.are_kept()) use_value(warp, op.p[0], warp.exec);
  }

  [[nodiscard]] unsigned regs() const { return form_.matrix.regs; }
  [[nodiscard]] unsigned register_bytes() const { return form_.matrix.bits == 64 ? 8 : 4; }

  template <typename Visit>
  void for_each_move(Visit&& visit) const {
    const unsigned all = 8 * register_bytes();
    const unsigned bits = form_.is_along_lines ? all : form_.matrix.bits;
    for (unsigned reg = 0; reg < regs(); ++reg)
      for (unsigned bit = 0; bit < all; bit += bits) visit(Move{reg, bit, bits / 8});
  }

  /// Calls visit(region, offset, lane) for the lanes whose addresses are good. `stored`: of a store,
  /// what it writes.
  template <typename Visit>
  void visit_lanes(const Move& move, const StoredBytes* stored, Visit&& visit) const {
    std::uint64_t address[kLanes] = {};
    for_each_lane(warp_.exec, [&](unsigned l) { address[l] = base_[l] + offset_of(move, l); });
    const bool writes = stored != nullptr;
    const AccessKind kind = writes ? AccessKind::Write : AccessKind::Read;
    visit_regions(
        warp_, address, warp_.exec, move.bytes, kind, space_, [&](Region& region, Mask group) {
          access_checks(warp_, region, address, group, move.bytes,
                        writes ? Touched::Write : Touched::Read, {}, stored);
          for_each_lane(group, [&](unsigned l) { visit(region, region.offset(address[l], l), l); });
        });
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(const Move& move, unsigned lane) const {
    const RegisterMatrix& it = form_.matrix;
    const Cell cell = it.cell(lane, move.reg, move.first_bit / it.bits);
    const std::uint64_t outer = form_.is_along_lines ? cell.line : cell.at;
    const std::uint64_t inner = form_.is_along_lines ? cell.at : cell.line;
    return (outer * stride_[lane] * form_.stride_bits + inner * it.bits) / 8;
  }

  Warp& warp_;
  const MemoryForm& form_;
  std::array<std::uint64_t, kLanes> base_{};
  Space space_{};
  const std::uint32_t* stride_ = nullptr;
};

void run_load(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Mover mover(warp, op);
  const unsigned width = mover.register_bytes();
  std::array<std::array<std::byte, 8 * kLanes>, 8> values{};
  std::array<std::array<std::uint8_t, kLanes>, 8> undefined{};
  OriginId origin = 0;  // of one of them
  mover.for_each_move([&](const Move& move) {
    mover.visit_lanes(move, nullptr, [&](Region& region, std::uint64_t from, unsigned l) {
      const unsigned at = move.first_bit / 8;
      std::memcpy(values[move.reg].data() + std::size_t{l} * width + at, region.data + from,
                  move.bytes);
      if (!warp.undefined.are_kept()) return;
      const std::uint32_t open = undefined_bits(region, from, move.bytes);
      undefined[move.reg][l] |= static_cast<std::uint8_t>(open << at);
      if (open != 0 && origin == 0)
        origin = origin_in(warp, region, from + static_cast<unsigned>(std::countr_zero(open)), l);
    });
  });
  for (unsigned r = 0; r < mover.regs(); ++r) {
    const Place place = warp.places(op)[r];
    with_bytes(width, [&]<typename T>() {
      T lanes[kLanes];
      std::memcpy(lanes, values[r].data(), sizeof lanes);
      warp.write(place, lanes);
    });
    if (warp.undefined.are_kept()) set_loaded_bytes(warp, place, undefined[r].data(), origin);
  }
}

void run_store(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  const Mover mover(warp, op);
  const unsigned width = mover.register_bytes();
  act(warp);
  mover.for_each_move([&](const Move& move) {
    const Place place = warp.places(op)[move.reg];
    const std::byte* lanes = warp.source<std::byte>(place);
    const bool tracks = warp.undefined.are_kept() && !place.is_constant();
    const std::uint8_t* undefined = tracks ? warp.undefined.of(place) : nullptr;
    const unsigned at = move.first_bit / 8;
    const auto leaves = [&](const Region& region, std::uint64_t address, unsigned l) {
      return std::memcmp(region.data + region.offset(address, l),
                         lanes + std::size_t{l} * width + at, move.bytes) == 0;
    };
    const StoredBytes stored(leaves);
    mover.visit_lanes(move, &stored, [&](Region& region, std::uint64_t to, unsigned l) {
      std::memcpy(region.data + to, lanes + std::size_t{l} * width + at, move.bytes);
      if (region.space == Space::Global) show_value(warp, place, lane_bit(l), width);
      const unsigned open = undefined == nullptr ? 0U : unsigned{undefined[l]} >> at;
      mark_bytes(region, to, move.bytes, open);
      if (open != 0)
        warp.unit->origins.stored(warp.unit_warp(), region, to, move.bytes,
                                  origin_of(warp, place, l));
    });
  });
}

// --- decoding ------------------------------------------------------------------------------------

/// The matrices of an instruction, in the orientation in which D is tall: m8n32 is m32n8 with A and
/// B, rows and columns exchanged.
struct Matrices {
  const Decode& in;
  unsigned tall, across, k;
  bool is_wide;

  explicit Matrices(const Decode& decode) : in(decode) {
    const isa::ProductShape shape = isa::product_shape(in.word("shape"));
    tall = static_cast<unsigned>(std::max(shape.m, shape.n));
    across = static_cast<unsigned>(std::min(shape.m, shape.n));
    k = static_cast<unsigned>(shape.k);
    is_wide = shape.n > shape.m;
  }
  [[nodiscard]] unsigned height() const { return std::min(kBlockRows, tall); }
  /// A factor or the sums, of the type in that slot. Single bits are words of 32.
  [[nodiscard]] RegisterMatrix factor(bool is_long, SlotName slot) const {
    const Word type = in.word(slot);
    const bool is_bits = type == "b1";
    RegisterMatrix out = in_registers(is_long ? tall : across, is_bits ? k / 32 : k,
                                      is_bits ? 32 : bits(slot), is_long ? height() : 8);
    if (type.empty() || type == "f16") out.regs = 8;
    return out;
  }
  [[nodiscard]] RegisterMatrix sums(SlotName slot) const {
    return in_registers(tall, across, bits(slot), height(), true);
  }
  [[nodiscard]] unsigned bits(SlotName slot) const {
    return static_cast<unsigned>(isa::element_bits(in.form, slot));
  }
};

bool decode_product(Decode& in) {
  const Matrices matrices(in);
  mma_ops::RegisterProduct product{.rule = rule_in(in),
                                   .a = matrices.factor(true, "atype"),
                                   .b = matrices.factor(false, "atype"),
                                   .c = matrices.sums("ctype"),
                                   .d = matrices.sums("dtype")};
  // In two steps, as the assembler has it: an H200 gives these bits, and not those of one step.
  if (product.rule.a == num::DType::Tfloat32) product.rule.step = 4;
  return mma_ops::runs_product(in, product, mma_ops::product_places(in, matrices.is_wide));
}

bool decode_memory(Decode& in) {
  const Matrices matrices(in);
  const Word matrix = in.word("matrix"), type = in.word("type");
  const bool by_rows = in.word("layout") == "row";
  const bool loads = matrix != "d", is_sum = matrix.is_one_of({"c", "d"});
  MemoryForm form;
  form.matrix =
      is_sum ? matrices.sums("type") : matrices.factor((matrix == "a") != matrices.is_wide, "type");
  form.is_along_lines = by_rows == (is_sum ? !matrices.is_wide : matrix == "a");
  form.stride_bits = type == "b1" ? 1 : form.matrix.bits;
  in.tracks_itself(loads ? run_load : run_store);
  // The leading dimension, where the text has none: that of a matrix without gaps.
  const RegisterMatrix& it = form.matrix;
  in.op.p[0] =
      in.given(2)
          ? in.source(2)
          : in.constant(form.is_along_lines ? it.length * it.bits / form.stride_bits : it.lines, 4);
  in.op.address = in.address(loads ? 1 : 0);
  in.further(loads ? in.results(0) : in.sources(1));
  in.keep(form);
  return true;
}

constexpr OpRow kRows[] = {
    {"wmma.load", decode_memory}, {"wmma.store", decode_memory}, {"wmma.mma", decode_product}};

}  // namespace

constinit const OpFamily family{"wmma", kRows};

}  // namespace ww::sim::wmma_ops
