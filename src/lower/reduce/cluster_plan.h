// SPDX-License-Identifier: Apache-2.0
// How a reduction of a cluster goes (lower/reduce/cluster.cpp): who puts which parts where, who folds
// and sends them, and how the CTAs know that they have come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lower/reduce/parts.h"

namespace ww::lower::reduce_cluster {

/// Part `row` of these threads, at a place by a formula of the thread.
struct Deposit {
  std::int64_t row = 0;
  std::vector<bool> threads;
  ThreadFormula place;
};
/// What threads fold from parts that begin at a place by a formula.
struct Collection {
  std::vector<std::vector<bool>> threads;  // by part: which threads have it
  ThreadFormula place;
};
/// A part of the CTA: into place `to` of the memory of CTA `cta`.
struct Push {
  Collection parts;
  ThreadFormula cta, to;
};
struct Result {
  std::int64_t slot = 0;
  Collection parts;
};

/// The bytes that a CTA gets, by one of its threads.
struct Expectation {
  std::vector<bool> threads = {};
  ThreadFormula bytes = {};
};

/// How the CTAs know that parts have come: at a barrier of the cluster, at an mbarrier that is used once,
/// or at two that take turns.
enum class Protocol : std::uint8_t { Barriers, Once, Turns };

struct Plan {
  PartsPlan parts;
  std::int64_t own = 0, received = 0;  // elements of scratch memory, in one turn
  Protocol protocol = Protocol::Barriers;
  std::string why_not = {};  // an mbarrier

  [[nodiscard]] bool is_async() const { return protocol != Protocol::Barriers; }
  /// Mbarriers, and halves of the scratch memory: 0 and 1 where nothing takes turns.
  [[nodiscard]] std::int64_t mbarriers() const {
    return protocol == Protocol::Turns ? 2 : is_async() ? 1 : 0;
  }
  [[nodiscard]] std::int64_t halves() const { return protocol == Protocol::Turns ? 2 : 1; }
  Expectation expectation = {};
  std::vector<Deposit> deposits;
  std::vector<Push> pushes;     // one after the other
  std::vector<Result> results;  // by slot
};

/// `st.async`, without the type.
inline constexpr std::string_view kSend = "st.async.shared::cluster.mbarrier::complete_tx::bytes.";
/// The type of values in `st` and `st.async`.
std::string_view suffix_of(num::DType type);

/// Declines what has no formula, and what does not fit into shared memory.
Match<Plan> cluster_plan(const Call& call, const ReduceProblem& problem);

}  // namespace ww::lower::reduce_cluster
