import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ConfigSpecHash } from '@berth/ocm/kind/addon';
import { goJsonText } from '@berth/runtime/json/go-json-text';
import { sha256 } from '@berth/runtime/sha256';

/** Fields that a configuration may change without being another one. */
const NOT_HASHED: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * What an add-on's configuration says, as 64 hexadecimal digits: two objects with the same content have the same hash. Equal byte for
 * byte to `GetSpecHash` of OCM's add-on framework (pkg/utils/config_checker.go), because add-ons of both compare them.
 * @param config as the API server sends it, with whole numbers beyond 2^53 as bigint
 */
export function configSpecHash(config: KubeObject): string {
  return sha256(hashedText(config));
}

const HASHES = new WeakMap<KubeObject, string>();

/** Whether a configuration of an add-on is the one that a reference asks for, and has not been changed since. */
export function isDesired(desired: ConfigSpecHash, config: KubeObject): boolean {
  return knownSpecHash(config) === desired.specHash;
}

/** The hash of an object of the cache, taken once. */
export function knownSpecHash(config: KubeObject): string {
  const hash = HASHES.get(config) ?? configSpecHash(config);
  HASHES.set(config, hash);
  return hash;
}

/** The text of which the hash is made: every other field, with its name. */
export function hashedText(config: KubeObject): string {
  const kept = Object.entries(config).filter(([field]) => !NOT_HASHED.has(field));
  return goJsonText(Object.fromEntries(kept));
}
