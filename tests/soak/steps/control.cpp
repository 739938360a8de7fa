// SPDX-License-Identifier: Apache-2.0
// Loops, and branches over units, threads, CTAs and parameters, with several arms.
#include <fmt/format.h>

#include <algorithm>

#include "soak/steps.h"

namespace ww::test {

// Some go on for as long as the parameter says.
Place begin_loop(Draft& draft, const Place& at) {
  constexpr std::int64_t kMaxTurns = 3;
  clean(draft, at);
  Place inside = at.inside();
  const std::string var = draft.text.fresh("i");
  std::int64_t count = 1 + draft.tape.below(kMaxTurns);
  const std::string kind =
      draft.tape.pick(std::vector<std::string>{"T.serial", "T.unroll", "range"});
  std::string turns = std::to_string(count);
  if (kind != "T.unroll" && draft.tape.one_in(3)) {
    turns = draft.tape.one_in(3) ? "p0" : "p0 + 1";
    count = kMaxTurns;
  }
  inside.loops.emplace_back(var, count);
  draft.text.line(at, "for {} in {}({}):", var, kind, turns);
  return inside;
}
void end_loop(Draft& draft, const Place& inside) { clean(draft, inside); }

namespace {

bool loop_fits(const Draft&, const Place& at) { return at.depth < 2 && at.loops.size() < 2; }
bool branch_fits(const Draft&, const Place& at) { return at.depth < 3; }

// What keeps a body that nothing was written into from being empty.
void end_body(Draft& draft, const Place& inside, std::size_t before) {
  if (draft.text.size() == before) draft.text.line(inside, "Tx.fill(priv, 2)");
}

void write_loop(Draft& draft, const Place& at) {
  const Place inside = begin_loop(draft, at);
  const std::size_t before = draft.text.size();
  write_block(draft, inside, 2 + draft.tape.below(5));
  end_loop(draft, inside);
  end_body(draft, inside, before);
}

// --- branches ---

enum class Over : std::uint8_t { Units, Threads, Everybody };

Over choose_over(Draft& draft, const Place& at) {
  if (at.is_thread) return Over::Threads;
  if (draft.tape.one_in(3)) return Over::Everybody;
  const bool has_units = draft.f.units > 1;
  if (draft.tape.one_in(4)) return Over::Threads;
  return has_units ? Over::Units : Over::Everybody;
}

std::string over_units(Draft& draft) {
  static const std::vector<std::string> kGuards = {"{} == {}", "{} < {}", "{} % 2 != {} % 2",
                                                   "{} >= {}"};
  const std::string& guard = draft.tape.pick(kGuards);
  return fmt::format(fmt::runtime(guard), draft.f.unit,
                     std::max<std::int64_t>(1, draft.tape.below(draft.f.units)));
}
std::string over_threads(Draft& draft) {
  static const std::vector<std::string> kGuards = {"tid < {}", "tid % {} == 0", "tid * 3 > {}",
                                                   "tid + p0 < {}", "tid % 2 == 0 and tid > {}"};
  if (draft.f.threads % 32 == 0 && draft.tape.one_in(3))
    return draft.tape.one_in(2) ? "lane < 16" : "lane % 4 == 1 or warp == 0";
  const std::string& guard = draft.tape.pick(kGuards);
  return fmt::format(fmt::runtime(guard), 2 + draft.tape.below(draft.f.threads - 2));
}

std::string condition_over(Draft& draft, const Place& at, Over over) {
  std::string out = over == Over::Units     ? over_units(draft)
                    : over == Over::Threads ? over_threads(draft)
                                            : any_condition(draft, at, false);
  if (over != Over::Everybody && draft.tape.one_in(6))
    out = fmt::format("({}) and {}", out, any_condition(draft, at, false));
  return out;
}

std::vector<Pending> pending_of(const Draft& draft) {
  std::vector<Pending> out;
  for (const Shared& each : draft.shared) out.push_back(each.pending);
  return out;
}

// Arms begin with what was pending before; afterwards all that any of them left is.
class Branch {
 public:
  Branch(Draft& draft, const Place& at, Over over)
      : draft_(draft), at_(at), inside_(at.inside()), before_(pending_of(draft)) {
    inside_.is_split = at.is_split || over != Over::Everybody;
    inside_.is_thread = at.is_thread || over == Over::Threads;
  }

  void arm(const std::string& head) {
    for (std::size_t i = 0; i < before_.size(); ++i) draft_.shared[i].pending = before_[i];
    draft_.text.line(at_, head);
    const std::size_t size = draft_.text.size();
    write_block(draft_, inside_, 1 + draft_.tape.below(inside_.is_thread ? 2 : 4));
    wait_all(draft_, inside_);
    end_body(draft_, inside_, size);
    ends_.push_back(pending_of(draft_));
  }
  void end(bool has_else) {
    if (!has_else) ends_.push_back(before_);
    for (std::size_t i = 0; i < before_.size(); ++i) {
      draft_.shared[i].pending = {};
      for (const std::vector<Pending>& end : ends_) draft_.shared[i].pending.merge(end[i]);
    }
  }

 private:
  Draft& draft_;
  const Place& at_;
  Place inside_;
  std::vector<Pending> before_;
  std::vector<std::vector<Pending>> ends_;
};

void write_branch(Draft& draft, const Place& at) {
  const Over over = choose_over(draft, at);
  wait_all(draft, at);
  // Units on their own cannot meet the others.
  if (over != Over::Everybody && !at.is_split &&
      std::ranges::any_of(draft.shared, [](const Shared& s) { return s.pending.any_far(); }))
    sync_all(draft, at);
  Branch branch(draft, at, over);
  branch.arm(fmt::format("if {}:", condition_over(draft, at, over)));
  if (draft.tape.one_in(5)) branch.arm(fmt::format("elif {}:", condition_over(draft, at, over)));
  const bool has_else = draft.tape.one_in(2);
  if (has_else) branch.arm("else:");
  branch.end(has_else);
}

}  // namespace

const Step kLoop{.name = "loop", .fits = loop_fits, .write = write_loop};
const Step kBranch{
    .name = "branch", .is_of_thread = true, .fits = branch_fits, .write = write_branch};

}  // namespace ww::test
