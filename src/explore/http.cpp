// SPDX-License-Identifier: Apache-2.0
#include "explore/http.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/process.h"
#include "explore/http_module.h"

namespace ww::explore {

#ifndef WW_HAS_HTTPLIB

Result<std::unique_ptr<HttpServer>> make_server(const std::string& /*version*/, int /*port*/,
                                                const std::string& /*token*/, Respond /*respond*/) {
  return fail(
      diag(DiagKind::BadArgument,
           "this program was built without cpp-httplib, which serves the explorer's page")
          .with_note("Debian and Ubuntu have it as libcpp-httplib-dev: install it and build "
                     "again (`./warpwright` does both)"));
}

#else

namespace {

// Never closed: threads of the server end after it.
Result<const HttpModule*> load_module(const std::string& version) {
  const std::string file = WW_TRY(find_part(
      {.what = "the explorer's server", .file = kHttpModuleFile, .target = "warpwright-http"}));
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return fail(diag(DiagKind::Io, "the explorer's server cannot be loaded: {}",
                     reason == nullptr ? file.c_str() : reason)
                    .with_note(fmt::format("`ldd {}` lists the libraries that it needs", file)));
  }
  const auto* const module = static_cast<const HttpModule*>(::dlsym(handle, kHttpModuleSymbol));
  if (module == nullptr)
    return fail(DiagKind::Io, "`{}` is not the explorer's server: it has no `{}`", file,
                kHttpModuleSymbol);
  if (module->version != version)
    return fail(diag(DiagKind::Io, "`{}` is of version {}, this program of version {}", file,
                     module->version, version)
                    .with_note("install the whole of one version of Warpwright"));
  return module;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> make_server(const std::string& version, int port,
                                                const std::string& token, Respond respond) {
  const HttpModule* const module = WW_TRY(load_module(version));
  int error = 0;
  auto server = module->make_server(port, token, std::move(respond), error);
  if (server == nullptr)
    return fail(DiagKind::Io, "cannot listen on {} of 127.0.0.1: {}",
                port == 0 ? "any port" : fmt::format("port {}", port),
                std::generic_category().message(error));
  return server;
}

#endif

}  // namespace ww::explore
