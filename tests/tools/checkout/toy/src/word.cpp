// SPDX-License-Identifier: Apache-2.0
#include "word.h"

const char* word();
const char* word() { return WORD; }
