// SPDX-License-Identifier: Apache-2.0
// The forms of mma.sync that are tried on a device: what matrix_unit.cu runs and matrix_unit.cpp
// compares with the model. Two files because nvcc does not read all of our headers.
#pragma once

enum class Form {
  F16_K16,
  F16_K8,
  F16_K16_H,
  F16_K8_H,
  Bf16_K16,
  Bf16_K8,
  Tf32_K8,
  Tf32_K4,
  E4m3,
  E5m2,
  E4m3_E5m2_K16,
  E4m3_H,
  E5m2_H,
  E4m3_K16_H,
  // sparse A
  Sp_F16_K16,
  Sp_F16_K32,
  Sp_F16_K16_H,
  Sp_F16_K32_H,
  Sp_Bf16_K16,
  Sp_Bf16_K32,
  Sp_Tf32_K8,
  Sp_Tf32_K16,
  Sp_E4m3,
  Sp_E4m3_E5m2,
  Sp_E5m2_E4m3,
  Sp_E5m2,
  Sp_S8_U8_K32,
  Sp_U8_S8_K64,
  Sp_S4_U4_K64,
  Sp_U4_S4_K128,
};

// Those of one lane: A, B, C, the metadata of a sparse A.
struct Registers {
  unsigned a[4], b[4], c[4], e;
};

// Runs the form in warps of 32 lanes, `lanes` in all, a multiple of 128; four results to a lane.
// `selector` names the lanes with metadata. Ends the program if the device fails.
void run_on_device(Form form, int selector, const Registers* in, unsigned* out, int lanes);
