// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/named_layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/join.h"
#include "base/split.h"
#include "base/suggest.h"
#include "layout/apply.h"
#include "layout/image.h"
#include "layout/ready_made.h"

namespace ww::driver {

// --- named args ----------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kLargestSmall = 1 << 30;

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

std::optional<std::string_view> choose(std::string_view choices, std::string_view word) {
  for (const std::string_view choice : split_words(choices))
    if (same_word(choice, word)) return choice;
  return std::nullopt;
}

Diag refused(const LayoutParam& param, Piece piece) {
  return diag_at(piece.span(), DiagKind::BadArgument, "{} is `{}`; accepted: {}", param.name,
                 piece.text, join(split_words(param.choices), ", "));
}

Result<std::int64_t> read_number(const LayoutParam& param, Piece piece) {
  const std::int64_t value = WW_TRY(parse_int(piece));
  if (!param.choices.empty() && !choose(param.choices, fmt::format("{}", value)))
    return fail(refused(param, piece));
  return value;
}

Result<std::string_view> read_word(const LayoutParam& param, Piece piece) {
  if (param.choices.empty()) return piece.text;
  if (const auto choice = choose(param.choices, piece.text)) return *choice;
  Diag bad = refused(param, piece);
  bad.text += did_you_mean(piece.text, split_words(param.choices));
  return fail(std::move(bad));
}

Result<num::DType> read_dtype(const LayoutParam& param, Piece piece) {
  const num::DType type = WW_TRY(located(num::parse_dtype(piece.text), piece));
  if (param.choices.empty() || choose(param.choices, fmt::format("{}", num::bits_of(type))))
    return type;
  return fail_at(piece.span(), DiagKind::BadArgument,
                 "{} is `{}`, {} bits wide; accepted widths: {}", param.name, piece.text,
                 num::bits_of(type), join(split_words(param.choices), ", "));
}

// `64x64`, or what parse_ints reads.
Result<layout::Shape> read_dims(Piece piece) {
  if (piece.text.find('x') == std::string_view::npos) return parse_ints(piece);
  layout::Shape dims;
  for (const Piece& part : split_top(piece, 'x')) dims.push_back(WW_TRY(parse_int(part)));
  return dims;
}

bool is_list(LayoutParamKind kind) {
  return kind == LayoutParamKind::Int || kind == LayoutParamKind::Ints;
}

// Which parameter an argument is for: by keyword, by being a flag's bare name, or by its turn.
class Assigner {
 public:
  Assigner(std::string_view name, std::span<const LayoutParam> params)
      : name_(name), params_(params) {}

  Result<std::size_t> by_keyword(Piece keyword) {
    for (std::size_t i = 0; i < params_.size(); ++i)
      if (params_[i].name == keyword.text) return i;
    std::vector<std::string_view> names;
    for (const LayoutParam& param : params_) names.push_back(param.name);
    return fail(diag_at(keyword.span(), DiagKind::UnknownName, "`{}` has no parameter `{}`{}",
                        name_, keyword.text, did_you_mean(keyword.text, names))
                    .with_note(usage()));
  }

  Result<std::size_t> by_turn(Piece piece) {
    for (std::size_t i = 0; i < params_.size(); ++i)
      if (params_[i].kind == LayoutParamKind::Flag && params_[i].name == piece.text) return i;
    if (turn_ == params_.size())
      return fail(diag_at(piece.span(), DiagKind::BadArgument,
                          "`{}` takes at most {} argument{}, and `{}` is one more", name_,
                          params_.size(), params_.size() == 1 ? "" : "s", piece.text)
                      .with_note(usage()));
    return params_[turn_].kind == LayoutParamKind::Ints ? turn_ : turn_++;
  }

  [[nodiscard]] bool next_takes_list() const {
    return turn_ < params_.size() && is_list(params_[turn_].kind);
  }
  [[nodiscard]] std::string usage() const {
    return fmt::format("usage: {}({})", name_, signature_of(params_));
  }

 private:
  std::string_view name_;
  std::span<const LayoutParam> params_;
  std::size_t turn_ = 0;
};

// A parenthesised list where numbers are due stands for its numbers.
std::vector<Piece> expanded(Piece piece, const Assigner& assigner) {
  if (assigner.next_takes_list() && piece.text.starts_with('('))
    return split_top(unwrapped(piece), ',');
  return {piece};
}

}  // namespace

std::string signature_of(std::span<const LayoutParam> params) {
  std::string out;
  for (const LayoutParam& param : params) {
    if (!out.empty()) out += ", ";
    const std::string_view dots = param.kind == LayoutParamKind::Ints ? "..." : "";
    out += param.optional ? fmt::format("[{}{}]", param.name, dots)
                          : fmt::format("{}{}", param.name, dots);
  }
  return out;
}

Result<NamedArgs::Value> NamedArgs::read_flag(const LayoutParam& param, Piece piece) {
  Value value{.is_given = true, .piece = piece, .numbers = {}, .word = {}};
  if (same_word(piece.text, param.name) || same_word(piece.text, "true") || piece.text == "1") {
    value.numbers.push_back(1);
    return value;
  }
  if (same_word(piece.text, "false") || piece.text == "0") return value;
  return fail_at(piece.span(), DiagKind::BadArgument, "{} is `{}`; accepted: {}, true, false",
                 param.name, piece.text, param.name);
}

Result<NamedArgs::Value> NamedArgs::read(const LayoutParam& param, Piece quoted) {
  const Piece piece = unquoted(quoted);
  if (piece.empty())
    return fail_at(piece.span(), DiagKind::Syntax, "expected {}, found nothing", param.name);
  Value value{.is_given = true, .piece = piece, .numbers = {}, .word = {}};
  switch (param.kind) {
    case LayoutParamKind::Int:
    case LayoutParamKind::Ints:
      value.numbers.push_back(WW_TRY(read_number(param, piece)));
      break;
    case LayoutParamKind::Dims:
      value.numbers = WW_TRY(read_dims(piece));
      break;
    case LayoutParamKind::Word:
      value.word = WW_TRY(read_word(param, piece));
      break;
    case LayoutParamKind::DType:
      value.dtype = WW_TRY(read_dtype(param, piece));
      break;
    case LayoutParamKind::Flag:
      return read_flag(param, piece);
  }
  return value;
}

// A second value is welcome only where a parameter takes a list.
Result<void> NamedArgs::store(const LayoutParam& param, std::size_t index, Piece piece) {
  Value value = WW_TRY(read(param, piece));
  Value& bound = bound_[index];
  if (!bound.is_given) {
    bound = std::move(value);
    return {};
  }
  if (param.kind != LayoutParamKind::Ints)
    return fail_at(piece.span(), DiagKind::BadArgument, "{} is given twice", param.name);
  bound.numbers.push_back(value.numbers.front());
  const std::size_t begin = bound.piece.offset;
  bound.piece = {arguments_.text.substr(begin - arguments_.offset, piece.span().end - begin),
                 begin};
  return {};
}

Result<NamedArgs> NamedArgs::bind(std::string_view name, Piece arguments,
                                  std::span<const LayoutParam> params) {
  NamedArgs args;
  args.arguments_ = arguments;
  args.bound_.resize(params.size());
  Assigner assigner(name, params);
  for (const Piece& argument : split_top(arguments, ',')) {
    const auto keyword = cut_first(argument, '=');
    if (keyword && !keyword->first.empty() &&
        std::ranges::all_of(keyword->first.text, is_name_char)) {
      const std::size_t index = WW_TRY(assigner.by_keyword(keyword->first));
      WW_TRY_VOID(args.store(params[index], index, keyword->second));
      continue;
    }
    for (const Piece& piece : expanded(argument, assigner)) {
      const std::size_t index = WW_TRY(assigner.by_turn(piece));
      WW_TRY_VOID(args.store(params[index], index, piece));
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i)
    if (!params[i].optional && !args.has(i))
      return fail(
          diag_at(arguments.span(), DiagKind::BadArgument, "`{}` needs {}", name, params[i].name)
              .with_note(assigner.usage()));
  return args;
}

std::int64_t NamedArgs::number(std::size_t param, std::int64_t otherwise) const {
  return has(param) ? bound_[param].numbers.front() : otherwise;
}

// Clamped, so that a silly value stays silly instead of wrapping into a plausible one.
int NamedArgs::small(std::size_t param, int otherwise) const {
  return static_cast<int>(
      std::clamp<std::int64_t>(number(param, otherwise), -kLargestSmall, kLargestSmall));
}

Piece NamedArgs::place(std::size_t param) const {
  return has(param) ? bound_[param].piece : arguments_;
}

namespace {

using layout::Layout;
using layout::Shape;
using layout::SwizzleMode;

constexpr std::size_t kAll = std::string_view::npos;
constexpr std::string_view kModes = "none 32B 64B 128B";
constexpr std::string_view kModesAndAuto = "none 32B 64B 128B auto";

NotatedLayout notated(Layout layout, Shape shape, std::optional<int> bits = {}) {
  return {std::move(layout), std::move(shape), bits};
}

SwizzleMode mode_of(std::string_view word) {
  if (word == "32B") return SwizzleMode::B32;
  if (word == "64B") return SwizzleMode::B64;
  return word == "128B" ? SwizzleMode::B128 : SwizzleMode::None;
}

// ---- plain and shared memory

constexpr std::array kRowMajor = {LayoutParam{"extent", LayoutParamKind::Ints}};

Result<NotatedLayout> row_major(const NamedArgs& args) {
  return notated(WW_TRY(layout::TileLayout::row_major(args.numbers(0))), args.numbers(0));
}

constexpr std::array kMmaShared = {LayoutParam{"dtype", LayoutParamKind::DType, "4 8 16 32 64"},
                                   LayoutParam{"mode", LayoutParamKind::Word, kModesAndAuto},
                                   LayoutParam{"extent", LayoutParamKind::Ints}};

Result<NotatedLayout> mma_shared(const NamedArgs& args) {
  const int bits = args.bits(0);
  const SwizzleMode mode = args.word(1) == "auto" ? layout::widest_swizzle(args.numbers(2), bits)
                                                  : mode_of(args.word(1));
  auto made = WW_TRY(layout::mma_shared(args.numbers(2), mode, bits));
  return notated(std::move(made), args.numbers(2), bits);
}

constexpr std::array kMmaAtom = {LayoutParam{"dtype", LayoutParamKind::DType, "4 8 16 32 64"},
                                 LayoutParam{"mode", LayoutParamKind::Word, kModes}};

Result<NotatedLayout> mma_atom(const NamedArgs& args) {
  const int bits = args.bits(0);
  auto made = WW_TRY(layout::mma_atom(mode_of(args.word(1)), bits));
  const Shape shape = made.size() % 8 == 0 ? Shape{8, made.size() / 8} : Shape{made.size()};
  return notated(std::move(made), shape, bits);
}

constexpr std::array kScaleSmem = {LayoutParam{"rows"}, LayoutParam{"sf_k"},
                                   LayoutParam{"q", LayoutParamKind::Int, "1 2 4"}};

Result<NotatedLayout> scale_factor_smem(const NamedArgs& args) {
  auto made = WW_TRY(layout::scale_factor_smem(args.number(0), args.number(1), args.number(2)));
  return notated(std::move(made), {args.number(0), args.number(1)}, 8);
}

// ---- register fragments

constexpr std::array kMmaFrag = {LayoutParam{"operand", LayoutParamKind::Word, "A B C D"},
                                 LayoutParam{"k", LayoutParamKind::Int, "4 8 16 32"},
                                 LayoutParam{"dtype", LayoutParamKind::DType, "8 16 32 64"}};

// Rows and columns follow from the element count: A is rows × k, B is k × 8, C and D rows × 8.
Result<NotatedLayout> mma_fragment(const NamedArgs& args) {
  const int bits = args.bits(2);
  auto made = WW_TRY(layout::mma_fragment(args.word(0).front(), args.small(1), bits));
  const std::int64_t cols = args.word(0) == "A" ? args.number(1) : 8;
  const Shape shape = {made.size() / cols, cols};
  return notated(std::move(made), shape, bits);
}

constexpr std::array kMmaTile = {LayoutParam{"operand", LayoutParamKind::Word, "A B C D"},
                                 LayoutParam{"shape", LayoutParamKind::Dims},
                                 LayoutParam{"dtype", LayoutParamKind::DType, "4 8 16 32 64"},
                                 LayoutParam{"warps", LayoutParamKind::Dims, {}, true},
                                 LayoutParam{"transposed", LayoutParamKind::Flag, {}, true}};

Result<NotatedLayout> mma_tile(const NamedArgs& args) {
  const int bits = args.bits(2);
  layout::WarpGrid warps;
  if (const Shape& grid = args.numbers(3); args.has(3)) {
    if (grid.size() != 2)
      return fail(DiagKind::RankMismatch, "{} numbers of warps, expected MxN, such as 2x4",
                  grid.size());
    warps = {grid[0], grid[1]};
  }
  auto made =
      WW_TRY(layout::mma_tile(args.word(0).front(), args.numbers(1), bits, warps, args.flag(4)));
  return notated(std::move(made), args.numbers(1), bits);
}

constexpr std::array kWgmmaTile = {LayoutParam{"operand", LayoutParamKind::Word, "A C D"},
                                   LayoutParam{"shape", LayoutParamKind::Dims},
                                   LayoutParam{"dtype", LayoutParamKind::DType, "8 16 32"},
                                   LayoutParam{.name = "warpgroups", .optional = true}};

Result<NotatedLayout> wgmma_tile(const NamedArgs& args) {
  const int bits = args.bits(2);
  const std::int64_t groups = args.has(3) ? args.number(3) : 1;
  auto made = WW_TRY(layout::wgmma_tile(args.word(0).front(), args.numbers(1), bits, groups));
  return notated(std::move(made), args.numbers(1), bits);
}

constexpr std::array kCoalesced = {LayoutParam{"shape", LayoutParamKind::Dims},
                                   LayoutParam{"threads"},
                                   LayoutParam{"dtype", LayoutParamKind::DType}};

Result<NotatedLayout> coalesced(const NamedArgs& args) {
  const int bits = args.bits(2);
  return notated(WW_TRY(layout::coalesced(args.numbers(0), args.number(1), bits)), args.numbers(0),
                 bits);
}

constexpr std::array kOwned = {LayoutParam{"shape", LayoutParamKind::Dims}, LayoutParam{"threads"}};

template <auto kMake>
Result<NotatedLayout> owned(const NamedArgs& args) {
  return notated(WW_TRY(kMake(args.numbers(0), args.number(1), layout::axes::tx())),
                 args.numbers(0));
}

constexpr std::array kLdmatrix = {LayoutParam{"num", LayoutParamKind::Int, "1 2 4"},
                                  LayoutParam{"trans", LayoutParamKind::Flag, {}, true}};

Result<NotatedLayout> ldmatrix_fragment(const NamedArgs& args) {
  auto made = WW_TRY(layout::ldmatrix_fragment(args.small(0), args.flag(1)));
  return notated(std::move(made), {8, 8 * args.number(0)}, 16);
}

constexpr std::array kWgLocal = {LayoutParam{"cols"},
                                 LayoutParam{"rows", LayoutParamKind::Int, {}, true}};

Result<NotatedLayout> wg_local(const NamedArgs& args) {
  const std::int64_t rows = args.number(1, 128);
  return notated(WW_TRY(layout::wg_local(args.number(0), rows)), {rows, args.number(0)});
}

constexpr std::array kTcgen05Atom = {
    LayoutParam{"shape", LayoutParamKind::Word, "32x32b 16x64b 16x128b 16x256b"},
    LayoutParam{"rows", LayoutParamKind::Int, "64 128"}, LayoutParam{"cols"},
    LayoutParam{"dtype", LayoutParamKind::DType, "16 32"}};

Result<NotatedLayout> tcgen05_atom(const NamedArgs& args) {
  const int bits = args.bits(3);
  auto made = WW_TRY(layout::tcgen05_atom(args.word(0), args.number(1), args.number(2), bits));
  return notated(std::move(made), {args.number(1), args.number(2)}, bits);
}

// ---- tensor memory

constexpr std::array kDatapath = {LayoutParam{"letter", LayoutParamKind::Word, "A B C D E F G"},
                                  LayoutParam{"rows"}, LayoutParam{"cols"},
                                  LayoutParam{"sub_slab", LayoutParamKind::Int, "0 1", true}};

Result<NotatedLayout> tmem_datapath(const NamedArgs& args) {
  auto made = WW_TRY(
      layout::tmem_datapath(args.word(0).front(), args.number(1), args.number(2), args.small(3)));
  return notated(std::move(made), {args.number(1), args.number(2)});
}

constexpr std::array kTmemOperand = {LayoutParam{"operand", LayoutParamKind::Word, "A D"},
                                     LayoutParam{"shape", LayoutParamKind::Dims},
                                     LayoutParam{"m", LayoutParamKind::Int, "64 128 256"},
                                     LayoutParam{"cta_group", LayoutParamKind::Int, "1 2", true},
                                     LayoutParam{"ws", LayoutParamKind::Flag, {}, true},
                                     LayoutParam{"sparse", LayoutParamKind::Flag, {}, true},
                                     LayoutParam{"group", LayoutParamKind::Dims, {}, true}};

Result<NotatedLayout> tmem_mma_operand(const NamedArgs& args) {
  const layout::TmemOperand operand = {.operand = args.word(0).front(),
                                       .m = args.small(2),
                                       .cta_group = args.small(3, 1),
                                       .ws = args.flag(4),
                                       .sparse = args.flag(5),
                                       .group = {args.numbers(6).begin(), args.numbers(6).end()}};
  return notated(WW_TRY(layout::tmem_mma_operand(args.numbers(1), operand)), args.numbers(1));
}

constexpr std::array kScaleTmem = {LayoutParam{"rows"}, LayoutParam{"sf_k"},
                                   LayoutParam{"q", LayoutParamKind::Int, "1 2 4"},
                                   LayoutParam{"reuse", LayoutParamKind::Int, {}, true},
                                   LayoutParam{"pipe", LayoutParamKind::Int, {}, true}};

Result<NotatedLayout> scale_factor_tmem(const NamedArgs& args) {
  const std::int64_t reuse = args.number(3, 1);
  const std::int64_t pipe = args.number(4, 1);
  auto made = WW_TRY(
      layout::scale_factor_tmem(args.number(0), args.number(1), args.number(2), reuse, pipe));
  Shape shape = {args.number(0), args.number(1)};
  if (reuse > 1) shape.push_back(reuse);
  if (pipe > 1) shape.insert(0, pipe);
  return notated(std::move(made), shape, 8);
}

constexpr std::array kTcgen05Cp = {
    LayoutParam{"shape", LayoutParamKind::Word,
                "128x256b 128x128b 4x256b 64x128b_02_13 64x128b_01_23 32x128b_warpx4"}};

Result<NotatedLayout> tcgen05_cp(const NamedArgs& args) {
  auto made = WW_TRY(layout::tcgen05_cp_lanes(args.word(0)));
  const Shape shape = {made.size()};
  return notated(std::move(made), shape);
}

// ---- the table

constexpr std::array kTable = {
    NamedLayout{"row_major", "", kRowMajor,
                "elements one after another on m, the last extent fastest", "row_major(8,16)", kAll,
                row_major},
    NamedLayout{"mma_shared", "mma_shared_layout", kMmaShared,
                "shared-memory operand tile of TMA and tensor-core instructions",
                "mma_shared(float16,128B,64,64)", 2, mma_shared},
    NamedLayout{"mma_atom", "mma_atom_layout", kMmaAtom,
                "eight rows of one swizzle width: the unit mma_shared repeats",
                "mma_atom(float16,128B)", kAll, mma_atom},
    NamedLayout{"mma_frag", "mma_fragment mma_fragment_layout", kMmaFrag,
                "registers of an mma.sync.m16n8k{k} operand over one warp",
                "mma_frag(A,16,float16)", kAll, mma_fragment},
    NamedLayout{"mma_tile", "mma_tile_layout", kMmaTile,
                "registers of an operand of products over a tile and a grid of warps",
                "mma_tile(D,64x64,float32,2x2)", kAll, mma_tile},
    NamedLayout{"wgmma_tile", "wgmma_tile_layout", kWgmmaTile,
                "registers of A, C or D of wgmma over a tile and its warpgroups",
                "wgmma_tile(D,64x32,float32)", kAll, wgmma_tile},
    NamedLayout{"coalesced", "coalesced_layout", kCoalesced,
                "registers of threads, neighbouring vectors in neighbouring threads",
                "coalesced(16x64,128,float32)", kAll, coalesced},
    NamedLayout{"row_owned", "row_layout", kOwned, "registers of threads that have whole rows",
                "row_owned(64x32,64)", kAll, owned<layout::row_owned>},
    NamedLayout{"column_owned", "column_layout", kOwned,
                "registers of threads that have whole columns", "column_owned(32x64,64)", kAll,
                owned<layout::column_owned>},
    NamedLayout{"ldmatrix_frag", "ldmatrix_fragment ldmatrix_fragment_layout", kLdmatrix,
                "registers that ldmatrix.m8n8 fills, num matrices side by side",
                "ldmatrix_frag(4,trans)", kAll, ldmatrix_fragment},
    NamedLayout{"wg_local", "wg_local_layout", kWgLocal,
                "one row per thread of a warpgroup (128 rows)", "wg_local(32)", kAll, wg_local},
    NamedLayout{"tcgen05_atom", "tcgen05_atom_layout", kTcgen05Atom,
                "registers of a warpgroup for tcgen05.ld and tcgen05.st",
                "tcgen05_atom(16x256b,64,64,float32)", 2, tcgen05_atom},
    NamedLayout{"tmem_datapath", "tmem_datapath_layout", kDatapath,
                "accumulator in tensor memory for datapath A to G", "tmem_datapath(F,64,128)", kAll,
                tmem_datapath},
    NamedLayout{"tmem_mma_operand", "tmem_mma_operand_layout", kTmemOperand,
                "operand A or D of an MMA in tensor memory", "tmem_mma_operand(D,128x64,128)", kAll,
                tmem_mma_operand},
    NamedLayout{"scale_factor_tmem", "scale_factor_tmem_layout", kScaleTmem,
                "block scale factors in tensor memory", "scale_factor_tmem(128,8,4)", kAll,
                scale_factor_tmem},
    NamedLayout{"scale_factor_smem", "scale_factor_smem_layout", kScaleSmem,
                "block scale factors in shared memory", "scale_factor_smem(128,8,4)", kAll,
                scale_factor_smem},
    NamedLayout{"tcgen05_cp", "tcgen05_cp_lanes", kTcgen05Cp,
                "tensor-memory lanes that tcgen05.cp writes", "tcgen05_cp(64x128b_02_13)", 0,
                tcgen05_cp},
};

// Words of the notation that are followed by a parenthesis themselves.
constexpr std::array<std::string_view, 3> kNotationCalls = {"ComposeLayout", "SwizzleLayout",
                                                            "TileLayout"};

// `T.name` and `Tx.name` are `name`.
Piece without_prefix(Piece piece) {
  for (const std::string_view prefix : {std::string_view("T."), std::string_view("Tx.")})
    if (piece.text.starts_with(prefix))
      return {piece.text.substr(prefix.size()), piece.offset + prefix.size()};
  return piece;
}

Piece leading_word(Piece piece) {
  std::size_t end = 0;
  while (end < piece.text.size() && is_name_char(piece.text[end])) ++end;
  if (end > 0 && is_digit(piece.text[0])) end = 0;
  return {piece.text.substr(0, end), piece.offset};
}

const NamedLayout* find_named(std::string_view word) {
  const auto* const found = std::ranges::find_if(kTable, [&](const NamedLayout& row) {
    return row.name == word || std::ranges::count(split_words(row.aliases), word) != 0;
  });
  return found == kTable.end() ? nullptr : found;
}

Diag unknown_layout(Piece word) {
  std::vector<std::string_view> names;
  for (const NamedLayout& row : kTable) names.push_back(row.name);
  names.insert(names.end(), kNotationCalls.begin(), kNotationCalls.end());
  return diag_at(word.span(), DiagKind::UnknownName, "no layout is called `{}`{}", word.text,
                 did_you_mean(word.text, names));
}

Diag needs_arguments(const NamedLayout& row, Piece piece) {
  return diag_at(piece.span(), DiagKind::Syntax,
                 "`{}` needs its arguments in parentheses, as in `{}`", row.name, row.example);
}

Diag trailing_text(Piece rest) {
  return diag_at(rest.span(), DiagKind::Syntax, "`{}` follows a complete layout", rest.text);
}

// The closing parenthesis that belongs to the opening one at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// `name ( arguments )`, nothing after it. `rest` begins behind the name.
Result<Piece> argument_text(const NamedLayout& row, Piece word, Piece rest) {
  if (!rest.text.starts_with('(')) return fail(needs_arguments(row, word));
  const std::size_t close = closing(rest.text, 0);
  if (close == std::string_view::npos)
    return fail_at(Span::at(rest.offset, rest.offset + 1), DiagKind::Syntax,
                   "the parenthesis after `{}` is never closed", row.name);
  const Piece after = trimmed({rest.text.substr(close + 1), rest.offset + close + 1});
  if (!after.empty()) return fail(trailing_text(after));
  return Piece{rest.text.substr(1, close - 1), rest.offset + 1};
}

Result<NotatedLayout> build_named(const NamedLayout& row, Piece arguments) {
  const NamedArgs args = WW_TRY(NamedArgs::bind(row.name, arguments, row.params));
  auto built = row.build(args);
  if (built) return built;
  Diag bad = std::move(built).error();
  const Span place = (row.blamed == kAll ? args.whole() : args.place(row.blamed)).span();
  return fail(std::move(bad).with_span(place));
}

// (product of the first `cut` extents, product of the others); one dimension when no others are
// left.
Shape cut_after(const layout::Iters& iters, std::size_t cut) {
  Shape shape = {1};
  for (std::size_t i = 0; i < iters.size(); ++i) {
    if (i == cut) shape.push_back(1);
    shape.back() *= iters[i].extent;
  }
  return shape;
}

// The product of both sides is the same for every cut, so the squarest has the shortest longer
// side; of two equals the first cut comes first, which is the wide one.
std::int64_t longer_side(const Shape& shape) { return std::max(shape.front(), shape.back()); }

}  // namespace

std::span<const NamedLayout> named_layouts() { return kTable; }

Result<NotatedLayout> parse_notation_at(Piece piece, const layout::Names& names) {
  const Piece whole = trimmed(piece);
  const Piece call = without_prefix(whole);
  const Piece word = leading_word(call);
  const Piece rest = trimmed({call.text.substr(word.text.size()), call.offset + word.text.size()});
  if (const NamedLayout* row = find_named(word.text))
    return build_named(*row, WW_TRY(argument_text(*row, word, rest)));
  const bool is_name = word.text.size() > 1 && (rest.empty() || rest.text.starts_with('('));
  if (is_name && std::ranges::find(kNotationCalls, word.text) == kNotationCalls.end())
    return fail(unknown_layout(word));
  return NotatedLayout{WW_TRY(located(layout::parse_layout(whole.text, names), whole))};
}

Result<NotatedLayout> parse_notation(std::string_view text, const layout::Names& names) {
  return parse_notation_at({text, 0}, names);
}

Result<ShapedLayout> parse_shaped(Piece piece, const layout::Names& names) {
  const auto parts = cut_last(piece, '/');
  NotatedLayout notated = WW_TRY(parse_notation_at(parts ? parts->first : piece, names));
  if (!parts) {
    Shape shape = written_shape(notated);
    return ShapedLayout{std::move(notated.layout), std::move(shape)};
  }
  Shape shape = WW_TRY(parse_shape_at(parts->second));
  WW_TRY_VOID(located(layout::require_admitted(notated.layout.tile(), shape), parts->second));
  return ShapedLayout{std::move(notated.layout), std::move(shape)};
}

Shape written_shape(const NotatedLayout& notated) {
  return notated.natural_shape ? *notated.natural_shape : reading_shape(notated.layout);
}

Shape reading_shape(const Layout& layout) {
  const layout::Iters& iters = layout.tile().shard();
  if (iters.empty()) return {1};
  if (iters.size() <= 2 || layout.tile().has_unknown_extent()) return cut_after(iters, 1);
  Shape best = cut_after(iters, 1);
  for (std::size_t cut = 2; cut < iters.size(); ++cut) {
    const Shape shape = cut_after(iters, cut);
    if (longer_side(shape) < longer_side(best)) best = shape;
  }
  return best;
}

}  // namespace ww::driver
