// SPDX-License-Identifier: Apache-2.0
#include "ir/function.h"
#include "base/look_up.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "layout/threads.h"

namespace ww::ir {
namespace {

struct ExprOpRow {
  std::string_view name;
  std::string_view spelling;
  int arity;
  ExprGroup group;
  Takes takes;
};
constexpr ExprOpRow kExprOps[] = {
#define WW_EXPR_OP(id, spelling, arguments, group, takes, precedence) \
  {#id, spelling, arguments, ExprGroup::group, Takes::takes},
#include "ir/expr_ops.def"
#undef WW_EXPR_OP
};

const ExprOpRow& row_of(ExprOp op) { return kExprOps[static_cast<std::size_t>(op)]; }

constexpr std::string_view kTileNames[] = {
#define WW_TILE_OP(id, name, parameters) name,
#include "ir/tile_ops.def"
};
constexpr std::string_view kTileParams[] = {
#define WW_TILE_OP(id, name, parameters) parameters,
#include "ir/tile_ops.def"
};

constexpr std::string_view kUnitNames[] = {"thread", "warp",    "warpgroup", "cta",
                                           "pair",   "cluster", "kernel"};
constexpr std::string_view kStmtNames[] = {
    "Bind", "Alloc",    "Declare",      "Store", "For",      "While",
    "If",   "Assert",   "Evaluate",     "Break", "Continue", "Return",
    "Attr", "ScopeIds", "LaunchThread", "Tile",  "Ptx"};
constexpr std::string_view kLoopNames[] = {"serial", "unroll", "vectorized", "parallel",
                                           "thread_binding"};

TileParamKind kind_of_param(std::string_view word) {
  constexpr std::pair<std::string_view, TileParamKind> kKinds[] = {
      {"region", TileParamKind::Region}, {"either", TileParamKind::RegionOrScalar},
      {"scalar", TileParamKind::Scalar}, {"bool", TileParamKind::Bool},
      {"flag", TileParamKind::Flag},     {"float", TileParamKind::Float},
      {"int", TileParamKind::Int}};
  const auto* row = std::ranges::find(kKinds, word, [](const auto& each) { return each.first; });
  WW_CHECK(row != std::end(kKinds), "no kind of parameter: `{}`", word);
  return row->second;
}

// "name kind", "name? kind" or "name=default kind".
TileParam read_param(std::string_view text) {
  const std::size_t blank = text.find(' ');
  TileParam out{text.substr(0, blank), kind_of_param(text.substr(blank + 1)), true, {}};
  if (const std::size_t equal = out.name.find('='); equal != std::string_view::npos) {
    out.default_text = out.name.substr(equal + 1);
    out.name = out.name.substr(0, equal);
    out.required = false;
  } else if (out.name.ends_with('?')) {
    out.name.remove_suffix(1);
    out.required = false;
  }
  return out;
}

std::vector<TileParam> read_params(std::string_view text) {
  constexpr std::string_view kComma = ", ";
  std::vector<TileParam> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kComma), text.size());
    out.push_back(read_param(text.substr(0, end)));
    text.remove_prefix(std::min(end + kComma.size(), text.size()));
  }
  return out;
}

std::vector<std::vector<TileParam>> read_all_params() {
  std::vector<std::vector<TileParam>> all;
  for (const std::string_view text : kTileParams) all.push_back(read_params(text));
  return all;
}

template <typename IdType, typename T>
IdType put(StableVec<T>& pool, std::type_identity_t<T>&& node) {
  pool.push_back(std::move(node));
  return IdType{static_cast<std::uint32_t>(pool.size() - 1)};
}

}  // namespace

// --- tables --------------------------------------------------------------------------------------

std::string_view name_of(ExprOp op) { return row_of(op).name; }
std::string_view spelling_of(ExprOp op) { return row_of(op).spelling; }
ExprGroup group_of(ExprOp op) { return row_of(op).group; }
int arity_of(ExprOp op) { return row_of(op).arity; }
Takes taken_by(ExprOp op) { return row_of(op).takes; }

bool takes(ExprOp op, Type type) {
  switch (taken_by(op)) {
    case Takes::Any:
      return type.is_value() || type.is_pointer();
    case Takes::Number:
      return type.is_int() || type.is_float();
    case Takes::Float:
      return type.is_float();
    case Takes::Integer:
      return type.is_int();
    case Takes::IntegerOrBool:
      return type.is_int() || type.is_bool();
    case Takes::Bool:
      return type.is_bool();
  }
  return false;
}

ExprOp mirrored(ExprOp op) {
  return look_up(op,
                 {{ExprOp::Lt, ExprOp::Gt},
                  {ExprOp::Le, ExprOp::Ge},
                  {ExprOp::Gt, ExprOp::Lt},
                  {ExprOp::Ge, ExprOp::Le}},
                 op);
}
const std::vector<IntrinsicFacts>& all_intrinsics() {
  static const std::vector<IntrinsicFacts> rows = [] {
    std::vector<IntrinsicFacts> out;
    std::string_view group;
#define WW_INTRINSIC_GROUP(title) group = title;
#define WW_INTRINSIC(id, name, min, max, effect, result) \
  out.push_back({Intrinsic::id, name, min, max, Effect::effect, ResultRule::result, group});
#include "ir/intrinsics.def"
#undef WW_INTRINSIC
    return out;
  }();
  return rows;
}
const IntrinsicFacts& facts_of(Intrinsic intrinsic) {
  return all_intrinsics()[static_cast<std::size_t>(intrinsic)];
}
std::optional<Intrinsic> find_intrinsic(std::string_view name) {
  for (const IntrinsicFacts& row : all_intrinsics())
    if (row.name == name) return row.id;
  return std::nullopt;
}

std::string_view name_of(TileOp op) { return kTileNames[static_cast<std::size_t>(op)]; }
std::optional<TileOp> find_tile_op(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTileNames); ++i)
    if (kTileNames[i] == name) return static_cast<TileOp>(i);
  return std::nullopt;
}
const std::vector<std::string_view>& all_tile_op_names() {
  static const std::vector<std::string_view> names(std::begin(kTileNames), std::end(kTileNames));
  return names;
}
const std::vector<TileParam>& params_of(TileOp op) {
  static const std::vector<std::vector<TileParam>> all = read_all_params();
  return all[static_cast<std::size_t>(op)];
}

std::string_view name_of(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }
std::string_view name_of(StmtKind kind) { return kStmtNames[static_cast<std::size_t>(kind)]; }
std::string_view name_of(LoopKind kind) { return kLoopNames[static_cast<std::size_t>(kind)]; }

const std::vector<ScopeIdFacts>& all_scope_ids() {
  static const std::vector<ScopeIdFacts> rows = {
#define WW_SCOPE_ID(id, name, parent, child, dims, fixed) \
  {ScopeIdKind::id, name, Unit::parent, Unit::child, dims, fixed},
#include "ir/scope_ids.def"
#undef WW_SCOPE_ID
  };
  return rows;
}
const ScopeIdFacts& facts_of(ScopeIdKind kind) {
  return all_scope_ids()[static_cast<std::size_t>(kind)];
}

// --- functions -----------------------------------------------------------------------------------

Function::Function() = default;
Function::Function(const Function& other) = default;
Function::Function(Function&& other) noexcept = default;
Function& Function::operator=(const Function& other) = default;
Function& Function::operator=(Function&& other) noexcept = default;
Function::~Function() = default;

ExprId Function::add(Expr expr) {
  const Effect effect = expr.op == ExprOp::Call ? facts_of(expr.callee).effect : Effect::Pure;
  expr.reads_memory = expr.op == ExprOp::Load || effect != Effect::Pure;
  expr.has_effect = effect != Effect::Pure && effect != Effect::Reads;
  std::uint64_t nodes = 1;
  for (const ExprId arg : expr.args) {
    if (arg.index >= exprs_.size()) continue;  // ir/verify reports it
    const Expr& part = exprs_[arg.index];
    expr.reads_memory = expr.reads_memory || part.reads_memory;
    expr.has_effect = expr.has_effect || part.has_effect;
    nodes += part.nodes;
  }
  expr.nodes = static_cast<std::uint32_t>(std::min<std::uint64_t>(nodes, ~std::uint32_t{0}));
  return put<ExprId>(exprs_, std::move(expr));
}
StmtId Function::add(Stmt stmt) { return put<StmtId>(stmts_, std::move(stmt)); }
VarId Function::add(Var var) { return put<VarId>(vars_, std::move(var)); }
BufferId Function::add(Buffer buffer) { return put<BufferId>(buffers_, std::move(buffer)); }
TileCallId Function::add(TileCall call) { return put<TileCallId>(tile_calls, std::move(call)); }
PtxCallId Function::add(PtxCall call) { return put<PtxCallId>(ptx_calls, std::move(call)); }

void Function::raise_missing(std::size_t node, std::size_t count) {
  raise_bug(__FILE__, __LINE__, "node < count", fmt::format("node {} of {}", node, count));
}

std::uint32_t Function::add_text(std::string text) {
  texts.push_back(std::move(text));
  return static_cast<std::uint32_t>(texts.size() - 1);
}

std::optional<layout::Shape> const_shape(const Function& function, const Buffer& buffer) {
  layout::Shape shape;
  for (const ExprId extent : buffer.shape) {
    const std::optional<std::int64_t> value = const_int(function, extent);
    if (!value) return std::nullopt;
    shape.push_back(*value);
  }
  return shape;
}

std::optional<layout::Layout> layout_of(const Function& function, const Buffer& buffer) {
  if (buffer.layout) return buffer.layout;
  const std::optional<layout::Shape> shape = const_shape(function, buffer);
  if (!shape) return std::nullopt;
  Result<layout::TileLayout> rows = layout::TileLayout::row_major(*shape);
  if (!rows) return std::nullopt;
  return layout::Layout(*std::move(rows));
}

bool has_one_element(const Function& function, const Buffer& buffer) {
  return buffer.shape.size() == 1 && const_int(function, buffer.shape[0]) == 1;
}

bool has_thread_axes(const Buffer& buffer) {
  if (!buffer.layout) return false;
  for (const layout::Axis axis : layout::moving_axes(buffer.layout->tile()))
    if (axis.is_thread()) return true;
  return false;
}

BufferId storage_of(const Function& function, BufferId buffer) {
  const Buffer& b = function[buffer];
  return b.origin == BufferOrigin::View ? b.base : buffer;
}

std::optional<std::size_t> find_param(const Function& function, std::string_view name) {
  for (std::size_t i = 0; i < function.params.size(); ++i)
    if (function[function.params[i].var].name == name) return i;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const BufferId buffer = buffer_of_param(function, i);
    if (buffer.valid() && function[buffer].name == name) return i;
  }
  return std::nullopt;
}

BufferId buffer_of_param(const Function& function, std::size_t param) {
  const Param& p = function.params[param];
  if (p.buffer.valid()) return p.buffer;
  for (std::uint32_t i = 0; i < function.buffer_count(); ++i) {
    const Buffer& buffer = function[BufferId{i}];
    if (buffer.origin == BufferOrigin::Param && buffer.param == p.var) return BufferId{i};
  }
  return {};
}

}  // namespace ww::ir
