// SPDX-License-Identifier: Apache-2.0
// The memory that allocations take: the verifier adds it up, and lowering checks it before
// allocating.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/function.h"

namespace ww::ir {

/// Bytes of storage of an allocation, the gaps of its layout included; nothing when they are not
/// known.
std::optional<std::int64_t> storage_bytes(const Function& f, const Buffer& buffer);

/// Bytes of a storage, from `begin` to before `end`.
struct StoragePart {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] bool meets(const StoragePart& other) const {
    return begin < other.end && other.begin < end;
  }
};
/// The part of its storage that a buffer reaches, if that is known.
std::optional<StoragePart> storage_part(const Function& f, const Buffer& buffer);
/// Where a buffer of so many bytes ends in static shared memory, of which `used` bytes are taken.
std::int64_t end_in_shared(std::int64_t used, const Buffer& buffer, std::int64_t bytes);

/// Bytes of dynamic shared memory that the body allocates, as far as they are known.
std::int64_t dynamic_shared_bytes(const Function& f);

}  // namespace ww::ir
