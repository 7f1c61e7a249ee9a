/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One step through a format: a character to print as it is, or a letter that stands for a part of the record. */
struct token {
	enum { END, CHARACTER, LETTER, FAULT } type;
	char value;
};

static struct token escape(const char **at)
{
	static const char names[] = "nrt\\0", values[] = "\n\r\t\\";
	const char *found = **at ? strchr(names, **at) : NULL;

	if (found) {
		++*at;
		return (struct token){CHARACTER, values[found - names]};
	}
	if (**at == 'x' && isxdigit((unsigned char)(*at)[1]) && isxdigit((unsigned char)(*at)[2])) {
		char digits[3] = {(*at)[1], (*at)[2], '\0'};

		*at += 3;
		return (struct token){CHARACTER, (char)strtol(digits, NULL, 16)};
	}
	return (struct token){FAULT, 0};
}

static struct token next(const char **at)
{
	char c = **at;

	if (!c)
		return (struct token){END, 0};
	++*at;
	if (c == '\\')
		return escape(at);
	if (c != '%')
		return (struct token){CHARACTER, c};
	if (!**at || !strchr("%tpoTkKsSRh", **at))
		return (struct token){FAULT, 0};
	c = *(*at)++;
	return (struct token){c == '%' ? CHARACTER : LETTER, c};
}

const char *format_fault(const char *format)
{
	for (;;) {
		const char *here = format;
		struct token token = next(&format);

		if (token.type == FAULT)
			return here;
		if (token.type == END)
			return NULL;
	}
}

static void print_bytes(FILE *out, const void *data, size_t len)
{
	if (data && len)
		fwrite(data, 1, len, out);
}

/* As kcat does: a key or payload that is null has the length -1. */
static long length(const void *data, size_t len)
{
	return data ? (long)len : -1;
}

static void print_number(FILE *out, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		fputc((int)(number >> shift & 0xff), out);
}

static void print_headers(FILE *out, const rd_kafka_message_t *record)
{
	rd_kafka_headers_t *headers;
	const char *name;
	const void *value;
	size_t size;

	if (rd_kafka_message_headers(record, &headers))
		return; /* it has none */
	for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &size); i++) {
		fprintf(out, "%s%s=", i ? "," : "", name);
		if (value)
			print_bytes(out, value, size);
		else
			fputs("NULL", out);
	}
}

static void print_letter(FILE *out, char letter, const rd_kafka_message_t *record)
{
	switch (letter) {
	case 't':
		fputs(rd_kafka_topic_name(record->rkt), out);
		break;
	case 'p':
		fprintf(out, "%d", (int)record->partition);
		break;
	case 'o':
		fprintf(out, "%lld", (long long)record->offset);
		break;
	case 'T':
		fprintf(out, "%lld", (long long)rd_kafka_message_timestamp(record, NULL));
		break;
	case 'k':
		print_bytes(out, record->key, record->key_len);
		break;
	case 'K':
		fprintf(out, "%ld", length(record->key, record->key_len));
		break;
	case 's':
		print_bytes(out, record->payload, record->len);
		break;
	case 'S':
		fprintf(out, "%ld", length(record->payload, record->len));
		break;
	case 'R':
		print_number(out, (uint32_t)length(record->payload, record->len));
		break;
	default:
		print_headers(out, record);
		break;
	}
}

void format_print(FILE *out, const char *format, const rd_kafka_message_t *record)
{
	struct token token = next(&format);

	flockfile(out); /* a record is not cut in two by another thread's event line */
	for (; token.type == CHARACTER || token.type == LETTER; token = next(&format)) {
		if (token.type == LETTER)
			print_letter(out, token.value, record);
		else
			fputc(token.value, out);
	}
	funlockfile(out);
}
