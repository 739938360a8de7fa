// SPDX-License-Identifier: Apache-2.0
// What the instructions of a primitive move: which lane of which warp touches which bytes, in which
// round. Nothing is worked out from the plan: the kernel runs on the virtual GPU, and the addresses come
// from its registers at the moment when each instruction was executed. Engine rows are what the copy
// engine and the tensor core move by maps and descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/split.h"
#include "driver/build.h"
#include "driver/run/tool.h"
#include "driver/sim/report.h"
#include "explore/calls.h"
#include "explore/request.h"
#include "explore/run_call.h"
#include "isa/type.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "lower/lowering_report.h"
#include "sim/memory/memory.h"
#include "sim/run/counters.h"
#include "sim/timeline/engine_moves.h"
#include "sim/timeline/history.h"

namespace ww::explore {

// --- placed buffers ------------------------------------------------------------------------------
//
// The buffers of a kernel as a run placed them: which buffer has an address, and which of its elements is
// there.

namespace {

/// Where a buffer lies, and the element at each place of it.
struct PlacedBuffer {
  std::string name;
  bool is_shared = false;
  std::uint64_t begin = 0, bytes = 0;
  unsigned element_bits = 8;
  bool is_numbered = true;                  // its layout says which element is where
  std::vector<std::int64_t> elements = {};  // by place; empty: in their order
};

constexpr std::int64_t kMaxElements = 1 << 18;  // of a buffer whose elements are named

std::vector<std::int64_t> elements_by_place(const layout::Layout& layout, std::int64_t size) {
  std::vector<std::int64_t> out;
  for (std::int64_t flat = 0; flat < size; ++flat) {
    const auto place = layout::apply(layout, flat);
    if (!place || place->size() != 1 || (*place)[0].value < 0) return {};
    const auto at = static_cast<std::size_t>((*place)[0].value);
    if (at >= static_cast<std::size_t>(kMaxElements) * 4) return {};
    if (at >= out.size()) out.resize(at + 1, -1);
    out[at] = flat;
  }
  return out;
}

std::optional<PlacedBuffer> placed(const ir::Function& f, const ir::Buffer& buffer) {
  std::int64_t size = 1;
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = ir::const_int(f, extent);
    if (!value) return std::nullopt;
    size *= *value;
  }
  PlacedBuffer out{.name = buffer.name,
                   .element_bits = static_cast<unsigned>(num::storage_bits(buffer.dtype))};
  out.bytes = static_cast<std::uint64_t>(size) * out.element_bits / 8;
  if (!buffer.layout || layout::is_trivial(*buffer.layout)) return out;
  if (size <= kMaxElements) out.elements = elements_by_place(*buffer.layout, size);
  out.is_numbered = !out.elements.empty();
  if (out.is_numbered) out.bytes = out.elements.size() * out.element_bits / 8;
  return out;
}

// Shared buffers and array arguments; shared addresses are offsets in a CTA.
std::vector<PlacedBuffer> placed_buffers(const ir::Function& f, const driver::RunCapture& capture) {
  std::vector<PlacedBuffer> out;
  const auto add_shared = [&](std::string_view name, std::uint64_t offset) {
    for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
      const ir::Buffer& buffer = f[ir::BufferId{i}];
      if (buffer.name != name || !ir::is_shared(buffer.scope)) continue;
      auto made = placed(f, buffer);
      if (!made) return;
      made->is_shared = true;
      made->begin = offset;
      return out.push_back(*std::move(made));
    }
  };
  for (const driver::SharedName& each : capture.source.names) add_shared(each.name, each.offset);
  for (const sim::SharedVariable& each : capture.program->shared)
    add_shared(each.name, each.offset);
  for (std::size_t i = 0; i < f.params.size() && i < capture.arguments.size(); ++i) {
    const ir::BufferId id = ir::buffer_of_param(f, i);
    if (!id.valid()) continue;
    auto made = placed(f, f[id]);
    if (!made) continue;
    made->begin = capture.arguments[i];
    out.push_back(*std::move(made));
  }
  return out;
}

// Several names may stand for the same bytes: those of the primitive at that place come first.
void put_operands_first(const driver::Build& build, std::uint64_t line, std::uint64_t column,
                        std::vector<PlacedBuffer>& buffers) {
  const SourceText& source = build.compiled->source;
  std::vector<std::string> names;
  for (const lower::CallReport& call : build.report.calls) {
    const SourceText::Position at = source.position(call.span.begin);
    if (!call.span.known || at.line != line || (column != 0 && at.column != column)) continue;
    for (const lower::OperandReport& operand : call.operands)
      names.push_back(operand.region.substr(0, operand.region.find('[')));
  }
  std::stable_partition(buffers.begin(), buffers.end(), [&](const PlacedBuffer& buffer) {
    return std::ranges::find(names, buffer.name) != names.end();
  });
}

// The first buffer with that address, or nullptr.
const PlacedBuffer* find_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                std::uint64_t address) {
  for (const PlacedBuffer& each : buffers)
    if (each.is_shared == is_shared && address >= each.begin && address < each.begin + each.bytes)
      return &each;
  return nullptr;
}

// The smallest: a buffer rather than the pool that it is a part of.
const PlacedBuffer* find_smallest_buffer(const std::vector<PlacedBuffer>& buffers, bool is_shared,
                                         std::uint64_t address) {
  const PlacedBuffer* out = nullptr;
  for (const PlacedBuffer& each : buffers) {
    const bool has_it =
        each.is_shared == is_shared && address >= each.begin && address < each.begin + each.bytes;
    if (has_it && (out == nullptr || each.bytes < out->bytes)) out = &each;
  }
  return out;
}

// The number of the element at a place, row by row; none: padding, or it is not known.
std::optional<std::int64_t> element_at(const PlacedBuffer& buffer, std::uint64_t place) {
  if (!buffer.is_numbered) return std::nullopt;
  if (buffer.elements.empty()) return static_cast<std::int64_t>(place);
  if (place >= buffer.elements.size() || buffer.elements[place] < 0) return std::nullopt;
  return buffer.elements[place];
}

}  // namespace

// --- engine rows ---------------------------------------------------------------------------------
//
// What the copy engine and the tensor core moved for a primitive, as rows of the answer `moves`.

namespace {

struct EngineRows {
  Json rows = Json::array();  // one for each side of each instruction
  Json fragments =
      Json::array();    // matrices in registers, by opcode, side and warp of the warpgroup
  bool is_cut = false;  // there were more pieces than an answer holds
};

constexpr std::size_t kMaxPieces = 1 << 16;  // of an answer
constexpr unsigned kGroupWarps = 4;

// The opcode of a line of PTX, behind its guard.
std::string opcode_in(std::string_view line) {
  if (line.starts_with('@'))
    line.remove_prefix(std::min(line.find_first_of(" \t") + 1, line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t;")));
}

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

// How often the same has been issued before; the lanes of one moment are one round.
std::uint64_t EngineRowWriter::round_of(std::uint32_t who, std::uint32_t op, std::uint64_t moment) {
  const auto [at, is_new] = rounds_.try_emplace({who, op}, Round{moment, 0});
  if (!is_new && at->second.moment != moment) at->second = {moment, at->second.number + 1};
  return at->second.number;
}

Json EngineRowWriter::row_of(std::uint64_t moment, std::uint32_t warp, std::uint64_t round) {
  const std::uint32_t op = history_.moments[moment].op;
  return {{"moment", moment},
          {"line", program_.infos[op].line},
          {"opcode", opcode_in(program_.line(program_.infos[op].line))},
          {"warp", warp},
          {"round", round},
          {"lane", nullptr},
          {"mbarrier", nullptr},
          {"is_k_major", true}};
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
  Json held = json_list(fragment.held, [&](const auto& elements) { return elements; });
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

// Of the ops that are wanted, in the order of execution. The capture has states.
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

constexpr std::size_t kMaxAccesses = 4096;

using Addresses = std::array<std::uint64_t, sim::kLanes>;  // by lane

// --- an instruction's accesses -------------------------------------------------------------------

/// A line of PTX: its opcode, and how many of its operands are addresses.
struct InstructionText {
  std::string opcode;
  unsigned addresses = 0;
};

InstructionText instruction_text(std::string_view line) {
  InstructionText out{opcode_in(line), static_cast<unsigned>(std::ranges::count(line, '['))};
  if (out.opcode.starts_with("st.async") || out.opcode.starts_with("red.async"))
    out.addresses = 1;  // the second one is of its mbarrier
  return out;
}

bool is_access(isa::FamilyId family, std::string_view opcode) {
  if (opcode.starts_with("ld.param")) return false;
  return family == isa::FamilyId::load_store_rows || family == isa::FamilyId::matrix_rows ||
         family == isa::FamilyId::atomic_rows ||
         (family == isa::FamilyId::cp_async_rows && opcode.find(".shared") != std::string::npos);
}

// Bytes of one lane.
unsigned access_bytes(const sim::Op& op, isa::FamilyId family, std::string_view opcode) {
  if (family == isa::FamilyId::matrix_rows) return 16;  // a row
  if (family == isa::FamilyId::cp_async_rows) return op.bytes;
  unsigned vector = 1, bytes = 4;
  for (const std::string_view word : ww::split(opcode, '.')) {
    if (word == "v2") vector = 2;
    if (word == "v4") vector = 4;
    if (word == "v8") vector = 8;
    if (const auto type = isa::parse_type(word))
      bytes = static_cast<unsigned>(std::max(isa::info(*type).bits / 8, 1));
  }
  return vector * bytes;
}

Addresses addresses_of(const sim::Program& program, const sim::Address& address,
                       std::span<const std::byte> registers, std::uint64_t rank) {
  Addresses out{};
  const std::size_t size = address.is_narrow ? 4 : 8;
  const std::byte* base = nullptr;
  const std::uint64_t start =
      address.origin == sim::AddressOrigin::Shared ? rank << sim::kRankShift : 0;
  if (address.base.present())
    base = (address.base.is_constant() ? program.constants.data() : registers.data()) +
           address.base.offset();
  for (unsigned lane = 0; lane < sim::kLanes; ++lane) {
    std::uint64_t value = 0;
    if (base != nullptr) std::memcpy(&value, base + lane * size, size);
    out[lane] = value + start + static_cast<std::uint64_t>(address.offset);
  }
  return out;
}

// The elements in bytes of a buffer, by their flat numbers.
Json elements_json(const PlacedBuffer& buffer, std::uint64_t address, unsigned bytes) {
  Json out = Json::array();
  const std::uint64_t first = (address - buffer.begin) * 8 / buffer.element_bits;
  const std::uint64_t count =
      std::max<std::uint64_t>(1, std::uint64_t{bytes} * 8 / buffer.element_bits);
  for (std::uint64_t i = first; i < first + count; ++i)
    if (const auto element = element_at(buffer, i)) out.push_back(*element);
  return out;
}

// --- the answer ----------------------------------------------------------------------------------

/// What the accesses of a moment are described with.
struct MoveContext {
  const sim::Program& program;
  const std::vector<PlacedBuffer>& buffers;
  std::uint32_t warps_per_cta = 1;
  std::span<const std::byte> registers = {};  // of the warp, at the moment
};

// Rows of a matrix access are in the first lanes.
sim::Mask lanes_with_address(const sim::Moment& moment, isa::FamilyId family,
                             std::string_view opcode) {
  if (family != isa::FamilyId::matrix_rows) return moment.lanes;
  const unsigned rows = opcode.find(".x4") != std::string::npos   ? 32
                        : opcode.find(".x2") != std::string::npos ? 16
                                                                  : 8;
  return rows == 32 ? moment.lanes : moment.lanes & ((sim::Mask{1} << rows) - 1);
}

void add_lanes(Json& out, const MoveContext& context, const Addresses& addresses, sim::Mask lanes,
               bool is_shared, unsigned bytes) {
  out["lanes"] = out["addresses"] = out["offsets"] = out["elements"] = Json::array();
  out["buffer"] = nullptr;
  sim::for_each_lane(lanes, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane];
    const PlacedBuffer* const buffer = find_buffer(context.buffers, is_shared, address);
    out["lanes"].push_back(lane);
    out["addresses"].push_back(address);
    if (buffer != nullptr) out["buffer"] = buffer->name;
    out["offsets"].push_back(buffer == nullptr ? Json(nullptr) : Json(address - buffer->begin));
    out["elements"].push_back(buffer == nullptr ? Json::array()
                                                : elements_json(*buffer, address, bytes));
  });
}

void add_wavefronts(Json& out, const Addresses& addresses, sim::Mask lanes, bool is_matrix,
                    unsigned bytes) {
  const sim::Wavefronts turns = is_matrix
                                    ? sim::row_wavefronts(addresses.data(), sim::count_lanes(lanes))
                                    : sim::shared_wavefronts(addresses.data(), lanes, bytes);
  out["wavefronts"] = turns.needed;
  out["ideal"] = turns.ideal;
}

// The rank of the CTA whose shared memory an address is in; null: it is another memory.
Json cta_of(std::uint64_t address, bool is_shared) {
  if (!is_shared) return nullptr;
  return (address >> sim::kRankShift) & 0xFFU;
}

// The accesses of one moment.
void add_moves(Json& out, const MoveContext& context, std::uint64_t number,
               const sim::Moment& moment, std::uint64_t round) {
  const sim::Op& op = context.program.ops[moment.op];
  const sim::OpInfo& info = context.program.infos[moment.op];
  const InstructionText text = instruction_text(context.program.line(info.line));
  if (moment.lanes == 0 || !is_access(info.family, text.opcode)) return;
  const unsigned bytes = access_bytes(op, info.family, text.opcode);
  const sim::Mask lanes = lanes_with_address(moment, info.family, text.opcode);
  for (unsigned i = 0; i < text.addresses; ++i) {
    const sim::Address& address = context.program.addresses[op.address + i];
    const Addresses all = addresses_of(context.program, address, context.registers,
                                       moment.warp / context.warps_per_cta);
    const driver::AddressPlace place = driver::place_of(all[sim::first_lane(moment.lanes)]);
    const bool is_shared = address.space == isa::Space::Shared || place.space == "shared";
    Addresses plain = all;
    if (is_shared)
      for (std::uint64_t& each : plain) each = sim::shared_offset(each);
    Json row = {{"moment", number},
                {"line", info.line},
                {"opcode", text.opcode},
                {"space", is_shared ? "shared" : std::string(place.space)},
                {"cta", cta_of(all[sim::first_lane(moment.lanes)], is_shared)},
                {"bytes", bytes},
                {"warp", moment.warp},
                {"round", round}};
    add_lanes(row, context, plain, lanes, is_shared, bytes);
    if (is_shared)
      add_wavefronts(row, plain, lanes, info.family == isa::FamilyId::matrix_rows, bytes);
    out.push_back(std::move(row));
  }
}

// Whether an op comes from that place of the source.
bool is_from(const sim::Program& program, std::uint32_t op, std::uint64_t line,
             std::uint64_t column) {
  const auto at = driver::source_of(program, op);
  return at && at->line == line && (column == 0 || at->column == column);
}

/// The ops of a primitive.
class WantedOps {
 public:
  WantedOps(const sim::Program& program, std::uint64_t line, std::uint64_t column)
      : program_(program), line_(line), column_(column) {}

  bool operator()(std::uint32_t op) {
    const auto [at, is_new] = known_.try_emplace(op, false);
    if (is_new) at->second = is_from(program_, op, line_, column_);
    return at->second;
  }

 private:
  const sim::Program& program_;
  std::uint64_t line_, column_;
  std::map<std::uint32_t, bool> known_;
};

Json lane_rows(const driver::RunCapture& capture, const std::vector<PlacedBuffer>& buffers,
               const std::function<bool(std::uint32_t)>& is_wanted) {
  const sim::History& history = *capture.run.recording->history;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> rounds;  // by warp and op
  sim::HistoryCursor cursor(history);
  Json out = Json::array();
  for (std::size_t i = 0; i < history.moments.size() && out.size() < kMaxAccesses; ++i) {
    const sim::Moment& moment = history.moments[i];
    if (!is_wanted(moment.op)) continue;
    cursor.seek(i);
    const MoveContext context{*capture.program, buffers, capture.run.recording->warps_per_cta,
                              cursor.bytes(sim::HistoryPart::Registers, moment.warp)};
    add_moves(out, context, i, moment, rounds[{moment.warp, moment.op}]++);
  }
  return out;
}

void add_rows(Json& out, const driver::Build& build, const driver::RunCapture& capture,
              std::uint64_t line, std::uint64_t column) {
  std::vector<PlacedBuffer> buffers = placed_buffers(build.tile(), capture);
  put_operands_first(build, line, column, buffers);
  WantedOps is_wanted(*capture.program, line, column);
  const auto wanted = [&](std::uint32_t op) { return is_wanted(op); };
  out["instructions"] = lane_rows(capture, buffers, wanted);
  EngineRows engine = engine_rows(capture, buffers, wanted);
  out["engine"] = std::move(engine.rows);
  out["fragments"] = std::move(engine.fragments);
  out["ctas"] = capture.run.recording->ctas.size();
  out["warps_per_cta"] = capture.run.recording->warps_per_cta;
  out["is_cut"] = out["instructions"].size() >= kMaxAccesses || engine.is_cut;
}

}  // namespace

Result<Json> call_moves(Session& session, const Json& request) {
  RunWish wish = WW_TRY(run_wish(request));
  const std::int64_t line = WW_TRY(number_field(request, "line", 0));
  const std::int64_t column = WW_TRY(number_field(request, "column", 0));
  if (line <= 0 || column < 0)
    return fail(DiagKind::BadArgument,
                "`line` is {} and `column` {}, expected the place of a primitive", line, column);
  wish.records = true;
  wish.on_gpu = false;
  wish.block = 0;
  wish.ends_early = true;
  wish.checks = "bounds";
  const std::atomic<bool>* const stop = detail::cancel_flag;
  const std::atomic<bool> never = false;
  RunProgress progress;
  const CapturedRun run =
      run_captured(wish, session.options.limits.seconds, stop != nullptr ? *stop : never, progress);
  Json out = driver::with_schema("explore-moves");
  out["errors"] = run.outcome.errors;
  out["instructions"] = out["engine"] = out["fragments"] = Json::array();
  out["ctas"] = out["warps_per_cta"] = 0;
  out["is_cut"] = false;
  const bool has_states = run.capture.run.recording && run.capture.run.recording->history;
  if (!has_states) return out;
  const driver::Build build = build_program(wish.program, driver::Phase::Lowered);
  add_rows(out, build, run.capture, static_cast<std::uint64_t>(line),
           static_cast<std::uint64_t>(column));
  return out;
}

Result<Json> call_cancel(Session& session, const Json& request) {
  const std::int64_t job = WW_TRY(number_field(request, "job", 0));
  return driver::with_schema("explore-cancel",
                             {{"cancelled", session.shop.cancel(static_cast<std::uint64_t>(job))}});
}

}  // namespace ww::explore
