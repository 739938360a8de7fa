# SPDX-License-Identifier: Apache-2.0
#
# How every file of ours is compiled, as one target: link `ww_flags` privately.
#
# A warning fails ./test, which looks for them in what the compiler wrote, but not the build: a newer
# compiler may have new ones. -DCMAKE_COMPILE_WARNING_AS_ERROR=ON makes them errors at once.

add_library(ww_flags INTERFACE)

target_compile_options(
  ww_flags
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    # Where files are compiled in batches, one may shadow what another's headers declare.
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
    -Wconversion
    -Wsign-conversion
    -Wold-style-cast
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -Wimplicit-fallthrough
    # AArch64 and x86-64 must give the same bytes: no silent fused multiply-add, one signedness of
    # plain char.
    -ffp-contract=off
    -fsigned-char
    # No path of the building machine in the program.
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
