// SPDX-License-Identifier: Apache-2.0
#include "soak/whole_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "soak/auto_layouts.h"
#include "soak/casts/program.h"
#include "soak/folds/program.h"
#include "soak/scalars/program.h"
#include "soak/scopes/program.h"
#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr std::int64_t kMaxSteps = 14;

// How often each; the first is what an ended row of choices says.
const std::vector<ProgramKind> kKinds = {
    ProgramKind::Tile,  ProgramKind::Tile,   ProgramKind::Tile,  ProgramKind::Tile,
    ProgramKind::Tile,  ProgramKind::Scalar, ProgramKind::Scope, ProgramKind::Scalar,
    ProgramKind::Scope, ProgramKind::Cast,   ProgramKind::Fold,  ProgramKind::Fold};
// The first choice of a program with inferred layouts, which is a tile program else.
constexpr std::int64_t kAutoMark = 1'000'000'000'000'000;

void make_registers(Draft& draft) {
  const std::int64_t count = 2 + draft.tape.below(3);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_new = i == 0 || draft.tape.one_in(2);
    const std::string dtype = is_new ? any_type(draft) : draft.regs[0].dtype;
    const RegLayout layout = tile_layout(draft, dtype);
    add_reg(draft, fmt::format("r{}", i), dtype, draft.f.tile, layout.text).is_packed =
        layout.is_packed;
  }
  draft.works = draft.regs.size();
}

void make_shared(Draft& draft) {
  const std::int64_t count = 1 + draft.tape.below(3);
  for (std::int64_t i = 0; i < count; ++i) add_shared(draft, any_work(draft).dtype, draft.f.tile);
}

// Everything is declared before anything is done.
void begin_whole_programs(Draft& draft) {
  const Frame& f = draft.f;
  draft.text.entry(f.ctas, f.threads, f.threads % 128 == 0);
  if (f.has_pool) draft.text.line({}, "pool = T.SMEMPool()");
  make_registers(draft);
  make_shared(draft);
  for (const Step* step : all_steps())
    if (step->declare != nullptr) step->declare(draft);
  if (f.has_pool) draft.text.line({}, "pool.commit()");
  for (std::size_t i = 0; i < draft.works; ++i) {
    const RegTile& reg = draft.regs[i];
    draft.text.line({}, "{0}_r = {0}.local({1})", reg.name, reg.slots);
    load(draft, {}, reg, false);
  }
  for (Shared& each : draft.shared) fill_all(draft, {}, each);
  for (const Step* step : all_steps())
    if (step->begin != nullptr) step->begin(draft);
}

void finish_whole_programs(Draft& draft) {
  wait_all(draft, {});
  for (const RegTile& reg : draft.regs) store(draft, {}, reg);
  for (const Step* step : all_steps())
    if (step->finish != nullptr) step->finish(draft);
}

std::string source_of(const Draft& draft) {
  std::string out = "from tvm.script import tirx as T\n";
  if (!draft.f.is_first_spelling) out += "from tvm.script.tirx import tile as Tx\n";
  out +=
      "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid, warpid, wid_in_wg, "
      "tid_in_wg, tx, TLane, TCol, tcgen05_atom_layout\n\n";
  return out + draft.text.kernel();
}

WholeProgram tile_program(Tape& tape) {
  Draft draft(tape);
  begin_whole_programs(draft);
  write_block(draft, {}, 3 + draft.tape.below(kMaxSteps));
  finish_whole_programs(draft);
  // A finding may name the view that it was seen through.
  std::optional<LeftOut> left_out = draft.omission.left_out();
  for (const auto& [view, of] : draft.views)
    if (left_out && left_out->between.contains(of)) left_out->between.insert(view);
  WholeProgram out{
      .program = {.source = source_of(draft), .target = draft.f.target, .inputs = Inputs::Whole},
      .left_out = std::move(left_out),
      .steps = draft.steps};
  out.program.has_any_nan = has_odd_nans(draft) || draft.changes_signs || draft.is_fast;
  if (draft.is_fast) out.program.tolerance = 0x1p-9;
  out.program.is_approximate = draft.is_fast;
  out.program.scalars = draft.scalars;
  out.program.scalars["p0"] = draft.tape.below(3);
  out.program.schedule = 1 + static_cast<std::uint64_t>(draft.tape.below(1000));
  return out;
}

}  // namespace

std::string_view name_of(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::Tile:
      return "tiles";
    case ProgramKind::Scalar:
      return "scalars";
    case ProgramKind::Scope:
      return "scopes";
    case ProgramKind::Fold:
      return "folds";
    case ProgramKind::Cast:
      return "casts";
    case ProgramKind::Auto:
      return "autos";
  }
  return "";
}
std::optional<ProgramKind> kind_of(std::string_view name) {
  for (const ProgramKind each : kKinds)
    if (name == name_of(each)) return each;
  if (name == name_of(ProgramKind::Auto)) return ProgramKind::Auto;
  return std::nullopt;
}

Choices whole_choices(std::uint64_t seed, std::uint64_t number, std::optional<ProgramKind> only) {
  constexpr std::uint64_t kRows = 5;
  // Which kind it is comes from a row of its own.
  Choices out = {random_choices(~seed, number).front()};
  if (only == ProgramKind::Auto)
    out[0] = kAutoMark;
  else if (only)
    out[0] = std::ranges::find(kKinds, *only) - kKinds.begin();
  for (std::uint64_t i = 0; i < kRows; ++i) {
    const Choices more = random_choices(seed, number * kRows + i);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

WholeProgram whole_program(const Choices& choices) {
  Tape tape(choices);
  const ProgramKind kind = tape.pick(kKinds);
  WholeProgram out = kind == ProgramKind::Scalar  ? scalar_program(tape)
                     : kind == ProgramKind::Scope ? scope_program(tape)
                     : kind == ProgramKind::Fold  ? fold_program(tape)
                     : kind == ProgramKind::Cast  ? cast_program(tape)
                                                  : tile_program(tape);
  out.kind = kind;
  if (!choices.empty() && choices[0] == kAutoMark) {
    out = with_auto_layouts(std::move(out), tape);
    out.kind = ProgramKind::Auto;
  }
  out.used = tape.used();
  return out;
}

}  // namespace ww::test
