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

/// Memory for one batch of cases, and what becomes of them.
class Batch {
 public:
  Batch() {
    must(cudaMalloc(&arena_, (kBatch + 2ULL) * kSlotBytes), "arena");
    arena_ += kSlotBytes / 4;
    must(cudaMalloc(&maps_, kBatch * sizeof(CUtensorMap)), "maps");
    must(cudaFuncSetAttribute(copy_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
         "shared memory");
  }
  /// Encodes the cases from `first` on.
  void prepare(unsigned kind, unsigned first, unsigned count) {
    outcomes.assign(count, {});
    for (unsigned i = 0; i < count; ++i) {
      const Case c = make_case(kind, first + i);
      const std::uint64_t slot = reinterpret_cast<std::uint64_t>(arena_) + std::uint64_t{i} * kSlotBytes;
      outcomes[i].status = encode(c, host_maps_[i], slot);
      orders_[i] = order_of(c);
      sizes_[i] = c.tensor_bytes;
      bytes_[i] = static_cast<int>(c.box_bytes);
      if (outcomes[i].status == 0) continue;
      orders_[i].kind = kKinds;  // nothing is copied
      orders_[i].rank = orders_[i].box_bytes = 0;
    }
    // Not managed memory: the copy engine reads maps itself.
    must(cudaMemcpy(maps_, host_maps_.data(), kBatch * sizeof(CUtensorMap), cudaMemcpyHostToDevice),
         "maps");
  }
  /// Copies, and fills in the outcomes.
  cudaError_t run(bool writes_tensors, unsigned dump_words) {
    const auto count = static_cast<unsigned>(outcomes.size());
    fill_slots<<<count, 256>>>(arena_, orders_);
    copy_boxes<<<count, kThreads, kSharedBytes>>>(maps_, orders_, digests_, bytes_, dump, dump_words);
    if (writes_tensors)
      digest_slots<<<count, 256>>>(arena_, sizes_, digests_, dump, dump_words);
    const cudaError_t status = cudaDeviceSynchronize();
    for (unsigned i = 0; i < count && status == cudaSuccess; ++i) {
      outcomes[i].digest = digests_[i];
      outcomes[i].bytes = bytes_[i];
    }
    return status;
  }

  std::vector<Outcome> outcomes;
  unsigned* dump = managed<unsigned>(std::size_t{kBatch} * kDumpWords);

 private:
  unsigned* arena_ = nullptr;
  unsigned char* maps_ = nullptr;
  std::vector<CUtensorMap> host_maps_ = std::vector<CUtensorMap>(kBatch);
  Order* orders_ = managed<Order>(kBatch);
  unsigned long long* digests_ = managed<unsigned long long>(kBatch);
  int* bytes_ = managed<int>(kBatch);
  unsigned* sizes_ = managed<unsigned>(kBatch);
};

int record(unsigned kind, unsigned cases, const std::string& path, unsigned dumps) {
  Batch batch;
  FILE* file = std::fopen(path.c_str(), "wb");
  FILE* dump_file = dumps != 0 ? std::fopen((path + ".dump").c_str(), "wb") : nullptr;
  unsigned refused = 0, odd = 0;
  for (unsigned first = 0; first < cases; first += kBatch) {
    const unsigned count = cases - first < kBatch ? cases - first : kBatch;
    batch.prepare(kind, first, count);
    const cudaError_t status =
        batch.run(writes_tensor(make_case(kind, first)), first < dumps ? kDumpWords : 0);
    if (status != cudaSuccess) {
      std::printf("%s, cases from %u: %s\n", kKindNames[kind], first, cudaGetErrorString(status));
      return 1;
    }
    for (unsigned i = 0; i < count; ++i) {
      const Outcome& outcome = batch.outcomes[i];
      refused += outcome.status != 0;
      odd += outcome.status == 0 &&
             outcome.bytes != static_cast<int>(make_case(kind, first + i).box_bytes);
      if (first + i < dumps) std::fwrite(batch.dump + std::size_t{i} * kDumpWords, 4, kDumpWords, dump_file);
    }
    std::fwrite(batch.outcomes.data(), sizeof(Outcome), count, file);
  }
  std::fclose(file);
  std::printf("%s: %u cases, %u refused by the encoder, %u with another number of bytes\n",
              kKindNames[kind], cases, refused, odd);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: record KIND CASES FILE [DUMPS]\n");
    return 2;
  }
  must(cudaFree(nullptr), "device");
  const auto cases = static_cast<unsigned>(std::atoi(argv[2]));
  if (std::string(argv[1]) == "encode") return only_encode(cases, argv[3]);
  unsigned kind = 0;
  while (kind < kKinds && std::string(argv[1]) != kKindNames[kind]) ++kind;
  if (kind == kKinds) return 2;
  return record(kind, cases, argv[3], argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 0);
}
