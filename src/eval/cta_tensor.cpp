// SPDX-License-Identifier: Apache-2.0
// What the tensor core does by itself: copies from shared to tensor memory, one after the other in
// the order in which a thread starts them. They arrive when somebody waits for an mbarrier that a
// later tcgen05.commit of that thread arrives at, as late as the program can tell.
//
// tcgen05.cp of R rows of 16 or 32 bytes. A descriptor says where byte k of row r is; 16-byte units
// of the address are exchanged by a swizzle of w = 32, 64 or 128 bytes, unit number bits 0 to 2
// being XORed with bits 3 to 5 as far as w has units:
//
//   bits 0-13, 16-29, 32-45   start, leading and stride offset, in units of 16 bytes
//   bits 61-63                0: row r % 8 follows at once, 16 bytes on; 6, 4, 2: w = 32, 64, 128,
//                             and it follows after w bytes
//
// Groups of 8 rows are a stride offset apart, the halves of 32 bytes a leading offset when nothing
// is swizzled.
#include <array>

#include "eval/cta.h"

namespace ww::eval {
namespace {

constexpr std::int64_t kUnit = 16;     // bytes
constexpr std::int64_t kQuarter = 32;  // lanes that a warp reaches
constexpr int kRegister = 32;

// The address of half `half` of row `row`.
std::int64_t row_address(Word descriptor, std::int64_t row, std::int64_t half) {
  const auto field = [&](int from) {
    return static_cast<std::int64_t>(descriptor >> from & 0x3fff);
  };
  const auto mode = static_cast<int>(descriptor >> 61);
  const std::int64_t units = mode == 0 ? 1 : mode == 6 ? 2 : mode == 4 ? 4 : 8;
  const std::int64_t unit =
      field(0) + row % 8 * units + row / 8 * field(32) + half * (mode == 0 ? field(16) : 1);
  return (unit ^ (unit / 8 & (units - 1))) * kUnit;
}

struct CopyShape {
  std::int64_t rows = 128;
  std::int64_t halves = 1;  // units of a row
};

CopyShape shape_of(std::string_view opcode) {
  for (const std::string_view part : parts_of(opcode)) {
    if (part == "128x256b") return {128, 2};
    if (part == "4x256b") return {4, 2};
    if (part == "64x128b") return {64, 1};
    if (part == "32x128b") return {32, 1};
  }
  return {};
}

// The lanes that get a row: quarters 0 and 2 or 1 and 3 alike, 0 and 1 or 2 and 3, or all four.
std::vector<std::int64_t> lanes_of(std::string_view opcode, std::int64_t row) {
  const std::int64_t upper = row / kQuarter, lane = row % kQuarter;
  if (has_part(opcode, "4x256b")) return {row * kQuarter};
  if (has_part(opcode, "warpx4")) return {lane, lane + 32, lane + 64, lane + 96};
  if (has_part(opcode, "warpx2::02_13")) return {row, row + 64};
  if (has_part(opcode, "warpx2::01_23")) return {upper * 64 + lane, upper * 64 + 32 + lane};
  return {row};
}

// What a commit takes of the host.
std::uint64_t commit_bytes(const Order::Knowledge& knowledge) {
  constexpr std::uint64_t kEach = 64;
  return kEach + knowledge.size() * sizeof(knowledge[0]);
}

}  // namespace

// --- order -------------------------------------------------------------------------------------

// Does an earlier copy of the same thread write there? They are made in order.
bool Cta::is_own_target(const Transfer& transfer, const Copy& copy) {
  if (copy.kind != AsyncKind::Tensor) return false;
  for (const auto& [number, id] : async_[copy.agent.index].tensor) {
    if (!spend_elements(copies_[id]->transfers.size())) return true;
    for (const Transfer& other : copies_[id]->transfers)
      if (other.to.place.root == transfer.to.place.root &&
          other.to.place.bit < transfer.to.place.bit + transfer.bits &&
          transfer.to.place.bit < other.to.place.bit + other.bits)
        return true;
  }
  return false;
}

void Cta::commit_tensor(Place mbarrier, Thread t) {
  if (find_mbarrier(mbarrier, t) == nullptr) return;
  TensorCommit commit{.thread = t, .before = async_[t].tensor_issued, .knowledge = {}};
  order_.release(t, commit.knowledge);
  pending_ += commit_bytes(commit.knowledge);
  tensor_commits_[{mbarrier.root, mbarrier.bit}].push_back(std::move(commit));
  for (Status& status : status_)
    if (status == Status::AtMbarrier) status = Status::Ready;
}

// Makes the copies that the first commit at an mbarrier waits for, and arrives; false when there is
// none.
bool Cta::finish_commit(Place mbarrier, Mbarrier& barrier) {
  const auto found = tensor_commits_.find({mbarrier.root, mbarrier.bit});
  if (found == tensor_commits_.end()) return false;
  const TensorCommit commit = std::move(found->second.front());
  pending_ -= commit_bytes(commit.knowledge);
  found->second.pop_front();
  if (found->second.empty()) tensor_commits_.erase(found);
  auto& work = async_[commit.thread].tensor;
  std::vector<CopyId> due;
  while (!work.empty() && work.front().first < commit.before) {
    due.push_back(work.front().second);
    work.pop_front();
  }
  waited(due);
  barrier.gathering.resize(thread_count(), 0);
  for (std::size_t t = 0; t < thread_count(); ++t)
    barrier.gathering[t] = std::max(barrier.gathering[t], commit.knowledge[t]);
  arrive_mbarrier(barrier, 1);
  return true;
}

void Cta::ptx_tensor_commit(const ir::PtxCall& call, Threads ts) {
  const std::vector<Place> places = ptx_address(call.operands[0], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) commit_tensor(places[i], ts[i]);
}

// --- tcgen05.cp --------------------------------------------------------------------------------

// 16 bytes of shared memory to four columns of a lane.
void Cta::add_tensor_chunk(Copy& copy, Place from, std::int64_t lane, std::int64_t column,
                           Thread t) {
  for (std::int64_t c = 0; c < kUnit * 8 / kRegister; ++c) {
    Element source = element_at(from, t);
    source.place.bit += c * kRegister;
    Element cell = element_at({k_.tmem, lane * kTmemLaneBits + (column + c) * kRegister}, t);
    if (lane >= kTmemLanes || column + c >= kTmemColumns) cell.place.root = kNoRoot;
    Transfer transfer{cell, kRegister, 0, 0};
    transfer.value = read(source, kRegister, access_of(thread_agent(t)), transfer.undefined);
    if (is_reachable(source, kRegister)) copy.sources.emplace_back(source, kRegister);
    if (is_reachable(cell, kRegister)) copy.transfers.push_back(transfer);
  }
}

void Cta::ptx_tensor_copy(const ir::PtxCall& call, Threads ts) {
  const Words addresses = ptx_int(call.operands[0], ts);
  const Words descriptors = eval(call.operands[1].expr, ts);
  const CopyShape shape = shape_of(call.opcode);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (descriptors[i] >> 61 & 1)
      return stop(DiagKind::NotEvaluated,
                  fmt::format("`tcgen05.cp` with swizzle mode {}", descriptors[i] >> 61));
    Copy copy{.kind = AsyncKind::Tensor, .agent = thread_agent(ts[i])};
    const auto base = static_cast<std::int64_t>(addresses[i] & low_mask(32));
    for (std::int64_t row = 0; row < shape.rows; ++row)
      for (std::int64_t half = 0; half < shape.halves; ++half)
        for (const std::int64_t lane : lanes_of(call.opcode, row))
          add_tensor_chunk(
              copy, shared_at(static_cast<std::uint32_t>(row_address(descriptors[i], row, half))),
              (base >> 16) + lane, (base & 0xffff) + half * kUnit * 8 / kRegister, ts[i]);
    start_copy(std::move(copy), ts.subspan(i, 1));
  }
}

}  // namespace ww::eval
