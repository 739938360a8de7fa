// SPDX-License-Identifier: Apache-2.0
#include "driver/timeline/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/print/print.h"
#include "ir/visit.h"

namespace ww::driver {
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
