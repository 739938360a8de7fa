// SPDX-License-Identifier: Apache-2.0
#include "hardware/textures/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "sim/launch.h"

namespace ww::device {
namespace {

std::string word_text(std::span<const std::byte> bytes) {
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), bytes.data(), sizeof words);
  return fmt::format("{:08x}", fmt::join(words, " "));
}

}  // namespace

std::uint32_t blocks_of(const TextureCase& each) {
  return static_cast<std::uint32_t>((each.count() + kThreads - 1) / kThreads);
}

Result<Left> run_virtually(const TextureCase& each, const std::string& ptx) {
  const sim::LoadResult loaded = sim::load(ptx, "fetch.ptx");
  if (loaded.program == nullptr) return fail(loaded.errors.front());
  sim::Device device(loaded.program);
  const auto place = [&](std::span<const std::byte> bytes) -> sim::Region& {
    sim::Region& region = device.memory().allocate(bytes.size(), 256, "array");
    sim::GlobalMemory::write(region, bytes);
    return region;
  };
  const sim::Region& texels = place(each.texels);
  const sim::Region& places = place(std::as_bytes(std::span(each.places)));
  const sim::Region& out = place(std::vector<std::byte>(each.count() * 16));
  sim::Texture texture = each.texture;
  texture.address = texels.base;
  const std::uint64_t words[] = {device.memory().textures().add(texture), places.base, out.base,
                                 each.count()};
  sim::Launch launch{.kernel = loaded.program->find_kernel("fetch"),
                     .grid = {blocks_of(each)},
                     .block = {kThreads}};
  launch.params.resize(launch.kernel->param_bytes);
  std::memcpy(launch.params.data(), words, launch.params.size());
  const sim::LaunchReport report = WW_TRY(device.run(launch, {}));
  if (!report.ok())
    return fail(DiagKind::DeviceError, "the virtual GPU: {}",
                report.findings.empty() ? report.reason : report.findings.list().front().text);
  return Left{{out.data, out.data + out.size}, {texels.data, texels.data + texels.size}};
}

void compare(const TextureCase& each, const Left& ours, const Left& theirs, std::size_t number,
             Tally& tally) {
  tally.fetches += each.count();
  for (std::size_t i = 0; i < each.count(); ++i) {
    const auto seen = std::span(ours.out).subspan(i * 16, 16);
    const auto wanted = std::span(theirs.out).subspan(i * 16, 16);
    if (std::memcmp(seen.data(), wanted.data(), 16) == 0) continue;
    if (tally.different++ == 0)
      tally.first = fmt::format("texture {}, {:08x}: virtual GPU {}, GPU {}", number,
                                fmt::join(std::span(each.places).subspan(i * 4, 4), " "),
                                word_text(seen), word_text(wanted));
  }
  if (ours.texels == theirs.texels) return;
  if (tally.different++ == 0) tally.first = fmt::format("texture {}: other texels", number);
}

}  // namespace ww::device
