// SPDX-License-Identifier: Apache-2.0
#include "sim/decode/frame.h"

#include <algorithm>

#include "base/check.h"
#include "ptx/variable_check.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"

namespace ww::sim {
namespace {

// Of registers and of local memory of one function: what offsets in ops can say.
constexpr std::uint64_t kMaxPlaced = std::uint64_t{1} << 30U;

}  // namespace

Place Frame::new_register(isa::Type type, unsigned components) {
  // A predicate is four bytes, but takes 32 so that every register's tracking has room.
  const std::uint64_t size = std::uint64_t{lane_bytes(type)} * kLanes * components;
  if (register_bytes_ + size > kMaxPlaced) {
    if (!is_full_) {
      errors_.push_back(diag(DiagKind::TooLarge, "the registers of `{}` take more than {} bytes",
                             module_.text(function_.name), kMaxPlaced)
                            .with_span(Span::at(function_.offset, function_.offset + 1)));
    }
    is_full_ = true;
    return Place::in_frame(0);
  }
  const Place place = Place::in_frame(register_bytes_);
  register_bytes_ += static_cast<std::uint32_t>(size);
  return place;
}

Place Frame::carry() {
  if (!carry_.present()) carry_ = new_register(isa::Type::Pred);
  return carry_;
}

Place Frame::register_of(const ptx::Declared& what) {
  Place& first = registers_[std::uint64_t{what.declaration} << 32U | what.member];
  if (!first.present()) first = new_register(what.type, what.lanes);
  return first;
}

std::pair<Place, bool> Frame::special(Special special, isa::Type type) {
  Place& place = specials_[{static_cast<std::uint8_t>(special), lane_bytes(type)}];
  const bool is_new = !place.present();
  if (is_new) place = new_register(type);
  return {place, is_new};
}

std::pair<Place, bool> Frame::shared_address(std::uint64_t offset, unsigned bytes) {
  Place& place = shared_addresses_[{offset, bytes}];
  const bool is_new = !place.present();
  if (is_new) place = scratch(bytes);
  return {place, is_new};
}

void Frame::add_local(const ptx::Variable& variable) {
  const std::uint64_t at = round_up(local_bytes_, ptx::align_in_bytes(variable));
  const std::uint64_t bytes = ptx::size_in_bytes(variable);
  const std::uint64_t end = at + std::max<std::uint64_t>(bytes, 1);
  const bool fits = end <= kMaxPlaced;
  set_local(variable, fits ? static_cast<std::uint32_t>(at) : 0);
  if (fits) {
    local_bytes_ = static_cast<std::uint32_t>(end);
    return;
  }
  const std::string_view name = module_.text(variable.name);
  errors_.push_back(diag(DiagKind::TooLarge,
                         "with `{}`, which has {} bytes, `{}` needs more than {} bytes of local "
                         "memory",
                         name, bytes, module_.text(function_.name), kMaxPlaced)
                        .with_span(Span::at(variable.offset, variable.offset + name.size())));
}

}  // namespace ww::sim
