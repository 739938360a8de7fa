// SPDX-License-Identifier: Apache-2.0
#include "lower/fold/wide_index.h"

#include "ir/reduction.h"
#include "layout/ready_made.h"

namespace ww::lower {
namespace wide_index {
namespace {

using ir::TileOp;
using num::DType;

class Calls {
 public:
  Calls(const Call& call, const ir::TileCall& fold, Expansion& out)
      : call_(call),
        f_(call.f()),
        fold_(fold),
        source_(std::get<ir::Region>(fold.args[1])),
        out_(out) {}

  Match<void> add() {
    const bool is_float = num::is_float(f_[source_.buffer].dtype);
    const ir::Region best = WW_TRY(best_region());
    ir::TileCall most = call_of(fold_.op == TileOp::Argmax ? TileOp::Max : TileOp::Min,
                                {best, source_, fold_.args[2], ir::Setting(false)});
    ir::TileCall index = fold_;
    most.dispatch = fold_.dispatch;
    most.workspace = fold_.workspace;
    out_.calls.push_back(std::move(most));
    const ir::Region is_best = flags("_is_best");
    out_.calls.push_back(call_of(TileOp::Equal, {is_best, bits_of(source_), bits_of(best)}));
    if (is_float) {
      const ir::Region is_number = flags("_is_number");
      out_.calls.push_back(call_of(TileOp::Equal, {is_number, source_, best}));
      out_.calls.push_back(call_of(TileOp::LogicalAnd, {is_best, is_best, is_number}));
    }
    index.op = TileOp::Argmax;
    index.args[1] = is_best;
    out_.calls.push_back(std::move(index));
    return {};
  }

 private:
  [[nodiscard]] ir::TileCall call_of(TileOp op, std::vector<ir::TileArg> args) const {
    ir::TileCall out;
    out.op = op;
    out.scope = fold_.scope;
    out.args = std::move(args);
    return out;
  }

  // Registers with another layout or other elements than the source's.
  [[nodiscard]] ir::Buffer beside(std::string_view suffix, DType dtype) const {
    const ir::Buffer& of = f_[source_.buffer];
    ir::Buffer out;
    out.name = of.name + std::string(suffix);
    out.dtype = dtype;
    out.shape = of.shape;
    out.scope = ir::Scope::Local;
    out.span = call_.span;
    out.layout_kind = of.layout_kind;
    out.layout = of.layout;
    out.origin = ir::BufferOrigin::Alloc;
    return out;
  }

  // One element of each row, in the threads that hold part of it; folded dimensions have extent 1.
  Match<ir::Region> best_region() {
    const ir::Buffer& of = f_[source_.buffer];
    const auto whole = ir::layout_of(f_, of);
    const auto shape = ir::const_shape(f_, of);
    const std::vector<bool> is_folded = ir::folded_dimensions(fold_);
    std::vector<std::int64_t> dims;
    for (std::size_t d = 0; d < is_folded.size(); ++d)
      if (is_folded[d]) dims.push_back(static_cast<std::int64_t>(d));
    if (!whole || !shape)
      return decline("extents", "the shape of `{}` is known at run time only", of.name);
    auto layout = layout::reduced(*whole, *shape, dims);
    if (!layout)
      return decline("irregular", "no layout holds one element of each row of `{}`: {}", of.name,
                     layout.error().text);
    ir::Buffer best = beside("_best", of.dtype);
    best.layout_kind = ir::LayoutKind::Explicit;
    best.layout = *std::move(layout);
    ir::Region out;
    for (std::size_t d = 0; d < is_folded.size(); ++d) {
      if (is_folded[d]) best.shape[d] = ir::int_imm(f_, DType::Int32, 1);
      out.ranges.push_back(is_folded[d] ? ir::RangeExpr{ir::int_imm(f_, DType::Int32, 0),
                                                        ir::int_imm(f_, DType::Int32, 1)}
                                        : source_.ranges[d]);
    }
    out.buffer = allocated(std::move(best));
    return out;
  }

  ir::BufferId allocated(ir::Buffer buffer) {
    const ir::BufferId id = f_.add(std::move(buffer));
    out_.buffers.push_back(id);
    return id;
  }

  // A bool for each element of the source, in its thread.
  ir::Region flags(std::string_view suffix) {
    ir::Region out = source_;
    out.buffer = allocated(beside(suffix, DType::Bool));
    return out;
  }

  // The same elements as integers.
  ir::Region bits_of(const ir::Region& region) {
    ir::Buffer view = f_[region.buffer];
    if (!num::is_float(view.dtype)) return region;
    view.base = ir::storage_of(f_, region.buffer);
    view.origin = ir::BufferOrigin::View;
    view.dtype = DType::Int64;
    ir::Region out = region;
    out.buffer = f_.add(std::move(view));
    return out;
  }

  const Call& call_;
  ir::Function& f_;
  const ir::TileCall& fold_;
  ir::Region source_;
  Expansion& out_;
};

}  // namespace
}  // namespace wide_index

bool is_wide_index(const ir::Function& f, const ir::TileCall& fold) {
  const ir::Buffer& source = f[std::get<ir::Region>(fold.args[1]).buffer];
  return ir::gives_index(fold.op) && num::bits_of(source.dtype) > 32 &&
         fold.scope != ir::Unit::Cluster;
}

Match<void> add_wide_index(const Call& call, const ir::TileCall& fold, Expansion& out) {
  return wide_index::Calls(call, fold, out).add();
}

}  // namespace ww::lower
