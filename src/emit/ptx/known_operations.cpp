// SPDX-License-Identifier: Apache-2.0
#include "emit/ptx/known_operations.h"

#include <algorithm>
#include <utility>

namespace ww::emit::to_ptx {
namespace {

std::uint32_t hash_of(std::span<const std::uint64_t> words) {
  std::uint64_t out = words.size();
  for (const std::uint64_t word : words) {
    out = (out ^ word) * 0x9E3779B97F4A7C15U;
    out ^= out >> 29U;
  }
  return spread(out);
}

}  // namespace

void KnownOperations::merge_scope() {
  const Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  Scope& around = scopes_.back();
  for (const std::uint32_t number : closed.known) {
    around.index.add(known_[number].hash, number);
    around.known.push_back(number);
  }
}

int KnownOperations::level_for(std::span<const Arg> args) const {
  int wanted = 0;
  for (const Arg& arg : args) wanted = std::max(wanted, registers_.level_of(arg, level()));
  int found = level();
  while (found > wanted && scopes_[static_cast<std::size_t>(found)].is_loop) --found;
  return found;
}

// One word for a register or a part of another operand; more for what does not fit.
void KnownOperations::add_key(const Arg& arg) {
  const bool is_value = arg.kind == ArgKind::Value;
  const bool varies = is_value && registers_.is_variable(arg.value);
  std::uint64_t head = static_cast<std::uint64_t>(arg.kind) | std::uint64_t{varies} << 8U |
                       static_cast<std::uint64_t>(arg.value.kind) << 16U;
  if (is_value && arg.value.is_register()) {
    key_.push_back(head | std::uint64_t{arg.value.reg} << 32U);
    if (varies) key_.push_back(registers_.version(arg.value));
    return;
  }
  if (is_value) {
    key_.push_back(head);
    key_.push_back(static_cast<std::uint64_t>(arg.value.bits));
    return;
  }
  head |= std::uint64_t{arg.parts.size()} << 32U;
  key_.push_back(head);
  key_.push_back(static_cast<std::uint64_t>(arg.offset));
  key_.push_back(arg.name.empty() ? 0 : static_cast<std::uint64_t>(words_.intern(arg.name)));
  for (const Arg& part : arg.parts) add_key(part);
}

// `mov.b32` copies a word or takes it apart: what it gives belongs to the key.
void KnownOperations::set_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args) {
  key_.clear();
  key_.push_back(static_cast<std::uint64_t>(opcode) | std::uint64_t{results} << 32U);
  for (const Arg& arg : args) add_key(arg);
  hash_ = hash_of(key_);
}

std::uint32_t KnownOperations::find_in(const Scope& scope) const {
  return scope.index.find(hash_, [&](std::uint32_t number) {
    const Known& known = known_[number];
    return !known.is_gone &&
           std::ranges::equal(key_, std::span(keys_).subspan(known.key, known.words));
  });
}

Value KnownOperations::find(ptx::NameId opcode, std::size_t results, std::span<const Arg> args) {
  set_key(opcode, results, args);
  for (const Scope& scope : scopes_)
    if (const std::uint32_t found = find_in(scope); found != HashIndex::kNone)
      return registers_.value(known_[found].first);
  return {};
}

void KnownOperations::add(Value first, int level) {
  const auto number = static_cast<std::uint32_t>(known_.size());
  known_.push_back({.key = static_cast<std::uint32_t>(keys_.size()),
                    .words = static_cast<std::uint32_t>(key_.size()),
                    .hash = hash_,
                    .first = first.reg});
  keys_.insert(keys_.end(), key_.begin(), key_.end());
  Scope& scope = scopes_[static_cast<std::size_t>(level)];
  scope.known.push_back(number);
  scope.index.add(hash_, number);
}

void KnownOperations::forget(ptx::NameId opcode, std::span<const Arg> args) {
  set_key(opcode, 1, args);
  const std::uint32_t found = find_in(scopes_.back());
  if (found != HashIndex::kNone) known_[found].is_gone = true;
}

}  // namespace ww::emit::to_ptx
