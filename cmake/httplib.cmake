# SPDX-License-Identifier: Apache-2.0
#
# ww_httplib: the library that serves the explorer's page, if it is installed as we need it. Debian has a
# header and a shared library, others a header alone. Without it all else is built, and `warpwright explore`
# says how to get it. A wheel goes to machines without it. Only the module (cmake/explore.cmake) links it;
# ww_httplib_known tells the others whether there is a module.

add_library(ww_httplib INTERFACE)
add_library(ww_httplib_known INTERFACE)
if(NOT SKBUILD)
  include(CheckCXXSourceCompiles)
  find_path(WW_HTTPLIB_HEADER httplib.h)
  find_library(WW_HTTPLIB_LIBRARY cpp-httplib)
  find_package(Threads QUIET)
  mark_as_advanced(WW_HTTPLIB_HEADER WW_HTTPLIB_LIBRARY)
endif()
if(WW_HTTPLIB_HEADER AND Threads_FOUND)
  set(CMAKE_REQUIRED_INCLUDES "${WW_HTTPLIB_HEADER}")
  set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
  if(WW_HTTPLIB_LIBRARY)
    list(APPEND CMAKE_REQUIRED_LIBRARIES "${WW_HTTPLIB_LIBRARY}")
  endif()
  # What src/explore/http_module.cpp takes over from the library is not the same in all versions.
  check_cxx_source_compiles(
    "#include <httplib.h>
     struct Probe : httplib::Server {
       bool process_and_close_socket(socket_t) override { return serve(nullptr); }
       bool serve(httplib::Stream* stream) {
         bool closed = false;
         return process_request(*stream, true, closed, [](httplib::Request&) {});
       }
     };
     int main() { Probe probe; return probe.is_valid() ? 0 : 1; }"
    WW_HTTPLIB_FITS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(WW_HTTPLIB_FITS)
  target_compile_definitions(ww_httplib_known INTERFACE WW_HAS_HTTPLIB)
  target_include_directories(ww_httplib SYSTEM INTERFACE "${WW_HTTPLIB_HEADER}")
  target_link_libraries(ww_httplib INTERFACE Threads::Threads)
  if(WW_HTTPLIB_LIBRARY)
    target_link_libraries(ww_httplib INTERFACE "${WW_HTTPLIB_LIBRARY}")
  endif()
else()
  message(STATUS "cpp-httplib is missing (Debian: libcpp-httplib-dev): `warpwright explore` will say so")
endif()
