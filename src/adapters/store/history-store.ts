import { mkdirSync } from 'node:fs';
import { access, appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { InputError } from '../../core/errors.ts';
import type { Logger } from '../../core/ports.ts';
import type { DecisionRecord } from '../../core/publish/decision-record.ts';
import type { World } from '../../core/snapshot/world.ts';
import { writeFileAtomic } from './atomic-file.ts';
import { WORLD_LISTS, type WorldDigest, type WorldList } from './world-digest.ts';

interface WorldManifest {
  readonly now: string;
  readonly pieces: Readonly<Record<WorldList, readonly string[]>>;
}

export interface HistoryOptions {
  readonly dir: string;
  /** The newest records stay; older ones and what only they need are dropped. */
  readonly maxRecords: number;
  readonly log: Logger;
}

/**
 * Records of what was published, with the inputs to compute each of them again. Inputs are cut into pieces that are kept once
 * however many records share them. Writing happens behind the publisher's back: a full disk costs history, never a decision.
 */
export class HistoryStore {
  readonly #options: HistoryOptions;
  readonly #known = new Set<string>();
  #queue: Promise<void> = Promise.resolve();
  #records: number | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    mkdirSync(join(options.dir, 'pieces'), { recursive: true });
    mkdirSync(join(options.dir, 'worlds'), { recursive: true });
  }

  append(record: DecisionRecord, world: WorldDigest): void {
    this.#queue = this.#queue
      .then(() => this.#write(record, world))
      .catch((error: unknown) =>
        this.#options.log.error('history not written', { record: record.hash, error }),
      );
  }

  /** Resolves when everything appended so far is on disk (or was reported as lost). */
  flush(): Promise<void> {
    return this.#queue;
  }

  /** Oldest first. A last line that a crash cut off is left out. */
  async list(): Promise<readonly DecisionRecord[]> {
    const text = await readFile(this.#recordsFile(), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as DecisionRecord];
      } catch {
        return [];
      }
    });
  }

  /** @throws InputError when the inputs are no longer kept, or are damaged */
  async readWorld(hash: string): Promise<World> {
    try {
      const manifest = JSON.parse(await readFile(this.#worldFile(hash), 'utf8')) as WorldManifest;
      const lists = await Promise.all(
        WORLD_LISTS.map(async (list) => [list, await this.#readList(manifest.pieces[list])]),
      );
      return { now: manifest.now, ...Object.fromEntries(lists) } as World;
    } catch (cause) {
      throw new InputError('the inputs of this decision are not kept any more', {
        code: 'history.inputs',
        subject: hash,
        cause,
      });
    }
  }

  async #write(record: DecisionRecord, world: WorldDigest): Promise<void> {
    if (!this.#known.has(this.#worldFile(world.hash))) await this.#writeWorld(world);
    // The record last: what it names is there.
    await appendFile(this.#recordsFile(), `${JSON.stringify(record)}\n`);
    this.#records = (this.#records ?? (await this.list()).length - 1) + 1;
    if (this.#records > this.#options.maxRecords * 1.25) await this.#compact();
  }

  async #writeWorld(world: WorldDigest): Promise<void> {
    for (const list of WORLD_LISTS)
      for (const piece of world.pieces[list])
        await this.#keep(this.#pieceFile(piece.hash), () => compress(JSON.stringify(piece.objects)));
    const pieces = Object.fromEntries(
      WORLD_LISTS.map((list) => [list, world.pieces[list].map((piece) => piece.hash)]),
    );
    await this.#keep(this.#worldFile(world.hash), () => JSON.stringify({ now: world.now, pieces }));
  }

  async #keep(file: string, content: () => string | Promise<Uint8Array>): Promise<void> {
    if (this.#known.has(file)) return;
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (!exists) await writeFileAtomic(file, await content());
    this.#known.add(file);
  }

  async #compact(): Promise<void> {
    const records = (await this.list()).slice(-this.#options.maxRecords);
    await writeFileAtomic(
      this.#recordsFile(),
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
    this.#records = records.length;
    const worlds = new Set(records.map((record) => record.inputs));
    const pieces = new Set<string>();
    for (const hash of worlds) {
      const manifest = JSON.parse(await readFile(this.#worldFile(hash), 'utf8')) as WorldManifest;
      for (const list of WORLD_LISTS) for (const piece of manifest.pieces[list]) pieces.add(piece);
    }
    await this.#removeOthers('worlds', '.json', worlds);
    await this.#removeOthers('pieces', '.json.gz', pieces);
    this.#known.clear();
  }

  async #removeOthers(folder: string, suffix: string, keep: ReadonlySet<string>): Promise<void> {
    const dir = join(this.#options.dir, folder);
    await mkdir(dir, { recursive: true });
    for (const name of await readdir(dir))
      if (!keep.has(name.slice(0, -suffix.length))) await rm(join(dir, name), { force: true });
  }

  async #readList(hashes: readonly string[]): Promise<readonly unknown[]> {
    const pieces = await Promise.all(
      hashes.map(
        async (hash) =>
          JSON.parse((await expand(await readFile(this.#pieceFile(hash)))).toString('utf8')) as WorldEntry[],
      ),
    );
    return pieces.flat().sort(byKey);
  }

  #recordsFile(): string {
    return join(this.#options.dir, 'records.jsonl');
  }

  #worldFile(hash: string): string {
    return join(this.#options.dir, 'worlds', `${hash}.json`);
  }

  #pieceFile(hash: string): string {
    return join(this.#options.dir, 'pieces', `${hash}.json.gz`);
  }
}

interface WorldEntry {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** The order of the inventory's worlds. */
function byKey(a: WorldEntry, b: WorldEntry): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`) as [
    string,
    string,
  ];
  return left < right ? -1 : left > right ? 1 : 0;
}

const compress = promisify(gzip);
const expand = promisify(gunzip);
