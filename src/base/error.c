/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rg__one_line(char *text)
{
	size_t len = strlen(text);

	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static void format_text(char *text, size_t size, const char *format, va_list args)
{
	int need = vsnprintf(text, size, format, args);

	if (need < 0)
		snprintf(text, size, "(the error's text could not be formatted)");
	else if ((size_t)need >= size && size > 4)
		memcpy(text + size - 4, "...", 4);
	rg__one_line(text);
}

rg_err rg__fail(rg_error *error, rg_err code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	va_start(args, format);
	format_text(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

void rg__error_prefix(rg_error *error, const char *format, ...)
{
	char before[sizeof(error->text)], after[sizeof(error->text)];
	va_list args;

	if (!error)
		return;
	va_start(args, format);
	format_text(before, sizeof(before), format, args);
	va_end(args);
	memcpy(after, error->text, sizeof(after));
	rg__fail(error, error->code, "%s: %s", before, after);
}

#define NAMES(X)                                                                                                           \
	X(-1, UNKNOWN_SERVER_ERROR)                                                                                        \
	X(0, NONE)                                                                                                         \
	X(1, OFFSET_OUT_OF_RANGE)                                                                                          \
	X(2, CORRUPT_MESSAGE)                                                                                              \
	X(3, UNKNOWN_TOPIC_OR_PARTITION)                                                                                   \
	X(5, LEADER_NOT_AVAILABLE)                                                                                         \
	X(6, NOT_LEADER_OR_FOLLOWER)                                                                                       \
	X(7, REQUEST_TIMED_OUT)                                                                                            \
	X(8, BROKER_NOT_AVAILABLE)                                                                                         \
	X(9, REPLICA_NOT_AVAILABLE)                                                                                        \
	X(10, MESSAGE_TOO_LARGE)                                                                                           \
	X(12, OFFSET_METADATA_TOO_LARGE)                                                                                   \
	X(13, NETWORK_EXCEPTION)                                                                                           \
	X(14, COORDINATOR_LOAD_IN_PROGRESS)                                                                                \
	X(15, COORDINATOR_NOT_AVAILABLE)                                                                                   \
	X(16, NOT_COORDINATOR)                                                                                             \
	X(17, INVALID_TOPIC_EXCEPTION)                                                                                     \
	X(22, ILLEGAL_GENERATION)                                                                                          \
	X(23, INCONSISTENT_GROUP_PROTOCOL)                                                                                 \
	X(24, INVALID_GROUP_ID)                                                                                            \
	X(25, UNKNOWN_MEMBER_ID)                                                                                           \
	X(26, INVALID_SESSION_TIMEOUT)                                                                                     \
	X(27, REBALANCE_IN_PROGRESS)                                                                                       \
	X(28, INVALID_COMMIT_OFFSET_SIZE)                                                                                  \
	X(29, TOPIC_AUTHORIZATION_FAILED)                                                                                  \
	X(30, GROUP_AUTHORIZATION_FAILED)                                                                                  \
	X(31, CLUSTER_AUTHORIZATION_FAILED)                                                                                \
	X(33, UNSUPPORTED_SASL_MECHANISM)                                                                                  \
	X(34, ILLEGAL_SASL_STATE)                                                                                          \
	X(35, UNSUPPORTED_VERSION)                                                                                         \
	X(41, NOT_CONTROLLER)                                                                                              \
	X(42, INVALID_REQUEST)                                                                                             \
	X(53, TRANSACTIONAL_ID_AUTHORIZATION_FAILED)                                                                       \
	X(56, KAFKA_STORAGE_ERROR)                                                                                         \
	X(58, SASL_AUTHENTICATION_FAILED)                                                                                  \
	X(69, GROUP_ID_NOT_FOUND)                                                                                          \
	X(74, FENCED_LEADER_EPOCH)                                                                                         \
	X(75, UNKNOWN_LEADER_EPOCH)                                                                                        \
	X(79, MEMBER_ID_REQUIRED)                                                                                          \
	X(81, GROUP_MAX_SIZE_REACHED)                                                                                      \
	X(82, FENCED_INSTANCE_ID)                                                                                          \
	X(88, UNSTABLE_OFFSET_COMMIT)                                                                                      \
	X(89, THROTTLING_QUOTA_EXCEEDED)                                                                                   \
	X(100, UNKNOWN_TOPIC_ID)                                                                                           \
	X(110, FENCED_MEMBER_EPOCH)                                                                                        \
	X(111, UNRELEASED_INSTANCE_ID)                                                                                     \
	X(112, UNSUPPORTED_ASSIGNOR)                                                                                       \
	X(113, STALE_MEMBER_EPOCH)                                                                                         \
	X(RG_ERR_MEMORY, MEMORY)                                                                                           \
	X(RG_ERR_INVALID, INVALID)                                                                                         \
	X(RG_ERR_STATE, STATE)                                                                                             \
	X(RG_ERR_TIMED_OUT, TIMED_OUT)                                                                                     \
	X(RG_ERR_TRANSPORT, TRANSPORT)                                                                                     \
	X(RG_ERR_RESOLVE, RESOLVE)                                                                                         \
	X(RG_ERR_PROTOCOL, PROTOCOL)                                                                                       \
	X(RG_ERR_UNSUPPORTED, UNSUPPORTED)                                                                                 \
	X(RG_ERR_FATAL, FATAL)                                                                                             \
	X(RG_ERR_BAD_PLAN, BAD_PLAN)                                                                                       \
	X(RG_ERR_ASSIGNOR, ASSIGNOR)                                                                                       \
	X(RG_ERR_LOST, LOST)                                                                                               \
	X(RG_ERR_NOT_OWNED, NOT_OWNED)                                                                                     \
	X(RG_ERR_NO_OFFSET, NO_OFFSET)                                                                                     \
	X(RG_ERR_CLOSED, CLOSED)                                                                                           \
	X(RG_ERR_MAX_POLL, MAX_POLL)                                                                                       \
	X(RG_ERR_SYSTEM, SYSTEM)                                                                                           \
	X(RG_ERR_LIBRDKAFKA, LIBRDKAFKA)                                                                                   \
	X(RG_ERR_WOKEN, WOKEN)

const char *rg_err_name(rg_err err)
{
	switch (err) {
#define CASE(number, name)                                                                                                 \
	case number:                                                                                                       \
		return #name;
		NAMES(CASE)
	default:
		return "UNKNOWN";
	}
}
