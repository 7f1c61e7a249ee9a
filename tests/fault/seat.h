/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAULT_SEAT_H
#define TESTS_FAULT_SEAT_H

/* One member of the group with its application, which answers everything and tries again what there was no memory
 * for. What it is told is checked as it comes: prepare and complete alternate, a loss has a cause, an error has
 * words. */

#include "broker.h"
#include "member/member.h"

enum { ERRORS_MAX = 64 };

struct seat {
	struct sim sim;
	struct broker broker;
	rg_conf *conf;
	rg_member *member;
	const char *instance_id;  /* as the conf has it, NULL: none */
	rg_member_event *owed;    /* an ask whose answer there was no memory for */
	bool preparing, leaving, left, failed;
	uint32_t epoch; /* of the last commit or fetch */
	int prepares, completes, losts;
	rg_error errors[ERRORS_MAX]; /* that the application was told */
	int error_count;
	char assignment[32];      /* of the last COMPLETE */
	int64_t short_until_us;   /* until then the first allocation of every turn of the loop fails */
	int requests, answered;   /* OffsetCommits, OffsetFetches, Metadata, and how many of them ended */
	rg_err last_commit;
};

extern const rg_member_protocol seat_protocols[2];

/* A conf for the brokers of broker.h; `instance_id` may be NULL. */
rg_conf *seat_conf(const char *instance_id);

void seat_begin(struct seat *seat, rg_conf *conf); /* the conf must outlive it; no member yet */
rg_err seat_make(struct seat *seat);               /* the member */
rg_err seat_join(struct seat *seat);
void seat_commit(struct seat *seat);
void seat_fetch(struct seat *seat); /* what was committed; told of as a commit is */
void seat_ask_metadata(struct seat *seat); /* the same */
void seat_leave(struct seat *seat, int timeout_ms);

/* Lets time pass until it holds, and looks every 100 ms; ends the test when it does not hold within the time. */
void seat_until(struct seat *seat, bool (*holds)(const struct seat *seat), int64_t timeout_ms, const char *what);
void seat_pass(struct seat *seat, int64_t ms);

bool seat_is_stable(const struct seat *seat);    /* and has taken the event that says so */
bool seat_is_answered(const struct seat *seat);  /* every commit has ended */
bool seat_has_left(const struct seat *seat);

/* Frees the member, whatever it is at, and checks that nothing is left over. */
void seat_end(struct seat *seat);

#endif
