// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm_async/register_parts.h"

#include <algorithm>
#include <set>

#include "lower/as_index.h"

namespace ww::lower {
namespace {

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

}  // namespace

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

}  // namespace ww::lower
