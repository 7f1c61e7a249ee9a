/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_BENCH_PEAK_H
#define TESTS_BENCH_PEAK_H

/* The most memory that a piece of work takes at a time, as the kernel counts it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of kilobytes from /proc/self/status. */
static inline long peak_status_kb(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

/* Begins to measure; returns what there is now, in KiB. */
static inline long peak_reset(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file) {
		fputs("5", file);
		fclose(file);
	}
	return peak_status_kb("VmRSS:");
}

/* In MiB. */
static inline double peak_since(long before_kb)
{
	return (double)(peak_status_kb("VmHWM:") - before_kb) / 1024;
}

#endif
