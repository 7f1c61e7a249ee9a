/* SPDX-License-Identifier: Apache-2.0 */
/* The body of any response: a byte for the API, one for the version, then the bytes. */
#include "codec/api.h"
#include "message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	const struct rg__api *api = &rg__apis[take(&input) % (unsigned)rg__api_count];
	int version = api->first + take(&input) % (api->last - api->first + 1);

	if (size < 2)
		return 0;
	uint8_t *copy = exact_copy((struct rg__bytes){input.at, input.left});

	try_message(api->response, version, (struct rg__bytes){copy, input.left});
	free(copy);
	return 0;
}
