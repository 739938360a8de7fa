#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests what scripts/release.sh made: installs each file in an empty environment, where it runs a kernel on the virtual
# GPU. The source archive needs no test of its own: the others were built from it.
#
# usage: artifacts.sh DIST WORK PYTHON...    (WORK: a folder to make; every PYTHON gets the wheel)
#        artifacts.sh --self-test            (whether wrong files are found; installs nothing)
set -euo pipefail

glibc=$(getconf GNU_LIBC_VERSION | tr -dc '0-9.')
tag="cp312-abi3-manylinux_${glibc/./_}_$(uname -m)"

fail() {
  printf 'artifacts.sh: %s\n' "$*" >&2
  exit 1
}

# check_files DIST: the four files, their checksums, and what the wheel's name claims.
check_files() {
  local names wanted='^SHA256SUMS warpwright-[0-9.]+-([^ ]+)\.whl warpwright-[0-9.]+\.tar\.gz warpwright_[^ ]+\.deb$'
  cd "$1"
  names=$(LC_ALL=C && echo *)
  [[ $names =~ $wanted ]] ||
    fail "expected SHA256SUMS, a wheel, a source archive and a Debian package, saw $names"
  # A wheel runs here, so it may claim the glibc of this machine, and none older.
  [[ ${BASH_REMATCH[1]} == "$tag" ]] || fail "the wheel is tagged ${BASH_REMATCH[1]}, expected $tag"
  [[ "SHA256SUMS $(cut -d ' ' -f 3 SHA256SUMS | LC_ALL=C sort | xargs)" == "$names" ]] || fail "SHA256SUMS lists other files than $names"
  sha256sum --check --strict --quiet SHA256SUMS || fail "a file has changed since SHA256SUMS was written"
}

# alone WORDS...: without the variables of this shell, in an empty folder.
alone() {
  (cd "$work/empty" && env -i HOME="$work/empty" PATH=/usr/bin:/bin "$@")
}

# check_wheel PYTHON
check_wheel() {
  local venv bin
  venv=$work/$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  bin=$venv/bin
  "$1" -m venv "$venv"
  "$bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$dist"/*.whl
  alone "$bin/warpwright" examples run transpose --device sim --expect 'B == A.T'
  alone "$bin/warpwright" examples write first/product "${venv##*/}.py"
  alone "$bin/python" - "${venv##*/}.py" <<'END'
import sys
import numpy as np, warpwright as ww
product = ww.compile(sys.argv[1], "build(M=128, N=256, K=64)")
A, B = (np.random.randn(rows, 64).astype(np.float16) for rows in (128, 256))
D = np.empty((128, 256), np.float32)
product(A, B, out=D)
assert np.allclose(D, A.astype(np.float32) @ B.T.astype(np.float32), atol=1e-2)
print("warpwright", ww.__version__, "multiplied matrices in Python", sys.version.split()[0])
END
}

# check_package: a system of nothing but apt and its dependencies gets the package.
# shellcheck disable=SC2016 # $1 is mmdebstrap's
check_package() {
  local suite
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  cp "$dist"/*.deb "$work/warpwright.deb"
  mmdebstrap --quiet --variant=apt --customize-hook="copy-in '$work/warpwright.deb' /root" \
    --customize-hook='chroot "$1" apt-get install -qq --no-install-recommends /root/warpwright.deb' \
    --customize-hook='chroot "$1" env -i PATH=/usr/bin:/bin warpwright examples run transpose --device sim --expect "B == A.T"' \
    "$suite" /dev/null
}

# expect_refused WHAT: check_files finds what is wrong.
expect_refused() {
  if (check_files "$work/dist") >"$work/said" 2>&1; then
    fail "accepted $1"
  fi
  echo "ok: finds $1"
}

# make_files TAG: good but for the tag, perhaps.
make_files() {
  rm -rf "$work/dist"
  mkdir "$work/dist"
  (cd "$work/dist" && touch "warpwright-1.0-$1.whl" warpwright-1.0.tar.gz warpwright_1.0_amd64.deb &&
    sha256sum -- warpwright* >SHA256SUMS)
}

self_test() {
  make_files "$tag"
  check_files "$work/dist"
  echo "ok: accepts good files"
  echo changed >"$work/dist/warpwright-1.0.tar.gz"
  expect_refused "a changed file"
  make_files "$tag" && sed -i 1d "$work/dist/SHA256SUMS"
  expect_refused "a file without a checksum"
  make_files "$tag" && rm "$work/dist"/*.deb
  expect_refused "a missing package"
  make_files "$tag" && touch "$work/dist/warpwright-2.0-$tag.whl"
  expect_refused "two wheels"
  make_files "cp312-cp312-${tag#*abi3-}"
  expect_refused "a wheel for one version of CPython"
  make_files "cp312-abi3-manylinux_2_5_$(uname -m)"
  expect_refused "a wheel that claims an older glibc"
  make_files cp312-abi3-linux_x86_64
  expect_refused "a wheel that claims no glibc"
}

if [[ $# == 1 && $1 == --self-test ]]; then
  work=$(mktemp -d)
  trap 'rm -rf -- "$work"' EXIT
  self_test
  exit
fi
(($# > 2)) || fail "needs DIST WORK PYTHON..."
dist=$(readlink -f -- "$1") work=$(readlink -f -- "$2")
shift 2
rm -rf -- "$work"
mkdir -p "$work/empty"
(check_files "$dist")
for python in "$@"; do
  check_wheel "$python"
done
check_package
