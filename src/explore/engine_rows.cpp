// SPDX-License-Identifier: Apache-2.0
#include "explore/engine_rows.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "driver/sim/report.h"
#include "sim/memory/memory.h"
#include "sim/timeline/engine_moves.h"
#include "sim/timeline/history.h"

namespace ww::explore {
namespace {

constexpr std::size_t kMaxPieces = 1 << 16;  // of an answer
constexpr unsigned kGroupWarps = 4;

/// Makes the rows.
class EngineRowWriter {
 public:
  EngineRowWriter(const driver::RunCapture& capture, const std::vector<PlacedBuffer>& buffers)
      : program_(*capture.program),
        history_(*capture.run.recording->history),
        buffers_(buffers),
        warps_per_cta_(capture.run.recording->warps_per_cta) {}

  void add_copy(const sim::EngineCopy& copy);
  void add_product(const sim::EngineProduct& product);
  [[nodiscard]] bool is_full() const { return pieces_ >= kMaxPieces; }
  EngineRows take() { return std::move(out_); }

 private:
  /// An address without the window and the rank, and whose it is.
  struct Spot {
    bool is_shared = false;
    std::uint64_t address = 0;
    std::uint32_t cta = 0;
  };
  [[nodiscard]] static Spot spot_of(std::uint64_t address);
  [[nodiscard]] std::string opcode_of(std::uint32_t op) const;
  std::uint64_t round_of(std::uint32_t who, std::uint32_t op, std::uint64_t moment);
  Json row_of(std::uint64_t moment, std::uint32_t warp, std::uint64_t round);
  [[nodiscard]] Json mbarrier_json(const sim::CopyTarget& target, std::uint32_t bytes) const;
  void add_pieces(Json& row, const sim::CopySide& side);
  void add_piece(Json& columns, const sim::MovedPiece& piece, const PlacedBuffer* buffer);
  void push(Json row, std::string_view side);
  void add_fragment(Json row, const sim::Fragment& fragment, std::string_view side,
                    unsigned in_group);

  const sim::Program& program_;
  const sim::History& history_;
  const std::vector<PlacedBuffer>& buffers_;
  std::uint32_t warps_per_cta_;
  EngineRows out_;
  std::size_t pieces_ = 0;
  struct Round {
    std::uint64_t moment = 0, number = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Round> rounds_;  // by issuer and op
  std::set<std::string> fragments_seen_;
};

EngineRowWriter::Spot EngineRowWriter::spot_of(std::uint64_t address) {
  const driver::AddressPlace place = driver::place_of(address);
  if (place.space != "shared") return {.address = address};
  return {.is_shared = true,
          .address = place.address,
          .cta = static_cast<std::uint32_t>(sim::shared_rank(address))};
}

std::string EngineRowWriter::opcode_of(std::uint32_t op) const {
  std::string_view line = program_.line(program_.infos[op].line);
  if (line.starts_with('@')) line.remove_prefix(line.find_first_of(" \t") + 1);
  return std::string(line.substr(0, line.find_first_of(" \t;")));
}

// How often the same has been issued before; the lanes of one moment are one round.
std::uint64_t EngineRowWriter::round_of(std::uint32_t who, std::uint32_t op, std::uint64_t moment) {
  const auto [at, is_new] = rounds_.try_emplace({who, op}, Round{moment, 0});
  if (!is_new && at->second.moment != moment) at->second = {moment, at->second.number + 1};
  return at->second.number;
}

Json EngineRowWriter::row_of(std::uint64_t moment, std::uint32_t warp, std::uint64_t round) {
  const std::uint32_t op = history_.moments[moment].op;
  return {{"moment", moment},        {"line", program_.infos[op].line},
          {"opcode", opcode_of(op)}, {"warp", warp},
          {"round", round},          {"lane", nullptr},
          {"mbarrier", nullptr},     {"is_k_major", true}};
}

Json EngineRowWriter::mbarrier_json(const sim::CopyTarget& target, std::uint32_t bytes) const {
  if (target.mbarrier == 0) return nullptr;
  const Spot spot = spot_of(target.mbarrier);
  const PlacedBuffer* const buffer = find_smallest_buffer(buffers_, true, spot.address);
  return {{"cta", spot.cta},
          {"address", spot.address},
          {"buffer", buffer == nullptr ? Json(nullptr) : Json(buffer->name)},
          {"element", buffer == nullptr
                          ? Json(nullptr)
                          : Json((spot.address - buffer->begin) * 8 / buffer->element_bits)},
          {"bytes", bytes}};
}

// One entry for elements that follow each other.
void EngineRowWriter::add_piece(Json& columns, const sim::MovedPiece& piece,
                                const PlacedBuffer* buffer) {
  const auto push_entry = [&](std::uint64_t skipped, std::uint64_t bytes, const Json& element,
                              std::uint64_t count) {
    columns["at"].push_back(piece.at + skipped);
    columns["addresses"].push_back(piece.address + skipped);
    columns["bytes"].push_back(bytes);
    columns["elements"].push_back(element);
    columns["counts"].push_back(count);
    ++pieces_;
  };
  if (buffer == nullptr || !buffer->is_numbered) return push_entry(0, piece.bytes, nullptr, 0);
  const std::uint64_t bits = buffer->element_bits;
  const std::uint64_t first = (piece.address - buffer->begin) * 8 / bits;
  const std::uint64_t end =
      first + std::max<std::uint64_t>(1, std::uint64_t{piece.bytes} * 8 / bits);
  for (std::uint64_t i = first; i < end;) {
    const auto element = element_at(*buffer, i);
    std::uint64_t count = 1;
    while (i + count < end) {
      const auto next = element_at(*buffer, i + count);
      const bool follows = next.has_value() == element.has_value() &&
                           (!next || *next == *element + static_cast<std::int64_t>(count));
      if (!follows) break;
      ++count;
    }
    push_entry((i - first) * bits / 8, count * bits / 8, element ? Json(*element) : Json(nullptr),
               element ? count : 0);
    i += count;
  }
}

void EngineRowWriter::add_pieces(Json& row, const sim::CopySide& side) {
  const std::uint64_t begin = side.pieces.empty() ? 0 : side.pieces.front().address;
  const Spot spot = spot_of(begin);
  const PlacedBuffer* const buffer =
      side.pieces.empty() ? nullptr : find_buffer(buffers_, spot.is_shared, spot.address);
  row["space"] = spot.is_shared ? "shared" : "global";
  row["cta"] = spot.is_shared ? Json(spot.cta) : Json(nullptr);
  row["buffer"] = buffer == nullptr ? Json(nullptr) : Json(buffer->name);
  row["rows"] = side.shape.rows;
  row["row_bytes"] = side.shape.row_bytes;
  row["is_k_major"] = side.is_k_major;
  Json columns;
  for (const char* name : {"at", "addresses", "bytes", "elements", "counts"})
    columns[name] = Json::array();
  for (const sim::MovedPiece& piece : side.pieces) {
    if (is_full()) break;
    add_piece(columns, {piece.at, spot_of(piece.address).address, piece.bytes}, buffer);
  }
  row["pieces"] = std::move(columns);
}

void EngineRowWriter::push(Json row, std::string_view side) {
  row["side"] = side;
  out_.rows.push_back(std::move(row));
}

void EngineRowWriter::add_copy(const sim::EngineCopy& copy) {
  const sim::Moment& moment = history_.moments[copy.moment];
  const std::uint64_t round = round_of(moment.warp, moment.op, copy.moment);
  Json from = row_of(copy.moment, moment.warp, round);
  from["lane"] = copy.lane;
  add_pieces(from, sim::copied_from(copy));
  push(std::move(from), "from");
  for (const sim::CopyTarget& target : copy.to) {
    Json to = row_of(copy.moment, moment.warp, round);
    to["lane"] = copy.lane;
    to["mbarrier"] = mbarrier_json(target, copy.bytes);
    add_pieces(to, sim::copied_to(copy, target));
    push(std::move(to), "to");
  }
}

// A fragment is the same in all rounds, so it stands beside the rows.
void EngineRowWriter::add_fragment(Json row, const sim::Fragment& fragment, std::string_view side,
                                   unsigned in_group) {
  row["space"] = "registers";
  row["cta"] = row["buffer"] = row["pieces"] = nullptr;
  row["rows"] = fragment.rows;
  row["row_bytes"] = 0;
  const auto opcode = row["opcode"].get<std::string>();
  push(std::move(row), side);
  if (!fragments_seen_.insert(opcode + std::string(side) + std::to_string(in_group)).second) return;
  Json held = Json::array();
  for (const auto& elements : fragment.held) held.push_back(elements);
  out_.fragments.push_back({{"opcode", opcode},
                            {"side", side},
                            {"warp", in_group},
                            {"rows", fragment.rows},
                            {"columns", fragment.columns},
                            {"held", std::move(held)}});
}

void EngineRowWriter::add_product(const sim::EngineProduct& product) {
  const std::uint32_t number = history_.moments[product.moment].op;
  const sim::Op& op = program_.ops[number];
  const std::uint64_t round = round_of(product.first_warp, number, product.moment);
  const auto in_shared = [&](sim::CopySide side) {
    const std::uint64_t start = sim::shared_start(product.first_warp / warps_per_cta_);
    for (sim::MovedPiece& piece : side.pieces) piece.address += start;
    return side;
  };
  bool has_b = false;
  for (unsigned w = 0; w < kGroupWarps; ++w) {
    if (((product.warps >> w) & 1U) == 0) continue;
    const std::uint32_t warp = product.first_warp + w;
    Json a = row_of(product.moment, warp, round);
    if (sim::has_a_in_registers(op)) {
      add_fragment(std::move(a), sim::fragment_of_a(op, w), "A", w);
    } else {
      add_pieces(a, in_shared(sim::slice_of_a(op, product, w)));
      push(std::move(a), "A");
    }
    if (!std::exchange(has_b, true)) {
      Json b = row_of(product.moment, warp, round);
      add_pieces(b, in_shared(sim::slice_of_b(op, product)));
      push(std::move(b), "B");
    }
    add_fragment(row_of(product.moment, warp, round), sim::fragment_of_d(op, w), "D", w);
  }
}

}  // namespace

EngineRows engine_rows(const driver::RunCapture& capture, const std::vector<PlacedBuffer>& buffers,
                       const std::function<bool(std::uint32_t)>& is_wanted) {
  const sim::History& history = *capture.run.recording->history;
  EngineRowWriter writer(capture, buffers);
  // The last op may have given work away and not be done: it has no moment.
  const auto concerns = [&](std::uint64_t moment) {
    return moment < history.moments.size() && is_wanted(history.moments[moment].op);
  };
  for (const sim::EngineCopy& copy : history.copies)
    if (!writer.is_full() && concerns(copy.moment)) writer.add_copy(copy);
  for (const sim::EngineProduct& product : history.products)
    if (!writer.is_full() && concerns(product.moment)) writer.add_product(product);
  EngineRows out = writer.take();
  out.is_cut = writer.is_full();
  return out;
}

}  // namespace ww::explore
