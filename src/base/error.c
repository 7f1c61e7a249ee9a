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
	X(4, INVALID_FETCH_SIZE)                                                                                           \
	X(5, LEADER_NOT_AVAILABLE)                                                                                         \
	X(6, NOT_LEADER_OR_FOLLOWER)                                                                                       \
	X(7, REQUEST_TIMED_OUT)                                                                                            \
	X(8, BROKER_NOT_AVAILABLE)                                                                                         \
	X(9, REPLICA_NOT_AVAILABLE)                                                                                        \
	X(10, MESSAGE_TOO_LARGE)                                                                                           \
	X(11, STALE_CONTROLLER_EPOCH)                                                                                      \
	X(12, OFFSET_METADATA_TOO_LARGE)                                                                                   \
	X(13, NETWORK_EXCEPTION)                                                                                           \
	X(14, COORDINATOR_LOAD_IN_PROGRESS)                                                                                \
	X(15, COORDINATOR_NOT_AVAILABLE)                                                                                   \
	X(16, NOT_COORDINATOR)                                                                                             \
	X(17, INVALID_TOPIC_EXCEPTION)                                                                                     \
	X(18, RECORD_LIST_TOO_LARGE)                                                                                       \
	X(19, NOT_ENOUGH_REPLICAS)                                                                                         \
	X(20, NOT_ENOUGH_REPLICAS_AFTER_APPEND)                                                                            \
	X(21, INVALID_REQUIRED_ACKS)                                                                                       \
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
	X(32, INVALID_TIMESTAMP)                                                                                           \
	X(33, UNSUPPORTED_SASL_MECHANISM)                                                                                  \
	X(34, ILLEGAL_SASL_STATE)                                                                                          \
	X(35, UNSUPPORTED_VERSION)                                                                                         \
	X(36, TOPIC_ALREADY_EXISTS)                                                                                        \
	X(37, INVALID_PARTITIONS)                                                                                          \
	X(38, INVALID_REPLICATION_FACTOR)                                                                                  \
	X(39, INVALID_REPLICA_ASSIGNMENT)                                                                                  \
	X(40, INVALID_CONFIG)                                                                                              \
	X(41, NOT_CONTROLLER)                                                                                              \
	X(42, INVALID_REQUEST)                                                                                             \
	X(43, UNSUPPORTED_FOR_MESSAGE_FORMAT)                                                                              \
	X(44, POLICY_VIOLATION)                                                                                            \
	X(45, OUT_OF_ORDER_SEQUENCE_NUMBER)                                                                                \
	X(46, DUPLICATE_SEQUENCE_NUMBER)                                                                                   \
	X(47, INVALID_PRODUCER_EPOCH)                                                                                      \
	X(48, INVALID_TXN_STATE)                                                                                           \
	X(49, INVALID_PRODUCER_ID_MAPPING)                                                                                 \
	X(50, INVALID_TRANSACTION_TIMEOUT)                                                                                 \
	X(51, CONCURRENT_TRANSACTIONS)                                                                                     \
	X(52, TRANSACTION_COORDINATOR_FENCED)                                                                              \
	X(53, TRANSACTIONAL_ID_AUTHORIZATION_FAILED)                                                                       \
	X(54, SECURITY_DISABLED)                                                                                           \
	X(55, OPERATION_NOT_ATTEMPTED)                                                                                     \
	X(56, KAFKA_STORAGE_ERROR)                                                                                         \
	X(57, LOG_DIR_NOT_FOUND)                                                                                           \
	X(58, SASL_AUTHENTICATION_FAILED)                                                                                  \
	X(59, UNKNOWN_PRODUCER_ID)                                                                                         \
	X(60, REASSIGNMENT_IN_PROGRESS)                                                                                    \
	X(61, DELEGATION_TOKEN_AUTH_DISABLED)                                                                              \
	X(62, DELEGATION_TOKEN_NOT_FOUND)                                                                                  \
	X(63, DELEGATION_TOKEN_OWNER_MISMATCH)                                                                             \
	X(64, DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)                                                                        \
	X(65, DELEGATION_TOKEN_AUTHORIZATION_FAILED)                                                                       \
	X(66, DELEGATION_TOKEN_EXPIRED)                                                                                    \
	X(67, INVALID_PRINCIPAL_TYPE)                                                                                      \
	X(68, NON_EMPTY_GROUP)                                                                                             \
	X(69, GROUP_ID_NOT_FOUND)                                                                                          \
	X(70, FETCH_SESSION_ID_NOT_FOUND)                                                                                  \
	X(71, INVALID_FETCH_SESSION_EPOCH)                                                                                 \
	X(72, LISTENER_NOT_FOUND)                                                                                          \
	X(73, TOPIC_DELETION_DISABLED)                                                                                     \
	X(74, FENCED_LEADER_EPOCH)                                                                                         \
	X(75, UNKNOWN_LEADER_EPOCH)                                                                                        \
	X(76, UNSUPPORTED_COMPRESSION_TYPE)                                                                                \
	X(77, STALE_BROKER_EPOCH)                                                                                          \
	X(78, OFFSET_NOT_AVAILABLE)                                                                                        \
	X(79, MEMBER_ID_REQUIRED)                                                                                          \
	X(80, PREFERRED_LEADER_NOT_AVAILABLE)                                                                              \
	X(81, GROUP_MAX_SIZE_REACHED)                                                                                      \
	X(82, FENCED_INSTANCE_ID)                                                                                          \
	X(83, ELIGIBLE_LEADERS_NOT_AVAILABLE)                                                                              \
	X(84, ELECTION_NOT_NEEDED)                                                                                         \
	X(85, NO_REASSIGNMENT_IN_PROGRESS)                                                                                 \
	X(86, GROUP_SUBSCRIBED_TO_TOPIC)                                                                                   \
	X(87, INVALID_RECORD)                                                                                              \
	X(88, UNSTABLE_OFFSET_COMMIT)                                                                                      \
	X(89, THROTTLING_QUOTA_EXCEEDED)                                                                                   \
	X(90, PRODUCER_FENCED)                                                                                             \
	X(91, RESOURCE_NOT_FOUND)                                                                                          \
	X(92, DUPLICATE_RESOURCE)                                                                                          \
	X(93, UNACCEPTABLE_CREDENTIAL)                                                                                     \
	X(94, INCONSISTENT_VOTER_SET)                                                                                      \
	X(95, INVALID_UPDATE_VERSION)                                                                                      \
	X(96, FEATURE_UPDATE_FAILED)                                                                                       \
	X(97, PRINCIPAL_DESERIALIZATION_FAILURE)                                                                           \
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
