/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SIM_MUTANT_H
#define TESTS_SIM_MUTANT_H

#include <stddef.h>

/* Which deliberate mistake is on; 0: none. Read by the copies that mutants.py makes, which include this. */
extern int rg__mutant;

/* For mistakes that are rows of a table: after rg__mutant was set. */
void rg__mutate(void);

#endif
