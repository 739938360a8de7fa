// SPDX-License-Identifier: Apache-2.0
#include "lower/scratch.h"

#include <algorithm>

#include "ir/reduction.h"
#include "ir/scan.h"
#include "ir/shared_size.h"
#include "ir/visit.h"
#include "lower/call.h"
#include "lower/operand_places.h"
#include "target/shared_memory.h"

namespace ww::lower {
namespace {

using ir::StmtKind;

bool is_cluster_sync(const ir::Function& f, const ir::Stmt& s) {
  if (s.kind == StmtKind::Ptx)
    return f[s.ptx].opcode.text().starts_with("barrier.cluster.") ||
           f[s.ptx].opcode.mnemonic() == "mapa";
  return is_call(f, s, ir::Intrinsic::ClusterSync);
}

bool is_reduction(const ir::Function& f, const ir::Stmt& s) {
  return s.kind == StmtKind::Tile && f[s.tile].scope == ir::Unit::Cluster &&
         ir::is_reduction(f[s.tile].op);
}

ir::StmtId ptx_statement(Context& context, std::string_view opcode) {
  CodeWriter code(context.f, context.facts, {});
  code.ptx(opcode, {});
  return code.take()[0];
}

// By thread 0; the fence and the barrier behind it show them to the other CTAs.
ir::Block made_mbarriers(Context& context) {
  if (std::ranges::none_of(context.scratch, &ScratchBuffer::is_mbarrier)) return {};
  CodeWriter code(context.f, context.facts, {});
  const ir::ExprId is_first =
      code.index(ir::ExprOp::Eq, code.var(context.ids.linear_thread), code.n(0));
  code.guarded(is_first, [&] {
    for (const ScratchBuffer& row : context.scratch) {
      if (!row.is_mbarrier) continue;
      const ir::ExprId one = ir::int_imm(context.f, num::DType::Uint32, 1);
      for (std::int64_t i = 0; i < row.elements; ++i)
        code.ptx("mbarrier.init.shared.b64",
                 {address_operand(code.address(row.buffer, code.n(i))), {.expr = one}});
    }
    code.ptx("fence.mbarrier_init.release.cluster", {});
  });
  return code.take();
}

}  // namespace

RepeatedCalls::RepeatedCalls(const ir::Function& function)
    : may_repeat_(function.stmt_count()), is_in_loop_(function.stmt_count()) {
  jumps_ = ir::any_stmt(function, function.body, [](const ir::Stmt& s) {
    return s.is_jump() || s.kind == ir::StmtKind::Return;
  });
  visit(function, function.body, false);
}

void RepeatedCalls::visit(const ir::Function& f, const ir::Block& block, bool is_in_loop) {
  const bool meets = std::ranges::any_of(block, [&](ir::StmtId id) {
    // Of instructions, a barrier's two halves are two statements.
    return f[id].kind != ir::StmtKind::Ptx && is_cluster_sync(f, f[id]);
  });
  for (const ir::StmtId id : block) {
    const ir::Stmt& s = f[id];
    if (is_reduction(f, s)) {
      is_in_loop_[id.index] = is_in_loop;
      may_repeat_[id.index] = is_in_loop && (!meets || jumps_);
    }
    visit(f, s.body, is_in_loop || s.is_loop());
    visit(f, s.other, is_in_loop);
  }
}

namespace {

// Behind what only declares something.
ir::Block::iterator first_action(ir::Function& f, ir::Block::iterator end) {
  return std::find_if(f.body.begin(), end, [&](ir::StmtId id) {
    const ir::StmtKind kind = f[id].kind;
    return kind != ir::StmtKind::Alloc && kind != ir::StmtKind::LaunchThread &&
           kind != ir::StmtKind::Bind;
  });
}

// Registers that count turns: allocated, and 0, where the kernel begins.
void begin_turns(Context& context) {
  if (context.turns.empty()) return;
  CodeWriter code(context.f, context.facts, {});
  for (const ir::BufferId each : context.turns) {
    code.allocate(each);
    code.store(each, code.n(0), code.n(0));
  }
  const ir::Block made = code.take();
  ir::Block& body = context.f.body;
  body.insert(first_action(context.f, body.end()), made.begin(), made.end());
}

// Shared memory of a CTA may be written once the CTA runs and has made its mbarriers, which one thread
// does. All arrive at a barrier where the kernel begins, and wait for it in front of the first statement of the body in which CTAs meet, so that
// what is between hides the wait.
void await_other_ctas(Context& context) {
  ir::Function& f = context.f;
  const auto first = std::ranges::find_if(f.body, [&](ir::StmtId id) {
    return ir::any_stmt(f, {id}, [&](const ir::Stmt& s) { return is_cluster_sync(f, s); });
  });
  const auto at = first - f.body.begin();
  f.body.insert(first, ptx_statement(context, "barrier.cluster.wait.aligned"));
  const auto begin = first_action(f, f.body.begin() + at);
  const ir::Block made = made_mbarriers(context);
  const auto behind = f.body.insert(begin, made.begin(), made.end()) + std::ssize(made);
  f.body.insert(behind, ptx_statement(context, "barrier.cluster.arrive.relaxed.aligned"));
}

}  // namespace

namespace {

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign;
}

// Where the last buffer that the program allocates ends, if the first begins at `start` or behind it.
std::int64_t static_end(const ir::Function& f, std::int64_t start) {
  std::int64_t out = start;
  ir::for_each_stmt(f, f.body, [&](ir::StmtId id) {
    if (f[id].kind != ir::StmtKind::Alloc || f[f[id].buffer].scope != ir::Scope::Shared) return;
    const ir::Buffer& buffer = f[f[id].buffer];
    out = ir::end_in_shared(out, buffer, ir::storage_bytes(f, buffer).value_or(0));
  });
  return out;
}

constexpr int kPieceBits = 128;
constexpr std::int64_t kMbarrierBytes = 8;
constexpr std::int64_t kMaxGap = 1024;  // dynamic shared memory is aligned to this at most

/// What a call wants of a buffer.
struct ScratchWanted {
  int bits;               // of an element
  std::int64_t elements;  // of all units
  std::int64_t piece = 0;
  std::int64_t site = 0;
};

ScratchWanted elements_wanted(const Call& call, num::DType dtype, std::int64_t elements) {
  return {num::storage_bits(dtype), elements * scratch_units(call)};
}
ScratchWanted piece_wanted(const Call& call, num::DType dtype, std::int64_t elements) {
  const std::int64_t count = elements * num::storage_bits(dtype) / kPieceBits;
  const std::int64_t units = scratch_units(call);
  return {kPieceBits, count * units, units == 1 ? 0 : count};
}

bool serves(const ScratchBuffer& row, const Call& call, const ScratchWanted& wanted) {
  return row.unit == call.tile.scope && row.bits == wanted.bits && row.piece == wanted.piece &&
         row.site == wanted.site;
}

std::int64_t bytes_of(const ScratchBuffer& row) { return rounded_up(row.elements * row.bits / 8); }

}  // namespace

std::int64_t scratch_units(const Call& call) {
  if (call.tile.scope == ir::Unit::Cta || call.is_of_cluster()) return 1;
  return call.context.launch.threads() / call.unit_threads();
}

namespace {

/// Where a buffer is in its storage.
struct BitRange {
  std::int64_t first = 0, end = 0;
};
std::optional<BitRange> range_of(const ir::Function& f, ir::BufferId id) {
  const ir::Buffer& buffer = f[id];
  const auto first = constant_offset(f, buffer, num::storage_bits(buffer.dtype));
  const auto bytes = ir::storage_bytes(f, buffer);
  if (!first || !bytes || buffer.origin == ir::BufferOrigin::Pointer) return std::nullopt;
  return BitRange{*first, *first + *bytes * 8};
}

// The caller's memory: shared, large enough, and aligned as its elements are.
Match<void> check_given(const Call& call, const ScratchWanted& wanted) {
  const auto& given = call.tile.workspace;
  const ir::Buffer& buffer = call.f()[given[0].second];
  const std::int64_t needed = wanted.elements * wanted.bits / 8;
  if (given.size() != 1)
    return decline("scratch", "{} workspaces, expected one, of {} bytes of shared memory",
                   given.size(), needed);
  if (!ir::is_shared(buffer.scope))
    return decline("scratch", "workspace `{}` is in {} memory, expected {} bytes of shared memory",
                   buffer.name, ir::name_of(buffer.scope), needed);
  const auto range = range_of(call.f(), given[0].second);
  if (!range)
    return decline(
        "scratch",
        "where workspace `{}` begins or ends is known at run time only, expected {} bytes",
        buffer.name, needed);
  if (range->end - range->first < needed * 8)
    return decline("scratch", "workspace `{}` has {} bytes, expected {}", buffer.name,
                   (range->end - range->first) / 8, needed);
  const std::int64_t align = wanted.bits / 8;
  const std::int64_t aligned = storage_alignment(call.context, given[0].second);
  if (aligned % align == 0) return {};
  return decline("scratch", "workspace `{}` is aligned to {} bytes, expected {}", buffer.name,
                 aligned, align);
}

// `more`: bytes that the call wants of another buffer.
Match<void> check_room(const Call& call, const ScratchWanted& wanted, std::int64_t more = 0) {
  const Context& context = call.context;
  WW_TRY_VOID(check_all_arrive(call));
  if (!call.tile.workspace.empty()) return check_given(call, wanted);
  std::int64_t own = rounded_up(wanted.elements * wanted.bits / 8), others = more;
  for (const ScratchBuffer& row : context.scratch)
    if (serves(row, call, wanted))
      own = std::max(own, bytes_of(row));
    else
      others += bytes_of(row);
  // Scratch comes first, and what is behind it begins on its own boundaries.
  const std::int64_t used = static_end(context.f, others + own) - own;
  const std::int64_t limit = target::info(context.target.arch).static_shared_bytes;
  const std::string_view between = call.tile.scope == ir::Unit::Warp ? "threads" : "warps";
  if (used + own > limit)
    return decline(
        "scratch",
        "{} bytes of shared memory between the {}, and {} of {} are taken; a loop over "
        "smaller tiles needs less, and so does static shared memory that is made dynamic",
        own, between, used, limit);
  // With room for the gap before dynamic memory.
  const std::int64_t all = used + ir::dynamic_shared_bytes(context.f) + kMaxGap;
  const std::int64_t of_block = target::most_shared_bytes(context.target);
  if (all + own <= of_block) return {};
  return decline("scratch",
                 "{} bytes of shared memory between the {}, and {} of the {} of a block are taken; "
                 "a loop over smaller tiles needs less",
                 own, between, all, of_block);
}

// The buffer that serves it, large enough.
ScratchBuffer& buffer_for(const Call& call, CodeWriter& code, const ScratchWanted& wanted) {
  std::vector<ScratchBuffer>& all = call.context.scratch;
  auto row =
      std::ranges::find_if(all, [&](const auto& each) { return serves(each, call, wanted); });
  if (row == all.end()) {
    ir::Buffer made;
    made.name = call.tile.scope == ir::Unit::Cta    ? "scratch"
                : call.tile.scope == ir::Unit::Warp ? "warp_scratch"
                : call.is_of_cluster()              ? "cluster_scratch"
                                                    : "wg_scratch";
    made.dtype = wanted.bits == 64 ? num::DType::Uint64 : num::DType::Uint32;
    made.scope = ir::Scope::Shared;
    made.span = call.span;
    made.layout_kind = ir::LayoutKind::None;
    made.origin = ir::BufferOrigin::Alloc;
    made.align = kScratchAlign;
    const ir::BufferId id = code.f().add(std::move(made));
    all.push_back({call.tile.scope, wanted.bits, id, 0, wanted.piece, 0, wanted.site});
    row = all.end() - 1;
  }
  row->elements = std::max(row->elements, wanted.elements);
  ir::Buffer& buffer = code.f().at(row->buffer);
  buffer.shape = {code.n(row->elements * std::max(1, row->bits / num::storage_bits(buffer.dtype)))};
  return *row;
}

// All units' elements, in the compiler's memory or in the caller's.
ir::BufferId view_for(const Call& call, CodeWriter& code, const ScratchWanted& wanted,
                      num::DType dtype, std::int64_t elements, std::string_view name = "between") {
  if (call.tile.workspace.empty())
    return code.flat_view(buffer_for(call, code, wanted).buffer, dtype, elements, name);
  const ir::BufferId given = call.tile.workspace[0].second;
  const ir::BufferId storage = ir::storage_of(code.f(), given);
  const std::int64_t first = range_of(code.f(), given)->first;
  call.workspace =
      ScratchBuffer{call.tile.scope, wanted.bits, storage, wanted.elements, wanted.piece, first};
  const ir::BufferId view = code.flat_view(storage, dtype, elements, "between");
  ir::Buffer& made = code.f().at(view);
  made.align = static_cast<int>(storage_alignment(call.context, given));
  if (first != 0) made.byte_offset = code.n(first / 8);
  return view;
}

ir::ExprId unit_number(const Call& call, CodeWriter& code) {
  return code.div(code.var(call.context.ids.linear_thread), call.unit_threads());
}

}  // namespace

bool takes_workspace(const Call& call) {
  const ir::TileOp op = call.tile.op;
  if (op != ir::TileOp::Copy) return ir::is_reduction(op) || ir::is_scan(op);
  return call.memory(0) == ir::Scope::Local && call.memory(1) == ir::Scope::Local;
}

Match<void> check_workspace(const Call& call) {
  const ir::Function& f = call.f();
  for (const auto& [key, given] : call.tile.workspace)
    for (const ir::TileArg& arg : call.tile.args) {
      const auto* region = std::get_if<ir::Region>(&arg);
      if (region == nullptr || !ir::is_shared(f[region->buffer].scope) ||
          ir::storage_of(f, region->buffer) != ir::storage_of(f, given))
        continue;
      const auto one = range_of(f, given), other = range_of(f, region->buffer);
      const bool is_apart = one && other && (one->end <= other->first || other->end <= one->first);
      if (!is_apart)
        return decline("scratch", "workspace `{}` {} memory with `{}`, expected its own",
                       f[given].name, one && other ? "shares" : "may share",
                       f[region->buffer].name);
    }
  return {};
}

std::string scratch_text(const Call& call) {
  if (call.tile.workspace.empty()) return "shared memory";
  return fmt::format("`{}`", call.f()[call.tile.workspace[0].second].name);
}

Match<void> check_scratch(const Call& call, num::DType dtype, std::int64_t elements) {
  return check_room(call, elements_wanted(call, dtype, elements));
}

ir::BufferId scratch_view(const Call& call, CodeWriter& code, num::DType dtype,
                          std::int64_t elements) {
  const ScratchWanted wanted = elements_wanted(call, dtype, elements);
  return view_for(call, code, wanted, dtype, wanted.elements);
}

Match<void> check_scratch_piece(const Call& call, num::DType dtype, std::int64_t elements) {
  return check_room(call, piece_wanted(call, dtype, elements));
}

ScratchPiece scratch_piece(const Call& call, CodeWriter& code, num::DType dtype,
                           std::int64_t elements) {
  const ScratchWanted wanted = piece_wanted(call, dtype, elements);
  const std::int64_t units = scratch_units(call);
  ScratchPiece out{.view = view_for(call, code, wanted, dtype, elements * units), .start = {}};
  if (units > 1) out.start = code.simplify(code.mul(unit_number(call, code), elements));
  return out;
}

// --- of a cluster ---

namespace {

// The number that the call's own buffer has, or will have.
ScratchWanted site_wanted(const Call& call, num::DType dtype, std::int64_t elements) {
  ScratchWanted out = elements_wanted(call, dtype, elements);
  for (const ScratchBuffer& row : call.context.scratch) out.site = std::max(out.site, row.site);
  ++out.site;
  return out;
}

}  // namespace

Match<void> check_cluster_scratch(const Call& call, num::DType dtype, std::int64_t own,
                                  std::int64_t received, std::int64_t mbarriers) {
  if (!call.tile.workspace.empty()) return check_scratch(call, dtype, own + received);
  const ScratchWanted first = elements_wanted(call, dtype, own);
  WW_TRY_VOID(check_room(call, first));
  const auto row = std::ranges::find_if(
      call.context.scratch, [&](const auto& each) { return serves(each, call, first); });
  const bool is_there = row != call.context.scratch.end() && mbarriers == 0;
  const std::int64_t bytes = rounded_up(first.elements * first.bits / 8);
  const std::int64_t more = std::max<std::int64_t>(0, bytes - (is_there ? bytes_of(*row) : 0)) +
                            rounded_up(mbarriers * kMbarrierBytes);
  return check_room(call, site_wanted(call, dtype, received), more);
}

ClusterScratch cluster_scratch(const Call& call, CodeWriter& code, num::DType dtype,
                               std::int64_t own, std::int64_t received, std::int64_t mbarriers) {
  call.context.writes_other_ctas = true;
  if (!call.tile.workspace.empty()) {
    const ir::BufferId view = scratch_view(call, code, dtype, own + received);
    return {.own = view, .received = view, .first = own};
  }
  const auto view_of = [&](const ScratchWanted& wanted, std::int64_t elements, bool is_settled,
                           std::string_view name) {
    buffer_for(call, code, wanted).is_settled = is_settled;
    return view_for(call, code, wanted, dtype, elements, name);
  };
  const bool has_mbarrier = mbarriers > 0;
  ClusterScratch out;
  out.own =
      view_of(has_mbarrier ? site_wanted(call, dtype, own) : elements_wanted(call, dtype, own), own,
              true, "between");
  out.received = view_of(site_wanted(call, dtype, received), received,
                         has_mbarrier || !call.may_repeat, "received");
  if (has_mbarrier) {
    ScratchBuffer& row = buffer_for(call, code, site_wanted(call, num::DType::Uint64, mbarriers));
    row.is_mbarrier = true;
    out.mbarrier = row.buffer;
    code.f().at(row.buffer).name = "arrived";
  }
  if (mbarriers > 1) {
    out.turns = code.new_registers("turns", num::DType::Int32, 1);
    call.context.turns.push_back(out.turns);
  }
  return out;
}

ir::ExprId scratch_index(const Call& call, CodeWriter& code, ir::ExprId index) {
  const std::int64_t units = scratch_units(call);
  if (units == 1) return code.simplify(index);
  return code.simplify(code.add(code.mul(index, units), unit_number(call, code)));
}

void report_scratch(PlanReport& report, const Call& call, num::DType dtype, std::int64_t written,
                    std::int64_t read, std::int64_t elements) {
  const std::int64_t bytes = num::storage_bits(dtype) / 8;
  const std::string width = fmt::format(".b{}", bytes * 8);
  report.add_instruction("st.shared" + width, written, bytes);
  report.add_instruction("ld.shared" + width, read, bytes);
  report.notes.push_back(fmt::format("{} bytes of {} between the warps, and two barriers",
                                     elements * bytes * scratch_units(call), scratch_text(call)));
}

void write_barrier(const Call& call, CodeWriter& code) {
  if (call.tile.scope == ir::Unit::Thread) return;
  if (call.tile.scope == ir::Unit::Warp) return code.evaluate(ir::Intrinsic::WarpSync, {});
  if (call.tile.scope != ir::Unit::Warpgroup) return code.evaluate(ir::Intrinsic::CtaSync, {});
  code.evaluate(ir::Intrinsic::WarpgroupSync,
                {code.simplify(code.add(unit_number(call, code), kFirstBarrier))});
}

const ScratchBuffer* find_scratch(const Call& call, ir::BufferId storage) {
  if (call.workspace && call.workspace->buffer == storage) return &*call.workspace;
  for (const ScratchBuffer& row : call.context.scratch)
    if (row.buffer == storage) return &row;
  return nullptr;
}

void allocate_scratch(Context& context) {
  ir::Block first;
  for (const ScratchBuffer& row : context.scratch) {
    ir::Stmt alloc{.kind = ir::StmtKind::Alloc};
    alloc.span = context.f[row.buffer].span;
    alloc.buffer = row.buffer;
    first.push_back(context.f.add(std::move(alloc)));
  }
  ir::Block& body = context.f.body;
  body.insert(body.begin(), first.begin(), first.end());
  begin_turns(context);
  if (context.writes_other_ctas) await_other_ctas(context);
}

}  // namespace ww::lower
