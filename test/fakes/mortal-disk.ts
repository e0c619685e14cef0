import { basename } from 'node:path';
import type * as fs from 'node:fs/promises';

type Fs = typeof fs;
type Data = string | Uint8Array;

/** Where a process ends: at the `at`-th change of a file that `counts` names, before it is made or when it is done (a write: half done). */
export interface DiskDeath {
  readonly at: number;
  readonly when: 'before' | 'after';
  readonly counts?: (file: string) => boolean;
  readonly onDeath?: () => void;
}

/** The changes of files below `dir` by one process. After its death none is made and none returns, as after `kill -9`. */
export class DiskLife {
  readonly dir: string;
  /** What was changed, in order: `write state.json`. */
  readonly changes: string[] = [];
  dead = false;
  readonly handles = new Set<fs.FileHandle>();
  readonly #death: DiskDeath | undefined;
  readonly #died: Promise<void>;
  #tellDeath: () => void = () => undefined;

  constructor(dir: string, death?: DiskDeath) {
    this.dir = dir;
    this.#death = death;
    this.#died = new Promise((resolve) => (this.#tellDeath = resolve));
    lives.add(this);
  }

  /** Who opens files below the directory from now on is somebody else. The system closes what a dead process had open. */
  async end(): Promise<void> {
    lives.delete(this);
    await Promise.all([...this.handles].map((handle) => handle.close()));
  }

  /** What the process does, as far as it gets. @returns whether it got to the end */
  async survives(doing: Promise<unknown>): Promise<boolean> {
    return Promise.race([doing.then(() => true), this.#died.then(() => false)]);
  }

  async change<T>(
    name: string,
    file: string,
    make: () => Promise<T>,
    half: () => Promise<unknown> = make,
  ): Promise<T> {
    if (this.dead) return forever();
    if (this.#death?.counts?.(file) === false) return make();
    this.changes.push(`${name} ${basename(file)}`);
    if (this.changes.length !== this.#death?.at) return make();
    this.dead = true;
    if (this.#death.when === 'after') await half();
    this.#death.onDeath?.();
    this.#tellDeath();
    return forever();
  }
}

const lives = new Set<DiskLife>();

/** For `vi.mock('node:fs/promises', ...)`: changes below a life's directory are that life's. */
export function mortalFs(real: Fs): Fs {
  const lifeOf = (file: unknown): DiskLife | undefined =>
    [...lives].find(({ dir }) => typeof file === 'string' && file.startsWith(`${dir}/`));
  const open = async (file: string, flags = 'r', mode?: number): Promise<fs.FileHandle> => {
    const life = lifeOf(file);
    if (life === undefined || flags === 'r') return real.open(file, flags, mode);
    return life.change('open', file, async () =>
      mortalHandle(await real.open(file, flags, mode), file, life),
    );
  };
  const rename = async (from: string, to: string): Promise<void> => {
    const make = () => real.rename(from, to);
    return lifeOf(to)?.change('rename', to, make) ?? make();
  };
  const rm = async (file: string, options: object): Promise<void> => {
    const make = () => real.rm(file, options);
    return lifeOf(file)?.change('rm', file, make) ?? make();
  };
  const writeFile = async (file: string, data: Data): Promise<void> => {
    const make = () => real.writeFile(file, data);
    return lifeOf(file)?.change('write', file, make, () => real.writeFile(file, halfOf(data))) ?? make();
  };
  const changed = { ...real, open, rename, rm, writeFile } as unknown as Fs;
  return { ...changed, default: changed } as unknown as Fs;
}

function mortalHandle(handle: fs.FileHandle, file: string, life: DiskLife): fs.FileHandle {
  const append = (data: Data): Promise<void> =>
    life.change(
      'write',
      file,
      () => handle.appendFile(data),
      () => handle.appendFile(halfOf(data)),
    );
  life.handles.add(handle);
  const mortal: Partial<fs.FileHandle> = {
    writeFile: append,
    appendFile: append,
    sync: () => life.change('sync', file, () => handle.sync()),
    datasync: () => life.change('datasync', file, () => handle.datasync()),
    close: () =>
      life.change('close', file, () => {
        life.handles.delete(handle);
        return handle.close();
      }),
  };
  return new Proxy(handle, {
    get: (target, name) => {
      const own = (mortal as Record<PropertyKey, unknown>)[name];
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function halfOf(data: Data): Data {
  const half = Math.floor(data.length / 2);
  return typeof data === 'string' ? data.slice(0, half) : data.subarray(0, half);
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
