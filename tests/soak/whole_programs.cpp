// SPDX-License-Identifier: Apache-2.0
#include "soak/whole_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lower/gemm_programs.h"
#include "lower/programs.h"

namespace ww::test {
namespace {

constexpr std::int64_t kMostShared = 40000;   // bytes
constexpr std::int64_t kMostElements = 4096;  // of a tile of all units
constexpr std::int64_t kMostStatements = 14;
constexpr std::int64_t kThreadElements = 8;  // of a tile of one thread

/// What happened to a tile in shared memory that nothing orders yet.
struct Pending {
  bool own_read = false, own_write = false;    // by the unit that has the part
  bool past_read = false, past_write = false;  // the same, ordered within the unit since
  bool far_read = false, far_write = false;    // by anybody

  [[nodiscard]] bool any() const {
    return own_read || own_write || past_read || past_write || far_read || far_write;
  }
  [[nodiscard]] bool any_far() const { return far_read || far_write; }
  /// What an asynchronous copy does behind a barrier that it was not waited for before.
  [[nodiscard]] Pending writes() const {
    Pending out;
    out.own_write = own_write;
    out.far_write = far_write;
    return out;
  }
  void settle() {
    past_read = past_read || own_read;
    past_write = past_write || own_write;
    own_read = own_write = false;
  }
  void merge(const Pending& other) {
    own_read = own_read || other.own_read;
    own_write = own_write || other.own_write;
    past_read = past_read || other.past_read;
    past_write = past_write || other.past_write;
    far_read = far_read || other.far_read;
    far_write = far_write || other.far_write;
  }
};

struct Shared {
  std::string name, dtype;
  Extents shape;  // of a unit's part
  std::int64_t stages = 1;
  Pending pending = {};
  bool is_arriving = false;  // by an asynchronous copy that nobody has waited for
};

struct Reg {
  std::string name, dtype;
  Extents shape;
  std::int64_t slots = 1;    // of a thread
  bool is_for_sums = false;  // of a product: nothing else may write it
};

/// Where a statement stands.
struct Place {
  int depth = 0;
  std::string indent = {};
  bool is_split = false;   // not all units come here
  bool is_thread = false;  // not all threads of a unit do
  std::vector<std::pair<std::string, std::int64_t>> loops = {};
};

struct TypeChoice {
  GemmTypes types;
  int least;  // architecture
};

class Maker {
 public:
  explicit Maker(const Choices& choices) : tape_(choices) {}

  WholeProgram make() {
    choose_frame();
    head();
    make_tiles();
    Place top{.indent = "    "};
    if (has_tensor_) allocate_tensor();
    block(top, 3 + tape_.below(kMostStatements));
    wait(top);
    for (const Reg& reg : regs_) store(top, reg);
    if (has_tensor_) free_tensor();
    WholeProgram out{.program = {.source = text(), .target = target_, .inputs = Inputs::Whole},
                     .lacks_barrier = has_left_out_};
    out.program.scalars = {{"p0", tape_.below(3)}};
    out.program.schedule = 1 + static_cast<std::uint64_t>(tape_.below(1000));
    out.used = tape_.used();
    return out;
  }

 private:
  // --- the frame ---

  void choose_frame() {
    static const std::vector<std::string> kTargets = {"sm_90a",  "sm_80", "sm_100a", "sm_120a",
                                                      "sm_103a", "sm_89", "sm_90"};
    target_ = tape_.pick(kTargets);
    is_first_spelling_ = tape_.one_in(4);
    choose_unit();
    ctas_ = 1 + tape_.below(3);
    if (tape_.one_in(10)) leave_out_ = tape_.below(6);
    const bool has_tensors = target_ == "sm_100a" || target_ == "sm_103a";
    has_tensor_ = has_tensors && scope_ == "wg" && tape_.below(3) != 0;
    has_products_ = !has_tensor_ && unit_threads_ % 32 == 0 && tape_.one_in(2);
    has_fragments_ = has_products_ || (unit_threads_ % 32 == 0 && !has_tensor_ && tape_.one_in(3));
    if (has_fragments_)
      choose_fragments();
    else
      choose_spread();
  }

  void choose_unit() {
    switch (tape_.below(4)) {
      case 0:
      case 3:
        scope_ = "warp", axis_ = "laneid", unit_ = "warp";
        unit_threads_ = 32;
        threads_ = tape_.pick<std::int64_t>({64, 32, 96, 128});
        break;
      case 1:
        scope_ = "wg", axis_ = "tid_in_wg", unit_ = "wg";
        unit_threads_ = 128;
        threads_ = tape_.pick<std::int64_t>({128, 256});
        break;
      default:
        scope_ = "cta", axis_ = "tx", unit_ = "0";
        unit_threads_ = threads_ = tape_.pick<std::int64_t>({64, 128, 96, 32, 48, 40});
    }
    units_ = threads_ / unit_threads_;
    if (units_ == 1) unit_ = "0";
  }

  // Rows and columns of a tile, and which thread has which element:
  // element (k, i, j, v) of (n, rows at a time, threads of a row, v) is in thread i * of_row_ + j.
  void choose_spread() {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= unit_threads_; ++d)
      if (unit_threads_ % d == 0) divisors.push_back(d);
    of_row_ = has_tensor_ ? 1 : tape_.pick(divisors);
    each_ = tape_.pick<std::int64_t>({4, 8, 2, 1, 3, 5});
    rounds_ = has_tensor_ ? 1 : 1 + tape_.below(3);
    while (rounds_ > 1 && rounds_ * each_ * threads_ > kMostElements) --rounds_;
    tile_ = {rounds_ * unit_threads_ / of_row_, of_row_ * each_};
  }

  void choose_fragments() {
    static const std::vector<TypeChoice> kTypes = {
        {{.in = "float16"}, 80},
        {{.in = "bfloat16"}, 80},
        {{.out = "float16"}, 80},
        {{.in = "float32", .settings = "allow_tf32=True"}, 80},
        {{.in = "int8", .out = "int32"}, 80},
        {{.in = "float8_e4m3fn"}, 89},
        {{.in = "uint8", .out = "int32"}, 80}};
    const TypeChoice& choice = tape_.pick(kTypes);
    gemm_.types = target_ == "sm_80" && choice.least > 80 ? kTypes[0].types : choice.types;
    gemm_.scope = scope_;
    gemm_.warps_m = unit_threads_ / 32;
    gemm_.tiles_m = gemm_.warps_m > 2 ? 1 : 1 + tape_.below(2);
    gemm_.tiles_n = 1 + tape_.below(3);
    gemm_.groups = 1 + tape_.below(3);
    gemm_.turns_b = tape_.one_in(3);
    tile_ = {gemm_.size_m(), gemm_.size_n()};
    const bool is_permuted = tape_.one_in(3);
    m_ = natural_m(gemm_, is_permuted);
    n_ = natural_n(gemm_, is_permuted);
    k_ = natural_k(gemm_, is_permuted);
    if (!is_permuted) return;
    for (Number* each : {&m_, &n_, &k_}) *each = permuted(*each);
  }

  Number permuted(const Number& number) {
    Number out;
    for (const std::size_t i : order(number.size())) out.push_back(number[i]);
    return out;
  }

  // --- text ---

  [[nodiscard]] std::string prefix() const { return fmt::format("Tx.{}.", scope_); }

  void line(const Place& at, const std::string& text) { body_ += at.indent + text + "\n"; }
  void param(const std::string& name, const Extents& shape, const std::string& dtype) {
    params_ += fmt::format("{}_ptr: T.handle, ", name);
    matches_ += fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", name, name,
                            tuple(shape), dtype);
  }
  std::string text() const {
    std::string out = "from tvm.script import tirx as T\n";
    if (!is_first_spelling_) out += "from tvm.script.tirx import tile as Tx\n";
    out +=
        "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid, warpid, wid_in_wg, "
        "tid_in_wg, tx, TLane, TCol\n\n";
    return out +
           fmt::format("@T.prim_func\ndef kernel({}p0: T.int32):\n{}{}", params_, matches_, body_);
  }

  void head() {
    const Place at{.indent = "    "};
    line(at, "T.device_entry()");
    line(at, fmt::format("cta = T.cta_id([{}])", ctas_));
    if (threads_ % 32 == 0) line(at, fmt::format("warp = T.warp_id([{}])", threads_ / 32));
    if (threads_ % 32 == 0) line(at, "lane = T.lane_id([32])");
    if (threads_ % 128 == 0) line(at, fmt::format("wg = T.warpgroup_id([{}])", threads_ / 128));
    line(at, fmt::format("tid = T.thread_id([{}])", threads_));
  }

  // --- tiles ---

  // An order of so many, which an ended tape leaves as it is.
  std::vector<std::size_t> order(std::size_t count) {
    std::vector<std::size_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = i;
    for (std::size_t i = 0; i + 1 < count; ++i)
      std::swap(
          out[i],
          out[i + static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(count - i)))]);
    return out;
  }

  std::string spread_layout() {
    const bool is_turned = tape_.one_in(3);
    std::vector<std::int64_t> extents;
    std::vector<std::string> strides;
    const auto add = [&](std::int64_t extent, const std::string& stride) {
      if (extent == 1) return;
      extents.push_back(extent);
      strides.push_back(stride);
    };
    add(rounds_, std::to_string(is_turned ? 1 : each_));
    add(unit_threads_ / of_row_, fmt::format("{} @ {}", of_row_, axis_));
    add(of_row_, "1 @ " + axis_);
    add(each_, std::to_string(is_turned ? rounds_ : 1));
    return fmt::format("S[({},) : ({},)]", fmt::join(extents, ", "), fmt::join(strides, ", "));
  }

  std::string fragment_layout(const std::string& dtype) {
    constexpr std::size_t kMostDigits = 6;
    GemmCase own = gemm_;
    own.types.out = dtype;
    const auto turned = tape_.one_in(3) ? order(kMostDigits) : std::vector<std::size_t>{};
    return fragment(own, Role::D, m_, n_, turned);
  }

  void add_reg(const std::string& name, const std::string& dtype, const Extents& shape,
               const std::string& notation, bool is_for_sums = false) {
    const Place at{.indent = "    "};
    line(at, fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", name,
                         tuple(shape), dtype, tile(notation)));
    const std::int64_t slots = shape[0] * shape[1] / unit_threads_;
    regs_.push_back({name, dtype, shape, slots, is_for_sums});
  }

  std::string any_type() {
    static const std::vector<std::string> kTypes = {"float32", "float16", "int32", "bfloat16",
                                                    "uint8",   "int16",   "int8",  "float32"};
    if (has_tensor_) return tape_.one_in(2) ? "int32" : "float32";
    return tape_.pick(kTypes);
  }

  void make_tiles() {
    const std::int64_t count = 2 + tape_.below(3);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string dtype = i == 0 ? any_type() : tape_.one_in(2) ? any_type() : regs_[0].dtype;
      add_reg(fmt::format("r{}", i), dtype, tile_,
              has_fragments_ ? fragment_layout(dtype) : spread_layout());
      has_bfloat_ = has_bfloat_ || dtype == "bfloat16";
    }
    const Place at{.indent = "    "};
    for (std::size_t i = 0; i < regs_.size(); ++i) {
      line(at, fmt::format("r{}_r = r{}.local({})", i, i, regs_[i].slots));
      load(at, regs_[i]);
    }
    works_ = regs_.size();
    if (has_products_) make_factors(at);
    const std::int64_t tiles = 1 + tape_.below(3);
    for (std::int64_t i = 0; i < tiles; ++i) add_shared(tape_.pick(regs_).dtype, tile_);
    make_thread_tile(at);
    for (Shared& each : shared_) fill_all(at, each);
  }

  // Registers of a product. Sums are exact as long as nothing else gets there.
  void make_factors(const Place& at) {
    const Extents a{gemm_.size_m(), gemm_.size_k()};
    Extents b{gemm_.size_k(), gemm_.size_n()};
    if (gemm_.turns_b) std::swap(b[0], b[1]);
    add_reg("acc", gemm_.types.out, tile_, fragment(gemm_, Role::D, m_, n_), true);
    add_reg("fa", gemm_.types.in, a, fragment(gemm_, Role::A, m_, k_), true);
    regs_.back().slots = 0;
    add_reg("fb", gemm_.types.in, b,
            gemm_.turns_b ? fragment(gemm_, Role::B, n_, k_) : fragment(gemm_, Role::B, k_, n_),
            true);
    regs_.back().slots = 0;
    if (tape_.below(3) != 0) add_shared(gemm_.types.in, a);
    if (tape_.below(3) != 0) add_shared(gemm_.types.in, b);
    line(at, fmt::format("{}zero(acc)", prefix()));
    for (std::size_t i = regs_.size() - 2; i < regs_.size(); ++i) load(at, regs_[i]);
  }

  void make_thread_tile(const Place& at) {
    thread_type_ = tape_.pick(std::vector<std::string>{"float32", "int32", "float16"});
    line(at, fmt::format("priv = T.alloc_buffer(({},), \"{}\", scope=\"local\")", kThreadElements,
                         thread_type_));
    line(at, "Tx.fill(priv, 3)");
  }

  void add_shared(const std::string& dtype, const Extents& shape) {
    Shared out{.name = fmt::format("s{}", shared_.size()), .dtype = dtype, .shape = shape};
    out.stages = tape_.one_in(3) ? 2 : 1;
    const std::int64_t bytes = bits_of(dtype) / 8;
    const std::int64_t unit = std::max<std::int64_t>(1, 16 / bytes);  // elements of 16 bytes
    const std::int64_t kind = tape_.below(4);
    const std::int64_t row = shape[1] + (kind == 1 ? unit : kind == 3 ? 1 : 0);
    const std::int64_t part = shape[0] * row;
    const std::int64_t span = out.stages * units_ * part;
    if (shared_bytes_ + span * bytes > kMostShared) return;
    shared_bytes_ += span * bytes;
    std::string layout = fmt::format("S[({}, {}, {}, {}) : ({}, {}, {}, 1)]", out.stages, units_,
                                     shape[0], shape[1], units_ * part, part, row);
    if (kind == 2) {
      int p = 0;
      while ((std::int64_t{1} << p) < unit) ++p;
      layout = swizzled(p, static_cast<int>(1 + tape_.below(3)), 3, layout);
    } else {
      layout = tile(layout);
    }
    const Place at{.indent = "    "};
    line(at, fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"shared\", layout={})", out.name,
                         tuple({out.stages, units_, shape[0], shape[1]}), dtype, layout));
    shared_.push_back(std::move(out));
  }

  // --- regions ---

  struct Columns {
    std::int64_t begin = 0, count = 0;
  };
  Columns all(const Extents& shape) const { return {0, shape[1]}; }
  Columns some(const Extents& shape) {
    if (!tape_.one_in(6)) return all(shape);
    const std::int64_t begin = tape_.below(shape[1]);
    return {begin, 1 + tape_.below(shape[1] - begin)};
  }

  static std::string of(const Reg& reg, Columns c) {
    return fmt::format("{}[0:{}, {}:{}]", reg.name, reg.shape[0], c.begin, c.begin + c.count);
  }
  std::string stage(const Place& at, const Shared& each) {
    if (each.stages == 1) return "0";
    if (at.loops.empty()) return tape_.one_in(2) ? "1" : "0";
    return fmt::format("{} % 2", tape_.pick(at.loops).first);
  }
  std::string of(const Place& at, const Shared& each, const std::string& unit, Columns c) {
    return fmt::format("{}[{}, {}, 0:{}, {}:{}]", each.name, stage(at, each), unit, each.shape[0],
                       c.begin, c.begin + c.count);
  }

  // A new input, of which one tile for each CTA, unit and turn of the loops is taken.
  std::string input(const Place& at, const std::string& dtype, const Extents& shape, Columns c,
                    bool is_all, bool& is_ragged) {
    const std::string name = fmt::format("a{}", inputs_++);
    Extents extents;
    std::string index;
    const auto add = [&](std::int64_t extent, const std::string& at_) {
      extents.push_back(extent);
      index += at_ + ", ";
    };
    if (tape_.below(3) != 0) add(ctas_, "cta");
    for (const auto& [var, count] : at.loops)
      if (tape_.below(3) != 0) add(count, var);
    if (is_all || (units_ > 1 && tape_.below(4) != 0))
      add(units_, is_all ? fmt::format("0:{}", units_) : unit_);
    std::string first = "0";
    std::int64_t more = 0;
    if (tape_.one_in(4)) {
      more = tape_.pick<std::int64_t>({8, 4, 1, 16});
      first = tape_.one_in(2) ? fmt::format("p0 * {}", more) : std::to_string(more);
      more *= 3;
    }
    is_ragged = is_ragged && more == 0 && tape_.one_in(5);
    const std::int64_t rows = is_ragged ? std::max<std::int64_t>(1, shape[0] - 3) : shape[0];
    extents.push_back(rows);
    extents.push_back(c.count + more);
    param(name, extents, dtype);
    const std::string columns = first == "0" ? fmt::format("0:{}", c.count)
                                             : fmt::format("{}:{} + {}", first, first, c.count);
    return fmt::format("{}[{}0:{}, {}]", name, index, shape[0], columns);
  }

  std::string output(const Place& at, const std::string& dtype, const Extents& shape, Columns c,
                     bool is_all) {
    const std::string name = fmt::format("o{}", outputs_++);
    Extents extents{ctas_};
    std::string index = "cta, ";
    for (const auto& [var, count] : at.loops) {
      extents.push_back(count);
      index += var + ", ";
    }
    extents.insert(extents.end(), {units_, shape[0], c.count});
    param(name, extents, dtype);
    return fmt::format("{}[{}{}, 0:{}, 0:{}]", name, index,
                       is_all ? fmt::format("0:{}", units_) : unit_, shape[0], c.count);
  }

  // --- barriers ---

  // One of them may be left out on purpose.
  bool is_left_out() {
    if (leave_out_ < 0 || leave_out_-- > 0) return false;
    has_left_out_ = true;
    return true;
  }

  void sync_all(const Place& at) {
    for (Shared& each : shared_)
      each.pending = each.is_arriving ? each.pending.writes() : Pending{};
    if (!is_left_out()) line(at, "T.cuda.cta_sync()");
  }
  void sync_unit(const Place& at) {
    if (scope_ == "cta") {
      sync_all(at);
      return;
    }
    for (Shared& each : shared_)
      if (!each.is_arriving) each.pending.settle();
    if (is_left_out()) return;
    line(at, scope_ == "warp" ? "T.cuda.warp_sync()"
                              : fmt::format("T.cuda.warpgroup_sync({} + 1)", unit_));
  }

  void wait(const Place& at) {
    if (std::ranges::none_of(shared_, &Shared::is_arriving)) return;
    line(at, "T.ptx.cp_async.wait_group(0)");
    for (Shared& each : shared_) each.is_arriving = false;
  }

  // Puts what is needed before an access.
  void access(const Place& at, Shared& each, bool is_write, bool is_far) {
    if (each.is_arriving) wait(at);
    const Pending& p = each.pending;
    const auto clashes = [&](bool read, bool write) { return write || (is_write && read); };
    const bool far = clashes(p.far_read, p.far_write) ||
                     (is_far && clashes(p.own_read || p.past_read, p.own_write || p.past_write));
    if (far)
      sync_all(at);
    else if (clashes(p.own_read, p.own_write))
      sync_unit(at);
    Pending& after = each.pending;
    (is_far ? (is_write ? after.far_write : after.far_read)
            : (is_write ? after.own_write : after.own_read)) = true;
  }

  // Before a loop or a branch, and at the end of a loop.
  void clean(const Place& at) {
    wait(at);
    if (std::ranges::none_of(shared_, [](const Shared& s) { return s.pending.any(); })) return;
    if (at.is_split)
      sync_unit(at);
    else
      sync_all(at);
  }

  // --- statements ---

  void load(const Place& at, const Reg& reg) {
    bool is_ragged = false;
    const std::string from = input(at, reg.dtype, reg.shape, all(reg.shape), false, is_ragged);
    line(at, fmt::format("{}copy({}, {})", prefix(), of(reg, all(reg.shape)), from));
  }
  void store(const Place& at, const Reg& reg) {
    const Columns c = all(reg.shape);
    line(at, fmt::format("{}copy({}, {})", prefix(), output(at, reg.dtype, reg.shape, c, false),
                         of(reg, c)));
  }

  void fill_all(const Place& at, Shared& each) {
    const std::int64_t stages = each.stages;
    for (std::int64_t s = 0; s < stages; ++s) {
      bool is_ragged = false;
      const std::string from = input(at, each.dtype, each.shape, all(each.shape), true, is_ragged);
      line(at, fmt::format("Tx.cta.copy({}[{}, 0:{}, 0:{}, 0:{}], {})", each.name, s, units_,
                           each.shape[0], each.shape[1], from));
    }
    each.pending.far_write = true;
  }

  // Global to shared memory, by a unit or by all together.
  void load_shared(const Place& at) {
    Shared& to = tape_.pick(shared_);
    const bool is_all = !at.is_split && tape_.one_in(3);
    const bool is_async = tape_.one_in(2);
    bool is_ragged = true;
    const Columns c = is_all ? all(to.shape) : some(to.shape);
    access(at, to, true, is_all);
    const std::string from = input(at, to.dtype, to.shape, c, is_all, is_ragged);
    const std::string unit = is_all ? fmt::format("0:{}", units_) : unit_;
    line(at,
         fmt::format("{}copy{}({}, {}{})", is_all ? "Tx.cta." : prefix(), is_async ? "_async" : "",
                     of(at, to, unit, c), from, is_ragged ? ", fill_mode=\"zero\"" : ""));
    if (!is_async) return;
    line(at, "T.ptx.cp_async.commit_group()");
    to.is_arriving = true;
    if (tape_.one_in(2)) wait(at);
  }

  std::vector<std::pair<Reg*, Shared*>> pairs(bool is_load) {
    std::vector<std::pair<Reg*, Shared*>> out;
    for (Reg& reg : regs_)
      for (Shared& each : shared_)
        if (reg.dtype == each.dtype && reg.shape == each.shape && reg.name != "acc")
          out.emplace_back(&reg, &each);
    if (!is_load)
      for (Shared& each : shared_)
        if (has_products_ && each.dtype == gemm_.types.out && each.shape == tile_)
          out.emplace_back(&regs_[works_], &each);
    return out;
  }

  // Sums of a product must stay small: its factors come from shared memory that nothing but inputs
  // go to, if their shape is another one.
  void read_shared(const Place& at) {
    const auto all_pairs = pairs(true);
    if (all_pairs.empty()) return;
    auto [reg, from] = tape_.pick(all_pairs);
    if (reg->is_for_sums && from->shape == tile_) return;
    const bool is_far = !at.is_split && units_ > 1 && tape_.one_in(3);
    access(at, *from, false, is_far);
    const Columns c = reg->is_for_sums ? all(reg->shape) : some(reg->shape);
    const std::string unit = is_far ? fmt::format("({} + 1) % {}", unit_, units_) : unit_;
    line(at, fmt::format("{}copy({}, {})", prefix(), of(*reg, c), of(at, *from, unit, c)));
  }
  void write_shared(const Place& at) {
    const auto all_pairs = pairs(false);
    if (all_pairs.empty()) return;
    auto [reg, to] = tape_.pick(all_pairs);
    if (to->shape != tile_) return;
    access(at, *to, true, false);
    const Columns c = some(reg->shape);
    line(at, fmt::format("{}copy({}, {})", prefix(), of(at, *to, unit_, c), of(*reg, c)));
  }
  void store_shared(const Place& at) {
    Shared& from = tape_.pick(shared_);
    const bool is_all = !at.is_split && tape_.one_in(2);
    access(at, from, false, is_all);
    const Columns c = is_all ? all(from.shape) : some(from.shape);
    const std::string unit = is_all ? fmt::format("0:{}", units_) : unit_;
    const std::string to = output(at, from.dtype, from.shape, c, is_all);
    line(at,
         fmt::format("{}copy({}, {})", is_all ? "Tx.cta." : prefix(), to, of(at, from, unit, c)));
  }
  void move_shared(const Place& at) {
    Shared &to = tape_.pick(shared_), &from = tape_.pick(shared_);
    if (&to == &from || to.dtype != from.dtype || to.shape != from.shape) return;
    access(at, from, false, false);
    access(at, to, true, false);
    from.pending.own_read = true;  // behind the barrier that the other side may have needed
    const Columns c = some(to.shape);
    line(at, fmt::format("{}copy({}, {})", prefix(), of(at, to, unit_, c), of(at, from, unit_, c)));
  }
  // Ends with a barrier of its unit.
  void fill_shared(const Place& at) {
    Shared& to = tape_.pick(shared_);
    if (to.is_arriving) wait(at);
    access(at, to, true, false);
    line(at, fmt::format("{}fill({}, {})", prefix(), of(at, to, unit_, some(to.shape)),
                         tape_.below(4)));
  }

  // --- registers ---

  std::string source(Columns c) {
    if (tape_.one_in(5)) return tape_.pick(std::vector<std::string>{"2", "0.5", "-3", "7"});
    return register_source(c);
  }
  std::string register_source(Columns c) {
    const bool has_sums = has_products_ && tape_.one_in(4);
    const Reg& reg =
        regs_[has_sums ? works_
                       : static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(works_)))];
    return of(reg, c);
  }
  void compute(const Place& at) {
    const Reg& dst =
        regs_[static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(works_)))];
    const Columns c = some(tile_);
    std::vector<std::string> ops = {"add", "sub", "maximum", "minimum", "cast",
                                    "fma", "mul", "fill",    "zero",    "select"};
    const bool is_real = dst.dtype.find("float") != std::string::npos;
    if (is_real && !has_bfloat_) ops.insert(ops.end(), {"fdiv", "sqrt", "reciprocal"});
    const std::string op = tape_.pick(ops);
    std::string args = of(dst, c);
    if (op == "fill")
      args += ", 5";
    else if (op == "cast" || op == "sqrt" || op == "reciprocal")
      args += ", " + register_source(c);
    else if (op == "fma")
      args += fmt::format(", {}, {}, {}", register_source(c), source(c), source(c));
    else if (op == "select")
      args += fmt::format(", {}, {}, {}", source(c), source(c), register_source(c));
    else if (op != "zero")
      args += fmt::format(", {}, {}", register_source(c), source(c));
    line(at, fmt::format("{}{}({})", prefix(), op, args));
  }

  void multiply(const Place& at) {
    std::string settings = gemm_.turns_b ? ", transpose_B=True" : "";
    // Halves do not hold many products.
    const bool adds = gemm_.types.out != "float16" && products_++ < 8 && tape_.one_in(2);
    settings += adds ? ", beta=1.0" : ", beta=0.0";
    if (!gemm_.types.settings.empty()) settings += ", " + gemm_.types.settings;
    std::string a = "fa", b = "fb";
    if (tape_.one_in(3) && fetch_factors(at, a, b)) settings += ", stage=True";
    line(at, fmt::format("{}gemm(acc, {}, {}, acc{})", prefix(), a, b, settings));
  }
  // Factors that are still in shared memory.
  bool fetch_factors(const Place& at, std::string& a, std::string& b) {
    Shared *left = nullptr, *right = nullptr;
    for (Shared& each : shared_) {
      if (each.dtype != gemm_.types.in || each.shape == tile_) continue;
      if (each.shape == regs_[works_ + 1].shape) left = &each;
      if (each.shape == regs_[works_ + 2].shape) right = &each;
    }
    if (left == nullptr || right == nullptr) return false;
    for (Shared* each : {left, right}) access(at, *each, false, false);
    left->pending.own_read = true;
    a = of(at, *left, unit_, all(left->shape));
    b = of(at, *right, unit_, all(right->shape));
    return true;
  }

  // By each thread on its own registers.
  void thread_code(const Place& at) {
    const Reg& reg =
        regs_[static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(works_)))];
    switch (tape_.below(4)) {
      case 0:
        line(at, fmt::format("for i in range({}):", reg.slots));
        line(at, fmt::format("    {0}_r[i] = {0}_r[i] + {0}_r[{1} - i]", reg.name, reg.slots - 1));
        break;
      case 1: {
        const std::string name = fmt::format("a{}", inputs_++);
        param(name, {ctas_, threads_, kThreadElements}, thread_type_);
        line(at, fmt::format("Tx.copy(priv[0:{0}], {1}[cta, tid, 0:{0}])", kThreadElements, name));
        break;
      }
      case 2:
        line(at, fmt::format("Tx.{}(priv, priv, 3)",
                             tape_.pick(std::vector<std::string>{"add", "maximum", "mul"})));
        break;
      default:
        store_thread_tile(at);
    }
  }
  void store_thread_tile(const Place& at) {
    const std::string name = fmt::format("o{}", outputs_++);
    Extents extents{ctas_};
    std::string index = "cta, ";
    for (const auto& [var, count] : at.loops) {
      extents.push_back(count);
      index += var + ", ";
    }
    extents.insert(extents.end(), {threads_, kThreadElements});
    param(name, extents, thread_type_);
    line(at, fmt::format("Tx.copy({}[{}tid, 0:{}], priv[0:{}])", name, index, kThreadElements,
                         kThreadElements));
  }

  // --- tensor memory ---

  void allocate_tensor() {
    const Place at{.indent = "    "};
    columns_ = 32;
    while (columns_ < units_ * tile_[1]) columns_ *= 2;
    line(at, "base = T.alloc_shared([1], \"uint32\")");
    line(at, "if warp == 0:");
    line(at, fmt::format("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols={}, cta_group=1)",
                         columns_));
    line(at, "T.cuda.cta_sync()");
    for (Shared& each : shared_) each.pending = {};
    for (const std::string dtype : {"float32", "int32"})
      line(at, fmt::format("t_{0} = T.decl_buffer((128, {1}), \"{0}\", scope=\"tmem\", "
                           "allocated_addr=base[0], layout={2})",
                           dtype, columns_,
                           tile(fmt::format("S[(128, {}) : (1 @ TLane, 1 @ TCol)]", columns_))));
  }
  void free_tensor() {
    const Place at{.indent = "    "};
    line(at, "T.ptx.tcgen05.fence.before_thread_sync()");
    line(at, "T.cuda.cta_sync()");
    line(at, "T.ptx.tcgen05.fence.after_thread_sync()");
    line(at, "if warp == 0:");
    line(at, "    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)");
    line(at, fmt::format("    T.ptx.tcgen05.dealloc(base[0], n_cols={}, cta_group=1)", columns_));
  }
  void round_trip(const Place& at) {
    const Reg& from =
        regs_[static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(works_)))];
    const Reg* to = &from;
    for (const Reg& reg : regs_)
      if (reg.dtype == from.dtype && tape_.one_in(2)) to = &reg;
    const Columns c = all(tile_);
    const std::string first = units_ == 1 ? "0" : fmt::format("{} * {}", unit_, tile_[1]);
    const std::string there =
        fmt::format("t_{}[0:128, {}:{} + {}]", from.dtype, first, first, tile_[1]);
    line(at, fmt::format("Tx.wg.copy_async({}, {})", there, of(from, c)));
    line(at, "T.ptx.tcgen05.wait.st()");
    line(at, fmt::format("Tx.wg.copy_async({}, {})", of(*to, c), there));
    line(at, "T.ptx.tcgen05.wait.ld()");
  }

  // --- control ---

  void loop(const Place& at) {
    if (at.depth >= 2 || at.loops.size() >= 2) return;
    clean(at);
    Place inside = at;
    ++inside.depth;
    inside.indent += "    ";
    const std::string var = fmt::format("i{}", loops_++);
    const std::int64_t count = 1 + tape_.below(3);
    inside.loops.emplace_back(var, count);
    line(at,
         fmt::format("for {} in {}({}):", var,
                     tape_.pick(std::vector<std::string>{"T.serial", "T.unroll", "range"}), count));
    const std::size_t before = body_.size();
    block(inside, 2 + tape_.below(5));
    clean(inside);
    if (body_.size() == before) line(inside, "Tx.fill(priv, 2)");
  }

  void branch(const Place& at) {
    if (at.depth >= 3) return;
    wait(at);
    if (!at.is_split &&
        std::ranges::any_of(shared_, [](const Shared& s) { return s.pending.any_far(); }))
      sync_all(at);
    Place inside = at;
    ++inside.depth;
    inside.indent += "    ";
    std::string condition;
    if (units_ > 1 && !at.is_thread && tape_.below(3) != 0) {
      static const std::vector<std::string> kGuards = {"{} == {}", "{} < {}", "{} % 2 != {} % 2",
                                                       "{} >= {}"};
      condition = fmt::format(fmt::runtime(tape_.pick(kGuards)), unit_,
                              std::max<std::int64_t>(1, tape_.below(units_)));
      inside.is_split = true;
    } else {
      static const std::vector<std::string> kGuards = {"tid < {}", "tid % {} == 0", "tid * 3 > {}"};
      condition = fmt::format(fmt::runtime(tape_.pick(kGuards)), 2 + tape_.below(threads_ - 2));
      if (threads_ % 32 == 0 && tape_.one_in(3)) condition = "lane < 16";
      inside.is_thread = inside.is_split = true;
    }
    std::vector<Pending> before, first;
    for (const Shared& each : shared_) before.push_back(each.pending);
    line(at, fmt::format("if {}:", condition));
    arm(inside);
    for (const Shared& each : shared_) first.push_back(each.pending);
    if (tape_.one_in(2)) {
      for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i].pending = before[i];
      line(at, "else:");
      arm(inside);
    } else {
      first = before;
    }
    for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i].pending.merge(first[i]);
  }
  void arm(const Place& inside) {
    const std::size_t before = body_.size();
    block(inside, 1 + tape_.below(4));
    wait(inside);
    if (body_.size() == before) line(inside, "Tx.fill(priv, 1)");
  }

  void block(const Place& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) statement(at);
  }

  void statement(const Place& at) {
    if (at.is_thread) {
      if (at.depth < 3 && tape_.one_in(6))
        branch(at);
      else
        thread_code(at);
      return;
    }
    const std::int64_t which = tape_.below(20);
    if (shared_.empty() && which >= 6 && which < 15) return;
    switch (which) {
      case 0:
      case 1:
      case 2:
        return compute(at);
      case 3: {
        const Reg& reg = tape_.pick(regs_);
        return reg.name == "acc" ? compute(at) : load(at, reg);
      }
      case 4:
        return store(at, tape_.pick(regs_));
      case 5:
        return thread_code(at);
      case 6:
      case 7:
        return load_shared(at);
      case 8:
      case 9:
        return read_shared(at);
      case 10:
      case 11:
        return write_shared(at);
      case 12:
        return store_shared(at);
      case 13:
        return move_shared(at);
      case 14:
        return fill_shared(at);
      case 15:
      case 16:
        if (has_products_) return multiply(at);
        if (has_tensor_) return round_trip(at);
        return compute(at);
      case 17:
      case 18:
        return branch(at);
      default:
        return loop(at);
    }
  }

  Tape tape_;
  std::string target_, scope_, axis_, unit_, thread_type_;
  std::int64_t threads_ = 32, unit_threads_ = 32, units_ = 1, ctas_ = 1;
  bool is_first_spelling_ = false, has_tensor_ = false, has_products_ = false;
  bool has_fragments_ = false, has_bfloat_ = false, has_left_out_ = false;
  std::int64_t leave_out_ = -1;
  std::int64_t of_row_ = 1, each_ = 1, rounds_ = 1, columns_ = 32;
  Extents tile_;
  GemmCase gemm_;
  Number m_, n_, k_;  // its digits
  std::vector<Reg> regs_;
  std::size_t works_ = 0;  // registers that anything may be computed in; then sums and factors
  std::vector<Shared> shared_;
  std::int64_t shared_bytes_ = 0;
  int inputs_ = 0, outputs_ = 0, loops_ = 0, products_ = 0;
  std::string params_, matches_, body_;
};

}  // namespace

Choices whole_choices(std::uint64_t seed, std::uint64_t number) {
  constexpr std::uint64_t kRows = 4;
  Choices out;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    const Choices more = random_choices(seed, number * kRows + i);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

WholeProgram whole_program(const Choices& choices) { return Maker(choices).make(); }

}  // namespace ww::test
