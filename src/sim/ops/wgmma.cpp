// SPDX-License-Identifier: Apache-2.0
// wgmma: the four warps of a warpgroup multiply matrices, asynchronously. They wait for each other
// at wgmma.mma_async; the last one to come issues the product for all. Its operands are read when
// the first of them waits for its group, and each one's D changes when it waits itself
// (wgmma_product.cpp): until then operands in shared memory and in registers must stay as they are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"
#include "sim/ops/memory_ops.h"
#include "sim/ops/open_lines.h"
#include "sim/ops/wgmma_ops.h"
#include "sim/run/meet.h"

namespace ww::sim::wgmma_ops {
namespace {

// --- issuing -------------------------------------------------------------------------------------

// The value that all lanes must agree on.
std::uint64_t uniform(Warp& warp, Place place, std::string_view what) {
  const auto* values = warp.source<std::uint64_t>(place);
  const std::uint64_t value = values[first_lane(warp.exec)];
  std::uint64_t differences = 0;
  for (unsigned l = 0; l < kLanes; ++l) differences |= values[l] ^ value;
  if (differences == 0) return value;
  Mask others = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (values[l] != value) others |= lane_bit(l);
  });
  if (others != 0 && warp.is_new(Check::Collective, kNoOp, count_lanes(others))) {
    warp.report(Check::Collective, others,
                fmt::format("lanes have different descriptors of {}: 0x{:016x} and 0x{:016x}", what,
                            value, values[first_lane(others)]));
  }
  return value;
}

bool adds_to_d(const Warp& warp, const Op& op, const WgmmaForm& form) {
  const Mask scale = warp.pred(op.p[kScaleD]) ^ (form.negates_scale ? kAllLanes : 0);
  return has_lane(scale, first_lane(warp.exec));
}

LineOrigins undefined_lines(Warp& warp, const SharedMatrix& matrix) {
  const Region& shared = warp.cta->shared;
  const MatrixChunks chunks = chunks_of(matrix);
  const bool is_inside = std::ranges::all_of(chunks, [&](std::uint32_t at) {
    return at + std::uint64_t{MatrixDescriptor::kChunk} <= shared.size;
  });
  return is_inside ? undefined_lines(warp, shared, matrix, chunks) : LineOrigins{};
}

// Looked up by the first warp that comes, for all.
const OpenOperands& open_operands(Warp& warp, const WgmmaForm& form, const ProductPart& part) {
  Warpgroup& group = warpgroup_of(warp);
  const std::uint32_t number = group.issued + 1;
  if (group.open.op == warp.current && group.open.number == number) return group.open;
  group.open = {.op = warp.current, .number = number, .a = {}, .b = {}};
  if (!form.a_in_registers) group.open.a = undefined_lines(warp, matrix_a(form, part.a));
  group.open.b = undefined_lines(warp, matrix_b(form, part.b));
  return group.open;
}

// What D will hold is known now: nothing may change A, B and D before the wait.
void track_registers(Warp& warp, const Op& op, const WgmmaForm& form, const ProductPart& part) {
  if (!warp.undefined.are_kept()) return;
  const bool adds = part.adds;
  const std::span<const Place> all = warp.places(op);
  const std::span<const Place> d = all.first(form.d.regs);
  const std::span<const Place> a = all.subspan(form.d.regs);
  if (!form.a_in_registers) use_value(warp, op.p[kDescA], warp.exec);
  use_value(warp, op.p[kDescB], warp.exec);
  use_value(warp, op.p[kScaleD], warp.exec, 0, true);
  for (const Place place : a) calculate_with(warp, place, warp.exec);
  for (const Place place : d)
    if (adds) calculate_with(warp, place, warp.exec);
  OpenLines lines(warp);
  lines.add_rows(a, form.a);
  if (form.rule.is_sparse) {
    calculate_with(warp, op.p[kMetadata], warp.exec);
    lines.add_all(op.p[kMetadata], warp.exec);
  }
  const OpenOperands& open = open_operands(warp, form, part);
  if (!open.a.empty())
    lines.add_rows(std::span(open.a).subspan(warp.index % kGroupWarps * kPartRows, kPartRows));
  lines.add_columns(open.b);
  lines.mark(d, adds ? d : std::span<const Place>(), form.d);
}

// Products of the same N, type of D and K may follow each other on one D.
void watch_registers(Warp& warp, const Op& op, const WgmmaForm& form) {
  if (warp.register_watch == nullptr) return;
  const std::span<const Place> places = warp.places(op);
  const ProductRule& rule = form.rule;
  const std::uint32_t shape = form.n << 16U | rule.k << 4U | static_cast<unsigned>(rule.kind);
  warp.register_watch->issue(warp, places.first(form.d.regs), places.subspan(form.d.regs), shape);
}

ProductPart part_of(Warp& warp, const Op& op, const WgmmaForm& form) {
  ProductPart part{.warp = &warp,
                   .frame = warp.here.frame,
                   .lanes = warp.exec,
                   .group = warp.pending.products_committed,
                   .adds = adds_to_d(warp, op, form)};
  if (!form.a_in_registers) part.a = uniform(warp, op.p[kDescA], "A");
  part.b = uniform(warp, op.p[kDescB], "B");
  return part;
}

// The four warps must name the same matrices.
void compare_parts(Warp& warp, const PendingProduct& product) {
  const ProductPart& mine = product.parts[warp.index % kGroupWarps];
  for (const ProductPart& part : product.parts) {
    if (part.warp == nullptr) continue;
    const bool is_a = part.a != mine.a;
    if (!is_a && part.b == mine.b && part.adds == mine.adds) continue;
    if (!warp.is_new(Check::Collective)) return;
    const std::string what =
        is_a || part.b != mine.b
            ? fmt::format("descriptors of {}: 0x{:016x} and 0x{:016x}", is_a ? "A" : "B",
                          is_a ? part.a : part.b, is_a ? mine.a : mine.b)
            : std::string("values of scale-d");
    warp.report(Check::Collective, warp.exec,
                fmt::format("warps {} and {} of the warpgroup have different {}", part.warp->index,
                            warp.index, what));
    return;
  }
}

void note_product(const Warp& warp, const PendingProduct& product) {
  if (warp.unit->recorder == nullptr) return;
  const ProductPart& mine = product.parts[warp.index % kGroupWarps];
  EngineProduct out{.first_warp = warp.unit_warp() - warp.index % kGroupWarps,
                    .a = mine.a,
                    .b = mine.b,
                    .adds = mine.adds};
  for (unsigned i = 0; i < kGroupWarps; ++i)
    if (product.parts[i].warp != nullptr) out.warps |= 1U << i;
  warp.unit->recorder->note_product(out);
}

// The product of all warps that are at the op.
void issue(Warp& warp, const WgmmaForm& form) {
  Warpgroup& group = warpgroup_of(warp);
  PendingProduct product{.op = warp.current, .number = ++group.issued, .a = {}, .b = {}};
  const std::array<Warp*, kGroupWarps> warps = group_of(warp);
  for (unsigned i = 0; i < kGroupWarps; ++i) {
    if (warps[i] == nullptr) continue;
    if (warps[i] == &warp || waits_in_group(*warps[i], warp.current))
      product.parts[i] = group.arrived[i];
  }
  compare_parts(warp, product);
  begin_product(warp, form, product);
  warp.unit->counters.add_products(std::uint64_t{kGroupWarps} * kPartRows * form.n * form.rule.k);
  note_product(warp, product);
  group.products.push_back(std::move(product));
  act(warp);
  for (Warp* other : warps) {
    if (other == nullptr || other == &warp) continue;
    for (Split& split : other->splits.list) {
      if (split.state == SplitState::AtWarpgroup && split.pc == warp.current)
        split.resume(true, kIssuedForAll);
    }
  }
}

void report_missing(Warp& warp) {
  const std::string missing = missing_warps(warp);
  if (missing.empty() || !warp.is_new(Check::Collective)) return;
  warp.report(
      Check::Collective, warp.exec,
      fmt::format("executed without {}: all four warps of the warpgroup must come here", missing));
}

void run_product(Warp& warp, const Op& op) {
  const auto& form = form_of<WgmmaForm>(op);
  if (warp.grant.is_open && !is_meeting_grant(warp)) {
    std::uint32_t value = 0;
    take_grant(warp, &value);
    if (value == kIssuedForAll) return;
    report_missing(warp);
    issue(warp, form);
    return;
  }
  if (!meet_all(warp)) return;
  const ProductPart part = part_of(warp, op, form);
  watch_registers(warp, op, form);
  track_registers(warp, op, form, part);
  if (form.rule.is_sparse) {
    const SparseRows rows = form.rule.sparse_rows();
    const auto* const words = warp.source<std::uint32_t>(op.p[kMetadata]);
    check_metadata(warp, rows, metadata_of_rows(rows, words, form.selector), form.selector,
                   PlaceOrder::Any, warp.index % kGroupWarps * kPartRows);
  }
  warpgroup_of(warp).arrived[warp.index % kGroupWarps] = part;
  const std::array<Warp*, kGroupWarps> warps = group_of(warp);
  const bool all_came = std::ranges::all_of(warps, [&](const Warp* other) {
    return other == &warp || (other != nullptr && waits_in_group(*other, warp.current));
  });
  if (!all_came) return wait_in(warp, SplitState::AtWarpgroup);
  issue(warp, form);
}

// --- waiting -------------------------------------------------------------------------------------

void run_fence(Warp& warp, const Op&) {
  if (meet_all(warp) && warp.register_watch != nullptr) warp.register_watch->fence();
}

void run_commit(Warp& warp, const Op&) {
  if (!meet_all(warp)) return;
  ++warp.pending.products_committed;
}

void run_wait(Warp& warp, const Op& op) {
  if (!meet_all(warp)) return;
  if (warp.register_watch != nullptr) warp.register_watch->waited(warp.current);
  const auto newest = static_cast<std::uint64_t>(op.as<Constant>().value);
  const std::uint32_t closed = warp.pending.products_committed;
  Warpgroup& group = warpgroup_of(warp);
  for (PendingProduct& product : group.products) {
    ProductPart& part = product.parts[warp.index % kGroupWarps];
    // Others of the warpgroup may not have come to a wait that this warp has passed.
    if (part.warp == nullptr || part.is_waited) continue;
    if (part.group >= closed || closed - part.group <= newest) break;
    if (product.operands == nullptr) read_product(product);
    multiply_part(product, part);
    part.is_waited = true;
    warp.pending.products_waited = product.number;
  }
  std::erase_if(group.products, [](const PendingProduct& product) {
    return std::ranges::all_of(product.parts, [](const ProductPart& part) {
      return part.warp == nullptr || part.is_waited;
    });
  });
}

// --- decoding ------------------------------------------------------------------------------------

// The value of an operand that is a constant; 0 if the form does not have it.
std::int64_t constant_named(const Decode& in, std::string_view name) {
  const std::size_t i = in.find(name);
  return i < in.count() ? in.immediate(i) : 0;
}

WgmmaForm form_in(const Decode& in) {
  WgmmaForm form{.rule = rule_in(in)};
  form.rule.has_fp8_unit = true;
  form.n = static_cast<unsigned>(isa::product_shape(in.word("shape")).n);
  form.a = in_registers(kPartRows, form.rule.a_length(), form.rule.bits, kPartRows);
  form.d =
      in_registers(kPartRows, form.n, form.rule.kind == SumKind::F16 ? 16 : 32, kPartRows, true);
  form.a_in_registers = in.operand(1).kind == isa::OperandKind::Vector;
  form.a_is_mn_major = constant_named(in, "trans_a") == 1;
  form.b_is_mn_major = constant_named(in, "trans_b") == 1;
  form.negates_a = constant_named(in, "scale_a") == -1;
  form.negates_b = constant_named(in, "scale_b") == -1;
  form.selector = static_cast<unsigned>(constant_named(in, "sel"));
  form.negates_scale = in.is_negated(in.find("scale_d"));
  return form;
}

// Operands in the order of the form: D, A, B, then by their names.
bool decode_product(Decode& in) {
  const WgmmaForm form = form_in(in);
  in.op.run = run_product;
  in.op.flags = kTracksItself | kWatchesRegisters;
  in.function().program().uses_async_proxy = true;
  in.function().program().uses_warpgroups = true;
  std::vector<Place> places = in.results(0);
  if (form.a_in_registers) {
    const std::vector<Place> a = in.sources(1);
    places.insert(places.end(), a.begin(), a.end());
  } else {
    in.op.p[kDescA] = in.source(1);
  }
  in.op.p[kDescB] = in.source(2);
  if (form.rule.is_sparse) in.op.p[kMetadata] = in.source(in.find("meta"));
  in.op.p[kScaleD] = in.source(in.find("scale_d"));
  in.further(places);
  in.keep(form);
  return true;
}

bool decode_wait(Decode& in) {
  in.tracks_itself(run_wait);
  in.op.set(Constant{in.immediate(0)});
  return true;
}

constexpr OpRow kRows[] = {
    {"wgmma.mma_async", decode_product},
    {"wgmma.fence", decode_bare<run_fence>},
    {"wgmma.commit_group", decode_bare<run_commit>},
    {"wgmma.wait_group", decode_wait},
};

}  // namespace

constinit const OpFamily family{"wgmma", kRows};

}  // namespace ww::sim::wgmma_ops
