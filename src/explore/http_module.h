// SPDX-License-Identifier: Apache-2.0
// The boundary to `warpwright-http.so`, the server with cpp-httplib in it. The program loads this module
// when `explore` starts (http.cpp): cpp-httplib brings OpenSSL, brotli and zlib, and loading them takes
// longer than all else that a short command does. http_module.cpp and guard.cpp are the module.
//
// Both sides share the C++ runtime and the program's operator new, so strings, functions and exceptions
// may pass. Types of ours that pass have no code outside of their headers.
#pragma once

#include <memory>
#include <string>

#include "explore/http.h"

namespace ww::explore {

/// The file, beside the program or in libexec.
inline constexpr const char* kHttpModuleFile = "warpwright-http.so";

/// What the module exports.
struct HttpModule {
  const char*
      version;  // first in every version; the rest is as here only where this is the program's
  /// Takes a port (0: any free one). Null: the system's error number says why not.
  std::unique_ptr<HttpServer> (*make_server)(int port, const std::string& token, Respond respond,
                                             int& error);
};
inline constexpr const char* kHttpModuleSymbol = "ww_http_module";

}  // namespace ww::explore

extern "C" [[gnu::visibility("default")]] const ww::explore::HttpModule ww_http_module;
