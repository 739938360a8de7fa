// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/vectors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"
#include "isa/catalogue.h"
#include "lower/cost.h"

namespace ww::lower {

using ir::ExprId;

namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The slot in which thread u of the unit has element x; nothing when it has none.
std::optional<std::int64_t> slot_in(const Side& side, std::size_t x, std::int64_t u) {
  for (const Shift& replica : side.replicas) {
    const std::int64_t shift = u - side.owner[x] - replica.thread;
    if (std::binary_search(side.spread.begin(), side.spread.end(), shift))
      return side.linear[x] + replica.place;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> access_widths(const Call& call, const CopyProblem& problem) {
  std::vector<std::int64_t> out;
  const auto is_wide = [](const Side& side) {
    return side.scope == ir::Scope::Global || side.is_register();
  };
  if (call.context.target.has(target::Feature::Sm100) && is_wide(problem.dst) &&
      is_wide(problem.src))
    out.push_back(32);
  for (const std::int64_t bytes : {16, 8, 4, 2, 1})
    if (bytes * 8 % problem.dst.bits == 0) out.push_back(bytes);
  return out;
}

// --- which register holds what -------------------------------------------------------------------

RegisterMap register_map(const Call& call, const CopyProblem& problem, bool of_dst) {
  const Side& side = of_dst ? problem.dst : problem.src;
  std::int64_t low = side.linear[0], high = side.linear[0];
  for (const std::int64_t slot : side.linear) {
    low = std::min(low, slot);
    high = std::max(high, slot);
  }
  std::int64_t most = 0;
  for (const Shift& replica : side.replicas) most = std::max(most, replica.place);
  RegisterMap map;
  map.first_slot = low;
  map.slots = high + most - low + 1;
  map.threads = call.unit_threads();
  map.cells.assign(index(map.slots * map.threads), -1);
  for (std::size_t x = 0; x < side.size(); ++x) {
    bool is_given = false;
    for (const Shift& replica : side.replicas)
      for (const std::int64_t spread : side.spread) {
        if (is_given && !of_dst) continue;
        const std::int64_t u = side.owner[x] + replica.thread + spread;
        if (u >= map.threads) continue;
        map.cells[index((side.linear[x] + replica.place - low) * map.threads + u)] =
            static_cast<std::int32_t>(x);
        is_given = true;
      }
  }
  return map;
}

// --- phases over registers -----------------------------------------------------------------------

namespace {

// Cuts the slots into vectors, widest first, and joins equal ones that follow each other.
class RegisterPhases {
 public:
  RegisterPhases(const Call& call, const CopyProblem& problem)
      : problem_(problem),
        is_dst_(problem.dst.is_register()),
        own_(is_dst_ ? problem.dst : problem.src),
        other_(is_dst_ ? problem.src : problem.dst),
        map_(register_map(call, problem, is_dst_)),
        widths_(access_widths(call, problem)) {}

  Match<std::vector<Phase>> make(const std::vector<bool>* wanted) {
    for (std::int64_t slot = 0; slot < map_.slots;) {
      const bool is_skipped = wanted != nullptr && !(*wanted)[index(slot)];
      if (is_skipped || !is_occupied(slot)) {
        ++slot;
        continue;
      }
      const auto bytes = widest(slot, wanted);
      if (!bytes)
        return decline("sub_byte", "elements of {} bits in register slot {} are no whole byte",
                       own_.bits, slot + map_.first_slot);
      add(slot, *bytes);
      slot += *bytes * 8 / own_.bits;
    }
    return std::move(phases_);
  }

 private:
  [[nodiscard]] bool is_occupied(std::int64_t slot) const {
    const auto row = map_.cells.begin() + slot * map_.threads;
    return std::any_of(row, row + map_.threads, [](std::int32_t x) { return x >= 0; });
  }

  [[nodiscard]] std::optional<std::int64_t> widest(std::int64_t slot,
                                                   const std::vector<bool>* wanted) const {
    for (const std::int64_t bytes : widths_)
      if (is_vector(slot, bytes, wanted)) return bytes;
    return std::nullopt;
  }

  // Are the slots from here on one access of that width, for every thread?
  [[nodiscard]] bool is_vector(std::int64_t slot, std::int64_t bytes,
                               const std::vector<bool>* wanted) const {
    const std::int64_t vec = bytes * 8 / own_.bits;
    if (slot + vec > map_.slots) return false;
    if (!own_.base_is_aligned(bytes) || (slot + map_.first_slot) % vec != 0) return false;
    if (!other_.base_is_aligned(bytes)) return false;
    for (std::int64_t i = 1; i < vec; ++i)
      if (wanted != nullptr && !(*wanted)[index(slot + i)]) return false;
    for (const Shift& shift : other_.replicas)
      if (!other_.is_register() && shift.place % vec != 0) return false;
    for (std::int64_t u = 0; u < map_.threads; ++u)
      if (!is_vector_of(slot, vec, u, bytes)) return false;
    return true;
  }

  [[nodiscard]] bool is_vector_of(std::int64_t slot, std::int64_t vec, std::int64_t u,
                                  std::int64_t bytes) const {
    const std::int32_t first = map_.at(slot, u);
    for (std::int64_t i = 1; i < vec; ++i) {
      const std::int32_t next = map_.at(slot + i, u);
      if ((first < 0) != (next < 0)) return false;
      if (first < 0) continue;
      const std::int32_t before = map_.at(slot + i - 1, u);
      if (other_.is_register()) {
        if (slot_in(other_, index(next), u) != slot_in(other_, index(before), u).value_or(-2) + 1)
          return false;
      } else if (!other_.follows(index(before), index(next))) {
        return false;
      }
    }
    if (first < 0) return true;
    if (!other_.is_register()) return other_.is_aligned(index(first), bytes);
    return slot_in(other_, index(first), u).value_or(0) % vec == 0;
  }

  void add(std::int64_t slot, std::int64_t bytes) {
    std::vector<bool> used(index(map_.threads));
    for (std::int64_t u = 0; u < map_.threads; ++u) used[index(u)] = map_.at(slot, u) >= 0;
    const bool goes_on =
        !phases_.empty() && phases_.back().bytes == bytes && phases_.back().used == used;
    if (!goes_on)
      phases_.push_back({.bytes = bytes,
                         .vec = bytes * 8 / own_.bits,
                         .threads = map_.threads,
                         .rounds = 0,
                         .used = std::move(used),
                         .first = {},
                         .dst_places = {},
                         .src_places = {},
                         .dst = {},
                         .src = {}});
    Phase& phase = phases_.back();
    ++phase.rounds;
    for (std::int64_t u = 0; u < map_.threads; ++u) {
      const std::int32_t x = map_.at(slot, u);
      phase.first.push_back(x);
      (is_dst_ ? phase.dst_places : phase.src_places).push_back(slot + map_.first_slot);
      (is_dst_ ? phase.src_places : phase.dst_places).push_back(x < 0 ? 0 : other_place(x, u));
    }
  }

  [[nodiscard]] std::int64_t other_place(std::int32_t x, std::int64_t u) const {
    return other_.is_register() ? slot_in(other_, index(x), u).value_or(-1)
                                : other_.linear[index(x)];
  }

  const CopyProblem& problem_;
  bool is_dst_;
  const Side& own_;
  const Side& other_;
  RegisterMap map_;
  std::vector<std::int64_t> widths_;
  std::vector<Phase> phases_;
};

// The rounds [k, k+1) of a phase.
Phase single_round(const Phase& phase, std::int64_t k) {
  const auto part = [&](const auto& list) {
    const auto begin = list.begin() + k * phase.threads;
    return std::remove_cvref_t<decltype(list)>(begin, begin + phase.threads);
  };
  Phase out = phase;
  out.rounds = 1;
  out.first = part(phase.first);
  out.dst_places = part(phase.dst_places);
  out.src_places = part(phase.src_places);
  return out;
}

// A register's number must not depend on the thread.
bool is_same_for_all(const Phase& phase, const std::vector<std::int64_t>& places) {
  for (std::int64_t k = 0; k < phase.rounds; ++k) {
    std::optional<std::int64_t> seen;
    for (std::int64_t u = 0; u < phase.threads; ++u) {
      if (!phase.used[index(u)]) continue;
      const std::int64_t place = places[index(k * phase.threads + u)];
      if (place < 0 || (seen && *seen != place)) return false;
      seen = place;
    }
  }
  return true;
}

// The destination in memory holds each element at several places: the same accesses for each of
// them.
void add_replicas(const std::vector<Shift>& replicas, std::vector<Phase>& phases) {
  const std::vector<Phase> once = phases;
  for (std::size_t c = 1; c < replicas.size(); ++c)
    for (Phase phase : once) {
      for (std::int64_t& place : phase.dst_places) place += replicas[c].place;
      phases.push_back(std::move(phase));
    }
}

bool find_side(const CopyProblem& problem, const Phase& phase, bool is_dst, SideForm& out) {
  const Side& side = is_dst ? problem.dst : problem.src;
  const std::vector<std::int64_t>& places = is_dst ? phase.dst_places : phase.src_places;
  if (side.is_register() && !is_same_for_all(phase, places)) return false;
  AddressTable table{.threads = phase.threads,
                     .rounds = phase.rounds,
                     .linear = places,
                     .used = phase.used,
                     .count = phase.count,
                     .swizzle = side.swizzle,
                     .base_divisor = side.base_divisor};
  auto form = find_form(table);
  if (!form) return false;
  out.form = *std::move(form);
  table.swizzle = {};
  for (const RuntimeStride& stride : side.strides) {
    for (std::size_t i = 0; i < table.linear.size(); ++i)
      table.linear[i] = phase.first[i] < 0 ? 0 : stride.coef[index(phase.first[i])];
    auto coef = find_form(table);
    if (!coef) return false;
    out.strides.emplace_back(stride.stride, *std::move(coef));
  }
  return true;
}

}  // namespace

bool find_forms(const CopyProblem& problem, Phase& phase) {
  return find_side(problem, phase, true, phase.dst) && find_side(problem, phase, false, phase.src);
}

Match<std::vector<Phase>> register_phases(const Call& call, const CopyProblem& problem,
                                          const std::vector<bool>* wanted_slots) {
  const bool is_copied = !problem.dst.is_register() && problem.dst.replicas.size() > 1;
  if (is_copied && !problem.dst.swizzle.is_none())
    return decline("replica", "the swizzled destination holds each element at {} places",
                   problem.dst.replicas.size());
  auto cut = RegisterPhases(call, problem).make(wanted_slots);
  if (!cut) return cut;
  if (is_copied) add_replicas(problem.dst.replicas, *cut);
  std::vector<Phase> out;
  for (Phase& phase : *cut) {
    if (find_forms(problem, phase)) {
      out.push_back(std::move(phase));
      continue;
    }
    for (std::int64_t k = 0; k < phase.rounds; ++k) {
      Phase one = single_round(phase, k);
      if (!find_forms(problem, one))
        return decline("irregular", "no formula gives the addresses of register {} in all threads",
                       one.dst_places[0]);
      out.push_back(std::move(one));
    }
  }
  return out;
}

// --- phases that the threads share out -----------------------------------------------------------

namespace {

using Order = std::vector<std::int32_t>;

// By place in the storage of a side; elements that share one by number.
Order order_by(const Side& side) {
  Order order(side.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t x) {
    const auto i = static_cast<std::size_t>(x);
    std::int64_t far = 0;  // what runtime strides multiply counts most
    for (const RuntimeStride& stride : side.strides) far = far * 4096 + stride.coef[i];
    return std::pair(far, side.linear[i]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  return order;
}

// The elements in that order as vectors of `vec`: are they contiguous and aligned on both sides?
bool are_vectors(const CopyProblem& p, const Order& order, std::int64_t vec, std::int64_t bytes) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (n % vec != 0) return false;
  for (const Side* side : {&p.dst, &p.src}) {
    if (!side->base_is_aligned(bytes)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      if (i % vec == 0) {
        if (!side->is_aligned(x, bytes)) return false;
      } else if (!side->follows(static_cast<std::size_t>(order[static_cast<std::size_t>(i - 1)]),
                                x)) {
        return false;
      }
    }
  }
  return true;
}

Phase make_phase(const Call& call, const CopyProblem& p, const Order& order, std::int64_t vec,
                 std::int64_t bytes) {
  const auto threads = static_cast<std::int64_t>(call.workers().size());
  const std::int64_t count = static_cast<std::int64_t>(order.size()) / vec;
  Phase phase;
  phase.bytes = bytes;
  phase.vec = vec;
  phase.threads = threads;
  phase.rounds = (count + threads - 1) / threads;
  phase.count = count % threads == 0 ? 0 : count;
  constexpr std::int64_t kMostUnrolled = 16;
  phase.is_unrolled = phase.rounds <= kMostUnrolled;
  phase.used.assign(static_cast<std::size_t>(threads), true);
  for (std::int64_t q = 0; q < phase.rounds * threads; ++q) {
    const std::int32_t x = q < count ? order[static_cast<std::size_t>(q * vec)] : -1;
    phase.first.push_back(x);
    phase.dst_places.push_back(x < 0 ? 0 : p.dst.linear[static_cast<std::size_t>(x)]);
    phase.src_places.push_back(x < 0 ? 0 : p.src.linear[static_cast<std::size_t>(x)]);
  }
  // One round that only some threads take part in is a guard on the thread, not on the round.
  if (phase.rounds == 1 && phase.count != 0) {
    for (std::int64_t u = count; u < threads; ++u) phase.used[static_cast<std::size_t>(u)] = false;
    phase.count = 0;
  }
  return phase;
}

std::vector<Order> orders_of(const CopyProblem& p) {
  const bool src_first = p.src.scope == ir::Scope::Global && p.dst.scope != ir::Scope::Global;
  Order logical(p.dst.size());
  std::iota(logical.begin(), logical.end(), 0);
  return {order_by(src_first ? p.src : p.dst), order_by(src_first ? p.dst : p.src),
          std::move(logical)};
}

}  // namespace

Match<void> check_workers(const Call& call) {
  Code scratch(call.f(), call.context.facts, call.span);
  if (!call.workers().empty() && call.worker(scratch).valid()) return {};
  return decline("threads", "the threads that arrive cannot be numbered: {}",
                 ir::to_text(call.active, call.context.launch));
}

std::optional<Phase> shared_out_phase(const Call& call, const CopyProblem& problem,
                                      std::int64_t bytes) {
  const std::int64_t vec = bytes * 8 / problem.dst.bits;
  for (const Order& order : orders_of(problem)) {
    if (!are_vectors(problem, order, vec, bytes)) continue;
    Phase phase = make_phase(call, problem, order, vec, bytes);
    if (find_forms(problem, phase)) return phase;
  }
  return std::nullopt;
}

// --- code ----------------------------------------------------------------------------------------

std::int64_t view_elements(const Call& call, const Side& side) {
  const ir::Buffer& buffer = call.f()[side.buffer];
  if (const auto whole = ir::layout_of(call.f(), buffer))
    if (const auto span = layout::span_on(*whole, layout::axes::m()))
      return std::max<std::int64_t>(1, *span);
  std::int64_t most = 0;
  for (std::size_t x = 0; x < side.size(); ++x) most = std::max(most, side.swizzle(side.linear[x]));
  return most + 1;
}

PhaseWriter::PhaseWriter(const Call& call, const CopyProblem& problem, Code& code,
                         std::string modifiers)
    : call_(call),
      problem_(problem),
      code_(code),
      modifiers_(std::move(modifiers)),
      u_(problem.register_side() == nullptr ? call.worker(code) : call.unit_thread(code)) {
  const auto flat = [&](const Side& side) {
    return code_.flat_view(side.buffer, side.dtype, view_elements(call_, side),
                           call_.f()[side.buffer].name);
  };
  dst_ = flat(problem.dst);
  src_ = flat(problem.src);
}

std::vector<ExprId> PhaseWriter::thread_parts(const Side& side, const SideForm& form,
                                              std::string_view name) {
  const ExprId base = side.base.valid() ? side.base : code_.n(0);
  std::vector<ExprId> parts{thread_part(code_, form.form, u_, base)};
  for (const auto& [stride, coef] : form.strides)
    parts.push_back(thread_part(code_, coef, u_, code_.n(0)));
  // What does not depend on the round is computed once.
  if (!side.is_register() && form.form.kind != AddressForm::Kind::Joint)
    parts[0] = code_.let(name, parts[0]);
  return parts;
}

ExprId PhaseWriter::address(const Side&, const SideForm& form, const std::vector<ExprId>& parts,
                            ExprId k, std::int64_t threads) {
  ExprId out = address_expr(code_, form.form, parts[0], u_, k, threads);
  for (std::size_t i = 0; i < form.strides.size(); ++i) {
    const auto& [stride, coef] = form.strides[i];
    const ExprId times = address_expr(code_, coef, parts[i + 1], u_, k, threads);
    out = code_.add(out, code_.wide_mul(times, stride));
  }
  return out;
}

void PhaseWriter::write(const Phase& phase) {
  code_.guarded(member_expr(code_, u_, phase.used), [&] {
    const auto dst_parts = thread_parts(problem_.dst, phase.dst, "dst_base");
    const auto src_parts = thread_parts(problem_.src, phase.src, "src_base");
    const bool is_unrolled = phase.is_unrolled && phase.rounds > 1;
    const auto kind = is_unrolled ? ir::LoopKind::Unroll : ir::LoopKind::Serial;
    code_.loop("f", phase.rounds, kind, [&](ExprId k) {
      const ExprId q = code_.add(code_.mul(k, phase.threads), u_);
      const ExprId in_range = phase.count == 0 ? ExprId{} : code_.less(q, phase.count);
      code_.guarded(in_range, [&] {
        const auto to = address(problem_.dst, phase.dst, dst_parts, k, phase.threads);
        const auto from = address(problem_.src, phase.src, src_parts, k, phase.threads);
        move(phase, to, from);
      });
    });
  });
}

void PhaseWriter::move(const Phase& phase, ExprId to, ExprId from) {
  if (!modifiers_.empty()) return load_with_modifiers(phase, to, from);
  const ExprId dst = code_.let("dst_ptr", code_.pointer(dst_, to));
  const ExprId src = code_.let("src_ptr", code_.pointer(src_, from));
  const ExprId bytes = code_.n(phase.bytes);
  code_.evaluate(ir::Intrinsic::CopyBytes, {dst, src, bytes});
}

static std::string load_tail(std::int64_t bytes) {
  return bytes > 4 ? fmt::format(".v{}.b32", bytes / 4) : fmt::format(".b{}", bytes * 8);
}

// Into words of the registers, seen as unsigned integers.
void PhaseWriter::load_with_modifiers(const Phase& phase, ExprId to, ExprId from) {
  const std::int64_t word = std::min<std::int64_t>(4, phase.bytes);
  const num::DType type = word == 4   ? num::DType::Uint32
                          : word == 2 ? num::DType::Uint16
                                      : num::DType::Uint8;
  const std::int64_t bits = problem_.dst.bits;
  const std::int64_t words =
      (view_elements(call_, problem_.dst) * bits + word * 8 - 1) / (word * 8);
  const ir::BufferId view =
      code_.flat_view(problem_.dst.buffer, type, words, call_.f()[dst_].name + "_words");
  const ExprId first = code_.div(code_.mul(to, bits), word * 8);
  std::vector<ir::PtxOperand> operands;
  for (std::int64_t i = 0; i < phase.bytes / word; ++i)
    operands.push_back(
        {.kind = ir::PtxOperand::Kind::Value, .expr = code_.load(view, {code_.add(first, i)})});
  operands.push_back({.kind = ir::PtxOperand::Kind::Address,
                      .expr = code_.let("src_ptr", code_.pointer(src_, from))});
  code_.ptx("ld.global" + modifiers_ + load_tail(phase.bytes), std::move(operands));
}

namespace {

// The value of a setting in words, as far as it is one of those: none when it is not given.
Match<std::string> word_of(const Call& call, std::string_view name,
                           std::span<const std::string_view> words) {
  const ir::Setting* setting = call.setting(name);
  if (setting == nullptr) return std::string();
  if (const auto* text = std::get_if<std::string>(setting))
    if (std::find(words.begin(), words.end(), *text) != words.end()) return *text;
  if (const auto* number = std::get_if<std::int64_t>(setting)) {
    const std::string text = std::to_string(*number);
    if (*number == -1) return std::string();
    if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  }
  return decline("config", "`{}` is not one of {}", name, fmt::join(words, ", "));
}

}  // namespace

namespace {

// Does the target have a load with these modifiers?
bool is_on_target(const std::string& opcode, target::Target target) {
  const isa::Bindings bindings = isa::bind_opcode(opcode);
  return std::any_of(bindings.fits.begin(), bindings.fits.end(), [&](const isa::Binding& binding) {
    const auto& gates = binding.form().gates;
    return std::all_of(gates.begin(), gates.end(), [&](const isa::GateInfo& gate) {
      return !binding.holds(gate.when) || (target.has(gate.needs) && target.ptx >= gate.ptx);
    });
  });
}

}  // namespace

Match<std::string> load_modifiers(const Call& call, const CopyProblem& problem,
                                  std::span<const Phase> phases) {
  struct Row {
    std::string_view name, prefix;
    std::span<const std::string_view> words;
  };
  static constexpr std::string_view kCache[] = {"nc"};
  static constexpr std::string_view kL1[] = {"evict_normal", "evict_unchanged", "evict_first",
                                             "evict_last", "no_allocate"};
  static constexpr std::string_view kL2[] = {"evict_normal", "evict_first", "evict_last"};
  static constexpr std::string_view kPrefetch[] = {"64", "128", "256"};
  static constexpr Row kRows[] = {{"cache", ".", kCache},
                                  {"l1_evict", ".L1::", kL1},
                                  {"l2_evict", ".L2::", kL2},
                                  {"prefetch_size", ".L2::", kPrefetch}};
  std::string out;
  for (const Row& row : kRows) {
    auto word = word_of(call, row.name, row.words);
    if (!word) return word;
    if (word->empty()) continue;
    if (problem.src.scope != ir::Scope::Global || !problem.dst.is_register())
      return decline("config", "`{}` is for global memory into registers, this is {} to {}",
                     row.name, ir::name_of(problem.src.scope), ir::name_of(problem.dst.scope));
    out += std::string(row.prefix) + *word + (row.name == "prefetch_size" ? "B" : "");
  }
  for (const Phase& phase : phases) {
    const std::string opcode = "ld.global" + out + load_tail(phase.bytes);
    if (!out.empty() && !is_on_target(opcode, call.context.target))
      return decline("config", "there is no `{}` on {}", opcode,
                     target::info(call.context.target.arch).name);
  }
  return out;
}

// --- report --------------------------------------------------------------------------------------

PlanReport begin_report(const Call& call, const CopyProblem& problem) {
  PlanReport out;
  out.elements = problem.elements;
  out.bytes = (problem.elements * problem.dst.bits + 7) / 8;
  out.threads = call.unit_threads();
  if (const Side* own = problem.register_side()) {
    const RegisterMap map = register_map(call, problem, own == &problem.dst);
    std::int64_t occupied = 0;
    for (std::int64_t slot = 0; slot < map.slots; ++slot) {
      const auto row = map.cells.begin() + slot * map.threads;
      occupied +=
          std::any_of(row, row + map.threads, [](std::int32_t x) { return x >= 0; }) ? 1 : 0;
    }
    out.registers = (occupied * own->bits + 31) / 32;
  }
  return out;
}

namespace {

std::string_view space_word(const Side& side) {
  return side.scope == ir::Scope::Global ? "global" : "shared";
}

std::string access_opcode(std::string_view op, const Side& side, std::int64_t bytes) {
  static constexpr std::array kTypes = {std::pair(32, "v8.b32"), std::pair(16, "v4.b32"),
                                        std::pair(8, "v2.b32"),  std::pair(4, "b32"),
                                        std::pair(2, "b16"),     std::pair(1, "b8")};
  for (const auto& [width, type] : kTypes)
    if (width == bytes) return fmt::format("{}.{}.{}", op, space_word(side), type);
  return {};
}

}  // namespace

void add_instruction(PlanReport& report, std::string opcode, std::int64_t count,
                     std::int64_t bytes) {
  for (InstructionCount& each : report.instructions)
    if (each.opcode == opcode) {
      each.per_thread += count;
      return;
    }
  report.instructions.push_back({std::move(opcode), count, bytes});
}

void add_phase(PlanReport& report, const CopyProblem& problem, const Phase& phase) {
  if (!problem.src.is_register())
    add_instruction(report, access_opcode("ld", problem.src, phase.bytes), phase.rounds,
                    phase.bytes);
  if (!problem.dst.is_register())
    add_instruction(report, access_opcode("st", problem.dst, phase.bytes), phase.rounds,
                    phase.bytes);
  if (problem.src.is_register() && problem.dst.is_register())
    add_instruction(report, "mov", phase.rounds, phase.bytes);
  report.rounds += phase.rounds;
  report.vector_bits = std::max(report.vector_bits, static_cast<int>(phase.bytes * 8));
}

void log_phase(AccessLog& log, const Phase& phase, bool is_dst) {
  const std::vector<std::int64_t>& places = is_dst ? phase.dst_places : phase.src_places;
  for (std::int64_t k = 0; k < phase.rounds; ++k)
    for (std::int64_t first = 0; first < phase.threads; first += 32) {
      WarpAccess access{.linear = {}, .bytes = phase.bytes};
      for (std::int64_t u = first; u < std::min(first + 32, phase.threads); ++u) {
        const std::int64_t q = k * phase.threads + u;
        const bool takes_part = phase.used[index(u)] && (phase.count == 0 || q < phase.count);
        access.linear.push_back(takes_part ? places[index(q)] : WarpAccess::kNoAddress);
      }
      log.add(std::move(access));
    }
}

PlanReport phases_report(const Call& call, const CopyProblem& problem,
                         const std::vector<Phase>& phases) {
  PlanReport report = begin_report(call, problem);
  std::vector<bool> busy(phases.empty() ? 0 : phases[0].used.size());
  for (const Phase& phase : phases) {
    add_phase(report, problem, phase);
    for (std::size_t u = 0; u < busy.size(); ++u) busy[u] = busy[u] || phase.used[u];
  }
  report.threads = std::count(busy.begin(), busy.end(), true);
  for (const bool is_dst : {false, true}) {
    const Side& side = is_dst ? problem.dst : problem.src;
    if (!ir::is_shared(side.scope)) continue;
    AccessLog log(side);
    for (const Phase& phase : phases) log_phase(log, phase, is_dst);
    add_costs(report, call, log);
  }
  return report;
}

}  // namespace ww::lower
