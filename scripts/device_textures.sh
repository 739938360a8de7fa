#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares random textures and surfaces on the virtual GPU with the GPU here, bit by bit
# (ww_device_textures). Usage: scripts/device_textures.sh [TEXTURES [SEED]]; prints the table of
# docs/evidence/textures.md. Exit status: 0 all agree but for the kinds that this page names, 1 others
# differ, 2 it could not be built or run.
set -uo pipefail
# shellcheck source=scripts/device_build.sh
. "$(dirname "${BASH_SOURCE[0]}")/device_build.sh"
device_build "$build/textures.log" ww_device_textures
exec "$build/bin/ww_device_textures" "$@"
