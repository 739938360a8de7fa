// SPDX-License-Identifier: Apache-2.0
#include "sim/run/builtin.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "sim/checks/undefined.h"
#include "sim/memory/access.h"
#include "sim/order/strong.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {
namespace {

constexpr std::size_t kMaxText = 4096;

std::uint64_t argument(const Warp& warp, const ValueMove& from, unsigned lane) {
  std::uint64_t value = 0;
  const std::byte* at = from.from_register
                            ? warp.frame + from.from + std::size_t{lane} * from.from_step
                            : warp.stack.local.data + warp.stack.local.lane_stride * lane +
                                  warp.here.local + from.from;
  std::memcpy(&value, at, std::min<std::uint32_t>(from.bytes, 8));
  return value;
}

void set_result(Warp& warp, const CallSite& site, const std::uint64_t* values) {
  for (const ValueMove& to : site.results) {
    for_each_lane(warp.exec, [&](unsigned l) {
      const std::size_t bytes = std::min<std::uint32_t>(to.bytes, 8);
      if (to.to_register) {
        std::memcpy(warp.frame + to.to + std::size_t{l} * to.to_step, &values[l], bytes);
        return;
      }
      const std::uint64_t at = warp.stack.local.lane_stride * l + warp.here.local + to.to;
      std::memcpy(warp.stack.local.data + at, &values[l], bytes);
      if (warp.stack.local.undefined != nullptr) {
        std::memset(warp.stack.local.undefined + at, 0, to.bytes);
      }
    });
    if (to.to_register) define_value(warp, Place::in_frame(to.to));
  }
}

// Bytes at a generic address of one lane; fewer if the region ends.
std::string bytes_at(Warp& warp, std::uint64_t address, unsigned lane, std::size_t most,
                     bool to_zero) {
  std::string text;
  std::uint64_t at[kLanes] = {};
  while (text.size() < most) {
    at[lane] = address + text.size();
    bool good = false;
    char c = 0;
    visit_regions(warp, at, lane_bit(lane), 1, AccessKind::Read, Space::Generic,
                  [&](Region& region, Mask) {
                    std::memcpy(&c, region.data + region.offset(at[lane], lane), 1);
                    good = true;
                  });
    if (!good || (to_zero && c == 0)) break;
    text.push_back(c);
  }
  return text;
}

/// The arguments of a printf, which lie one after the other, each at a multiple of its size.
class PrintfArguments {
 public:
  PrintfArguments(Warp& warp, std::uint64_t address, unsigned lane)
      : warp_(warp), address_(address), lane_(lane) {}
  std::uint64_t next(unsigned bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const std::string raw = bytes_at(warp_, address_ + offset_, lane_, bytes, false);
    offset_ += bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, raw.data(), raw.size());
    return value;
  }

 private:
  Warp& warp_;
  std::uint64_t address_, offset_ = 0;
  unsigned lane_;
};

std::string print_one(Warp& warp, std::string spec, PrintfArguments& arguments, unsigned lane) {
  char out[512];
  const char kind = spec.back();
  spec.pop_back();
  const bool is_long = spec.find('l') != std::string::npos || spec.find('z') != std::string::npos;
  std::erase_if(spec,
                [](char c) { return c == 'l' || c == 'h' || c == 'z' || c == 'j' || c == 't'; });
  // Widths and precisions are bounded: they must not decide how much memory is used.
  std::size_t digits = 0;
  for (const char c : spec) digits += c >= '0' && c <= '9' ? 1U : 0U;
  if (digits > 4) return spec;
  switch (kind) {
    case 'd':
    case 'i': {
      const std::uint64_t raw = arguments.next(is_long ? 8 : 4);
      const long long value = is_long ? static_cast<long long>(raw)
                                      : static_cast<std::int32_t>(static_cast<std::uint32_t>(raw));
      std::snprintf(out, sizeof out, (spec + "lld").c_str(), value);
      return out;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      const auto value = static_cast<unsigned long long>(arguments.next(is_long ? 8 : 4));
      std::snprintf(out, sizeof out, (spec + "ll" + kind).c_str(), value);
      return out;
    }
    case 'p':
      return fmt::format("0x{:x}", arguments.next(8));
    case 'c':
      return std::string(1, static_cast<char>(arguments.next(4)));
    case 's':
      return bytes_at(warp, arguments.next(8), lane, kMaxText, true);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      const std::uint64_t bits = arguments.next(8);
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      std::snprintf(out, sizeof out, (spec + kind).c_str(), value);
      return out;
    }
    default:
      return spec + kind;
  }
}

std::string printf_text(Warp& warp, const std::string& format, std::uint64_t address,
                        unsigned lane) {
  PrintfArguments arguments(warp, address, lane);
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text.push_back(format[i]);
      continue;
    }
    std::size_t end = i + 1;
    while (end < format.size() &&
           std::string_view("-+ #0123456789.lhzjt").find(format[end]) != std::string_view::npos) {
      ++end;
    }
    if (end >= format.size()) break;
    text +=
        format[end] == '%' ? "%" : print_one(warp, format.substr(i, end - i + 1), arguments, lane);
    i = end;
  }
  return text;
}

// vprintf(format, arguments): the arguments lie in memory.
void run_printf(Warp& warp, const Op& op) {
  const CallSite& site = warp.program->calls[op.as<CallOp>().site];
  if (site.arguments.size() == 2) {
    for_each_lane(warp.exec, [&](unsigned l) {
      if (warp.unit->printed.size() > std::size_t{1} << 20U) return;
      const std::string format =
          bytes_at(warp, argument(warp, site.arguments[0], l), l, kMaxText, true);
      warp.unit->printed += printf_text(warp, format, argument(warp, site.arguments[1], l), l);
    });
  }
  const std::uint64_t nothing[kLanes] = {};
  set_result(warp, site, nothing);
}

// The heap is to threads what a lock would be: who gets memory that another one has given back is
// ordered behind that.
void order_heap(Warp& warp, unsigned lane, std::uint64_t block) {
  constexpr unsigned kNotASize = 31;  // so that no access of the program is at the same location
  if (warp.unit->order == nullptr) return;
  strong_access(*warp.unit->order, actor_of(warp, lane_bit(lane)), block, kNotASize,
                {.reads = true, .writes = true, .acquires = true, .releases = true});
}

// malloc(bytes): a block of the heap, or null when there is no room.
void run_malloc(Warp& warp, const Op& op) {
  const CallSite& site = warp.program->calls[op.as<CallOp>().site];
  const RunContext& context = warp.unit->context;
  std::uint64_t blocks[kLanes] = {};
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::uint64_t bytes = site.arguments.empty() ? 0 : argument(warp, site.arguments[0], l);
    const Heap::Block* block = context.heap->allocate(bytes);
    if (block == nullptr) return;
    blocks[l] = block->base;
    order_heap(warp, l, block->base);
  });
  set_result(warp, site, blocks);
}

void report_free(Warp& warp, unsigned lane, std::uint64_t address, std::string text,
                 const Party& other = {}) {
  if (!warp.is_new(Check::Bounds, other.op)) return;
  warp.report_at(Check::Bounds, lane_bit(lane), address, std::move(text), other);
}

void free_block(Warp& warp, unsigned lane, std::uint64_t address) {
  Heap& heap = *warp.unit->context.heap;
  const Heap::Block* block = heap.find(address);
  if (block == nullptr || !heap.region().holds(address, 1) ||
      address - block->base >= block->bytes) {
    report_free(warp, lane, address,
                fmt::format("frees 0x{:x}, which is not memory that `malloc` gave out", address));
    return;
  }
  if (block->base != address) {
    report_free(warp, lane, address,
                fmt::format("frees 0x{:x}, {} bytes behind the start of a block of {}", address,
                            address - block->base, block->bytes));
    return;
  }
  if (block->is_free) {
    report_free(
        warp, lane, address,
        fmt::format("frees the block of {} bytes at 0x{:x} a second time", block->bytes, address),
        block->freed);
    return;
  }
  std::uint64_t at[kLanes] = {};
  at[lane] = address;
  if (warp.unit->races != nullptr) {
    warp.unit->races->touch(warp, heap.region(), at, lane_bit(lane),
                            static_cast<unsigned>(block->bytes), Touched::Free, {});
  }
  order_heap(warp, lane, address);
  heap.free(address, {warp.current, warp.cta->linear, warp.index, lane_bit(lane)});
}

// free(address): null is fine.
void run_free(Warp& warp, const Op& op) {
  const CallSite& site = warp.program->calls[op.as<CallOp>().site];
  if (site.arguments.empty()) return;
  for_each_lane(warp.exec, [&](unsigned l) {
    const std::uint64_t address = argument(warp, site.arguments[0], l);
    if (address != 0) free_block(warp, l, address);
  });
}

// __assertfail(condition, file, line, function, size of a character)
void run_assert(Warp& warp, const Op& op) {
  const CallSite& site = warp.program->calls[op.as<CallOp>().site];
  std::string text = "an assertion failed";
  if (site.arguments.size() >= 3) {
    const unsigned l = first_lane(warp.exec);
    text = fmt::format("assertion `{}` failed, {}:{},",
                       bytes_at(warp, argument(warp, site.arguments[0], l), l, 256, true),
                       bytes_at(warp, argument(warp, site.arguments[1], l), l, 256, true),
                       static_cast<std::uint32_t>(argument(warp, site.arguments[2], l)));
  }
  trap(warp, text.c_str());
}

}  // namespace

std::optional<RunOp> find_builtin(std::string_view name) {
  if (name == "vprintf") return run_printf;
  if (name == "__assertfail") return run_assert;
  if (name == "malloc") return run_malloc;
  if (name == "free") return run_free;
  return std::nullopt;
}

}  // namespace ww::sim
