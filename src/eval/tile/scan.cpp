// SPDX-License-Identifier: Apache-2.0
#include "ir/scan.h"

#include <optional>

#include "eval/tile/primitives.h"

namespace ww::eval {
namespace {

/// The elements of one row, as they follow each other.
struct ScanRow {
  std::vector<std::size_t> elements;  // by their numbers in the tile
  std::vector<Thread> holders;        // the first of each
};

/// Folds of values, of which some may be missing.
class ScanFold {
 public:
  ScanFold(ir::ExprOp op, num::DType type) : op_(op), type_(type) {}
  [[nodiscard]] std::optional<Word> operator()(std::optional<Word> a, std::optional<Word> b) const {
    if (!a || !b) return a ? a : b;
    return apply_in(type_, op_, type_, *a, type_, *b);
  }

 private:
  ir::ExprOp op_;
  num::DType type_;
};

using Prefixes = std::vector<std::optional<Word>>;

// Where the sweep that begins at element `first` ends, and where its runs begin.
std::vector<std::size_t> runs_of(const std::vector<Thread>& holders, std::size_t first) {
  std::vector<std::size_t> begins = {first};
  std::size_t i = first + 1;
  for (; i < holders.size(); ++i) {
    if (holders[i] == holders[i - 1]) continue;
    if (holders[i] < holders[i - 1] || holders[i] / kWarp != holders[i - 1] / kWarp) break;
    begins.push_back(i);
  }
  begins.push_back(i);
  return begins;
}

// Of a sum or product of floats: by runs and sweeps. Gives what comes before each element, and with it.
void scan_in_order(const ScanFold& fold, const std::vector<Word>& values,
                   const std::vector<Thread>& holders, Prefixes& before, Prefixes& with) {
  std::optional<Word> base;
  for (std::size_t first = 0; first < values.size();) {
    const std::vector<std::size_t> begins = runs_of(holders, first);
    Prefixes own(values.size()), whole;
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
      for (std::size_t i = begins[r]; i < begins[r + 1]; ++i)
        own[i] = fold(i == begins[r] ? std::nullopt : own[i - 1], values[i]);
      whole.push_back(own[begins[r + 1] - 1]);
    }
    for (std::size_t distance = 1; distance < whole.size(); distance *= 2)
      for (std::size_t r = whole.size(); r-- > distance;)  // downwards: from the values before
        whole[r] = fold(whole[r - distance], whole[r]);
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
      const auto start = fold(base, r == 0 ? std::nullopt : whole[r - 1]);
      for (std::size_t i = begins[r]; i < begins[r + 1]; ++i) {
        before[i] = fold(start, i == begins[r] ? std::nullopt : own[i - 1]);
        with[i] = fold(start, own[i]);
      }
    }
    base = fold(base, whole.back());
    first = begins.back();
  }
}

void scan_one_by_one(const ScanFold& fold, const std::vector<Word>& values, Prefixes& before,
                     Prefixes& with) {
  std::optional<Word> so_far;
  for (std::size_t i = 0; i < values.size(); ++i) {
    before[i] = so_far;
    so_far = fold(so_far, values[i]);
    with[i] = so_far;
  }
}

std::vector<ScanRow> rows_of(const Tile& from, std::size_t dimension, const UnitInstance& unit) {
  std::size_t stride = 1;
  for (std::size_t d = dimension + 1; d < from.extents.size(); ++d)
    stride *= static_cast<std::size_t>(from.extents[d]);
  const auto length = static_cast<std::size_t>(from.extents[dimension]);
  const bool is_local = from.info->ir->scope == ir::Scope::Local;
  const ir::ScanShare share =
      is_local ? ir::ScanShare{} : ir::scan_share(from.extents, dimension, unit.size);
  std::vector<ScanRow> out(length == 0 ? 0 : from.count / length);
  for (std::size_t x = 0; x < from.count; ++x) {
    ScanRow& row = out[x / (stride * length) * stride + x % stride];
    row.elements.push_back(x);
    row.holders.push_back(is_local ? first_owner(from, x) : static_cast<Thread>(share.thread[x]));
  }
  return out;
}

}  // namespace

void tile_scan(Cta& cta, const ir::TileCall& call, const UnitInstance& unit) {
  const auto to = make_tile(cta, std::get<ir::Region>(call.args[0]), unit);
  if (!to) return;
  const auto from = make_tile(cta, std::get<ir::Region>(call.args[1]), unit);
  if (!from) return;
  if (from->count != to->count) return tile_unsupported(cta, call, "the shapes do not go together");
  const TileValues in = read_tile(cta, *from, unit, false);
  const num::DType type = ir::fold_type(in.type), dtype = to->info->ir->dtype;
  const ir::ExprOp op = ir::scanning_operator(call.op);
  const ScanFold fold(op, type);
  const ir::Constant nothing = ir::scan_identity(op, dtype);
  const Word identity = num::is_float(type)
                            ? from_real(type, nothing.real)
                            : convert(num::DType::Int64, type, static_cast<Word>(nothing.integer));
  TileValues out{.type = dtype, .bits = std::vector<Word>(to->count), .undefined = {}};
  for (const ScanRow& row : rows_of(*from, ir::scanned_dimension(call), unit)) {
    std::vector<Word> values;
    for (const std::size_t x : row.elements) values.push_back(convert(in.type, type, in.bits[x]));
    Prefixes before(values.size()), with(values.size());
    if (ir::is_ordered_fold(op, type))
      scan_in_order(fold, values, row.holders, before, with);
    else
      scan_one_by_one(fold, values, before, with);
    const Prefixes& results = ir::is_exclusive(call) ? before : with;
    for (std::size_t i = 0; i < results.size(); ++i)
      out.bits[row.elements[i]] = convert(type, dtype, results[i].value_or(identity));
  }
  write_tile(cta, *to, unit, out);
}

}  // namespace ww::eval
