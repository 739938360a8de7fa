// SPDX-License-Identifier: Apache-2.0
// ww_device_textures: random textures and surfaces on the GPU here and on the virtual one, bit by bit.
//
//   ww_device_textures [TEXTURES [SEED [record|replay FILE]]]
//
// `record` also keeps what the GPU gave, `replay` compares with that, on a machine without one.
//
// Each texture has its own extents, type, filter, address mode and coordinates, and is fetched from at
// 2048 places (fetch.h); the same PTX runs on both. Prints a table: kind of fetch, fetches, how many
// differ, and the first that does. Built and run by scripts/device_textures.sh. Exit status: 0 all agree
// but for the kinds that docs/evidence/textures.md says do not, 1 others differ, 2 no device.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "hardware/textures/compare.h"
#include "hardware/textures/fetch.h"
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

// The GPU, or what is left of an earlier run on one.
class Reference {
 public:
  /// `replayed`: what `record` wrote; empty: the GPU here.
  static Result<Reference> open(std::string_view replayed) {
    Reference out;
    if (!replayed.empty()) {
      out.kept_ = WW_TRY(read_file(std::string(replayed), std::size_t{1} << 31U));
      return out;
    }
    const runtime::CudaCalls calls = WW_TRY(runtime::load_cuda_calls());
    out.device_ = WW_TRY(runtime::CudaDevice::open(calls, target::Arch::Sm80));
    return out;
  }
  [[nodiscard]] std::string name() const {
    return device_ == nullptr ? "a recorded GPU" : device_->name();
  }
  Result<Left> run(const TextureCase& each, const std::string& ptx) {
    if (device_ == nullptr) return replay(each);
    Left left = WW_TRY(run_on(*device_, each, ptx));
    for (const std::vector<std::byte>* part : {&left.out, &left.texels})
      kept_.append(reinterpret_cast<const char*>(part->data()), part->size());
    return left;
  }
  Result<void> record(std::string_view file) const { return write_file_atomically(file, kept_); }

 private:
  Result<Left> replay(const TextureCase& each) {
    Left left{std::vector<std::byte>(each.count() * 16), each.texels};
    for (std::vector<std::byte>* part : {&left.out, &left.texels}) {
      if (kept_.size() - at_ < part->size())
        return fail(DiagKind::Io, "the record ends early: another number or seed of textures?");
      std::memcpy(part->data(), kept_.data() + at_, part->size());
      at_ += part->size();
    }
    return left;
  }

  std::unique_ptr<runtime::CudaDevice> device_;
  std::string kept_;
  std::size_t at_ = 0;
};

struct Sweep {
  std::size_t textures = 600;
  std::uint64_t seed = 1;
  std::string_view record, replay;  // files
};

Result<int> sweep(const Sweep& what) {
  Reference reference = WW_TRY(Reference::open(what.replay));
  Random random(what.seed);
  std::map<std::string_view, Tally> rows;
  for (std::size_t i = 0; i < what.textures; ++i) {
    const TextureCase each = random_case(random, kPlaces);
    const std::string ptx = kernel_of(each);
    const Left ours = WW_TRY(run_virtually(each, ptx));
    const Left theirs = WW_TRY(reference.run(each, ptx));
    const Row row = row_of(each);
    Tally& tally = rows[row.name];
    tally.is_exact = row.is_exact;
    compare(each, ours, theirs, i, tally);
  }
  fmt::print("{}, {} textures, seed {}\n\n| fetches | number | different |\n|---|--:|--:|\n",
             reference.name(), what.textures, what.seed);
  if (!what.record.empty()) WW_TRY_VOID(reference.record(what.record));
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
  ww::device::Sweep what;
  if (count > 1) what.textures = std::strtoull(words[1], nullptr, 10);
  if (count > 2) what.seed = std::strtoull(words[2], nullptr, 10);
  if (count == 5 && words[3] == std::string_view("record")) what.record = words[4];
  if (count == 5 && words[3] == std::string_view("replay")) what.replay = words[4];
  const auto status = ww::device::sweep(what);
  if (status) return *status;
  fmt::print(stderr, "{}\n", status.error().text);
  return 2;
}
