// SPDX-License-Identifier: Apache-2.0
#include "contents.h"

#include <algorithm>
#include <cstring>

namespace ww::bench {
namespace {

using runtime::Address;
using runtime::CudaDevice;

constexpr std::size_t kWords = 8388593;  // the largest prime below 2^23: 64 MiB
constexpr std::size_t kRowsAtOnce = 32;

// splitmix64: the i-th of its numbers from seed 0.
std::uint64_t random_word(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

// The block at the beginning, then what is there once more behind it, until it is enough.
Result<void> fill_with(CudaDevice& device, Address to, std::size_t bytes,
                       std::span<const std::byte> block) {
  std::size_t done = std::min(block.size(), bytes);
  WW_TRY_VOID(device.upload(to, block.first(done)));
  while (done < bytes) {
    const std::size_t next = std::min(done, bytes - done);
    WW_TRY_VOID(device.copy(to + done, to, next));
    done += next;
  }
  return {};
}

Contents::Contents() {
  elements_.reserve(4 * kWords);
  for (std::size_t i = 0; i < kWords; ++i)
    for (const unsigned shift : {0U, 16U, 32U, 48U})
      elements_.push_back(static_cast<Element>(random_word(i) >> shift));
}

Result<void> Contents::fill(CudaDevice& device, Address to, std::size_t bytes) const {
  return fill_with(device, to, bytes, block());
}

Result<void> Contents::clear(CudaDevice& device, Address to, std::size_t bytes) {
  return fill_with(device, to, bytes, std::vector<std::byte>(std::size_t{1} << 20U));
}

Result<void> Contents::check_copy(CudaDevice& device, Address at, std::size_t bytes) const {
  std::vector<std::byte> seen(block().size());
  for (std::size_t from = 0; from < bytes; from += block().size()) {
    seen.resize(std::min(block().size(), bytes - from));
    WW_TRY_VOID(device.download(seen, at + from));
    if (std::memcmp(seen.data(), block().data(), seen.size()) == 0) continue;
    const auto differs = std::ranges::mismatch(seen, block());
    return fail(DiagKind::DeviceError, "wrong result: byte {} is {:#04x} in place of {:#04x}",
                from + static_cast<std::size_t>(differs.in1 - seen.begin()),
                std::to_integer<unsigned>(*differs.in1), std::to_integer<unsigned>(*differs.in2));
  }
  return {};
}

// Some rows of the transpose, from `first` on. They take their elements from neighbours in a row of
// the matrix, so that both are read along cache lines.
Result<void> Contents::check_rows(std::span<const Element> seen, std::size_t first,
                                  std::size_t rows, std::size_t cols) const {
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t from = (row * cols + first) % elements_.size();
    for (std::size_t i = 0; i < seen.size() / rows; ++i) {
      const Element is = seen[i * rows + row];
      if (is != elements_[from])
        return fail(DiagKind::DeviceError,
                    "wrong result: element ({}, {}) is {:#06x} in place of {:#06x}", first + i, row,
                    is, elements_[from]);
      from = from + 1 == elements_.size() ? 0 : from + 1;
    }
  }
  return {};
}

Result<void> Contents::check_transpose(CudaDevice& device, Address at, std::size_t rows,
                                       std::size_t cols) const {
  std::vector<Element> seen;
  for (std::size_t first = 0; first < cols; first += kRowsAtOnce) {
    seen.resize(std::min(kRowsAtOnce, cols - first) * rows);
    WW_TRY_VOID(device.download(std::as_writable_bytes(std::span(seen)),
                                at + first * rows * sizeof(Element)));
    WW_TRY_VOID(check_rows(seen, first, rows, cols));
  }
  return {};
}

}  // namespace ww::bench
