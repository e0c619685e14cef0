import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../auth/files/private-file.ts';
import type { LogIdentity } from '../log/append-log.ts';
import { checkedJson, encodeLine } from '../log/log-record.ts';
import { dataDamaged, manifestPath } from '../log/manifest.ts';

interface Registered {
  /** The identity of the cluster's log. */
  readonly log: string;
  /** false from before the log is created until it exists. */
  readonly ready: boolean;
  /**
   * A hub of an earlier version without a register has served the cluster, so records must exist.
   */
  readonly served: boolean;
}

type Clusters = ReadonlyMap<string, Registered>;

const MEMBER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Files that a hub writes once it serves. */
const SERVED_FILES = ['tokens.json', 'server.json', 'admin.kubeconfig'];

/**
 * The clusters that have data in a data directory; the hub itself is ''. It distinguishes a cluster
 * whose data was lost, which refuses to start, from a new one, which starts empty.
 */
export class ClusterRegister {
  readonly #dataDir: string;
  readonly #clusters: Clusters;
  readonly #served: boolean;

  private constructor(dataDir: string, clusters: Clusters, served: boolean) {
    this.#dataDir = dataDir;
    this.#clusters = clusters;
    this.#served = served;
  }

  /**
   * Reads the register; changes nothing. A directory of an earlier version has no register, and
   * every cluster with a directory counts as an existing one.
   * @throws InputError `hub.data-damaged` when the register is damaged, or is missing where there
   * was one
   */
  static read(dataDir: string): ClusterRegister {
    const path = registerPath(dataDir);
    const clusters = readClusters(path);
    if (clusters !== undefined) return new ClusterRegister(dataDir, clusters, false);
    const served = SERVED_FILES.some((name) => existsSync(join(dataDir, name)));
    for (const name of directoriesIn(dataDir))
      if (served && existsSync(manifestPath(clusterDirectory(dataDir, name))))
        throw dataDamaged(path, 'is missing: it names the clusters of this data directory');
    if (served && !existsSync(clusterDirectory(dataDir, '')))
      throw dataDamaged(clusterDirectory(dataDir, ''), 'is missing, although a hub has served from here');
    return new ClusterRegister(dataDir, new Map(), served);
  }

  /** The clusters that are known, and those that have a directory; the hub first, the others by name. */
  get names(): readonly string[] {
    return [...new Set([...this.#clusters.keys(), ...directoriesIn(this.#dataDir)])].sort();
  }

  identityOf(name: string): Partial<LogIdentity> {
    const registered = this.#clusters.get(name);
    if (registered === undefined) return { known: false, served: this.#hasServed(name) };
    return { log: registered.log, known: registered.ready, served: registered.served };
  }

  /**
   * Records clusters before their logs are created.
   * @returns the new register
   */
  begin(names: readonly string[]): ClusterRegister {
    const all = this.#served ? [...names, ...this.names] : names;
    const fresh = all.filter((name) => !this.#clusters.has(name));
    return this.#with(
      fresh.map((name) => [name, { log: randomUUID(), ready: false, served: this.#hasServed(name) }]),
    );
  }

  /**
   * Records that the logs of these clusters exist.
   * @returns the new register
   */
  complete(names: readonly string[]): ClusterRegister {
    const changed = [...this.#clusters].filter(([name, { ready }]) => !ready && names.includes(name));
    return this.#with(changed.map(([name, entry]) => [name, { ...entry, ready: true }]));
  }

  #hasServed(name: string): boolean {
    return this.#served && existsSync(clusterDirectory(this.#dataDir, name));
  }

  #with(entries: readonly (readonly [string, Registered])[]): ClusterRegister {
    return entries.length === 0 ? this : this.#write(new Map([...this.#clusters, ...entries]));
  }

  #write(clusters: Clusters): ClusterRegister {
    writePrivateFile(
      registerPath(this.#dataDir),
      encodeLine(JSON.stringify({ format: 1, clusters: [...clusters] })),
    );
    return new ClusterRegister(this.#dataDir, clusters, this.#served);
  }
}

export function registerPath(dataDir: string): string {
  return join(dataDir, 'clusters.json');
}

function readClusters(path: string): Clusters | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  const json = checkedJson(bytes.subarray(0, bytes.indexOf(0x0a)));
  if (json === undefined) throw dataDamaged(path, 'is damaged: its checksum does not match');
  const content = JSON.parse(json.toString('utf8')) as {
    readonly format: number;
    readonly clusters: readonly (readonly [string, Registered])[];
  };
  if (content.format !== 1) throw dataDamaged(path, `got format ${String(content.format)}, expected 1`);
  return new Map(content.clusters);
}

function directoriesIn(dataDir: string): string[] {
  const members = join(dataDir, 'members');
  const names = existsSync(members) ? readdirSync(members).filter((name) => MEMBER_NAME.test(name)) : [];
  return ['', ...names].filter((name) => existsSync(clusterDirectory(dataDir, name)));
}

/** The directory of the log and snapshots of a cluster; '' is the hub. */
export function clusterDirectory(dataDir: string, name: string): string {
  return name === '' ? join(dataDir, 'hub') : join(dataDir, 'members', name);
}
