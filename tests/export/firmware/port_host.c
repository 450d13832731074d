/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "port.h"

void port_text(const char* text) { fputs(text, stdout); }
uint64_t port_instructions(void) { return 0; }
