/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer/ahead.h"

#include <string.h>

void rg__ahead_fill(struct rg__ahead *ahead, rd_kafka_queue_t *queue)
{
	ssize_t got = rd_kafka_consume_batch_queue(queue, 0, ahead->messages, RG__AHEAD_MAX);

	ahead->next = 0;
	ahead->count = got > 0 ? (size_t)got : 0;
}

rd_kafka_message_t *rg__ahead_take(struct rg__ahead *ahead)
{
	return ahead->next < ahead->count ? ahead->messages[ahead->next++] : NULL;
}

static bool is_of(const rd_kafka_message_t *message, const char *topic, int32_t partition)
{
	return !topic || (message->rkt && message->partition == partition && !strcmp(rd_kafka_topic_name(message->rkt), topic));
}

void rg__ahead_drop(struct rg__ahead *ahead, const char *topic, int32_t partition)
{
	size_t kept = ahead->next;

	for (size_t i = ahead->next; i < ahead->count; i++) {
		if (is_of(ahead->messages[i], topic, partition))
			rd_kafka_message_destroy(ahead->messages[i]);
		else
			ahead->messages[kept++] = ahead->messages[i];
	}
	ahead->count = kept;
}
