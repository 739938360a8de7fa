// SPDX-License-Identifier: Apache-2.0
// PTX instructions as far as programs write them beside tile primitives. Their operands are a flat
// list in the order of the PTX text; which of them are destinations follows from the opcode.
#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::PtxCall;
using ir::PtxOperand;

constexpr int kRegister = 32;

num::DType register_type(std::string_view opcode) {
  if (opcode.ends_with("f32")) return num::DType::Float32;
  if (opcode.ends_with("f64")) return num::DType::Float64;
  return type_bits(opcode) == 64 ? num::DType::Uint64 : num::DType::Uint32;
}

}  // namespace

bool Cta::ptx(const ir::Stmt& stmt, Threads ts) {
  const PtxCall& call = (*f_)[stmt.ptx];
  const PtxKind kind = ptx_kind(call.opcode);
  std::vector<Thread> active(ts.begin(), ts.end());
  if (call.predicate.valid()) {
    const Words holds = eval(call.predicate, ts);
    active.clear();
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (holds[i] != 0) active.push_back(ts[i]);
  }
  if (active.size() == ts.size()) return run_ptx(kind, call, ts);
  // Those that skip it go on; those that wait at it follow.
  go_on(ts);
  if (active.empty()) return true;
  for (const Thread t : active) pcs_[t] = op_;
  return run_ptx(kind, call, active) && active.size() == ts.size();
}

// True when the threads go on at once.
bool Cta::run_ptx(PtxKind kind, const PtxCall& call, Threads ts) {
  switch (kind) {
    case PtxKind::Unknown:
    case PtxKind::Nothing:
      break;
    case PtxKind::BarSync:
    case PtxKind::BarArrive:
    case PtxKind::WarpSync:
      return ptx_barrier(kind, call, ts);
    case PtxKind::CopyAsync:
      ptx_copy_async(call, ts);
      break;
    case PtxKind::CommitGroup:
      commit(AsyncKind::Group, ts);
      break;
    case PtxKind::CommitBulk:
      commit(AsyncKind::Bulk, ts);
      break;
    case PtxKind::WaitAll:
      wait_group(AsyncKind::Group, 0, true, ts);
      break;
    case PtxKind::WaitGroup:
    case PtxKind::WaitBulk:
      wait_group(kind == PtxKind::WaitGroup ? AsyncKind::Group : AsyncKind::Bulk,
                 ptx_int(call.operands[0], ts)[0], false, ts);
      break;
    case PtxKind::MbarInit:
    case PtxKind::MbarInval:
    case PtxKind::MbarArrive:
    case PtxKind::MbarTest:
      ptx_mbarrier(kind, call, ts);
      break;
    case PtxKind::Elect:
      ptx_elect(call, ts);
      break;
    case PtxKind::LoadMatrix:
      ptx_load_matrix(call, ts);
      break;
    case PtxKind::StoreMatrix:
      ptx_store_matrix(call, ts);
      break;
    case PtxKind::Mma:
      ptx_mma(call, ts);
      break;
    case PtxKind::TmemAlloc:
      ptx_tmem_alloc(call, ts);
      break;
    case PtxKind::TmemFree:
      ptx_tmem_free(call, ts);
      break;
    case PtxKind::TmemRelinquish:
      tmem_relinquished_ = true;
      break;
    case PtxKind::TmemLoad:
      ptx_tmem_move(call, ts, true);
      break;
    case PtxKind::TmemStore:
      ptx_tmem_move(call, ts, false);
      break;
    case PtxKind::TmemWaitLoad:
      wait_tmem(AsyncKind::TmemLoad, ts);
      break;
    case PtxKind::TmemWaitStore:
      wait_tmem(AsyncKind::TmemStore, ts);
      break;
    case PtxKind::TensorCopy:
      ptx_tensor_copy(call, ts);
      break;
    case PtxKind::TensorCommit:
      ptx_tensor_commit(call, ts);
      break;
    case PtxKind::Load:
      ptx_load(call, ts);
      break;
    case PtxKind::Store:
      ptx_store(call, ts);
      break;
    case PtxKind::Move:
      ptx_move(call, ts, false);
      break;
    case PtxKind::Add:
      ptx_move(call, ts, true);
      break;
  }
  go_on(ts);
  return true;
}

// --- operands ----------------------------------------------------------------------------------

Words Cta::ptx_value(const PtxOperand& operand, Threads ts, int bits, Words* undefined) {
  if (operand.kind == PtxOperand::Kind::At) {
    const Words pointers = eval(operand.expr, ts);
    Words out(run_.pool, ts.size());
    if (undefined != nullptr) *undefined = constant(0, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const Element element = element_at(place_at(pointers[i]), ts[i]);
      const Access by = access_of(thread_agent(ts[i]));
      out[i] = undefined != nullptr ? read(element, bits, by, (*undefined)[i])
                                    : read_defined(element, bits, by);
    }
    return out;
  }
  if (undefined == nullptr) return eval(operand.expr, ts);
  Words out = eval_copied(operand.expr, ts, *undefined);
  if (undefined->size() != out.size()) *undefined = constant(0, out.size());
  return out;
}

Words Cta::ptx_int(const PtxOperand& operand, Threads ts) {
  Words out = eval(operand.expr, ts);
  const num::DType type = type_of(operand.expr);
  for (Word& word : out) word = static_cast<Word>(as_int(type, word));
  return out;
}

std::vector<Place> Cta::ptx_address(const PtxOperand& operand, Threads ts) {
  const Words bases = eval(operand.expr, ts);
  const ir::Type type = (*f_)[operand.expr].type;
  std::vector<Place> out(ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) out[i] = address_place(type, bases[i]);
  if (!operand.offset.valid()) return out;
  const Words offsets = eval(operand.offset, ts);
  for (std::size_t i = 0; i < ts.size(); ++i)
    out[i].bit += as_int(type_of(operand.offset), offsets[i]) * 8;
  return out;
}

// Writes a destination: a register behind a pointer, or an element.
void Cta::ptx_put(const PtxOperand& operand, Threads ts, int bits, const Words& values,
                  const Words* undefined) {
  if (operand.kind == PtxOperand::Kind::Sink) return;
  const auto undefined_at = [&](std::size_t i) {
    return undefined != nullptr ? (*undefined)[i] : Word{0};
  };
  const ir::Expr& expr = (*f_)[operand.expr];
  if (operand.kind != PtxOperand::Kind::At && expr.op == ir::ExprOp::Load) {
    const BufferInfo& info = k_.info(expr.buffer);
    const std::vector<Element> elements = locate(info, expr.args, 1, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (elements[i].place.root != kNoRoot)
        write(elements[i], info.bits, values[i] & low_mask(info.bits),
              undefined_at(i) & low_mask(info.bits), access_of(thread_agent(ts[i])));
    return;
  }
  const Words pointers = eval(operand.expr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i)
    write(element_at(place_at(pointers[i]), ts[i]), bits, values[i], undefined_at(i),
          access_of(thread_agent(ts[i])));
}

// --- instructions of single threads ------------------------------------------------------------

void Cta::ptx_load(const PtxCall& call, Threads ts) {
  const int bits = type_bits(call.opcode);
  const auto count = static_cast<std::size_t>(count_of(call.opcode, 'v'));
  const std::vector<Place> places = ptx_address(call.operands[count], ts);
  for (std::size_t r = 0; r < count; ++r) {
    Words values(run_.pool, ts.size());
    Words undefined(run_.pool, ts.size());
    for (std::size_t i = 0; i < ts.size(); ++i) {
      Element element = element_at(places[i], ts[i]);
      element.place.bit += static_cast<std::int64_t>(r) * bits;
      values[i] = read(element, bits, access_of(thread_agent(ts[i])), undefined[i]);
    }
    ptx_put(call.operands[r], ts, bits, values, &undefined);
  }
}

void Cta::ptx_store(const PtxCall& call, Threads ts) {
  const int bits = type_bits(call.opcode);
  const auto count = static_cast<std::size_t>(count_of(call.opcode, 'v'));
  const std::vector<Place> places = ptx_address(call.operands[0], ts);
  for (std::size_t r = 0; r < count; ++r) {
    Words undefined = constant(0, 0);
    const Words values = ptx_value(call.operands[r + 1], ts, bits, &undefined);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      Element element = element_at(places[i], ts[i]);
      element.place.bit += static_cast<std::int64_t>(r) * bits;
      write(element, bits, values[i] & low_mask(bits), undefined[i] & low_mask(bits),
            access_of(thread_agent(ts[i])));
    }
  }
}

void Cta::ptx_move(const PtxCall& call, Threads ts, bool adds) {
  const int bits = type_bits(call.opcode);
  Words undefined = constant(0, 0);
  Words values = ptx_value(call.operands[1], ts, bits, adds ? nullptr : &undefined);
  if (adds) {
    const Words more = ptx_value(call.operands[2], ts, bits, nullptr);
    binary(ir::ExprOp::Add, register_type(call.opcode), values, more, values);
  }
  ptx_put(call.operands[0], ts, bits, values, adds ? nullptr : &undefined);
}

void Cta::ptx_copy_async(const PtxCall& call, Threads ts) {
  const std::vector<Place> to = ptx_address(call.operands[0], ts);
  const std::vector<Place> from = ptx_address(call.operands[1], ts);
  const Words sizes = ptx_int(call.operands[2], ts);
  const bool has_limit = call.operands.size() > 3;
  const Words limits = has_limit ? ptx_int(call.operands[3], ts) : constant(0, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const std::span<const Thread> self = ts.subspan(i, 1);
    const auto limit = static_cast<std::int64_t>(has_limit ? limits[i] : sizes[i]);
    const int bits = limit % 4 == 0 ? 32 : 8;  // sizes are 4, 8 and 16 bytes, the limit is any
    Copy copy{.kind = AsyncKind::Group, .agent = thread_agent(ts[i])};
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(sizes[i]); at += bits / 8) {
      Element source = element_at(from[i], ts[i]);
      Element target = element_at(to[i], ts[i]);
      source.place.bit += at * 8;
      target.place.bit += at * 8;
      if (!is_reachable(target, bits)) continue;
      Transfer transfer{target, bits, 0, 0};
      if (at < limit) {  // the rest is filled with zeros
        transfer.value = read(source, bits, access_of(thread_agent(ts[i])), transfer.undefined);
        if (is_reachable(source, bits)) copy.sources.emplace_back(source, bits);
      }
      copy.transfers.push_back(transfer);
    }
    start_copy(std::move(copy), self);
  }
}

void Cta::ptx_mbarrier(PtxKind kind, const PtxCall& call, Threads ts) {
  // arrive has its state first, unless that is left out; the wait its predicate.
  std::size_t at = 0;
  while (at < call.operands.size() && call.operands[at].kind != PtxOperand::Kind::Address) ++at;
  if (at == call.operands.size())
    return stop(DiagKind::NotEvaluated, fmt::format("`{}` without an address", call.opcode));
  const std::vector<Place> places = ptx_address(call.operands[at], ts);
  const bool has_value = at + 1 < call.operands.size();
  const Words values = has_value ? ptx_int(call.operands[at + 1], ts) : constant(1, ts.size());
  Words results = constant(0, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const auto value = static_cast<std::uint32_t>(values[i]);
    if (kind == PtxKind::MbarInit) init_mbarrier(places[i], value, ts[i]);
    if (kind == PtxKind::MbarInval) mbarriers_.erase({places[i].root, places[i].bit});
    if (kind == PtxKind::MbarArrive) arrive_mbarrier(places[i], value, ts[i]);
    if (kind == PtxKind::MbarTest) results[i] = test_mbarrier(places[i], value, ts[i]) ? 1 : 0;
  }
  const bool has_result = at > 0 && (kind == PtxKind::MbarArrive || kind == PtxKind::MbarTest);
  if (has_result) ptx_put(call.operands[0], ts, kRegister, results, nullptr);
}

void Cta::ptx_elect(const PtxCall& call, Threads ts) {
  // leader|predicate, mask
  const Words chosen = elect(ts);
  Words leaders(run_.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i)
    leaders[i] = chosen[i] != 0 || i == 0 ? ts[i] % 32U : leaders[i - 1];
  if (call.operands.size() == 3) ptx_put(call.operands[0], ts, kRegister, leaders, nullptr);
  ptx_put(call.operands[call.operands.size() - 2], ts, kRegister, chosen, nullptr);
}

bool Cta::ptx_barrier(PtxKind kind, const PtxCall& call, Threads ts) {
  const Words first = ptx_int(call.operands[0], ts);
  const Words counts =
      call.operands.size() > 1 ? ptx_int(call.operands[1], ts) : constant(0, ts.size());
  for (std::size_t i = 0; i < ts.size();) {
    std::size_t j = i;
    while (j < ts.size() && first[j] == first[i] && ts[j] / 32 == ts[i] / 32) ++j;
    const Threads lanes = ts.subspan(i, j - i);
    if (kind == PtxKind::WarpSync) {
      const auto warp = static_cast<std::uint32_t>(ts[i] / 32);
      std::size_t wanted = 0;
      for (std::size_t t = warp * 32; t < std::min<std::size_t>(warp * 32 + 32, thread_count());
           ++t)
        if ((first[i] >> (t % 32) & 1) != 0 && status_[t] != Status::Exited) ++wanted;
      arrive({BarrierKey::Kind::Warp, static_cast<std::uint32_t>(first[i]), warp}, wanted, lanes,
             true);
    } else {
      arrive_named(static_cast<std::uint32_t>(first[i]), counts[i], lanes,
                   kind == PtxKind::BarSync);
    }
    i = j;
  }
  return kind == PtxKind::BarArrive;
}

}  // namespace ww::eval
