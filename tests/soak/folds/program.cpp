// SPDX-License-Identifier: Apache-2.0
#include "soak/folds/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "soak/folds/tiles.h"
#include "soak/frame.h"

namespace ww::test {
namespace {

using Texts = std::vector<std::string>;

/// A call with the tiles that belong to it alone.
struct FoldCall {
  std::string text;
  FoldTile dst, src;
  bool is_in_place = false;  // there is no `src`
};

class FoldMaker {
 public:
  explicit FoldMaker(Tape& tape)
      : tape_(tape),
        frame_(choose_fold_frame(tape)),
        text_(frame_.threads, "float32", frame_.unit.ctas, frame_.unit.ctas > 1) {}

  WholeProgram make() {
    const std::int64_t count = 1 + tape_.below(3);
    for (std::int64_t i = 0; i < count; ++i) add_call(std::to_string(i));
    const auto inputs =
        tape_.pick(std::vector<Inputs>{Inputs::Whole, Inputs::Normal, Inputs::Bits});
    WholeProgram out;
    out.program.target = frame_.target;
    out.program.inputs = inputs;
    out.program.has_any_nan = inputs == Inputs::Bits;
    out.program.seed = 1 + static_cast<std::uint64_t>(tape_.below(1000));
    out.program.schedule = 1 + static_cast<std::uint64_t>(tape_.below(1000));
    out.program.device_orders = 3;
    write();
    out.program.source = text_.text();
    out.steps = steps_;
    return out;
  }

 private:
  // --- choices ---

  Extents any_shape() {
    const std::int64_t most = frame_.unit.threads == 1    ? 16
                              : frame_.unit.threads == 32 ? 256
                                                          : 1024;
    Extents out;
    const std::int64_t rank = 1 + tape_.below(3);
    for (std::int64_t d = 0; d < rank; ++d)
      out.push_back(tape_.pick<std::int64_t>({8, 4, 16, 2, 1, 32, 64, 128, 3, 5, 7, 33}));
    while (product(out) > most) {
      std::int64_t& largest = *std::ranges::max_element(out);
      largest = std::max<std::int64_t>(1, largest / 2);
    }
    out[0] *= frame_.unit.ctas;  // a CTA of a cluster takes part of an extent
    return out;
  }

  std::string any_type() {
    const std::string out = tape_.pick(Texts{"float32", "int32", "float16", "float64", "int64",
                                             "uint8", "bfloat16", "uint32", "int8", "uint64",
                                             "int16", "uint16", "float8_e4m3fn", "float8_e5m2"});
    return out == "bfloat16" && number_of_target(frame_.target) < 80 ? "float32" : out;
  }

  FoldTile any_tile(const std::string& name, const std::string& dtype, const Extents& shape) {
    return choose_fold_tile(tape_, frame_, name, dtype, shape, room_);
  }
  // Of the region, which may have the unit as its first dimension.
  [[nodiscard]] std::int64_t axis_of(const FoldTile& tile, std::int64_t axis,
                                     bool is_from_end) const {
    if (is_from_end) return axis - std::ssize(tile.shape);
    return axis + (tile.is_register() || frame_.unit.units == 1 ? 0 : 1);
  }
  // For one call: units that share it would have to wait for each other between two.
  std::string workspace() {
    if (has_workspace_ || frame_.unit.name != "cta" || !tape_.one_in(6)) return "";
    has_workspace_ = true;
    return ", workspace={\"scratch\": ws}";
  }

  void add_call(const std::string& number) {
    const std::int64_t kind = tape_.below(8);
    if (kind == 7 && frame_.unit.ctas == 1)
      add_elementwise(number);
    else if (kind > 3 && frame_.unit.ctas == 1)
      add_scan(number);
    else
      add_reduction(number);
  }
  void count(const std::string& what) {
    ++steps_[fmt::format("folds: {}, {}", what, frame_.unit.name)];
  }

  void add_reduction(const std::string& number) {
    const std::string op =
        tape_.pick(Texts{"sum", "max", "prod", "min", "any", "all", "argmax", "argmin"});
    const bool is_index = op.starts_with("arg"), is_logic = op.starts_with("a") && !is_index;
    const Extents shape = any_shape();
    const std::string dtype = is_logic ? "bool" : any_type();
    Extents axes, kept;
    const auto last = std::ssize(shape) - 1;
    const std::int64_t always = last - tape_.below(last + 1);
    for (std::int64_t d = 0; d <= last; ++d) {
      const bool is_folded = d == always || tape_.one_in(3);
      (is_folded ? axes : kept).push_back(is_folded ? d : shape[static_cast<std::size_t>(d)]);
    }
    if (kept.empty()) kept = {1};
    const bool is_from_end = axes.size() == 1 && tape_.one_in(3);
    const std::string into = !is_index ? dtype : tape_.one_in(2) ? "int32" : "int64";
    FoldCall call;
    call.src = any_tile("a" + number, dtype, shape);
    call.dst = any_tile("d" + number, into, kept);
    for (std::int64_t& axis : axes) axis = axis_of(call.src, axis, is_from_end);
    const bool is_added = !is_index && tape_.one_in(2);
    call.text = fmt::format("{}({}, {}, axes={}{}{})", op, unit_region(frame_, call.dst),
                            unit_region(frame_, call.src),
                            axes.size() == 1 ? std::to_string(axes[0]) : tuple(axes),
                            is_added ? ", accum=True" : "", workspace());
    calls_.push_back(std::move(call));
    count(is_added ? op + " with accum" : op);
  }

  void add_scan(const std::string& number) {
    const std::string op = tape_.pick(Texts{"cumsum", "cummax", "cumprod", "cummin"});
    const Extents shape = any_shape();
    const std::string dtype = any_type();
    const auto last = std::ssize(shape) - 1;
    const std::int64_t along = last - tape_.below(last + 1);
    const bool is_from_end = tape_.one_in(3);
    FoldCall call;
    call.is_in_place = tape_.one_in(2);
    call.dst = any_tile("d" + number, dtype, shape);
    call.src = call.is_in_place ? call.dst : any_tile("a" + number, dtype, shape);
    const bool is_exclusive = tape_.one_in(3);
    call.text = fmt::format("{}({}, {}, axis={}{}{})", op, unit_region(frame_, call.dst),
                            unit_region(frame_, call.src), axis_of(call.src, along, is_from_end),
                            is_exclusive ? ", exclusive=True" : "", workspace());
    count(call.is_in_place ? op + " in place" : op);
    calls_.push_back(std::move(call));
  }

  // With an operand that may be stretched along some axes.
  void add_elementwise(const std::string& number) {
    const std::string op = tape_.pick(Texts{"add", "mul", "maximum", "minimum", "sub"});
    const Extents shape = any_shape();
    const std::string dtype = any_type();
    Extents other = shape;
    for (std::int64_t& extent : other)
      if (tape_.one_in(3)) extent = 1;
    FoldCall call;
    call.dst = any_tile("d" + number, dtype, shape);
    call.src = any_tile("a" + number, dtype, other);
    const std::string to = unit_region(frame_, call.dst);
    call.text = fmt::format("{}({}, {}, {})", op, to, to, unit_region(frame_, call.src));
    count(op + " in place");
    calls_.push_back(std::move(call));
  }

  // --- text ---

  void write() {
    if (has_workspace_)
      text_.line("ws = T.alloc_buffer((4096,), \"uint8\", scope=\"shared\", align=16)");
    for (const FoldCall& call : calls_) {
      if (!call.is_in_place) begin_fold_tile(text_, frame_, call.src, false);
      begin_fold_tile(text_, frame_, call.dst, true);
    }
    text_.sync();
    const bool is_loop = !frame_.is_branch && tape_.one_in(5);
    if (frame_.is_branch) text_.line(fmt::format("if {} == 0:", frame_.unit.number));
    if (is_loop) text_.line("for turn in range(2):");
    const std::string indent = frame_.is_branch || is_loop ? "    " : "";
    for (const FoldCall& call : calls_)
      text_.line(fmt::format("{}Tx.{}{}", indent, frame_.unit.prefix, call.text));
    text_.line((is_loop ? indent : "") + "T.cuda.cta_sync()");
    for (const FoldCall& call : calls_) end_fold_tile(text_, frame_, call.dst);
  }

  Tape& tape_;
  FoldFrame frame_;
  KernelText text_;
  std::int64_t room_ = 32768;  // of shared memory; the compiler's own takes some
  bool has_workspace_ = false;
  std::vector<FoldCall> calls_;
  std::map<std::string, std::uint64_t> steps_;
};

}  // namespace

WholeProgram fold_program(Tape& tape) { return FoldMaker(tape).make(); }

}  // namespace ww::test
