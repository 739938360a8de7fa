// SPDX-License-Identifier: Apache-2.0
#include "eval/cta.h"

#include <algorithm>

namespace ww::eval {
namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::uint32_t ctas_per_cluster(const Kernel& kernel) {
  const auto& c = kernel.shape.cluster;
  return static_cast<std::uint32_t>(c[0] * c[1] * c[2]);
}

}  // namespace

Cta::Cta(Run& run, Clock& clock, std::uint32_t number, std::array<std::int64_t, 3> at)
    : run_(run),
      k_(run.kernel),
      f_(run.kernel.function),
      number_(number),
      at_(at),
      order_(run.kernel.threads(), clock),
      races_(order_, clock, ctas_per_cluster(run.kernel),
             run.kernel.has_global_atomics && run.kernel.has_fences),
      pcs_(run.kernel.threads(), 0),
      status_(run.kernel.threads(), Status::Ready),
      parked_(run.kernel.threads(), 0),
      spins_(run.kernel.threads(), 0),
      alive_(run.kernel.threads()),
      left_(run.kernel.program.loops * run.kernel.threads(), 0),
      async_(run.kernel.threads()) {
  std::size_t rows = 0;
  for (std::uint32_t v = 0; v < f_->var_count(); ++v) {
    var_base_.push_back(rows);
    rows += std::max<std::size_t>(1, (*f_)[ir::VarId{v}].type.lanes);
  }
  vars_.resize(rows * thread_count());
  const auto set = [&](ir::VarId var, Word value) {
    std::fill_n(vars_.begin() + static_cast<std::ptrdiff_t>(var_base_[var.index] * thread_count()),
                thread_count(), value);
  };
  for (std::uint32_t v = 0; v < f_->var_count(); ++v)
    if (k_.host[v]) set(ir::VarId{v}, *k_.host[v]);
  memory_.resize(k_.roots.size());
  for (std::size_t r = 0; r < k_.roots.size(); ++r) {
    const Root& root = k_.roots[r];
    const std::size_t times = root.scope == ir::Scope::Local ? thread_count() : 1;
    if (root.scope == ir::Scope::Global)
      set(f_->params[root.param].var, pointer_to({static_cast<std::int32_t>(r), 0}));
    else
      memory_[r] = Storage(root.bytes * times, root.granule, false);
  }
}

// --- whose turn it is --------------------------------------------------------------------------

void Cta::advance() {
  std::vector<Thread> group;
  std::uint32_t limit = 0;
  while (!run_.stop && pick(group, limit)) run_group(group, limit);
}

bool Cta::can_run() const {
  return std::find(status_.begin(), status_.end(), Status::Ready) != status_.end();
}

std::optional<std::uint32_t> Cta::random_pc() {
  std::vector<std::uint32_t> pcs;
  for (std::size_t t = 0; t < thread_count(); ++t)
    if (status_[t] == Status::Ready && parked_[t] == 0 &&
        std::find(pcs.begin(), pcs.end(), pcs_[t]) == pcs.end())
      pcs.push_back(pcs_[t]);
  if (pcs.empty()) return std::nullopt;
  return pcs[next_random(run_.random) % pcs.size()];
}

bool Cta::pick(std::vector<Thread>& group, std::uint32_t& limit) {
  std::uint32_t pc = kFar;
  const auto lowest = [&] {
    for (std::size_t t = 0; t < thread_count(); ++t)
      if (status_[t] == Status::Ready && parked_[t] == 0) pc = std::min(pc, pcs_[t]);
  };
  lowest();
  if (pc == kFar) {  // everybody has let everybody pass
    std::fill(parked_.begin(), parked_.end(), char{0});
    lowest();
  }
  if (pc == kFar) return false;
  if (run_.options.seed != 0) pc = *random_pc();
  group.clear();
  limit = kFar;
  for (std::size_t t = 0; t < thread_count(); ++t) {
    if (status_[t] != Status::Ready && status_[t] != Status::Gathering) continue;
    if (pcs_[t] == pc)
      group.push_back(static_cast<Thread>(t));
    else if (parked_[t] == 0)
      limit = std::min(limit, pcs_[t] > pc ? pcs_[t] : limit);
  }
  for (const Thread t : group) {
    status_[t] = Status::Ready;
    parked_[t] = 0;
  }
  if (run_.options.seed != 0) limit = 0;
  return true;
}

void Cta::run_group(std::vector<Thread>& group, std::uint32_t limit) {
  const bool is_all = group.size() == alive_ && run_.options.seed == 0;
  while (!run_.stop) {
    op_ = pcs_[group.front()];
    const Op& op = k_.program.ops[op_];
    if (!spend(group.size())) return;
    if (op.gather != Gather::None) {
      const std::vector<Thread> ready = gather(op, group);
      if (ready.size() != group.size()) {
        if (!ready.empty()) execute(op, ready);
        return;
      }
    }
    if (!execute(op, group)) return;
    const std::uint32_t pc = pcs_[group.front()];
    // Others may stand where the group has come to, or go on only behind it.
    if (!is_all && (pc >= limit || pc <= op_)) return;
  }
}

// --- threads that need each other --------------------------------------------------------------

bool Cta::is_complete(const Op& op, std::size_t first, std::size_t last,
                      std::span<const Word> masks, Threads ts, std::vector<char>& here) {
  Word mask = low_mask(32);
  if (op.gather == Gather::Lanes && !op.masks.empty()) {
    mask = 0;
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (ts[i] >= first && ts[i] < last) mask |= masks[i];
  }
  for (std::size_t t = first; t < last; ++t) {
    const bool is_wanted =
        op.wanted ? (*op.wanted)[t] : op.gather != Gather::Lanes || (mask >> (t - first) & 1) != 0;
    if (is_wanted && status_[t] != Status::Exited && here[t] == 0) return false;
  }
  return true;
}

// Those whose unit is complete; the others wait here.
std::vector<Thread> Cta::gather(const Op& op, Threads ts) {
  const std::size_t size = op.gather == Gather::Cta         ? thread_count()
                           : op.gather == Gather::Warpgroup ? 128
                                                            : 32;
  std::vector<char> here(thread_count(), 0);
  for (const Thread t : ts) here[t] = 1;
  std::vector<Word> masks(ts.size(), 0);
  for (const ir::ExprId mask : op.masks) {
    const Words values = eval(mask, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) masks[i] |= values[i];
  }
  std::vector<Thread> ready;
  for (std::size_t i = 0; i < ts.size();) {
    const std::size_t first = ts[i] / size * size;
    const std::size_t last = std::min(first + size, thread_count());
    const bool is_here = is_complete(op, first, last, masks, ts, here);
    for (; i < ts.size() && ts[i] < last; ++i) {
      status_[ts[i]] = is_here ? Status::Ready : Status::Gathering;
      if (is_here) ready.push_back(ts[i]);
    }
  }
  return ready;
}

void Cta::exit(Threads ts) {
  for (const Thread t : ts) status_[t] = Status::Exited;
  alive_ -= ts.size();
  // Fewer threads are waited for now.
  for (Status& status : status_)
    if (status == Status::Gathering) status = Status::Ready;
  check_barriers();
}

void Cta::go_on(Threads ts) {
  for (const Thread t : ts) pcs_[t] = op_ + 1;
}

void Cta::stop(DiagKind kind, std::string text) {
  if (!run_.stop) run_.stop = Diag{kind, std::move(text), span_of(op_), {}};
}

}  // namespace ww::eval
