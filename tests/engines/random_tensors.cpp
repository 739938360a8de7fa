// SPDX-License-Identifier: Apache-2.0
#include "engines/random_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ww::test {
namespace {

// A factor of the number of an element. Both sides tell its values apart by an axis and a step.
struct Digit {
  std::int64_t extent;
  bool is_lane;               // there: of TLane, otherwise of TCol
  std::int64_t there;         // step there, columns in units of one
  std::string own = {};       // axis; empty: registers
  std::int64_t own_step = 0;  // of an axis; registers are numbered later
  // Of a slice: what the buffers have, and where the slice begins in them.
  std::int64_t there_extent = 0, own_extent = 0;
  std::string there_start = "0", own_start = "0";

  [[nodiscard]] std::int64_t all_there() const { return there_extent == 0 ? extent : there_extent; }
  [[nodiscard]] std::int64_t all_own() const { return own_extent == 0 ? extent : own_extent; }
  [[nodiscard]] bool is_slice() const { return there_extent != 0; }
};

struct Unit {
  std::string scope = "wg", around = {}, warp_axis = "wid_in_wg";
  std::int64_t quarter = -1;  // of a single warp
};

constexpr std::int64_t kMaxColumns = 200;
constexpr std::int64_t kMaxWords = 48;

// A random program while it is made, and what its next copy is.
struct TensorDraft {
  explicit TensorDraft(const Choices& choices) : tape(choices) {}

  Tape tape;
  RandomTensor out;
  std::int64_t columns = 0;  // of tensor memory, as far as any copy goes
  bool is_load = true;       // of the copy
  Unit unit;

  [[nodiscard]] std::int64_t bits() const { return bits_of(out.program.dtype); }
  [[nodiscard]] std::int64_t per_column() const { return 32 / bits(); }
};

template <typename T>
void shuffle(Tape& tape, std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i + 1 < count; ++i)
    std::swap(values[static_cast<std::size_t>(i)],
              values[static_cast<std::size_t>(i + tape.below(count - i))]);
}

// Two units would store to the same cells.
void choose_unit(TensorDraft& draft) {
  draft.unit = {};
  const std::int64_t which = draft.tape.below(6);
  if (which == 4 && draft.out.program.threads == 128) {
    draft.unit = {.scope = "cta", .warp_axis = "warpid"};
  } else if (which == 5) {
    const std::int64_t warp = draft.tape.below(draft.out.program.threads / 32);
    draft.unit = {
        .scope = "warp", .around = fmt::format("if warp == {}:", warp), .quarter = warp % 4};
  } else if (draft.out.program.threads == 256 && (!draft.is_load || draft.tape.one_in(2))) {
    draft.unit.around = fmt::format("if wg == {}:", draft.tape.below(2));
  }
}

std::string any_address(TensorDraft& draft, std::int64_t columns) {
  const std::int64_t first = draft.tape.one_in(3) ? draft.tape.below(8) : 0;
  draft.columns = std::max(draft.columns, first + columns);
  return base_plus(first);
}

// --- by constructors ---

std::pair<std::string, std::int64_t> slab_shape(TensorDraft& draft) {
  return draft.tape.pick(std::vector<std::pair<std::string, std::int64_t>>{
      {"16x64b", 2}, {"16x128b", 4}, {"16x256b", 8}});
}

// The constructor has elements of 16 and 32 bits, and of 8 as we have it.
Operand fragment_of(const TensorDraft& draft, const std::string& shape, std::int64_t rows,
                    std::int64_t columns, const std::string& region) {
  const std::string as = draft.bits() == 32 ? "float32" : draft.bits() == 16 ? "float16" : "uint8";
  return fragment(shape, rows, columns, as, region);
}

// All columns, or a few of them that begin at other columns there.
TensorCopy sliced(TensorDraft& draft, char letter, std::int64_t rows, std::int64_t columns,
                  const std::string& shape, std::int64_t factor) {
  const std::int64_t atom = factor * draft.per_column();
  const std::int64_t atoms = columns / atom;
  const std::int64_t first = draft.tape.below(atoms);
  const std::int64_t count = 1 + draft.tape.below(atoms - first);
  const std::int64_t there = draft.tape.below(6) * draft.per_column();
  const int slab = letter == 'C' || letter == 'F' ? static_cast<int>(draft.tape.below(2)) : 0;
  const std::int64_t all = there + columns;
  TensorCopy out;
  out.tensor = datapath(letter, rows, all, slab, box({0, there}, {rows, count * atom}));
  const std::string own = box({0, first * atom}, {rows, count * atom});
  out.local = shape == "32x32b" ? row_registers(columns, own)
                                : fragment_of(draft, shape, rows, columns, own);
  out.address = any_address(draft, all / draft.per_column());
  // An atom that begins within another has no instruction.
  if (atom > draft.per_column() && draft.tape.one_in(8)) {
    out.local.region = box({0, 0}, {rows, atom / 2});
    out.tensor.region = box({0, there}, {rows, atom / 2});
    draft.out.fits = false;
  }
  return out;
}

// Datapaths whose lanes hold parts of the columns.
TensorCopy split_datapath(TensorDraft& draft, char letter, std::int64_t rows, std::int64_t parts,
                          std::int64_t num) {
  const std::int64_t part = num * draft.per_column();
  TensorCopy out;
  out.tensor = datapath(letter, rows, parts * part);
  const std::string notation = letter == 'B'
                                   ? "S[({}, {}, {}) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]"
                                   : "S[({}, {}, {}) : (1 @ tid_in_wg, 32 @ tid_in_wg, 1)]";
  out.local =
      registers({rows, parts * part}, fmt::format(fmt::runtime(notation), rows, parts, part), part);
  out.address = any_address(draft, num);
  return out;
}

TensorCopy named_copy(TensorDraft& draft) {
  const std::int64_t per = draft.per_column();
  const std::int64_t num = std::int64_t{1} << draft.tape.below(4);
  switch (draft.tape.below(5)) {
    case 0:
      return sliced(draft, draft.tape.one_in(2) ? 'A' : 'D', 128, num * per, "32x32b", 1);
    case 1:
      return split_datapath(draft, 'B', 64, 2, num);
    case 2:
      return split_datapath(draft, 'G', 32, 4, num);
    case 3: {
      const auto [shape, factor] = slab_shape(draft);
      return sliced(draft, 'D', 128, num * per * factor, shape, factor);
    }
    default: {
      const auto [shape, factor] = slab_shape(draft);
      return sliced(draft, draft.tape.one_in(2) ? 'C' : 'F', 64, num * per * factor, shape, factor);
    }
  }
}

// --- by digits ---

// A lane bit there, and of the warp.
Digit lane_bit(int there, int own) {
  return {2, true, std::int64_t{1} << there, "laneid", std::int64_t{1} << own};
}
Digit lane_register(std::int64_t there) { return {2, true, there}; }

std::string range_of(const std::string& start, std::int64_t extent) {
  return fmt::format("{0}:{0} + {1}", start, extent);
}

// The tile of one side, digit by digit.
struct DigitSide {
  std::string extents, steps;  // of its layout
  Extents shape = {};
  std::string region = {};

  void add(std::int64_t extent, std::int64_t step, const std::string& axis) {
    const char* const comma = extents.empty() ? "" : ", ";
    extents += fmt::format("{}{}", comma, extent);
    steps += axis.empty() ? fmt::format("{}{}", comma, step)
                          : fmt::format("{}{} @ {}", comma, step, axis);
  }
  [[nodiscard]] std::string notation() const {
    return fmt::format("S[({},) : ({},)]", extents, steps);
  }
  // A dimension, and what the copy has of it.
  void add_dimension(std::int64_t extent, const std::string& range) {
    shape.push_back(extent);
    region += (region.empty() ? "" : ", ") + range;
  }
};

// A copy of tiles whose digits are chosen one after the other.
class DigitCopy {
 public:
  explicit DigitCopy(TensorDraft& draft)
      : draft_(draft),
        column_unit_(draft.per_column()),
        lane_offset_(draft.unit.quarter < 0 ? 0 : 32 * draft.unit.quarter) {}

  TensorCopy make() {
    choose_atom();
    choose_repetitions();
    const std::int64_t span = number_columns();
    choose_parts();
    if (draft_.tape.one_in(5)) choose_fault();
    shuffle(draft_.tape, digits_);
    TensorCopy out = tiles_of(span);
    if (draft_.tape.one_in(4)) add_stages(out, span);
    return out;
  }

 private:
  void lanes(std::initializer_list<Digit> digits) { digits_.insert(digits_.end(), digits); }

  void choose_atom() {
    const std::string shape = draft_.tape.pick(
        std::vector<std::string>{"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
    if (draft_.unit.quarter < 0) lanes({{4, true, 32, draft_.unit.warp_axis, 1}});
    if (shape == "32x32b") {
      for (int b = 0; b < 5; ++b) lanes({lane_bit(b, b)});
      return;
    }
    if (shape == "16x32bx2") {
      for (int b = 0; b < 4; ++b) lanes({lane_bit(b, b)});
      columns_left_.push_back({2, false, 0, "laneid", 16});
    } else {
      for (int b = 0; b < 3; ++b) lanes({lane_bit(b, b + 2)});
    }
    if (shape == "16x64b") {
      lanes({lane_bit(3, 0), {2, false, 1, "laneid", 2}});
      first_column_ = 2;
    } else if (shape == "16x128b") {
      lanes({lane_register(8), {4, false, 1, "laneid", 1}});
      first_column_ = 4;
    } else if (shape == "16x256b") {
      lanes({lane_register(8), {2, false, 1}, {4, false, 2, "laneid", 1}});
      first_column_ = 8;
    }
    switch (draft_.tape.below(3)) {
      case 0:
        break;
      case 1:
        lane_offset_ += 16;
        break;
      default:
        lanes({lane_register(16)});
    }
    for (const Digit& digit : digits_)
      if (digit.own.empty()) words_ *= digit.extent;
  }

  // Columns further on, each a register of its own.
  void choose_repetitions() {
    const std::int64_t count = draft_.tape.below(4);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t extent = draft_.tape.pick(std::vector<std::int64_t>{2, 4, 2, 3, 8, 5});
      if (words_ * extent > kMaxWords) continue;
      Digit digit{extent, false, 0};
      const bool is_slice =
          draft_.tape.one_in(4) && std::ranges::none_of(columns_left_, &Digit::is_slice);
      if (is_slice) choose_slice(digit);
      words_ *= digit.all_own();
      columns_left_.push_back(std::move(digit));
    }
    shuffle(draft_.tape, columns_left_);
    // Where lanes tell columns apart, a constant behind the others suits best.
    std::ranges::stable_partition(columns_left_, [&](const Digit& digit) {
      return digit.own.empty() || draft_.tape.one_in(4);
    });
  }

  void choose_slice(Digit& digit) {
    const std::int64_t there = draft_.tape.below(3), own = draft_.tape.below(3);
    digit.there_extent = digit.extent + there + draft_.tape.below(2);
    digit.own_extent = digit.extent + own;
    digit.there_start = fmt::format("{}", there);
    if (draft_.tape.one_in(3)) digit.there_start = fmt::format("stage * {}", there);
    digit.own_start = fmt::format("{}", own);
    if (draft_.tape.one_in(8)) {
      digit.own_start = fmt::format("stage * {}", own);
      draft_.out.fits = false;
    }
  }

  // Steps of the columns, with gaps; how many there are in all.
  std::int64_t number_columns() {
    std::int64_t step = first_column_;
    for (Digit& digit : columns_left_) {
      if (digit.own.empty() && step * digit.all_there() > kMaxColumns / 2) continue;
      digit.there = step;
      step = step * digit.all_there() + (draft_.tape.one_in(6) ? draft_.tape.below(5) : 0);
      digits_.push_back(digit);
    }
    return step;
  }

  // What a word has several of.
  void choose_parts() {
    if (draft_.bits() == 32) return;
    if (draft_.bits() == 16 && draft_.tape.one_in(3)) {
      column_unit_ = 2 * draft_.per_column();
      parts_step_ = 2;
    }
    parts_ = true;
  }

  void choose_fault() {
    draft_.out.fits = false;
    const std::int64_t which = draft_.tape.below(6);
    if (which < 2 && moves_lanes(which == 0 ? 8 : 32)) return;
    if (which == 2 && draft_.bits() < 32) {
      half_ = 1;
    } else if (which == 3 && draft_.bits() < 32) {
      parts_ = false;
    } else {
      exchange();
    }
  }

  // Further lanes, where there are as many.
  bool moves_lanes(std::int64_t count) {
    std::int64_t last = lane_offset_ + count;
    for (const Digit& digit : digits_)
      if (digit.is_lane) last += (digit.extent - 1) * digit.there;
    if (last >= 128) return false;
    lane_offset_ += count;
    return true;
  }

  // What told the values of one digit apart in the unit now does so for another.
  void exchange() {
    std::vector<std::size_t> twos;
    for (std::size_t i = 0; i < digits_.size(); ++i)
      if (digits_[i].extent == 2 && !digits_[i].is_slice()) twos.push_back(i);
    shuffle(draft_.tape, twos);
    if (twos.size() < 2) return;
    std::swap(digits_[twos[0]].own, digits_[twos[1]].own);
    std::swap(digits_[twos[0]].own_step, digits_[twos[1]].own_step);
  }

  // Registers in any order of their digits, one digit with a gap behind it; how many there are.
  std::int64_t number_registers() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < digits_.size(); ++i)
      if (digits_[i].own.empty()) order.push_back(i);
    if (draft_.tape.one_in(2)) {
      shuffle(draft_.tape, order);
    } else {
      std::ranges::sort(order, {}, [&](std::size_t i) { return digits_[i].there; });
    }
    std::int64_t step = 1, last = 0;
    for (const std::size_t i : order) {
      digits_[i].own_step = step;
      last += (digits_[i].all_own() - 1) * step;
      step = step * digits_[i].all_own() + (draft_.tape.one_in(8) ? 1 : 0);
    }
    return last + 1;
  }

  TensorCopy tiles_of(std::int64_t span) {
    const std::int64_t words = number_registers();
    const std::int64_t per = draft_.per_column();
    DigitSide there, own;
    std::int64_t dim = 1;  // digits that are not in a dimension yet
    const auto end_dimension = [&] {
      if (dim == 1) return;
      for (DigitSide* side : {&there, &own}) side->add_dimension(dim, fmt::format("0:{}", dim));
      dim = 1;
    };
    for (const Digit& digit : digits_) {
      there.add(digit.all_there(), digit.there * (digit.is_lane ? 1 : column_unit_),
                digit.is_lane ? "TLane" : "TCol");
      own.add(digit.all_own(), digit.own_step * (digit.own.empty() ? per : 1), digit.own);
      if (digit.is_slice()) {
        end_dimension();
        there.add_dimension(digit.all_there(), range_of(digit.there_start, digit.extent));
        own.add_dimension(digit.all_own(), range_of(digit.own_start, digit.extent));
        continue;
      }
      dim *= digit.extent;
      if (draft_.tape.one_in(3)) end_dimension();
    }
    if (parts_ && draft_.bits() < 32) {
      there.add(per, parts_step_, "TCol");
      own.add(per, 1, "");
      dim *= per;
    }
    end_dimension();
    TensorCopy out;
    std::string offset = lane_offset_ == 0 ? "" : fmt::format(" + {} @ TLane", lane_offset_);
    if (half_ != 0) offset += fmt::format(" + {} @ TCol", half_);
    out.tensor = tensor(there.shape, tile(there.notation() + offset), "[" + there.region + "]");
    out.local = registers(own.shape, own.notation(), words * per, "[" + own.region + "]");
    // Without their parts the last words are not full.
    if (!parts_ && draft_.bits() < 32) out.local.registers -= per - 1;
    out.address = any_address(draft_, span * column_unit_ / per + 1);
    out.around = draft_.unit.around;
    return out;
  }

  // Several of the tile, of which one is meant.
  void add_stages(TensorCopy& copy, std::int64_t span) {
    const std::int64_t columns = span * column_unit_ / draft_.per_column() + draft_.tape.below(3);
    const std::int64_t stages = 2 + draft_.tape.below(2);
    if (stages * columns > kMaxColumns) return;
    std::string which = draft_.tape.pick(std::vector<std::string>{"1", "stage", "it", "stage * 0"});
    if (which == "it" && !copy.around.empty()) which = "stage";
    if (which == "it") copy.around = "for it in range(2):";
    copy.tensor.shape.insert(copy.tensor.shape.begin(), stages);
    std::string& layout = copy.tensor.layout;
    layout.insert(layout.find('(', layout.find('[')) + 1, fmt::format("{}, ", stages));
    layout.insert(layout.find(": (") + 3,
                  fmt::format("{} @ TCol, ", columns * draft_.per_column()));
    copy.tensor.region.insert(1, which + ", ");
    draft_.columns = std::max(draft_.columns, stages * columns + 8);
  }

  TensorDraft& draft_;
  std::vector<Digit> digits_, columns_left_;
  std::int64_t words_ = 1;         // registers of a thread
  std::int64_t first_column_ = 1;  // step of the columns behind the atom's
  std::int64_t column_unit_;       // elements
  std::int64_t parts_step_ = 1;
  bool parts_ = false;
  std::int64_t lane_offset_;
  std::int64_t half_ = 0;
};

TensorCopy any_copy(TensorDraft& draft) {
  draft.is_load = draft.tape.one_in(2);
  choose_unit(draft);
  const bool is_named = draft.unit.scope == "wg" && draft.tape.one_in(3);
  TensorCopy copy = is_named ? named_copy(draft) : DigitCopy(draft).make();
  copy.is_load = draft.is_load;
  copy.scope = draft.unit.scope;
  if (copy.around.empty()) copy.around = draft.unit.around;
  return copy;
}

}  // namespace

RandomTensor random_tensor(const Choices& choices) {
  TensorDraft draft(choices);
  TensorProgram& program = draft.out.program;
  program.dtype = draft.tape.pick(std::vector<std::string>{
      "float32", "float16", "uint8", "bfloat16", "int32", "float8_e4m3fn", "int16"});
  program.threads = draft.tape.one_in(3) ? 256 : 128;
  const std::int64_t copies = 1 + draft.tape.below(3);
  for (std::int64_t i = 0; i < copies; ++i) program.copies.push_back(any_copy(draft));
  program.columns = allocation_of(draft.columns);
  return std::move(draft.out);
}

}  // namespace ww::test
