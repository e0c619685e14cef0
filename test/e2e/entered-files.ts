import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { BerthProcess } from './berth-process.ts';

const HOOK = new URL('./entered-functions.mjs', import.meta.url);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = /^(src|plugin|packages\/[^/]+\/src)\//;
/** After an action, a process is at its end when it has entered no other file for so long. */
const QUIET_MS = 500;

/** What a process wrote: which of its functions ran since the last time. */
interface Report {
  readonly scripts: readonly { readonly url: string; readonly offsets: readonly number[] }[];
  /** The reports that its planning processes write at the same time. */
  readonly children: readonly string[];
}

/** A `berth` command of the build that says which files of the source are entered, by itself and by its planning processes. */
export class TracedProcess {
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-entered-'));
  readonly #maps = new Map<string, (offset: number) => string | undefined>();
  readonly process: BerthProcess;
  #asked = 0;

  constructor(args: readonly string[]) {
    const env = { BERTH_ENTERED: this.#dir, NODE_OPTIONS: `--import=${HOOK.href}` };
    this.process = new BerthProcess(args, env);
  }

  /**
   * The files that every round of an action enters. A file that only one round enters belongs to something that happened at the same
   * time, such as the renewal of a lease. The first round is not measured: it loads and keeps what later ones find.
   * @param act begins the action, and resolves when its last effect can be seen
   * @param rounds at least 2
   */
  async enteredBy(act: (round: number) => Promise<unknown>, rounds: number): Promise<readonly string[]> {
    const measured: Set<string>[] = [];
    for (let round = 0; round < rounds; round++) {
      await this.#take();
      await act(round);
      measured.push(await this.#rest());
    }
    const [, second = new Set(), ...others] = measured;
    return [...second].filter((file) => others.every((entered) => entered.has(file))).sort();
  }

  async close(): Promise<void> {
    await this.process.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** What was entered since the last time, and until nothing else is. */
  async #rest(): Promise<Set<string>> {
    const entered = await this.#take();
    for (;;) {
      // fixed wait: what the process does after its last effect shows only in what it enters
      await sleep(QUIET_MS);
      const before = entered.size;
      for (const file of await this.#take()) entered.add(file);
      if (entered.size === before) return entered;
    }
  }

  async #take(): Promise<Set<string>> {
    this.process.child.kill('SIGUSR2');
    const own = await this.#report(`${this.process.child.pid}-${++this.#asked}`);
    const all = [own, ...(await Promise.all(own.children.map((name) => this.#report(name))))];
    const scripts = all.flatMap((report) => report.scripts);
    return new Set(
      scripts.flatMap(({ url, offsets }) => offsets.flatMap((at) => this.#fileOf(url, at) ?? [])),
    );
  }

  async #report(name: string): Promise<Report> {
    const file = join(this.#dir, `${name}.json`);
    await expect.poll(() => existsSync(file), { interval: 10 }).toBe(true);
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  }

  #fileOf(url: string, offset: number): string | undefined {
    const find = this.#maps.get(url) ?? sourceFinder(url);
    this.#maps.set(url, find);
    return find(offset);
  }
}

/** @returns the file of the product's source that an offset in a script of the build comes from; undefined for what esbuild adds */
function sourceFinder(url: string): (offset: number) => string | undefined {
  const map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')) as SourceMapPayload);
  const lineStarts = [0];
  for (const { index } of readFileSync(new URL(url), 'utf8').matchAll(/\n/g)) lineStarts.push(index + 1);
  return (offset) => {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - (lineStarts[line] ?? 0));
    if (!('originalSource' in entry)) return undefined;
    const file = relative(ROOT, fileURLToPath(new URL(entry.originalSource, url)));
    return SOURCE.test(file) ? file : undefined;
  };
}
