// SPDX-License-Identifier: Apache-2.0
#include "soak/folds/tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <functional>
#include <vector>

#include "soak/frame.h"

namespace ww::test {
namespace {

/// Part of an extent, and how far apart its elements are in registers, threads or memory.
struct Factor {
  std::int64_t extent = 1, stride = 0;
  std::string axis = {};  // empty: registers, or memory
};

std::string notation_of(const std::vector<Factor>& factors, const std::string& replicas) {
  std::vector<std::string> extents, strides;
  for (const Factor& each : factors) {
    extents.push_back(std::to_string(each.extent));
    strides.push_back(each.axis.empty() ? std::to_string(each.stride)
                                        : fmt::format("{} @ {}", each.stride, each.axis));
  }
  return fmt::format("S[({},) : ({},)]{}", fmt::join(extents, ", "), fmt::join(strides, ", "),
                     replicas);
}

/// Spreads the elements of a tile over the threads of a unit: each extent is some threads times some
/// registers, one inside the other.
class Spreader {
 public:
  Spreader(Tape& tape, const FoldUnit& unit) : tape_(tape), unit_(unit) {}

  void spread(FoldTile& tile) {
    for (const std::int64_t extent : tile.shape) cut(extent);
    number_threads();
    number_registers();
    tile.slots = slots_;
    tile.is_whole = used_ == 1 || done_ == unit_.threads;
    tile.layout = test::tile(notation_of(factors_, replicas_));
  }

 private:
  void cut(std::int64_t extent) {
    std::int64_t threads = 1;
    const std::int64_t most = unit_.threads == 1 ? 0 : tape_.below(8);
    for (std::int64_t i = 0; i < most; ++i)
      if (extent % (threads * 2) == 0 && used_ * threads * 2 <= unit_.threads) threads *= 2;
    used_ *= threads;
    const bool is_blocked = tape_.one_in(2);
    const Factor of_threads{.extent = threads, .axis = unit_.axis};
    const Factor of_registers{.extent = extent / threads};
    if (threads == 1) return factors_.push_back(of_registers);
    factors_.push_back(is_blocked ? of_threads : of_registers);
    factors_.push_back(is_blocked ? of_registers : of_threads);
  }

  // Sometimes with a gap: half of the threads in it hold nothing.
  void number_threads() {
    std::int64_t gap_before = tape_.one_in(4) ? tape_.below(4) : -1;
    for (const std::size_t i : choose_order(tape_, factors_.size())) {
      Factor& each = factors_[i];
      if (each.axis.empty()) continue;
      if (gap_before-- == 0 && threads_ * 2 * (used_ / done_) <= unit_.threads) threads_ *= 2;
      each.stride = threads_;
      threads_ *= each.extent;
      done_ *= each.extent;
    }
    if (used_ == 1) return;
    const std::int64_t copies = unit_.threads / threads_;
    if (copies < 2 || copies * threads_ != unit_.threads || !tape_.one_in(3)) return;
    replicas_ = fmt::format(" + R[{} : {} @ {}]", copies, threads_, unit_.axis);
    done_ *= copies;
  }

  void number_registers() {
    for (const std::size_t i : choose_order(tape_, factors_.size()))
      if (factors_[i].axis.empty()) {
        factors_[i].stride = slots_;
        slots_ *= factors_[i].extent;
      }
  }

  Tape& tape_;
  const FoldUnit& unit_;
  std::vector<Factor> factors_;
  std::string replicas_;
  std::int64_t used_ = 1;                // threads that differ in elements
  std::int64_t threads_ = 1, done_ = 1;  // numbered so far, with gaps and without
  std::int64_t slots_ = 1;
};

Extents of_all_units(const FoldFrame& frame, const Extents& shape) {
  Extents out = shape;
  if (frame.unit.units > 1) out.insert(out.begin(), frame.unit.units);
  return out;
}

struct SharedLayout {
  std::string text;
  std::int64_t elements = 0;
};
// Rows of shared memory in any order, padded, or swizzled.
SharedLayout layout_in_shared(Tape& tape, const FoldFrame& frame, const FoldTile& tile) {
  const Extents shape = of_all_units(frame, tile.shape);
  std::vector<Factor> factors;
  for (const std::int64_t extent : shape) factors.push_back({.extent = extent});
  const std::int64_t kind = tape.below(5);
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = shape.size() - 1 - i;
  if (kind == 2) order = choose_order(tape, shape.size());
  const std::int64_t pad = kind == 1 ? tape.pick<std::int64_t>({8, 1, 4, 16}) : 0;
  std::int64_t size = 1;
  for (const std::size_t i : order) {
    factors[i].stride = size;
    size = size * shape[i] + (i == order[0] ? pad : 0);
  }
  if (kind < 1) return {{}, size};
  const std::string notation = notation_of(factors, "");
  const int unit = std::countr_zero(static_cast<std::uint64_t>(128 / bits_of(tile.dtype)));
  const auto digits = static_cast<int>(1 + tape.below(3));
  const bool is_swizzled = kind == 3 && size % (std::int64_t{1} << (unit + digits)) == 0;
  return {is_swizzled ? swizzled(unit, digits, 3, notation) : test::tile(notation), size};
}

FoldUnit choose_unit(Tape& tape, const std::string& target, std::int64_t& threads) {
  const std::int64_t which = tape.below(8);
  if (which == 3 || which == 4)
    return {.prefix = "", .name = "thread", .number = "tid", .threads = 1, .units = threads};
  if (which == 5) {
    threads = threads < 128 ? 128 : threads / 128 * 128;
    const std::int64_t units = threads / 128;
    return {.prefix = "wg.",
            .name = "warpgroup",
            .axis = "tid_in_wg",
            .number = units > 1 ? "wg" : "",
            .threads = 128,
            .units = units};
  }
  if (which == 1 || which == 6 || (which == 7 && number_of_target(target) < 90)) {
    if (tape.one_in(8)) threads = 48;
    return {.prefix = "cta.", .name = "cta", .axis = "tx", .number = "", .threads = threads};
  }
  if (which == 7)
    return {.prefix = "cluster.",
            .name = "cluster",
            .axis = "tx",
            .number = "",
            .threads = threads,
            .ctas = tape.pick<std::int64_t>({2, 4, 3})};
  return {.number = threads > 32 ? "warp" : "", .units = threads / 32};
}

}  // namespace

FoldFrame choose_fold_frame(Tape& tape) {
  FoldFrame out;
  out.target = choose_target(tape);
  out.threads = tape.pick<std::int64_t>({128, 64, 32, 96, 256});
  out.unit = choose_unit(tape, out.target, out.threads);
  out.is_branch = out.unit.units > 1 && tape.one_in(5);
  return out;
}

FoldTile choose_fold_tile(Tape& tape, const FoldFrame& frame, const std::string& name,
                          const std::string& dtype, const Extents& shape, std::int64_t& room) {
  constexpr std::int64_t kMaxSlots = 64;
  FoldTile out{.name = name, .dtype = dtype, .shape = shape};
  const bool is_cluster = frame.unit.ctas > 1;
  out.memory = tape.pick(
      std::vector<std::string>{"shared", is_cluster ? "shared" : "local", "global", "shared"});
  if (out.is_register()) Spreader(tape, frame.unit).spread(out);
  if (out.slots > kMaxSlots)
    out = {.name = name, .dtype = dtype, .memory = "shared", .shape = shape};
  if (out.memory != "shared") return out;
  const SharedLayout layout = layout_in_shared(tape, frame, out);
  const std::int64_t bytes = (layout.elements * bits_of(dtype) + 127) / 128 * 16;
  if (bytes > room) {
    out.memory = "global";
    return out;
  }
  room -= bytes;
  out.layout = layout.text;
  return out;
}

std::string unit_region(const FoldFrame& frame, const FoldTile& tile) {
  const std::string all = box(Extents(tile.shape.size()), tile.shape);
  if (tile.is_register() || frame.unit.units == 1) return tile.name + all;
  return fmt::format("{}[{}, {}", tile.name, frame.unit.number, all.substr(1));
}

void begin_fold_tile(KernelText& text, const FoldFrame& frame, const FoldTile& tile,
                     bool is_written) {
  const Extents shape = of_all_units(frame, tile.shape);
  text.set_dtype(tile.dtype);
  FoldTile input = tile;
  input.memory = "global";
  if (tile.memory == "global") {
    text.param(tile.name, shape);
    if (!is_written) return;
  } else {
    const std::string layout = tile.layout.empty() ? "" : ", layout=" + tile.layout;
    text.line(fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"{}\"{})", tile.name,
                          tuple(tile.is_register() ? tile.shape : shape), tile.dtype, tile.memory,
                          layout));
  }
  input.name += "_in";
  text.param(input.name, shape);
  if (tile.is_register())
    text.line(
        fmt::format("Tx.{}copy({}, {})", frame.unit.prefix, tile.name, unit_region(frame, input)));
  else if (tile.memory == "global" && frame.unit.ctas > 1)
    text.line(fmt::format("Tx.cta.copy({}, {}, predicate=cta == 0)", tile.name, input.name));
  else
    text.for_elements(shape, tile.name, input.name);
}

void end_fold_tile(KernelText& text, const FoldFrame& frame, const FoldTile& tile) {
  if (tile.memory == "global") return;
  const Extents shape = of_all_units(frame, tile.shape);
  text.set_dtype(tile.dtype);
  if (!tile.is_register()) return text.dump(tile.name, shared(shape));
  if (tile.is_whole) return text.dump(tile.name, registers(tile.shape, "", tile.slots));
  FoldTile output = tile;
  output.memory = "global";
  output.name += "_out";
  text.param(output.name, shape);
  text.line(
      fmt::format("Tx.{}copy({}, {})", frame.unit.prefix, unit_region(frame, output), tile.name));
}

}  // namespace ww::test
