// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/fail_at.h"
#include "driver/sim/options.h"
#include "driver/sim/report.h"
#include "ir/function.h"
#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/print/print.h"
#include "ir/visit.h"
#include "num/dtype.h"
#include "sim/timeline/detail.h"

namespace ww::driver {

namespace {

std::string index_text(const std::string& name, std::uint64_t at, std::uint64_t bytes,
                       std::uint32_t element) {
  constexpr std::uint64_t kObject = 8;
  constexpr std::uint64_t kMaxBarriers = 64;  // a larger array of bytes is no array of mbarriers
  if (bytes == kObject) return name;
  const bool is_array = element == kObject || (bytes != 0 && bytes <= kMaxBarriers * kObject);
  if (is_array && at % kObject == 0) return fmt::format("{}[{}]", name, at / kObject);
  return at == 0 ? name : fmt::format("{}+0x{:x}", name, at);
}

// The mbarrier at that place in shared memory; empty: it has no name.
std::string mbarrier_name(const TimelineSource& source, std::uint64_t offset) {
  for (const SharedName& name : source.names) {
    if (offset >= name.offset && offset - name.offset < name.bytes)
      return index_text(name.name, offset - name.offset, name.bytes, name.element);
  }
  const auto own = static_cast<std::uint32_t>(source.kernel - source.program->functions.data());
  for (const sim::SharedVariable& variable : source.program->shared) {
    const bool is_here = variable.function == sim::SharedVariable::kAnyFunction ||
                         variable.function == own ||
                         !source.program->functions[variable.function].is_entry;
    const bool holds = offset >= variable.offset &&
                       (variable.bytes == 0 || offset - variable.offset < variable.bytes);
    if (is_here && holds)
      return index_text(variable.name, offset - variable.offset, variable.bytes, variable.element);
  }
  return "";
}

std::optional<std::size_t> role_of(const TimelineSource& source, std::uint32_t warp) {
  const auto found = std::ranges::find_if(source.roles, [&](const WarpRole& role) {
    return std::ranges::find(role.warps, warp) != role.warps.end();
  });
  if (found == source.roles.end()) return std::nullopt;
  return static_cast<std::size_t>(found - source.roles.begin());
}

}  // namespace

TimelineSource timeline_source(const Build& build, const sim::Program& program) {
  return {.program = &program,
          .kernel = program.find_kernel(build.entry),
          .names = shared_names(build, program),
          .roles = warp_roles(build)};
}

sim::LaunchNames launch_names(const Build& build, const runtime::SimDevice& device) {
  // Made for the first message; host threads may ask at the same time.
  struct Kept {
    std::once_flag is_made;
    TimelineSource source;
  };
  const auto source = [&build, &device,
                       kept = std::make_shared<Kept>()]() -> const TimelineSource& {
    std::call_once(kept->is_made,
                   [&] { kept->source = timeline_source(build, *device.program()); });
    return kept->source;
  };
  return {.mbarrier = [source](std::uint64_t at) { return mbarrier_name(source(), at); },
          .role =
              [source](std::uint32_t warp) {
                const auto role = role_of(source(), warp);
                return role ? source().roles[*role].name : "";
              },
          .has_lines = true};
}

std::string TimelineNames::mbarrier(std::uint32_t index) const {
  const std::uint64_t offset = recording_.mbarriers[index].offset;
  std::string name = mbarrier_name(source_, offset);
  return name.empty() ? fmt::format("0x{:x}", offset) : name;
}

std::optional<std::size_t> TimelineNames::role(std::uint32_t warp) const {
  return role_of(source_, warp % recording_.warps_per_cta);
}

std::string TimelineNames::block(std::uint32_t cta) const {
  return block_text(source_.grid, recording_.ctas[cta]);
}

std::string TimelineNames::warp(std::uint32_t warp) const {
  std::string name = fmt::format("warp {}", warp % recording_.warps_per_cta);
  const auto own = role(warp);
  if (own && !source_.roles[*own].name.empty())
    name += fmt::format(" ({})", source_.roles[*own].name);
  if (recording_.ctas.size() == 1) return name;
  return fmt::format("{} of block {}", name, block(warp / recording_.warps_per_cta));
}

std::optional<TimelineParty> TimelineNames::party(const sim::Doer& doer) const {
  if (doer.op == sim::kNoOp || doer.op >= source_.program->infos.size()) return std::nullopt;
  TimelineParty out{.who = warp(doer.warp), .line = source_.program->infos[doer.op].line};
  out.instruction = source_.program->line(out.line);
  std::ranges::replace(out.instruction, '\t', ' ');
  if (const auto at = source_of(*source_.program, doer.op)) {
    const std::size_t slash = at->file.rfind('/');
    out.source = fmt::format("{}:{}", at->file.substr(slash + 1), at->line);
  }
  return out;
}

std::string TimelineNames::opcode(std::uint32_t op) const {
  const std::string_view whole = source_.program->module.text(source_.program->infos[op].opcode);
  constexpr std::string_view kShort[] = {"cp.reduce.async.bulk.tensor",
                                         "cp.async.bulk.tensor",
                                         "cp.reduce.async.bulk",
                                         "cp.async.bulk",
                                         "cp.async.mbarrier.arrive",
                                         "cp.async",
                                         "st.async",
                                         "red.async",
                                         "wgmma.mma_async",
                                         "tcgen05.mma",
                                         "tcgen05.cp",
                                         "tcgen05.shift",
                                         "tcgen05.commit",
                                         "clusterlaunchcontrol.try_cancel"};
  for (const std::string_view name : kShort)
    if (whole.starts_with(name)) return std::string(name);
  return std::string(whole.substr(0, whole.find('.')));
}

std::string TimelineNames::subject(sim::WarpState state, std::uint32_t subject) const {
  switch (state) {
    case sim::WarpState::AtMbarrier:
      return mbarrier(subject);
    case sim::WarpState::AtBarrier:
      return fmt::format("barrier {}", subject);
    case sim::WarpState::AtClusterBarrier:
      return "the cluster's barrier";
    case sim::WarpState::AtWarpgroup:
      return "its warpgroup";
    case sim::WarpState::AtColumns:
      return "columns of tensor memory";
    case sim::WarpState::AtRegisters:
      return "registers";
    case sim::WarpState::AtLanes:
      return "other lanes of the warp";
    case sim::WarpState::Runs:
      return "";
  }
  return "";
}

// --- plan ----------------------------------------------------------------------------------------

namespace {

// More blocks than any grid has; whether the grid has that one shows when it is known.
constexpr sim::Dim3 kAnyGrid{0x7FFF'FFFF, 0xFFFF, 0xFFFF};

Result<std::uint64_t> read_block(const std::string& text, const std::optional<sim::Dim3>& grid) {
  if (grid) return parse_block(text, *grid);
  if (!text.contains(',')) return parse_block(text, kAnyGrid);
  return fail_at(Span::at(0, text.size()), DiagKind::Syntax,
                 "expected the number of a block, found `{}`: the grid is not known yet", text);
}

bool check_path(const std::string& path, FilePlan& files, Refusals& refusals) {
  if (const auto form = timeline_form(path); !form)
    return refusals.add(form.error(), "--timeline", path);
  auto good = files.writes(path, "the timeline");
  if (good) return true;
  return refusals.add(std::move(good).error().with_span(Span::at(0, path.size())), "--timeline",
                      path);
}

}  // namespace

std::optional<TimelinePlan> plan_timeline(const TimelineRequest& request,
                                          const std::optional<sim::Dim3>& grid, FilePlan& files,
                                          Refusals& refusals) {
  TimelinePlan out;
  if (!check_path(request.path, files, refusals)) return std::nullopt;
  if (!request.block.empty() &&
      !refusals.keep(read_block(request.block, grid), out.block, "--timeline-block", request.block))
    return std::nullopt;
  if (!request.steps.empty() &&
      !refusals.keep(parse_steps(request.steps), out.range, "--timeline-steps", request.steps))
    return std::nullopt;
  return out;
}

Result<void> draw_timeline(const TimelineRequest& request, const TimelinePlan& plan,
                           const std::optional<sim::Recording>& recording,
                           const TimelineSource& source) {
  if (plan.block >= source.grid.count())
    return fail(DiagKind::OutOfBounds, "there is no block {} in a grid of {}", plan.block,
                dims_text(source.grid));
  if (!recording)
    return fail(diag(DiagKind::BadArgument,
                     "no timeline of block {}: its cluster did not run to an end", plan.block)
                    .with_note("the run ended before, or another cluster took over its work"));
  return write_timeline(request.path, make_timeline(*recording, source, {.range = plan.range}));
}

// --- roles of warps ------------------------------------------------------------------------------

// --- role use ------------------------------------------------------------------------------------

namespace {

using Steps = std::pair<std::uint64_t, std::uint64_t>;  // from, to

// How many steps some spans cover together.
std::uint64_t covered(std::vector<Steps> spans) {
  std::ranges::sort(spans);
  std::uint64_t sum = 0, until = 0;
  for (const auto& [from, to] : spans) {
    sum += to - std::min(to, std::max(from, until));
    until = std::max(until, to);
  }
  return sum;
}

bool is_copy(sim::AsyncKind kind) {
  return kind == sim::AsyncKind::CopyGroup || kind == sim::AsyncKind::Signalled ||
         kind == sim::AsyncKind::BulkGroup;
}
bool is_product(sim::AsyncKind kind) {
  return kind == sim::AsyncKind::Product || kind == sim::AsyncKind::TensorWork;
}

// "pipe_full" of "pipe_full[2]".
std::string array_of(const std::string& name) { return name.substr(0, name.find('[')); }

void add_wait(RoleUse& out, const std::string& what, std::uint64_t steps) {
  const auto same = std::ranges::find(out.waits, what, &RoleUse::Wait::what);
  if (same == out.waits.end())
    out.waits.push_back({what, steps});
  else
    same->steps += steps;
}

void add_warp(const sim::RecordedWarp& warp, const TimelineNames& names, RoleUse& out) {
  std::vector<sim::StateSteps> sums = warp.merged;
  for (const sim::WarpSpan& span : warp.spans)
    if (span.merged == 0) sim::add_steps(sums, {span.state, span.subject, span.end - span.begin});
  if (!warp.spans.empty()) out.steps += warp.spans.back().end;
  for (const sim::StateSteps& each : sums) {
    if (each.state == sim::WarpState::Runs)
      out.runs += each.steps;
    else
      add_wait(out, array_of(names.subject(each.state, each.subject)), each.steps);
  }
}

}  // namespace

std::uint64_t RoleUse::waited() const {
  std::uint64_t sum = 0;
  for (const Wait& wait : waits) sum += wait.steps;
  return sum;
}

RoleUse role_use(const sim::Recording& recording, const TimelineNames& names,
                 const WarpRole& role) {
  RoleUse out;
  const std::uint32_t per_cta = recording.warps_per_cta;
  for (std::uint32_t cta = 0; cta < recording.ctas.size(); ++cta) {
    for (const std::uint32_t warp : role.warps)
      if (warp < per_cta) add_warp(recording.warps[cta * per_cta + warp], names, out);
    std::vector<Steps> copies, products;
    for (const sim::AsyncRecord& work : recording.work) {
      const std::uint32_t warp = work.issued_by.warp;
      const bool is_own = warp / per_cta == cta &&
                          std::ranges::find(role.warps, warp % per_cta) != role.warps.end();
      if (is_own && is_copy(work.kind)) copies.emplace_back(work.begin, work.end);
      if (is_own && is_product(work.kind)) products.emplace_back(work.begin, work.end);
    }
    out.copies += covered(std::move(copies));
    out.products += covered(std::move(products));
    out.run_steps += recording.steps;
  }
  std::ranges::stable_sort(out.waits, std::greater{}, &RoleUse::Wait::steps);
  return out;
}

// --- shared names --------------------------------------------------------------------------------

namespace {

// In bytes from the start of its base; none: known at run time only.
std::optional<std::uint64_t> offset_in_base(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t offset = 0;
  if (buffer.byte_offset.valid()) {
    const auto bytes = ir::const_int(f, buffer.byte_offset);
    if (!bytes) return std::nullopt;
    offset += *bytes;
  }
  if (buffer.elem_offset.valid()) {
    const auto elements = ir::const_int(f, buffer.elem_offset);
    if (!elements) return std::nullopt;
    offset += *elements * num::storage_bits(buffer.dtype) / 8;
  }
  if (offset < 0) return std::nullopt;
  return static_cast<std::uint64_t>(offset);
}

std::optional<std::uint64_t> bytes_of_shape(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t bits = num::storage_bits(buffer.dtype);
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = ir::const_int(f, extent);
    if (!value || *value <= 0) return std::nullopt;
    bits *= *value;
  }
  return static_cast<std::uint64_t>((bits + 7) / 8);
}

// The barriers of a class of the language are its member `buf`.
std::string short_name(const ir::Buffer& buffer) {
  constexpr std::string_view kMember = "_buf";
  std::string name = buffer.name;
  if (buffer.dtype == num::DType::Uint64 && name.size() > kMember.size() && name.ends_with(kMember))
    name.resize(name.size() - kMember.size());
  return name;
}

}  // namespace

std::vector<SharedName> shared_names(const Build& build, const sim::Program& program) {
  const ir::Function& f = build.tile();
  std::vector<SharedName> out;
  for (std::size_t i = 0; i < f.buffer_count(); ++i) {
    const ir::Buffer& buffer = f[ir::BufferId{static_cast<std::uint32_t>(i)}];
    if (buffer.origin != ir::BufferOrigin::View || !ir::is_shared(buffer.scope)) continue;
    const std::string& base = f[buffer.base].name;
    const auto variable = std::ranges::find(program.shared, base, &sim::SharedVariable::name);
    const auto offset = offset_in_base(f, buffer);
    const auto bytes = bytes_of_shape(f, buffer);
    if (variable == program.shared.end() || !offset || !bytes || buffer.name.empty()) continue;
    out.push_back(
        {.name = short_name(buffer),
         .offset = variable->offset + *offset,
         .bytes = *bytes,
         .element = static_cast<std::uint32_t>(std::max(1, num::storage_bits(buffer.dtype) / 8))});
  }
  std::ranges::stable_sort(out, {}, &SharedName::bytes);
  return out;
}

namespace {

constexpr std::size_t kWarpThreads = 32;

// An arm of an `if` and the warps that take it.
struct Branch {
  ir::StmtId stmt = {};
  bool is_else = false;
  std::vector<std::uint32_t> warps = {};
};

// --- what a branch does --------------------------------------------------------------------------

struct Deeds {
  bool has_loop = false, has_wait = false, has_tile = false;
  bool fills_shared = false;  // from global memory
  bool reads_shared = false;  // data, not barriers
  bool writes_tensor = false, reads_tensor = false;

  [[nodiscard]] bool any() const { return has_loop || has_wait || has_tile; }
};

bool is_barrier(const ir::Buffer& buffer) { return buffer.dtype == num::DType::Uint64; }

const ir::Buffer* buffer_of(const ir::Function& f, const ir::TileArg& arg) {
  const auto* region = std::get_if<ir::Region>(&arg);
  return region != nullptr && region->buffer.valid() ? &f[region->buffer] : nullptr;
}

void note_tile(const ir::Function& f, const ir::TileCall& call, Deeds& out) {
  out.has_tile = true;
  const ir::Buffer* const to = call.args.empty() ? nullptr : buffer_of(f, call.args[0]);
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    const ir::Buffer* const from = buffer_of(f, call.args[i]);
    if (from == nullptr) continue;
    if (ir::is_shared(from->scope)) out.reads_shared = true;
    if (from->scope == ir::Scope::Tmem) out.reads_tensor = true;
    if (from->scope == ir::Scope::Global && to != nullptr && ir::is_shared(to->scope))
      out.fills_shared = true;
  }
  const bool is_product = call.op == ir::TileOp::Gemm || call.op == ir::TileOp::GemmAsync;
  if (is_product && to != nullptr && to->scope == ir::Scope::Tmem) out.writes_tensor = true;
}

// Whether a value is loaded from memory of that kind.
template <typename Holds>
bool loads(const ir::Function& f, ir::ExprId id, const Holds& holds) {
  const ir::Expr& e = f[id];
  if (e.op == ir::ExprOp::Load && holds(f[e.buffer])) return true;
  return std::ranges::any_of(e.args, [&](ir::ExprId arg) { return loads(f, arg, holds); });
}

bool is_shared_data(const ir::Buffer& b) { return ir::is_shared(b.scope) && !is_barrier(b); }
bool is_global(const ir::Buffer& b) { return b.scope == ir::Scope::Global; }

void note_ptx(const ir::PtxCall& call, Deeds& out) {
  if (!call.opcode.valid()) return;
  const std::string_view text = call.opcode.text();
  if (text.starts_with("cp.async") && text.contains(".global") &&
      text.find(".shared") < text.find(".global"))
    out.fills_shared = true;
  for (const std::string_view name : {"ldmatrix", "ld.shared", "wgmma.mma_async"})
    if (text.starts_with(name)) out.reads_shared = true;
  if (text.starts_with("tcgen05.mma")) out.writes_tensor = true;
  if (text.starts_with("tcgen05.ld")) out.reads_tensor = true;
}

Deeds deeds_of(const ir::Function& f, const ir::Block& block) {
  Deeds out;
  ir::for_each_stmt(f, block, [&](ir::StmtId id) {
    const ir::Stmt& s = f[id];
    if (s.kind == ir::StmtKind::For || s.kind == ir::StmtKind::While) out.has_loop = true;
    if (s.kind == ir::StmtKind::Tile) note_tile(f, f[s.tile], out);
    if (s.kind == ir::StmtKind::Ptx) note_ptx(f[s.ptx], out);
    const bool is_filled = s.kind == ir::StmtKind::Store && is_shared_data(f[s.buffer]);
    ir::for_each_root(f, s, [&](ir::ExprId root) {
      if (loads(f, root, is_shared_data)) out.reads_shared = true;
      if (is_filled && loads(f, root, is_global)) out.fills_shared = true;
      const ir::Expr& e = f[root];
      if (e.op == ir::ExprOp::Call && e.callee == ir::Intrinsic::MbarrierWait) out.has_wait = true;
    });
  });
  return out;
}

std::string name_of(const Deeds& deeds) {
  if (deeds.fills_shared && !deeds.reads_shared) return "producer";
  if (deeds.writes_tensor && !deeds.reads_tensor) return "mma";
  if (deeds.reads_tensor) return "epilogue";
  return deeds.reads_shared ? "consumer" : "";
}

// --- the branches --------------------------------------------------------------------------------

// The warps of a set; none where it has a part of one.
std::vector<std::uint32_t> whole_warps(const ir::Threads& threads, std::size_t count) {
  std::vector<std::uint32_t> out;
  for (std::size_t first = 0; first < count; first += kWarpThreads) {
    const std::size_t end = std::min(first + kWarpThreads, count);
    std::size_t here = 0;
    for (std::size_t t = first; t < end; ++t) here += threads[t] ? 1U : 0U;
    if (here != 0 && here != end - first) return {};
    if (here != 0) out.push_back(static_cast<std::uint32_t>(first / kWarpThreads));
  }
  return out;
}

class Finder {
 public:
  Finder(const ir::Function& f, const ir::LaunchShape& shape)
      : f_(f),
        sets_(ir::ActiveSets::of(f, shape)),
        threads_(static_cast<std::size_t>(shape.threads())),
        warps_(static_cast<std::size_t>(shape.warps())) {}

  [[nodiscard]] std::vector<Branch> below(const ir::Block& block) const {
    std::vector<Branch> out;
    for (const ir::StmtId id : block) {
      const ir::Stmt& s = f_[id];
      if (s.kind == ir::StmtKind::For || s.kind == ir::StmtKind::While) continue;
      add_arm(id, false, out);
      add_arm(id, true, out);
    }
    return out;
  }

 private:
  // A branch that sets its own warps apart gives what is inside; one for all warps, too.
  void add_arm(ir::StmtId id, bool is_else, std::vector<Branch>& out) const {
    const ir::Stmt& s = f_[id];
    const ir::Block& arm = is_else ? s.other : s.body;
    if (arm.empty()) return;
    const std::vector<Branch> inside = below(arm);
    Branch own{id, is_else, whole_warps(sets_[arm.front()].may, threads_)};
    const bool is_role = s.kind == ir::StmtKind::If && !own.warps.empty() &&
                         own.warps.size() < warps_ && deeds_of(f_, arm).any();
    if (is_role && !are_several(inside))
      out.push_back(std::move(own));
    else
      out.insert(out.end(), inside.begin(), inside.end());
  }

  static bool are_several(const std::vector<Branch>& branches) {
    return std::ranges::any_of(branches,
                               [&](const Branch& each) { return each.warps != branches[0].warps; });
  }

  const ir::Function& f_;
  ir::ActiveSets sets_;
  std::size_t threads_, warps_;
};

// --- their texts ---------------------------------------------------------------------------------

bool is_identifier(std::string_view text) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, is_part);
}

// `producer` of a line `with producer:`; empty: the line names nothing.
std::string named_role(std::string_view line) {
  constexpr std::string_view kWith = "with ";
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(kWith)) return "";
  line.remove_prefix(kWith.size());
  line = line.substr(0, line.find(':'));
  return is_identifier(line) ? std::string(line) : "";
}

WarpRole role_of(const Build& build, const Branch& branch) {
  const ir::Function& f = build.tile();
  const ir::Stmt& s = f[branch.stmt];
  const std::string condition = ir::print(f, s.expr);
  WarpRole out{.condition = branch.is_else ? fmt::format("not ({})", condition) : condition,
               .warps = branch.warps};
  const SourceText& source = build.compiled->source;
  if (s.span.begin < source.text().size()) {
    const SourceText::Position at = source.position(s.span.begin);
    const std::string& file = source.file_name(at.file);
    out.source = fmt::format("{}:{}", file.substr(file.rfind('/') + 1), at.line);
    if (!branch.is_else) out.name = named_role(source.line_of_file(at.file, at.line));
  }
  if (out.name.empty()) out.name = name_of(deeds_of(f, branch.is_else ? s.other : s.body));
  return out;
}

}  // namespace

std::vector<WarpRole> warp_roles(const Build& build) {
  const ir::Function& f = build.tile();
  const auto shape = ir::launch_shape(f);
  if (!shape) return {};
  std::vector<Branch> branches = Finder(f, *shape).below(f.body);
  // The narrowest first: a warp has the role that fits it best, and of several the first.
  std::ranges::stable_sort(branches, {}, [](const Branch& b) { return b.warps.size(); });
  std::vector<bool> is_taken(static_cast<std::size_t>(shape->warps()));
  std::vector<WarpRole> out;
  for (Branch& branch : branches) {
    std::erase_if(branch.warps, [&](std::uint32_t w) { return is_taken[w]; });
    if (branch.warps.empty()) continue;
    for (const std::uint32_t w : branch.warps) is_taken[w] = true;
    out.push_back(role_of(build, branch));
  }
  std::ranges::sort(out, {}, [](const WarpRole& role) { return role.warps.front(); });
  return out;
}

}  // namespace ww::driver
