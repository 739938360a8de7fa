// SPDX-License-Identifier: Apache-2.0
// What the instructions of a primitive move: which lane of which warp touches which bytes, in which
// round. Nothing is worked out from the plan: the kernel runs on the virtual GPU, and the addresses come
// from its registers at the moment when each instruction was executed. engine_rows.h has what the copy
// engine and the tensor core move by maps and descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "base/split.h"
#include "driver/sim/report.h"
#include "explore/calls.h"
#include "explore/engine_rows.h"
#include "explore/placed_buffers.h"
#include "explore/run_call.h"
#include "isa/type.h"
#include "sim/memory/memory.h"
#include "sim/run/counters.h"

namespace ww::explore {
namespace {

constexpr std::size_t kMaxAccesses = 4096;

using Addresses = std::array<std::uint64_t, sim::kLanes>;  // by lane

// --- an instruction's accesses -------------------------------------------------------------------

/// A line of PTX: its opcode, and how many of its operands are addresses.
struct InstructionText {
  std::string opcode;
  unsigned addresses = 0;
};

InstructionText instruction_text(std::string_view line) {
  if (line.starts_with('@'))
    line.remove_prefix(std::min(line.find_first_of(" \t") + 1, line.size()));
  InstructionText out;
  out.opcode = line.substr(0, line.find_first_of(" \t;"));
  out.addresses = static_cast<unsigned>(std::ranges::count(line, '['));
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
