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
};

// Those of one lane.
struct Registers {
  unsigned a[4], b[2], c[4];
};

// Runs the form in warps of 32 lanes, `lanes` in all, a multiple of 128; four results to a lane.
// Ends the program if the device fails.
void run_on_device(Form form, const Registers* in, unsigned* out, int lanes);
