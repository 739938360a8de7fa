// SPDX-License-Identifier: Apache-2.0
// The same storage seen in other ways: dimensions exchanged, a part, other elements, another shape,
// declared over the storage once more.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {
namespace {

bool has_shared(const Draft& draft, const Place&) { return !draft.shared.empty(); }

std::string view_of(Draft& draft, const Shared& each) {
  std::string out = draft.text.fresh("v");
  draft.views[out] = each.name;
  return out;
}

// Either way between registers and a view of shared memory, `reg` and `there` as they are written.
void move(Draft& draft, const Place& at, const std::string& reg, const std::string& there,
          bool is_load) {
  draft.text.line(at, "{}copy({}, {})", draft.f.prefix(), is_load ? reg : there,
                  is_load ? there : reg);
}

struct Pair {
  RegTile* reg = nullptr;
  Shared* shared = nullptr;
  bool is_load = false;
};
// With all that stands before the access.
Pair choose_pair(Draft& draft, const Place& at) {
  const bool is_load = draft.tape.one_in(2);
  const auto all = copy_pairs(draft, is_load);
  if (all.empty()) return {};
  const auto [reg, shared] = draft.tape.pick(all);
  if (reg->is_for_sums || shared->shape != draft.f.tile) return {};
  order_access(draft, at, *shared, !is_load, false);
  return {reg, shared, is_load};
}

void write_permuted(Draft& draft, const Place& at) {
  const Pair pair = choose_pair(draft, at);
  if (pair.reg == nullptr) return;
  const std::string r = draft.text.fresh("v"), s = view_of(draft, *pair.shared);
  draft.text.line(at, "{} = {}.permute(1, 0)", r, pair.reg->name);
  draft.text.line(at, "{} = {}.permute(0, 3, 1, 2)", s, pair.shared->name);
  const Columns c = any_columns(draft, pair.reg->shape);
  const std::string columns = fmt::format("{}:{}", c.begin, c.begin + c.count);
  const std::int64_t rows = pair.reg->shape[0];
  move(draft, at, fmt::format("{}[{}, 0:{}]", r, columns, rows),
       fmt::format("{}[{}, {}, {}, 0:{}]", s, any_stage(draft, at, pair.shared->stages), columns,
                   draft.f.unit, rows),
       pair.is_load);
}

// Where a swizzle takes part, a view that begins somewhere at run time is no plain run of
// addresses: there it has all parts.
void write_part(Draft& draft, const Place& at) {
  const Pair pair = choose_pair(draft, at);
  if (pair.reg == nullptr) return;
  using Kind = Shared::Kind;
  const Kind kind = pair.shared->kind;
  const bool is_swizzled = kind == Kind::Swizzled || kind == Kind::Matrix;
  const std::string stage = any_stage(draft, at, pair.shared->stages);
  const Columns c =
      is_swizzled ? Columns::all(pair.reg->shape) : any_columns(draft, pair.reg->shape);
  const std::string v = view_of(draft, *pair.shared);
  const std::int64_t rows = pair.reg->shape[0];
  const std::string tile = fmt::format("0:{}, {}:{}", rows, c.begin, c.begin + c.count);
  draft.text.line(at, "{} = {}.sub[{}, {}]", v, pair.shared->name,
                  is_swizzled ? fmt::format("0:{}, 0:{}", pair.shared->stages, draft.f.units)
                              : fmt::format("{}, {}", stage, draft.f.unit),
                  tile);
  const std::string inner = fmt::format("0:{}, 0:{}", rows, c.count);
  move(draft, at, region_of(*pair.reg, c),
       is_swizzled ? fmt::format("{}[{}, {}, {}]", v, stage, draft.f.unit, inner)
                   : fmt::format("{}[{}]", v, inner),
       pair.is_load);
}

// Elements of another width, of which a row has a whole number.
std::string other_type(Draft& draft, std::int64_t bits, std::int64_t columns) {
  static const std::vector<std::pair<std::string, std::int64_t>> kTypes = {
      {"uint32", 32}, {"uint16", 16}, {"uint8", 8}, {"int64", 64}, {"float32", 32}};
  const auto& [name, width] = draft.tape.pick(kTypes);
  return width == bits || columns * bits % width != 0 ? "" : name;
}

// Through the view from an input or to an output, by the part's unit.
void write_type(Draft& draft, const Place& at) {
  Shared& each = draft.tape.pick(draft.shared);
  const std::int64_t bits = bits_of(each.dtype);
  const std::string dtype = other_type(draft, bits, each.shape[1]);
  if (dtype.empty() || each.kind == Shared::Kind::Turned || each.shape != draft.f.tile) return;
  if (each.row * bits % bits_of(dtype) != 0 || each.align * 8 % bits_of(dtype) != 0) return;
  const bool is_load = draft.tape.one_in(2);
  order_access(draft, at, each, is_load, false);
  const Extents shape{each.shape[0], each.shape[1] * bits / bits_of(dtype)};
  const std::string v = view_of(draft, each);
  draft.text.line(at, "{} = {}.view(\"{}\")", v, each.name, dtype);
  const Columns c = any_columns(draft, shape);
  Shared seen = each;
  seen.name = v;
  seen.shape = shape;
  const std::string here = region_of(draft, at, seen, draft.f.unit, c);
  const std::string there = is_load ? new_input(draft, at, dtype, shape, c, false, false).text
                                    : new_output(draft, at, dtype, shape, c, false);
  move(draft, at, here, there, is_load);
}

// Rows of another length.
void write_shape(Draft& draft, const Place& at) {
  Shared& each = draft.tape.pick(draft.shared);
  if (each.row != each.shape[1] || each.kind == Shared::Kind::Turned ||
      each.kind == Shared::Kind::Matrix || each.shape != draft.f.tile)
    return;
  const std::int64_t size = each.shape[0] * each.shape[1];
  std::vector<std::int64_t> lengths;
  for (std::int64_t d = 1; d <= size; ++d)
    if (size % d == 0) lengths.push_back(d);
  const std::int64_t length = draft.tape.pick(lengths);
  const bool is_load = draft.tape.one_in(2);
  order_access(draft, at, each, is_load, false);
  Shared seen = each;
  seen.name = view_of(draft, each);
  seen.shape = {size / length, length};
  draft.text.line(at, "{} = {}.view({}, {}, {}, {})", seen.name, each.name, each.stages,
                  draft.f.units, size / length, length);
  const Columns c = Columns::all(seen.shape);
  const std::string here = region_of(draft, at, seen, draft.f.unit, c);
  const std::string there = is_load
                                ? new_input(draft, at, each.dtype, seen.shape, c, false, false).text
                                : new_output(draft, at, each.dtype, seen.shape, c, false);
  move(draft, at, here, there, is_load);
}

bool has_rows(const Draft& draft, const Place&) { return draft.f.spread == Spread::Rows; }

void write_register(Draft& draft, const Place& at) {
  const RegTile& reg = any_work(draft);
  const std::int64_t bits = bits_of(reg.dtype);
  const std::string dtype = other_type(draft, bits, draft.f.each);
  if (dtype.empty() || !reg.is_packed) return;
  if (is_real(reg) && draft.changes_signs) return;
  draft.shows_bits = draft.shows_bits || is_real(reg);
  RegTile seen = reg;
  seen.name = draft.text.fresh("v");
  seen.dtype = dtype;
  seen.shape[1] = reg.shape[1] * bits / bits_of(dtype);
  draft.text.line(at, "{} = {}.view(\"{}\")", seen.name, reg.name, dtype);
  // Bits of a float that nobody has chosen may be a NaN: out they go, and none come in.
  store(draft, at, seen);
}

// One stage of the tile, declared over its storage.
void write_declared(Draft& draft, const Place& at) {
  const Pair pair = choose_pair(draft, at);
  if (pair.reg == nullptr) return;
  const Shared& each = *pair.shared;
  using Kind = Shared::Kind;
  if (each.kind == Kind::Swizzled || each.kind == Kind::Matrix || each.kind == Kind::Turned) return;
  const std::int64_t stage = draft.tape.below(each.stages);
  const std::string v = view_of(draft, each);
  draft.text.line(at,
                  "{} = T.decl_buffer({}, \"{}\", data={}.data, elem_offset={}, "
                  "scope=\"shared\", layout={})",
                  v, tuple({draft.f.units, each.shape[0], each.shape[1]}), each.dtype, each.name,
                  stage * draft.f.units * each.part,
                  tile(fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", draft.f.units, each.shape[0],
                                   each.shape[1], each.part, each.row)));
  const Columns c = any_columns(draft, each.shape);
  move(draft, at, region_of(*pair.reg, c),
       fmt::format("{}[{}, 0:{}, {}:{}]", v, draft.f.unit, each.shape[0], c.begin,
                   c.begin + c.count),
       pair.is_load);
}
// In a pool `data` is the pool's.
bool has_own_storage(const Draft& draft, const Place&) {
  return !draft.shared.empty() && !draft.f.has_pool;
}

}  // namespace

const Step kPermutedView{.name = "view: permute", .fits = has_shared, .write = write_permuted};
const Step kPartView{.name = "view: sub", .fits = has_shared, .write = write_part};
const Step kTypeView{.name = "view: other elements", .fits = has_shared, .write = write_type};
const Step kShapeView{.name = "view: other shape", .fits = has_shared, .write = write_shape};
const Step kRegisterView{
    .name = "view: registers, other elements", .fits = has_rows, .write = write_register};
const Step kDeclaredView{
    .name = "view: decl_buffer", .fits = has_own_storage, .write = write_declared};

}  // namespace ww::test
