# SPDX-License-Identifier: Apache-2.0
"""How a test written in Python tells its cases: one line each, and a closing line that tests/lib/count.py adds up."""
import sys
import time
import traceback

SKIP_EXIT = 77


class Skip(Exception):
	"""Raised by a case that cannot be tried here; says why."""


def in_order(text, *parts):
	"""Fails unless all parts are in the text, one behind the other."""
	at = 0
	for part in parts:
		found = text.find(part, at)
		assert found >= 0, f"{part!r} is missing, or comes too early, in:\n{text}"
		at = found + len(part)


class Report:
	def __init__(self):
		self.passed, self.failed, self.skipped = 0, 0, 0

	def case(self, name, run, *args):
		"""Runs one case: it fails by raising. Returns whether it passed."""
		begin = time.monotonic()
		try:
			run(*args)
		except Skip as why:
			self.skipped += 1
			print(f"SKIP {name}: {why}", flush=True)
			return False
		except KeyboardInterrupt:
			raise
		except BaseException:  # a SystemExit out of a case is a failure of the case too
			self.failed += 1
			print(f"FAIL {name}", flush=True)
			traceback.print_exc(file=sys.stdout)
			sys.stdout.flush()
			return False
		self.passed += 1
		print(f"ok   {name} ({time.monotonic() - begin:.1f} s)", flush=True)
		return True

	def finish(self):
		"""Prints the closing line; returns the exit code. Nothing tried is not a success."""
		print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
		if self.failed:
			return 1
		if self.passed:
			return 0
		return SKIP_EXIT if self.skipped else 1
