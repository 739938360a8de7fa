#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares wgmma on the virtual GPU with the GPU here, bit by bit (ww_device_wgmma). Needs a device of
# sm_90. Usage: scripts/device_wgmma.sh [ELEMENTS of D for each form]; prints the table of
# docs/evidence/numbers.md. Exit status: 0 all agree, 1 something differs, 2 it could not be built or run.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
device_build "$build/wgmma.log" ww_device_wgmma
exec "$build/bin/ww_device_wgmma" "$@"
