// SPDX-License-Identifier: Apache-2.0
// A GPU that the host plays, for tests of races: memory is the host's, a launch of our kernel writes
// what the test says, and every launch takes the time it is told to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/test_driver.h"

namespace ww::bench {

inline constexpr int kIllegalAddress = 700;
inline constexpr float kOursMs = 4;

struct PlayedGpu {
  std::vector<std::byte> right = {};           // what our kernel leaves in its result
  void (*spoil)(std::byte* result) = nullptr;  // makes the result wrong; null: it stays right
  int breaks_after = -1;                       // launches of our kernel
  bool has_broken = false;
  int registers = 0;  // of every kernel

  float now = 0;  // ms
  int launches = 0;
  std::string order = {};  // of turns
  // Kept until the end: a GPU that is lost gives nothing back.
  std::vector<std::unique_ptr<std::byte[]>> memory = {};
  std::deque<float> events = {};  // when each was
};
inline PlayedGpu* played = nullptr;

inline void submit(char who, float milliseconds) {
  played->now += milliseconds;
  if (played->order.empty() || played->order.back() != who) played->order += who;
}

/// Our kernel, whose result is the argument of that number.
inline int launch_ours(void** arguments, std::size_t result) {
  submit('o', kOursMs);
  if (played->breaks_after >= 0 && played->launches >= played->breaks_after) {
    played->has_broken = true;
    return 0;
  }
  ++played->launches;
  auto* const to = reinterpret_cast<std::byte*>(*static_cast<std::uint64_t*>(arguments[result]));
  std::memcpy(to, played->right.data(), played->right.size());
  if (played->spoil != nullptr) played->spoil(to);
  return 0;
}

inline int copy_memory(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}

inline void play_memory(runtime::CudaCalls& calls) {
  calls.allocate = [](std::uint64_t* address, std::size_t bytes) {
    played->memory.push_back(std::make_unique<std::byte[]>(bytes));
    *address = reinterpret_cast<std::uint64_t>(played->memory.back().get());
    return 0;
  };
  calls.release = [](std::uint64_t) { return 0; };
  calls.upload = [](std::uint64_t to, const void* from, std::size_t bytes) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
  };
  calls.download = [](void* to, std::uint64_t from, std::size_t bytes) {
    return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0;
  };
  calls.copy = copy_memory;
}

inline void play_events(runtime::CudaCalls& calls) {
  calls.event_create = [](void** event, unsigned) {
    return *event = &played->events.emplace_back(), 0;
  };
  calls.event_destroy = [](void*) { return 0; };
  calls.event_record = [](void* event, void*) {
    return *static_cast<float*>(event) = played->now, 0;
  };
  calls.event_query = [](void*) { return played->has_broken ? kIllegalAddress : 0; };
  calls.event_elapsed = [](float* milliseconds, void* start, void* end) {
    *milliseconds = *static_cast<float*>(end) - *static_cast<float*>(start);
    return 0;
  };
}

/// The driver of the GPU; functions and launches are for the test to add.
inline runtime::CudaCalls calls_of_played() {
  runtime::CudaCalls calls = runtime::fake_calls();
  calls.function_get = [](int* value, int attribute, void*) {
    *value = attribute == 4 ? played->registers : 0;  // CU_FUNC_ATTRIBUTE_NUM_REGS
    return 0;
  };
  play_memory(calls);
  play_events(calls);
  return calls;
}

}  // namespace ww::bench
