// SPDX-License-Identifier: Apache-2.0
// gemm_async / wgmma: C (+)= A·Bᵀ by the four warps of each warpgroup, asynchronously. C is in
// registers, B in shared memory, A in either.
//
// A factor in shared memory is named by a 64-bit descriptor, made once and moved by constants from
// instruction to instruction: any swizzle that
// `mma_shared_layout` makes, slices of it, stages chosen at run time; 16-bit types lie along K or
// along M and N. C is as wgmma deals it (`wgmma_tile_layout`): 64 rows of a warpgroup and up to 256
// columns are an instruction, larger tiles several, the steps along K outermost.
//
// The first step along K has `accum` as its scale-d, so that C need not be zeroed. The caller puts
// `T.ptx.wgmma.fence()` before, `T.ptx.wgmma.commit_group()` behind, and waits
// (`T.ptx.wgmma.wait_group`) before C is used and A and B are written again. PTX manual,
// "wgmma.mma_async".
//
//     Tx.wg.gemm_async(acc, A_s[stage, :, :], B_s[stage, :, :], accum=k > 0)    64 x 256 x 64, f16
//
//     a_lo = (T.cuda.cvta_generic_to_shared(A_s + stage * 4096) >> 4 & 0x3FFF) | 1 << 16
//     wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {acc…}, a_lo | 64 << 32 | 1 << 62, …, k > 0, 1, 1, 0, 0
//     …                                                    three more, each 32 bytes on
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/join.h"
#include "ir/gemm_factors.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/gemm/problem.h"
#include "lower/operand_places.h"
#include "lower/variant.h"

namespace ww::lower::gemm_async_wgmma {
namespace {

// --- the call ------------------------------------------------------------------------------------

// A gemm_async call read into sizes, types and the places of its operands; and which wgmma its types
// have.

using num::DType;

constexpr std::size_t kScaleArguments[] = {3, 4};
constexpr std::string_view kAsyncRoles[] = {"C", "A", "B"};

// --- types ---------------------------------------------------------------------------------------

std::string_view wgmma_word(DType type) {
  switch (type) {
    case DType::Float16:
      return "f16";
    case DType::Bfloat16:
      return "bf16";
    case DType::Float32:
      return "f32";
    case DType::Tfloat32:
      return "tf32";
    case DType::Float8E4M3fn:
      return "e4m3";
    case DType::Float8E5M2:
      return "e5m2";
    case DType::Int8:
      return "s8";
    case DType::Uint8:
      return "u8";
    case DType::Int32:
      return "s32";
    default:
      return "";
  }
}

/// What an instruction is for a pair of factors.
struct WgmmaTypes {
  std::string_view a, b, d;  // words of the opcode
  std::int64_t depth = 16;   // K of an instruction: 32 bytes
  bool is_integer = false;   // no signs of the factors, fewer N
  bool may_turn = false;     // factors may lie along M and N

  /// N that an instruction can have.
  [[nodiscard]] bool has_columns(std::int64_t n) const {
    if (n < 8 || n > 256 || n % 8 != 0) return false;
    return !is_integer || n <= 32 || n % 16 == 0;
  }
  [[nodiscard]] std::string columns_text() const {
    return is_integer ? "8, 16, 24, 32 and multiples of 16 up to 256" : "multiples of 8 up to 256";
  }
  [[nodiscard]] std::string opcode(std::int64_t n) const {
    return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", n, depth, d, a, b);
  }
};

/// Factors that go with each other, and their results.
struct WgmmaTypeRow {
  std::string_view factors, results;
  std::int64_t depth;
  bool is_integer, may_turn;
};
constexpr WgmmaTypeRow kWgmmaTypes[] = {{" f16 ", " f32 f16 ", 16, false, true},
                                        {" bf16 ", " f32 ", 16, false, true},
                                        {" tf32 ", " f32 ", 8, false, false},
                                        {" e4m3 e5m2 ", " f32 f16 ", 32, false, false},
                                        {" s8 u8 ", " s32 ", 32, true, false}};

bool lists_word(std::string_view list, std::string_view word) {
  return !word.empty() && list.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

Match<WgmmaTypes> wgmma_types_of(const Call& call) {
  const DType a = call.buffer(1).dtype, b = call.buffer(2).dtype, d = call.buffer(0).dtype;
  WgmmaTypes out{.a = wgmma_word(a), .b = wgmma_word(b), .d = wgmma_word(d)};
  const bool is_cut = ir::is_true(call.setting("is_AB_tf32"));
  for (std::string_view* factor : {&out.a, &out.b})
    if (is_cut && *factor == "f32") *factor = "tf32";
  for (const WgmmaTypeRow& row : kWgmmaTypes) {
    if (!lists_word(row.factors, out.a) || !lists_word(row.factors, out.b) ||
        !lists_word(row.results, out.d))
      continue;
    out.depth = row.depth;
    out.is_integer = row.is_integer;
    out.may_turn = row.may_turn;
    return out;
  }
  const bool is_single = a == DType::Float32 && b == DType::Float32 && d == DType::Float32;
  return decline("dtype", "wgmma has no {} times {} into {}{}", num::name_of(a), num::name_of(b),
                 num::name_of(d),
                 is_single ? "; `is_AB_tf32=True` cuts the factors to 10 bits of fraction" : "");
}

// --- the call ------------------------------------------------------------------------------------

/// C[M,N] (+)= A[M,K]·B[N,K]ᵀ, both factors as they are stored where `turns_…` is not set.
struct AsyncProduct {
  std::int64_t m = 0, n = 0, k = 0;
  bool turns_a = false, turns_b = false;
  bool is_a_in_registers = false;
  WgmmaTypes types;
  OperandPlaces d, a, b;
  std::optional<bool> accumulates;  // none: `when` says so at run time
  ir::ExprId when = {};

  /// Elements by their coordinates.
  [[nodiscard]] std::size_t d_at(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>(row * n + col);
  }
  [[nodiscard]] std::size_t a_at(std::int64_t row, std::int64_t depth) const {
    return static_cast<std::size_t>(turns_a ? depth * m + row : row * k + depth);
  }
  [[nodiscard]] std::size_t b_at(std::int64_t col, std::int64_t depth) const {
    return static_cast<std::size_t>(turns_b ? depth * n + col : col * k + depth);
  }
};

Match<void> check_warpgroups(const Call& call) {
  const ir::Unit scope = call.tile.scope;
  if (scope != ir::Unit::Warpgroup && scope != ir::Unit::Cta)
    return decline("scope", "{} scope, expected warpgroup or cta: 128 threads make an instruction",
                   ir::name_of(scope));
  if (call.context.launch.threads() % 128 != 0)
    return decline("threads", "{} threads are not whole warpgroups", call.context.launch.threads());
  if (!call.active.together(ir::Unit::Warpgroup))
    return decline("threads", "not whole warpgroups arrive: {}",
                   ir::to_text(call.active, call.context.launch));
  return {};
}

Match<void> check_product_memories(const Call& call) {
  if (call.memory(0) == ir::Scope::Tmem)
    return decline("memory", "C is in tensor memory, for `tcgen05.mma`, which is not lowered");
  if (call.memory(0) != ir::Scope::Local)
    return decline("memory", "C is in {} memory, expected registers (local)",
                   ir::name_of(call.memory(0)));
  if (call.memory(1) != ir::Scope::Local && !ir::is_shared(call.memory(1)))
    return decline("memory", "A is in {} memory, expected shared memory or registers (local)",
                   ir::name_of(call.memory(1)));
  if (!ir::is_shared(call.memory(2)))
    return decline("memory", "B is in {} memory, expected shared memory",
                   ir::name_of(call.memory(2)));
  for (const std::size_t i : kScaleArguments)
    if (std::holds_alternative<ir::Region>(call.tile.args[i]))
      return decline("operands", "scales of blocks, which wgmma does not have");
  return {};
}

Match<void> check_product_config(const Call& call) {
  for (const auto& [name, value] : call.tile.config) {
    if (name == "is_AB_tf32") continue;
    if (name == "cta_group" && value == ir::Setting(std::int64_t{1})) continue;
    return decline("config", "`{}=` is of `tcgen05.mma`, expected none", name);
  }
  return {};
}

void read_accum(const Call& call, AsyncProduct& out) {
  const ir::TileArg& arg = call.tile.args[ir::kAsyncAccum];
  const auto* expr = std::get_if<ir::ExprId>(&arg);
  if (expr == nullptr) {
    out.accumulates = ir::is_true(arg);
    return;
  }
  if (const auto known = ir::const_int(call.f(), *expr))
    out.accumulates = *known != 0;
  else
    out.when = *expr;
}

// Declines scopes without whole warpgroups (`scope`, `threads`), operands in other memory
// (`memory`), types that no wgmma has (`dtype`), K of no whole instructions (`shape`), and settings
// of tensor memory (`config`).
Match<AsyncProduct> async_product(const Call& call) {
  WW_TRY_VOID(check_product_memories(call));
  WW_TRY_VOID(check_target(call, "wgmma", target::Feature::Wgmma));
  WW_TRY_VOID(check_warpgroups(call));
  WW_TRY_VOID(check_product_config(call));
  AsyncProduct out;
  out.types = WW_TRY(wgmma_types_of(call));
  const auto d = WW_TRY(matrix_extents(call, 0, kAsyncRoles[0]));
  const auto a = WW_TRY(matrix_extents(call, 1, kAsyncRoles[1]));
  WW_TRY_VOID(matrix_extents(call, 2, kAsyncRoles[2]));
  out.turns_a = ir::is_true(call.tile.args[ir::kAsyncTransA]);
  out.turns_b = ir::is_true(call.tile.args[ir::kAsyncTransB]);
  out.m = d.first;
  out.n = d.second;
  out.k = out.turns_a ? a.first : a.second;
  if (out.k % out.types.depth != 0)
    return decline("shape", "K is {}, expected a multiple of {}: wgmma takes 32 bytes of {} each",
                   out.k, out.types.depth, num::name_of(call.buffer(1).dtype));
  out.is_a_in_registers = call.memory(1) == ir::Scope::Local;
  read_accum(call, out);
  out.d = WW_TRY(operand_places(call, 0));
  out.a = WW_TRY(operand_places(call, 1));
  out.b = WW_TRY(operand_places(call, 2));
  return out;
}

// --- registers -----------------------------------------------------------------------------------

// The registers of a warpgroup as wgmma deals them. With thread 32w + 4g + t of the warpgroup, e
// elements to a register:
//
//     D, 32 bits   register r          row 16w + g + 8·(r / 2 % 2)   column 8·(r / 4) + 2t + r % 2
//     D, 16 bits   register r, half h  row 16w + g + 8·(r % 2)       column 8·(r / 2) + 2t + h
//     A            register r, part j  row 16w + g + 8·(r % 2)       k = 4e·(r / 2) + e·t + j
//
// Registers need not follow each other: an instruction names each. All threads of all warpgroups must
// have the same element of their part in one register.

/// Eight columns of 64 rows: by half of the rows and by column of a pair, the slot in each thread.
struct ResultBlock {
  std::int64_t slots[2][2] = {};
};

/// The part of D that each warpgroup of the unit has: `rows` times `columns` blocks. Warpgroup w has
/// the rows and columns of the first one moved by w times a distance.
struct ResultParts {
  std::vector<std::int64_t> rows;     // first row of each atom of 64, in warpgroup 0
  std::vector<std::int64_t> columns;  // first column of each block of 8, in warpgroup 0
  std::int64_t row_step = 0, column_step = 0;
  std::int64_t warpgroups = 1;
  std::vector<ResultBlock> blocks;  // by row and column

  [[nodiscard]] const ResultBlock& at(std::size_t row, std::size_t column) const {
    return blocks[row * columns.size() + column];
  }
};

constexpr std::int64_t kGroupThreads = 128, kResultRows = 64, kResultColumns = 8;

/// What a thread of the warpgroup has of a register: row and column, or k, from the atom's first on.
std::int64_t row_in_atom(std::int64_t thread) { return thread / 32 * 16 + thread % 32 / 4; }
std::int64_t quad_of(std::int64_t thread) { return thread % 4; }

/// Rows and columns that the first thread of a warpgroup has; registers follow from them.
struct FirstThread {
  std::set<std::int64_t> rows, columns;
  std::int64_t count = 0;
};

std::vector<FirstThread> first_threads(const AsyncProduct& p, std::int64_t warpgroups) {
  std::vector<FirstThread> out(as_index(warpgroups));
  for_each_holder(p.d, warpgroups * kGroupThreads,
                  [&](std::size_t x, std::int64_t u, std::int64_t) {
                    if (u % kGroupThreads != 0) return;
                    FirstThread& first = out[as_index(u / kGroupThreads)];
                    first.rows.insert(static_cast<std::int64_t>(x) / p.n);
                    first.columns.insert(static_cast<std::int64_t>(x) % p.n);
                    ++first.count;
                  });
  return out;
}

// Starts of atoms from the rows r and r + 8, or of blocks from the columns c and c + 1, that the first
// thread has; nothing: they are others.
std::vector<std::int64_t> part_starts(const std::set<std::int64_t>& seen, std::int64_t apart) {
  std::set<std::int64_t> left = seen;
  std::vector<std::int64_t> out;
  while (!left.empty()) {
    const std::int64_t start = *left.begin();
    if (left.erase(start + apart) == 0) return {};
    left.erase(start);
    out.push_back(start);
  }
  return out;
}

Match<void> check_result(const AsyncProduct& p, std::int64_t warpgroups) {
  if (p.m % kResultRows != 0)
    return decline("shape", "C has {} rows, expected a multiple of 64 for each warpgroup", p.m);
  if (p.n % kResultColumns != 0)
    return decline("shape", "C has {} columns, expected a multiple of 8", p.n);
  if (p.m * p.n % (warpgroups * kResultRows * kResultColumns) != 0)
    return decline("shape", "C of {} x {} over {} warpgroups, expected a multiple of 64 x 8 each",
                   p.m, p.n, warpgroups);
  return {};
}

Unexpected<Decline> result_elsewhere(const AsyncProduct& p, std::int64_t row, std::int64_t column,
                                     std::int64_t u) {
  const std::size_t x = p.d_at(row, column);
  return decline("fragment",
                 "element ({}, {}) of C is in thread {} of the unit, where wgmma has it in thread "
                 "{}; `wgmma_tile_layout` is what it wants",
                 row, column, p.d.owner[x], u);
}

// The slot in which each thread has its element of a pair of coordinates, one for all.
class ResultSlots {
 public:
  ResultSlots(const AsyncProduct& p, const ResultParts& parts) : p_(p), parts_(parts) {}

  Match<std::int64_t> slot(std::int64_t row, std::int64_t column, int half, int odd) const {
    std::optional<std::int64_t> out;
    for (std::int64_t u = 0; u < parts_.warpgroups * kGroupThreads; ++u) {
      const std::int64_t group = u / kGroupThreads, thread = u % kGroupThreads;
      const std::int64_t at_row =
          row + group * parts_.row_step + row_in_atom(thread) + std::int64_t{8} * half;
      const std::int64_t at_column =
          column + group * parts_.column_step + 2 * quad_of(thread) + odd;
      if (at_row >= p_.m || at_column >= p_.n)
        return decline("fragment", "warpgroup {} would have row {} and column {} of C of {} x {}",
                       group, at_row, at_column, p_.m, p_.n);
      const auto found = slot_of(p_.d, p_.d_at(at_row, at_column), u);
      if (!found) return result_elsewhere(p_, at_row, at_column, u);
      if (out && *out != *found)
        return decline("fragment",
                       "element ({}, {}) of C is in register {} of thread {} of the unit, that of "
                       "thread 0 in register {}",
                       at_row, at_column, *found, u, *out);
      out = found;
    }
    return *out;
  }

 private:
  const AsyncProduct& p_;
  const ResultParts& parts_;
};

// Halves of a pair of columns share a register.
Match<void> check_result_pairs(const AsyncProduct& p, const ResultBlock& block) {
  if (p.d.bits == 32) return {};
  for (const auto& row : block.slots)
    if (row[0] % 2 != 0 || row[1] != row[0] + 1)
      return decline("registers",
                     "neighbouring columns of C are elements {} and {} of a thread, expected both "
                     "halves of a 32-bit register",
                     row[0], row[1]);
  return {};
}

// The distance from warpgroup to warpgroup, the same for all.
Match<std::int64_t> result_step(const std::vector<FirstThread>& groups, bool is_rows) {
  const auto& first = is_rows ? groups[0].rows : groups[0].columns;
  std::int64_t step = 0;
  for (std::size_t w = 1; w < groups.size(); ++w) {
    const auto& here = is_rows ? groups[w].rows : groups[w].columns;
    if (w == 1) step = *here.begin() - *first.begin();
    std::set<std::int64_t> moved;
    for (const std::int64_t each : first) moved.insert(each + static_cast<std::int64_t>(w) * step);
    if (moved != here)
      return decline("warps",
                     "warpgroup {} has other {} of C than warpgroup 0 moved by {} times {}", w,
                     is_rows ? "rows" : "columns", w, step);
  }
  return step;
}

// Declines rows that are no atoms of 64 for each warpgroup and columns that are no blocks of 8
// (`shape`), and elements that are elsewhere (`fragment`).
Match<ResultParts> result_parts(const Call& call, const AsyncProduct& p) {
  ResultParts out;
  out.warpgroups = call.unit_threads() / kGroupThreads;
  WW_TRY_VOID(check_result(p, out.warpgroups));
  if (p.d.replicas.size() > 1 || p.d.spread.size() > 1)
    return decline("no_replica", "several threads hold an element of C");
  if (p.d.bits < 32 && !p.d.base_is_aligned(4))
    return decline("registers", "the first register of C is not known to begin a 32-bit word");
  const std::vector<FirstThread> groups = first_threads(p, out.warpgroups);
  for (const FirstThread& each : groups)
    if (each.count * kGroupThreads * out.warpgroups != p.m * p.n)
      return decline("fragment", "the first thread of a warpgroup holds {} elements of C, of {}",
                     each.count, p.m * p.n / (kGroupThreads * out.warpgroups));
  out.row_step = WW_TRY(result_step(groups, true));
  out.column_step = WW_TRY(result_step(groups, false));
  out.rows = part_starts(groups[0].rows, 8);
  out.columns = part_starts(groups[0].columns, 1);
  const auto parts = static_cast<std::int64_t>(out.rows.size() * out.columns.size());
  if (parts * kResultRows * kResultColumns * out.warpgroups != p.m * p.n)
    return decline("fragment",
                   "thread 0 of the unit holds {} x {} of C, expected rows r and "
                   "r + 8 of each 64, columns c and c + 1 of each 8; `wgmma_tile_layout` is what "
                   "wgmma wants",
                   groups[0].rows.size(), groups[0].columns.size());
  const ResultSlots finder(p, out);
  for (const std::int64_t row : out.rows)
    for (const std::int64_t column : out.columns) {
      ResultBlock block;
      for (const int half : {0, 1})
        for (const int odd : {0, 1})
          block.slots[half][odd] = WW_TRY(finder.slot(row, column, half, odd));
      WW_TRY_VOID(check_result_pairs(p, block));
      out.blocks.push_back(block);
    }
  return out;
}

// First slots of the four registers of A, for 64 rows from `row` and one instruction's depth from
// `k` on; the same in all warpgroups, whose rows are `row_step` apart.
Match<std::vector<std::int64_t>> factor_registers(const AsyncProduct& p, const ResultParts& parts,
                                                  std::int64_t row, std::int64_t k) {
  const std::int64_t each = 32 / p.a.bits;  // elements of a register
  std::vector<std::int64_t> out;
  for (std::int64_t r = 0; r < 4; ++r) {
    std::optional<std::int64_t> first;
    for (std::int64_t u = 0; u < parts.warpgroups * kGroupThreads; ++u)
      for (std::int64_t j = 0; j < each; ++j) {
        const std::int64_t thread = u % kGroupThreads;
        const std::int64_t at_row =
            row + u / kGroupThreads * parts.row_step + row_in_atom(thread) + 8 * (r % 2);
        const std::int64_t at_k = k + 4 * each * (r / 2) + each * quad_of(thread) + j;
        const auto found = slot_of(p.a, p.a_at(at_row, at_k), u);
        if (!found)
          return decline("fragment",
                         "element ({}, {}) of A is in thread {} of the unit, where wgmma has it in "
                         "thread {}; `wgmma_tile_layout` is what it wants",
                         at_row, at_k, p.a.owner[p.a_at(at_row, at_k)], u);
        if (!first) first = *found;
        if (*found != *first + j || (each > 1 && *first % each != 0))
          return decline("fragment",
                         "element ({}, {}) of A is in place {} of thread {} of the unit, expected "
                         "{}: part {} of a register that all threads name alike",
                         at_row, at_k, *found, u, *first + j, j);
      }
    out.push_back(*first);
  }
  return out;
}

// --- shared memory -------------------------------------------------------------------------------

// A factor of a product in shared memory as a matrix descriptor of wgmma finds it. It has lines (rows
// of A, columns of B) of K elements, in chunks of 16 bytes: along K (K-major), or, of 16-bit elements,
// along the lines (MN-major). In chunks, from the start on, with w those of the swizzle's width (1:
// no swizzle):
//
//     K-major           line % 8 · w + line / 8 · stride + chunk · (w > 1 ? 1 : leading)
//     MN-major, w = 1   chunk · stride + k % 8 + k / 8 · leading
//     MN-major, w > 1   chunk % w + chunk / w · leading + k % 8 · w + k / 8 · stride
//
// and then the swizzle, by address: the layout's own, so that only what comes before it is compared.
// PTX manual, "Matrix descriptor", "Shared memory matrix layout".

constexpr std::int64_t kChunkBytes = 16;
constexpr std::int64_t kMaxOffset = 0x3FFF;  // chunks, in a field of the descriptor

/// Part of a factor: lines by depth elements, and where they are among its elements.
struct FactorPart {
  std::int64_t lines = 0, depth = 0;
  std::function<std::size_t(std::int64_t line, std::int64_t k)> at;
};

constexpr std::int64_t kCoreLines = 8;  // lines, or values of k, that lie as the width says

/// What a descriptor says but for where the factor's base is.
struct FactorDescriptor {
  bool is_mn_major = false;
  std::int64_t width = 1;  // chunks of the swizzle
  std::int64_t start = 0;  // chunks behind the base
  std::int64_t leading = 0, stride = 0;

  /// Bits 16 to 31, and 32 to 63.
  [[nodiscard]] std::uint32_t low_fields() const {
    return static_cast<std::uint32_t>(leading) << 16U;
  }
  [[nodiscard]] std::uint32_t high_fields() const {
    const std::uint32_t code = width == 8 ? 1 : width == 4 ? 2 : width == 2 ? 3 : 0;
    return static_cast<std::uint32_t>(stride) | code << 30U;
  }
  /// "K-major, swizzle of 128 bytes, 8 lines every 1024 bytes"
  [[nodiscard]] std::string text() const {
    std::string out = is_mn_major ? "MN-major" : "K-major";
    out += width == 1 ? std::string(", no swizzle")
                      : fmt::format(", swizzle of {} bytes", width * kChunkBytes);
    const bool has_leading = width == 1 || is_mn_major;
    if (has_leading && leading != 0)
      out += fmt::format(", leading offset {}", leading * kChunkBytes);
    if (stride != 0) out += fmt::format(", stride offset {}", stride * kChunkBytes);
    return out;
  }
};

bool is_offset(std::int64_t chunks) { return chunks >= 0 && chunks <= kMaxOffset; }

bool has_offsets(const FactorDescriptor& d) {
  return is_offset(d.start) && is_offset(d.leading) && is_offset(d.stride);
}

class SharedFactor {
 public:
  /// Declines swizzles that no descriptor has (`swizzle`), storage that does not begin a pattern or a
  /// base that is no whole chunk (`alignment`), and places known at run time only (`layout`).
  static Match<SharedFactor> read(const Call& call, const OperandPlaces& side,
                                  std::string_view name) {
    SharedFactor out(side, name);
    const std::string& buffer = call.f()[side.buffer].name;
    const layout::Swizzle& own = side.swizzle;
    if (!side.strides.empty())
      return decline("layout", "{} in `{}` has extents known at run time only", name, buffer);
    if (side.replicas.size() > 1)
      return decline("replica", "`{}` holds each element of {} at several places", buffer, name);
    if (!own.is_none()) {
      const bool is_known = own.inner() && own.atom() == 3 && own.len() <= 3 &&
                            (side.bits << own.per_element()) == kChunkBytes * 8;
      if (!is_known)
        return decline(
            "swizzle",
            "`{}` has a swizzle ({}, {}, {}) of elements of {} bits; a descriptor has 32, "
            "64 and 128 bytes in units of 16, `mma_shared_layout` makes them",
            buffer, own.per_element(), own.len(), own.atom(), side.bits);
      out.width_ = std::int64_t{1} << own.len();
    }
    const std::int64_t pattern =
        out.width_ == 1 ? kChunkBytes : kCoreLines * out.width_ * kChunkBytes;
    if (side.align_bytes % pattern != 0)
      return decline(
          "alignment",
          "`{}` begins at a multiple of {} bytes, expected {}: the swizzle goes by address", buffer,
          side.align_bytes, pattern);
    if (side.base_divisor * side.bits % (kChunkBytes * 8) != 0)
      return decline(
          "alignment",
          "{} begins at a multiple of {} bits in `{}`, expected one of 128: wgmma counts 16 bytes",
          name, side.base_divisor * side.bits, buffer);
    return out;
  }
  /// Declines (`major`, `descriptor`) with the places seen.
  [[nodiscard]] Match<FactorDescriptor> find(const FactorPart& part, bool may_turn) const {
    if (const auto found = k_major(part)) return *found;
    const auto turned = mn_major(part);
    if (turned && may_turn) return *turned;
    if (turned)
      return decline("major",
                     "{} lies along {}, elements of {} bits; wgmma takes that of 16 bits only, "
                     "expected 16 bytes along K",
                     name_, name_ == "A" ? "M" : "N", side_->bits);
    const std::string swizzle =
        width_ == 1 ? std::string("without a swizzle")
                    : fmt::format("with a swizzle of {} bytes", width_ * kChunkBytes);
    return decline(
        "descriptor",
        "no matrix descriptor gives {} lines of {} elements of {}, {}: before it (line, k) {}",
        part.lines, part.depth, name_, swizzle, seen(part));
  }

 private:
  SharedFactor(const OperandPlaces& side, std::string_view name) : side_(&side), name_(name) {}

  /// The chunk that begins with an element and goes on with `next`; nothing: they lie apart.
  template <typename At>
  [[nodiscard]] std::optional<std::int64_t> chunk(const At& at) const {
    const std::int64_t each = kChunkBytes * 8 / side_->bits;
    const std::int64_t first = side_->linear[at(0)];
    if (first % each != 0) return std::nullopt;
    for (std::int64_t j = 1; j < each; ++j)
      if (side_->linear[at(j)] != first + j) return std::nullopt;
    return first / each;
  }
  [[nodiscard]] std::optional<FactorDescriptor> k_major(const FactorPart& part) const {
    const std::int64_t each = kChunkBytes * 8 / side_->bits;
    const auto at = [&](std::int64_t line, std::int64_t c) {
      return chunk([&](std::int64_t j) { return part.at(line, c * each + j); });
    };
    const auto first = at(0, 0);
    if (!first) return std::nullopt;
    FactorDescriptor out{
        .width = width_, .start = *first, .leading = 1, .stride = kCoreLines * width_};
    if (part.lines > kCoreLines) out.stride = at(kCoreLines, 0).value_or(-1) - *first;
    if (width_ == 1) out.leading = at(0, 1).value_or(-1) - *first;
    if (!has_offsets(out)) return std::nullopt;
    const std::int64_t across = width_ == 1 ? out.leading : 1;
    for (std::int64_t line = 0; line < part.lines; ++line)
      for (std::int64_t c = 0; c * each < part.depth; ++c)
        if (at(line, c) !=
            *first + line % kCoreLines * width_ + line / kCoreLines * out.stride + c * across)
          return std::nullopt;
    return out;
  }
  [[nodiscard]] std::optional<FactorDescriptor> mn_major(const FactorPart& part) const {
    const std::int64_t each = kChunkBytes * 8 / side_->bits;
    const auto at = [&](std::int64_t c, std::int64_t k) {
      return chunk([&](std::int64_t j) { return part.at(c * each + j, k); });
    };
    const auto first = at(0, 0);
    const std::int64_t chunks = part.lines / each;
    if (!first || part.lines % each != 0) return std::nullopt;
    FactorDescriptor out{.is_mn_major = true,
                         .width = width_,
                         .start = *first,
                         .leading = kCoreLines * width_,
                         .stride = kCoreLines * width_};
    // Without a swizzle the two change their roles.
    std::int64_t& along = width_ == 1 ? out.stride : out.leading;
    std::int64_t& deep = width_ == 1 ? out.leading : out.stride;
    if (chunks > width_) along = at(width_, 0).value_or(-1) - *first;
    if (part.depth > kCoreLines) deep = at(0, kCoreLines).value_or(-1) - *first;
    if (!has_offsets(out)) return std::nullopt;
    for (std::int64_t k = 0; k < part.depth; ++k)
      for (std::int64_t c = 0; c < chunks; ++c)
        if (at(c, k) != *first + c % width_ + c / width_ * along + k % kCoreLines * width_ +
                            k / kCoreLines * deep)
          return std::nullopt;
    return out;
  }
  [[nodiscard]] std::string seen(const FactorPart& part) const {
    std::vector<std::string> out;
    const auto add = [&](std::int64_t line, std::int64_t k) {
      if (line < part.lines && k < part.depth)
        out.push_back(fmt::format("({}, {}) at byte {}", line, k,
                                  side_->linear[part.at(line, k)] * side_->bits / 8));
    };
    const std::int64_t each = kChunkBytes * 8 / side_->bits;
    add(0, 0);
    add(0, 1);
    add(0, each);
    add(1, 0);
    add(kCoreLines, 0);
    return join(out, ", ");
  }

  const OperandPlaces* side_;
  std::string_view name_;
  std::int64_t width_ = 1;
};

using ir::ExprId;
using ir::ExprOp;

constexpr std::int64_t kAtomRows = 64, kBlock = 8, kMaxColumns = 256;
constexpr std::int64_t kThreadRegisters = 255;
constexpr std::int64_t kOtherRegisters = 15;  // besides C and A

// --- plan ----------------------------------------------------------------------------------------

/// Columns of an instruction: blocks of the warpgroup's part of C, from `first` on.
struct WgmmaColumns {
  std::size_t first = 0, blocks = 0;
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(blocks) * 8; }
};

/// One instruction.
struct WgmmaIssue {
  std::size_t row = 0;  // of ResultParts
  WgmmaColumns columns;
  bool is_first = false;  // along K
  FactorDescriptor a, b;
  std::vector<std::int64_t> a_registers;
};

struct WgmmaPlan {
  AsyncProduct product;
  ResultParts parts;
  std::vector<WgmmaIssue> issues;
  std::int64_t a_step = 0, b_step = 0;  // chunks from warpgroup to warpgroup
  std::int64_t registers_d = 0, registers_a = 0;
};

// --- match ---------------------------------------------------------------------------------------

/// Blocks with columns side by side, cut into as few instructions of nearly one width as there can be.
Match<std::vector<WgmmaColumns>> columns_of(const AsyncProduct& p, const ResultParts& parts) {
  std::vector<WgmmaColumns> out;
  for (std::size_t first = 0; first < parts.columns.size();) {
    std::size_t end = first + 1;
    while (end < parts.columns.size() && parts.columns[end] == parts.columns[end - 1] + kBlock)
      ++end;
    while (first < end) {
      const auto left = static_cast<std::int64_t>(end - first) * kBlock;
      const std::int64_t instructions = (left + kMaxColumns - 1) / kMaxColumns;
      std::int64_t width = (left / kBlock + instructions - 1) / instructions * kBlock;
      while (width > 0 && !p.types.has_columns(width)) width -= kBlock;
      if (width == 0)
        return decline("shape", "{} columns of C side by side; wgmma of {} has {}", left, p.types.a,
                       p.types.columns_text());
      out.push_back({first, as_index(width / kBlock)});
      first += out.back().blocks;
    }
  }
  return out;
}

/// The descriptors of a factor in all warpgroups, which differ by one step.
class FactorFinder {
 public:
  FactorFinder(const AsyncProduct& p, const ResultParts& parts, bool is_a, SharedFactor factor)
      : p_(p), parts_(parts), is_a_(is_a), factor_(factor) {}

  Match<FactorDescriptor> find(std::int64_t line, std::int64_t lines, std::int64_t k) {
    const FactorDescriptor first = WW_TRY(find_in(0, line, lines, k));
    for (std::int64_t w = 1; w < parts_.warpgroups; ++w) {
      FactorDescriptor here = WW_TRY(find_in(w, line, lines, k));
      const std::int64_t moved = here.start - first.start;
      if (!step_) step_ = moved;
      here.start = first.start;
      if (moved != w * *step_ || here.high_fields() != first.high_fields() ||
          here.low_fields() != first.low_fields() || here.is_mn_major != first.is_mn_major)
        return decline("warps",
                       "{} of warpgroup {} is {} bytes behind that of warpgroup 0, expected {} "
                       "times {}",
                       is_a_ ? "A" : "B", w, moved * kChunkBytes, w, *step_ * kChunkBytes);
    }
    return first;
  }
  [[nodiscard]] std::int64_t step() const { return step_.value_or(0); }

 private:
  Match<FactorDescriptor> find_in(std::int64_t w, std::int64_t line, std::int64_t lines,
                                  std::int64_t k) const {
    const std::int64_t first = line + w * (is_a_ ? parts_.row_step : parts_.column_step);
    const FactorPart part{
        .lines = lines, .depth = p_.types.depth, .at = [&, first](std::int64_t l, std::int64_t d) {
          return is_a_ ? p_.a_at(first + l, k + d) : p_.b_at(first + l, k + d);
        }};
    return factor_.find(part, p_.types.may_turn);
  }

  const AsyncProduct& p_;
  const ResultParts& parts_;
  bool is_a_;
  SharedFactor factor_;
  std::optional<std::int64_t> step_;
};

Match<void> count_registers(const Call& call, WgmmaPlan& plan) {
  const AsyncProduct& p = plan.product;
  plan.registers_d = static_cast<std::int64_t>(plan.parts.blocks.size()) * 4 * p.d.bits / 32;
  if (p.is_a_in_registers)
    plan.registers_a = static_cast<std::int64_t>(plan.parts.rows.size()) * p.k / p.types.depth * 4;
  const std::int64_t all = std::min(call.registers.value_or(kThreadRegisters), kThreadRegisters);
  if (plan.registers_d + plan.registers_a <= all - kOtherRegisters) return {};
  return decline("registers",
                 "C takes {} registers of a thread and A {}, expected at most {} of {}{}: more "
                 "warpgroups, or fewer rows or columns in each",
                 plan.registers_d, plan.registers_a, all - kOtherRegisters, all,
                 call.registers ? ", which `setmaxnreg` sets" : "");
}

Match<void> find_issues(const Call& call, WgmmaPlan& plan) {
  const AsyncProduct& p = plan.product;
  const std::vector<WgmmaColumns> columns = WW_TRY(columns_of(p, plan.parts));
  FactorFinder b(p, plan.parts, false, WW_TRY(SharedFactor::read(call, p.b, "B")));
  std::optional<FactorFinder> a;
  if (!p.is_a_in_registers)
    a.emplace(p, plan.parts, true, WW_TRY(SharedFactor::read(call, p.a, "A")));
  for (std::int64_t k = 0; k < p.k; k += p.types.depth) {
    std::vector<FactorDescriptor> b_parts;
    for (const WgmmaColumns& each : columns)
      b_parts.push_back(WW_TRY(b.find(plan.parts.columns[each.first], each.count(), k)));
    for (std::size_t row = 0; row < plan.parts.rows.size(); ++row) {
      WgmmaIssue issue;
      issue.row = row;
      issue.is_first = k == 0;
      const std::int64_t first = plan.parts.rows[row];
      if (a)
        issue.a = WW_TRY(a->find(first, kAtomRows, k));
      else
        issue.a_registers = WW_TRY(factor_registers(p, plan.parts, first, k));
      for (std::size_t i = 0; i < columns.size(); ++i) {
        issue.columns = columns[i];
        issue.b = b_parts[i];
        plan.issues.push_back(issue);
      }
    }
  }
  plan.a_step = a ? a->step() : 0;
  plan.b_step = b.step();
  return {};
}

// --- emit ----------------------------------------------------------------------------------------

class WgmmaWriter {
 public:
  WgmmaWriter(const WgmmaPlan& plan, const Call& call, CodeWriter& code)
      : plan_(plan), p_(plan.product), call_(call), code_(code) {}

  void write() {
    d_ = flat_view(call_, code_, p_.d);
    if (plan_.parts.warpgroups > 1)
      group_ = code_.let("warpgroup", code_.div(call_.unit_thread(code_), 128));
    if (p_.is_a_in_registers)
      a_ = flat_view(call_, code_, p_.a);
    else
      a_start_ = start_of(p_.a, plan_.a_step, "a_start");
    b_start_ = start_of(p_.b, plan_.b_step, "b_start");
    for (const WgmmaIssue& issue : plan_.issues) this->issue(issue);
  }

 private:
  // The address of a factor in units of 16 bytes, as the lowest bits of its descriptors.
  ExprId start_of(const OperandPlaces& side, std::int64_t step, std::string_view name) {
    const ir::BufferId flat = flat_view(call_, code_, side);
    const ExprId pointer = code_.pointer(flat, side.base_expr(code_));
    const ExprId address =
        code_.as(num::DType::Uint32, code_.call(ir::Intrinsic::CvtaToShared, {pointer}));
    const ExprId units = code_.binary(ExprOp::Shr, address, word(4));
    ExprId start = code_.binary(ExprOp::BitAnd, units, word(kMaxOffset));
    if (step != 0)
      start = code_.binary(ExprOp::Add, start,
                           code_.as(num::DType::Uint32, code_.simplify(code_.mul(group_, step))));
    return code_.let(name, start);
  }

  ExprId word(std::int64_t value, num::DType type = num::DType::Uint32) {
    return ir::int_imm(call_.f(), type, value, call_.span);
  }

  // Only the low half depends on anything.
  ir::PtxOperand descriptor(ExprId start, const FactorDescriptor& d) {
    const auto low = static_cast<std::int64_t>(d.low_fields()) + d.start;
    const ExprId half = low == 0 ? start : code_.binary(ExprOp::Add, start, word(low));
    const auto high = static_cast<std::uint64_t>(d.high_fields()) << 32U;
    return {.expr = code_.binary(ExprOp::BitOr, code_.as(num::DType::Uint64, half),
                                 word(static_cast<std::int64_t>(high), num::DType::Uint64))};
  }

  ir::PtxOperand number(std::int64_t value) { return {.expr = code_.n(value)}; }

  ir::PtxOperand register_at(ir::BufferId flat, const OperandPlaces& side, std::int64_t slot) {
    return register_operand(code_, flat, code_.simplify(code_.add(side.base_expr(code_), slot)));
  }

  void add_results(const WgmmaIssue& issue, std::vector<ir::PtxOperand>& out) {
    for (std::size_t i = 0; i < issue.columns.blocks; ++i) {
      const ResultBlock& block = plan_.parts.at(issue.row, issue.columns.first + i);
      for (const auto& row : block.slots)
        for (const int odd : {0, 1})
          if (odd == 0 || p_.d.bits == 32) out.push_back(register_at(d_, p_.d, row[odd]));
    }
  }

  ir::PtxOperand scale_d(const WgmmaIssue& issue) {
    if (!issue.is_first) return number(1);
    if (p_.accumulates) return number(*p_.accumulates ? 1 : 0);
    return {.kind = ir::PtxOperandKind::Predicate, .expr = p_.when};
  }

  void issue(const WgmmaIssue& issue) {
    std::vector<ir::PtxOperand> operands;
    add_results(issue, operands);
    if (p_.is_a_in_registers)
      for (const std::int64_t slot : issue.a_registers)
        operands.push_back(register_at(a_, p_.a, slot));
    else
      operands.push_back(descriptor(a_start_, issue.a));
    operands.push_back(descriptor(b_start_, issue.b));
    operands.push_back(scale_d(issue));
    if (!p_.types.is_integer)
      for (int i = 0; i < 2; ++i) operands.push_back(number(1));
    if (p_.types.may_turn && !p_.is_a_in_registers)
      operands.push_back(number(issue.a.is_mn_major ? 1 : 0));
    if (p_.types.may_turn) operands.push_back(number(issue.b.is_mn_major ? 1 : 0));
    code_.ptx(p_.types.opcode(issue.columns.count()), std::move(operands));
  }

  const WgmmaPlan& plan_;
  const AsyncProduct& p_;
  const Call& call_;
  CodeWriter& code_;
  ir::BufferId d_, a_;
  ExprId a_start_, b_start_, group_;
};

// Of a `gemm_async` call.
Match<WgmmaPlan> match(const Call& call) {
  WgmmaPlan plan;
  plan.product = WW_TRY(async_product(call));
  const AsyncProduct& p = plan.product;
  if (p.is_a_in_registers && p.turns_a)
    return decline("major", "A in registers with transA=True, expected (M, K)");
  if (p.is_a_in_registers && p.a.bits < 32 && !p.a.base_is_aligned(4))
    return decline("registers", "the first register of A is not known to begin a 32-bit word");
  plan.parts = WW_TRY(result_parts(call, p));
  WW_TRY_VOID(count_registers(call, plan));
  WW_TRY_VOID(find_issues(call, plan));
  return plan;
}

// The instructions alone, without fence, commit and wait.
void emit(const WgmmaPlan& plan, const Call& call, CodeWriter& code) {
  WgmmaWriter(plan, call, code).write();
}

PlanReport report(const WgmmaPlan& plan, const Call& call) {
  const AsyncProduct& p = plan.product;
  PlanReport out;
  std::vector<std::string> notes;
  const auto note = [&](std::string_view name, const FactorDescriptor& d) {
    std::string text = fmt::format("descriptor of {}: {}", name, d.text());
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
  };
  for (const WgmmaIssue& issue : plan.issues) {
    out.add_instruction(p.types.opcode(issue.columns.count()), 1, 0);
    if (!p.is_a_in_registers) note("A", issue.a);
    note("B", issue.b);
  }
  out.operand_registers = {{"C", plan.registers_d}};
  if (p.is_a_in_registers) out.operand_registers.emplace_back("A", plan.registers_a);
  out.registers = plan.registers_d + plan.registers_a;
  out.threads = call.unit_threads();
  out.flops = 2 * p.m * p.n * p.k;
  out.rounds = std::ssize(plan.issues);
  const std::string shape = fmt::format("m64n{}k{}", plan.issues[0].columns.count(), p.types.depth);
  out.tiling =
      fmt::format("{} x {} x {} tiles of {}", plan.parts.rows.size(),
                  plan.issues.size() / plan.parts.rows.size() / as_index(p.k / p.types.depth),
                  p.k / p.types.depth, shape);
  out.summary = fmt::format("{}, {} per warpgroup, A in {}", shape, out.rounds,
                            p.is_a_in_registers ? "registers" : "shared memory");
  out.notes = std::move(notes);
  out.notes.emplace_back(
      "the caller fences, commits, and waits before C is used and A and B are written again");
  return out;
}

constexpr Variant kVariants[] = {variant<WgmmaPlan, match, emit, report>(
    {.op = ir::TileOp::GemmAsync,
     .name = "wgmma",
     .about = "wgmma by the tensor cores of Hopper, factors behind descriptors"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::gemm_async_wgmma
