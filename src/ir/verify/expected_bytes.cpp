// SPDX-License-Identifier: Apache-2.0
// Bytes that an mbarrier is told to expect, against those of the copies that name it. Where both stand
// in one block, the phase is that block's: another sum would leave it incomplete for ever, or complete
// it too early. Copies in a block that expects nothing may be for the same phase: no error then.
#include <optional>
#include <set>
#include <vector>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/signatures.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

/// What a block says about one mbarrier.
struct Phase {
  ExprId mbarrier = {};
  std::int64_t expected = 0, copied = 0;
  Span expects = {}, copies = {};
  bool has_expectation = false, has_copies = false;
  bool is_known = true;  // all numbers are constants
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
  explicit ExpectedBytes(Context& c) : c_(c), f_(c.f) {}

  void run() {
    block(f_.body);
    for (const Phase& phase : phases_) compare(phase);
  }

 private:
  static const ExprId* mbarrier_of(const Function& f, const Stmt& s) {
    if (s.kind != StmtKind::Tile || f[s.tile].op != TileOp::CopyAsync) return nullptr;
    const Setting* setting = mbarrier_setting(f[s.tile]);
    return setting == nullptr ? nullptr : std::get_if<ExprId>(setting);
  }

  // The barriers of a buffer belong together: stages of a ring.
  [[nodiscard]] std::uint32_t barriers_of(ExprId pointer) const {
    const BufferId buffer = pointed_to(f_, c_.bound, pointer);
    return buffer.valid() ? buffer.index * 2 + 1 : pointer.index * 2;
  }

  void block(const Block& stmts) {
    std::vector<Phase> here;
    for (const StmtId id : stmts) {
      const Stmt& s = f_[id];
      if (const ExprId* mbarrier = mbarrier_of(f_, s)) add_copy(phase_of(here, *mbarrier), s);
      if (s.kind == StmtKind::Ptx) add_expectation(here, f_[s.ptx], s.span);
      block(s.body);
      block(s.other);
    }
    for (const Phase& phase : here)
      if (phase.has_copies && !phase.has_expectation)
        elsewhere_.insert(barriers_of(phase.mbarrier));
    phases_.insert(phases_.end(), here.begin(), here.end());
  }

  Phase& phase_of(std::vector<Phase>& phases, ExprId mbarrier) {
    for (Phase& each : phases)
      if (same(f_, each.mbarrier, mbarrier)) return each;
    return phases.emplace_back(Phase{.mbarrier = mbarrier});
  }

  void add_copy(Phase& phase, const Stmt& s) {
    const TileCall& call = f_[s.tile];
    const auto bytes = bytes_of(f_, call);
    phase.is_known = phase.is_known && bytes && copy_settings(call).predicate == nullptr;
    phase.copied += bytes.value_or(0);
    phase.has_copies = true;
    phase.copies = s.span;
  }

  // state, [address], bytes
  void add_expectation(std::vector<Phase>& phases, const PtxCall& call, Span span) {
    const std::string_view called = call.opcode.mnemonic();
    if (called != "mbarrier.arrive.expect_tx" && called != "mbarrier.expect_tx") return;
    std::size_t at = 0;
    while (at < call.operands.size() && call.operands[at].kind != PtxOperandKind::Address) ++at;
    if (at + 1 >= call.operands.size() || call.operands[at].offset.valid()) return;
    Phase& phase = phase_of(phases, call.operands[at].expr);
    const auto bytes = const_int(f_, call.operands[at + 1].expr);
    phase.is_known = phase.is_known && bytes && !call.predicate.valid();
    phase.expected += bytes.value_or(0);
    phase.has_expectation = true;
    phase.expects = span;
  }

  void compare(const Phase& phase) {
    const bool is_whole = phase.has_expectation && phase.has_copies && phase.is_known &&
                          !elsewhere_.contains(barriers_of(phase.mbarrier));
    if (!is_whole || phase.expected == phase.copied) return;
    c_.report(DiagKind::BadTileCall, phase.expects,
              "the mbarrier at `{}` expects {} bytes, and the copies that name it bring {}",
              print(f_, phase.mbarrier), phase.expected, phase.copied);
    c_.findings.back().notes.push_back({"the last of them", phase.copies});
  }

  Context& c_;
  const Function& f_;
  std::vector<Phase> phases_;          // by block
  std::set<std::uint32_t> elsewhere_;  // barriers with copies in a block that expects nothing
};

}  // namespace

void check_expected_bytes(Context& c) { ExpectedBytes(c).run(); }

}  // namespace ww::ir::verifying
