// SPDX-License-Identifier: Apache-2.0
#include "lower/random_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

class TensorMaker {
 public:
  explicit TensorMaker(const Choices& choices) : tape_(choices) {}

  RandomTensor make() {
    p_.dtype = tape_.pick(std::vector<std::string>{"float32", "float16", "uint8", "bfloat16",
                                                   "int32", "float8_e4m3fn", "int16"});
    p_.threads = tape_.one_in(3) ? 256 : 128;
    const std::int64_t copies = 1 + tape_.below(3);
    for (std::int64_t i = 0; i < copies; ++i) {
      is_load_ = tape_.one_in(2);
      choose_unit();
      const bool is_named = unit_.scope == "wg" && tape_.one_in(3);
      TensorCopy copy = is_named ? named_copy() : digit_copy();
      copy.is_load = is_load_;
      copy.scope = unit_.scope;
      if (copy.around.empty()) copy.around = unit_.around;
      p_.copies.push_back(std::move(copy));
    }
    p_.columns = allocation_of(columns_);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::int64_t bits() const { return bits_of(p_.dtype); }
  [[nodiscard]] std::int64_t per_column() const { return 32 / bits(); }

  template <typename T>
  void shuffle(std::vector<T>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    for (std::int64_t i = 0; i + 1 < count; ++i)
      std::swap(values[static_cast<std::size_t>(i)],
                values[static_cast<std::size_t>(i + tape_.below(count - i))]);
  }

  // Two units would store to the same cells.
  void choose_unit() {
    unit_ = {};
    const std::int64_t which = tape_.below(6);
    if (which == 4 && p_.threads == 128) {
      unit_ = {.scope = "cta", .warp_axis = "warpid"};
    } else if (which == 5) {
      const std::int64_t warp = tape_.below(p_.threads / 32);
      unit_ = {.scope = "warp", .around = fmt::format("if warp == {}:", warp), .quarter = warp % 4};
    } else if (p_.threads == 256 && (!is_load_ || tape_.one_in(2))) {
      unit_.around = fmt::format("if wg == {}:", tape_.below(2));
    }
  }

  std::string address(std::int64_t columns) {
    const std::int64_t first = tape_.one_in(3) ? tape_.below(8) : 0;
    columns_ = std::max(columns_, first + columns);
    return base_plus(first);
  }

  // --- by constructors ---

  TensorCopy named_copy() {
    const std::int64_t per = per_column();
    const std::int64_t num = std::int64_t{1} << tape_.below(4);
    switch (tape_.below(5)) {
      case 0:
        return sliced(tape_.one_in(2) ? 'A' : 'D', 128, num * per, "32x32b", 1);
      case 1:
        return split('B', 64, 2, num);
      case 2:
        return split('G', 32, 4, num);
      case 3: {
        const auto [shape, factor] = slab_shape();
        return sliced('D', 128, num * per * factor, shape, factor);
      }
      default: {
        const auto [shape, factor] = slab_shape();
        return sliced(tape_.one_in(2) ? 'C' : 'F', 64, num * per * factor, shape, factor);
      }
    }
  }

  std::pair<std::string, std::int64_t> slab_shape() {
    return tape_.pick(std::vector<std::pair<std::string, std::int64_t>>{
        {"16x64b", 2}, {"16x128b", 4}, {"16x256b", 8}});
  }

  // All columns, or a few of them that begin at other columns there.
  TensorCopy sliced(char letter, std::int64_t rows, std::int64_t columns, const std::string& shape,
                    std::int64_t factor) {
    const std::int64_t atom = factor * per_column();
    const std::int64_t atoms = columns / atom;
    const std::int64_t first = tape_.below(atoms);
    const std::int64_t count = 1 + tape_.below(atoms - first);
    const std::int64_t there = tape_.below(6) * per_column();
    const int slab = letter == 'C' || letter == 'F' ? static_cast<int>(tape_.below(2)) : 0;
    const std::int64_t all = there + columns;
    TensorCopy out;
    out.tensor = datapath(letter, rows, all, slab, box({0, there}, {rows, count * atom}));
    const std::string own = box({0, first * atom}, {rows, count * atom});
    out.local =
        shape == "32x32b" ? row_registers(columns, own) : fragment_of(shape, rows, columns, own);
    out.address = address(all / per_column());
    // An atom that begins within another has no instruction.
    if (atom > per_column() && tape_.one_in(8)) {
      out.local.region = box({0, 0}, {rows, atom / 2});
      out.tensor.region = box({0, there}, {rows, atom / 2});
      out_.fits = false;
    }
    return out;
  }

  // The constructor has elements of 16 and 32 bits, and of 8 as we have it.
  Operand fragment_of(const std::string& shape, std::int64_t rows, std::int64_t columns,
                      const std::string& region) {
    const std::string as = bits() == 32 ? "float32" : bits() == 16 ? "float16" : "uint8";
    return fragment(shape, rows, columns, as, region);
  }

  // Datapaths whose lanes hold parts of the columns.
  TensorCopy split(char letter, std::int64_t rows, std::int64_t parts, std::int64_t num) {
    const std::int64_t part = num * per_column();
    TensorCopy out;
    out.tensor = datapath(letter, rows, parts * part);
    const std::string notation = letter == 'B'
                                     ? "S[({}, {}, {}) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]"
                                     : "S[({}, {}, {}) : (1 @ tid_in_wg, 32 @ tid_in_wg, 1)]";
    out.local = registers({rows, parts * part},
                          fmt::format(fmt::runtime(notation), rows, parts, part), part);
    out.address = address(num);
    return out;
  }

  // --- by digits ---

  TensorCopy digit_copy() {
    digits_.clear();
    words_ = 1;
    column_unit_ = per_column();
    lane_offset_ = unit_.quarter < 0 ? 0 : 32 * unit_.quarter;
    half_ = 0;
    choose_atom();
    choose_repetitions();
    const std::int64_t span = number_columns();
    choose_parts();
    const bool has_fault = tape_.one_in(5);
    if (has_fault) choose_fault();
    shuffle(digits_);
    TensorCopy out = tiles_of(span);
    if (tape_.one_in(4)) add_stages(out, span);
    return out;
  }

  void lanes(std::initializer_list<Digit> digits) { digits_.insert(digits_.end(), digits); }
  // A lane bit there, and of the warp.
  static Digit lane_bit(int there, int own) {
    return {2, true, std::int64_t{1} << there, "laneid", std::int64_t{1} << own};
  }
  static Digit lane_register(std::int64_t there) { return {2, true, there}; }

  void choose_atom() {
    const std::string shape =
        tape_.pick(std::vector<std::string>{"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
    if (unit_.quarter < 0) lanes({{4, true, 32, unit_.warp_axis, 1}});
    first_column_ = 1;
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
    switch (tape_.below(3)) {
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
    const std::int64_t count = tape_.below(4);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t extent = tape_.pick(std::vector<std::int64_t>{2, 4, 2, 3, 8, 5});
      if (words_ * extent > kMaxWords) continue;
      Digit digit{extent, false, 0};
      const bool is_slice =
          tape_.one_in(4) && std::ranges::none_of(columns_left_, &Digit::is_slice);
      if (is_slice) choose_slice(digit);
      words_ *= digit.all_own();
      columns_left_.push_back(std::move(digit));
    }
    shuffle(columns_left_);
    // Where lanes tell columns apart, a constant behind the others suits best.
    std::ranges::stable_partition(
        columns_left_, [&](const Digit& digit) { return digit.own.empty() || tape_.one_in(4); });
  }

  void choose_slice(Digit& digit) {
    const std::int64_t there = tape_.below(3), own = tape_.below(3);
    digit.there_extent = digit.extent + there + tape_.below(2);
    digit.own_extent = digit.extent + own;
    digit.there_start = fmt::format("{}", there);
    if (tape_.one_in(3)) digit.there_start = fmt::format("stage * {}", there);
    digit.own_start = fmt::format("{}", own);
    if (tape_.one_in(8)) {
      digit.own_start = fmt::format("stage * {}", own);
      out_.fits = false;
    }
  }

  // Steps of the columns, with gaps; how many there are in all.
  std::int64_t number_columns() {
    std::int64_t step = first_column_;
    for (Digit& digit : columns_left_) {
      if (digit.own.empty() && step * digit.all_there() > kMaxColumns / 2) continue;
      digit.there = step;
      step = step * digit.all_there() + (tape_.one_in(6) ? tape_.below(5) : 0);
      digits_.push_back(digit);
    }
    columns_left_.clear();
    return step;
  }

  // What a word has several of.
  void choose_parts() {
    if (bits() == 32) return;
    if (bits() == 16 && tape_.one_in(3)) {
      column_unit_ = 2 * per_column();
      parts_step_ = 2;
    } else {
      parts_step_ = 1;
    }
    parts_ = true;
  }

  void choose_fault() {
    out_.fits = false;
    const std::int64_t which = tape_.below(6);
    if (which < 2 && moves_lanes(which == 0 ? 8 : 32)) return;
    if (which == 2 && bits() < 32) {
      half_ = 1;
    } else if (which == 3 && bits() < 32) {
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
    shuffle(twos);
    if (twos.size() < 2) return;
    std::swap(digits_[twos[0]].own, digits_[twos[1]].own);
    std::swap(digits_[twos[0]].own_step, digits_[twos[1]].own_step);
  }

  // --- text ---

  struct Text {
    std::string extents, steps;
    void add(std::int64_t extent, std::int64_t step, const std::string& axis) {
      const char* const comma = extents.empty() ? "" : ", ";
      extents += fmt::format("{}{}", comma, extent);
      steps += axis.empty() ? fmt::format("{}{}", comma, step)
                            : fmt::format("{}{} @ {}", comma, step, axis);
    }
    [[nodiscard]] std::string notation() const {
      return fmt::format("S[({},) : ({},)]", extents, steps);
    }
  };

  // Registers in any order of their digits, one digit with a gap behind it; how many there are.
  std::int64_t number_registers() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < digits_.size(); ++i)
      if (digits_[i].own.empty()) order.push_back(i);
    if (tape_.one_in(2)) {
      shuffle(order);
    } else {
      std::ranges::sort(order, {}, [&](std::size_t i) { return digits_[i].there; });
    }
    std::int64_t step = 1, last = 0;
    for (const std::size_t i : order) {
      digits_[i].own_step = step;
      last += (digits_[i].all_own() - 1) * step;
      step = step * digits_[i].all_own() + (tape_.one_in(8) ? 1 : 0);
    }
    return last + 1;
  }

  TensorCopy tiles_of(std::int64_t span) {
    const std::int64_t words = number_registers();
    const std::int64_t per = per_column();
    Text there, own;
    Extents shape_there, shape_own;
    std::string region_there, region_own;
    std::int64_t dim = 1;  // digits that are not in a dimension yet
    const auto end_dimension = [&] {
      if (dim == 1) return;
      for (Extents* shape : {&shape_there, &shape_own}) shape->push_back(dim);
      for (std::string* region : {&region_there, &region_own})
        *region += fmt::format("{}0:{}", region->empty() ? "" : ", ", dim);
      dim = 1;
    };
    for (const Digit& digit : digits_) {
      there.add(digit.all_there(), digit.there * (digit.is_lane ? 1 : column_unit_),
                digit.is_lane ? "TLane" : "TCol");
      own.add(digit.all_own(), digit.own_step * (digit.own.empty() ? per : 1), digit.own);
      if (digit.is_slice()) {
        end_dimension();
        shape_there.push_back(digit.all_there());
        shape_own.push_back(digit.all_own());
        add_range(region_there, digit.there_start, digit.extent);
        add_range(region_own, digit.own_start, digit.extent);
        continue;
      }
      dim *= digit.extent;
      if (tape_.one_in(3)) end_dimension();
    }
    if (parts_ && bits() < 32) {
      there.add(per, parts_step_, "TCol");
      own.add(per, 1, "");
      dim *= per;
    }
    end_dimension();
    TensorCopy out;
    std::string offset = lane_offset_ == 0 ? "" : fmt::format(" + {} @ TLane", lane_offset_);
    if (half_ != 0) offset += fmt::format(" + {} @ TCol", half_);
    out.tensor = tensor(shape_there, tile(there.notation() + offset), "[" + region_there + "]");
    out.local = registers(shape_own, own.notation(), words * per, "[" + region_own + "]");
    // Without their parts the last words are not full.
    if (!parts_ && bits() < 32) out.local.registers -= per - 1;
    out.address = address(span * column_unit_ / per + 1);
    out.around = unit_.around;
    return out;
  }

  static void add_range(std::string& region, const std::string& start, std::int64_t extent) {
    region += fmt::format("{}{}:{} + {}", region.empty() ? "" : ", ", start, start, extent);
  }

  // Several of the tile, of which one is meant.
  void add_stages(TensorCopy& copy, std::int64_t span) {
    const std::int64_t columns = span * column_unit_ / per_column() + tape_.below(3);
    const std::int64_t stages = 2 + tape_.below(2);
    if (stages * columns > kMaxColumns) return;
    std::string which = tape_.pick(std::vector<std::string>{"1", "stage", "it", "stage * 0"});
    if (which == "it" && !copy.around.empty()) which = "stage";
    if (which == "it") copy.around = "for it in range(2):";
    copy.tensor.shape.insert(copy.tensor.shape.begin(), stages);
    std::string& layout = copy.tensor.layout;
    layout.insert(layout.find('(', layout.find('[')) + 1, fmt::format("{}, ", stages));
    layout.insert(layout.find(": (") + 3, fmt::format("{} @ TCol, ", columns * per_column()));
    copy.tensor.region.insert(1, which + ", ");
    columns_ = std::max(columns_, stages * columns + 8);
  }

  Tape tape_;
  RandomTensor out_;
  TensorProgram& p_ = out_.program;
  std::int64_t columns_ = 0;

  // Of the copy.
  bool is_load_ = true;
  Unit unit_;
  std::vector<Digit> digits_, columns_left_;
  std::int64_t words_ = 1;         // registers of a thread
  std::int64_t first_column_ = 1;  // step of the columns behind the atom's
  std::int64_t column_unit_ = 1;   // elements
  std::int64_t parts_step_ = 1;
  bool parts_ = false;
  std::int64_t lane_offset_ = 0;
  std::int64_t half_ = 0;
};

}  // namespace

RandomTensor random_tensor(const Choices& choices) { return TensorMaker(choices).make(); }

}  // namespace ww::test
