#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares addresses of shared memory in clusters of 1 to 16 CTAs on the virtual GPU with the GPU here
# (ww_device_cluster). Needs a device of sm_90. Exit status: 0 all agree, 1 something differs, 2 it could
# not be built or run.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
device_build "$build/cluster.log" ww_device_cluster
exec "$build/bin/ww_device_cluster" "$@"
