/* SPDX-License-Identifier: Apache-2.0 */
#include "link/internal.h"

#include "base/error.h"

#include <string.h>

/* The agreement on versions. Asked in the newest version we speak; a broker that does not know it answers in version 0
 * with error 35 and its own range, and is asked again (KIP-511). */

enum { UNSUPPORTED_VERSION = 35 };

static void give_up(struct rg__link *link, rg_err code, const char *text)
{
	rg_error error;

	rg__fail(&error, code, "%s", text);
	rg__link_attempt_failed(link, &error);
}

static void ask(struct rg__link *link, int version)
{
	struct rg__api_versions_request request = {
		.client_software_name = rg__bytes_of(link->conf->software_name),
		.client_software_version = rg__bytes_of(link->conf->software_version),
	};
	struct rg__codec_error refused = {0};
	struct rg__buf buf = {0};

	link->asked_version = version;
	link->asked_correlation_id = rg__link_next_correlation_id(link);
	if (!rg__encode_request(rg__api_by_key(RG__API_API_VERSIONS), version, link->asked_correlation_id,
	                        rg__bytes_of(link->conf->client_id), &request, &buf, &refused)) {
		char text[RG__CODEC_TEXT_MAX];

		rg__codec_error_text(&refused, text, sizeof(text));
		give_up(link, refused.out_of_memory ? RG_ERR_MEMORY : RG_ERR_INVALID, text);
	} else if (!rg__stream_write(link->stream, &buf)) {
		give_up(link, RG_ERR_MEMORY, "out of memory");
	}
	rg__buf_free(&buf);
}

void rg__link_handshake_start(struct rg__link *link)
{
	ask(link, link->asked_again ? 0 : rg__api_by_key(RG__API_API_VERSIONS)->last);
}

/* The broker's ranges, and the version of each API that both speak. */
static void take_versions(struct rg__link *link, const struct rg__api_versions_response *response)
{
	const struct rg__api_versions_response_api_key *offered = response->api_keys.items;

	memset(link->versions, 0xff, sizeof(link->versions));
	memset(link->broker_first, 0xff, sizeof(link->broker_first));
	memset(link->broker_last, 0xff, sizeof(link->broker_last));
	for (int32_t i = 0; i < response->api_keys.count; i++) {
		const struct rg__api *api = rg__api_by_key(offered[i].api_key);
		int version;

		if (!api || api->key >= RG__LINK_API_MAX)
			continue;
		link->broker_first[api->key] = offered[i].min_version;
		link->broker_last[api->key] = offered[i].max_version;
		if (rg__api_pick_version(api, offered[i].min_version, offered[i].max_version, &version))
			link->versions[api->key] = (int16_t)version;
		else
			link->versions[api->key] = -1;
	}
}

rg_err rg__link_unsupported(const struct rg__link *link, const struct rg__api *api, rg_error *error)
{
	int first = link->broker_first[api->key], last = link->broker_last[api->key];

	if (last < 0)
		return rg__fail(error, RG_ERR_UNSUPPORTED, "broker too old: it does not know %s", api->name);
	return rg__fail(error, RG_ERR_UNSUPPORTED, "broker too %s: it has %s in versions %d to %d, we speak %d to %d",
	                last < api->first ? "old" : "new", api->name, first, last, api->first, api->last);
}

static void agreed(struct rg__link *link)
{
	for (size_t i = 0; i < link->conf->api_count; i++) {
		const struct rg__api *api = rg__api_by_key(link->conf->apis[i]);
		rg_error error;

		if (!api || link->versions[api->key] >= 0)
			continue;
		rg__link_unsupported(link, api, &error);
		rg__link_attempt_failed(link, &error);
		return;
	}
	rg__link_now_up(link);
}

/* Each round asks for a lower version, so it ends. */
static void ask_lower(struct rg__link *link, const struct rg__api_versions_response *response)
{
	const struct rg__api *api = rg__api_by_key(RG__API_API_VERSIONS);
	int16_t version;

	if (link->asked_version == 0) {
		give_up(link, RG_ERR_UNSUPPORTED, "the broker supports no version of ApiVersions that we speak");
		return;
	}
	take_versions(link, response);
	version = link->versions[api->key]; /* brokers before KIP-511 leave the list empty */
	ask(link, version >= 0 && version < link->asked_version ? version : 0);
}

void rg__link_handshake_answer(struct rg__link *link, struct rg__bytes frame)
{
	const struct rg__api *api = rg__api_by_key(RG__API_API_VERSIONS);
	struct rg__api_versions_response response = {0};
	struct rg__codec_error refused = {0};
	struct rg__arena arena = {0};
	int32_t correlation_id = 0;
	rg_error error;

	if (!rg__peek_correlation_id(frame, &correlation_id, &refused) ||
	    (correlation_id == link->asked_correlation_id &&
	     !rg__decode_api_versions_response(link->asked_version, frame, &arena, &response, &refused))) {
		char text[RG__CODEC_TEXT_MAX];

		rg__codec_error_text(&refused, text, sizeof(text));
		give_up(link, refused.out_of_memory ? RG_ERR_MEMORY : RG_ERR_PROTOCOL, text);
	} else if (correlation_id != link->asked_correlation_id) {
		rg__fail(&error, RG_ERR_PROTOCOL, "an answer to request %d, but ApiVersions was request %d",
		         (int)correlation_id, (int)link->asked_correlation_id);
		rg__link_attempt_failed(link, &error);
	} else if (response.error_code == UNSUPPORTED_VERSION) {
		ask_lower(link, &response);
	} else if (response.error_code) {
		rg__fail(&error, RG_ERR_PROTOCOL, "the broker refuses ApiVersions: error %d (%s)", response.error_code,
		         rg_err_name(response.error_code));
		rg__link_attempt_failed(link, &error);
	} else {
		take_versions(link, &response);
		rg__link_throttle(link, rg__response_throttle_ms(api, (int16_t)link->asked_version, &response));
		agreed(link);
	}
	rg__arena_clear(&arena);
}
