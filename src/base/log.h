/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__BASE_LOG_H
#define RG__BASE_LOG_H

/* Levels are syslog's, as librdkafka's. */
enum rg__level { RG__LOG_ERR = 3, RG__LOG_WARNING = 4, RG__LOG_NOTICE = 5, RG__LOG_INFO = 6, RG__LOG_DEBUG = 7 };

/* Where log lines go. `write` gets one line without a newline; it may be NULL (no log). */
struct rg__log {
	void (*write)(void *user, int level, const char *facility, const char *line);
	void *user;
	int level; /* lines above it are dropped */
};

/* `facility` is a short constant such as "LINK" or "JOIN". Never put a secret into a line. */
void rg__log(const struct rg__log *log, int level, const char *facility, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
