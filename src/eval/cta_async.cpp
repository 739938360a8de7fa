// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies. The values are taken when a copy starts and arrive when the last of its
// threads has waited for it, as late as the program can tell. It may write all that time: what
// others did before must be ordered before the start, what they do next behind the wait.
#include <utility>

#include "eval/cta.h"

namespace ww::eval {
namespace {

constexpr std::uint64_t kQueuedBytes = 16;  // for each thread that has to wait for a copy
constexpr std::uint64_t kCommitBytes = 32;  // for each thread that commits

}  // namespace

// Nothing else is under way where a copy will write.
void Cta::check_free(const Transfer& transfer, const Copy& copy) {
  Storage& storage = storage_of(transfer.to.place.root);
  const std::int64_t bit = absolute(transfer.to);
  if (!storage.is_target(bit, transfer.bits) && !storage.is_source(bit, transfer.bits)) return;
  if (is_own_target(transfer, copy)) return;
  if (Finding* found = finding(Check::Async, transfer.to); found != nullptr)
    found->text =
        fmt::format("{} of {} starts a copy into {} while another copy there is under way",
                    agent_text(copy.agent), cta_text(), element_text(transfer.to));
}

// Whoever used the place before is done with it.
void Cta::check_start(const Transfer& transfer, const Copy& copy) {
  const Access by = access_of(copy.agent);
  const auto conflict = note_write(transfer.to, transfer.bits, by);
  if (!conflict || conflict->earlier == by) return;
  if (storage_of(transfer.to.place.root).is_target(absolute(transfer.to), transfer.bits)) return;
  report_race(transfer.to, *conflict, by, true);
}

void Cta::start_copy(Copy copy, Threads ts) {
  copy.op = op_;
  copy.missing = ts.size();
  copy.bytes = sizeof(copy) + copy.transfers.size() * sizeof(Transfer) +
               copy.sources.size() * sizeof(copy.sources[0]) + ts.size() * kQueuedBytes;
  pending_ += copy.bytes;
  if (!watch_memory()) return;
  for (const Transfer& transfer : copy.transfers) check_free(transfer, copy);
  for (const Transfer& transfer : copy.transfers) check_start(transfer, copy);
  for (const Transfer& transfer : copy.transfers)
    storage_of(transfer.to.place.root).mark_target(absolute(transfer.to), transfer.bits, 1);
  for (const auto& [element, bits] : copy.sources)
    storage_of(element.place.root).mark_source(absolute(element), bits, 1);
  const auto id = static_cast<CopyId>(copies_.size());
  const AsyncKind kind = copy.kind;
  copies_.emplace_back(std::move(copy));
  for (const Thread t : ts) {
    AsyncState& state = async_[t];
    if (kind == AsyncKind::Tensor)
      state.tensor.emplace_back(state.tensor_issued++, id);
    else if (kind == AsyncKind::TmemLoad || kind == AsyncKind::TmemStore)
      state.tmem[kind == AsyncKind::TmemLoad ? 0 : 1].push_back(id);
    else
      state.groups[kind == AsyncKind::Group ? 0 : 1].open.push_back(id);
  }
}

void Cta::commit(AsyncKind kind, Threads ts) {
  for (const Thread t : ts) {
    AsyncGroups& groups = async_[t].groups[kind == AsyncKind::Group ? 0 : 1];
    groups.committed.push_back(std::exchange(groups.open, {}));
  }
  pending_ += ts.size() * kCommitBytes;
}

void Cta::wait_group(AsyncKind kind, std::size_t keep, bool open_too, Threads ts) {
  for (const Thread t : ts) {
    AsyncGroups& groups = async_[t].groups[kind == AsyncKind::Group ? 0 : 1];
    while (groups.committed.size() > keep) {
      waited(groups.committed.front());
      groups.committed.pop_front();
      pending_ -= kCommitBytes;
    }
    if (open_too) waited(groups.open);
  }
}

void Cta::wait_tmem(AsyncKind kind, Threads ts) {
  for (const Thread t : ts) waited(async_[t].tmem[kind == AsyncKind::TmemLoad ? 0 : 1]);
}

void Cta::waited(std::vector<CopyId>& ids) {
  for (const CopyId id : ids) {
    std::optional<Copy>& copy = copies_[id];
    if (--copy->missing != 0) continue;
    deliver(*copy);
    pending_ -= copy->bytes;
    copy.reset();
  }
  ids.clear();
  while (!copies_.empty() && !copies_.back()) copies_.pop_back();
}

void Cta::deliver(Copy& copy) {
  for (const auto& [element, bits] : copy.sources)
    storage_of(element.place.root).mark_source(absolute(element), bits, -1);
  for (const Transfer& transfer : copy.transfers)
    storage_of(transfer.to.place.root).mark_target(absolute(transfer.to), transfer.bits, -1);
  Access by = access_of(copy.agent);
  by.op = copy.op;
  // What it may race with was looked at when it started, or was found since.
  for (const Transfer& transfer : copy.transfers)
    put(transfer.to, transfer.bits, transfer.value, transfer.undefined, by);
}

}  // namespace ww::eval
