/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__CONSUMER_VOICE_H
#define RG__CONSUMER_VOICE_H

/* The way to the application's log: three threads and librdkafka's own write to it, one line at a time. */

#include <regroup/conf.h>

struct rg__voice;

struct rg__voice *rg__voice_new(rg_log_cb *write, void *user); /* NULL: out of memory */
void rg__voice_free(struct rg__voice *voice);
void rg__voice_mute(struct rg__voice *voice); /* nothing is written any more, now and later */

/* A rg_log_cb; the user is the voice. */
void rg__voice_write(void *voice, int level, const char *facility, const char *line);

#endif
