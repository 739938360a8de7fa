// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces. A fetch reads its texels through the read-only path, as ld.global.nc does; what
// the kernel itself writes there races with it. Surfaces are accessed as global memory is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "sim/decode/function_decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/atomic_values.h"
#include "sim/ops/families.h"
#include "sim/ops/memory_ops.h"
#include "sim/texture/texture.h"

namespace ww::sim::texture_ops {
namespace {

enum class Outside : std::uint8_t { Trap, Clamp, Zero };

// What both kinds begin with.
struct Geometry {
  std::uint8_t rank;
  bool is_layered;
  /// Coordinates that an instruction has, with the layer.
  [[nodiscard]] unsigned coordinates() const { return rank + (is_layered ? 1U : 0U); }
};
struct FetchOp {
  Geometry geometry;
  bool has_whole_coordinates, wants_floats, gathers;
  std::uint8_t channel;  // that is gathered
};
struct SurfaceOp {
  Geometry geometry;
  Outside outside;
  std::uint8_t width;  // bytes of a register
};

// --- both ----------------------------------------------------------------------------------------

constexpr std::size_t kMaxTexel = 16;

void refuse_fetch(Warp& warp, unsigned lane, std::string text) {
  if (!warp.checks(Check::Space)) {
    warp.unit->stop(Outcome::Trapped, std::move(text));
    warp.stop = 0;
  } else if (warp.is_new(Check::Space)) {
    warp.report(Check::Space, lane_bit(lane), std::move(text));
  }
}

// The texture or surface of a lane's handle, if it is what the instruction takes.
const Texture* texture_of(Warp& warp, const Op& op, const Geometry& geometry, unsigned lane,
                          bool is_surface) {
  const std::uint64_t handle = warp.source<std::uint64_t>(op.p[0])[lane];
  const Texture* const it = warp.unit->context.memory->textures().find(handle);
  const char* const wanted = is_surface ? "surface" : "texture";
  if (it == nullptr) {
    refuse_fetch(warp, lane, fmt::format("0x{:x} is not the handle of a {}", handle, wanted));
    return nullptr;
  }
  const auto [rank, is_layered] = geometry;
  if (it->is_surface == is_surface && it->rank == rank && (it->layers != 0) == is_layered)
    return it;
  refuse_fetch(
      warp, lane,
      fmt::format("takes a {}-D {}{}, and the handle is that of a {}-D {}{}", rank, wanted,
                  is_layered ? " in layers" : "", it->rank, it->is_surface ? "surface" : "texture",
                  it->layers != 0 ? " in layers" : ""));
  return nullptr;
}

void use_places(Warp& warp, const Op& op, std::span<const Place> coordinates) {
  if (!warp.undefined.are_kept()) return;
  use_value(warp, op.p[0], warp.exec);
  for (const Place place : coordinates) use_value(warp, place, warp.exec);
}

// --- textures ------------------------------------------------------------------------------------

struct Texel {
  std::array<std::byte, kMaxTexel> bytes{};
  bool is_undefined = false;
};

Texel read_texel(Warp& warp, const Texture& texture, const Tap& tap, std::uint32_t layer,
                 unsigned lane) {
  Texel texel;
  if (tap.is_border) return texel;
  std::uint64_t address[kLanes] = {};
  address[lane] = texture.address_of(tap.at, layer);
  const unsigned bytes = texture.texel_bytes();
  visit_regions(warp, address, lane_bit(lane), bytes, AccessKind::Read, Space::Generic,
                [&](Region& region, Mask group) {
                  note_access(warp, region, address, group, bytes, Touched::ReadNc);
                  const std::uint64_t offset = region.offset(address[lane], lane);
                  std::memcpy(texel.bytes.data(), region.data + offset, bytes);
                  texel.is_undefined = undefined_bits(region, offset, bytes) != 0;
                });
  return texel;
}

struct Fetched {
  std::array<std::uint32_t, 4> channels{};
  bool is_undefined = false;
};

Fetched fetch(Warp& warp, const Texture& texture, std::span<const Tap> taps, std::uint32_t layer,
              unsigned lane) {
  Fetched out;
  std::vector<Texel> texels;
  for (const Tap& tap : taps) {
    texels.push_back(read_texel(warp, texture, tap, layer, lane));
    out.is_undefined = out.is_undefined || (texels.back().is_undefined && tap.weight != 0);
  }
  // Channels that the texels do not have are 0.
  for (unsigned c = 0; c < texture.channels; ++c) {
    if (taps.size() == 1) {
      out.channels[c] = channel_value(texture, texels[0].bytes, c);
      continue;
    }
    std::vector<double> inputs;
    for (const Texel& texel : texels) inputs.push_back(filter_input(texture, texel.bytes, c));
    out.channels[c] = std::bit_cast<std::uint32_t>(filtered(texture, taps, inputs));
  }
  return out;
}

// Four texels, a channel of each.
Fetched gather(Warp& warp, const Texture& texture, std::span<const Tap, 4> taps, unsigned channel,
               unsigned lane) {
  Fetched out;
  for (unsigned i = 0; i < 4; ++i) {
    const Texel texel = read_texel(warp, texture, taps[i], 0, lane);
    out.is_undefined = out.is_undefined || texel.is_undefined;
    if (channel < texture.channels) out.channels[i] = gathered_value(texture, texel.bytes, channel);
  }
  return out;
}

// Whole coordinates count texels, and outside there is nothing.
Tap tap_of_whole(const Texture& texture, const std::array<std::uint32_t, 3>& at) {
  Tap tap{.at = at, .weight = 1};
  for (unsigned d = 0; d < texture.rank; ++d)
    tap.is_border = tap.is_border || at[d] >= texture.extent[d];
  return tap;
}

Fetched fetch_lane(Warp& warp, const Op& op, std::span<const Place> coordinates, unsigned lane) {
  const auto& how = op.as<FetchOp>();
  const Texture* const texture = texture_of(warp, op, how.geometry, lane, false);
  if (texture == nullptr) return {};
  if (texture->gives_floats() != how.wants_floats) {
    refuse_fetch(warp, lane,
                 texture->gives_floats() ? "takes integers, and the texture gives floats"
                                         : "takes floats, and the texture gives integers");
    return {};
  }
  const bool is_layered = how.geometry.is_layered;
  std::uint32_t layer = is_layered ? warp.source<std::uint32_t>(coordinates[0])[lane] : 0;
  if (is_layered) layer = std::min(layer, texture->layers - 1);  // negative ones are large
  std::array<std::uint32_t, 3> bits{};
  for (unsigned d = 0; d < texture->rank; ++d)
    bits[d] = warp.source<std::uint32_t>(coordinates[d + (is_layered ? 1 : 0)])[lane];
  if (how.has_whole_coordinates) {
    const Tap tap = tap_of_whole(*texture, bits);
    return fetch(warp, *texture, std::span(&tap, 1), layer, lane);
  }
  const std::array<float, 3> where{std::bit_cast<float>(bits[0]), std::bit_cast<float>(bits[1]),
                                   std::bit_cast<float>(bits[2])};
  if (how.gathers) return gather(warp, *texture, gathered_at(*texture, where), how.channel, lane);
  return fetch(warp, *texture, taps_at(*texture, where), layer, lane);
}

// Further places: four results, then the coordinates.
void run_fetch(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::span<const Place> coordinates = places.subspan(4);
  use_places(warp, op, coordinates.first(op.as<FetchOp>().geometry.coordinates()));
  std::uint32_t values[4][kLanes] = {};
  std::uint8_t undefined[kLanes] = {};
  OriginId origin = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    const Fetched fetched = fetch_lane(warp, op, coordinates, l);
    for (unsigned c = 0; c < 4; ++c) values[c][l] = fetched.channels[c];
    undefined[l] = fetched.is_undefined ? 0x0F : 0;
    if (fetched.is_undefined) origin = warp.unit->origins.from({.op = warp.current});
  });
  for (unsigned c = 0; c < 4; ++c) {
    if (warp.undefined.are_kept()) set_loaded_bytes(warp, places[c], undefined, origin);
    warp.write(places[c], values[c]);
  }
}

// Adds the coordinates to the places.
bool take_geometry(Decode& in, std::size_t operand, std::vector<Place>& places, Geometry& out) {
  const Word geom = in.word("geom");
  if (geom.is_one_of({"cube", "acube"})) {
    in.refusal = "cube maps";
    return false;
  }
  out = {static_cast<std::uint8_t>(isa::number_in(geom)), geom.is_one_of({"a1d", "a2d"})};
  in.op.address = in.address(operand);
  in.op.p[0] = in.function().program().addresses[in.op.address].base;
  if (!in.op.p[0].present()) {
    in.refusal = "textures and surfaces that are named instead of given by a handle";
    return false;
  }
  const auto type = in.word("ctype") == "f32" ? isa::Type::F32 : isa::Type::S32;
  const std::vector<Place> coordinates = in.coordinates(operand, type);
  places.insert(places.end(), coordinates.begin(), coordinates.end());
  return true;
}

bool decode_fetch(Decode& in) {
  std::vector<Place> places = in.results(0);
  Geometry geometry;
  if (!take_geometry(in, 1, places, geometry)) return false;
  const auto channel = in.word("comp").as<std::uint8_t>({{"g", 1}, {"b", 2}, {"a", 3}});
  in.op.set(FetchOp{.geometry = geometry,
                    .has_whole_coordinates = in.word("ctype") == "s32",
                    .wants_floats = in.word("dtype") == "f32",
                    .gathers = in.has("comp"),
                    .channel = channel.value_or(0)});
  in.tracks_itself(run_fetch);
  in.further(places);
  return true;
}

// --- surfaces ------------------------------------------------------------------------------------

struct SurfacePlace {
  std::uint64_t address = 0;
  bool is_outside = false;
};

// Where the bytes of an access are: x counts bytes, the others rows, slices and layers.
SurfacePlace surface_place(const Texture& surface, std::array<std::int64_t, 3> at,
                           std::int64_t layer, unsigned bytes) {
  const std::array<std::int64_t, 3> most{
      static_cast<std::int64_t>(surface.extent[0]) * surface.texel_bytes() - bytes,
      static_cast<std::int64_t>(surface.extent[1]) - 1,
      static_cast<std::int64_t>(surface.extent[2]) - 1};
  const std::int64_t last_layer = surface.layers == 0 ? 0 : surface.layers - 1;
  SurfacePlace place;
  for (unsigned d = 0; d < surface.rank; ++d) {
    place.is_outside = place.is_outside || at[d] < 0 || at[d] > most[d];
    at[d] = std::clamp<std::int64_t>(at[d], 0, std::max<std::int64_t>(most[d], 0));
  }
  if (layer < 0 || layer > last_layer) {  // negative ones are large
    place.is_outside = true;
    layer = last_layer;
  }
  const std::array<std::uint32_t, 3> row{0, static_cast<std::uint32_t>(at[1]),
                                         static_cast<std::uint32_t>(at[2])};
  place.address = surface.address_of(row, static_cast<std::uint32_t>(layer)) +
                  static_cast<std::uint64_t>(at[0]);
  return place;
}

// The lanes that reach memory, with their addresses.
Mask surface_addresses(Warp& warp, const Op& op, std::span<const Place> coordinates, unsigned bytes,
                       std::uint64_t* address) {
  Mask inside = 0;
  const auto& how = op.as<SurfaceOp>();
  const unsigned first = how.geometry.is_layered ? 1 : 0;
  const auto number = [&](unsigned i, unsigned l) -> std::int64_t {
    return warp.source<std::int32_t>(coordinates[i])[l];
  };
  for_each_lane(warp.exec, [&](unsigned l) {
    const Texture* const surface = texture_of(warp, op, how.geometry, l, true);
    if (surface == nullptr) return;
    std::array<std::int64_t, 3> at{};
    for (unsigned d = 0; d < surface->rank; ++d) at[d] = number(d + first, l);
    const SurfacePlace place = surface_place(*surface, at, first != 0 ? number(0, l) : 0, bytes);
    address[l] = place.address;
    if (place.is_outside && how.outside == Outside::Trap) {
      warp.unit->stop(
          Outcome::Trapped,
          fmt::format("x {}, y {}, z {} is outside of a surface of {} x {} x {} texels of {} "
                      "bytes at line {}",
                      at[0], at[1], at[2], surface->extent[0], surface->extent[1],
                      surface->extent[2], surface->texel_bytes(),
                      warp.program->infos[warp.current].line));
      warp.stop = 0;
    } else if (!place.is_outside || how.outside == Outside::Clamp) {
      inside |= lane_bit(l);
    }
  });
  return inside;
}

// Further places: the elements, of op.bytes each, then the coordinates.
unsigned element_count(const Op& op) {
  const unsigned coordinates = op.as<SurfaceOp>().geometry.coordinates();
  return op.place_count - (coordinates <= 2 ? coordinates : 4U);
}

std::span<const Place> use_coordinates(Warp& warp, const Op& op, unsigned elements) {
  const std::span<const Place> coordinates = warp.places(op).subspan(elements);
  use_places(warp, op, coordinates.first(op.as<SurfaceOp>().geometry.coordinates()));
  return coordinates;
}

void run_load(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const unsigned count = element_count(op);
  const std::span<const Place> coordinates = use_coordinates(warp, op, count);
  const unsigned bytes = op.bytes * count;
  const unsigned width = op.as<SurfaceOp>().width;
  std::uint64_t address[kLanes] = {};
  const Mask inside = surface_addresses(warp, op, coordinates, bytes, address);
  for (unsigned i = 0; i < count; ++i) {
    define_value(warp, places[i]);
    for_each_lane(warp.exec, [&](unsigned l) {
      std::memset(warp.lanes<std::byte>(places[i]) + std::size_t{l} * width, 0, width);
    });
  }
  visit_regions(warp, address, inside, bytes, AccessKind::Read, Space::Generic,
                [&](Region& region, Mask group) {
                  access_checks(warp, region, address, group, bytes, Touched::Read);
                  for_each_lane(group, [&](unsigned l) {
                    const std::uint64_t offset = region.offset(address[l], l);
                    for (unsigned i = 0; i < count; ++i) {
                      const std::uint64_t at = offset + std::uint64_t{i} * op.bytes;
                      std::memcpy(warp.lanes<std::byte>(places[i]) + std::size_t{l} * width,
                                  region.data + at, op.bytes);
                      if (!warp.undefined.are_kept()) continue;
                      const std::uint32_t open = undefined_bits(region, at, op.bytes);
                      warp.undefined.write(places[i], lane_bit(l))[l] =
                          static_cast<std::uint8_t>(open);
                      OriginId origins[kLanes] = {};
                      if (open != 0) origins[l] = origin_in(warp, region, at, l);
                      if (open != 0) set_origins(warp, places[i], lane_bit(l), origins);
                    }
                  });
                });
}

void run_store(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const unsigned count = element_count(op);
  const std::span<const Place> coordinates = use_coordinates(warp, op, count);
  const unsigned bytes = op.bytes * count;
  const unsigned width = op.as<SurfaceOp>().width;
  // Surfaces are in global memory.
  if (warp.undefined.are_kept())
    for (unsigned i = 0; i < count; ++i) show_value(warp, places[i], warp.exec, op.bytes);
  std::uint64_t address[kLanes] = {};
  const RegisterRun registers{places.data(), count, op.bytes, width};
  const auto leaves = [&](const Region& region, std::uint64_t at, unsigned l) {
    return registers.are_at(warp, region, at, l);
  };
  const StoredBytes stored(leaves);
  const Mask inside = surface_addresses(warp, op, coordinates, bytes, address);
  act(warp);
  visit_regions(
      warp, address, inside, bytes, AccessKind::Write, Space::Generic,
      [&](Region& region, Mask group) {
        access_checks(warp, region, address, group, bytes, Touched::Write, {}, &stored);
        for_each_lane(group, [&](unsigned l) {
          const std::uint64_t offset = region.offset(address[l], l);
          for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t at = offset + std::uint64_t{i} * op.bytes;
            std::memcpy(region.data + at,
                        warp.source<std::byte>(places[i]) + std::size_t{l} * width, op.bytes);
            const bool is_known = !warp.undefined.are_kept() || places[i].is_constant();
            mark_bytes(region, at, op.bytes, is_known ? 0 : warp.undefined.of(places[i])[l]);
          }
        });
      });
}

template <typename T, auto F>
void run_reduce(Warp& warp, const Op& op) {
  const std::span<const Place> places = warp.places(op);
  const std::span<const Place> coordinates = use_coordinates(warp, op, 1);
  if (warp.undefined.are_kept()) use_value(warp, places[0], warp.exec);
  std::uint64_t address[kLanes] = {};
  const Mask inside = surface_addresses(warp, op, coordinates, sizeof(T), address);
  act(warp);
  const Manner manner{.is_strong = true, .bytes = sizeof(T)};
  visit_regions(
      warp, address, inside, sizeof(T), AccessKind::Atomic, Space::Generic,
      [&](Region& region, Mask group) {
        access_checks(warp, region, address, group, sizeof(T), Touched::Atomic, manner);
        for_each_lane(group, [&](unsigned l) {
          if (address[l] % sizeof(T) != 0) return;
          const std::uint64_t offset = region.offset(address[l], l);
          const T value = warp.source<T>(places[0])[l];
          std::atomic_ref<T> at(*reinterpret_cast<T*>(region.data + offset));  // NOLINT
          T old = at.load(std::memory_order_relaxed);
          while (!at.compare_exchange_weak(old, F(old, value), std::memory_order_relaxed)) {
          }
          mark_bytes(region, offset, sizeof(T));
        });
      });
}

bool decode_surface(Decode& in, std::size_t operand, std::vector<Place> places, unsigned width,
                    RunOp run) {
  Geometry geometry;
  if (!take_geometry(in, operand, places, geometry)) return false;
  const Word clamp = in.word("clamp");
  const Outside outside = clamp.as<Outside>({{"trap", Outside::Trap}, {"clamp", Outside::Clamp}})
                              .value_or(Outside::Zero);
  in.op.bytes = static_cast<std::uint8_t>(isa::info(in.type("type")).bits / 8);
  in.op.set(SurfaceOp{geometry, outside, static_cast<std::uint8_t>(width)});
  in.tracks_itself(run);
  in.further(places);
  return run != nullptr;
}

bool decode_load(Decode& in) { return decode_surface(in, 1, in.results(0), in.width(0), run_load); }
bool decode_store(Decode& in) {
  return decode_surface(in, 0, in.sources(1), in.width(1), run_store);
}

bool decode_reduce(Decode& in) {
  const isa::Type type = in.type("type");
  const RunOp run = pick_operation(
      in.word("op"), type, []<typename T, auto F>()->RunOp { return run_reduce<T, F>; });
  const unsigned bytes = static_cast<unsigned>(isa::info(type).bits) / 8;
  return decode_surface(in, 0, {in.source(1)}, bytes, run);
}

constexpr OpRow kRows[] = {{"tex", decode_fetch},
                           {"tld4", decode_fetch},
                           {"suld.b", decode_load},
                           {"sust.b", decode_store},
                           {"sured.b", decode_reduce}};

}  // namespace

constinit const OpFamily family{"texture", kRows};

}  // namespace ww::sim::texture_ops
