// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/arrays.h"

#include <algorithm>
#include <cstring>

namespace ww::eval {
namespace {

// Both have the same size: 0, at no address, where nothing is matched to a parameter.
template <typename To, typename From>
void copy_all(std::vector<To>& to, const std::vector<From>& from) {
  static_assert(sizeof(To) == 1 && sizeof(From) == 1);
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

// Whether element after element lies in memory as in the argument.
bool is_as_packed(const BufferInfo& info, const Root& root, const BufferArg& argument) {
  const auto bits = static_cast<std::int64_t>(argument.bytes->size()) * 8;
  return info.placement.is_plain() && info.offset_bits == 0 && info.size * info.bits == bits &&
         argument.bytes->size() <= root.bytes;
}

}  // namespace

Storage load_argument(const Launch& launch, const Root& root, const BufferArg& argument) {
  Storage storage(root.bytes, root.granule, !root.buffer.valid() && argument.is_defined);
  std::vector<std::uint8_t> packed(argument.bytes->size());
  copy_all(packed, *argument.bytes);
  if (!root.buffer.valid()) {
    storage.bytes() = std::move(packed);
    storage.keep_written();
    return storage;
  }
  const BufferInfo& info = launch.info(root.buffer);
  if (is_as_packed(info, root, argument)) {
    storage = Storage(root.bytes, root.granule, argument.is_defined);
    std::copy(packed.begin(), packed.end(), storage.bytes().begin());
    storage.keep_written();
    return storage;
  }
  Storage source(packed.size(), 1, true);
  source.bytes() = std::move(packed);
  for (std::int64_t flat = 0; flat < info.size; ++flat)
    for (std::size_t copy = 0; copy < info.placement.copies(); ++copy) {
      const std::int64_t bit =
          info.placement.spot(flat, copy).memory * info.bits + info.offset_bits;
      const Word undefined = argument.is_defined ? 0 : ~Word{0};
      if (storage.holds(bit, info.bits))
        storage.put(bit, info.bits, source.value(flat * info.bits, info.bits), undefined);
    }
  storage.keep_written();
  return storage;
}

void store_argument(const Launch& launch, const Root& root, Storage& storage,
                    const BufferArg& argument, std::vector<bool>& written) {
  if (!root.buffer.valid()) {
    copy_all(*argument.bytes, storage.bytes());
    for (std::size_t i = 0; i < argument.bytes->size(); ++i)
      written.push_back(storage.was_written(static_cast<std::int64_t>(i) * 8, 8));
    return;
  }
  const BufferInfo& info = launch.info(root.buffer);
  written.assign(static_cast<std::size_t>(info.size), false);
  if (is_as_packed(info, root, argument)) {
    copy_all(*argument.bytes, storage.bytes());
    for (std::int64_t flat = 0; flat < info.size; ++flat)
      written[static_cast<std::size_t>(flat)] = storage.was_written(flat * info.bits, info.bits);
    return;
  }
  Storage target(argument.bytes->size(), 1, true);
  copy_all(target.bytes(), *argument.bytes);
  for (std::int64_t flat = 0; flat < info.size; ++flat) {
    const std::int64_t bit = info.placement.spot(flat).memory * info.bits + info.offset_bits;
    if (!storage.holds(bit, info.bits)) continue;
    target.put(flat * info.bits, info.bits, storage.value(bit, info.bits), 0);
    written[static_cast<std::size_t>(flat)] = storage.was_written(bit, info.bits);
  }
  copy_all(*argument.bytes, target.bytes());
}

}  // namespace ww::eval
