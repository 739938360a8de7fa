// SPDX-License-Identifier: Apache-2.0
#include "lower/reduce/cluster_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lower/as_index.h"
#include "lower/checks.h"
#include "lower/scratch.h"

namespace ww::lower::reduce_cluster {

std::string_view suffix_of(num::DType type) {
  switch (type) {
    case num::DType::Float32:
      return "f32";
    case num::DType::Float64:
      return "f64";
    case num::DType::Int32:
      return "s32";
    case num::DType::Uint32:
      return "u32";
    case num::DType::Int64:
      return "s64";
    default:
      return "u64";
  }
}

namespace {

using Numbers = std::vector<std::int64_t>;

/// The parts of one element of the destination, by the CTA whose warps have them.
using CtaParts = std::map<std::int64_t, std::vector<WarpPart>>;

class Matching {
 public:
  Matching(const Call& call, const ReduceProblem& problem)
      : call_(call), p_(problem), of_cta_(call.context.launch.threads()) {}

  Match<Plan> run() {
    LaneParts lanes(p_);
    Plan plan{
        .parts = WW_TRY(parts_plan(call_, p_, lanes)), .deposits = {}, .pushes = {}, .results = {}};
    for (const std::vector<WarpPart>& parts : WW_TRY(lanes.warp_parts(call_))) {
      CtaParts& by_cta = parts_.emplace_back();
      for (const WarpPart& part : parts) by_cta[part.thread / of_cta_].push_back(part);
      most_ctas_ = std::max(most_ctas_, std::ssize(by_cta));
      for (const auto& [cta, of_warps] : by_cta)
        most_warps_ = std::max(most_warps_, std::ssize(of_warps));
    }
    plan.own = p_.results() * most_warps_;
    plan.received = p_.results() * most_ctas_;
    const std::vector<Wanted> wanted = WW_TRY(wanted_of(call_, p_));
    choose_protocol(plan, wanted);
    WW_TRY_VOID(check_cluster_scratch(call_, p_.type, plan.halves() * plan.own,
                                      plan.halves() * plan.received, plan.mbarriers()));
    plan.deposits = WW_TRY(deposits());
    plan.pushes = WW_TRY(pushes(wanted));
    if (plan.is_async()) plan.expectation = WW_TRY(expectation(wanted));
    plan.results = WW_TRY(results(wanted));
    return plan;
  }

 private:
  void choose_protocol(Plan& plan, const std::vector<Wanted>& wanted) const {
    const std::string opcode = fmt::format("{}{}", kSend, suffix_of(p_.type));
    if (!call_.tile.workspace.empty())
      plan.why_not = "a workspace is given";
    else if (!is_on_target(opcode, call_.context.target))
      plan.why_not = "the target has no st.async";
    else if (call_.is_in_loop)
      plan.why_not = one_way(wanted);
    if (plan.why_not.empty()) plan.protocol = call_.is_in_loop ? Protocol::Turns : Protocol::Once;
  }

  // A CTA that sends to another and gets nothing from it would not know when that has read the parts.
  [[nodiscard]] std::string one_way(const std::vector<Wanted>& wanted) const {
    std::set<std::pair<std::int64_t, std::int64_t>> sends;  // from, to
    for (const Wanted& each : wanted)
      for (const auto& [cta, of_warps] : parts_[as_index(each.into)])
        sends.emplace(cta, each.thread / of_cta_);
    for (const auto& [from, to] : sends)
      if (!sends.contains({to, from}))
        return fmt::format("in a loop, CTA {} sends to CTA {} and gets nothing from it", from, to);
    return {};
  }

  // Thread 0 of each CTA that wants something: as many bytes as there are parts of it.
  [[nodiscard]] Match<Expectation> expectation(const std::vector<Wanted>& wanted) const {
    Expectation out{.threads = no_threads(), .bytes = {}};
    Numbers bytes = zeros();
    std::set<std::pair<std::int64_t, std::int64_t>> seen;  // CTA, element
    for (const Wanted& each : wanted) {
      const std::int64_t cta = each.thread / of_cta_;
      if (!seen.emplace(cta, each.into).second) continue;
      out.threads[as_index(cta * of_cta_)] = true;
      bytes[as_index(cta * of_cta_)] +=
          std::ssize(parts_[as_index(each.into)]) * num::bits_of(p_.type) / 8;
    }
    out.bytes = WW_TRY(formula(bytes, out.threads, "how many bytes CTAs get of elements"));
    return out;
  }

  [[nodiscard]] std::vector<bool> no_threads() const {
    return std::vector<bool>(as_index(p_.threads));
  }
  [[nodiscard]] Numbers zeros() const { return Numbers(as_index(p_.threads)); }

  [[nodiscard]] Match<ThreadFormula> formula(const Numbers& numbers, const std::vector<bool>& used,
                                             std::string_view what) const {
    auto out = thread_formula(numbers, used);
    if (!out) return decline("irregular", "no formula says {} of `{}`", what, call_.buffer(0).name);
    return *std::move(out);
  }

  // All threads of one row by one formula.
  [[nodiscard]] Match<std::vector<Deposit>> deposits() const {
    std::vector<Deposit> out;
    for (std::int64_t row = 0; row < std::ssize(p_.rows); ++row) {
      Deposit deposit{.row = row, .threads = no_threads(), .place = {}};
      Numbers places = zeros();
      for (std::size_t into = 0; into < parts_.size(); ++into)
        for (const auto& [cta, of_warps] : parts_[into])
          for (std::size_t k = 0; k < of_warps.size(); ++k) {
            if (of_warps[k].row != row) continue;
            deposit.threads[as_index(of_warps[k].thread)] = true;
            places[as_index(of_warps[k].thread)] =
                static_cast<std::int64_t>(into) * most_warps_ + static_cast<std::int64_t>(k);
          }
      if (std::ranges::find(deposit.threads, true) == deposit.threads.end()) continue;
      deposit.place = WW_TRY(
          formula(places, deposit.threads, "where the parts of warps go that make elements"));
      out.push_back(std::move(deposit));
    }
    return out;
  }

  /// A CTA that wants an element of the destination.
  struct Want {
    std::int64_t into, cta;
    friend auto operator<=>(const Want&, const Want&) = default;
  };
  // In each CTA, thread t makes the pushes t, t + threads, …
  [[nodiscard]] Match<std::vector<Push>> pushes(const std::vector<Wanted>& wanted) const {
    std::vector<Want> wants;
    wants.reserve(wanted.size());
    for (const Wanted& each : wanted) wants.push_back({each.into, each.thread / of_cta_});
    std::ranges::sort(wants);
    wants.erase(std::unique(wants.begin(), wants.end()), wants.end());
    std::vector<Push> out;
    for (std::int64_t first = 0; first < std::ssize(wants); first += of_cta_) {
      const std::int64_t count = std::min(of_cta_, std::ssize(wants) - first);
      out.push_back(WW_TRY(push_of(std::span(wants).subspan(as_index(first), as_index(count)))));
    }
    return out;
  }
  [[nodiscard]] Match<Push> push_of(std::span<const Want> wants) const {
    Push push;
    Numbers from = zeros(), cta = zeros(), to = zeros();
    for (std::int64_t u = 0; u < p_.threads; ++u) {
      if (u % of_cta_ >= std::ssize(wants)) continue;
      const Want& want = wants[as_index(u % of_cta_)];
      const CtaParts& all = parts_[as_index(want.into)];
      const auto own = all.find(u / of_cta_);
      if (own == all.end()) continue;
      from[as_index(u)] = want.into * most_warps_;
      cta[as_index(u)] = want.cta;
      to[as_index(u)] = want.into * most_ctas_ + std::distance(all.begin(), own);
      add_parts(push.parts, u, std::ssize(own->second));
    }
    const std::vector<bool>& used = push.parts.threads[0];
    push.parts.place = WW_TRY(formula(from, used, "where the parts of warps are of elements"));
    push.cta = WW_TRY(formula(cta, used, "which CTAs want elements"));
    push.to = WW_TRY(formula(to, used, "where the parts of CTAs go that make elements"));
    return push;
  }
  void add_parts(Collection& out, std::int64_t thread, std::int64_t count) const {
    while (std::ssize(out.threads) < count) out.threads.push_back(no_threads());
    for (std::int64_t k = 0; k < count; ++k) out.threads[as_index(k)][as_index(thread)] = true;
  }

  [[nodiscard]] Match<std::vector<Result>> results(const std::vector<Wanted>& wanted) const {
    std::vector<Result> out;
    for (auto first = wanted.begin(); first != wanted.end();) {
      const auto last =
          std::find_if(first, wanted.end(), [&](const Wanted& w) { return w.slot != first->slot; });
      Result result{.slot = first->slot, .parts = {}};
      Numbers places = zeros();
      for (; first != last; ++first) {
        places[as_index(first->thread)] = first->into * most_ctas_;
        add_parts(result.parts, first->thread, std::ssize(parts_[as_index(first->into)]));
      }
      result.parts.place =
          WW_TRY(formula(places, result.parts.threads[0], "which elements a register holds"));
      out.push_back(std::move(result));
    }
    return out;
  }

  const Call& call_;
  const ReduceProblem& p_;
  std::int64_t of_cta_;
  std::vector<CtaParts> parts_;  // by element of the destination
  std::int64_t most_warps_ = 1, most_ctas_ = 1;
};

}  // namespace

Match<Plan> cluster_plan(const Call& call, const ReduceProblem& problem) {
  return Matching(call, problem).run();
}

}  // namespace ww::lower::reduce_cluster
