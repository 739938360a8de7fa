// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_texture.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "runtime/cuda_calls.h"

namespace ww::runtime {
namespace {

// cuda.h's names for these are beside them.
constexpr std::uint32_t kLayered = 0x01;        // CUDA_ARRAY3D_LAYERED
constexpr std::uint32_t kForSurfaces = 0x02;    // CUDA_ARRAY3D_SURFACE_LDST
constexpr std::uint32_t kForGather = 0x08;      // CUDA_ARRAY3D_TEXTURE_GATHER
constexpr std::uint32_t kReadsIntegers = 0x01;  // CU_TRSF_READ_AS_INTEGER
constexpr std::uint32_t kNormalized = 0x02;     // CU_TRSF_NORMALIZED_COORDINATES
constexpr int kHost = 1;                        // CU_MEMORYTYPE_HOST
constexpr int kArray = 3;                       // CU_MEMORYTYPE_ARRAY
// Arrays that tld4 reads have no larger extents.
constexpr std::uint32_t kMaxGathered = 32768;

// CUarray_format.
int format_of(const sim::Texture& texture) {
  if (texture.kind == sim::TexelKind::Float) return texture.bits == 16 ? 0x10 : 0x20;
  const int first = texture.kind == sim::TexelKind::Signed ? 0x08 : 0x01;
  return first + (texture.bits == 8 ? 0 : texture.bits == 16 ? 1 : 2);
}

std::uint32_t array_flags(const sim::Texture& texture) {
  std::uint32_t out = texture.layers > 0 ? kLayered : 0;
  if (texture.is_surface) return out | kForSurfaces;
  const bool is_gathered = texture.rank == 2 && texture.layers == 0 &&
                           std::max(texture.extent[0], texture.extent[1]) <= kMaxGathered;
  return is_gathered ? out | kForGather : out;
}

}  // namespace

Result<std::unique_ptr<CudaTexture>> CudaTexture::make(const CudaCalls& calls,
                                                       const sim::Texture& texture,
                                                       std::string_view name) {
  if (calls.array_create == nullptr || calls.array_destroy == nullptr ||
      calls.array_copy == nullptr || calls.texture_create == nullptr ||
      calls.texture_destroy == nullptr || calls.surface_create == nullptr ||
      calls.surface_destroy == nullptr)
    return fail(DiagKind::OldDriver, "the CUDA driver is too old for texture objects");
  std::unique_ptr<CudaTexture> out(new CudaTexture(calls, texture, name));  // NOLINT: private
  WW_TRY_VOID(out->create_array());
  WW_TRY_VOID(out->create_object());
  return out;
}

// Extents that an array does not have are 0; the depth of one in layers is their number.
Result<void> CudaTexture::create_array() {
  CudaArrayDesc desc;
  desc.width = texture_.extent[0];
  if (texture_.rank > 1) desc.height = texture_.extent[1];
  desc.depth = texture_.layers > 0 ? texture_.layers : texture_.rank > 2 ? texture_.extent[2] : 0;
  desc.format = format_of(texture_);
  desc.channels = texture_.channels;
  desc.flags = array_flags(texture_);
  return check_cuda(calls_, calls_.array_create(&array_, &desc),
                    fmt::format("making an array of {} x {} x {} texels for `{}`", desc.width,
                                desc.height, desc.depth, name_));
}

Result<void> CudaTexture::create_object() {
  CudaResourceDesc resource;
  resource.array = array_;
  if (texture_.is_surface)
    return check_cuda(calls_, calls_.surface_create(&handle_, &resource),
                      fmt::format("making a surface object for `{}`", name_));
  CudaTextureDesc desc;
  desc.address.fill(static_cast<int>(texture_.mode));
  desc.filter = texture_.is_linear ? 1 : 0;
  if (!texture_.gives_floats()) desc.flags |= kReadsIntegers;
  if (texture_.is_normalized) desc.flags |= kNormalized;
  return check_cuda(calls_, calls_.texture_create(&handle_, &resource, &desc, nullptr),
                    fmt::format("making a texture object for `{}`", name_));
}

CudaTexture::~CudaTexture() {
  if (handle_ != 0)
    (texture_.is_surface ? calls_.surface_destroy : calls_.texture_destroy)(handle_);
  if (array_ != nullptr) calls_.array_destroy(array_);
}

// All of the array; one side is still to be said.
CudaArrayCopy CudaTexture::whole() const {
  CudaArrayCopy out;
  out.width_bytes = std::size_t{texture_.extent[0]} * texture_.texel_bytes();
  out.height = texture_.extent[1];
  out.depth = std::size_t{texture_.extent[2]} * std::max<std::uint32_t>(texture_.layers, 1);
  for (CudaCopySide* const side : {&out.from, &out.to}) {
    side->pitch = out.width_bytes;
    side->height = out.height;
  }
  return out;
}

Result<void> CudaTexture::upload(std::span<const std::byte> texels) {
  CudaArrayCopy copy = whole();
  WW_CHECK(texels.size() == copy.width_bytes * copy.height * copy.depth, "{} bytes", texels.size());
  copy.from.memory = kHost;
  copy.from.host = const_cast<std::byte*>(texels.data());  // NOLINT: it is only read
  copy.to.memory = kArray;
  copy.to.array = array_;
  return check_cuda(calls_, calls_.array_copy(&copy),
                    fmt::format("copying {} bytes to the array of `{}`", texels.size(), name_));
}

Result<void> CudaTexture::download(std::span<std::byte> texels) {
  CudaArrayCopy copy = whole();
  WW_CHECK(texels.size() == copy.width_bytes * copy.height * copy.depth, "{} bytes", texels.size());
  copy.from.memory = kArray;
  copy.from.array = array_;
  copy.to.memory = kHost;
  copy.to.host = texels.data();
  return check_cuda(calls_, calls_.array_copy(&copy),
                    fmt::format("copying {} bytes from the array of `{}`", texels.size(), name_));
}

}  // namespace ww::runtime
