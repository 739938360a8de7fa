// SPDX-License-Identifier: Apache-2.0
// Modules that are not the explorer's server: one of another version (WW_WRONG_VERSION), one that has
// nothing to do with it.
#ifdef WW_WRONG_VERSION
struct Module {
  const char* version;
  void (*something_else)();
};
extern "C" const Module ww_http_module;
const Module ww_http_module{WW_WRONG_VERSION, nullptr};
#else
extern "C" int ww_something_else();
int ww_something_else() { return 0; }
#endif
