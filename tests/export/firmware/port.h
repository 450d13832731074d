/* SPDX-License-Identifier: Apache-2.0 */
/* What a check needs of the machine it runs on. */
#ifndef PORT_H
#define PORT_H

#include <stdint.h>

void port_text(const char* text);
/* Since the start; 0 where nobody counts. */
uint64_t port_instructions(void);

#endif
