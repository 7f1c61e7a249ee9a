#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets: mostly the codec's vectors in the form each target takes.

    corpus.py [FOLDER]      (default: corpus/ beside this file)

Files that begin with "find-" are inputs that once found something, and those with "grown-" what a fuzzer made of the seeds;
both stay as they are. The seeds are what each target needs to start from: every layout once, small."""
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "codec" / "vectors"
# The order of the table in src/codec/api.c: what the targets count in.
APIS = [("Metadata", 3, 0, 13), ("OffsetCommit", 8, 2, 9), ("OffsetFetch", 9, 1, 9), ("FindCoordinator", 10, 0, 6),
        ("JoinGroup", 11, 0, 9), ("Heartbeat", 12, 0, 4), ("LeaveGroup", 13, 0, 5), ("SyncGroup", 14, 0, 5),
        ("DescribeGroups", 15, 0, 6), ("ListGroups", 16, 0, 5), ("ApiVersions", 18, 0, 4),
        ("TxnOffsetCommit", 28, 0, 3)]
FLEXIBLE = {"Metadata": 9, "OffsetCommit": 8, "OffsetFetch": 6, "FindCoordinator": 3, "JoinGroup": 6, "Heartbeat": 4,
            "LeaveGroup": 4, "SyncGroup": 4, "DescribeGroups": 5, "ListGroups": 3, "ApiVersions": 3,
            "TxnOffsetCommit": 3}
SIZE_MAX = 1500


def vectors(message):
    """(version, kind) -> bytes"""
    found = {}
    for line in (VECTORS / f"{message}.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            version, kind, digits, _ = line.split("\t", 3)
            found[int(version), kind] = bytes.fromhex(digits)
    return found


def chosen(message, first, last, flexible):
    """The newest, the oldest, and the first flexible version of each kind; without those that only differ in length."""
    wanted = {first, last, flexible}
    return {key: data for key, data in vectors(message).items() if key[0] in wanted and len(data) <= SIZE_MAX}


def length(data):
    return struct.pack(">i", len(data)) + data


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def begin(self, target):
        self.at = self.folder / target
        self.at.mkdir(parents=True, exist_ok=True)
        for old in self.at.glob("seed-*"):
            old.unlink()

    def write(self, name, data):
        (self.at / f"seed-{name}").write_bytes(bytes(data))


def messages(writer):
    for kind in ("request", "response"):
        writer.begin(kind)
        for index, (name, _, first, last) in enumerate(APIS):
            for (version, what), data in chosen(f"{name}{kind.capitalize()}", first, last, FLEXIBLE[name]).items():
                writer.write(f"{name}-{version}-{what}", bytes([index, version - first]) + data)


def frames(writer):
    writer.begin("frame")
    for name, key, first, last in APIS:
        for version in (first, last):
            body = vectors(f"{name}Request").get((version, "filled"), b"")
            if len(body) > SIZE_MAX // 2:
                continue
            tags = b"\0" if version >= FLEXIBLE[name] else b""
            header = struct.pack(">hhih", key, version, 7, 2) + b"me" + tags
            writer.write(f"{name}-{version}", length(header + body) * 2)
    writer.write("http", b"HTTP/1.1 400 Bad Request\r\n")
    writer.write("tls", bytes.fromhex("1503010002022a"))
    writer.write("cut", length(b"\0" * 20)[:-3])
    writer.write("versions-35", length(struct.pack(">ihihhh", 7, 35, 1, 18, 0, 2)))


def members_bytes(writer):
    writer.begin("consumer_protocol")
    for choice, name in enumerate(("Subscription", "Assignment")):
        for (version, kind), data in vectors(f"ConsumerProtocol{name}").items():
            if len(data) <= SIZE_MAX:
                writer.write(f"{name}-{version}-{kind}", bytes([choice]) + data)
    writer.write("newer", b"\0" + struct.pack(">hiii", 9, 0, -1, 0) + b"more")
    writer.begin("userdata")
    for choice, name in enumerate(("StickyUserData", "CooperativeStickyUserData")):
        for (version, kind), data in vectors(name).items():
            writer.write(f"{name}-{version}-{kind}", bytes([choice]) + data)


def subscription(topics, owned=(), generation=None, userdata=None, rack=None):
    """In the newest version; `owned` is (topic, partitions)."""
    text = lambda value: struct.pack(">h", len(value)) + value.encode()
    data = struct.pack(">hi", 3, len(topics)) + b"".join(text(topic) for topic in topics)
    data += struct.pack(">i", -1) if userdata is None else length(userdata)
    data += struct.pack(">i", len(owned))
    for topic, partitions in owned:
        data += text(topic) + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    data += struct.pack(">i", -1 if generation is None else generation)
    return data + (struct.pack(">h", -1) if rack is None else text(rack))


def leaders(writer):
    writer.begin("leader")
    sticky = next(iter(vectors("StickyUserData").values()))
    plain, both = subscription(["orders"]), subscription(["orders", "returns"], rack="a")
    owner = subscription(["orders", "returns"], [("orders", [0, 1, 2]), ("returns", [0])], 4, rack="b")
    liar = subscription(["t"], [("orders", [0, 0, -1, 99]), ("nowhere", [1])], 2**31 - 1, sticky)
    old = subscription(["orders", "returns"], userdata=sticky)
    for name, group in {"two": [plain, plain], "owners": [owner, both, plain], "conflict": [owner, owner, both],
                        "liar": [liar, owner, both], "userdata": [old, old, both], "junk": [b"\xff" * 9, plain],
                        "none": []}.items():
        for cluster in (b"\x03\x00", b"\x35\x95"):
            data = b"".join(bytes([len(member)]) + member for member in group if len(member) < 256)
            writer.write(f"{name}-{cluster.hex()}", cluster + data)


def texts(writer):
    writer.begin("bootstrap")
    for i, text in enumerate(["localhost:9092", "a, b:1 ,[::1]:9092,", "[fe80::1%eth0]", "kafka://a:1", "a:65536", ":9",
                              "[::1", "::1", "a:", ",,", "h" * 256, "\u00e4\u00df:9092", "a b", "[a]b"]):
        writer.write(f"{i:02}", text.encode())
    writer.begin("conf")
    lines = {
        "usual": ["bootstrap.servers=a:9092", "group.id=g", "client.id=me", "session.timeout.ms=6000"],
        "all": ["bootstrap.servers=a,b:2", "group.id=g", "group.instance.id=i-1", "client.rack=r",
                "partition.assignment.strategy=range,sticky", "heartbeat.interval.ms=100", "group.heartbeat.budget=0",
                "max.poll.interval.ms=1000", "enable.auto.commit=false", "auto.offset.reset=earliest",
                "request.timeout.ms=1", "reconnect.backoff.ms=1", "metadata.max.age.ms=1", "retry.backoff.ms=1"],
        "bad": ["group.id=", "session.timeout.ms=x", "session.timeout.ms=99999999999", "enable.auto.commit=maybe",
                "auto.offset.reset=none", "auto.offset.reset=sometimes", "nothing=1", "=1", "group.instance.id=.."],
        "rdkafka": ["fetch.min.bytes=1", "fetch.wait.max.ms=x", "ssl.key.password=p", "sasl.password=p", "debug=all",
                    "security.protocol=SSL", "metadata.broker.list=a:1", "topic.auto.offset.reset=end"],
    }
    for name, each in lines.items():
        writer.write(name, "\n".join(each).encode())


def machines(writer):
    """Four bytes an event: what, to which, how, when; their order is that of enum rg__event_type."""
    start, rejoin, leave, poll, retry, prepared, assigned, size, find, down, join, sync, beat, left, commit = range(15)
    up = [[start, 0, 0, 0], [prepared, 0, 0, 0], [find, 0, 0, 0], [join, 0, 0, 0x28]]
    stable = up + [[assigned, 0, 0, 0], [sync, 0, 0, 0]]
    writer.begin("machine")
    scripts = {
        "leader": stable,
        "follower": up[:3] + [[join, 0, 0, 8], [sync, 0, 0, 0], [beat, 0, 0, 5], [beat, 0, 0, 7]],
        "id-required": up[:3] + [[join, 0, 10, 8], [join, 0, 0, 0x28]],
        "rebalance": stable + [[beat, 0, 9, 5], [prepared, 0x10, 0, 0], [join, 0, 0, 8], [sync, 0, 0, 0]],
        "lost": stable + [[beat, 0, 8, 5], [prepared, 0x80, 0, 0], [prepared, 0, 0, 0], [join, 0, 0, 8]],
        "down": stable + [[down, 0, 0, 5], [find, 0, 0, 6], [beat, 0, 0, 7]],
        "late": stable + [[beat, 0, 0, 7], [beat, 0, 0, 7], [poll, 0, 0, 7], [retry, 0, 0, 7]],
        "commit": stable + [[commit, 0, 8, 4], [commit, 8, 7, 4], [rejoin, 0, 0, 5]],
        "leave": stable + [[leave, 0, 0, 4], [left, 0, 0, 4], [start, 0, 0, 4]],
        "leave-early": up[:3] + [[leave, 1, 0, 4], [join, 0, 0, 8], [left, 0, 0, 0]],
        "fatal": up[:3] + [[join, 0, 16, 8], [leave, 0, 0, 0]],
        "sizes": stable + [[size, 0, 100, 7], [size, 0x40, 9, 7]],
    }
    for name, script in scripts.items():
        for shape in (0x7c, 0xff):
            writer.write(f"{name}-{shape:02x}", bytes([shape]) + b"".join(bytes(event) for event in script))


def coordinators(writer):
    """A byte for what (low half) and who (high half), then how and more; time: 7, 0x?7."""
    join, sync, beat, leave, commit, wait, move, raw = 0, 2, 4, 5, 6, 7, 12, 13
    ask = lambda what, who, how=0x80, more=0x90: [who << 4 | what, how, more]
    first = [ask(join, 0), ask(join, 0), [wait | 0x40]]
    two = first + [ask(join, 1), ask(join, 1), ask(join, 0), ask(sync, 0, 0x82), ask(sync, 1, 0x80)]
    offsets = vectors("OffsetFetchRequest")
    writer.begin("coordinator")
    scripts = {
        "one": first + [ask(sync, 0, 0x81), ask(beat, 0)],
        "two": two + [ask(beat, 0), ask(beat, 1), [wait | 0x50], [wait | 0x60]],
        "static": [ask(join, 0, 0x98), ask(sync, 0, 0x99), ask(join, 0, 0x98, 0x92), ask(beat, 0, 0x98)],
        "leave": two + [ask(leave, 1, 0x81), ask(leave, 0, 0x83), ask(commit, 0, 0x86, 0x98)],
        "commit": two + [ask(commit, 0, 0x86), ask(commit, 1, 0x84, 0x94)],
        "move": two + [[move | 0x60], ask(beat, 0), [wait | 0x20], ask(beat, 0), ask(join, 0)],
        "fetch": two + [ask(commit, 0, 0x84), [2 << 4 | raw, 8], list(length(offsets[9, "filled"])[2:])],
        "silent": two + [[wait | 0x70], [wait | 0x70]],
        "old": [ask(join, 0, 0x80, 0x00), ask(join, 1, 0x81, 0x30), ask(sync, 0, 0x82, 0x00)],
    }
    for name, script in scripts.items():
        for shape in (0x42, 0x5b):
            writer.write(f"{name}-{shape:02x}", bytes([shape]) + b"".join(bytes(ask) for ask in script))


def sessions(writer):
    """Bytes in the order in which they are needed, see session.c. 0 is good, so a short one goes well."""
    good = [0] * 4 + [0] * 8
    writer.begin("session")
    scripts = {"nothing": [], "good": [0] * 40, "waits": [0x60] * 20}
    for code in range(22):
        if code % 3 == 0:
            scripts[f"error-{code:02}"] = good + [1, code] * 3 + [0x40] * 4
    for way in range(1, 15):
        scripts[f"way-{way:02}"] = good + [0x50 | way, 0x30 | way, 0x20] + [0x40] * 4
        scripts[f"hello-{way:02}"] = [0, way | 0x30, 3, 1, way]
    for name, index in (("JoinGroup", 9), ("SyncGroup", 5), ("FindCoordinator", 6), ("Heartbeat", 4)):
        data = vectors(f"{name}Response")[index, "filled"]
        if len(data) <= SIZE_MAX // 2:
            scripts[f"raw-{name}"] = good + [10, *struct.pack(">H", len(data)), *data]
    for name, script in scripts.items():
        shape = 4 if len(name) % 2 else 0
        writer.write(name, bytes([shape, *script]))
    writer.write("leave", bytes([4] + [0x50] * 10 + [13, 0, 0x50, 14] + [0x50] * 6))
    writer.write("commit", bytes([2] + [0x50] * 10 + [0x1a, 0x2a, 0x1a, 0x50, 0x50]))
    writer.write("slow", bytes([5, 0x1b] + [0x50] * 6 + [0x70, 0x70, 0x0b, 0x70, 0x09, 0x50]))


def main():
    writer = Writer(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus")
    for make in (messages, frames, members_bytes, leaders, texts, machines, coordinators, sessions):
        make(writer)
    files = [path for path in writer.folder.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files)} bytes")


if __name__ == "__main__":
    main()
