import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type Change, type ExpectedPlacements, pair } from './expected-placements.ts';

export interface WatchOptions {
  readonly kubeconfig: string;
  /** Kind and more arguments of `kubectl get`: one object for each workload and cluster. */
  readonly objects: readonly [string, ...string[]];
  /** JSONPath within metadata to the workload. */
  readonly workload: string;
  /** The cluster of an object; default: its namespace. */
  readonly cluster?: string;
  readonly expected: ExpectedPlacements;
}

interface Seen {
  readonly uid: string;
  readonly generation: string;
}

/** Watches objects from outside, with kubectl, and notes each change that no commit explains. */
export class WatchedObjects {
  readonly problems: string[] = [];
  readonly #options: WatchOptions;
  readonly #seen = new Map<string, Seen>();
  #kubectl: ChildProcess | undefined;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#running = this.#follow();
  }

  get kind(): string {
    return this.#options.objects[0];
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

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const listed: string[] = [];
      const isListed = await this.#get(
        ['-o', `jsonpath={range .items[*]}ADDED ${this.#fields('')}{end}`],
        (line) => listed.push(this.#note(line)),
      );
      // What was deleted while no watch ran.
      if (isListed) for (const key of this.pairs()) if (!listed.includes(key)) this.#leave(key);
      const watch = ['--watch', '--output-watch-events', '-o', `jsonpath={.type} ${this.#fields('.object')}`];
      if (isListed) await this.#get(watch, (line) => this.#note(line));
      // fixed wait: the pace of new watches while the API server is away
      await pause(200);
    }
  }

  #fields(object: string): string {
    return ['namespace', this.#options.workload, 'uid', 'generation', 'deletionTimestamp']
      .map((path) => `{${object}.metadata.${path}}`)
      .join(' ')
      .concat('{"\\n"}');
  }

  /** @returns whether kubectl ended well */
  async #get(args: readonly string[], onLine: (line: string) => unknown): Promise<boolean> {
    const { kubeconfig, objects } = this.#options;
    const kubectl = spawn('kubectl', ['--kubeconfig', kubeconfig, 'get', ...objects, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#kubectl = kubectl;
    createInterface(kubectl.stdout).on('line', onLine);
    const [code] = (await once(kubectl, 'close')) as [number | null];
    return code === 0;
  }

  /** @returns the object, by `pair` */
  #note(line: string): string {
    const [type = '', namespace = '', name = '', uid = '', generation = '', deletedAt] = line.split(' ');
    // Of a replica set, which a label names with its namespace.
    const workload = name.slice(name.indexOf('.') + 1);
    const key = pair(workload, this.#options.cluster ?? namespace);
    const before = this.#seen.get(key);
    if (type === 'DELETED') {
      // Of its predecessor, whose deletion is known already, perhaps.
      if (before?.uid === uid) this.#leave(key);
      return key;
    }
    if (before !== undefined && before.uid !== uid) this.#leave(key);
    if (before?.uid !== uid) this.#change('came', key);
    // A deletion that waits for a finalizer is a generation, too.
    else if (before.generation !== generation && deletedAt === '')
      this.#problem(`${key} was written again: generation ${before.generation} became ${generation}`);
    this.#seen.set(key, { uid, generation });
    return key;
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
