import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BACKDATE_MS, createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import { InputError } from '@berth/runtime/errors';
import { writePrivateFile } from '../files/private-file.ts';
import { createSigningKey } from '../tokens/service-account-tokens.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';

/** The authorities of one cluster. A certificate of one cluster is invalid in the others. */
export interface ClusterAuthorities {
  /** Issues the client certificates of the cluster's own users. */
  readonly clients: CertificateAuthority;
  /**
   * Issues the certificate that authenticates the hub to extension servers; no certificate request is signed by it.
   */
  readonly frontProxy: CertificateAuthority;
}

const HUB = 'ca';
const HUB_FRONT_PROXY = 'front-proxy-ca';
const MEMBERS = 'members.json';

/**
 * The keys of one data directory, below `pki/`: created at the first start, kept permanently, readable by the owner
 * alone.
 */
export class KeyStore {
  /** Issues the serving certificate of all clusters, and the client certificates of the hub's users. */
  readonly authority: CertificateAuthority;
  /** Signs ServiceAccount tokens. */
  readonly tokenKeyPem: string;
  readonly #frontProxy: CertificateAuthority;
  readonly #members: ReadonlyMap<string, ClusterPairs>;

  private constructor(
    hub: ClusterAuthorities,
    members: ReadonlyMap<string, ClusterPairs>,
    tokenKeyPem: string,
  ) {
    this.authority = hub.clients;
    this.#frontProxy = hub.frontProxy;
    this.#members = members;
    this.tokenKeyPem = tokenKeyPem;
  }

  static async open(dataDir: string, members: readonly string[], nowMs: number): Promise<KeyStore> {
    const directory = join(dataDir, 'pki');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const hub = {
      clients: await CertificateAuthority.load(openPair(directory, HUB, nowMs)),
      frontProxy: new CertificateAuthority(openPair(directory, HUB_FRONT_PROXY, nowMs)),
    };
    const ofMembers = openMemberAuthorities(join(directory, MEMBERS), members, nowMs);
    const tokenKeyPath = join(directory, 'service-account.key');
    if (!existsSync(tokenKeyPath)) writePrivateFile(tokenKeyPath, createSigningKey());
    return new KeyStore(hub, ofMembers, readFileSync(tokenKeyPath, 'utf8'));
  }

  /** When the directory was served for the first time. */
  get createdMs(): number {
    return Date.parse(new X509Certificate(this.authority.certPem).validFrom) + BACKDATE_MS;
  }

  /** @param cluster '' for the hub, otherwise a member that the store was opened for */
  authoritiesOf(cluster: string): ClusterAuthorities {
    if (cluster === '') return { clients: this.authority, frontProxy: this.#frontProxy };
    const pairs = this.#members.get(cluster);
    if (pairs === undefined) throw unknownMember(cluster);
    return {
      clients: new CertificateAuthority(pairs.clients),
      frontProxy: new CertificateAuthority(pairs.frontProxy),
    };
  }
}

/**
 * Reads the authority of a cluster's users without creating files, because a hub may be running on
 * the directory.
 * @throws InputError for a member that no hub has served since members have their own authorities
 */
export async function readClientAuthority(dataDir: string, cluster: string): Promise<CertificateAuthority> {
  const directory = join(dataDir, 'pki');
  if (cluster === '') return CertificateAuthority.load(readPair(directory, HUB));
  const pairs = readMemberAuthorities(join(directory, MEMBERS)).get(cluster);
  if (pairs === undefined) throw unknownMember(cluster);
  return CertificateAuthority.load(pairs.clients);
}

/** What the serving certificate of all clusters is checked against, PEM. */
export function readServingAuthority(dataDir: string): string {
  return readPair(join(dataDir, 'pki'), HUB).certPem;
}

/** The key is written before the certificate: a certificate on the disk always has its key. */
function openPair(directory: string, name: string, nowMs: number): PemPair {
  if (existsSync(join(directory, `${name}.crt`))) return readPair(directory, name);
  const pair = createAuthority(`berth-hub-${name}`, nowMs);
  writePrivateFile(join(directory, `${name}.key`), pair.keyPem);
  writePrivateFile(join(directory, `${name}.crt`), pair.certPem);
  return pair;
}

function readPair(directory: string, name: string): PemPair {
  const read = (end: string): string => readFileSync(join(directory, `${name}.${end}`), 'utf8');
  return { certPem: read('crt'), keyPem: read('key') };
}

function unknownMember(name: string): InputError {
  return new InputError('has no certificate authority yet', {
    code: 'hub.no-member-authority',
    subject: `member ${name}`,
    hint: 'Start `berth hub` once with this member.',
  });
}

/** The two authorities of one cluster. */
interface ClusterPairs {
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
function openMemberAuthorities(
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
function readMemberAuthorities(path: string): ReadonlyMap<string, ClusterPairs> {
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
