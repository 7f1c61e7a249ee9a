# SPDX-License-Identifier: Apache-2.0
# To be sourced: . tests/lib/maven.sh. Jars from Maven, kept in a cache outside the source tree.

regroup_cache=${XDG_CACHE_HOME:-$HOME/.cache}/regroup
kafka_version=${KAFKA_VERSION:-4.1.2}

# maven_fetch DIR GROUP:ARTIFACT:VERSION...
# Fills DIR with these artifacts and all they depend on, unless a former call already did. Callers may run side by side.
# DIR appears only when it is complete. Returns non-zero, with Maven's words on stderr, when it cannot.
maven_fetch() {
	maven_dir=$1
	shift
	mkdir -p "$(dirname "$maven_dir")" || return 1
	(
		flock 9 || exit 1
		[ "$(cat "$maven_dir/.artifacts" 2>/dev/null)" = "$*" ] && exit 0
		command -v mvn >/dev/null || { echo "maven_fetch: mvn is not installed" >&2; exit 1; }
		work=$(mktemp -d) || exit 1
		trap 'rm -rf "$work"' EXIT
		{
			echo '<project><modelVersion>4.0.0</modelVersion><groupId>regroup</groupId>'
			echo '<artifactId>jars</artifactId><version>1</version><dependencies>'
			for artifact; do
				echo "$artifact" | {
					IFS=: read -r group name version
					echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId>"
					echo "<version>$version</version></dependency>"
				}
			done
			echo '</dependencies></project>'
		} >"$work/pom.xml"
		rm -rf "$maven_dir.part"
		mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
			-DoutputDirectory="$maven_dir.part" >&2 || exit 1
		echo "$*" >"$maven_dir.part/.artifacts"
		rm -rf "$maven_dir"
		mv "$maven_dir.part" "$maven_dir"
	) 9>"$maven_dir.lock"
}

# Prints the directory that holds kafka-clients and what its JSON converters need (Jackson, which it does not name as a
# dependency), fetching it if it must.
kafka_clients_dir() {
	maven_fetch "$regroup_cache/kafka-clients-$kafka_version" "org.apache.kafka:kafka-clients:$kafka_version" \
		com.fasterxml.jackson.core:jackson-databind:2.16.2 \
		com.fasterxml.jackson.datatype:jackson-datatype-jdk8:2.16.2 \
		org.slf4j:slf4j-nop:1.7.36 && echo "$regroup_cache/kafka-clients-$kafka_version"
}

# Prints the path of the kafka-clients jar.
kafka_clients_jar() {
	clients_dir=$(kafka_clients_dir) && echo "$clients_dir/kafka-clients-$kafka_version.jar"
}
