// SPDX-License-Identifier: Apache-2.0
// Runs the cases of cases.h on the GPU here, with maps that the driver encodes, and writes what
// became of each: record KIND CASES FILE [DUMPS]. `encode` as the kind only asks the encoder.
// recorded_test.cpp does the same on the virtual GPU and compares.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernel.cu"

namespace {

constexpr unsigned kBatch = 1024, kThreads = 128, kDumpWords = 2048;

void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

template <typename F>
F entry(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  must(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
  if (function == nullptr) std::exit(2);
  return reinterpret_cast<F>(function);
}

int encode(const Case& c, CUtensorMap& map, std::uint64_t slot) {
  static const auto tiled = entry<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  static const auto im2col = entry<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  cuuint64_t dims[5], strides[5];
  for (int d = 0; d < 5; ++d) dims[d] = c.dims[d], strides[d] = c.strides[d];
  void* base = reinterpret_cast<void*>(slot + c.base);
  const auto type = static_cast<CUtensorMapDataType>(c.type);
  const auto interleave = static_cast<CUtensorMapInterleave>(c.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(c.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(c.promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(c.fill);
  if (!is_im2col(c))
    return tiled(&map, type, c.rank, base, dims, strides, c.box, c.steps, interleave, swizzle, promotion, fill);
  return im2col(&map, type, c.rank, base, dims, strides, c.lower, c.upper, c.channels, c.pixels,
                c.steps, interleave, swizzle, promotion, fill);
}

__global__ void fill_slots(unsigned* arena, const Order* orders) {
  const Order& o = orders[blockIdx.x];
  unsigned* slot = arena + blockIdx.x * (kSlotBytes / 4ULL);
  for (unsigned i = threadIdx.x; i < kSlotBytes / 4; i += blockDim.x) slot[i] = word_of(o.seed, o.is_indexed, i);
}

// Digests of the tensors, and the words before and behind.
__global__ void digest_slots(const unsigned* arena, const unsigned* tensor_bytes, unsigned long long* digests,
                             unsigned* dump, unsigned dump_words) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const unsigned* slot = arena + blockIdx.x * (kSlotBytes / 4ULL);
  const unsigned count = (tensor_bytes[blockIdx.x] + 1024) / 4;
  unsigned long long mine = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine += digest_of(slot[i], i);
  atomicAdd(&sum, mine);
  for (unsigned i = threadIdx.x; i < dump_words && i < count; i += blockDim.x)
    dump[blockIdx.x * static_cast<unsigned long long>(dump_words) + i] = slot[i];
  __syncthreads();
  if (threadIdx.x == 0) digests[blockIdx.x] = sum;
}

template <typename T>
T* managed(std::size_t count) {
  void* p = nullptr;
  must(cudaMallocManaged(&p, count * sizeof(T)), "memory");
  std::memset(p, 0, count * sizeof(T));
  return static_cast<T*>(p);
}

int only_encode(unsigned cases, const char* path) {
  std::vector<std::int32_t> verdicts(cases);
  void* arena = nullptr;
  must(cudaMalloc(&arena, kSlotBytes), "memory");
  unsigned taken = 0;
  for (unsigned i = 0; i < cases; ++i) {
    alignas(64) CUtensorMap map;
    verdicts[i] = encode(perturb(i), map, reinterpret_cast<std::uint64_t>(arena));
    taken += verdicts[i] == 0;
  }
  FILE* file = std::fopen(path, "wb");
  std::fwrite(verdicts.data(), 4, cases, file);
  std::fclose(file);
  std::printf("encode: %u cases, %u taken\n", cases, taken);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  must(cudaFree(nullptr), "device");
  const unsigned cases = static_cast<unsigned>(std::atoi(argv[2]));
  if (std::string(argv[1]) == "encode") return only_encode(cases, argv[3]);
  unsigned kind = 0;
  while (kind < kKinds && std::string(argv[1]) != kKindNames[kind]) ++kind;
  const unsigned dumps = argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 0;
  unsigned char* arena = nullptr;
  must(cudaMalloc(&arena, (kBatch + 2ULL) * kSlotBytes), "arena");
  arena += kSlotBytes;
  unsigned char* maps = nullptr;  // not managed: the copy engine reads them itself
  must(cudaMalloc(&maps, kBatch * sizeof(CUtensorMap)), "maps");
  std::vector<CUtensorMap> host_maps(kBatch);
  auto* orders = managed<Order>(kBatch);
  auto* digests = managed<unsigned long long>(kBatch);
  auto* bytes = managed<int>(kBatch);
  auto* sizes = managed<unsigned>(kBatch);
  auto* dump = managed<unsigned>(std::size_t{kBatch} * kDumpWords);
  must(cudaFuncSetAttribute(copy_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes), "shared");
  FILE* file = std::fopen(argv[3], "wb");
  FILE* dump_file = dumps != 0 ? std::fopen((std::string(argv[3]) + ".dump").c_str(), "wb") : nullptr;
  unsigned refused = 0, odd = 0;
  for (unsigned first = 0; first < cases; first += kBatch) {
    const unsigned count = cases - first < kBatch ? cases - first : kBatch;
    std::vector<Outcome> out(count);
    for (unsigned i = 0; i < count; ++i) {
      const Case c = make_case(kind, first + i);
      if (c.shared_bytes > kSharedBytes) std::printf("case %u takes too much shared memory\n", first + i);
      alignas(64) CUtensorMap map{};
      out[i].status = encode(c, map, reinterpret_cast<std::uint64_t>(arena) + std::uint64_t{i} * kSlotBytes);
      std::memcpy(&host_maps[i], &map, sizeof map);
      orders[i] = order_of(c);
      sizes[i] = c.tensor_bytes;
      bytes[i] = static_cast<int>(c.box_bytes);
      if (out[i].status != 0) {
        orders[i].kind = kKinds;  // nothing is copied
        ++refused;
      }
    }
    for (unsigned i = 0; i < count; ++i)
      if (orders[i].kind == kKinds) orders[i].rank = 0, orders[i].box_bytes = 0;
    must(cudaMemcpy(maps, host_maps.data(), kBatch * sizeof(CUtensorMap), cudaMemcpyHostToDevice), "maps");
    fill_slots<<<count, 256>>>(reinterpret_cast<unsigned*>(arena), orders);
    const unsigned words = first < dumps ? kDumpWords : 0;
    copy_boxes<<<count, kThreads, kSharedBytes>>>(maps, orders, digests, bytes, dump, words);
    if (kind == kStore || kind == kReduce || kind == kIm2colStore || kind == kInterleavedStore)
      digest_slots<<<count, 256>>>(reinterpret_cast<unsigned*>(arena), sizes, digests, dump, words);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      std::printf("%s: batch %u: %s\n", argv[1], first, cudaGetErrorString(status));
      std::fclose(file);
      return 1;
    }
    for (unsigned i = 0; i < count; ++i) {
      out[i].digest = digests[i];
      out[i].bytes = bytes[i];
      odd += out[i].status == 0 && bytes[i] != static_cast<int>(orders[i].box_bytes);
    }
    std::fwrite(out.data(), sizeof(Outcome), count, file);
    for (unsigned i = 0; dump_file != nullptr && i < count && first + i < dumps; ++i)
      std::fwrite(dump + std::size_t{i} * kDumpWords, 4, kDumpWords, dump_file);
  }
  std::fclose(file);
  if (dump_file != nullptr) std::fclose(dump_file);
  std::printf("%s: %u cases, %u refused by the encoder, %u with another number of bytes\n", argv[1], cases, refused, odd);
  return 0;
}
