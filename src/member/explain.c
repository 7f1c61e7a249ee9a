/* SPDX-License-Identifier: Apache-2.0 */
/* An error code in words: which request, which broker, what to do. */
#include "base/error.h"
#include "member/internal.h"

#include <stdio.h>

/* What the user can do about it. %s and %d are left to explain(): a hint that needs a value has its own case there. */
static void hint(const rg_member *member, enum rg__request request, rg_err err, char *text, size_t size)
{
	const struct rg__settings *settings = &member->conf->settings;

	text[0] = '\0';
	switch (err) {
	case 23:
		snprintf(text, size,
		         ": the group's other members have another protocol type than \"%s\", or none of the protocols offered here",
		         member->protocol_type);
		break;
	case 24:
		snprintf(text, size, ": the broker does not accept group.id \"%s\"", settings->group_id);
		break;
	case 26:
		snprintf(text, size,
		         ": session.timeout.ms %d is outside the broker's group.min.session.timeout.ms … group.max.session.timeout.ms",
		         (int)settings->session_timeout_ms);
		break;
	case 30:
		snprintf(text, size, ": this client may not use group \"%s\"; it needs READ on it", settings->group_id);
		break;
	case RG_ERR_PROTOCOL:
		snprintf(text, size, ": the answer contradicts itself or the request");
		break;
	case 35:
	case RG_ERR_UNSUPPORTED:
		snprintf(text, size, ": the broker is too old for %s%s", rg__request_label(request),
		         settings->group_instance_id ? " with group.instance.id" : "");
		break;
	case 81:
		snprintf(text, size, ": group \"%s\" has as many members as the broker's group.max.size allows", settings->group_id);
		break;
	case 82:
		snprintf(text, size, ": another member has taken over group.instance.id \"%s\"",
		         settings->group_instance_id ? settings->group_instance_id : "");
		break;
	default:
		break;
	}
}

void rg__explain(rg_member *member, enum rg__request request, rg_err err, const char *broker, struct rg__bytes message)
{
	char why[320];

	hint(member, request, err, why, sizeof(why));
	if (message.len)
		snprintf(why, sizeof(why), ": %.*s", (int)(message.len < 200 ? message.len : 200), (const char *)message.data);
	rg__fail(&member->cause, err, "%s for group \"%.200s\"%s%s: %s (%d)%s", rg__request_label(request),
	         member->conf->settings.group_id, broker && *broker ? " at " : "", broker ? broker : "", rg_err_name(err), err, why);
}
