/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t nothing[1];

struct rg__bytes rg__bytes_of(const char *s)
{
	return (struct rg__bytes){(const uint8_t *)s, s ? strlen(s) : 0};
}

bool rg__bytes_equal(struct rg__bytes a, struct rg__bytes b)
{
	return rg__bytes_compare(a, b) == 0;
}

bool rg__bytes_is(struct rg__bytes a, const char *s)
{
	return rg__bytes_equal(a, rg__bytes_of(s));
}

int rg__bytes_compare(struct rg__bytes a, struct rg__bytes b)
{
	if (!a.data || !b.data)
		return (a.data != NULL) - (b.data != NULL);
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.data, b.data, shorter) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool rg__bytes_store(struct rg__bytes view, char **at)
{
	char *copy = NULL;

	if (view.data) {
		copy = rg__strndup((const char *)view.data, view.len);
		if (!copy)
			return false;
	}
	rg__free(*at);
	*at = copy;
	return true;
}

bool rg__buf_reserve(struct rg__buf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (more <= buf->capacity - buf->len)
		return true;
	size_t capacity = buf->capacity ? buf->capacity : 64;

	while (capacity - buf->len < more) {
		if (capacity > SIZE_MAX / 2) {
			buf->failed = true;
			return false;
		}
		capacity *= 2;
	}
	uint8_t *data = rg__realloc(buf->data, capacity);

	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

bool rg__buf_append(struct rg__buf *buf, const void *data, size_t len)
{
	if (!rg__buf_reserve(buf, len))
		return false;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return true;
}

bool rg__buf_append_str(struct rg__buf *buf, const char *s)
{
	return rg__buf_append(buf, s, strlen(s));
}

bool rg__buf_printf(struct rg__buf *buf, const char *format, ...)
{
	va_list args;
	int need;

	va_start(args, format);
	need = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (need < 0 || !rg__buf_reserve(buf, (size_t)need + 1)) {
		buf->failed = true;
		return false;
	}
	va_start(args, format);
	vsnprintf((char *)buf->data + buf->len, (size_t)need + 1, format, args);
	va_end(args);
	buf->len += (size_t)need;
	return true;
}

void rg__buf_consume(struct rg__buf *buf, size_t len)
{
	if (len >= buf->len) {
		buf->len = 0;
		return;
	}
	memmove(buf->data, buf->data + len, buf->len - len);
	buf->len -= len;
}

void rg__buf_free(struct rg__buf *buf)
{
	rg__free(buf->data);
	*buf = (struct rg__buf){0};
}

struct rg__bytes rg__buf_view(const struct rg__buf *buf)
{
	return (struct rg__bytes){buf->len ? buf->data : nothing, buf->len};
}
