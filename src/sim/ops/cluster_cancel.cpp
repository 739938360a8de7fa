// SPDX-License-Identifier: Apache-2.0
// clusterlaunchcontrol: a cluster asks for the work of another one that has not started, which then
// never starts. Such kernels run on one host thread, where a cluster starts when those before it have
// had their turn: a request gets the next in line, until none is left. The 16 bytes of an answer are
// ours: the coordinates of the first CTA, and 1 if the request was granted.
#include "sim/ops/cluster_cancel.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/async_ops.h"

namespace ww::sim {
namespace {

using Answer = std::array<std::uint32_t, 4>;
constexpr std::uint32_t kAnswerBytes = sizeof(Answer);

enum class Query : std::uint8_t { IsCanceled, FirstCta, X, Y, Z };

Answer take_next(Unit& unit) {
  ClusterQueue* queue = unit.context.queue;
  if (queue == nullptr || queue->next >= queue->count) return {};
  const std::uint64_t cluster = queue->next++;
  queue->taken.push_back(cluster);
  const Dim3 id = first_cta(unit.context, cluster);
  return {id.x, id.y, id.z, 1};
}

// The answer lands in one CTA, and its mbarrier hears of it.
void send_answer(Warp& warp, unsigned lane, const Answer& answer, std::uint64_t to,
                 std::uint64_t mbarrier) {
  check_signalled(warp, mbarrier, lane_bit(lane));
  const ByteRun run =
      find_run(warp, to, lane, kAnswerBytes, AccessKind::Write, Space::SharedCluster);
  begin_write(warp, run, lane, {});
  start_job(warp, lane, {.mbarrier = mbarrier, .bytes = kAnswerBytes, .deliver = [=, &warp] {
                           std::array<std::byte, kAnswerBytes> bytes;
                           std::memcpy(bytes.data(), answer.data(), sizeof bytes);
                           land(warp, lane, run, bytes.data(), nullptr, {});
                           complete_tx(warp, mbarrier, lane, kAnswerBytes);
                         }});
}

void check_asks_again(Warp& warp, unsigned lane) {
  if (!warp.cta->was_refused || !warp.is_new(Check::Async)) return;
  warp.report(Check::Async, lane_bit(lane),
              "asks for another cluster, and this CTA has seen that there are none left");
}

void run_try_cancel(Warp& warp, const Op& op) {
  const LaneAddresses to = used_addresses(warp, op);
  const LaneAddresses mbarrier = used_addresses(warp, op, 1);
  const bool is_multicast = op.as<bool>();
  for_each_lane(warp.exec, [&](unsigned l) {
    check_asks_again(warp, l);
    const Answer answer = take_next(*warp.unit);
    if (!is_multicast) return send_answer(warp, l, answer, to[l], mbarrier[l]);
    for (std::uint64_t rank = 0; rank < warp.unit->ctas.size(); ++rank)
      send_answer(warp, l, answer, in_cta(to[l], rank), in_cta(mbarrier[l], rank));
  });
}

// p: the answer; results in Program::places.
void run_query(Warp& warp, const Op& op) {
  use_value(warp, op.p[1], warp.exec);
  const auto* answers = warp.source<Answer>(op.p[1]);
  const auto query = op.as<Query>();
  if (query == Query::IsCanceled) {
    Mask granted = 0;
    for_each_lane(warp.exec, [&](unsigned l) {
      if (answers[l][3] != 0) granted |= lane_bit(l);
    });
    if ((warp.exec & ~granted) != 0) warp.cta->was_refused = true;
    warp.set_pred(op.p[0], granted);
    define_value(warp, op.p[0], true);
    return;
  }
  // Where the request was not granted, the coordinates are undefined.
  const unsigned first = query <= Query::X ? 0 : query == Query::Y ? 1 : 2;
  for (unsigned i = 0; i < op.place_count; ++i) {
    const Place place = warp.places(op)[i];
    std::uint32_t values[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) values[l] = i < 3 ? answers[l][first + i] : 0;
    warp.write(place, values);
    define_value(warp, place);
    if (!warp.undefined.are_kept()) continue;
    std::uint8_t* flags = warp.undefined.write(place, warp.exec);
    for_each_lane(warp.exec, [&](unsigned l) {
      if (answers[l][3] == 0 || i == 3) flags[l] = 0x0F;
    });
  }
}

}  // namespace

bool decode_try_cancel(Decode& in) {
  in.tracks_itself(run_try_cancel);
  in.op.set(in.has("multicast::cluster::all"));
  in.function().program().uses_async_proxy = true;
  in.function().code().is_ordered = true;
  in.op.address = cluster_address(in, 0);
  cluster_address(in, 1);
  return true;
}

bool decode_query_cancel(Decode& in) {
  in.tracks_itself(run_query);
  in.op.p[1] = in.source(1);
  if (in.has("is_canceled")) {
    in.op.set(Query::IsCanceled);
    in.op.p[0] = in.result(0);
    return true;
  }
  in.op.set(in.word("dim")
                .as<Query>({{"get_first_ctaid::x", Query::X},
                            {"get_first_ctaid::y", Query::Y},
                            {"get_first_ctaid::z", Query::Z}})
                .value_or(Query::FirstCta));
  in.further(in.results(0));
  return true;
}

}  // namespace ww::sim
