// SPDX-License-Identifier: Apache-2.0
// From buffers and indices to places, and reading and writing there with every check.
#include <algorithm>

#include "eval/cta.h"

namespace ww::eval {
namespace {

// A pointer holds the number of its memory plus one, and a byte offset that may be negative. The
// low bits are those of the offset, so that alignment can be asked of the number.
constexpr int kOffsetBits = 44;
constexpr std::int64_t kOffsetBias = std::int64_t{1} << (kOffsetBits - 1);

}  // namespace

Word Cta::pointer_to(Place place) const {
  if (place.root == kNoRoot) return 0;
  const std::int64_t byte = place.bit >> 3;
  return (static_cast<Word>(place.root + 1) << kOffsetBits) | static_cast<Word>(byte + kOffsetBias);
}

Place Cta::place_at(Word pointer) const {
  const auto root = static_cast<std::int64_t>(pointer >> kOffsetBits) - 1;
  if (root < 0 || root >= static_cast<std::int64_t>(k_.roots.size())) return {};
  const auto byte = static_cast<std::int64_t>(pointer & low_mask(kOffsetBits)) - kOffsetBias;
  return {static_cast<std::int32_t>(root), byte * 8};
}

Place Cta::shared_at(std::uint32_t address) const {
  for (std::size_t r = 0; r < k_.roots.size(); ++r) {
    const Root& root = k_.roots[r];
    if (ir::is_shared(root.scope) && address >= root.window && address < root.window + root.bytes)
      return {static_cast<std::int32_t>(r), std::int64_t{address - root.window} * 8};
  }
  return {};
}

// A pointer, or an address in the shared window.
Place Cta::address_place(ir::Type type, Word value) const {
  if (type.is_value() && num::bits_of(type.dtype) == 32)
    return shared_at(static_cast<std::uint32_t>(value));
  return place_at(value);
}

Element Cta::element_at(Place place, Thread t) const {
  return {.place = place, .owner = t, .info = nullptr, .flat = 0};
}

Storage& Cta::storage_of(std::int32_t root) {
  const auto index = static_cast<std::size_t>(root);
  return k_.roots[index].scope == ir::Scope::Global ? run_.globals[index] : memory_[index];
}

std::int64_t Cta::absolute(const Element& element) const {
  const Root& root = k_.roots[static_cast<std::size_t>(element.place.root)];
  if (root.scope != ir::Scope::Local) return element.place.bit;
  return element.place.bit + static_cast<std::int64_t>(element.owner * root.bytes * 8);
}

Access Cta::access_of(Agent agent, bool is_atomic) const {
  return {.agent = agent, .is_atomic = is_atomic, .cta = number_, .time = order_.now(), .op = op_};
}

// --- places ------------------------------------------------------------------------------------

std::vector<Place> Cta::bases_of(const BufferInfo& info, Threads ts) {
  std::vector<Place> bases(ts.size(), Place{info.root, info.offset_bits});
  if (info.root == kNoRoot && info.ir->pointer.valid()) {
    const Words pointers = eval(info.ir->pointer, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      bases[i] = place_at(pointers[i]);
      bases[i].bit += info.offset_bits;
    }
  }
  const auto add = [&](ir::ExprId offset, std::int64_t bits) {
    if (!offset.valid()) return;
    const Words values = eval(offset, ts);
    for (std::size_t i = 0; i < ts.size(); ++i)
      bases[i].bit += as_int(type_of(offset), values[i]) * bits;
  };
  add(info.elem_offset, info.bits);
  add(info.byte_offset, 8);
  if (info.ir->scope == ir::Scope::Tmem && info.allocated_addr.valid()) {
    const Words addresses = eval(info.allocated_addr, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) {
      const auto address = static_cast<std::int64_t>(addresses[i] & low_mask(32));
      bases[i].bit += (address >> 16) * kTmemLaneBits + (address & 0xffff) * 32;
    }
  }
  return bases;
}

std::vector<Element> Cta::locate(const BufferInfo& info, std::span<const ir::ExprId> indices,
                                 int lanes, Threads ts) {
  const std::size_t n = ts.size();
  const auto width = static_cast<std::size_t>(lanes);
  std::vector<Element> out(n * width);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].owner = ts[i % n];
    out[i].info = &info;
  }
  std::vector<char> is_bad(out.size(), 0);
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Words index = eval(indices[d], ts);
    const num::DType type = type_of(indices[d]);
    const bool is_last = d + 1 == indices.size();
    const bool is_vector = index.size() == out.size() && width > 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::int64_t at = as_int(type, index[is_vector ? i : i % n]);
      if (is_last && !is_vector) at += static_cast<std::int64_t>(i / n);
      const std::int64_t extent = info.shape[d];
      if (at < 0 || at >= extent) {
        if (Finding* found = is_bad[i] == 0 ? finding(Check::Bounds, out[i]) : nullptr;
            found != nullptr)
          found->text =
              fmt::format("index {} of dimension {} of `{}` in {} of {} leaves its extent {}", at,
                          d, info.ir->name, thread_text(out[i].owner), cta_text(), extent);
        is_bad[i] = 1;
        at = 0;
      }
      out[i].flat = out[i].flat * extent + at;
    }
  }
  const std::vector<Place> bases = bases_of(info, ts);
  const bool is_tmem = info.ir->scope == ir::Scope::Tmem;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_bad[i] != 0) continue;
    const Spot spot = info.placement.spot(out[i].flat);
    out[i].place = bases[i % n];
    out[i].place.bit += spot.memory * info.bits + (is_tmem ? spot.owner * kTmemLaneBits : 0);
    if (out[i].place.root == kNoRoot) is_reachable(out[i], info.bits);
  }
  return out;
}

// --- checks ------------------------------------------------------------------------------------

bool Cta::is_reachable(const Element& element, int bits) {
  const std::int64_t bit = element.place.bit;
  bool is_inside = element.place.root != kNoRoot;
  if (is_inside) {
    const Root& root = k_.roots[static_cast<std::size_t>(element.place.root)];
    is_inside = bit >= 0 && bit + bits <= static_cast<std::int64_t>(root.bytes * 8) &&
                (bits < 8 ? bit % bits == 0 : bit % 8 == 0);
    if (is_inside && root.scope == ir::Scope::Tmem &&
        !tmem_used_[static_cast<std::size_t>(bit % kTmemLaneBits / 32)]) {
      if (Finding* found = finding(Check::Tensor, element); found != nullptr)
        found->text = fmt::format("{} is used by {} in column {}, which is not allocated",
                                  element_text(element), cta_text(), bit % kTmemLaneBits / 32);
      return false;
    }
  }
  if (is_inside) return true;
  if (Finding* found = finding(Check::Bounds, element); found != nullptr)
    found->text = fmt::format("the place of {} in {} of {} is not in any memory",
                              element_text(element), thread_text(element.owner), cta_text());
  return false;
}

void Cta::report_undefined(const Element& element, Agent agent) {
  if (Finding* found = finding(Check::Uninit, element); found != nullptr)
    found->text = fmt::format("{} is used by {} of {}, and nothing has written it",
                              element_text(element), agent_text(agent), cta_text());
}

void Cta::report_race(const Element& element, const Conflict& conflict, const Access& by,
                      bool is_write) {
  Finding* found = finding(Check::Race, element);
  if (found == nullptr) return;
  const std::string_view before = conflict.earlier_wrote ? "written" : "read";
  const bool is_other = conflict.earlier.cta != number_;
  const std::string who =
      is_other ? std::string("another CTA") : agent_text(conflict.earlier.agent);
  found->text = fmt::format("{} is {} by {} of {} and {} by {}, and nothing orders them",
                            element_text(element), is_write ? "written" : "read",
                            agent_text(by.agent), cta_text(), before, who);
  found->note = fmt::format("{} here by {}", before, who);
  found->note_span = span_of(conflict.earlier.op);
}

namespace {

bool is_tracked(ir::Scope scope, int bits) {
  return bits >= 8 && (scope == ir::Scope::Global || ir::is_shared(scope));
}

}  // namespace

Word Cta::read(const Element& element, int bits, const Access& by, Word& undefined) {
  undefined = 0;
  if (!is_reachable(element, bits)) return 0;
  Storage& storage = storage_of(element.place.root);
  const std::int64_t bit = absolute(element);
  const bool is_target = storage.is_target(bit, bits);
  if (is_target) {
    if (Finding* found = finding(Check::Async, element); found != nullptr)
      found->text = fmt::format("{} is read by {} of {} while a copy into it is under way",
                                element_text(element), agent_text(by.agent), cta_text());
  }
  if (is_tracked(k_.roots[static_cast<std::size_t>(element.place.root)].scope, bits))
    if (const auto conflict = races_.read(storage, bit, bits, by); conflict && !is_target)
      report_race(element, *conflict, by, false);
  undefined = storage.undefined(bit, bits);
  return storage.value(bit, bits);
}

Word Cta::read_defined(const Element& element, int bits, const Access& by) {
  Word undefined = 0;
  const Word value = read(element, bits, by, undefined);
  if (undefined != 0) report_undefined(element, by.agent);
  return value;
}

void Cta::write(const Element& element, int bits, Word value, Word undefined, const Access& by) {
  if (!is_reachable(element, bits)) return;
  Storage& storage = storage_of(element.place.root);
  const std::int64_t bit = absolute(element);
  const bool is_target = storage.is_target(bit, bits);
  if (is_target || storage.is_source(bit, bits)) {
    if (Finding* found = finding(Check::Async, element); found != nullptr)
      found->text = fmt::format("{} is written by {} of {} while a copy {} it is under way",
                                element_text(element), agent_text(by.agent), cta_text(),
                                is_target ? "into" : "from");
  }
  const auto conflict = put(element, bits, value, undefined, by);
  if (conflict && !is_target) report_race(element, *conflict, by, true);
}

std::optional<Conflict> Cta::put(const Element& element, int bits, Word value, Word undefined,
                                 const Access& by) {
  const auto conflict = note_write(element, bits, by);
  storage_of(element.place.root).put(absolute(element), bits, value, undefined);
  return conflict;
}

std::optional<Conflict> Cta::note_write(const Element& element, int bits, const Access& by) {
  if (!is_tracked(k_.roots[static_cast<std::size_t>(element.place.root)].scope, bits)) return {};
  Storage& storage = storage_of(element.place.root);
  const std::int64_t bit = absolute(element);
  return races_.write(storage, bit, bits, by);
}

}  // namespace ww::eval
