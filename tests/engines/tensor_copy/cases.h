// SPDX-License-Identifier: Apache-2.0
// Random tensor maps and copies, the same for the GPU (record.cu) and the virtual GPU (virtual_run.h):
// a case depends only on its kind and number. Everything in a legal case keeps the driver's rules,
// so a difference is one of meaning. `perturb` breaks rules on purpose, to compare what the driver's
// encoder and ours refuse.
#pragma once

#include <cstdint>

namespace ww::tensor_cases {

enum Kind : std::uint32_t {
  kLoad,
  kStore,
  kReduce,
  kIm2colLoad,
  kIm2colStore,
  kInterleaved,
  kInterleavedStore,
  kKinds
};
inline const char* const kKindNames[kKinds] = {
    "load", "store", "reduce", "im2col_load", "im2col_store", "interleaved", "interleaved_store"};
/// Operations of a reducing copy, in the order of the PTX manual.
enum Reduction : std::uint32_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

constexpr int kMaxRank = 5;
constexpr std::uint32_t kSlotBytes = 128 * 1024;   // of global memory for each case
constexpr std::uint32_t kTensorBytes = 48 * 1024;  // of them, a tensor takes at most
constexpr std::uint32_t kSharedBytes = 64 * 1024;  // for boxes
constexpr std::uint32_t kBoxBytes = 6 * 1024;
constexpr std::uint32_t kPaddedBoxBytes = 1024;  // where rows might be padded
constexpr std::uint32_t kTypes = 13;             // of the driver's enumeration that Hopper has
constexpr std::uint32_t kTypeBytes[kTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) { next(); }
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }
  /// In [low, high].
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low + 1)));
  }
  bool once_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// The arguments of the driver's encoder, and those of one copy.
struct Case {
  std::uint32_t kind = kLoad;
  std::uint32_t reduction = kAdd;
  // the map
  std::uint32_t type = 0, rank = 1, interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  std::uint64_t base = 0;  // offset of the tensor in its slot
  std::uint64_t dims[kMaxRank] = {1, 1, 1, 1, 1};
  std::uint64_t strides[kMaxRank] = {};  // bytes; strides[d] of dimension d + 1
  std::uint32_t box[kMaxRank] = {1, 1, 1, 1, 1};
  std::uint32_t steps[kMaxRank] = {1, 1, 1, 1, 1};
  std::int32_t lower[3] = {}, upper[3] = {};  // im2col: W, H, D
  std::uint32_t channels = 0, pixels = 0;
  // the copy
  std::int32_t at[kMaxRank] = {};
  std::uint32_t offsets[3] = {};  // im2col: W, H, D
  std::uint32_t shared = 0;       // where the box starts
  // what is looked at
  std::uint32_t box_bytes = 0;     // that one copy should count
  std::uint32_t shared_bytes = 0;  // from 0 on
  std::uint32_t tensor_bytes = 0;  // of the slot
  std::uint32_t seed = 0;
  bool is_indexed = false;  // memory holds its own word numbers, to read layouts off a dump
};

inline bool is_im2col(const Case& c) { return c.kind == kIm2colLoad || c.kind == kIm2colStore; }
inline bool writes_tensor(const Case& c) {
  return c.kind == kStore || c.kind == kReduce || c.kind == kIm2colStore ||
         c.kind == kInterleavedStore;
}

/// What word i of a memory holds before the copy.
#ifdef __CUDACC__
__host__ __device__
#endif
    inline std::uint32_t
    word_of(std::uint32_t seed, std::uint32_t is_indexed, std::uint32_t i) {
  if (is_indexed != 0) return i + 1;
  std::uint32_t x = (i + 1) * 0x9E3779B9U ^ seed;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}
/// What word i of a memory adds to its digest.
#ifdef __CUDACC__
__host__ __device__
#endif
    inline std::uint64_t
    digest_of(std::uint32_t word, std::uint32_t i) {
  const std::uint64_t x = (word + i * 0x9E3779B9ULL) * 0xD1B54A32D192ED03ULL;
  return x ^ (x >> 29);
}

constexpr std::uint32_t kSwizzleBytes[4] = {16, 32, 64, 128};

inline std::uint32_t round_to(std::uint32_t value, std::uint32_t step) {
  return (value + step - 1) / step * step;
}

inline void pick_type(Case& c, Random& random) {
  c.type = random.below(kTypes);
  if (c.kind != kReduce) return;
  c.reduction = random.below(8);
  // Drivers' codes of the types that each operation takes.
  static const std::uint32_t kAdds[] = {2, 3, 4, 6, 7, 8, 9, 10, 11, 12},
                             kOrders[] = {2, 3, 4, 5, 6, 9}, kBits[] = {2, 3, 4};
  if (c.reduction == kAdd) c.type = kAdds[random.below(10)];
  if (c.reduction == kMin || c.reduction == kMax) c.type = kOrders[random.below(6)];
  if (c.reduction == kInc || c.reduction == kDec) c.type = 2;
  if (c.reduction >= kAnd) c.type = kBits[random.below(3)];
}

// Sizes of the tensor, and strides that keep its elements apart (of loads, some that do not).
inline void place_tensor(Case& c, Random& random) {
  const std::uint32_t size = kTypeBytes[c.type];
  const std::uint32_t unit = c.interleave == 2 ? 32 : 16;
  const bool is_packed = random.once_in(2);
  for (;;) {
    std::uint64_t end = round_to(static_cast<std::uint32_t>(c.dims[0]) * size, unit);
    for (std::uint32_t d = 1; d < c.rank; ++d) {
      c.strides[d - 1] = end + (is_packed ? 0 : unit * random.below(3));
      end = c.strides[d - 1] * c.dims[d];
    }
    if (end <= kTensorBytes) {
      c.tensor_bytes = static_cast<std::uint32_t>(end);
      break;
    }
    std::uint32_t most = 0;
    for (std::uint32_t d = 1; d < c.rank; ++d)
      if (c.dims[d] > c.dims[most]) most = d;
    c.dims[most] = (c.dims[most] + 1) / 2;
  }
  if ((c.kind == kLoad || c.kind == kIm2colLoad) && random.once_in(8)) {
    for (std::uint32_t d = 1; d < c.rank; ++d)
      c.strides[d - 1] =
          16 * (1 + random.below(1 + kTensorBytes / 64 /
                                         (static_cast<std::uint32_t>(c.dims[d]) + 1) / 4));
    std::uint64_t end = c.dims[0] * size;
    for (std::uint32_t d = 1; d < c.rank; ++d) end += c.strides[d - 1] * (c.dims[d] - 1);
    c.tensor_bytes = static_cast<std::uint32_t>(end);
  }
  c.base = std::uint64_t{unit} * random.below(16);
  c.tensor_bytes = round_to(c.tensor_bytes + static_cast<std::uint32_t>(c.base), 16);
}

inline std::int32_t pick_start(Random& random, std::uint64_t dim, std::uint32_t reach) {
  const auto size = static_cast<std::int32_t>(dim);
  if (random.once_in(2)) return random.between(0, size - 1);
  return random.between(-static_cast<std::int32_t>(reach) - 1, size + 1);
}

inline std::uint32_t pick_row(Case& c, Random& random, std::uint32_t most) {
  const std::uint32_t size = kTypeBytes[c.type];
  if (c.swizzle != 0) most = kSwizzleBytes[c.swizzle];
  if (most > 256 * size) most = 256 * size;
  const std::uint32_t unit = size > 16 ? size : 16;
  return unit * (1 + random.below(most / unit));
}

inline void pick_box(Case& c, Random& random) {
  const std::uint32_t size = kTypeBytes[c.type];
  const std::uint32_t row = pick_row(c, random, 512);
  const bool may_pad = c.swizzle != 0 && row < kSwizzleBytes[c.swizzle];
  const std::uint32_t most = may_pad ? kPaddedBoxBytes : kBoxBytes;
  const bool has_steps = random.once_in(3);
  c.box[0] = row / size;
  c.steps[0] = random.once_in(4) ? 1 + random.below(8) : 1;
  c.box_bytes = row;
  for (std::uint32_t d = 1; d < c.rank; ++d) {
    const std::uint32_t room = most / c.box_bytes;
    const std::uint32_t wide = d == 1 ? 40 : 8;
    const std::uint32_t count = 1 + random.below(room < wide ? (room == 0 ? 1 : room) : wide);
    c.steps[d] = has_steps && random.once_in(2) ? 1 + random.below(random.once_in(4) ? 8 : 3) : 1;
    std::uint32_t wanted = count * c.steps[d];
    if (wanted > 256) wanted = 256 / c.steps[d] * c.steps[d];
    const std::uint32_t got = wanted / c.steps[d];
    c.box[d] = wanted - (wanted > c.steps[d] - 1 ? random.below(c.steps[d]) : 0);
    if (c.box[d] == 0) c.box[d] = 1;
    c.box_bytes *= got;
  }
  for (std::uint32_t d = 0; d < c.rank; ++d) {
    c.dims[d] = 1 + random.below(2 * c.box[d] + 3);
    c.at[d] = 0;
  }
  place_tensor(c, random);
  for (std::uint32_t d = 0; d < c.rank; ++d) c.at[d] = pick_start(random, c.dims[d], c.box[d]);
}

inline void pick_columns(Case& c, Random& random) {
  const std::uint32_t size = kTypeBytes[c.type];
  c.rank = 3 + random.below(3);
  const std::uint32_t row = pick_row(c, random, 256);
  const bool may_pad = c.swizzle != 0 && row < kSwizzleBytes[c.swizzle];
  const std::uint32_t room = (may_pad ? kPaddedBoxBytes : kBoxBytes) / row;
  c.channels = row / size;
  c.pixels = 1 + random.below(room < 48 ? room : 48);
  c.box_bytes = row * c.pixels;
  c.dims[0] = 1 + random.below(2 * c.channels + 3);
  for (std::uint32_t d = 1; d < c.rank; ++d) c.dims[d] = 1 + random.below(d == 1 ? 12 : 6);
  place_tensor(c, random);
  const bool has_steps = random.once_in(3);
  for (std::uint32_t d = 1; d + 1 < c.rank; ++d) {
    const auto size_d = static_cast<std::int32_t>(c.dims[d]);
    c.lower[d - 1] = random.between(writes_tensor(c) ? 0 : -3, writes_tensor(c) ? 0 : 2);
    if (writes_tensor(c) && size_d > 3) c.lower[d - 1] = random.between(0, 2);
    do {
      c.upper[d - 1] = random.between(-3, writes_tensor(c) ? 0 : 3);
    } while (size_d + c.upper[d - 1] - c.lower[d - 1] <= 0);
    if (has_steps) c.steps[d] = 1 + random.below(3);
    c.at[d] = random.between(c.lower[d - 1], size_d + c.upper[d - 1] - 1);
    c.offsets[d - 1] = random.below(4);
  }
  if (has_steps && random.once_in(2)) c.steps[c.rank - 1] = 1 + random.below(3);
  c.at[0] = pick_start(random, c.dims[0], c.channels);
  c.at[c.rank - 1] = random.between(0, static_cast<std::int32_t>(c.dims[c.rank - 1]) - 1);
}

// Dimension 0 counts slices; the one before the last is copied one at a time.
inline void pick_slices(Case& c, Random& random) {
  c.interleave = 1 + random.below(2);
  if (c.interleave == 2) c.swizzle = 1;
  const std::uint32_t unit = c.interleave == 2 ? 32 : 16;
  const std::uint32_t per_unit = 16 / kTypeBytes[c.type];  // what the encoder wants a multiple of
  const bool has_steps = random.once_in(2);
  c.rank = 3 + random.below(3);
  c.box_bytes = unit;
  std::uint64_t end = unit;
  for (std::uint32_t d = 0; d < c.rank; ++d) {
    std::uint32_t count = 1 + random.below(3);
    if (c.box_bytes * count > kBoxBytes / 4) count = 1;
    c.steps[d] = has_steps && random.once_in(2) ? 1 + random.below(4) : 1;
    c.box[d] = d == 0 ? per_unit * count : count * c.steps[d];
    if (d + 2 != c.rank) c.box_bytes *= (c.box[d] + c.steps[d] - 1) / c.steps[d];
    c.dims[d] = 1 + random.below(2 * c.box[d] + 3);
    if (c.dims[d] > 6) c.dims[d] = 2 + random.below(5);
    if (d > 0) c.strides[d - 1] = end + unit * random.below(2);
    while (d > 0 && c.dims[d] > 1 && c.strides[d - 1] * c.dims[d] > kTensorBytes / 2) --c.dims[d];
    end = (d > 0 ? c.strides[d - 1] : end) * c.dims[d];
    c.at[d] = pick_start(random, c.dims[d], c.box[d]);
  }
  c.base = std::uint64_t{unit} * random.below(16);
  c.shared = c.shared / 256 * 256;
  c.tensor_bytes = round_to(static_cast<std::uint32_t>(end + c.base), 16);
}

// Copies that break one of these are illegal instructions to an H200: rows start at multiples of 16
// bytes, and stores have no negative coordinates and no box of pixels beyond the tensor.
inline void keep_rules(Case& c) {
  const std::int32_t per_unit = 16 / static_cast<std::int32_t>(kTypeBytes[c.type]);
  if (c.interleave == 0)
    c.at[0] = (c.at[0] + 512 * per_unit) / per_unit * per_unit - 512 * per_unit;
  for (std::uint32_t d = 0; d < c.rank && writes_tensor(c); ++d) {
    if (c.at[d] < 0) c.at[d] = 0;
  }
}

/// A case that breaks no rule.
inline Case make_case(std::uint32_t kind, std::uint32_t number) {
  Random random((std::uint64_t{kind} << 40U) + number);
  Case c;
  c.kind = kind;
  pick_type(c, random);
  c.rank = 1 + random.below(kMaxRank);
  c.swizzle = random.below(4);
  c.promotion = random.below(4);
  if (c.type >= 6 && !writes_tensor(c) && random.once_in(3)) c.fill = 1;
  c.seed = static_cast<std::uint32_t>(random.next()) | 1U;
  c.is_indexed = number % 8 == 0;
  if (kind == kReduce && (c.type >= 6)) c.is_indexed = false;
  c.shared = 128 * random.below(16);
  if (kind == kIm2colLoad || kind == kIm2colStore) {
    pick_columns(c, random);
  } else if (kind == kInterleaved || kind == kInterleavedStore) {
    pick_slices(c, random);
  } else {
    pick_box(c, random);
  }
  keep_rules(c);
  const bool may_pad = c.box_bytes <= kPaddedBoxBytes;
  c.shared_bytes = round_to(c.shared + c.box_bytes * (may_pad ? 8 : 1) + 1024, 1024);
  return c;
}

// One change of an enumeration, or of the tensor.
inline void perturb_tensor(Case& c, Random& random, std::uint32_t d, std::uint32_t edge) {
  const bool is_edge = random.once_in(2);
  const std::uint32_t shift = random.below(7);
  const std::uint32_t less = random.below(2);
  switch (random.below(8)) {
    case 0:
      c.type = random.below(17);
      break;
    case 1:
      c.interleave = random.below(4);
      break;
    case 2:
      c.swizzle = random.below(8);
      break;
    case 3:
      c.promotion = random.below(5);
      break;
    case 4:
      c.fill = random.below(3);
      break;
    case 5:
      c.base = is_edge ? edge : 8 * random.below(8);
      break;
    case 6:
      c.dims[d] = is_edge ? edge : (std::uint64_t{1} << (31 + shift % 3)) - less;
      break;
    default:
      c.strides[d] = is_edge ? edge : (std::uint64_t{1} << (35 + shift)) - 16 * less;
      break;
  }
}

// One change of the box.
inline void perturb_box(Case& c, Random& random, std::uint32_t d, std::uint32_t edge) {
  const std::int32_t near = random.between(-20, 20);
  const std::int32_t far = random.between(-40000, 40000);
  const std::int32_t corner = random.once_in(2) ? near : far / (1 << random.below(10));
  switch (random.below(7)) {
    case 0:
      c.rank = random.below(7);
      break;
    case 1:
      c.box[d] = edge;
      break;
    case 2:
      c.steps[d] = random.below(11);
      break;
    case 3:
      c.channels = edge;
      break;
    case 4:
      c.pixels = edge;
      break;
    case 5:
      c.lower[d % 3] = corner;
      break;
    default:
      c.upper[d % 3] = corner;
      break;
  }
}

/// Breaks a rule or two, or none; the result is only encoded.
inline Case perturb(std::uint32_t number) {
  static const std::uint32_t kOf[4] = {kLoad, kIm2colLoad, kInterleaved, kLoad};
  static const std::uint32_t kEdges[] = {0,  1,  2,  3,   7,   8,   9,   15,  16,  17,   24,
                                         32, 48, 64, 127, 128, 255, 256, 257, 512, 1024, 1025};
  Case c = make_case(kOf[number % 4], 1000000 + number);
  Random random(0x5EED0000ULL + number);
  const std::uint32_t count = random.below(3);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t d = random.below(c.rank == 0 ? 1 : (c.rank > 5 ? 5 : c.rank));
    const std::uint32_t edge = kEdges[random.below(22)];
    if (random.once_in(2)) {
      perturb_tensor(c, random, d, edge);
    } else {
      perturb_box(c, random, d, edge);
    }
  }
  return c;
}

/// What the kernel needs of a case, copied to the device.
struct Order {
  std::uint32_t kind, reduction, rank, seed, is_indexed, shared, shared_bytes, box_bytes;
  std::int32_t at[kMaxRank];
  std::uint32_t offsets[3];
};
inline Order order_of(const Case& c) {
  Order o{c.kind,   c.reduction,    c.rank,      c.seed, c.is_indexed ? 1U : 0U,
          c.shared, c.shared_bytes, c.box_bytes, {},     {}};
  for (int d = 0; d < kMaxRank; ++d) o.at[d] = c.at[d];
  for (int d = 0; d < 3; ++d) o.offsets[d] = c.offsets[d];
  return o;
}

/// What became of it.
struct Outcome {
  std::uint64_t digest;  // of shared memory, or of the tensor where that is written
  std::int32_t bytes;    // that the mbarrier counted; -1: could not be told
  std::int32_t status;   // of the encoder
};

}  // namespace ww::tensor_cases
