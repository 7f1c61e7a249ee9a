/* SPDX-License-Identifier: Apache-2.0 */
/* Prints our field tables as JSON, for definitions.py to compare with Kafka's message definitions. */
#include "support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const char *type_name(enum rg__type type)
{
	static const char *const names[] = {
		[RG__STRUCT] = "struct", [RG__BOOL] = "bool",   [RG__INT8] = "int8",     [RG__INT16] = "int16",
		[RG__INT32] = "int32",   [RG__INT64] = "int64", [RG__UUID] = "uuid",     [RG__STRING] = "string",
		[RG__BYTES] = "bytes",   [RG__ARRAY] = "array",
	};

	return names[type];
}

static json_t *dump_fields(const struct rg__fields *fields)
{
	json_t *list = json_array();

	for (int i = 0; i < fields->count; i++) {
		const struct rg__field *field = &fields->items[i];
		bool array = field->type == RG__ARRAY;
		json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:b, s:i}", "name", field->name, "type",
					type_name(field->type), "first", field->first, "last", field->last, "nullable",
					field->nullable, "nullable_first", field->nullable_first);

		json_object_update_new(row, json_pack("{s:b, s:b, s:i, s:b, s:I}", "ignorable", field->ignorable,
						      "tagged", field->tagged, "tag", field->tag, "plain_string",
						      field->plain_string, "fallback", (json_int_t)field->fallback));

		if (array)
			json_object_set_new(row, "element", json_string(type_name(field->element)));
		if (array && field->element == RG__STRUCT) {
			json_object_set_new(row, "struct", json_string(field->fields->name));
			json_object_set_new(row, "fields", dump_fields(field->fields));
		}
		json_array_append_new(list, row);
	}
	return list;
}

int main(void)
{
	json_t *list = json_array();

	for (int i = 0; i < message_count(); i++) {
		struct message message = message_at(i);

		json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:i, s:i, s:o}", "name", message.name, "first",
						      message.first, "last", message.last, "api_key", message.api_key,
						      "flexible_first", message.fields->flexible_first, "fields",
						      dump_fields(message.fields)));
	}
	int failed = json_dumpf(list, stdout, JSON_INDENT(1));

	json_decref(list);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
