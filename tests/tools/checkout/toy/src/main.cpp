// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

const char* word();

int main() {
#ifdef TOY_PATH
  std::puts(TOY_PATH);
#endif
  std::puts(word());
}
