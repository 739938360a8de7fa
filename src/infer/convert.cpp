// SPDX-License-Identifier: Apache-2.0
// Conversions: where a use wants a tile in threads that do not hold it, it takes a copy, a buffer of
// the layout that it wants.
//
//     Tx.cta.add(y, x, z)        x_1 = T.alloc_local(…, layout=<as y needs it>)
//                                Tx.cta.copy(x_1, x)
//                                Tx.cta.add(y, x_1, z)
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "infer/relation.h"
#include "infer/state.h"
#include "ir/build.h"
#include "ir/elementwise.h"
#include "ir/print/print.h"
#include "ir/reduction.h"
#include "layout/ready_made.h"
#include "layout/slice.h"

namespace ww::infer {
namespace {

// An operand of a use, and the layout that the use wants of the region.
struct Wanted {
  const Operand* operand = nullptr;
  Named named;
};
using Wants = std::vector<Wanted>;

// The layout of the region that the operand is, its registers numbered from 0 on.
std::optional<Named> part_of(const State& state, const Use& use, const Operand& operand) {
  std::optional<Named> whole = state.known(operand.buffer);
  if (!whole || operand.is_whole) return whole;
  std::vector<layout::Slice1> region;
  const auto& ranges = std::get<ir::Region>(state.call(use).args[operand.arg]).ranges;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const auto begin = ir::const_int(state.f, ranges[d].min);
    if (!begin) return std::nullopt;
    region.push_back({layout::Expr(*begin), operand.extents[d]});
  }
  const Result<layout::Layout> part =
      layout::slice(whole->layout, state.shape(operand.buffer), region, layout::Machine::Cuda);
  if (!part) return std::nullopt;
  const Result<layout::Layout> compact = layout::reduced(*part, operand.extents, {});
  return compact ? std::optional(given_named(*compact)) : std::nullopt;
}

// Adds the operand to `out` unless its layout gives all that is wanted. A result must be wanted by no
// thread that the use does not give it to.
void add_unless_there(const Operand& operand, const Named& known, const Named& wanted, Wants& out) {
  const auto held = holders_of(known.layout);
  const auto needed = holders_of(wanted.layout);
  if (!held || !needed) return;
  const bool is_result = operand.arg == 0;
  if (is_result ? have(*needed, *held) : have(*held, *needed)) return;
  out.push_back({&operand, wanted});
}

// What the layout of one operand says about that of another, part for part.
void compare(const State& state, const Use& use, const Operand& a, const Operand& b, Wants& out) {
  if (a.arg == b.arg || !state.is_local(a.buffer) || !state.is_local(b.buffer)) return;
  const std::optional<Named> of_a = part_of(state, use, a);
  const std::optional<Named> of_b = part_of(state, use, b);
  if (!of_a || !of_b) return;
  Operand part_a = a, part_b = b;
  part_a.is_whole = part_b.is_whole = true;
  if (const auto wanted = related(state, use, part_a, *of_a, part_b))
    add_unless_there(b, *of_b, *wanted, out);
}

// --- what uses want ------------------------------------------------------------------------------

std::int64_t bits_of(const State& state, const Wants& wants) {
  std::int64_t bits = 0;
  std::set<std::uint32_t> counted;
  for (const Wanted& each : wants)
    if (counted.insert(each.operand->buffer.index).second)
      bits += each.named.layout.size() * num::storage_bits(state.f[each.operand->buffer].dtype);
  return bits;
}

// Beside the destination, or beside the tile where least must move.
Wants elementwise_wants(const State& state, const Use& use) {
  std::optional<Wants> best;
  const Operand* dst = use.at(0);
  for (const Operand& reference : use.operands) {
    if (dst != nullptr && reference.extents != dst->extents) continue;
    if (!part_of(state, use, reference)) continue;
    Wants wants;
    for (const Operand& each : use.operands) compare(state, use, reference, each, wants);
    if (!best || bits_of(state, wants) < bits_of(state, *best)) best = std::move(wants);
  }
  return best.value_or(Wants{});
}

// A result is where the reduction leaves it; an index where the tile is.
Wants related_wants(const State& state, const Use& use) {
  Wants out;
  for (const Operand& a : use.operands)
    for (const Operand& b : use.operands) compare(state, use, a, b, out);
  return out;
}

Wants wants_of(const State& state, const Use& use) {
  switch (use.kind) {
    case UseKind::Elementwise:
    case UseKind::Scan:
      return elementwise_wants(state, use);
    case UseKind::Reduction:
    case UseKind::Indexed:
      return related_wants(state, use);
    case UseKind::Product: {
      Wants out;
      for (const Operand& each : use.operands)
        if (auto wanted = missing_fragment(state, use, each))
          out.push_back({&each, *std::move(wanted)});
      return out;
    }
    default:
      return {};
  }
}

// --- copies --------------------------------------------------------------------------------------

class Converter {
 public:
  Converter(State& state, std::vector<Conversion>& report) : state_(state), report_(report) {
    for (std::uint32_t i = 0; i < state.f.buffer_count(); ++i)
      names_.insert(state.f[ir::BufferId{i}].name);
  }

  void convert(ir::Block& block) {
    ir::Block out;
    for (const ir::StmtId id : ir::Block(block)) {
      convert(f().at(id).body);
      convert(f().at(id).other);
      ir::Block after;
      const auto use = std::ranges::find(state_.uses, id, &Use::stmt);
      if (use != state_.uses.end() && uses_inferred(*use)) convert_use(*use, out, after);
      out.push_back(id);
      out.insert(out.end(), after.begin(), after.end());
    }
    block = std::move(out);
  }

 private:
  [[nodiscard]] ir::Function& f() const { return state_.f; }

  [[nodiscard]] bool uses_inferred(const Use& use) const {
    return std::ranges::any_of(use.operands, [&](const Operand& each) {
      return state_.is_local(each.buffer) && state_.decided.contains(each.buffer.index);
    });
  }

  // `mul(y, x, x)` needs one copy of x.
  void convert_use(const Use& use, ir::Block& before, ir::Block& after) {
    struct Copy {
      ir::Region of, copy;
    };
    std::vector<Copy> read;
    for (const Wanted& each : wants_of(state_, use)) {
      ir::TileArg& arg = f().at(use.call).args[each.operand->arg];
      const ir::Region region = std::get<ir::Region>(arg);
      const auto made =
          std::ranges::find_if(read, [&](const Copy& other) { return is_same(other.of, region); });
      if (made != read.end() && each.operand->arg != 0) {
        arg = made->copy;
        continue;
      }
      const ir::Region copy = make_copy(use, each, region, before, after);
      f().at(use.call).args[each.operand->arg] = copy;
      if (each.operand->arg != 0) read.push_back({region, copy});
    }
  }

  [[nodiscard]] bool is_same(const ir::Region& a, const ir::Region& b) const {
    const auto same_range = [&](const ir::RangeExpr& x, const ir::RangeExpr& y) {
      const auto begin = ir::const_int(f(), x.min), extent = ir::const_int(f(), x.extent);
      return begin && extent && begin == ir::const_int(f(), y.min) &&
             extent == ir::const_int(f(), y.extent);
    };
    return a.buffer == b.buffer && std::ranges::equal(a.ranges, b.ranges, same_range);
  }

  // The buffer, and the calls that fill it or read it.
  ir::Region make_copy(const Use& use, const Wanted& wanted, const ir::Region& region,
                       ir::Block& before, ir::Block& after) {
    const Span span = state_.span(use);
    const bool is_result = wanted.operand->arg == 0;
    ir::Region copy = add_buffer(wanted, region, span, before);
    const bool is_read = !is_result || reads_result(use);
    if (is_read) before.push_back(add_copy(use, copy, region));
    if (is_result) after.push_back(add_copy(use, region, copy));
    report_.push_back({.buffer = f()[region.buffer].name,
                       .copy = f()[copy.buffer].name,
                       .text = wanted.named.text,
                       .call = ir::tile_name(state_.call(use)),
                       .at = span,
                       .is_written = is_result});
    return copy;
  }

  // Does the use read what its result was?
  [[nodiscard]] bool reads_result(const Use& use) const {
    const ir::TileCall& call = state_.call(use);
    if (use.kind == UseKind::Reduction) return ir::accumulates(call);
    if (use.kind != UseKind::Elementwise) return false;
    const std::vector<const ir::TileArg*> read = ir::operands_of(call);
    return std::ranges::find(read, call.args.data()) != read.end();
  }

  ir::Region add_buffer(const Wanted& wanted, const ir::Region& region, Span span,
                        ir::Block& before) {
    ir::Buffer copy;
    copy.name = new_name(f()[region.buffer].name);
    copy.dtype = f()[region.buffer].dtype;
    copy.scope = ir::Scope::Local;
    copy.layout_kind = ir::LayoutKind::Explicit;
    copy.layout = wanted.named.layout;
    copy.span = span;
    ir::Region whole{.buffer = {}, .ranges = {}, .span = region.span};
    for (const std::int64_t extent : wanted.operand->extents) {
      copy.shape.push_back(ir::int_imm(f(), num::DType::Int32, extent, span));
      whole.ranges.push_back({ir::int_imm(f(), num::DType::Int32, 0, span), copy.shape.back()});
    }
    whole.buffer = f().add(std::move(copy));
    before.push_back(
        f().add(ir::Stmt{.kind = ir::StmtKind::Alloc, .span = span, .buffer = whole.buffer}));
    return whole;
  }

  ir::StmtId add_copy(const Use& use, const ir::Region& to, const ir::Region& from) {
    ir::TileCall call;
    call.op = ir::TileOp::Copy;
    call.scope = state_.call(use).scope;
    call.args = {to, from, std::monostate{}};
    const ir::TileCallId id = f().add(std::move(call));
    return f().add(ir::Stmt{.kind = ir::StmtKind::Tile, .span = state_.span(use), .tile = id});
  }

  std::string new_name(const std::string& of) {
    for (int i = 1;; ++i)
      if (std::string name = fmt::format("{}_{}", of, i); names_.insert(name).second) return name;
  }

  State& state_;
  std::vector<Conversion>& report_;
  std::set<std::string> names_;
};

}  // namespace

void add_conversions(State& state, std::vector<Conversion>& report) {
  Converter(state, report).convert(state.f.body);
}

}  // namespace ww::infer
