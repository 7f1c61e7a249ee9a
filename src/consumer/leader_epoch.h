/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_LEADER_EPOCH_H
#define RG__CONSUMER_LEADER_EPOCH_H

/* Leader epochs (KIP-320) where this librdkafka has them, which is from 2.1.0 on; -1: not known. */

#include <librdkafka/rdkafka.h>
#include <stdint.h>

#if RD_KAFKA_VERSION >= 0x020100ff
static inline int32_t rg__epoch_of_message(const rd_kafka_message_t *message)
{
	return rd_kafka_message_leader_epoch(message);
}

static inline int32_t rg__epoch_of_entry(const rd_kafka_topic_partition_t *entry)
{
	return rd_kafka_topic_partition_get_leader_epoch(entry);
}

static inline void rg__epoch_to_entry(rd_kafka_topic_partition_t *entry, int32_t leader_epoch)
{
	rd_kafka_topic_partition_set_leader_epoch(entry, leader_epoch);
}
#else
static inline int32_t rg__epoch_of_message(const rd_kafka_message_t *message)
{
	(void)message;
	return -1;
}

static inline int32_t rg__epoch_of_entry(const rd_kafka_topic_partition_t *entry)
{
	(void)entry;
	return -1;
}

static inline void rg__epoch_to_entry(rd_kafka_topic_partition_t *entry, int32_t leader_epoch)
{
	(void)entry, (void)leader_epoch;
}
#endif

#endif
