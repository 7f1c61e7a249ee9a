// SPDX-License-Identifier: Apache-2.0
// Writes the fixtures beside it, one file per message, with the classes Kafka generates from its message definitions.
// Values are not chosen here message by message: a filled message is made from the definition in the jar, so that a
// field Kafka adds cannot be forgotten. See make.sh for how it is run.

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;

import java.io.InputStream;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

public final class Vectors {
    private static final ObjectMapper JSON = new ObjectMapper().configure(JsonParser.Feature.ALLOW_COMMENTS, true);
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static Path directory;

    /** Makes a value for every field a version has; each value occurs once in a message. */
    private static final class Filler {
        private final short version;
        private final boolean nulls; // every field that may be null is
        private int next;
        private boolean longOne;

        Filler(short version, boolean nulls) {
            this.version = version;
            this.nulls = nulls;
        }

        private boolean in(String range) {
            if (range == null || range.equals("none"))
                return false;
            if (range.endsWith("+"))
                return version >= Short.parseShort(range.substring(0, range.length() - 1));
            String[] ends = range.split("-");
            return version >= Short.parseShort(ends[0]) && version <= Short.parseShort(ends[ends.length - 1]);
        }

        JsonNode struct(JsonNode fields) {
            ObjectNode node = NODES.objectNode();
            for (JsonNode field : fields) {
                if (!in(field.get("versions").asText()))
                    continue;
                String name = field.get("name").asText();
                String key = name.substring(0, 1).toLowerCase() + name.substring(1);
                boolean nullable = field.has("nullableVersions") && in(field.get("nullableVersions").asText());
                node.set(key, nulls && nullable ? NullNode.instance : value(field, field.get("type").asText(), key));
            }
            return node;
        }

        private JsonNode value(JsonNode field, String type, String key) {
            int n = ++next;
            if (type.startsWith("[]")) {
                ArrayNode array = NODES.arrayNode();
                // The first array of numbers is long: its count takes two bytes of a varint.
                int count = type.equals("[]int32") && !longOne ? 130 : 2;
                longOne |= count > 2;
                for (int i = 0; i < count; i++)
                    array.add(value(field, type.substring(2), key));
                return array;
            }
            switch (type) {
                case "bool":
                    return NODES.booleanNode(!(field.has("default") && field.get("default").asText().equals("true")));
                case "int8":
                    return NODES.numberNode(n % 2 == 0 ? n % 100 : -n % 100);
                case "int16":
                    return NODES.numberNode(n % 2 == 0 ? 0x1200 + n : -0x1200 - n);
                case "int32":
                    return NODES.numberNode(n % 2 == 0 ? 0x12345600 + n : -0x12345600 - n);
                case "int64":
                    return NODES.numberNode(n % 2 == 0 ? 0x123456789abcde00L + n : -0x123456789abcde00L - n);
                case "uuid":
                    return NODES.textNode(new Uuid(0xfedcba9876543200L + n, 0x0123456789abcd00L + n).toString());
                case "string":
                    // Non-ASCII, and now and then longer than one byte of a varint can say.
                    return NODES.textNode(key + "-" + n + "-\u00e9\u20ac\"" + (n % 5 == 0 ? "x".repeat(200) : ""));
                case "bytes":
                    byte[] bytes = {0, (byte) n, -1, '"', (byte) (n % 7)};
                    return NODES.textNode(Base64.getEncoder().encodeToString(bytes));
                default:
                    return struct(field.get("fields"));
            }
        }
    }

    private static JsonNode definition(String name) throws Exception {
        try (InputStream in = Message.class.getResourceAsStream("/common/message/" + name + ".json")) {
            return JSON.readTree(in);
        }
    }

    private static void line(PrintWriter out, int version, String kind, ByteBuffer bytes, JsonNode json)
            throws Exception {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        String hex = HexFormat.of().formatHex(copy);
        out.println(version + "\t" + kind + "\t" + hex + "\t" + JSON.writeValueAsString(json));
    }

    private static PrintWriter file(String name) throws Exception {
        PrintWriter out = new PrintWriter(Files.newBufferedWriter(directory.resolve(name + ".txt")));
        out.println("# " + name + ": version, kind, bytes, what Kafka's JSON converter makes of it. From make.sh.");
        return out;
    }

    private static void message(String name, int first, int last, boolean prefixed) throws Exception {
        String className = name + (name.startsWith("Consumer") ? "" : "Data");
        Class<?> data = Class.forName("org.apache.kafka.common.message." + className);
        Class<?> converter = Class.forName(data.getName() + "JsonConverter");
        try (PrintWriter out = file(name)) {
            for (short version = (short) first; version <= last; version++) {
                JsonNode fields = definition(name).get("fields");
                JsonNode filled = new Filler(version, false).struct(fields);
                JsonNode nulls = new Filler(version, true).struct(fields);
                Object[] messages = {
                    data.getConstructor().newInstance(),
                    converter.getMethod("read", JsonNode.class, short.class).invoke(null, filled, version),
                    converter.getMethod("read", JsonNode.class, short.class).invoke(null, nulls, version)};
                String[] kinds = {"empty", "filled", "nulls"};
                for (int i = 0; i < (nulls.equals(filled) ? 2 : 3); i++) {
                    Message message = (Message) messages[i];
                    ByteBuffer bytes = prefixed ? MessageUtil.toVersionPrefixedByteBuffer(version, message)
                                                : MessageUtil.toByteBufferAccessor(message, version).buffer();
                    Object json = converter.getMethod("write", data, short.class).invoke(null, message, version);
                    line(out, version, kinds[i], bytes, (JsonNode) json);
                }
            }
        }
    }

    /** Which header goes with which version of an API: in no definition, only in Kafka's generated ApiMessageType. */
    private static void headers(PrintWriter out, String name, int first, int last) {
        short key = ApiKeys.valueOf(name.replaceAll("(?<=[a-z])([A-Z])", "_$1").toUpperCase()).id;
        for (short version = (short) first; version <= last; version++)
            out.println(key + "\t" + version + "\t" + ApiKeys.forId(key).requestHeaderVersion(version) + "\t"
                + ApiKeys.forId(key).responseHeaderVersion(version));
    }

    private static ConsumerPartitionAssignor.Assignment owned() {
        return new ConsumerPartitionAssignor.Assignment(List.of(new TopicPartition("orders", 0),
            new TopicPartition("orders", 7), new TopicPartition("returns", 3)));
    }

    /** The userdata the sticky assignors write; version 0 of sticky's, which Kafka only reads, from its own schema. */
    private static void userData() throws Exception {
        ConsumerGroupMetadata group = new ConsumerGroupMetadata("g", 42, "m", Optional.empty());
        ObjectNode generation = NODES.objectNode().put("generation", 42);
        ObjectNode sticky = NODES.objectNode();
        ArrayNode topics = sticky.putArray("previousAssignment");
        // in the order the assignor writes them
        topics.addObject().put("topic", "returns").putArray("partitions").add(3);
        topics.addObject().put("topic", "orders").putArray("partitions").add(0).add(7);

        try (PrintWriter out = file("StickyUserData")) {
            Field constant = StickyAssignor.class.getDeclaredField("STICKY_ASSIGNOR_USER_DATA_V0");
            constant.setAccessible(true);
            Schema schema = (Schema) constant.get(null);
            Struct struct = new Struct(schema);
            Object[] entries = new Object[topics.size()];
            for (int i = 0; i < entries.length; i++) {
                Struct entry = struct.instance("previous_assignment");
                entry.set("topic", topics.get(i).get("topic").asText());
                entry.set("partitions", JSON.convertValue(topics.get(i).get("partitions"), Integer[].class));
                entries[i] = entry;
            }
            struct.set("previous_assignment", entries);
            ByteBuffer bytes = ByteBuffer.allocate(schema.sizeOf(struct));
            schema.write(bytes, struct);
            bytes.flip();
            line(out, 0, "filled", bytes, sticky);

            StickyAssignor assignor = new StickyAssignor();
            assignor.onAssignment(owned(), group);
            line(out, 1, "filled", assignor.subscriptionUserData(Set.of("orders", "returns")),
                sticky.deepCopy().setAll(generation));
        }
        try (PrintWriter out = file("CooperativeStickyUserData")) {
            CooperativeStickyAssignor assignor = new CooperativeStickyAssignor();
            assignor.onAssignment(owned(), group);
            line(out, 0, "filled", assignor.subscriptionUserData(Set.of("orders")), generation);
        }
    }

    /** Arguments: where to write, then NAME:FIRST-LAST for each API. */
    public static void main(String[] args) throws Exception {
        directory = Path.of(args[0]);
        try (PrintWriter headers = new PrintWriter(Files.newBufferedWriter(directory.resolve("headers.txt")))) {
            headers.println("# API key and version, versions of the request and response header. From make.sh.");
            for (int i = 1; i < args.length; i++) {
                String[] parts = args[i].split("[:-]");
                int first = Integer.parseInt(parts[1]), last = Integer.parseInt(parts[2]);
                message(parts[0] + "Request", first, last, false);
                message(parts[0] + "Response", first, last, false);
                headers(headers, parts[0], first, last);
            }
        }
        message("RequestHeader", 1, 2, false);
        message("ResponseHeader", 0, 1, false);
        message("ConsumerProtocolSubscription", 0, 3, true);
        message("ConsumerProtocolAssignment", 0, 3, true);
        userData();
    }
}
