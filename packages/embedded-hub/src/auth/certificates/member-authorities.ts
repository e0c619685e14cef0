import { existsSync, readFileSync } from 'node:fs';
import { InputError } from '@berth/runtime/errors';
import type { PemPair } from '@berth/kube/x509/pem-pair';
import { writePrivateFile } from '../files/private-file.ts';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';

/** The two authorities of one cluster. */
export interface ClusterPairs {
  /** Issues the client certificates of the cluster's own users. */
  readonly clients: PemPair;
  /**
   * Issues the certificate that authenticates the hub to extension servers; no certificate request is signed by it.
   */
  readonly frontProxy: PemPair;
}

const VERSION = 1;

/**
 * Opens the authorities of the members, and creates missing ones. All are in one file, because each
 * file needs two disk syncs, which would take a minute for a thousand members. Entries of members
 * that are not running are kept.
 * @throws InputError when the file is not ours or broken
 */
export function openMemberAuthorities(
  path: string,
  members: readonly string[],
  nowMs: number,
): ReadonlyMap<string, ClusterPairs> {
  const known = readMemberAuthorities(path);
  const missing = members.filter((name) => !known.has(name));
  if (missing.length === 0) return known;
  const all = new Map([...known, ...missing.map((name) => makePairs(name, nowMs))]);
  const content = { version: VERSION, members: Object.fromEntries(all) };
  writePrivateFile(path, `${JSON.stringify(content)}\n`);
  return all;
}

/**
 * The entries of the file; none if it does not exist.
 * @throws InputError when it is not ours or broken
 */
export function readMemberAuthorities(path: string): ReadonlyMap<string, ClusterPairs> {
  if (!existsSync(path)) return new Map();
  const broken = (cause?: unknown): InputError =>
    new InputError('is not a file of member authorities of berth hub', {
      code: 'hub.member-authorities',
      subject: path,
      hint: 'Restore it from a backup, or remove it: members then get new authorities, and their client certificates end.',
      cause,
    });
  let content: { readonly version?: unknown; readonly members?: unknown } | null;
  try {
    content = JSON.parse(readFileSync(path, 'utf8')) as typeof content;
  } catch (error) {
    throw broken(error);
  }
  const entries = Object.entries((content?.members ?? {}) as Record<string, ClusterPairs>);
  const good = content?.version === VERSION && entries.every(([, pairs]) => isPairs(pairs));
  if (!good) throw broken();
  return new Map(entries);
}

function makePairs(name: string, nowMs: number): [string, ClusterPairs] {
  const clients = createAuthority(`berth-member-ca ${name}`, nowMs);
  const frontProxy = createAuthority(`berth-member-front-proxy-ca ${name}`, nowMs);
  return [name, { clients, frontProxy }];
}

function isPairs(value: unknown): boolean {
  const { clients, frontProxy } = (value ?? {}) as Partial<ClusterPairs>;
  return [clients, frontProxy].every(
    (pair) => typeof pair?.certPem === 'string' && typeof pair.keyPem === 'string',
  );
}
