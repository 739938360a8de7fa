// SPDX-License-Identifier: Apache-2.0
#include "soak/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace ww::test {
namespace {

constexpr std::int64_t kMaxShared = 40000;  // bytes
constexpr std::int64_t kMaxPooled = 60000;
constexpr std::int64_t kMaxTurns = 3;  // of a loop

const Place kTop;

}  // namespace

bool Pending::any() const {
  return own_read || own_write || past_read || past_write || far_read || far_write;
}
Pending Pending::writes() const {
  Pending out;
  out.own_write = own_write;
  out.far_write = far_write;
  return out;
}
void Pending::settle() {
  past_read = past_read || own_read;
  past_write = past_write || own_write;
  own_read = own_write = false;
}
void Pending::merge(const Pending& other) {
  own_read = own_read || other.own_read;
  own_write = own_write || other.own_write;
  past_read = past_read || other.past_read;
  past_write = past_write || other.past_write;
  far_read = far_read || other.far_read;
  far_write = far_write || other.far_write;
}

Place Place::inside() const {
  Place out = *this;
  ++out.depth;
  out.indent += "    ";
  return out;
}

Draft::Draft(Tape& tape_in) : tape(tape_in), f(choose_frame(tape)) {
  if (!tape.one_in(8)) return;
  leave_out_ = tape.below(6);
  leaves_out_wait_ = tape.one_in(4);
}

// --- text ----------------------------------------------------------------------------------------

void Draft::param(const std::string& name, const Extents& shape, const std::string& dtype) {
  params_ += fmt::format("{}_ptr: T.handle, ", name);
  matches_ +=
      fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", name, name, tuple(shape), dtype);
}

std::string Draft::text() const {
  std::string out = "from tvm.script import tirx as T\n";
  if (!f.is_first_spelling) out += "from tvm.script.tirx import tile as Tx\n";
  out +=
      "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid, warpid, wid_in_wg, "
      "tid_in_wg, tx, TLane, TCol, tcgen05_atom_layout\n\n";
  return out +
         fmt::format("@T.prim_func\ndef kernel({}p0: T.int32):\n{}{}", params_, matches_, body_);
}

void Draft::head() {
  line(kTop, "T.device_entry()");
  line(kTop, fmt::format("cta = T.cta_id([{}])", f.ctas));
  if (f.threads % 32 == 0) line(kTop, fmt::format("warp = T.warp_id([{}])", f.threads / 32));
  if (f.threads % 32 == 0) line(kTop, "lane = T.lane_id([32])");
  if (f.threads % 128 == 0) line(kTop, fmt::format("wg = T.warpgroup_id([{}])", f.threads / 128));
  line(kTop, fmt::format("tid = T.thread_id([{}])", f.threads));
  if (f.has_pool) line(kTop, "pool = T.SMEMPool()");
}

// --- tiles ---------------------------------------------------------------------------------------

std::string Draft::any_type() {
  static const std::vector<std::string> kTypes = {
      "float32",       "float16",     "int32",   "bfloat16",      "uint8",        "int16",
      "int8",          "float32",     "float64", "int64",         "uint16",       "uint32",
      "float8_e4m3fn", "float8_e5m2", "uint64",  "float6_e2m3fn", "float6_e3m2fn"};
  static const std::vector<std::string> kOfLanes = {
      "float32", "int32", "float16", "bfloat16", "uint8", "uint32", "int16", "float8_e4m3fn"};
  std::string out = tape.pick(f.has_tensor ? kOfLanes : kTypes);
  // Of which thread an element is depends on how wide they are.
  if (f.spread == Spread::Atoms && !regs.empty() && bits_of(out) != bits_of(regs[0].dtype))
    return regs[0].dtype;
  return out == "bfloat16" && f.number() < 80 ? "float32" : out;
}

std::string Draft::spread_layout(bool& is_packed) {
  const bool is_turned = tape.one_in(3);
  std::vector<std::int64_t> extents;
  std::vector<std::string> strides;
  const auto add = [&](std::int64_t extent, const std::string& stride) {
    if (extent == 1) return;
    extents.push_back(extent);
    strides.push_back(stride);
  };
  add(f.rounds, std::to_string(is_turned ? 1 : f.each));
  add(f.unit_threads / f.of_row, fmt::format("{} @ {}", f.of_row, f.axis));
  add(f.of_row, "1 @ " + f.axis);
  add(f.each, std::to_string(is_turned ? f.rounds : 1));
  is_packed = !is_turned || f.rounds == 1;
  return tile(fmt::format("S[({},) : ({},)]", fmt::join(extents, ", "), fmt::join(strides, ", ")));
}

std::string Draft::fragment_layout(const std::string& dtype) {
  constexpr std::size_t kMaxDigits = 6;
  GemmCase own = f.gemm;
  own.types.out = dtype;
  const auto turned = tape.one_in(3) ? choose_order(tape, kMaxDigits) : std::vector<std::size_t>{};
  return tile(fragment(own, Role::D, f.m, f.n, turned));
}

std::string Draft::tile_layout(const std::string& dtype, bool& is_packed) {
  is_packed = false;
  switch (f.spread) {
    case Spread::Rows:
      return spread_layout(is_packed);
    case Spread::Fragments:
      return fragment_layout(dtype);
    case Spread::Atoms:
      return fmt::format("tcgen05_atom_layout(\"{}\", {}, \"{}\")", f.atom, tuple(f.tile),
                         bits_of(dtype) == 32   ? "float32"
                         : bits_of(dtype) == 16 ? "float16"
                                                : "uint8");
  }
  return {};
}

void Draft::add_reg(const std::string& name, const std::string& dtype, const Extents& shape,
                    const std::string& layout) {
  line(kTop, fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", name,
                         tuple(shape), dtype, layout));
  regs.push_back({.name = name,
                  .dtype = dtype,
                  .shape = shape,
                  .slots = shape[0] * shape[1] / f.unit_threads});
}

std::string Draft::shared_layout(const Shared& each) {
  const std::int64_t unit = std::max<std::int64_t>(1, 128 / bits_of(each.dtype));
  const std::int64_t rows = each.shape[0], columns = each.shape[1];
  const std::int64_t stage = f.units * each.part;
  const auto plain = [&](std::int64_t row, std::int64_t column) {
    return fmt::format("S[({}, {}, {}, {}) : ({}, {}, {}, {})]", each.stages, f.units, rows,
                       columns, stage, each.part, row, column);
  };
  const auto blocks = [&](std::int64_t wide) {
    return fmt::format("S[({}, {}, {}, {}, {}) : ({}, {}, {}, {}, 1)]", each.stages, f.units, rows,
                       columns / wide, wide, stage, each.part, wide, rows * wide);
  };
  int p = 0;
  while ((std::int64_t{1} << p) < unit) ++p;
  switch (each.kind) {
    case Shared::Kind::Plain:
    case Shared::Kind::Padded:
    case Shared::Kind::Odd:
      return tile(plain(each.row, 1));
    case Shared::Kind::Swizzled:
      return swizzled(p, static_cast<int>(1 + tape.below(3)), 3, plain(each.row, 1));
    case Shared::Kind::Turned:
      return tile(plain(1, rows));
    case Shared::Kind::Matrix: {
      // Rows as wide as the swizzle; without one 16 bytes.
      std::int64_t log = tape.below(4);
      while (log > 0 && columns % (unit << log) != 0) --log;
      if (log == 0) return tile(blocks(unit));
      return swizzled(p, static_cast<int>(log), 3, blocks(unit << log));
    }
  }
  return {};
}

bool Draft::add_shared(const std::string& dtype, const Extents& shape,
                       std::optional<Shared::Kind> kind) {
  using Kind = Shared::Kind;
  static const std::vector<Kind> kKinds = {Kind::Plain, Kind::Padded, Kind::Swizzled, Kind::Odd,
                                           Kind::Turned};
  constexpr int kPattern = 1024;  // bytes that the widest swizzle begins at
  Shared out{.name = fmt::format("s{}", shared.size()), .dtype = dtype, .shape = shape};
  out.stages = tape.one_in(3) ? 2 : 1;
  out.kind = kind ? *kind : tape.pick(kKinds);
  const std::int64_t bytes = bits_of(dtype) / 8;
  const std::int64_t unit = std::max<std::int64_t>(1, 16 / bytes);  // elements of 16 bytes
  out.row = shape[1] + (out.kind == Kind::Padded ? unit : out.kind == Kind::Odd ? 1 : 0);
  out.part = shape[0] * out.row;
  const std::int64_t span = out.stages * f.units * out.part * bytes;
  if (shared_bytes_ + span + kPattern > (f.has_pool ? kMaxPooled : kMaxShared)) return false;
  shared_bytes_ += span;
  std::int64_t align = tape.one_in(3) ? tape.pick<std::int64_t>({16, 128, 8, 256}) : 0;
  if (out.kind == Kind::Matrix) align = kPattern;
  if (align == kPattern) shared_bytes_ += kPattern;
  out.align = std::max(bytes, align);
  const std::string extents = tuple({out.stages, f.units, shape[0], shape[1]});
  const std::string layout = shared_layout(out);
  const std::string aligned = align == 0 ? "" : fmt::format(", align={}", align);
  line(kTop, f.has_pool
                 ? fmt::format("{} = pool.alloc({}, \"{}\"{}, layout={})", out.name, extents, dtype,
                               aligned, layout)
                 : fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"shared\"{}, layout={})",
                               out.name, extents, dtype, aligned, layout));
  shared.push_back(std::move(out));
  return true;
}

bool Draft::add_bytes(const std::string& name, std::int64_t bytes) {
  constexpr std::int64_t kSpare = 1024;
  if (shared_bytes_ + bytes + kSpare > (f.has_pool ? kMaxPooled : kMaxShared)) return false;
  shared_bytes_ += bytes;
  line(kTop, f.has_pool
                 ? fmt::format("{} = pool.alloc(({},), \"uint8\", align=16)", name, bytes)
                 : fmt::format("{} = T.alloc_buffer(({},), \"uint8\", scope=\"shared\", align=16)",
                               name, bytes));
  return true;
}

std::string Draft::workspace() {
  return has_workspace && tape.one_in(2) ? ", workspace={\"scratch\": ws}" : "";
}

void Draft::commit_shared() {
  if (f.has_pool) line(kTop, "pool.commit()");
}

RegTile& Draft::work() {
  return regs[static_cast<std::size_t>(tape.below(static_cast<std::int64_t>(works)))];
}

std::vector<std::pair<RegTile*, Shared*>> Draft::pairs(bool is_load) {
  std::vector<std::pair<RegTile*, Shared*>> out;
  for (RegTile& reg : regs)
    for (Shared& each : shared)
      if (reg.dtype == each.dtype && reg.shape == each.shape && (!is_load || reg.name != "acc"))
        out.emplace_back(&reg, &each);
  return out;
}

// --- regions -------------------------------------------------------------------------------------

Columns Draft::some(const Extents& shape) {
  if (!tape.one_in(6)) return all(shape);
  const std::int64_t begin = tape.below(shape[1]);
  return {begin, 1 + tape.below(shape[1] - begin)};
}

std::string Draft::of(const RegTile& reg, Columns c) {
  return fmt::format("{}[0:{}, {}:{}]", reg.name, reg.shape[0], c.begin, c.begin + c.count);
}
std::string Draft::stage(const Place& at, std::int64_t stages) {
  if (stages == 1) return "0";
  if (at.loops.empty() || tape.one_in(4))
    return tape.pick(std::vector<std::string>{"0", "1", "p0 % 2"});
  return fmt::format("{} % 2", tape.pick(at.loops).first);
}
std::string Draft::of(const Place& at, const Shared& each, const std::string& unit, Columns c) {
  return fmt::format("{}[{}, {}, 0:{}, {}:{}]", each.name, stage(at, each.stages), unit,
                     each.shape[0], c.begin, c.begin + c.count);
}
std::string Draft::units(bool is_all) const {
  return is_all ? fmt::format("0:{}", f.units) : f.unit;
}

// A constant, by the parameter, or so many elements further in each turn of a loop.
Draft::Start Draft::start(const Place& at, std::int64_t extent) {
  if (!tape.one_in(4)) return {};
  const std::int64_t step = tape.pick<std::int64_t>({8, 4, 1, 16});
  switch (tape.below(at.loops.empty() ? 2 : 4)) {
    case 0:
      return {fmt::format("p0 * {}", step), 2 * step};
    case 1:
      return {std::to_string(step), step};
    case 2: {
      const auto& [var, count] = tape.pick(at.loops);
      return {fmt::format("{} * {}", var, extent), (count - 1) * extent};
    }
    default: {
      const auto& [var, count] = tape.pick(at.loops);
      return {fmt::format("({} + p0) * {}", var, step), (count + 1) * step};
    }
  }
}

Source Draft::input(const Place& at, const std::string& dtype, const Extents& shape, Columns c,
                    bool is_all, bool may_be_ragged) {
  const std::string name = fresh("a");
  std::vector<std::string> extents;
  std::string index;
  const auto add = [&](std::int64_t extent, const std::string& at_) {
    extents.push_back(std::to_string(extent));
    index += at_ + ", ";
  };
  if (tape.below(3) != 0) add(f.ctas, "cta");
  for (const auto& [var, count] : at.loops)
    if (tape.below(3) != 0) add(count, var);
  if (is_all || (f.units > 1 && tape.below(4) != 0)) add(f.units, units(is_all));
  Source out;
  const std::int64_t wanted[] = {shape[0], c.count};
  std::string ranges;
  for (const std::int64_t extent : wanted) {
    const Start first = start(at, extent);
    std::int64_t there = extent + first.more;
    std::string there_text = std::to_string(there);
    if (may_be_ragged && tape.one_in(8)) {
      out.is_ragged = true;
      there = std::max<std::int64_t>(1, there - 1 - tape.below(4));
      there_text = std::to_string(there);
      if (tape.one_in(2)) {  // known at launch only
        there_text = fresh("n");
        scalars[there_text] = there;
        matches_ += fmt::format("    {} = T.int32()\n", there_text);
      }
    }
    out.has_fill_value = out.is_ragged && tape.one_in(2);
    extents.push_back(there_text);
    ranges += first.text == "0" ? fmt::format("0:{}, ", extent)
                                : fmt::format("{0}:{0} + {1}, ", first.text, extent);
  }
  params_ += fmt::format("{}_ptr: T.handle, ", name);
  matches_ += fmt::format("    {} = T.match_buffer({}_ptr, ({},), \"{}\")\n", name, name,
                          fmt::join(extents, ", "), dtype);
  ranges.resize(ranges.size() - 2);
  out.text = fmt::format("{}[{}{}]", name, index, ranges);
  return out;
}

std::string Draft::output(const Place& at, const std::string& dtype, const Extents& shape,
                          Columns c, bool is_all, bool is_cut) {
  const std::string name = fresh("o");
  Extents extents{f.ctas};
  std::string index = "cta, ";
  for (const auto& [var, count] : at.loops) {
    extents.push_back(count);
    index += var + ", ";
  }
  const auto left = [&](std::int64_t extent) {
    return is_cut ? std::max<std::int64_t>(1, extent - tape.below(4)) : extent;
  };
  extents.push_back(f.units);
  for (const std::int64_t extent : {shape[0], c.count}) extents.push_back(left(extent));
  param(name, extents, dtype);
  return fmt::format("{}[{}{}, 0:{}, 0:{}]", name, index, units(is_all), shape[0], c.count);
}

std::string Draft::condition(const Place& at, bool is_of_unit) {
  std::vector<std::string> all = {"p0 > 0", "p0 != 1", "cta == 0", "cta + p0 >= 2"};
  for (const auto& [var, count] : at.loops) {
    all.push_back(fmt::format("{} % 2 == 0", var));
    all.push_back(fmt::format("{} < p0", var));
  }
  if (is_of_unit && f.units > 1) {
    all.push_back(f.unit + " != 0");
    all.push_back(fmt::format("({} + p0) % 2 == 1", f.unit));
  }
  return tape.pick(all);
}
std::string Draft::predicate(const Place& at, bool is_of_unit) {
  return tape.one_in(10) ? ", predicate=" + condition(at, is_of_unit) : "";
}

// --- order ---------------------------------------------------------------------------------------

bool Draft::is_left_out(const char* what, const std::set<std::string>& between) {
  const bool is_wait = std::string_view(what) == "wait";
  if (leave_out_ < 0 || is_wait != leaves_out_wait_) return false;
  if (leave_out_-- > 0) return false;
  left_out = LeftOut{what, between};
  return true;
}

void Draft::sync_all(const Place& at) {
  std::set<std::string> between;
  for (Shared& each : shared) {
    if (each.pending.any()) between.insert(each.name);
    each.pending = each.is_arriving ? each.pending.writes() : Pending{};
  }
  if (!is_left_out("barrier", between)) line(at, "T.cuda.cta_sync()");
}
void Draft::sync_unit(const Place& at) {
  if (f.scope == "cta") return sync_all(at);
  std::set<std::string> between;
  for (Shared& each : shared) {
    if (each.pending.any()) between.insert(each.name);
    if (!each.is_arriving) each.pending.settle();
  }
  if (is_left_out("barrier", between)) return;
  line(at, f.scope == "warp" ? "T.cuda.warp_sync()"
                             : fmt::format("T.cuda.warpgroup_sync({} + 1)", f.unit));
}

void Draft::wait(const Place& at) {
  std::set<std::string> arriving;
  for (Shared& each : shared)
    if (std::exchange(each.is_arriving, false)) arriving.insert(each.name);
  if (!arriving.empty() && !is_left_out("wait", arriving)) line(at, "T.ptx.cp_async.wait_group(0)");
}

void Draft::access(const Place& at, Shared& each, bool is_write, bool is_far) {
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

void Draft::clean(const Place& at) {
  wait(at);
  if (std::ranges::none_of(shared, [](const Shared& s) { return s.pending.any(); })) return;
  if (at.is_split)
    sync_unit(at);
  else
    sync_all(at);
}

// --- loops ---------------------------------------------------------------------------------------

// Some go on for as long as the parameter says.
Place Draft::begin_loop(const Place& at) {
  clean(at);
  Place inside = at.inside();
  const std::string var = fresh("i");
  std::int64_t count = 1 + tape.below(kMaxTurns);
  const std::string kind = tape.pick(std::vector<std::string>{"T.serial", "T.unroll", "range"});
  std::string turns = std::to_string(count);
  if (kind != "T.unroll" && tape.one_in(3)) {
    turns = tape.one_in(3) ? "p0" : "p0 + 1";
    count = kMaxTurns;
  }
  inside.loops.emplace_back(var, count);
  line(at, fmt::format("for {} in {}({}):", var, kind, turns));
  return inside;
}
void Draft::end_loop(const Place& inside) { clean(inside); }

bool Draft::has_odd_nans() const {
  const auto is_odd = [](const RegTile& reg) {
    return reg.dtype == "bfloat16" || reg.dtype == "float64" || reg.dtype.starts_with("float8");
  };
  return std::ranges::any_of(regs, is_odd) || std::ranges::any_of(stretched, is_odd);
}

}  // namespace ww::test
