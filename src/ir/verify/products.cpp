// SPDX-License-Identifier: Apache-2.0
// Products that `gemm_async` has started into registers, and what happens to their operands before they
// have been waited for: C must not be touched, nor A and B be written. Only what certainly happens is
// an error: regions that certainly overlap, on all ways through the program. The rest is found when
// the program runs.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "ir/below.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

/// An operand of a product that is under way.
struct Flight {
  Region region;
  bool is_result = true;     // C; otherwise a factor, which may be read
  std::int64_t commits = 0;  // since the product was started, its own included
  Span span = {};            // of the product
};
using Flights = std::vector<Flight>;

class Products {
 public:
  explicit Products(Context& c) : c_(c), f_(c.f) {}

  void run() {
    const auto is_product = [](const TileCall& call) { return call.op == TileOp::GemmAsync; };
    if (std::ranges::none_of(f_.tile_calls, is_product)) return;
    Flights flights;
    walk(f_.body, flights);
  }

 private:
  // --- regions ---

  // All of its buffer?
  [[nodiscard]] bool is_whole(const Region& region) const {
    const Buffer& buffer = f_[region.buffer];
    for (std::size_t d = 0; d < region.ranges.size(); ++d) {
      const auto extent = const_int(f_, region.ranges[d].extent);
      if (const_int(f_, region.ranges[d].min) != 0 || !extent ||
          extent != const_int(f_, buffer.shape[d]))
        return false;
    }
    return true;
  }
  // All of its storage?
  [[nodiscard]] bool is_all(const Region& region) const {
    return f_[region.buffer].origin == BufferOrigin::Alloc && is_whole(region);
  }

  [[nodiscard]] bool share_storage(BufferId a, BufferId b) const {
    return storage_of(f_, a) == storage_of(f_, b);
  }

  // Do they certainly?
  [[nodiscard]] bool overlap(const Region& a, const Region& b) const {
    if (!share_storage(a.buffer, b.buffer)) return false;
    if (a.buffer != b.buffer) return is_all(a) || is_all(b);
    if (is_whole(a) || is_whole(b)) return true;
    for (std::size_t d = 0; d < a.ranges.size(); ++d) {
      const auto first = const_int(f_, a.ranges[d].min), second = const_int(f_, b.ranges[d].min);
      const auto m = const_int(f_, a.ranges[d].extent), n = const_int(f_, b.ranges[d].extent);
      if (!first || !second || !m || !n) return false;
      if (*first + *m <= *second || *second + *n <= *first) return false;
    }
    return true;
  }

  // --- uses ---

  void report(const Flight& flight, BufferId used, bool is_written, Span span) {
    if (!reported_.insert({span.begin, span.end}).second) return;
    // Views may have no name.
    const BufferId named = f_[used].name.empty() ? storage_of(f_, used) : used;
    c_.report(DiagKind::BadTileCall, span, "`{}` is {} while the product {} `{}` is under way: {}",
              f_[named].name, is_written ? "written" : "read", flight.is_result ? "into" : "of",
              f_[flight.region.buffer].name,
              flight.commits == 0
                  ? std::string("no `T.ptx.wgmma.commit_group()` has closed its group")
                  : fmt::format("`T.ptx.wgmma.wait_group({})` comes first", flight.commits - 1));
    c_.findings.back().notes.push_back({"the product starts here", flight.span});
  }

  void use(const Flights& flights, const Region& region, bool is_written, Span span) {
    for (const Flight& flight : flights)
      if ((flight.is_result || is_written) && overlap(flight.region, region))
        return report(flight, region.buffer, is_written, span);
  }

  // An element: all of an array that is under way.
  void use_element(const Flights& flights, BufferId buffer, bool is_written, Span span) {
    for (const Flight& flight : flights)
      if ((flight.is_result || is_written) && is_all(flight.region) &&
          share_storage(flight.region.buffer, buffer))
        return report(flight, buffer, is_written, span);
  }

  void tile(const TileCall& call, Span span, Flights& flights) {
    const bool is_product = call.op == TileOp::GemmAsync;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const auto* region = std::get_if<Region>(&call.args[i]);
      // Products follow each other on one C.
      if (region != nullptr && !(is_product && i == 0)) use(flights, *region, i == 0, span);
    }
    if (!is_product || f_[std::get<Region>(call.args[0]).buffer].scope != Scope::Local) return;
    for (const std::size_t i : {0U, 1U, 2U})
      flights.push_back(
          {.region = std::get<Region>(call.args[i]), .is_result = i == 0, .span = span});
  }

  void ptx(const PtxCall& call, Flights& flights) {
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called == "wgmma.commit_group")
      for (Flight& flight : flights) ++flight.commits;
    if (called != "wgmma.wait_group") return;
    const auto left = const_int(f_, call.operands[0].expr);
    std::erase_if(flights, [&](const Flight& flight) { return !left || flight.commits > *left; });
  }

  // --- ways ---

  // What is under way on both, and longest.
  static Flights both(const Flights& a, const Flights& b) {
    Flights out;
    for (const Flight& one : a)
      for (const Flight& other : b)
        if (one.span == other.span && one.region.buffer == other.region.buffer) {
          out.push_back(one);
          out.back().commits = std::max(one.commits, other.commits);
          break;
        }
    return out;
  }

  void loop(const Stmt& s, Flights& flights) {
    const std::int64_t trips = s.kind == StmtKind::For ? const_int(f_, s.trips()).value_or(0) : 0;
    const Flights before = flights;
    walk(s.body, flights);
    // What the first round leaves under way, the second one finds.
    if (trips >= 2) walk(s.body, flights);
    if (trips < 1) flights = both(before, flights);
    const auto leaves = [](const Stmt& each) {
      return each.is_jump() || each.kind == StmtKind::Return;
    };
    if (any_stmt(f_, s.body, leaves)) flights.clear();
  }

  void walk(const Block& block, Flights& flights) {
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      if (!flights.empty()) {
        for_each_root(f_, s, [&](ExprId root) { loads(root, s.span, flights); });
        if (s.kind == StmtKind::Store) use_element(flights, s.buffer, true, s.span);
      }
      if (s.kind == StmtKind::Tile) tile(f_[s.tile], s.span, flights);
      if (s.kind == StmtKind::Ptx) ptx(f_[s.ptx], flights);
      if (s.is_loop()) {
        loop(s, flights);
      } else if (s.kind == StmtKind::If) {
        Flights otherwise = flights;
        walk(s.body, flights);
        walk(s.other, otherwise);
        flights = both(flights, otherwise);
      } else {
        walk(s.body, flights);
      }
    }
  }

  void loads(ExprId root, Span span, const Flights& flights) {
    any_below(f_, root, [&](const Expr& e) {
      if (e.op == ExprOp::Load) use_element(flights, e.buffer, false, e.span.known ? e.span : span);
      return false;
    });
  }

  Context& c_;
  const Function& f_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;  // spans
};

}  // namespace

void check_products(Context& c) { Products(c).run(); }

}  // namespace ww::ir::verifying
