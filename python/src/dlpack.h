// SPDX-License-Identifier: Apache-2.0
// DLPack's exchange table, version 1: functions in C by which a library tells where a tensor lies and
// which stream is current, without any Python being run. A type with such a table has it in a capsule
// named `dlpack_exchange_api`, its attribute `__dlpack_c_exchange_api__`. Only what is used here is
// typed; the other fields keep their places.
#pragma once

#include <cstdint>

namespace ww::python::dlpack {

constexpr std::int32_t kCuda = 2;  // kDLCUDA
constexpr std::uint32_t kMajorVersion = 1;

struct Device {
  std::int32_t type = 0;
  std::int32_t number = 0;
};

/// What elements are made of; `lanes` of them make a vector.
struct DataType {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 0;
};

struct Tensor {
  void* data = nullptr;
  Device device = {};
  std::int32_t rank = 0;
  DataType dtype = {};
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null: C order
  std::uint64_t byte_offset = 0;
};
static_assert(sizeof(Tensor) == 48);

/// What the capsule of an object's `__dlpack__` holds, under the name `dltensor`.
struct ManagedTensor {
  Tensor tensor = {};
  void* context = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;
};

struct Header {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  Header* previous = nullptr;  // an older table of the same library
};

/// All return 0, or set a Python error.
struct Exchange {
  Header header = {};
  void* allocate = nullptr;
  void* managed_from_object = nullptr;
  void* managed_to_object = nullptr;
  /// The result refers to the object's own shape and strides. May be null.
  int (*tensor_from_object)(void* object, Tensor* out) = nullptr;
  int (*current_stream)(std::int32_t device_type, std::int32_t number, void** out) = nullptr;
};
static_assert(sizeof(Exchange) == 56);

}  // namespace ww::python::dlpack
