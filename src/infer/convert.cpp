// SPDX-License-Identifier: Apache-2.0
// Conversions: where a use wants a tile in other threads than those that hold it, it takes a copy of
// it, a buffer of the layout that it wants.
//
//     Tx.cta.add(y, x, z)        x_1 = T.alloc_local(…, layout=<as y needs it>)
//                                Tx.cta.copy(x_1, x)
//                                Tx.cta.add(y, x_1, z)
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "infer/holders.h"
#include "infer/relation.h"
#include "infer/state.h"
#include "ir/build.h"
#include "ir/elementwise.h"
#include "ir/print/print.h"
#include "ir/reduction.h"

namespace ww::infer {
namespace {

// An operand of a use, and the layout that the use wants of the region.
struct Wanted {
  const Operand* operand = nullptr;
  Named named;
};
using Wants = std::vector<Wanted>;

// Adds the operand to `out` unless its layout gives all that is wanted. A result must be wanted by no
// thread that the use does not give it to.
void add_unless_there(const State& state, const Operand& operand, const Named& wanted, Wants& out) {
  const std::optional<Named> known = state.known(operand.buffer);
  if (!known) return;
  const auto held = holders_of(known->layout);
  const auto needed = holders_of(wanted.layout);
  if (!held || !needed) return;
  const bool is_result = operand.arg == 0;
  if (is_result ? have(*needed, *held) : have(*held, *needed)) return;
  out.push_back({&operand, wanted});
}

// --- what uses want ------------------------------------------------------------------------------

// All other tiles where the reference is.
Wants wants_beside(const State& state, const Use& use, const Operand& reference) {
  Wants out;
  const std::optional<Named> layout = state.known(reference.buffer);
  if (!layout || !reference.is_whole) return out;
  for (const Operand& each : use.operands) {
    if (!state.is_local(each.buffer) || !each.is_whole || each.buffer == reference.buffer) continue;
    if (const auto wanted = related(state, use, reference, *layout, each))
      add_unless_there(state, each, *wanted, out);
  }
  return out;
}

std::int64_t bits_of(const State& state, const Wants& wants) {
  std::int64_t bits = 0;
  std::set<std::uint32_t> counted;
  for (const Wanted& each : wants)
    if (counted.insert(each.operand->buffer.index).second)
      bits += each.named.layout.size() * num::bits_of(state.f[each.operand->buffer].dtype);
  return bits;
}

// Beside the destination, or beside the tile where least must move.
Wants elementwise_wants(const State& state, const Use& use) {
  std::optional<Wants> best;
  const Operand* dst = use.at(0);
  for (const Operand& each : use.operands) {
    const bool is_reference = state.is_local(each.buffer) && state.known(each.buffer) &&
                              (dst == nullptr || each.extents == dst->extents);
    if (!is_reference) continue;
    Wants wants = wants_beside(state, use, each);
    if (!best || bits_of(state, wants) < bits_of(state, *best)) best = std::move(wants);
  }
  return best.value_or(Wants{});
}

// A result is where the reduction leaves it; an index where the tile is.
Wants related_wants(const State& state, const Use& use) {
  Wants out;
  for (const Operand& a : use.operands)
    for (const Operand& b : use.operands) {
      const std::optional<Named> known = state.is_local(a.buffer) && state.is_local(b.buffer)
                                             ? state.known(a.buffer)
                                             : std::nullopt;
      if (!known || a.arg == b.arg) continue;
      if (const auto wanted = related(state, use, a, *known, b))
        add_unless_there(state, b, *wanted, out);
    }
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

  void convert_use(const Use& use, ir::Block& before, ir::Block& after) {
    std::vector<std::pair<const Operand*, ir::Region>> copies;
    for (const Wanted& each : wants_of(state_, use)) {
      ir::TileArg& arg = f().at(use.call).args[each.operand->arg];
      // `mul(y, x, x)` needs one copy of x.
      const auto made = std::ranges::find_if(copies, [&](const auto& other) {
        return other.first->arg != 0 && other.first->is_whole && each.operand->is_whole &&
               other.first->buffer == each.operand->buffer;
      });
      if (made != copies.end()) {
        arg = made->second;
        continue;
      }
      const ir::Region region = std::get<ir::Region>(arg);
      copies.emplace_back(each.operand, make_copy(use, each, region, before, after));
      arg = copies.back().second;
    }
  }

  // The buffer, and the calls that fill it or read it.
  ir::Region make_copy(const Use& use, const Wanted& wanted, const ir::Region& region,
                       ir::Block& before, ir::Block& after) {
    const Span span = state_.span(use);
    const bool is_result = wanted.operand->arg == 0;
    const ir::Region copy = add_buffer(wanted, region, span, before);
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
    return std::ranges::find(read, &call.args[0]) != read.end();
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
