// SPDX-License-Identifier: Apache-2.0
// ww_device_textures: random textures and surfaces on the GPU here and on the virtual one, bit by bit.
//
//   ww_device_textures [TEXTURES [SEED]]
//
// Each texture has its own extents, type, filter, address mode and coordinates, and is fetched from at
// 2048 places (fetch.h); the same PTX runs on both. Prints a table: kind of fetch, fetches, how many
// differ, and the first that does. Built and run by scripts/device_textures.sh. Exit status: 0 all agree
// but for the kinds that docs/evidence/textures.md says do not, 1 others differ, 2 no device.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/textures/compare.h"
#include "device/textures/fetch.h"
#include "runtime/cuda_device.h"

namespace ww::device {
namespace {

constexpr std::size_t kPlaces = 2048;

Result<Left> run_on(runtime::CudaDevice& device, const TextureCase& each, const std::string& ptx) {
  WW_TRY_VOID(device.load({.bytes = ptx, .kernel = "fetch"}));
  const auto texture = WW_TRY(device.make_texture(each.texture, "image"));
  WW_TRY_VOID(texture->upload(each.texels));
  Left left{std::vector<std::byte>(each.count() * 16), each.texels};
  const runtime::Address places = WW_TRY(device.allocate(each.places.size() * 4, "places"));
  const runtime::Address out = WW_TRY(device.allocate(left.out.size(), "out"));
  WW_TRY_VOID(device.upload(places, std::as_bytes(std::span(each.places))));
  WW_TRY_VOID(device.upload(out, left.out));
  runtime::Launch launch{.grid = {blocks_of(each), 1, 1}, .block = {kThreads, 1, 1}};
  launch.arguments = {{.bits = texture->handle()},
                      {.bits = places},
                      {.bits = out},
                      {.bits = each.count(), .bytes = 4}};
  WW_TRY_VOID(device.launch(launch));
  WW_TRY_VOID(device.download(left.out, out));
  WW_TRY_VOID(texture->download(left.texels));
  return left;
}

Result<int> sweep(std::size_t textures, std::uint64_t seed) {
  const runtime::CudaCalls calls = WW_TRY(runtime::load_cuda_calls());
  const auto device = WW_TRY(runtime::CudaDevice::open(calls, target::Arch::Sm80));
  Random random(seed);
  std::map<std::string_view, Tally> rows;
  for (std::size_t i = 0; i < textures; ++i) {
    const TextureCase each = random_case(random, kPlaces);
    const std::string ptx = kernel_of(each);
    const Left ours = WW_TRY(run_virtually(each, ptx));
    const Left theirs = WW_TRY(run_on(*device, each, ptx));
    const Row row = row_of(each);
    Tally& tally = rows[row.name];
    tally.is_exact = row.is_exact;
    compare(each, ours, theirs, i, tally);
  }
  fmt::print("{}, {} textures, seed {}\n\n| fetches | number | different |\n|---|--:|--:|\n",
             device->name(), textures, seed);
  bool agrees = true;
  for (const auto& [name, tally] : rows) {
    fmt::print("| {} | {} | {} |\n", name, tally.fetches, tally.different);
    agrees = agrees && (tally.different == 0 || !tally.is_exact);
  }
  for (const auto& [name, tally] : rows)
    if (tally.different > 0) fmt::print("{}: {}\n", name, tally.first);
  return agrees ? 0 : 1;
}

}  // namespace
}  // namespace ww::device

int main(int count, char** words) {
  const std::size_t textures = count > 1 ? std::strtoull(words[1], nullptr, 10) : 600;
  const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
  const auto status = ww::device::sweep(textures, seed);
  if (status) return *status;
  fmt::print(stderr, "{}\n", status.error().text);
  return 2;
}
