// SPDX-License-Identifier: Apache-2.0
// registers: what roles ask for with `setmaxnreg`. Statements behind a condition or in a loop that
// is not decided by thread ids may or may not be executed; of those only the count is checked, by
// the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ir/launch/active_set.h"
#include "ir/launch/occupancy.h"
#include "ir/verify/verifier.h"

namespace ww::ir::verifying {
namespace {

constexpr std::size_t kWarp = 32;
constexpr std::size_t kGroup = 4;  // warps of a warpgroup
constexpr std::int64_t kMinCount = 24, kMaxCount = 256, kStep = 8;

// A `setmaxnreg` that its warps certainly execute.
struct Site {
  StmtId stmt = {};
  RegisterRequest request = {};
  std::vector<bool> warps;
};

// "warp 4", "warps 4-6, 9".
std::string warps_text(const std::vector<bool>& warps) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t w = 0; w < warps.size(); ++w) {
    if (!warps[w]) continue;
    std::size_t last = w;
    while (last + 1 < warps.size() && warps[last + 1]) ++last;
    out += out.empty() ? "" : ", ";
    out += w == last ? fmt::format("{}", w) : fmt::format("{}-{}", w, last);
    count += last - w + 1;
    w = last;
  }
  return fmt::format("warp{} {}", count == 1 ? "" : "s", out);
}

class RegisterCheck {
 public:
  RegisterCheck(Context& c, const LaunchShape& shape)
      : c_(c), shape_(shape), sets_(ActiveSets::of(c.f, shape)) {}

  void go(const OccupancyWish& wish) {
    collect(c_.f.body, true);
    if (sites_.empty() || !are_whole_) return;
    std::int64_t most_taken = 0;
    for (const Site& site : sites_)
      if (site.request.takes) most_taken = std::max(most_taken, site.request.count);
    start_ = registers_at_start(wish, shape_, most_taken);
    held_.assign(static_cast<std::size_t>(shape_.warps()), start_);
    last_.assign(held_.size(), nullptr);
    for (const Site& site : sites_) apply(site);
    if (!is_certain_) return;  // others may run besides, and change the sums
    for (std::size_t first = 0; first < held_.size(); first += kGroup) check_group(first);
    check_sum();
  }

 private:
  void collect(const Block& block, bool is_certain) {
    for (const StmtId id : block) {
      const Stmt& s = c_.f[id];
      if (const auto request = register_request(c_.f, s)) {
        const bool is_count = request->count % kStep == 0 && request->count >= kMinCount &&
                              request->count <= kMaxCount;  // else the catalogue refuses it
        const bool runs = is_certain && is_count && !c_.f[s.ptx].predicate.valid();
        if (runs) add(id, *request);
        is_certain_ = is_certain_ && runs;
      }
      const bool goes_on =
          is_certain && !s.is_loop() && (s.kind != StmtKind::If || sets_.parts(s, id));
      collect(s.body, goes_on);
      collect(s.other, goes_on);
    }
  }

  void add(StmtId id, const RegisterRequest& request) {
    Site site{.stmt = id, .request = request, .warps = {}};
    const Threads& may = sets_[id].may;
    const auto threads = static_cast<std::size_t>(shape_.threads());
    for (std::size_t first = 0; first < threads; first += kWarp) {
      const std::size_t all = std::min(kWarp, threads - first);
      std::size_t count = 0;
      for (std::size_t t = first; t < first + all; ++t) count += may[t] ? 1U : 0U;
      site.warps.push_back(count == all);
      if (count == 0 || count == all) continue;
      are_whole_ = false;
      c_.report(DiagKind::Divergent, c_.f[id].span,
                "`setmaxnreg` by {} of the {} threads of warp {}: all threads of a warpgroup must "
                "execute it",
                count, all, first / kWarp);
      return;
    }
    sites_.push_back(std::move(site));
  }

  void apply(const Site& site) {
    const Span span = c_.f[site.stmt].span;
    const std::int64_t count = site.request.count;
    bool is_reported = false;
    for (std::size_t w = 0; w < held_.size(); ++w) {
      if (w >= site.warps.size() || !site.warps[w]) continue;
      const std::int64_t had = held_[w];
      const bool fits = site.request.takes ? count >= had : count <= had;
      if (!fits && !is_reported) {
        is_reported = true;
        c_.report(DiagKind::BadArgument, span,
                  "`setmaxnreg.{}` to {} registers in warp {}, which has {}: {}",
                  site.request.takes ? "inc" : "dec", count, w, had,
                  site.request.takes ? "`inc` takes registers, `dec` gives some back"
                                     : "`dec` gives registers back, `inc` takes some");
        if (had == start_)
          c_.findings.back().notes.push_back(
              {fmt::format("the kernel starts with {} registers for each of its {} threads", start_,
                           shape_.threads()),
               {}});
      }
      held_[w] = count;
      last_[w] = &site;
    }
  }

  // The four warps of a warpgroup, or as many as the CTA has of them.
  void check_group(std::size_t first) {
    const std::size_t end = std::min(first + kGroup, held_.size());
    const Site* asks = nullptr;
    for (std::size_t w = first; w < end; ++w)
      if (asks == nullptr) asks = last_[w];
    if (asks == nullptr) return;
    std::size_t other = first;
    while (other < end && last_[other] != nullptr && held_[other] == asks->request.count) ++other;
    if (other == end) return;
    c_.report(
        DiagKind::Divergent, c_.f[asks->stmt].span,
        "`setmaxnreg` to {} registers, and warp {} of the same warpgroup (warps {}-{}) {} {}: "
        "all its warps must ask for the same",
        asks->request.count, other, first, end - 1, last_[other] == nullptr ? "keeps" : "asks for",
        held_[other]);
    if (last_[other] != nullptr)
      c_.findings.back().notes.push_back({"asked for here", c_.f[last_[other]->stmt].span});
  }

  void check_sum() {
    std::int64_t held = 0;
    for (const std::int64_t count : held_) held += count * static_cast<std::int64_t>(kWarp);
    const std::int64_t all = start_ * shape_.warps() * static_cast<std::int64_t>(kWarp);
    if (held <= all) return;
    const auto taker = std::ranges::find_if(sites_.rbegin(), sites_.rend(),
                                            [](const Site& site) { return site.request.takes; });
    if (taker == sites_.rend()) return;
    c_.report(DiagKind::BadArgument, c_.f[taker->stmt].span,
              "the warps ask for {} registers, and the CTA has {} ({} threads of {}): this `inc` "
              "waits for ever",
              held, all, shape_.threads(), start_);
    for (Note& note : holdings()) c_.findings.back().notes.push_back(std::move(note));
  }

  // What the warps hold, count by count, each where it was asked for.
  [[nodiscard]] std::vector<Note> holdings() const {
    std::map<std::pair<std::int64_t, const Site*>, std::vector<bool>> by_count;
    for (std::size_t w = 0; w < held_.size(); ++w) {
      std::vector<bool>& warps = by_count[{held_[w], last_[w]}];
      warps.resize(held_.size());
      warps[w] = true;
    }
    std::vector<Note> out;
    for (const auto& [key, warps] : by_count) {
      const auto& [count, site] = key;
      const auto number = std::ranges::count(warps, true);
      out.push_back({fmt::format("{} {} {} registers for each thread, {} in all", warps_text(warps),
                                 number == 1 ? "holds" : "hold", count,
                                 number * static_cast<std::int64_t>(kWarp) * count),
                     site == nullptr ? Span{} : c_.f[site->stmt].span});
    }
    return out;
  }

  Context& c_;
  const LaunchShape& shape_;
  ActiveSets sets_;
  std::vector<Site> sites_;
  bool are_whole_ = true;   // all sites are executed by whole warps
  bool is_certain_ = true;  // there are no others
  std::int64_t start_ = 0;
  std::vector<std::int64_t> held_;  // by warp
  std::vector<const Site*> last_;   // by warp: what it executed last
};

}  // namespace

void check_registers(Context& c, const LaunchShape& shape) {
  if (!moves_registers(c.f) || shape.threads() > static_cast<std::int64_t>(ir::kMaxThreads)) return;
  const auto wish = occupancy_wish(c.f, shape);
  if (!wish) return;  // emitting says why
  RegisterCheck(c, shape).go(*wish);
}

}  // namespace ww::ir::verifying
