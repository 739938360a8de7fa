// SPDX-License-Identifier: Apache-2.0
#include "soak/tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ww::test {
namespace {

constexpr std::int64_t kMaxShared = 40000;  // bytes
constexpr std::int64_t kMaxPooled = 60000;
constexpr std::int64_t kPattern = 1024;  // bytes that the widest swizzle begins at

RegLayout spread_layout(Draft& draft) {
  const Frame& f = draft.f;
  const bool is_turned = draft.tape.one_in(3);
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
  return {tile(fmt::format("S[({},) : ({},)]", fmt::join(extents, ", "), fmt::join(strides, ", "))),
          !is_turned || f.rounds == 1};
}

std::string fragment_layout(Draft& draft, const std::string& dtype) {
  constexpr std::size_t kMaxDigits = 6;
  const Frame& f = draft.f;
  GemmCase own = f.gemm;
  own.types.out = dtype;
  const auto turned =
      draft.tape.one_in(3) ? choose_order(draft.tape, kMaxDigits) : std::vector<std::size_t>{};
  return tile(fragment(own, Role::D, f.m, f.n, turned));
}

std::string shared_layout(Draft& draft, const Shared& each) {
  const std::int64_t unit = std::max<std::int64_t>(1, 128 / bits_of(each.dtype));
  const std::int64_t rows = each.shape[0], columns = each.shape[1];
  const std::int64_t units = draft.f.units, stage = units * each.part;
  const auto plain = [&](std::int64_t row, std::int64_t column) {
    return fmt::format("S[({}, {}, {}, {}) : ({}, {}, {}, {})]", each.stages, units, rows, columns,
                       stage, each.part, row, column);
  };
  const auto blocks = [&](std::int64_t wide) {
    return fmt::format("S[({}, {}, {}, {}, {}) : ({}, {}, {}, {}, 1)]", each.stages, units, rows,
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
      return swizzled(p, static_cast<int>(1 + draft.tape.below(3)), 3, plain(each.row, 1));
    case Shared::Kind::Turned:
      return tile(plain(1, rows));
    case Shared::Kind::Matrix: {
      // Rows as wide as the swizzle; without one 16 bytes.
      std::int64_t log = draft.tape.below(4);
      while (log > 0 && columns % (unit << log) != 0) --log;
      if (log == 0) return tile(blocks(unit));
      return swizzled(p, static_cast<int>(log), 3, blocks(unit << log));
    }
  }
  return {};
}

// False where there is no room for so many bytes and what comes before a swizzle.
bool take_bytes(Draft& draft, std::int64_t bytes) {
  const std::int64_t room = draft.f.has_pool ? kMaxPooled : kMaxShared;
  if (draft.shared_bytes + bytes + kPattern > room) return false;
  draft.shared_bytes += bytes;
  return true;
}

void declare_shared(Draft& draft, const std::string& name, const std::string& extents,
                    const std::string& dtype, const std::string& settings) {
  draft.text.line({}, "{} = {}({}, \"{}\"{}{})", name,
                  draft.f.has_pool ? "pool.alloc" : "T.alloc_buffer", extents, dtype,
                  draft.f.has_pool ? "" : ", scope=\"shared\"", settings);
}

}  // namespace

std::string any_type(Draft& draft) {
  static const std::vector<std::string> kTypes = {
      "float32",       "float16",     "int32",   "bfloat16",      "uint8",        "int16",
      "int8",          "float32",     "float64", "int64",         "uint16",       "uint32",
      "float8_e4m3fn", "float8_e5m2", "uint64",  "float6_e2m3fn", "float6_e3m2fn"};
  static const std::vector<std::string> kOfLanes = {
      "float32", "int32", "float16", "bfloat16", "uint8", "uint32", "int16", "float8_e4m3fn"};
  const Frame& f = draft.f;
  std::string out = draft.tape.pick(f.has_tensor ? kOfLanes : kTypes);
  // Of which thread an element is depends on how wide they are.
  if (f.spread == Spread::Atoms && !draft.regs.empty() &&
      bits_of(out) != bits_of(draft.regs[0].dtype))
    return draft.regs[0].dtype;
  return out == "bfloat16" && f.number() < 80 ? "float32" : out;
}

bool has_odd_nans(const Draft& draft) {
  const auto is_odd = [](const RegTile& reg) {
    return reg.dtype == "bfloat16" || reg.dtype == "float64" || reg.dtype.starts_with("float8");
  };
  return std::ranges::any_of(draft.regs, is_odd) || std::ranges::any_of(draft.stretched, is_odd);
}

// --- registers -----------------------------------------------------------------------------------

RegLayout tile_layout(Draft& draft, const std::string& dtype) {
  switch (draft.f.spread) {
    case Spread::Rows:
      return spread_layout(draft);
    case Spread::Fragments:
      return {fragment_layout(draft, dtype)};
    case Spread::Atoms:
      return {fmt::format("tcgen05_atom_layout(\"{}\", {}, \"{}\")", draft.f.atom,
                          tuple(draft.f.tile),
                          bits_of(dtype) == 32   ? "float32"
                          : bits_of(dtype) == 16 ? "float16"
                                                 : "uint8")};
  }
  return {};
}

RegTile& add_reg(Draft& draft, const std::string& name, const std::string& dtype,
                 const Extents& shape, const std::string& layout) {
  draft.text.line({}, "{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", name,
                  tuple(shape), dtype, layout);
  draft.regs.push_back({.name = name,
                        .dtype = dtype,
                        .shape = shape,
                        .slots = shape[0] * shape[1] / draft.f.unit_threads});
  return draft.regs.back();
}

RegTile& any_work(Draft& draft) {
  return draft
      .regs[static_cast<std::size_t>(draft.tape.below(static_cast<std::int64_t>(draft.works)))];
}

std::vector<std::pair<RegTile*, Shared*>> copy_pairs(Draft& draft, bool is_load) {
  std::vector<std::pair<RegTile*, Shared*>> out;
  for (RegTile& reg : draft.regs)
    for (Shared& each : draft.shared)
      if (reg.dtype == each.dtype && reg.shape == each.shape && (!is_load || reg.name != "acc"))
        out.emplace_back(&reg, &each);
  return out;
}

// --- shared memory -------------------------------------------------------------------------------

bool add_shared(Draft& draft, const std::string& dtype, const Extents& shape,
                std::optional<Shared::Kind> kind) {
  using Kind = Shared::Kind;
  static const std::vector<Kind> kKinds = {Kind::Plain, Kind::Padded, Kind::Swizzled, Kind::Odd,
                                           Kind::Turned};
  Tape& tape = draft.tape;
  Shared out{.name = fmt::format("s{}", draft.shared.size()), .dtype = dtype, .shape = shape};
  out.stages = tape.one_in(3) ? 2 : 1;
  out.kind = kind ? *kind : tape.pick(kKinds);
  const std::int64_t bytes = bits_of(dtype) / 8;
  const std::int64_t unit = std::max<std::int64_t>(1, 16 / bytes);  // elements of 16 bytes
  out.row = shape[1] + (out.kind == Kind::Padded ? unit : out.kind == Kind::Odd ? 1 : 0);
  out.part = shape[0] * out.row;
  if (!take_bytes(draft, out.stages * draft.f.units * out.part * bytes)) return false;
  std::int64_t align = tape.one_in(3) ? tape.pick<std::int64_t>({16, 128, 8, 256}) : 0;
  if (out.kind == Kind::Matrix) align = kPattern;
  if (align == kPattern) draft.shared_bytes += kPattern;
  out.align = std::max(bytes, align);
  declare_shared(draft, out.name, tuple({out.stages, draft.f.units, shape[0], shape[1]}), dtype,
                 fmt::format("{}, layout={}", align == 0 ? "" : fmt::format(", align={}", align),
                             shared_layout(draft, out)));
  draft.shared.push_back(std::move(out));
  return true;
}

bool add_bytes(Draft& draft, const std::string& name, std::int64_t bytes) {
  if (!take_bytes(draft, bytes)) return false;
  declare_shared(draft, name, tuple({bytes}), "uint8", ", align=16");
  return true;
}

std::string any_workspace(Draft& draft) {
  return draft.has_workspace && draft.tape.one_in(2) ? ", workspace={\"scratch\": ws}" : "";
}

}  // namespace ww::test
