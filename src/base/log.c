/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void rg__log(const struct rg__log *log, int level, const char *facility, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (!log || !log->write || level > log->level)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	rg__one_line(line);
	log->write(log->user, level, facility, line);
}
