/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a target over files instead of a fuzzer: those of the folders that are its arguments, and each of them cut
 * at some places. A test that found no file has failed. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

enum { SIZE_MAX_READ = 1 << 20, CUTS = 4 };

static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = exact_copy((struct rg__bytes){data, size});

	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static bool run_file(const char *path)
{
	static uint8_t data[SIZE_MAX_READ];
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	size_t size = fread(data, 1, sizeof(data), file);

	fclose(file);
	/* An abort must say which one it was. */
	fprintf(stderr, "%s\n", path);
	run(data, size);
	for (size_t i = 1; i < CUTS; i++)
		run(data, size * i / CUTS);
	return true;
}

static int run_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, NULL, alphasort), files = 0;

	for (int i = 0; i < count; i++) {
		char path[4096];
		struct stat info;

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
			files += run_file(path);
		free(entries[i]);
	}
	free(entries);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	run((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		files += run_folder(argv[i]);
	printf("%d files, each whole and cut at %d places\n", files, CUTS - 1);
	return files ? EXIT_SUCCESS : EXIT_FAILURE;
}
