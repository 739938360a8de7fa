# SPDX-License-Identifier: Apache-2.0
#
# One library per folder of src/, from cmake/layers.txt.
#
#   ww_add_all_libraries()                     every row of layers.txt that has sources
#   ww_add_library(<folder> DEPS <folder>... [EXTERNAL <name>...])
#       src/<folder>/**/*.cpp      -> static library ww_<folder>, known to users as
#                                     warpwright::<folder>  (emit/cuda -> ww_emit_cuda)
#       src/<folder>/**/*.h, *.def -> its headers, each also compiled alone by the target
#                                     all_verify_interface_header_sets
#       src/<folder>/**/*_test.cpp -> test executable <folder>_tests, or a part of unit_tests
#   ww_join_unit_tests()                       unit_tests, at the end; see WW_WHOLE_EXECUTABLES
#   ww_add_tests(<target> SOURCES <file>... LABEL <label> [LIBRARIES <target>...] [OPTIMISED])
#       one GoogleTest executable, each of its cases one ctest case; OPTIMISED: its own code works hard
#
# Files are globbed with CONFIGURE_DEPENDS: adding a file needs no edit here, and the next build
# notices it. src/cli/main.cpp belongs to the program and src/explore/http_module.cpp to its module, not to a
# library.

include(GoogleTest)

# What the third-party names in layers.txt stand for.
# A wheel goes to machines without Debian's libfmt.
if(SKBUILD)
  set(WW_EXTERNAL_fmt fmt::fmt-header-only)
else()
  set(WW_EXTERNAL_fmt fmt::fmt)
endif()
set(WW_EXTERNAL_json nlohmann_json::nlohmann_json)
set(WW_EXTERNAL_httplib ww_httplib_known) # cmake/httplib.cmake

# Compiling takes nearly all the time of ./test, which builds unit tests once: those of the folders that
# everything stands on with the sanitizers, those of the others without. ./test --thorough has all of
# them with the sanitizers and without.
set(WW_CORE_FOLDERS base num target layout isa ptx)
option(WW_UNIT_TESTS "Build the tests beside the sources of the core folders, too" ON)
option(WW_CORE_ONLY "Build only the tests of the core folders" OFF)

# Much of compiling a file is reading the standard library and fmt, so these are read once for all
# libraries: that takes a quarter off layout and four tenths off isa. The preset lint goes without, so
# that every file includes what it uses.
set(WW_COMMON_HEADERS
    <fmt/format.h> <algorithm> <array> <cstdint> <cstring> <functional> <memory> <optional>
    <span> <string> <string_view> <utility> <vector>)

# The folders whose code runs for long, at -O3: loops over the lanes of a warp, which must become vector
# instructions. All others run once per kernel and are built at -O1, in two thirds of the time.
set(WW_LANE_FOLDERS num sim)

# The files of sim that do not work for every lane or every access: they decode, launch, record, or run
# operations that move much at once. These are built as other folders are.
set(WW_SIM_SCALAR_FILES
    "/src/sim/((check_)?launch|decode/.*|texture/.*|timeline/.*|tensor_map/(image|map)\
|checks/(copied_tiles|findings|grid_.*|numbers|promises)|order/(barriers|locations|strong)\
|run/(barriers|builtin|calls|counters|deadlock|mbarriers|stack|trace|warpgroup)\
|ops/(barrier|bulk_copy|cluster.*|control|cp_async|fence|mbarrier.*|tensor_.*|texture\
|tcgen05_(alloc|cp|mma|mma_operands|zero_columns)|wgmma|wgmma_operands))\\.cpp$")

# The folders that go without two passes of -O1, the points-to analysis and the loop optimisers: a twentieth
# to a ninth less to build, and nothing slower that we could measure. In the others something is: a kernel
# takes 2 to 3 percent longer to lower, PTX 4 to read, elements of a layout 20 to list.
set(WW_BRIEF_FOLDERS script infer emit/cuda emit/ptx view runtime driver explore lsp cli)
set(WW_FEWER_PASSES)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(WW_FEWER_PASSES $<$<CONFIG:Release>:-fno-tree-pta> $<$<CONFIG:Release>:-fno-tree-loop-optimize>)
endif()

# Built by `cmake --build ... --target all_tests`: the program and every test executable.
if(NOT TARGET all_tests)
  add_custom_target(all_tests)
endif()

# ww_headers_library(<target> <header>...): a library of nothing but precompiled headers, which targets
# that are compiled with the same options reuse.
function(ww_headers_library target)
  set(source "${PROJECT_BINARY_DIR}/CMakeFiles/${target}.cpp")
  if(NOT EXISTS "${source}")
    file(WRITE "${source}" "// Holds precompiled headers.\n")
  endif()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_link_libraries(${target} PRIVATE ww_flags ${WW_EXTERNAL_fmt})
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# What nearly all files of a folder include, precompiled for it alone: large folders only. Where files are
# compiled together there are too few compilations to make up for it.
set(WW_OWN_HEADER_ir ir/build.h)
set(WW_OWN_HEADER_eval eval/cta/cta.h)
set(WW_OWN_HEADER_script script/interp/context.h)
set(WW_OWN_HEADER_sim sim/run/unit.h)
set(WW_OWN_HEADER_lower lower/operand_places.h)
set(WW_OWN_HEADER_emit/cuda emit/cuda/context.h)
set(WW_OWN_HEADER_emit/ptx emit/ptx/context.h)

# What g++ 12 keeps quiet about in the system's headers it warns of where they are precompiled: it takes
# moving a string for an access out of bounds. The sanitizers see real ones.
function(ww_trust_precompiled target)
  foreach(warning array-bounds restrict stringop-overflow stringop-overread)
    target_compile_options(${target} PRIVATE -Wno-${warning})
  endforeach()
endfunction()

# The extension of the Python package is a shared library: what it links is position-independent, and shows
# none of its own names to what else the process loads. The libraries are so in every build, to share their
# objects with the package; it costs nothing that we could measure.
function(ww_fit_for_sharing target)
  # As options, not properties, which mean -fPIE for programs: those of bench/ use the same precompiled headers.
  target_compile_options(${target} PRIVATE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
endfunction()

function(ww_library_headers target folder)
  if(CMAKE_CXX_CLANG_TIDY OR folder STREQUAL "num") # num: few files, compiled with options of its own
    return()
  endif()
  if(folder STREQUAL "sim" AND WW_UNITY)
    return() # one compilation, with options of its own
  endif()
  if(DEFINED WW_OWN_HEADER_${folder} AND NOT WW_UNITY)
    target_precompile_headers(
      ${target} PRIVATE ${WW_COMMON_HEADERS} "${PROJECT_SOURCE_DIR}/src/${WW_OWN_HEADER_${folder}}")
  else()
    if(NOT TARGET ww_common_headers)
      ww_headers_library(ww_common_headers ${WW_COMMON_HEADERS})
      target_compile_options(ww_common_headers PRIVATE $<$<CONFIG:Release>:-O1>)
      ww_fit_for_sharing(ww_common_headers)
    endif()
    target_precompile_headers(${target} REUSE_FROM ww_common_headers)
  endif()
  ww_trust_precompiled(${target})
endfunction()

# ww_add_scalar_objects(ww_sim SOURCES ... DEPS ...): the part of a folder of lanes that is not built for speed.
function(ww_add_scalar_objects target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_library(${target}_scalar OBJECT ${arg_SOURCES})
  ww_fit_for_sharing(${target}_scalar)
  list(TRANSFORM arg_DEPS PREPEND ww_)
  target_link_libraries(${target}_scalar PRIVATE ww_flags ${arg_DEPS})
  target_compile_features(${target}_scalar PRIVATE cxx_std_23)
  target_compile_options(${target}_scalar PRIVATE $<$<CONFIG:Release>:-O1> -fno-strict-aliasing)
  ww_library_headers(${target}_scalar "${target}_scalar")
  ww_compile_together(${target}_scalar)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_scalar>)
endfunction()

function(ww_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;EXTERNAL")
  set(root "${PROJECT_SOURCE_DIR}/src/${folder}")
  string(REPLACE "/" "_" name "${folder}")
  set(target "ww_${name}")

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/*.cpp")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${root}/*.h")
  file(GLOB_RECURSE tables CONFIGURE_DEPENDS "${root}/*.def")
  list(FILTER headers EXCLUDE REGEX "/test_[a-z_]*\\.h$") # for the folder's own tests
  list(FILTER tables EXCLUDE REGEX "/test_[a-z0-9_]*\\.def$")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/cli/main|/explore/http_module)\\.cpp$")
  if(NOT sources AND NOT headers)
    return()
  endif()

  if(folder STREQUAL "sim")
    set(scalar ${sources})
    list(FILTER scalar INCLUDE REGEX "${WW_SIM_SCALAR_FILES}")
    list(FILTER sources EXCLUDE REGEX "${WW_SIM_SCALAR_FILES}")
  endif()

  # A folder with headers alone is a library too, with nothing to archive.
  if(sources)
    add_library(${target} STATIC ${sources})
    ww_fit_for_sharing(${target})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ww_flags>)
    ww_library_headers(${target} ${folder})
    ww_compile_together(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(warpwright::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_23)

  if(sources)
    set(level -O1)
    if(folder IN_LIST WW_LANE_FOLDERS)
      set(level -O3)
      target_compile_options(${target} PRIVATE ${WW_CHECKS_IN_PLACE})
    endif()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
    if(folder IN_LIST WW_BRIEF_FOLDERS)
      target_compile_options(${target} PRIVATE ${WW_FEWER_PASSES})
    endif()
  endif()
  # Registers are raw bits there, read as whatever type an instruction says.
  if(folder STREQUAL "sim")
    target_compile_options(${target} PRIVATE -fno-strict-aliasing)
    ww_add_scalar_objects(${target} SOURCES ${scalar} DEPS ${arg_DEPS})
  endif()

  # Two file sets: tables (*.def) are installed beside the headers but do not compile alone.
  target_sources(
    ${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${headers})
  if(tables)
    target_sources(
      ${target} ${scope} FILE_SET tables TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src"
      FILES ${tables})
    set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  endif()

  foreach(dep IN LISTS arg_DEPS)
    string(REPLACE "/" "_" dep "${dep}")
    if(TARGET ww_${dep})
      target_link_libraries(${target} ${scope} ww_${dep})
    endif()
  endforeach()
  foreach(external IN LISTS arg_EXTERNAL)
    # fmt appears in base's headers; the rest is header-only and stays inside our sources.
    if(external STREQUAL "fmt")
      target_link_libraries(${target} ${scope} ${WW_EXTERNAL_fmt})
    elseif(sources)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${WW_EXTERNAL_${external}}>)
    endif()
  endforeach()

  if(folder IN_LIST WW_CORE_FOLDERS)
    if(NOT WW_UNIT_TESTS)
      set(tests)
    endif()
  elseif(WW_CORE_ONLY)
    set(tests)
  endif()
  if(tests)
    ww_add_unit_tests(${folder} SOURCES ${tests} LIBRARIES ${target} ${arg_EXTERNAL})
  endif()
  set_property(GLOBAL APPEND PROPERTY WW_LIBRARIES ${target})
endfunction()

function(ww_add_all_libraries)
  set(table "${PROJECT_SOURCE_DIR}/cmake/layers.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" rows REGEX "^[^#]")
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^([a-z0-9_/]+) *:([^|]*)(\\|(.*))?$")
      message(FATAL_ERROR "cmake/layers.txt: expected `folder : folders | libraries`, saw `${row}`")
    endif()
    set(folder "${CMAKE_MATCH_1}")
    separate_arguments(deps UNIX_COMMAND "${CMAKE_MATCH_2}")
    separate_arguments(externals UNIX_COMMAND "${CMAKE_MATCH_4}")
    ww_add_library(${folder} DEPS ${deps} EXTERNAL ${externals})
  endforeach()
endfunction()

# It is the library that is optimised and checked for undefined behaviour. Tests are most of what is
# compiled; doing the same to them would cost a third more time. They are not optimised at all, but for
# those that do real work themselves, which keep some of it.
function(ww_test_options target is_optimised)
  if(is_optimised)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_compile_options(${target} PRIVATE -O0)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # std::move and std::forward without a function: a twentieth less to compile.
      target_compile_options(${target} PRIVATE -ffold-simple-inlines)
    endif()
  endif()
  if(WW_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

# ww_test_compilation(<target> <whether optimised>): how tests and what they share are compiled. The
# headers that every test includes, most of a test's compilation, are read once for those that are
# optimised and once for the others.
function(ww_test_compilation target is_optimised)
  if(WW_CORE_ONLY)
    set(is_optimised OFF) # two tests, which would take less time than their headers
  endif()
  set(headers ww_test_headers)
  if(is_optimised)
    set(headers ww_test_headers_optimised)
  endif()
  if(NOT TARGET ${headers})
    ww_headers_library(${headers} <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> <string> <vector>)
    target_link_libraries(${headers} PRIVATE GTest::gmock)
    ww_test_options(${headers} ${is_optimised})
  endif()
  ww_test_options(${target} ${is_optimised})
  target_precompile_headers(${target} REUSE_FROM ${headers})
  ww_trust_precompiled(${target})
  ww_compile_together(${target})
endfunction()

# WW_WHOLE_EXECUTABLES: a test of ctest's is a whole executable where its cases take no time, instead of
# a case: starting thousands of processes takes longer than what they do. Likewise where each process
# would make the same things first: kernels of every instruction, the corpus as PTX. ./test counts the
# cases all the same (scripts/test_report.py). With WW_UNITY the unit tests of all folders are one executable
# then, unit_tests, in two compilations: headers and templates that most of them use are compiled twice, not
# a dozen times, which takes three tenths off.
option(WW_WHOLE_EXECUTABLES "Run the cases of quick tests in one process" OFF)
set(WW_QUICK_LABELS unit script cli property docs sim corpus)
set(WW_SECOND_COMPILATION sim runtime driver lsp explore cli bench) # half of the unit tests

# Executables whose cases run in a few processes of many cases each, so that all cores have work: unit_tests,
# and those whose cases share costly calls of nvcc and ptxas when they run in one process
# (harness/tool_queue.h). They keep freed memory: giving it back to the system between kernels takes a
# thirtieth of the time of lowering_tests.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(WW_SHARDS_lowering_tests 8)
set(WW_SHARDS_unit_tests 4)
if(cores LESS 4)
  set(WW_SHARDS_lowering_tests 2)
  set(WW_SHARDS_unit_tests 2)
endif()
set(WW_SHARD_MEMORY MALLOC_TRIM_THRESHOLD_=268435456)

# COST: long ones first, so that no core waits for the last one. Shards take the longest, then come the cases
# of tests that call nvcc and ptxas or plant faults.
function(ww_add_cases target label)
  if(WW_WHOLE_EXECUTABLES AND DEFINED WW_SHARDS_${target})
    math(EXPR last "${WW_SHARDS_${target}} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${target}/shard_${shard} COMMAND ${target})
      set_tests_properties(
        ${target}/shard_${shard}
        PROPERTIES LABELS ${label} TIMEOUT 1800 COST 300 ENVIRONMENT
                   "GTEST_TOTAL_SHARDS=${WW_SHARDS_${target}};GTEST_SHARD_INDEX=${shard};${WW_SHARD_MEMORY}")
    endforeach()
    return()
  endif()
  if(WW_WHOLE_EXECUTABLES AND label IN_LIST WW_QUICK_LABELS)
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES LABELS ${label} TIMEOUT 600 COST 100)
    return()
  endif()
  # Cases are listed when ctest starts, not while building, so a test that cannot even start is a
  # reported failure and not a broken build.
  gtest_discover_tests(
    ${target}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    NO_PRETTY_VALUES
    TEST_PREFIX "${target}/"
    PROPERTIES LABELS ${label} TIMEOUT 300 COST 200)
endfunction()

# ww_prefer_optimised(<target> <library>...): what both the unoptimised test and its libraries instantiate
# is taken from the libraries. The linker keeps the first definition that it meets, and objects come before
# libraries: otherwise the vectors of the whole compiler would be those of the test.
function(ww_prefer_optimised target)
  if(WW_SANITIZE)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  # The libraries by themselves: in one option of the linker's, a path may have no comma.
  target_link_options(${target} PRIVATE LINKER:--whole-archive ${files} LINKER:--no-whole-archive)
endfunction()

# ww_pool_memory(<target>): the program's operator new (base/pooled_new.h), for a test that makes and drops so
# many small values that the memory's bookkeeping is a tenth of its time or more. It keeps a range of addresses
# for itself, so it is not for tests that limit their memory.
function(ww_pool_memory target)
  if(NOT TARGET ww_pooled_new)
    add_library(ww_pooled_new OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/pooled_new.cpp")
    target_include_directories(ww_pooled_new PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_compile_features(ww_pooled_new PRIVATE cxx_std_23)
    target_link_libraries(ww_pooled_new PRIVATE ww_flags)
  endif()
  target_link_libraries(${target} PRIVATE ww_pooled_new)
endfunction()

function(ww_add_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED" "LABEL" "SOURCES;LIBRARIES")
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${target} ${arg_SOURCES})
  foreach(library IN LISTS arg_LIBRARIES)
    if(DEFINED WW_EXTERNAL_${library})
      set(library ${WW_EXTERNAL_${library}})
    endif()
    target_link_libraries(${target} PRIVATE ${library})
  endforeach()
  target_link_libraries(${target} PRIVATE ww_flags GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE WW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  ww_test_compilation(${target} ${arg_OPTIMISED})
  ww_sanitizer_defaults(${target})
  ww_add_cases(${target} ${arg_LABEL})
  if(arg_LABEL STREQUAL "unit")
    ww_add_leak_test(${target})
  endif()
  add_dependencies(all_tests ${target})
endfunction()

# ww_add_unit_tests(<folder> SOURCES <file>... LIBRARIES <target>...): the tests beside the sources of a folder.
function(ww_add_unit_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT WW_WHOLE_EXECUTABLES OR NOT WW_UNITY)
    string(REPLACE "/" "_" name "${folder}")
    ww_add_tests(${name}_tests SOURCES ${arg_SOURCES} LABEL unit LIBRARIES ${arg_LIBRARIES})
    return()
  endif()
  set(compilation first)
  if(folder IN_LIST WW_SECOND_COMPILATION)
    set(compilation second)
  endif()
  set_property(GLOBAL APPEND PROPERTY WW_UNIT_TESTS_${compilation} ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY WW_UNIT_TESTS_LIBRARIES ${arg_LIBRARIES})
endfunction()

function(ww_join_unit_tests)
  get_property(first GLOBAL PROPERTY WW_UNIT_TESTS_first)
  get_property(second GLOBAL PROPERTY WW_UNIT_TESTS_second)
  get_property(libraries GLOBAL PROPERTY WW_UNIT_TESTS_LIBRARIES)
  if(first OR second)
    list(REMOVE_DUPLICATES libraries)
    ww_add_tests(unit_tests SOURCES ${first} ${second} LABEL unit LIBRARIES ${libraries})
    ww_compile_together(unit_tests APART ${second})
    list(FILTER libraries INCLUDE REGEX "^ww_")
    ww_prefer_optimised(unit_tests ${libraries})
  endif()
endfunction()
