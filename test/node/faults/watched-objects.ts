import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, type ExpectedPlacements, pair } from './expected-placements.ts';

export interface WatchOptions {
  readonly kubeconfig: string;
  /** For messages. */
  readonly kind: string;
  /** Of the list, with a selection: one object for each workload and cluster. */
  readonly path: string;
  readonly workloadOf: (metadata: Metadata) => string;
  /** The cluster of an object; default: its namespace. */
  readonly cluster?: string;
  readonly expected: ExpectedPlacements;
}

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly { readonly metadata: Metadata }[];
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR';
  readonly object: { readonly metadata: Metadata };
}

/** Watches objects from outside, with kubectl, and notes each change that no commit explains. */
export class WatchedObjects {
  readonly problems: string[] = [];
  readonly #options: WatchOptions;
  readonly #seen = new Map<string, Metadata>();
  #kubectl: ChildProcess | undefined;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#running = this.#follow();
  }

  get kind(): string {
    return this.#options.kind;
  }

  /** The objects that exist, by `pair`. */
  pairs(): readonly string[] {
    return [...this.#seen.keys()].sort();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#kubectl?.kill();
    await this.#running;
  }

  /** A list, and the watch that begins where the list ends, until it breaks off. */
  async #follow(): Promise<void> {
    const { path } = this.#options;
    while (!this.#isOver) {
      let text = '';
      if (await this.#get(path, (line) => (text += line))) {
        const { items, metadata } = JSON.parse(text) as List;
        const listed = items.map((item) => this.#note(item.metadata));
        // What was deleted while no watch ran.
        for (const key of this.pairs()) if (!listed.includes(key)) this.#leave(key);
        const from = `${path.includes('?') ? '&' : '?'}watch=true&resourceVersion=${metadata.resourceVersion}`;
        await this.#get(path + from, (line) => this.#event(JSON.parse(line) as WatchEvent));
      }
      // fixed wait: the pace of new lists while the API server is away
      await pause(200);
    }
  }

  /** @returns whether kubectl ended well */
  async #get(path: string, onLine: (line: string) => void): Promise<boolean> {
    const kubectl = spawn('kubectl', ['--kubeconfig', this.#options.kubeconfig, 'get', '--raw', path], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#kubectl = kubectl;
    createInterface(kubectl.stdout).on('line', onLine);
    const [code] = (await once(kubectl, 'close')) as [number | null];
    return code === 0;
  }

  #event({ type, object: { metadata } }: WatchEvent): void {
    // The position is too old: the server ends the watch.
    if (type === 'ERROR') return;
    if (type === 'DELETED') this.#leave(this.#keyOf(metadata));
    else this.#note(metadata);
  }

  /** @returns the object, by `pair` */
  #note(metadata: Metadata): string {
    const key = this.#keyOf(metadata);
    const before = this.#seen.get(key);
    if (before !== undefined && before.uid !== metadata.uid) this.#leave(key);
    if (before?.uid !== metadata.uid) this.#change('came', key);
    // A deletion that waits for a finalizer is a generation, too.
    else if (before.generation !== metadata.generation && metadata.deletionTimestamp === undefined)
      this.#problem(`${key} was written again: it has generation ${String(metadata.generation)}`);
    this.#seen.set(key, metadata);
    return key;
  }

  #keyOf(metadata: Metadata): string {
    return pair(this.#options.workloadOf(metadata), this.#options.cluster ?? metadata.namespace);
  }

  #leave(key: string): void {
    this.#seen.delete(key);
    this.#change('left', key);
  }

  #change(change: Change, key: string): void {
    if (!this.#options.expected.explains(this.kind, change, key))
      this.#problem(`${key} ${change} without a commit`);
  }

  #problem(text: string): void {
    this.problems.push(`${new Date().toISOString()} ${this.kind}: ${text}`);
  }
}
