#!/bin/sh
# Writes the inventory of the hub to a branch of the repository. Runs where the hub may be read, at intervals.
#
#   KUBECONFIG       of the hub
#   INVENTORY_PRIVATE_KEY  a file with the private key: berth snapshot --new-key FILE
#   INVENTORY_BRANCH (default: berth-inventory)
#   REMOTE           (default: origin)
#   BERTH            how Berth is called (default: berth)
set -eu

: "${INVENTORY_PRIVATE_KEY:?say in INVENTORY_PRIVATE_KEY which file has the private key}"
INVENTORY_BRANCH=${INVENTORY_BRANCH:-berth-inventory}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${BERTH:-berth} snapshot --key "$INVENTORY_PRIVATE_KEY" --file "$folder/inventory.json"

# One commit without parents, so that the repository does not grow by every inventory.
blob=$(git hash-object -w "$folder/inventory.json")
tree=$(printf '100644 blob %s\tinventory.json\n' "$blob" | git mktree)
commit=$(git -c user.name=berth -c user.email=berth@localhost commit-tree "$tree" -m 'Inventory of the hub')
git push --quiet --force "${REMOTE:-origin}" "$commit:refs/heads/$INVENTORY_BRANCH"
