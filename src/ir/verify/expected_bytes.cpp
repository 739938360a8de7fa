// SPDX-License-Identifier: Apache-2.0
// Bytes that an mbarrier is told to expect, against those of the copies that name it. Where both stand
// in one block, the phase is that block's: another sum would leave it incomplete for ever, or complete
// it too early. Copies in a block that expects nothing may be for the same phase: no error then.
//
// Each CTA of a cluster is counted for itself: a copy with `cta_mask=` brings its bytes to every CTA of
// the mask, from every CTA that starts it. A condition on the rank alone does not begin another block.
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/signatures.h"
#include "ir/verify/cluster_values.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

constexpr int kMaxCtas = 16;  // of a cluster

/// What a block says about one mbarrier, in each CTA of the cluster.
struct Phase {
  ExprId mbarrier = {};
  std::array<std::int64_t, kMaxCtas> expected = {}, copied = {};
  CtaMask expecting = 0, sending = 0;  // CTAs that expect bytes, CTAs that start copies
  Span expects = {}, copies = {};
  bool is_shared_out = false;  // copies go to other CTAs
  bool is_known = true;        // all numbers are constants
};

// Bytes of a copy that an mbarrier hears of; nothing when they are known at run time only.
std::optional<std::int64_t> bytes_of(const Function& f, const TileCall& call) {
  const auto* region = std::get_if<Region>(&call.args[0]);
  if (region == nullptr) return std::nullopt;
  std::int64_t bits = num::storage_bits(f[region->buffer].dtype);
  for (const RangeExpr& range : region->ranges) {
    const auto extent = const_int(f, range.extent);
    if (!extent || *extent < 0 || *extent > (std::int64_t{1} << 30)) return std::nullopt;
    bits = std::min(bits * *extent, std::int64_t{1} << 50);
  }
  return bits / 8;
}

class ExpectedBytes {
 public:
  ExpectedBytes(Context& c, const LaunchShape& shape)
      : c_(c), f_(c.f), cluster_(c.f, c.bound, shape) {}

  void run() {
    block(f_.body, cluster_.all());
    for (const Phase& phase : phases_) compare(phase);
  }

 private:
  static const ExprId* mbarrier_of(const Function& f, const Stmt& s) {
    if (s.kind != StmtKind::Tile || f[s.tile].op != TileOp::CopyAsync) return nullptr;
    // Another CTA's mbarrier hears of it; which copies come to this one is not seen here.
    if (remote_operand(f, f[s.tile])) return nullptr;
    const Setting* setting = mbarrier_setting(f[s.tile]);
    return setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
  }

  // The barriers of a buffer belong together: stages of a ring.
  [[nodiscard]] std::uint32_t barriers_of(ExprId pointer) const {
    const BufferId buffer = pointed_to(f_, c_.bound, pointer);
    return buffer.valid() ? buffer.index * 2 + 1 : pointer.index * 2;
  }

  // Some CTAs send to others, which may have bytes to expect from others still.
  [[nodiscard]] bool is_from_some(const Phase& phase) const {
    return phase.is_shared_out && phase.sending != cluster_.all();
  }

  // A block that these CTAs execute.
  void block(const Block& stmts, CtaMask ctas) {
    std::vector<Phase> here;
    statements(stmts, ctas, here);
    for (const Phase& phase : here) {
      const std::uint32_t barriers = barriers_of(phase.mbarrier);
      if (phase.sending != 0 && phase.expecting == 0) elsewhere_.insert(barriers);
      if (is_from_some(phase)) ++senders_[barriers];
    }
    phases_.insert(phases_.end(), here.begin(), here.end());
  }

  void statements(const Block& stmts, CtaMask ctas, std::vector<Phase>& here) {
    for (const StmtId id : stmts) {
      const Stmt& s = f_[id];
      if (const ExprId* mbarrier = mbarrier_of(f_, s)) add_copy(phase_of(here, *mbarrier), s, ctas);
      if (s.kind == StmtKind::Ptx) add_expectation(here, f_[s.ptx], s.span, ctas);
      add_remote(s);
      const auto holds =
          s.kind == StmtKind::If && cluster_.ctas() > 1 ? cluster_.where(s.expr) : std::nullopt;
      if (!holds) {
        block(s.body, ctas);
        block(s.other, ctas);
        continue;
      }
      statements(s.body, ctas & *holds, here);
      statements(s.other, static_cast<CtaMask>(ctas & ~*holds), here);
    }
  }

  // Bytes come to all barriers at that place from other CTAs.
  void add_remote(const Stmt& s) {
    if (s.kind != StmtKind::Tile || !remote_operand(f_, f_[s.tile])) return;
    const Setting* setting = mbarrier_setting(f_[s.tile]);
    const auto* mbarrier = setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
    if (mbarrier != nullptr) elsewhere_.insert(barriers_of(*mbarrier));
  }

  Phase& phase_of(std::vector<Phase>& phases, ExprId mbarrier) {
    for (Phase& each : phases)
      if (same(f_, each.mbarrier, mbarrier)) return each;
    return phases.emplace_back(Phase{.mbarrier = mbarrier});
  }

  // The CTAs that get what the CTA of a rank sends; nothing when they are known at run time only.
  [[nodiscard]] std::optional<CtaMask> receivers(const TileCall& call, std::size_t rank) const {
    const Setting* setting = cta_mask_setting(call);
    if (setting == nullptr) return static_cast<CtaMask>(1U << rank);
    if (const auto* number = std::get_if<std::int64_t>(setting))
      return static_cast<CtaMask>(*number);
    const auto* expr = std::get_if<ExprId>(setting);
    const auto value = expr == nullptr ? std::nullopt : cluster_.in_cta(*expr, rank);
    if (!value) return std::nullopt;
    return static_cast<CtaMask>(value->integer);
  }

  void add_copy(Phase& phase, const Stmt& s, CtaMask ctas) {
    const TileCall& call = f_[s.tile];
    const auto bytes = bytes_of(f_, call);
    phase.is_known = phase.is_known && bytes && copy_settings(call).predicate == nullptr;
    phase.is_shared_out = phase.is_shared_out || cta_mask_setting(call) != nullptr;
    phase.sending |= ctas;
    phase.copies = s.span;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(ctas, rank)) continue;
      const auto to = receivers(call, rank);
      phase.is_known = phase.is_known && to;
      for (std::size_t each = 0; to && each < cluster_.ctas(); ++each)
        if (has_cta(*to, each)) phase.copied[each] += bytes.value_or(0);
    }
  }

  // state, [address], bytes
  void add_expectation(std::vector<Phase>& phases, const PtxCall& call, Span span, CtaMask ctas) {
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called != "mbarrier.arrive.expect_tx" && called != "mbarrier.expect_tx") return;
    std::size_t at = 0;
    while (at < call.operands.size() && call.operands[at].kind != PtxOperandKind::Address) ++at;
    if (at + 1 >= call.operands.size() || call.operands[at].offset.valid()) return;
    Phase& phase = phase_of(phases, call.operands[at].expr);
    phase.is_known = phase.is_known && !call.predicate.valid();
    phase.expecting |= ctas;
    phase.expects = span;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(ctas, rank)) continue;
      const auto bytes = cluster_.in_cta(call.operands[at + 1].expr, rank);
      phase.is_known = phase.is_known && bytes;
      phase.expected[rank] += bytes ? bytes->integer : 0;
    }
  }

  // Blocks that expect nothing, and blocks of other CTAs, may bring bytes of the same phase.
  [[nodiscard]] bool is_whole(const Phase& phase) const {
    const std::uint32_t barriers = barriers_of(phase.mbarrier);
    const auto senders = senders_.find(barriers);
    const int others =
        (senders == senders_.end() ? 0 : senders->second) - (is_from_some(phase) ? 1 : 0);
    return phase.sending != 0 && phase.is_known && !elsewhere_.contains(barriers) && others == 0;
  }

  void compare(const Phase& phase) {
    if (!is_whole(phase)) return;
    for (std::size_t rank = 0; rank < cluster_.ctas(); ++rank) {
      if (!has_cta(phase.expecting, rank) || phase.expected[rank] == phase.copied[rank]) continue;
      c_.report(DiagKind::BadTileCall, phase.expects,
                "the mbarrier at `{}` expects {} bytes{}, and the copies that name it bring {}",
                print(f_, phase.mbarrier), phase.expected[rank],
                phase.is_shared_out ? fmt::format(" in CTA {} of the cluster", rank) : "",
                phase.copied[rank]);
      c_.findings.back().notes.push_back({"the last of them", phase.copies});
      return;
    }
  }

  Context& c_;
  const Function& f_;
  ClusterValues cluster_;
  std::vector<Phase> phases_;             // by block
  std::set<std::uint32_t> elsewhere_;     // barriers with copies in a block that expects nothing
  std::map<std::uint32_t, int> senders_;  // by barriers: blocks in which some CTAs send to others
};

}  // namespace

void check_expected_bytes(Context& c) {
  const auto shape = launch_shape(c.f);  // what is wrong with it is reported elsewhere
  if (!shape || shape->cluster_ctas() > std::int64_t{kMaxCtas}) return;
  ExpectedBytes(c, *shape).run();
}

}  // namespace ww::ir::verifying
