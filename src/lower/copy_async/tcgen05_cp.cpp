// SPDX-License-Identifier: Apache-2.0
// copy_async / tcgen05_cp: from shared to tensor memory with tcgen05.cp, which one thread starts
// and the tensor core carries out.
//
// An instruction takes rows of 16 or 32 bytes and puts each into 4 or 8 columns of one lane, or of
// several that get the same:
//
//   shape                     lanes of row r
//   128x256b, 128x128b        r
//   64x128b.warpx2::02_13     r, r + 64
//   64x128b.warpx2::01_23     r and r + 32 below row 32, r + 32 and r + 64 from it on
//   32x128b.warpx4            r, r + 32, r + 64, r + 96
//   4x256b                    32·r from any lane of the first 32 on
//
// A matrix descriptor says where the rows are: within 8 rows 16 bytes apart, or as wide as the
// swizzle; groups of 8 rows SBO bytes, and without swizzle the halves of 32 bytes LBO bytes apart.
//
// The tile is taken in units of 16 bytes: for each lane and four columns, which unit of shared
// memory goes there? Columns whose units a shape and a descriptor give are one instruction, widest
// first. The caller commits (tcgen05.commit) and waits for the mbarrier. PTX manual, "tcgen05.cp".
//
//     Tx.copy_async(tmem[0:128, 0:8], A_smem[0:128, 0:8])            float32, 8 columns
//
//     smem_addr: T.let = T.cuda.cvta_generic_to_shared(…)
//     desc: T.let = T.uint64(smem_addr >> 4 & 0x3FFF) | …
//     tcgen05.cp.cta_group::1.128x256b [tmem_addr], desc
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/join.h"
#include "base/wide.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/copy/phase_writer.h"
#include "lower/copy_async/one_thread.h"
#include "lower/operand_places.h"
#include "lower/variant.h"

namespace ww::lower::copy_async_tcgen05_cp {
namespace {

// --- descriptors ---------------------------------------------------------------------------------

// Rows in shared memory as a matrix descriptor finds them. Rows are 16 bytes, or two times 16; in
// these units
//
//     row r, half k  at  start + r % 8 · (units of the swizzle) + r / 8 · SBO + k · LBO
//
// and then the swizzle, which exchanges units by their address: 32, 64 or 128 bytes wide, or none.
// With a swizzle LBO is 1. PTX manual, "Shared memory descriptor".

constexpr std::int64_t kRowUnitBits = 128;
constexpr std::int64_t kRowUnitBytes = 16;
constexpr std::int64_t kMaxDescriptorField = 0x3FFF;  // units, of a field of the descriptor

struct MatrixSwizzle {
  std::int64_t units;  // of a row of the pattern; 8 rows make it up
  std::uint64_t code;  // bits 61 to 63

  /// Eight rows; without a swizzle, nothing but whole units.
  [[nodiscard]] std::int64_t pattern_bytes() const {
    return units == 1 ? kRowUnitBytes : 8 * units * kRowUnitBytes;
  }
};

/// A base that begins no pattern of the swizzle: by how many units at most it is off one.
struct BaseInside {
  std::int64_t units;  // of a row of the pattern
  std::int64_t most;
};

constexpr MatrixSwizzle kSwizzles[] = {{1, 0}, {8, 2}, {4, 4}, {2, 6}};

/// What a descriptor says, in units from a side's base on.
struct MatrixRows {
  MatrixSwizzle swizzle{};
  std::int64_t start = 0;    // before the swizzle
  std::int64_t leading = 0;  // LBO
  std::int64_t stride = 0;   // SBO

  /// All of the descriptor but for the start.
  [[nodiscard]] std::uint64_t fields() const {
    constexpr std::uint64_t kVersion = 1;
    return static_cast<std::uint64_t>(leading) << 16U | static_cast<std::uint64_t>(stride) << 32U |
           kVersion << 46U | swizzle.code << 61U;
  }
  /// "swizzle of 128 bytes, groups of 8 rows 1024 bytes apart"
  [[nodiscard]] std::string text() const {
    const std::int64_t width = swizzle.units * kRowUnitBytes;
    std::string out = width == kRowUnitBytes ? std::string("no swizzle")
                                             : fmt::format("swizzle of {} bytes", width);
    if (stride != 0)
      out += fmt::format(", groups of 8 rows {} bytes apart", stride * kRowUnitBytes);
    if (width == kRowUnitBytes && leading != 0)
      out += fmt::format(", halves of rows {} bytes", leading * kRowUnitBytes);
    return out;
  }
};

// How far the side's base is from the start of a pattern, where it begins none. Declines a swizzle
// that no descriptor has, and a base that may go beyond the first row.
Match<std::optional<BaseInside>> base_inside(const Call& call, const OperandPlaces& src) {
  if (src.base_commutes()) return std::nullopt;
  const std::string& name = call.f()[src.buffer].name;
  const layout::Swizzle& own = src.swizzle;
  if (!own.inner() || own.atom() != 3 || own.len() > 3 ||
      (src.bits << own.per_element()) != kRowUnitBits)
    return decline("swizzle",
                   "`{}` begins at `{}`, with a swizzle ({}, {}, {}) that no descriptor has", name,
                   ir::print(call.f(), src.base), own.per_element(), own.len(), own.atom());
  CodeWriter write(call.f(), call.context.facts, call.span);
  const ir::ExprId rest = write.simplify(write.mod(src.base, own.period()));
  const std::int64_t most =
      ir::range_of(call.f(), rest, call.context.facts).max * src.bits / kRowUnitBits;
  const BaseInside out{.units = std::int64_t{1} << own.len(), .most = most};
  if (most >= out.units)
    return decline("start",
                   "`{}` begins at `{}`, which may be {} units of 16 bytes behind the start of a "
                   "pattern, expected less than {}",
                   name, ir::print(call.f(), src.base), most, out.units);
  return out;
}

/// Finds descriptors for rows of one side.
class RowFinder {
 public:
  RowFinder(const OperandPlaces& src, std::optional<BaseInside> inside)
      : src_(src), inside_(inside) {}

  /// The descriptor of rows whose units are given, `per_row` of each; nothing when there is none.
  [[nodiscard]] std::optional<MatrixRows> find(const std::vector<std::int64_t>& units,
                                               std::int64_t per_row) const {
    for (const MatrixSwizzle& swizzle : kSwizzles)
      if (begins_with_pattern(swizzle))
        if (auto rows = with(swizzle, units, per_row)) return rows;
    return std::nullopt;
  }
  /// The swizzle with which there would be one, if storage and base were aligned to its pattern.
  [[nodiscard]] std::optional<MatrixSwizzle> misaligned(const std::vector<std::int64_t>& units,
                                                        std::int64_t per_row) const {
    for (const MatrixSwizzle& swizzle : kSwizzles)
      if (!begins_with_pattern(swizzle) && with(swizzle, units, per_row)) return swizzle;
    return std::nullopt;
  }

 private:
  // The swizzle is one of addresses, so that storage and base must begin with its pattern; or the
  // storage alone, where it is known how far into the first row the base goes.
  [[nodiscard]] bool begins_with_pattern(const MatrixSwizzle& swizzle) const {
    if (inside_)
      return swizzle.units == inside_->units && src_.align_bytes % swizzle.pattern_bytes() == 0;
    return src_.base_is_aligned(swizzle.pattern_bytes());
  }
  [[nodiscard]] std::optional<MatrixRows> with(const MatrixSwizzle& swizzle,
                                               const std::vector<std::int64_t>& units,
                                               std::int64_t per_row) const {
    const std::int64_t rows = std::ssize(units) / per_row;
    // Before the swizzle, as they are from the start when the base does not begin a pattern.
    const auto at = [&](std::int64_t row, std::int64_t k) {
      const std::int64_t unit = units[as_index(row * per_row + k)];
      return inside_ ? unit : unit ^ (unit / 8 & (swizzle.units - 1));
    };
    const bool is_swizzled = swizzle.units > 1;
    MatrixRows out{
        .swizzle = swizzle, .start = at(0, 0), .leading = is_swizzled ? 1 : 0, .stride = 0};
    if (!is_swizzled && per_row > 1) out.leading = at(0, 1) - out.start;
    if (rows > 8) out.stride = at(8, 0) - out.start;
    // Groups of 8 rows begin in the first row of a pattern, and stay in it with all their units.
    const std::int64_t pattern = 8 * swizzle.units;
    const std::int64_t furthest = out.start % pattern + (inside_ ? inside_->most : 0);
    if (is_swizzled && (furthest + per_row > swizzle.units || out.stride % pattern != 0))
      return std::nullopt;
    const auto is_field = [](std::int64_t value, bool is_used) {
      return value >= (is_used ? 1 : 0) && value <= kMaxDescriptorField;
    };
    if (!is_field(out.start, false) || !is_field(out.leading, per_row > 1) ||
        !is_field(out.stride, rows > 8))
      return std::nullopt;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < per_row; ++k)
        if (at(row, k) !=
            out.start + row % 8 * swizzle.units + row / 8 * out.stride + k * out.leading)
          return std::nullopt;
    return out;
  }

  const OperandPlaces& src_;
  std::optional<BaseInside> inside_;
};

constexpr std::int64_t kUnitColumns = 4;
constexpr std::int64_t kLanes = 128;

// --- shapes --------------------------------------------------------------------------------------

enum class Spread : std::uint8_t { Rows, Pairs02, Pairs01, All, Windows };

struct ShapeFacts {
  std::string_view shape;
  std::string_view multicast;
  Spread spread;
  std::int64_t rows;
  std::int64_t units;  // of a row
};
constexpr ShapeFacts kShapes[] = {{"128x256b", "", Spread::Rows, 128, 2},
                                  {"128x128b", "", Spread::Rows, 128, 1},
                                  {"64x128b", "warpx2::02_13", Spread::Pairs02, 64, 1},
                                  {"64x128b", "warpx2::01_23", Spread::Pairs01, 64, 1},
                                  {"32x128b", "warpx4", Spread::All, 32, 1},
                                  {"4x256b", "", Spread::Windows, 4, 2}};

std::vector<std::int64_t> lanes_of(Spread spread, std::int64_t row) {
  switch (spread) {
    case Spread::Rows:
      return {row};
    case Spread::Pairs02:
      return {row, row + 64};
    case Spread::Pairs01:
      return {row + row / 32 * 32, row + row / 32 * 32 + 32};
    case Spread::All:
      return {row, row + 32, row + 64, row + 96};
    case Spread::Windows:
      break;
  }
  return {32 * row};
}

std::string name_of(const ShapeFacts& facts) {
  return facts.multicast.empty() ? std::string(facts.shape)
                                 : fmt::format("{}.{}", facts.shape, facts.multicast);
}

// --- plan ----------------------------------------------------------------------------------------

/// One instruction.
struct Issue {
  const ShapeFacts* shape = nullptr;
  MatrixRows rows;
  std::int64_t lane = 0;
  std::int64_t column = 0;
};

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  std::string group;  // "1" or "2"
  std::vector<Issue> issues;
  bool is_one_thread = true;  // provably

  [[nodiscard]] std::string opcode(const Issue& issue) const {
    return fmt::format("tcgen05.cp.cta_group::{}.{}", group, name_of(*issue.shape));
  }
};

// --- match ---------------------------------------------------------------------------------------

/// Four columns of all lanes: the unit of shared memory that each gets.
struct Column {
  static constexpr std::int64_t kNone = -1;
  std::array<std::int64_t, kLanes> unit;
  std::array<std::uint64_t, kLanes> filled{};  // elements of it, by bits

  Column() { unit.fill(kNone); }
};

class Matcher {
 public:
  Matcher(const Call& call, Plan& plan, std::vector<const ShapeFacts*> shapes,
          std::optional<BaseInside> inside)
      : call_(call),
        plan_(plan),
        shapes_(std::move(shapes)),
        dst_(plan.problem->dst),
        src_(plan.problem->src),
        rows_(src_, inside) {}

  Match<void> run() {
    WW_TRY_VOID(read_units());
    for (const ShapeFacts* facts : shapes_) take(*facts);
    for (const auto& [at, column] : columns_)
      for (std::size_t lane = 0; lane < column.unit.size(); ++lane)
        if (column.unit[lane] != Column::kNone)
          return no_shape(at, static_cast<std::int64_t>(lane));
    std::ranges::stable_sort(plan_.issues, [](const Issue& a, const Issue& b) {
      return std::pair(a.column, a.lane) < std::pair(b.column, b.lane);
    });
    return {};
  }

 private:
  [[nodiscard]] const std::string& name(const OperandPlaces& side) const {
    return call_.f()[side.buffer].name;
  }

  // --- units ---

  Match<void> read_units() {
    const std::int64_t first_lane = tensor_base_lane(call_, dst_);
    for (std::size_t x = 0; x < dst_.size(); ++x)
      for (const Shift& shift : dst_.replicas)
        WW_TRY_VOID(read_element(x, dst_.lane[x] + shift.lane + first_lane,
                                 (dst_.linear[x] + shift.place) * dst_.bits));
    const std::uint64_t all = (std::uint64_t{1} << (kRowUnitBits / dst_.bits)) - 1;
    for (const auto& [at, column] : columns_)
      for (std::size_t lane = 0; lane < column.filled.size(); ++lane)
        if (column.filled[lane] != 0 && column.filled[lane] != all)
          return decline("columns",
                         "columns {} to {} of lane {} are filled in part, expected whole "
                         "units of 4 columns",
                         at * kUnitColumns, at * kUnitColumns + kUnitColumns - 1, lane);
    whole_ = columns_;
    return {};
  }

  Match<void> read_element(std::size_t x, std::int64_t lane, std::int64_t to_bit) {
    if (lane < 0 || lane >= kLanes)
      return decline("lanes", "element {} goes to lane {} of tensor memory, which has {}", x, lane,
                     kLanes);
    const std::int64_t from_bit = src_.place(x) * src_.bits;
    const std::int64_t at = floor_div(to_bit, kRowUnitBits);
    const std::int64_t inside = to_bit - at * kRowUnitBits;
    Column& column = columns_[at];
    std::int64_t& unit = column.unit[as_index(lane)];
    const std::int64_t from = floor_div(from_bit, kRowUnitBits);
    if (from_bit - from * kRowUnitBits != inside || (unit != Column::kNone && unit != from))
      return decline("units",
                     "element {} is byte {} of `{}`, and byte {} of columns {} to {} of lane {}: "
                     "16 bytes do not move as one",
                     x, from_bit / 8, name(src_), inside / 8, at * kUnitColumns,
                     at * kUnitColumns + kUnitColumns - 1, lane);
    unit = from;
    column.filled[as_index(lane)] |= std::uint64_t{1} << (inside / dst_.bits);
    return {};
  }

  // --- instructions ---

  void take(const ShapeFacts& facts) {
    const std::int64_t lanes = facts.spread == Spread::Windows ? 32 : 1;
    for (const auto& entry : whole_)
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const auto units = units_of(facts, entry.first, lane, columns_);
        const auto rows = units ? rows_.find(*units, facts.units) : std::nullopt;
        if (!rows) continue;
        plan_.issues.push_back(
            {&facts, *rows, lane - tensor_base_lane(call_, dst_), entry.first * kUnitColumns});
        forget(facts, entry.first, lane);
      }
  }

  using Columns = std::map<std::int64_t, Column>;

  // The units of an instruction, row by row; nothing when some lane does not get what the others of
  // the row get.
  static std::optional<std::vector<std::int64_t>> units_of(const ShapeFacts& facts, std::int64_t at,
                                                           std::int64_t lane,
                                                           const Columns& columns) {
    std::vector<std::int64_t> out;
    for (std::int64_t row = 0; row < facts.rows; ++row)
      for (std::int64_t k = 0; k < facts.units; ++k) {
        const auto column = columns.find(at + k);
        if (column == columns.end()) return std::nullopt;
        std::int64_t unit = Column::kNone;
        for (const std::int64_t to : lanes_of(facts.spread, row)) {
          const std::int64_t here = column->second.unit[as_index(lane + to)];
          if (here == Column::kNone || (unit != Column::kNone && here != unit)) return std::nullopt;
          unit = here;
        }
        out.push_back(unit);
      }
    return out;
  }

  void forget(const ShapeFacts& facts, std::int64_t at, std::int64_t lane) {
    for (std::int64_t row = 0; row < facts.rows; ++row)
      for (std::int64_t k = 0; k < facts.units; ++k)
        for (const std::int64_t to : lanes_of(facts.spread, row))
          columns_[at + k].unit[as_index(lane + to)] = Column::kNone;
  }

  // --- what was seen ---

  // Either no shape has the lanes, or one has them and no descriptor the rows.
  Match<void> no_shape(std::int64_t at, std::int64_t lane) const {
    for (const ShapeFacts* facts : shapes_) {
      const std::int64_t first = facts->spread == Spread::Windows ? lane % 32 : 0;
      const auto units = units_of(*facts, at, first, whole_);
      if (units) return no_descriptor(*facts, at, *units);
    }
    const Column& column = whole_.at(at);
    std::map<std::int64_t, std::vector<std::int64_t>> by_unit;
    std::int64_t lanes = 0;
    for (std::size_t l = 0; l < column.unit.size(); ++l) {
      if (column.unit[l] == Column::kNone) continue;
      by_unit[column.unit[l]].push_back(static_cast<std::int64_t>(l));
      ++lanes;
    }
    const auto& alike = by_unit.at(column.unit[as_index(lane)]);
    std::set<std::string> names;
    for (const ShapeFacts* facts : shapes_) names.insert(name_of(*facts));
    return decline("shape",
                   "columns {} to {} are filled in {} lanes from {} different rows, lane{} {} "
                   "alike: not the lanes of {}",
                   at * kUnitColumns, at * kUnitColumns + kUnitColumns - 1, lanes, by_unit.size(),
                   alike.size() == 1 ? "" : "s", join(alike, ", "), join(names, ", "));
  }

  Match<void> no_descriptor(const ShapeFacts& facts, std::int64_t at,
                            const std::vector<std::int64_t>& units) const {
    if (const auto swizzle = rows_.misaligned(units, facts.units))
      return decline("alignment",
                     "the rows of `{}` have a swizzle of {} bytes, whose pattern begins at "
                     "multiples of {} bytes; storage of {}, offset a multiple of {} elements of "
                     "{} bits",
                     name(src_), swizzle->units * kRowUnitBytes, swizzle->pattern_bytes(),
                     src_.align_bytes, src_.base_divisor, src_.bits);
    std::vector<std::string> seen;
    for (const std::int64_t row : {0, 1, 2, 7, 8, 16})
      if (row < facts.rows)
        seen.push_back(fmt::format("row {} at byte {}", row,
                                   units[as_index(row * facts.units)] * kRowUnitBytes));
    if (facts.units > 1)
      seen.push_back(fmt::format("half a row {} bytes on", (units[1] - units[0]) * kRowUnitBytes));
    return decline("descriptor", "no matrix descriptor gives the rows of {} for columns {} on: {}",
                   name_of(facts), at * kUnitColumns, join(seen, ", "));
  }

  const Call& call_;
  Plan& plan_;
  std::vector<const ShapeFacts*> shapes_;
  const OperandPlaces& dst_;
  const OperandPlaces& src_;
  RowFinder rows_;
  Columns columns_;  // what is still to be taken
  Columns whole_;
};

Match<std::vector<const ShapeFacts*>> wanted_shapes(const Call& call) {
  const std::string shape = ir::word_of(call.setting("shape"));
  const std::string multicast = ir::word_of(call.setting("multicast"));
  std::vector<const ShapeFacts*> out;
  for (const ShapeFacts& facts : kShapes)
    if ((shape.empty() || facts.shape == shape) &&
        (multicast.empty() || facts.multicast == multicast))
      out.push_back(&facts);
  if (out.empty()) return decline("config", "there is no `tcgen05.cp.{}.{}`", shape, multicast);
  WW_TRY_VOID(check_settings(call, {"shape", "multicast", "cta_group"}));
  return out;
}

Match<void> check_sides(const Call& call, const CopyProblem& problem) {
  const OperandPlaces& src = problem.src;
  const OperandPlaces& dst = problem.dst;
  const std::string& from = call.f()[src.buffer].name;
  const std::string& to = call.f()[dst.buffer].name;
  if (dst.bits < 8 || kRowUnitBits % dst.bits != 0)
    return decline("dtype", "elements of {} bits, expected 8, 16, 32 or 64", dst.bits);
  if (!src.strides.empty())
    return decline("layout", "`{}` has extents known at run time only", from);
  if (!dst.swizzle.is_none()) return decline("swizzle", "`{}` in tensor memory is swizzled", to);
  if (dst.base_divisor * dst.bits % kRowUnitBits != 0)
    return decline("columns",
                   "`{}` begins at `{}` elements of {} bits, known at run time only and not known "
                   "to be multiples of 4 columns",
                   to, ir::print(call.f(), dst.base), dst.bits);
  if (!src.base_is_aligned(kRowUnitBytes))
    return decline("alignment",
                   "`{}` is not known to begin at a multiple of 16 bytes: storage of {}, offset a "
                   "multiple of {} elements of {} bits",
                   from, src.align_bytes, src.base_divisor, src.bits);
  return {};
}

Match<Plan> match(const Call& call) {
  if (call.memory(0) != ir::Scope::Tmem || !ir::is_shared(call.memory(1)))
    return other_memories(call, "shared to tensor memory");
  WW_TRY_VOID(check_target(call, "tcgen05.cp", target::Feature::TensorMemory));
  Plan plan;
  plan.is_one_thread = WW_TRY(check_one_thread(call));
  plan.group = ir::word_of(call.setting("cta_group"));
  if (plan.group.empty()) plan.group = "1";
  auto shapes = WW_TRY(wanted_shapes(call));
  plan.problem = WW_TRY(copy_problem(call));
  WW_TRY_VOID(check_plain(*plan.problem));
  WW_TRY_VOID(check_sides(call, *plan.problem));
  const auto inside = WW_TRY(base_inside(call, plan.problem->src));
  WW_TRY_VOID(Matcher(call, plan, std::move(shapes), inside).run());
  return plan;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), call_(call), code_(code), src_(plan.problem->src), dst_(plan.problem->dst) {
    const ir::BufferId flat =
        code.flat_view(src_.buffer, src_.dtype, view_elements(call, src_), "src");
    const ExprId pointer = code.pointer(flat, src_.base_expr(code));
    const ExprId address = code.let("smem_addr", code.call(ir::Intrinsic::CvtaToShared, {pointer}));
    const ExprId units = code.binary(ir::ExprOp::Shr, address, code.n(4));
    start_ = code.let("smem_start",
                      code.as(num::DType::Uint64,
                              code.binary(ir::ExprOp::BitAnd, units, code.n(kMaxDescriptorField))));
    cells_ = code.let("tmem_addr", call.f()[dst_.buffer].allocated_addr);
  }

  void write(const Issue& issue) {
    const ExprId desc = code_.add(descriptor(issue.rows.fields()), word(issue.rows.start));
    code_.ptx(plan_.opcode(issue), {address_operand(cells(issue)), {.expr = desc}});
  }

 private:
  using ExprId = ir::ExprId;

  ExprId word(std::int64_t value) {
    return ir::int_imm(call_.f(), num::DType::Uint64, value, call_.span);
  }

  // One for all instructions whose rows differ in where they start.
  ExprId descriptor(std::uint64_t fields) {
    const auto [found, is_new] = descriptors_.try_emplace(fields);
    if (is_new)
      found->second = code_.let(
          "desc", code_.binary(ir::ExprOp::BitOr, start_, word(static_cast<std::int64_t>(fields))));
    return found->second;
  }

  ExprId cells(const Issue& issue) {
    const ExprId lane = code_.n(issue.lane);
    return tensor_address(code_, dst_, cells_, lane, code_.n(issue.column));
  }

  const Plan& plan_;
  const Call& call_;
  CodeWriter& code_;
  const OperandPlaces& src_;
  const OperandPlaces& dst_;
  ExprId start_, cells_;
  std::map<std::uint64_t, ExprId> descriptors_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer writer(plan, call, code);
  for (const Issue& issue : plan.issues) writer.write(issue);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  std::vector<std::string> shapes, rows;
  const auto add = [](std::vector<std::string>& list, std::string text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
  };
  bool is_paired = false;
  for (const Issue& issue : plan.issues) {
    const ShapeFacts& facts = *issue.shape;
    out.add_instruction(plan.opcode(issue), 1, facts.rows * facts.units * kRowUnitBytes);
    add(shapes, "." + name_of(facts));
    add(rows, "descriptor: " + issue.rows.text());
    is_paired = is_paired || facts.rows == 64;
  }
  out.rounds = std::ssize(plan.issues);
  out.summary = fmt::format("tcgen05.cp {}, {} per thread", join(shapes, " and "), out.rounds);
  out.notes = std::move(rows);
  if (is_paired)
    out.notes.emplace_back(
        "public sources differ in which of warpx2::02_13 and warpx2::01_23 is which; here 02_13 "
        "puts row r into lanes r and r + 64");
  if (!plan.is_one_thread) note_one_thread(out, call);
  out.notes.emplace_back(
      "done when the mbarrier of a later tcgen05.commit of the thread is waited for");
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::CopyAsync,
     .name = "tcgen05_cp",
     .aliases = "smem->tmem",
     .about = "shared to tensor memory by the tensor core, started by one thread"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::copy_async_tcgen05_cp
