// SPDX-License-Identifier: Apache-2.0
// targets: sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// Matrices stored to shared memory by a warp, straight and transposed; on the targets that have
// them also the 8-bit load and store.
//
//   stmatrix_tile(out, in)        in: 32 lanes x 4 registers; out: the 32 rows x 8 halves that x4
//                                 stores
//   stmatrix_transpose(out, in)   out[c][r] = in[r][c] for 16 x 16 halves: plain load, transposed
//                                 store
//   matrix_bytes(out, in)         out[c][r] = in[r][c] for 16 x 16 bytes; sm_100a, sm_103a and
//                                 sm_120a
//   stmatrix_bytes(out, in)       in: 32 lanes x 1 register, a tile of 16 x 8 bytes; out: its
//                                 transpose, 8 rows of 16 bytes; same targets
// One warp.
namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace

extern "C" __global__ void stmatrix_tile(uint4* out, const uint4* in) {
  __shared__ uint4 rows[32];
  const uint4 v = in[threadIdx.x];
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(&rows[threadIdx.x])),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
  __syncwarp();
  out[threadIdx.x] = rows[threadIdx.x];
}

extern "C" __global__ void stmatrix_transpose(uint4* out, const uint4* in) {
  __shared__ uint4 source[16][2];
  __shared__ uint4 target[16][2];
  const unsigned lane = threadIdx.x;
  source[lane / 2][lane % 2] = in[lane];
  __syncwarp();
  // Four 8 x 8 matrices: rows 0-7 and 8-15 of the left half, then of the right half.
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(&source[lane % 16][lane / 16]))
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(
                   shared_address(&target[lane % 8][lane / 8 % 2])),
               "r"(r[0]), "r"(r[1])
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(
                   shared_address(&target[8 + lane % 8][0])),
               "r"(r[2])
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(
                   shared_address(&target[8 + lane % 8][1])),
               "r"(r[3])
               : "memory");
  __syncwarp();
  out[lane] = target[lane / 2][lane % 2];
}

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || \
    defined(__CUDA_ARCH_FEAT_SM120_ALL)
extern "C" __global__ void matrix_bytes(uint4* out, const uint4* in) {
  __shared__ uint4 source[16];
  __shared__ uint4 target[16];
  const unsigned lane = threadIdx.x;
  if (lane < 16) source[lane] = in[lane];
  __syncwarp();
  // The load transposes: register q of a lane holds four bytes of column lane / 4 + 8q.
  unsigned r[2];
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(&source[lane % 16]))
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
                   shared_address(&target[lane % 16])),
               "r"(r[0]), "r"(r[1])
               : "memory");
  __syncwarp();
  if (lane < 16) out[lane] = target[lane];
}

extern "C" __global__ void stmatrix_bytes(uint4* out, const unsigned* in) {
  __shared__ uint4 rows[8];
  asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(
                   shared_address(&rows[threadIdx.x % 8])),
               "r"(in[threadIdx.x])
               : "memory");
  __syncwarp();
  if (threadIdx.x < 8) out[threadIdx.x] = rows[threadIdx.x];
}
#endif
