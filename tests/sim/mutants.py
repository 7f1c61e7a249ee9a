#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a copy of some sources in which a number chooses one of many deliberate mistakes.

    mutants.py SOURCE_ROOT OUT_DIR        writes the copies and mutants.inc (the descriptions)
    mutants.py --sources                  lists the files that are copied

The sources that ship know nothing of this. Each mutant replaces a piece of text that must occur exactly once, so a change that
makes a mutant meaningless is an error here and not a test that tests nothing."""

import os
import sys

E, S, A = "expression", "statement", "after"

# file, what is wrong, how, the text, what stands there instead
MUTANTS = [
    # --- the machine
    ("group/rebalance.c", "prepare again when JoinGroup or SyncGroup is refused", A,
     "\trg__again(machine, now_us, request, reaction);\n",
     "\t\trg__act(actions, RG__DO_PREPARE)->attempt = machine->ask = rg__next_attempt(machine);\n"),
    ("group/rebalance.c", "complete when SyncGroup is sent, before its answer", A,
     "\tsync->with_plan = with_plan;\n", "\t\trg__act(actions, RG__DO_COMPLETE);\n"),
    ("group/on_sync.c", "no complete", S, "\trg__act(actions, RG__DO_COMPLETE);\n", "\t;\n"),
    ("group/rebalance.c", "JoinGroup before the application is prepared", E,
     "machine->membership == RG__PREPARING && !machine->ask && !machine->held &&\n\t    machine->coordinator == RG__COORDINATOR_KNOWN",
     "machine->membership == RG__PREPARING && !machine->held && machine->coordinator == RG__COORDINATOR_KNOWN"),
    ("group/on_application.c", "an old answer to prepare counts", E, "!machine->ask || event->attempt != machine->ask",
     "!machine->ask"),
    ("group/on_join.c", "the answer to a superseded JoinGroup counts", E, "!machine->join || event->attempt != machine->join",
     "!machine->join"),
    ("group/on_sync.c", "the answer to a superseded SyncGroup counts", E, "!machine->sync || event->attempt != machine->sync",
     "!machine->sync"),
    ("group/on_heartbeat.c", "the answer to a stale heartbeat counts", E,
     "!machine->heartbeat || event->attempt != machine->heartbeat", "machine->membership == RG__JOINING"),
    ("group/on_leave.c", "a second JoinGroup behind an abandoned one", E,
     "machine->abandoned && machine->coordinator == RG__COORDINATOR_KNOWN", "false"),
    ("group/on_join.c", "no heartbeats while the assignor runs", S, "\tmachine->heartbeats_on = true;\n",
     "\tmachine->heartbeats_on = !machine->leader;\n"),
    ("group/identity.c", "what is lost is not told", E, "machine->owns && loss != RG__LOST_NOT", "false"),
    ("group/identity.c", "lost, and owned all the same", S, "\tmachine->owns = false;\n", "\t;\n"),
    ("group/identity.c", "an id that is unknown is kept", E, "!keep_member_id", "false"),
    ("group/identity.c", "an id that is good is dropped", E, "!keep_member_id", "!keep_member_id || loss == RG__LOST_ILLEGAL_GENERATION"),
    ("group/on_deadline.c", "the session never ends", E,
     "rg__session_counts(machine) && now_us >= machine->session_ends_at", "false"),
    ("group/on_heartbeat.c", "a session counts double", S,
     "\tmachine->session_ends_at = machine->heartbeat_sent_at + machine->conf.session_timeout_ms * INT64_C(1000);\n",
     "\tmachine->session_ends_at = machine->heartbeat_sent_at + machine->conf.session_timeout_ms * INT64_C(2000);\n"),
    ("group/rebalance.c", "no heartbeats again after a JoinGroup that brought nothing", S,
     "\tif (!machine->heartbeats_on)\n\t\tmachine->heartbeat_at = now_us + machine->heartbeat_interval_us;\n\tmachine->heartbeats_on = true;\n",
     "\t;\n"),
    ("group/rebalance.c", "partitions are kept however long prepare takes", E,
     "machine->membership != RG__PREPARING || !machine->owns", "true"),
    ("group/rebalance.c", "partitions are kept however long the plan takes", E, "join_by < machine->sync_by ? join_by : machine->sync_by",
     "join_by"),
    ("group/rebalance.c", "heartbeats at three times the interval", A,
     "\tbeat->timeout_us = timeout_us;\n", "\t\tmachine->heartbeat_at = now_us + 3 * machine->heartbeat_interval_us;\n"),
    ("group/rebalance.c", "no pause between retries", S, "\tmachine->join_at = now_us + pause_us;\n",
     "\tmachine->join_at = now_us;\n"),
    ("group/on_coordinator.c", "no pause between look-ups", E, "machine->find_failures++", "0"),
    ("group/on_coordinator.c", "a coordinator that fails is not looked up again", E,
     "machine->coordinator != RG__COORDINATOR_KNOWN", "true"),
    ("group/rebalance.c", "out by max.poll.interval.ms, and back without a poll", E,
     "machine->membership == RG__UNJOINED && machine->wanted && !machine->suspended",
     "machine->membership == RG__UNJOINED && machine->wanted"),
    ("group/on_deadline.c", "max.poll.interval.ms has no effect", E,
     "machine->wanted && !machine->suspended && machine->membership != RG__FAILED && now_us >= machine->poll_ends_at", "false"),
    ("group/on_leave.c", "leaving is not answered", S, "\tif (machine->leave_asked) /* leaving because of max.poll.interval.ms is no answer to LEAVE */\n\t\trg__act(actions, RG__DO_LEFT);\n", "\t\t;\n"),
    ("group/on_leave.c", "a dynamic member does not give its seat up", E, "!machine->conf.instance_id", "false"),
    ("group/on_leave.c", "a static member gives its seat up", E, "!machine->conf.instance_id", "true"),
    ("group/on_application.c", "a wish for a rebalance is forgotten", S,
     "\tmachine->rejoin_wanted = true;\n", "\t;\n"),
    ("group/on_join.c", "everybody thinks to lead", E,
     "event->leader.len && rg__bytes_equal(event->leader, event->member_id)", "true"),
    ("group/on_heartbeat.c", "27 on a heartbeat is ignored", S,
     "\tif (machine->membership == RG__STABLE)\n\t\trg__begin_rebalance(machine, actions);\n",
     "\tif (reaction->keep_generation)\n\t\treturn;\n\tif (machine->membership == RG__STABLE)\n\t\trg__begin_rebalance(machine, actions);\n"),
    ("group/on_offsets.c", "the answer to a stale commit is obeyed", E,
     "event->epoch != machine->epoch || machine->membership != RG__STABLE", "machine->membership != RG__STABLE"),
    ("group/on_sync.c", "the interval after a rebalance is not what it was set to", A,
     "\tmachine->heartbeat_grows = machine->conf.heartbeat_budget > 0;\n", "\t\tmachine->heartbeat_at = now_us + 60000000;\n"),
    ("group/on_sync.c", "complete though the seat may be gone", A,
     "\t\tprove_seat(machine, now_us);\n", "\tif (machine->proving)\n\t\trg__complete(machine, now_us, actions);\n"),
    # --- rows of the reaction table
    ("group/reactions.c", "row: 27 on SyncGroup costs the generation", "row", "sync_group_rows", (27, "keep_generation = false")),
    ("group/reactions.c", "row: 14 on SyncGroup is fatal", "row", "sync_group_rows", (14, "verb = RG__FAIL")),
    ("group/reactions.c", "row: 14 on JoinGroup reaches the user", "row", "join_group_rows", (14, "verb = RG__REPORT")),
    ("group/reactions.c", "row: 16 on JoinGroup keeps the coordinator", "row", "join_group_rows", (16, "drop_coordinator = false")),
    ("group/reactions.c", "row: 25 on JoinGroup keeps the id", "row", "join_group_rows",
     (25, "keep_member_id = true")),
    ("group/reactions.c", "row: 22 on a heartbeat keeps the generation", "row", "heartbeat_rows", (22, "keep_generation = true")),
    ("group/reactions.c", "row: 16 on a heartbeat is no reason to look", "row", "heartbeat_rows", (16, "drop_coordinator = false")),
    ("group/reactions.c", "row: 79 on JoinGroup is fatal", "row", "join_group_rows", (79, "verb = RG__FAIL")),
    # --- the member and the leader
    ("member/sync.c", "a member is missing in the plan", E, "member->plan_count = member->group->id_count",
     "member->plan_count = member->group->id_count - (member->group->count > 1)"),
    ("member/send.c", "a member id that is over is sent again", E,
     "!member->sent_member_id || strcmp(member->sent_member_id, id) != 0", "!member->sent_member_id"),
    ("assign/validate.c", "a plan that gives a partition twice is sent", E, "plan->twice.found", "false"),
    ("assign/validate.c", "a plan that gives to who does not want is sent", E,
     "at == member->topic_count || member->topics[at] != topic", "false"),
    ("consumer/ownership.c", "a cooperative member keeps what the plan takes away", S,
     "\t\tif (order < 0)\n\t\t\tret_revoked->items[ret_revoked->count++] = owned->items[had];\n\t\telse if (order > 0)",
     "\t\tif (order > 0)"),
    ("consumer/ownership.c", "an eager member keeps what it has through a join", E,
     "!cooperative || topic == topic_count || strcmp(topics[topic], at->topic) != 0",
     "topic == topic_count || strcmp(topics[topic], at->topic) != 0"),
    ("consumer/subscription.c", "a cooperative member does not say what it owns", E,
     "!err && subscriber->owned", "false"),
    # --- the coordinator
    ("testkit/on_sync.c", "coordinator: a follower's SyncGroup is answered before the plan is there", E,
     "group->state == RG__KIT_STABLE", "group->state == RG__KIT_STABLE || !rg__kit_group_has_leader(group, member)"),
    ("testkit/on_sync.c", "coordinator: SyncGroup in PreparingRebalance is taken", E,
     "group->state == RG__KIT_PREPARING_REBALANCE", "false"),
    ("testkit/delayed_join.c", "coordinator: the join ends before everybody is there", E,
     "!group->delayed_join || group->delayed_join->initial || !rg__kit_group_all_joined(group)",
     "!group->delayed_join || group->delayed_join->initial"),
    ("testkit/delayed_join.c", "coordinator: the generation stays the same", S,
     "\tgroup->generation = group->generation == INT32_MAX ? 1 : group->generation + 1;\n",
     "\tgroup->generation = group->generation ? group->generation : 1;\n"),
    ("testkit/expire.c", "coordinator: sessions do not end", S,
     "\tif (!member->is_new && (member->join.parked || member->sync.parked))\n\t\treturn true;\n", "\treturn true;\n"),
    ("testkit/expire.c", "coordinator: who owes a SyncGroup is waited for", E, "!member->owes_sync", "true"),
    ("testkit/delayed_join.c", "coordinator: who does not rejoin is kept", E,
     "member->join.parked || member->instance_id.data", "true"),
    ("testkit/on_heartbeat.c", "coordinator: heartbeats do not tell of a rebalance", E,
     "group->state == RG__KIT_PREPARING_REBALANCE", "false"),
    ("testkit/on_heartbeat.c", "coordinator: heartbeats do not prolong a session", S, "\t\trg__kit_member_alive(c, member);\n",
     "\t\t;\n"),
    ("testkit/on_heartbeat.c", "coordinator: an old generation may beat", E, "member && beat->generation_id != group->generation",
     "false"),
    ("testkit/on_offset_commit.c", "coordinator: an old generation may commit", E,
     "generation != group->generation", "false"),
    ("testkit/on_join.c", "coordinator: a leader that rejoins starts no rebalance", S,
     "\t\tif (leads)\n\t\t\treturn update(c, group, member, request, \"the leader rejoins\");\n", "\t\t;\n"),
    ("testkit/on_leave.c", "coordinator: who leaves stays", S, "\treturn rg__kit_group_remove(group, member);\n",
     "\treturn true;\n"),
    ("testkit/on_sync.c", "coordinator: everybody gets the leader's share", S,
     "\trg__kit_answer_syncs(c, group, 0);\n",
     "\tfor (struct rg__kit_member *other = group->members; other; other = other->hh.next)\n"
     "\t\tif (!rg__kit_own(&other->assignment, group->members->assignment))\n\t\t\treturn false;\n"
     "\trg__kit_answer_syncs(c, group, 0);\n"),
    # --- the plan
    ("assign/levels.c", "who subscribes to something else gets twice as much", E, "v->weights ? v->weights[class] : 1", "1 + class % 2"),
    # --- and one more of the machine
    ("group/on_application.c", "the size of the group makes the interval longer than it was set to", E,
     "interval_us < most_us ? interval_us : most_us", "interval_us"),
]


def sources():
    seen = []
    for mutant in MUTANTS:
        if mutant[0] not in seen:
            seen.append(mutant[0])
    return seen


def fail(text):
    sys.exit("mutants.py: " + text)


def replace(text, name, old, new):
    if text.count(old) != 1:
        fail("%s: this must occur once and occurs %d times:\n%s" % (name, text.count(old), old))
    return text.replace(old, new)


def mutate(name, text):
    """All mutants of a file; those of the same piece of text are chained."""
    pieces = {}
    rows = []
    for number, (file, _, how, old, new) in enumerate(MUTANTS, 1):
        if file != name:
            continue
        if how == "row":
            rows.append("\tif (rg__mutant == %d)\n\t\tfor (size_t i = 0; i < sizeof(%s) / sizeof(%s[0]); i++)\n"
                        "\t\t\tif (%s[i].code == %d)\n\t\t\t\t%s[i].%s;\n" % (number, old, old, old, new[0], old, new[1]))
            continue
        now = pieces.get(old, old)
        if how == E:
            pieces[old] = "(rg__mutant == %d ? (%s) : (%s))" % (number, new, now)
        elif how == S:
            pieces[old] = "\tif (rg__mutant == %d) {\n%s\t} else {\n%s\n\t}\n" % (number, new + "\n", now) \
                if not old.rstrip().endswith(")") else None
            if pieces[old] is None:  # ends in the head of an if: the statement behind it belongs to both
                head = old.rstrip().split("\n")[-1]
                pieces[old] = old.replace("\t\tif (order < 0)", "\t\tif (order < 0 && rg__mutant != %d)" % number)
                if head == old:
                    fail("%s: cannot mutate %s" % (name, old))
        else:
            pieces[old] = now + "\tif (rg__mutant == %d)\n%s" % (number, new)
    for old, new in pieces.items():
        text = replace(text, name, old, new)
    if rows:
        text = text.replace("static const struct rg__reaction ", "static struct rg__reaction ")
        text += "\nvoid rg__mutate(void)\n{\n" + "".join(rows) + "}\n"
    return text


def main():
    if sys.argv[1:] == ["--sources"]:
        print("\n".join(sources()))
        return
    root, out = sys.argv[1:]
    for name in sources():
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = mutate(name, file.read())
        with open(os.path.join(out, "mutated_" + name.replace("/", "_")), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(out, "mutants.inc"), "w", encoding="utf-8") as file:
        for mutant in MUTANTS:
            file.write('"%s",\n' % mutant[1].replace('"', "'"))


if __name__ == "__main__":
    main()
