// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies. A copy reads its values when it starts and writes them when the last of its
// threads has waited for it, as late as the program can tell. It may write at any time in between:
// accesses of others must be ordered before the start or after the wait.
//
// The tensor core makes copies from shared to tensor memory on its own, in the order in which a
// thread starts them. They arrive when a thread waits for an mbarrier that a later tcgen05.commit
// of the first thread arrives at.
//
// The copy engine tells an mbarrier how many bytes have arrived. Such copies arrive when a thread
// waits for a phase of it that lacks nothing but bytes. The mbarrier may be another CTA's: then that CTA
// keeps the copy.
#pragma once

#include <vector>

#include "eval/cta/cta.h"

namespace ww::eval {

inline constexpr int kCtaMaskBits = 16;

/// Starts a copy by a thread (kind Counted) into the same places of each CTA of the cluster that has its
/// bit in `mask`; the bytes complete on the mbarrier of each. CTAs that do not exist, have ended,
/// or have no mbarrier there are findings.
void start_multicast(Cta& cta, const AsyncCopy& copy, Address mbarrier, Thread t, Word mask);

/// Starts a copy for threads that each have to wait for it.
void start_copy(Cta& cta, AsyncCopy copy, Threads ts);
/// Makes a group of the operations that a thread has started since the last commit (kind Group,
/// Bulk or Product).
void commit(Cta& cta, AsyncKind kind, Threads ts);
/// Waits until at most `keep` groups are left; `open_too`: and for what is not committed.
void wait_group(Cta& cta, AsyncKind kind, std::size_t keep, bool open_too, Threads ts);
/// kind TmemLoad or TmemStore.
void wait_tmem(Cta& cta, AsyncKind kind, Threads ts);
/// A thread has waited for copies: makes those for which it was the last, and empties the list.
void finish_waited(Cta& cta, std::vector<CopyId>& ids);

/// Arrives at the mbarrier when the thread's started operations are done.
void commit_tensor(Cta& cta, Address mbarrier, Thread t);
/// Arrives at the mbarrier when the thread's cp.async copies have landed; `is_extra`: the phase
/// waits for that arrival on top of its own.
void arrive_when_copied(Cta& cta, Address mbarrier, bool is_extra, Thread t);
/// Makes the copies of the first such arrival, and arrives, if the phase lacks nothing else; false when
/// there is none, or it lacks more.
bool finish_arrival(Cta& cta, Address at, Mbarrier& barrier);
/// Starts a copy by a thread (kind Counted), of whose bytes the mbarrier hears.
void start_counted(Cta& cta, AsyncCopy copy, Address mbarrier, Thread t);
/// Makes the first copy whose bytes the mbarrier counts; false when there is none.
bool finish_counted(Cta& cta, Address at, Mbarrier& barrier);
/// Makes the copies that the first commit at an mbarrier waits for, and arrives; false when there
/// is none.
bool finish_commit(Cta& cta, Address at, Mbarrier& barrier);

}  // namespace ww::eval
