/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GROUP_STORIES_H
#define TESTS_GROUP_STORIES_H

/* The first lines of most traces: a dynamic follower on its way into generation 3. */

#define JOINING                                                                                                            \
	"start               > PREPARE FIND     | Preparing Finding rebalancing id='' gen=-1",                             \
	"prepared            > -",                                                                                         \
	"found ok            > JOIN             | Joining Known"
#define SYNCING JOINING, "join ok id=m1 gen=3 leader=m0 protocol=range > SYNC | Syncing id=m1 gen=3 follower protocol=range"
#define STABLE SYNCING, "sync ok             > COMPLETE BEAT    | Stable settled", "beat ok             > -"

#endif
