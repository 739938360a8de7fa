// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/name_moves.h"

#include <algorithm>

#include "ir/settings.h"
#include "ir/shared_size.h"

namespace ww::lower {

NameMoves::NameMoves(const Call& call, const Granules& src, Granules& dst, int granule,
                     ScratchOrder& order)
    : call_(call),
      src_(src),
      dst_(dst),
      granule_(granule),
      order_(order),
      remote_(ir::remote_operand(call.f(), call.tile)),
      writers_(dst.is_private() ? Granules(1, granule, {}) : dst.blank()) {
  for (const ScratchBuffer& each : call.context.scratch) keep(each.buffer);
  if (call.workspace) keep(call.workspace->buffer);
}

void NameMoves::keep(ir::BufferId storage) {
  if (const auto kept = kept_.find(storage); kept != kept_.end()) return kept->second.clear();
  const ir::Function& f = call_.f();
  const std::int64_t bits = ir::storage_bytes(f, f[storage]).value_or(0) * 8;
  kept_.emplace(storage, bits / granule_);
  source_ = target_ = {};  // what was an operand's may be its own now
}

// What a thread reads there: not what lies beside the source, though its registers may be read; and
// no register of the code's own before it is written. Scratch memory is left to `read_name`.
[[gnu::always_inline]] inline Name NameMoves::name_in(const Side& from, std::size_t thread,
                                                      std::int64_t granule) const {
  if (from.is_scratch) return KeptNames::kUnwritten;
  if (from.kept != nullptr) return from.kept->at(thread, granule);
  const Name name = src_.at(src_.row_of(thread), granule);
  return name == kNobody && !src_.is_private() ? KeptNames::kUnwritten : name;
}

// Two threads that write the same bytes are in a race, even when they write the same. Scratch memory
// is left to `put_name`.
[[gnu::always_inline]] inline bool NameMoves::has_put(const Side& to, std::size_t thread,
                                                      std::int64_t granule, Name name) {
  if (to.is_scratch) return false;
  if (to.kept != nullptr) return to.kept->put(thread, granule, name);
  Name* const at = dst_.place(dst_.row_of(thread), granule);
  if (at == nullptr) return false;
  if (!dst_.is_private()) {
    Name& writer = *writers_.place(0, granule);
    if (writer >= 0 && writer != static_cast<Name>(thread)) return false;
    writer = static_cast<Name>(thread);
  }
  *at = name;
  return true;
}

Try<void> NameMoves::move(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          const PointerValue& from, std::size_t from_thread, std::int64_t from_bit,
                          std::int64_t bits) {
  if (!source_.is_of(from)) WW_TRY_VOID(source_of(from));
  if (!target_.is_of(to)) WW_TRY_VOID(target_of(to));
  const std::int64_t read = granule_at(from_bit, granule_);
  const std::int64_t written = granule_at(to_bit, granule_);
  if (bits == granule_) {  // most often
    const Name name = name_in(source_, from_thread, read);
    if (name != KeptNames::kUnwritten && has_put(target_, to_thread, written, name)) return {};
  }
  return move_granules(target_, to_thread, written, source_, from_thread, read, bits);
}

Try<NameMoves::Way> NameMoves::way(const PointerValue& to, const PointerValue& from) {
  const Side& source = *WW_TRY(source_of(from));
  const Side& target = *WW_TRY(target_of(to));
  return Way{.source = src_.table(),
             .target = dst_.table(),
             .writers = writers_.table(),
             .is_direct = source.kept == nullptr && target.kept == nullptr,
             .is_source_shared = !src_.is_private(),
             .is_target_shared = !dst_.is_private()};
}

Try<void> NameMoves::move_each(const PointerValue& to, const PointerValue& from, std::int64_t bits,
                               const Mask& mask) {
  if (std::find(mask.begin(), mask.end(), true) == mask.end()) return {};
  const Way direct = WW_TRY(way(to, from));
  const Side &source = source_, &target = target_;
  const PerUnit::Reader from_bit(from.bit), to_bit(to.bit);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    const std::int64_t read = granule_at(from_bit[t], granule_);
    const std::int64_t written = granule_at(to_bit[t], granule_);
    if (bits == granule_) {  // most often
      if (direct.has_moved(t, written, t, read)) continue;
      const Name name = name_in(source, t, read);
      if (name != KeptNames::kUnwritten && has_put(target, t, written, name)) continue;
    }
    WW_TRY_VOID(move_granules(target, t, written, source, t, read, bits));
  }
  return {};
}

// All is read before anything is written.
Try<void> NameMoves::move_granules(const Side& to, std::size_t to_thread, std::int64_t target,
                                   const Side& from, std::size_t from_thread, std::int64_t granule,
                                   std::int64_t bits) {
  const bool is_apart = from.kept != to.kept || from.kept == nullptr;  // operands are two tables
  for (; is_apart && bits > granule_; bits -= granule_) {
    Name name = name_in(from, from_thread, granule);
    if (name == KeptNames::kUnwritten) name = WW_TRY(read_name(from, from_thread, granule));
    if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
    ++granule;
    ++target;
  }
  moving_.clear();
  for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule) {
    const Name name = name_in(from, from_thread, granule);
    moving_.push_back(
        name != KeptNames::kUnwritten ? name : WW_TRY(read_name(from, from_thread, granule)));
  }
  for (const Name name : moving_) {
    if (!has_put(to, to_thread, target, name)) WW_TRY_VOID(put_name(to, to_thread, target, name));
    ++target;
  }
  return {};
}

Try<std::vector<Name>> NameMoves::names_at(const PointerValue& from, std::size_t thread,
                                           std::int64_t bit, std::int64_t bits) {
  const Side& source = *WW_TRY(source_of(from));
  std::int64_t granule = granule_at(bit, granule_);
  std::vector<Name> out;
  for (std::int64_t i = 0; i * granule_ < bits; ++i)
    out.push_back(WW_TRY(read_name(source, thread, granule++)));
  return out;
}

Try<void> NameMoves::put_names(const PointerValue& to, std::size_t thread, std::int64_t bit,
                               const std::vector<Name>& names) {
  const Side& target = *WW_TRY(target_of(to));
  std::int64_t granule = granule_at(bit, granule_);
  for (const Name name : names) WW_TRY_VOID(put_name(target, thread, granule++, name));
  return {};
}

Try<const NameMoves::Side*> NameMoves::source_of(const PointerValue& from) {
  if (source_.is_of(from)) return &source_;
  return side_of(from, 1);
}

Try<const NameMoves::Side*> NameMoves::target_of(const PointerValue& to) {
  if (target_.is_of(to)) return &target_;
  return side_of(to, 0);
}

// An operand is reached where it is: in the own CTA, or in the other.
Try<const NameMoves::Side*> NameMoves::side_of(const PointerValue& at, std::size_t operand) {
  const ir::Function& f = call_.f();
  const auto kept = kept_.find(at.storage);
  const bool is_kept = kept != kept_.end();
  if (!is_kept && at.storage != ir::storage_of(f, call_.region(operand).buffer))
    return wrong("a move {} `{}`", operand == 0 ? "to" : "from", f[at.storage].name);
  const bool is_meant = remote_ == operand;
  if (!is_kept && at.is_remote != is_meant)
    return wrong("`{}` of {} CTA is reached, expected that of {}", f[at.storage].name,
                 at.is_remote ? "the other" : "the own", is_meant ? "the other" : "the own");
  Side& out = operand == 0 ? target_ : source_;
  out = {at.storage, at.is_remote, is_kept ? &kept->second : nullptr,
         order_.is_scratch(at.storage)};
  return &out;
}

Try<Name> NameMoves::read_name(const Side& from, std::size_t thread, std::int64_t granule) {
  if (from.is_scratch) WW_TRY_VOID(order_.read(from.storage, granule * granule_, thread));
  const Name name = from.is_scratch ? from.kept->at(0, granule) : name_in(from, thread, granule);
  if (name != KeptNames::kUnwritten) return name;
  return wrong("byte {} is read, outside the source", granule * granule_ / 8);
}

Try<void> NameMoves::put_name(const Side& to, std::size_t thread, std::int64_t granule, Name name) {
  if (to.is_scratch) WW_TRY_VOID(order_.write(to.storage, granule * granule_, thread));
  const bool is_put =
      to.is_scratch ? to.kept->put(0, granule, name) : has_put(to, thread, granule, name);
  return is_put ? Try<void>() : misplaced(to, thread, granule);
}

// Why a granule may not be written there.
Unexpected<Unproven> NameMoves::misplaced(const Side& to, std::size_t thread,
                                          std::int64_t granule) {
  const std::int64_t byte = granule * granule_ / 8;
  if (to.kept != nullptr)
    return wrong("byte {} of `{}` is written, outside it", byte, call_.f()[to.storage].name);
  if (dst_.place(dst_.row_of(thread), granule) == nullptr)
    return wrong("byte {} is written, outside the destination", byte);
  return wrong("byte {} is written by threads {} and {} of the unit", byte,
               *writers_.place(0, granule), thread);
}

Try<void> NameMoves::fill(const PointerValue& to, std::size_t to_thread, std::int64_t to_bit,
                          std::int64_t bits, Name name) {
  const Side& target = *WW_TRY(target_of(to));
  std::int64_t granule = granule_at(to_bit, granule_);
  for (std::int64_t bit = 0; bit < bits; bit += granule_, ++granule)
    if (!has_put(target, to_thread, granule, name))
      WW_TRY_VOID(put_name(target, to_thread, granule, name));
  return {};
}

}  // namespace ww::lower
