#!/bin/sh
# Plans what a change would move, without access to a cluster, and fails where a guard rule denies it.
#
#   BASE             what is merged into: a branch or commit (required)
#   HEAD             what is merged (default: HEAD)
#   INVENTORY_REF    the branch that inventory.sh writes (default: origin/berth-inventory)
#   INVENTORY_KEY    the public key, a path at BASE (default: .berth/inventory.pub)
#   MAX_AGE          how old the inventory may be (default: 24h)
#   REPORTS          folder for plan.md, plan.html, plan.xml and plan.sarif (default: berth-plan)
#   BERTH            how Berth is called (default: berth)
set -eu

: "${BASE:?say in BASE what is merged into}"
HEAD=${HEAD:-HEAD}
INVENTORY_REF=${INVENTORY_REF:-origin/berth-inventory}
INVENTORY_KEY=${INVENTORY_KEY:-.berth/inventory.pub}
REPORTS=${REPORTS:-berth-plan}

mkdir -p "$REPORTS"
git show "$INVENTORY_REF:inventory.json" > "$REPORTS/inventory.json"
# The key of the base: a change cannot bring the key that its own inventory is signed with.
git show "$BASE:$INVENTORY_KEY" > "$REPORTS/inventory.pub"

code=0
${BERTH:-berth} plan --base "$BASE" --head "$HEAD" \
  --inventory "$REPORTS/inventory.json" --public-key "$REPORTS/inventory.pub" --max-age "${MAX_AGE:-24h}" \
  --report "markdown=$REPORTS/plan.md" --report "html=$REPORTS/plan.html" \
  --report "junit=$REPORTS/plan.xml" --report "sarif=$REPORTS/plan.sarif" || code=$?

case $code in
  0 | 2) exit 0 ;;
  3) echo "The plan is stopped: see $REPORTS/plan.md" >&2 ;;
  *) echo "berth plan failed" >&2 ;;
esac
exit "$code"
