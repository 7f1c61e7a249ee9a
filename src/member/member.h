/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_MEMBER_H
#define RG__MEMBER_MEMBER_H

/* What the consumer, the simulation and the tests need of a member beside its public calls. The thread rules are
 * member.h's: one thread, the one that runs the io. */

#include "base/event_line.h"
#include "link/cluster.h"
#include "member/counters.h"
#include "member/settings.h"

#include <regroup/member.h>

/* A member on somebody else's io (a simulated one, say), which must outlive it. rg_member_fd, _timeout_ms, _dispatch, _wait
 * and _wakeup do not work on such a member: whoever has the io runs it. `changed` (may be NULL) runs in the loop, after
 * something new can be taken with rg_member_next. */
rg_err rg__member_new_on(struct rg__io *io, const rg_conf *conf, const char *protocol_type, uint64_t seed,
                         void (*changed)(void *user), void *user, rg_member **ret_member, rg_error *error);
/* For a member made by rg_member_new: the same hook. */
void rg__member_on_changed(rg_member *member, void (*changed)(void *user), void *user);
/* rg_member_wakeup from another thread makes the loop run this. */
void rg__member_on_woken(rg_member *member, void (*woken)(void *user), void *user);

struct rg__io *rg__member_io(rg_member *member);
struct rg__cluster *rg__member_cluster(rg_member *member); /* for Metadata */

/* Sends OffsetCommit or OffsetFetch to the coordinator, as rg__cluster_request does to any broker: queued while the
 * coordinator is not known, up to the call's timeout. `done` gets the answer; before it runs, `err` (the group-level, or
 * first partition-level, error inside the body: the caller finds it) is told to the membership by rg__member_offsets_answered. */
rg_err rg__member_request(rg_member *member, const struct rg__call *call, rg__request_id *ret_id);
void rg__member_cancel(rg_member *member, rg__request_id id);

/* What an OffsetCommit (commit true) or OffsetFetch answered, for the membership's sake: `err` is a transport error or
 * Kafka's, `epoch` rg__member_epoch() when the request was made. */
void rg__member_offsets_answered(rg_member *member, bool commit, rg_err err, uint32_t epoch);

/* Before the commit of a member that leaves: from now on it does not wait behind JoinGroup, whose answer will not be heard
 * any more. False: the generation cannot be committed in (any more). */
bool rg__member_make_way(rg_member *member);

uint32_t rg__member_epoch(const rg_member *member);       /* changes whenever generation or member id do */
int32_t rg__member_generation(const rg_member *member);   /* -1: none */
const char *rg__member_member_id(const rg_member *member); /* "" : none */
bool rg__member_is_stable(const rg_member *member);

const struct rg__counters *rg__member_counters(const rg_member *member);
void rg__member_count_commit(rg_member *member, int64_t sent_us); /* one that was answered now */
/* "host:port" of the coordinator, cut at `size`, "" when it is not known. Returns its id, -1 then. */
int32_t rg__member_coordinator(const rg_member *member, char *text, size_t size);

/* The group's size as the leader wrote it (design: heartbeat budget); 0: unknown. */
void rg__member_group_size(rg_member *member, int32_t size);

/* KIP-62: true while the application is inside poll, where max.poll.interval.ms does not run; false when it has left. */
void rg__member_polling(rg_member *member, bool polling);
/* The same as the latter, said later: it has left so long ago, and was not back since. */
void rg__member_left_poll(rg_member *member, int64_t ago_us);

/* Writes an event line, if there is a sink; `build` adds the fields. Thread: any, calls are serialised. */
struct rg__event_sink;
struct rg__event_sink *rg__member_events(rg_member *member);

#endif
