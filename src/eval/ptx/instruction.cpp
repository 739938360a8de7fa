// SPDX-License-Identifier: Apache-2.0
#include "eval/ptx/instruction.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "eval/memory/order.h"
#include "eval/ptx/kind.h"

namespace ww::eval {
namespace {

using num::DType;

// By the beginning of the opcode, up to a dot or its end; the first row that fits counts.
struct OpcodeRow {
  std::string_view prefix;
  PtxKind kind;
};
// clang-format off
constexpr OpcodeRow kOpcodeRows[] = {
    {"fence",                             PtxKind::Fence},
    {"membar",                            PtxKind::Fence},
    {"tcgen05.fence::before_thread_sync", PtxKind::Nothing},
    {"tcgen05.fence::after_thread_sync",  PtxKind::Nothing},
    {"setmaxnreg",                        PtxKind::Nothing},
    {"griddepcontrol",                    PtxKind::Nothing},
    {"prefetch",                          PtxKind::Nothing},
    {"nanosleep",                         PtxKind::Nothing},
    {"bar.warp.sync",                     PtxKind::WarpSync},
    {"bar.sync",                          PtxKind::BarSync},
    {"bar.cta.sync",                      PtxKind::BarSync},
    {"barrier.sync",                      PtxKind::BarSync},
    {"barrier.cta.sync",                  PtxKind::BarSync},
    {"bar.arrive",                        PtxKind::BarArrive},
    {"bar.cta.arrive",                    PtxKind::BarArrive},
    {"barrier.arrive",                    PtxKind::BarArrive},
    {"barrier.cta.arrive",                PtxKind::BarArrive},
    {"cp.async.commit_group",             PtxKind::CommitGroup},
    {"cp.async.wait_group",               PtxKind::WaitGroup},
    {"cp.async.wait_all",                 PtxKind::WaitAll},
    {"cp.async.bulk.commit_group",        PtxKind::CommitBulk},
    {"cp.async.bulk.wait_group",          PtxKind::WaitBulk},
    {"cp.async.ca",                       PtxKind::CopyAsync},
    {"cp.async.cg",                       PtxKind::CopyAsync},
    {"mbarrier.init",                     PtxKind::MbarInit},
    {"mbarrier.inval",                    PtxKind::MbarInval},
    {"mbarrier.arrive.expect_tx",         PtxKind::Unknown},
    {"mbarrier.arrive",                   PtxKind::MbarArrive},
    {"mbarrier.try_wait.parity",          PtxKind::MbarTest},
    {"mbarrier.test_wait.parity",         PtxKind::MbarTest},
    {"elect.sync",                        PtxKind::Elect},
    {"ldmatrix.sync.aligned.m8n8",        PtxKind::LoadMatrix},
    {"stmatrix.sync.aligned.m8n8",        PtxKind::StoreMatrix},
    {"mma.sync.aligned.m16n8k16",         PtxKind::Mma},
    {"mma.sync.aligned.m16n8k8",          PtxKind::Mma},
    {"tcgen05.alloc.cta_group::1",        PtxKind::TmemAlloc},
    {"tcgen05.dealloc.cta_group::1",      PtxKind::TmemFree},
    {"tcgen05.relinquish_alloc_permit",   PtxKind::TmemRelinquish},
    {"tcgen05.ld.sync",                   PtxKind::TmemLoad},
    {"tcgen05.st.sync",                   PtxKind::TmemStore},
    {"tcgen05.wait::ld",                  PtxKind::TmemWaitLoad},
    {"tcgen05.wait::st",                  PtxKind::TmemWaitStore},
    {"tcgen05.cp.cta_group::1",           PtxKind::TensorCopy},
    {"tcgen05.commit.cta_group::1",       PtxKind::TensorCommit},
    {"ld.global",                         PtxKind::Load},
    {"ld.shared",                         PtxKind::Load},
    {"ld.shared::cta",                    PtxKind::Load},
    {"st.global",                         PtxKind::Store},
    {"st.shared",                         PtxKind::Store},
    {"st.shared::cta",                    PtxKind::Store},
    {"mov.b32",                           PtxKind::Move},
    {"mov.u32",                           PtxKind::Move},
    {"mov.s32",                           PtxKind::Move},
    {"mov.f32",                           PtxKind::Move},
    {"mov.b64",                           PtxKind::Move},
    {"mov.u64",                           PtxKind::Move},
    {"mov.f64",                           PtxKind::Move},
    {"add.u32",                           PtxKind::Add},
    {"add.s32",                           PtxKind::Add},
    {"add.u64",                           PtxKind::Add},
    {"add.s64",                           PtxKind::Add},
    {"add.f32",                           PtxKind::Add},
    {"add.rn.f32",                        PtxKind::Add},
};
// clang-format on

PtxKind kind_of(std::string_view opcode) {
  for (const auto& [prefix, kind] : kOpcodeRows)
    if (opcode.starts_with(prefix) &&
        (opcode.size() == prefix.size() || opcode[prefix.size()] == '.'))
      return kind;
  return PtxKind::Unknown;
}

/// The words between the dots: "ld", "global", "v4", "f32".
class OpcodeParts {
 public:
  explicit OpcodeParts(std::string_view opcode) {
    while (!opcode.empty()) {
      const std::size_t dot = std::min(opcode.find('.'), opcode.size());
      parts_.push_back(opcode.substr(0, dot));
      opcode.remove_prefix(std::min(dot + 1, opcode.size()));
    }
  }
  [[nodiscard]] bool has(std::string_view part) const {
    return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
  }
  /// 4 of "v4"; 1 when there is none.
  [[nodiscard]] std::size_t count(char letter) const {
    for (const std::string_view part : parts_) {
      if (part.size() < 2 || part[0] != letter || !is_digit(part[1])) continue;
      std::size_t count = 1;
      const char* end = part.data() + part.size();
      if (std::from_chars(part.data() + 1, end, count).ptr == end) return count;
    }
    return 1;
  }
  /// Width of the type at the end: 32 for "ld.global.v4.f32"; 0 when there is none.
  [[nodiscard]] int type_bits() const {
    const std::string_view last = parts_.empty() ? "" : parts_.back();
    const std::size_t digit = last.find_first_of("0123456789");
    int bits = 0;
    if (digit != std::string_view::npos)
      std::from_chars(last.data() + digit, last.data() + last.size(), bits);
    return bits;
  }

 private:
  std::vector<std::string_view> parts_;
};

DType sum_type(std::string_view opcode, int bits) {
  if (opcode.ends_with("f32")) return DType::Float32;
  if (opcode.ends_with("f64")) return DType::Float64;
  return bits == 64 ? DType::Uint64 : DType::Uint32;
}

TmemShape tmem_shape(const OpcodeParts& parts) {
  if (parts.has("16x64b")) return TmemShape::By16x64b;
  if (parts.has("16x128b")) return TmemShape::By16x128b;
  if (parts.has("16x256b")) return TmemShape::By16x256b;
  return parts.has("16x32bx2") ? TmemShape::By16x32bx2 : TmemShape::By32x32b;
}

TensorCopyShape tensor_copy_shape(const OpcodeParts& parts) {
  using Quarters = TensorQuarters;
  if (parts.has("4x256b")) return {4, 2, Quarters::FirstLanes};
  const Quarters quarters = parts.has("warpx4")          ? Quarters::All
                            : parts.has("warpx2::02_13") ? Quarters::Pairs02And13
                            : parts.has("warpx2::01_23") ? Quarters::Pairs01And23
                                                         : Quarters::One;
  const std::int64_t rows = parts.has("64x128b") ? 64 : parts.has("32x128b") ? 32 : 128;
  return {rows, parts.has("128x256b") ? 2 : 1, quarters};
}

// Forms that share the beginning of one we execute, but not its meaning.
bool is_other_form(const PtxInstruction& ptx, const OpcodeParts& parts) {
  const std::string_view opcode = ptx.call->opcode;
  switch (ptx.kind) {
    case PtxKind::LoadMatrix:
    case PtxKind::StoreMatrix:
      return ptx.bits != 16;
    case PtxKind::Mma:
      return !opcode.ends_with(".row.col.f32.f16.f16.f32") &&
             !opcode.ends_with(".row.col.f32.bf16.bf16.f32");
    case PtxKind::Load:
    case PtxKind::Store:
      return ptx.bits < 8 || ptx.bits > 64;
    case PtxKind::TensorCopy:
      return parts.has("b8x16");
    case PtxKind::TensorCommit:
      return parts.has("multicast::cluster");
    case PtxKind::MbarArrive:
      return parts.has("shared::cluster") || parts.has("noComplete");
    case PtxKind::CopyAsync:
      return parts.has("L2::cache_hint");
    case PtxKind::BarSync:
    case PtxKind::BarArrive:
      return parts.has("red");
    default:
      return false;
  }
}

}  // namespace

PtxInstruction decode(const ir::PtxCall& call) {
  const OpcodeParts parts(call.opcode);
  PtxInstruction out{.call = &call, .kind = kind_of(call.opcode)};
  const bool is_matrix = out.kind == PtxKind::LoadMatrix || out.kind == PtxKind::StoreMatrix;
  out.is_tensor = call.opcode.starts_with("tcgen05.");
  out.bits = parts.type_bits();
  out.type = out.kind != PtxKind::Mma ? sum_type(call.opcode, out.bits)
             : parts.has("bf16")      ? DType::Bfloat16
                                      : DType::Float16;
  out.count = parts.count(is_matrix ? 'x' : 'v');
  out.depth = parts.has("m16n8k16") ? 16 : 8;
  out.is_transposed = parts.has("trans");
  out.is_packed = parts.has(out.kind == PtxKind::TmemLoad ? "pack::16b" : "unpack::16b");
  out.tmem_shape = tmem_shape(parts);
  out.tensor_copy = tensor_copy_shape(parts);
  if (is_other_form(out, parts)) out.kind = PtxKind::Unknown;
  return out;
}

bool is_warp_collective(PtxKind kind) {
  switch (kind) {
    case PtxKind::Unknown:
      return false;
#define WW_EVAL_PTX(id, together, handler) \
  case PtxKind::id:                        \
    return AgentKind::together == AgentKind::Warp;
#include "eval/ptx/kinds.def"
#undef WW_EVAL_PTX
  }
  return false;
}

}  // namespace ww::eval
