#!/bin/sh
# Replaces the api and worker containers by those of the release that .env names, without a gap: docs/operations.md.
set -eu
cd "$(dirname "$0")/.."

running() { docker compose ps -q "$1"; }

# start SERVICE COUNT runs that many more containers of the new release beside the others, until all are healthy.
start() {
  before=$(running "$1")
  docker compose up -d --no-build --no-deps --no-recreate --wait --scale "$1=$(($(echo "$before" | wc -w) + $2))" "$1" ||
    give_up "$1" "is not healthy"
}

# started SERVICE lists the containers that the latest start has added.
started() {
  for container in $(docker compose ps -aq "$1"); do
    case " $(echo $before) " in
    *" $container "*) ;;
    *) echo "$container" ;;
    esac
  done
}

# give_up SERVICE REASON removes what the latest start has added; the others go on.
give_up() {
  echo "rollout: the new $1 $2 and is removed; those of the previous release go on. Its log ends with:" >&2
  for container in $(started "$1"); do
    docker logs --tail 20 "$container" >&2 || true
    docker rm -f "$container" >/dev/null
  done
  exit 1
}

# stop CONTAINER... lets them finish what they have in hand, and removes them.
stop() {
  docker stop "$@" >/dev/null
  docker rm "$@" >/dev/null
}

# deployment COMMAND is a command of the Temporal CLI on the deployment of the workers, which is named as their task queue.
deployment() { docker compose run --rm --no-deps -T temporal-cli "temporal worker deployment $1"; }

# current prints the version whose workers get the tasks, or nothing.
current() {
  deployment 'describe --name "$TEMPORAL_TASK_QUEUE" --output json' | sed -n 's/.*"currentVersionBuildID": *"\([^"]*\)".*/\1/p'
}

# make_current OPTION: Temporal learns of a new version from its workers' polls, and is asked until it has.
make_current() {
  for try in $(seq 30); do
    if deployment "set-current-version --deployment-name \"\$TEMPORAL_TASK_QUEUE\" $1 --yes"; then return; fi
    sleep "${ROLLOUT_PAUSE:-2}"
  done
  return 1
}

# lives reports whether the new workers still run and are healthy, some time after they were given the tasks.
lives() {
  for look in 1 2 3 4 5 6; do
    sleep "${ROLLOUT_PAUSE:-5}"
    for container in $(started worker); do
      [ "$(docker inspect -f '{{.RestartCount}} {{.State.Health.Status}}' "$container")" = "0 healthy" ] || return 1
    done
  done
}

docker compose build
# The containers of the previous release go on meanwhile, and after a failure.
docker compose run --rm --no-deps migrate

# Workers first: they know everything that the previous api sends them. As many of them start as there were; once they are healthy
# Temporal is told to give all tasks to their version, and told otherwise if they die of it.
old=$(running worker)
if [ -n "$old" ]; then
  version=$(docker compose run --rm --no-deps -T migrate version | cut -d ' ' -f 2)
  previous=$(current)
  start worker "$(echo "$old" | wc -w)"
  # Without a RELEASE the workers have no version.
  if [ "$version" != dev ]; then
    make_current "--build-id '$version'" || give_up worker "is not known to Temporal"
    if ! lives; then
      if [ -n "$previous" ]; then make_current "--build-id '$previous'"; else make_current --unversioned; fi
      give_up worker "has died"
    fi
  fi
  stop $old
fi

for container in $(running api); do
  start api 1
  stop "$container"
done

# As many as .env says.
docker compose up -d --no-build --no-deps --wait api worker
