/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GROUP_TRACE_H
#define TESTS_GROUP_TRACE_H

/* A story of one member as lines of text: what happens, the exact sequence of actions that follow, what is so afterwards.
 *
 *     "sync 27            > JOIN                | Joining id=m1 gen=3 reason='rebalance failed: REBALANCE_IN_PROGRESS'"
 *
 * Events
 *     start [reason='…']   rejoin [reason='…']   leave [mode=always|never] [timeout=T] [reason='…']
 *     poll (inside the call)   unpoll (out of it)   retry   size N
 *     prepared [keeps]     answers the newest PREPARE or LOST
 *     assigned [CODE]   found [CODE]   join ok|CODE […]   sync ok|CODE […]   beat ok|CODE   leave-answer ok|CODE
 *                          with id= gen= leader (it is me) leader=ID type= protocol= skip
 *     commit CODE [old]    fetch CODE [old]   (old: sent before generation or id changed)
 *     down                 the connection to the coordinator broke
 *     wait T               DEADLINE at every deadline until then
 * A CODE is a number or a name of ours (TRANSPORT). An answer is to the newest request of its kind; "join#1" answers the
 * first that was sent. T is 100ms or 3s.
 *
 * Actions, "-" when there are none
 *     PREPARE LOST(cause) ASSIGN COMPLETE REPORT(api:code) FAIL(api:code) LEFT
 *     FIND DROP JOIN SYNC SYNC+plan BEAT LEAVE LEAVE+beside
 *
 * Afterwards (any of)
 *     a state's name, id= gen= protocol= leader follower rebalancing settled interval=T, and of the last request timeout=T,
 *     of the last JoinGroup or LeaveGroup reason='…'
 *
 * A first line "conf …" sets session= rebalance= poll= heartbeat= budget= request= instance= (defaults in trace.c).
 * After every step the observer's promises and the machine's own invariants are checked too. */

void trace_run(const char *const *lines);

#define TRACE(...) trace_run((const char *const[]){__VA_ARGS__, 0})

/* The conf of traces, for tests that drive the machine themselves. */
struct rg__group_conf;
void trace_conf(struct rg__group_conf *ret_conf);

/* "COMPLETE BEAT", of any actions; "-" for none. */
struct rg__actions;
void trace_print(const struct rg__actions *actions, char *text, unsigned long size);

#endif
