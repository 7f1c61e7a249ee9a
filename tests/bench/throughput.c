/* SPDX-License-Identifier: Apache-2.0 */
/* BOOTSTRAP GROUP TOPIC COUNT poll|batch: reads COUNT records, and prints what that took as one line of JSON. */
#include "throughput.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { DEADLINE_S = 120 };

void throughput_refuse(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t time_us(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int64_t began, first = 0, ended;
	long count, seen = 0;

	if (argc != 6)
		throughput_refuse("Usage: BOOTSTRAP GROUP TOPIC COUNT poll|batch");
	count = atol(argv[4]);
	began = now_us();
	throughput_open(argv[1], argv[2], argv[3], !strcmp(argv[5], "batch"));
	while (seen < count) {
		long taken = throughput_take();

		if (!first && taken)
			first = now_us();
		seen += taken;
		if (!taken && now_us() > began + DEADLINE_S * INT64_C(1000000))
			throughput_refuse("not all records came in time");
	}
	ended = now_us();
	/* Before the end, which is none of what is measured here. */
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"records\":%ld,\"elapsed_us\":%lld,\"reading_us\":%lld,\"cpu_us\":%lld,\"maxrss_kib\":%ld}\n", seen,
	       (long long)(ended - began), (long long)(ended - first),
	       (long long)(time_us(usage.ru_utime) + time_us(usage.ru_stime)), usage.ru_maxrss);
	throughput_close();
	return 0;
}
