import { basename, dirname } from 'node:path';
import type * as fs from 'node:fs/promises';

type Fs = typeof fs;
type Data = string | Uint8Array;

/** Where a process ends: at the `at`-th change of a file that `counts` names, before it is made or when it is done (a write: half done). */
export interface DiskDeath {
  readonly at: number;
  readonly when: 'before' | 'after';
  readonly counts?: (file: string) => boolean;
  readonly onDeath?: () => void;
  /** The machine dies with it (or when all is done): names that the directory was not synced for are as they were before. */
  readonly losesPower?: boolean;
}

/** The changes of files below `dir` by one process. After its death none is made and none returns, as after `kill -9`. */
export class DiskLife {
  readonly dir: string;
  /** What was changed, in order: `write state.json`. */
  readonly changes: string[] = [];
  dead = false;
  /** Changes of names that are not on the disk yet, the oldest first. */
  #unsynced: { readonly file: string; readonly undo: () => Promise<void> }[] = [];
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
    if (this.#death?.losesPower === true) for (const { undo } of this.#unsynced.reverse()) await undo();
  }

  /** Before another file takes the name, or it is removed. */
  async renames(real: Fs, file: string): Promise<void> {
    const before = await real.readFile(file).catch(() => undefined);
    const undo = () => (before === undefined ? real.rm(file, { force: true }) : real.writeFile(file, before));
    this.#unsynced.push({ file, undo });
  }

  synced(directory: string): void {
    this.#unsynced = this.#unsynced.filter(({ file }) => dirname(file) !== directory);
  }

  /**
   * What the process does, as far as it gets.
   * @returns whether it got to the end
   */
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
    [...lives].find(({ dir }) => typeof file === 'string' && `${file}/`.startsWith(`${dir}/`));
  const open = async (file: string, flags = 'r', mode?: number): Promise<fs.FileHandle> => {
    const life = lifeOf(file);
    if (life === undefined) return real.open(file, flags, mode);
    if (flags === 'r') return mortalDirectory(await real.open(file, flags, mode), file, life);
    return life.change('open', file, async () =>
      mortalHandle(await real.open(file, flags, mode), file, life),
    );
  };
  const rename = async (from: string, to: string): Promise<void> => {
    const life = lifeOf(to);
    const make = async (): Promise<void> => {
      await life?.renames(real, to);
      await real.rename(from, to);
    };
    return life?.change('rename', to, make) ?? make();
  };
  const rm = async (file: string, options: object): Promise<void> => {
    const life = lifeOf(file);
    const make = async (): Promise<void> => {
      await life?.renames(real, file);
      await real.rm(file, options);
    };
    return life?.change('rm', file, make) ?? make();
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
  return proxyOf(handle, {
    writeFile: append,
    appendFile: append,
    sync: () => life.change('sync', file, () => handle.sync()),
    datasync: () => life.change('datasync', file, () => handle.datasync()),
    close: () =>
      life.change('close', file, () => {
        life.handles.delete(handle);
        return handle.close();
      }),
  });
}

/** Of what is only read nothing is a change, but that its names get onto the disk. */
function mortalDirectory(handle: fs.FileHandle, directory: string, life: DiskLife): fs.FileHandle {
  const sync = async (): Promise<void> => {
    await handle.sync();
    life.synced(directory);
  };
  life.handles.add(handle);
  return proxyOf(handle, {
    sync: () => life.change('sync names of', directory, sync),
    close: () => {
      if (life.dead) return forever();
      life.handles.delete(handle);
      return handle.close();
    },
  });
}

function proxyOf(handle: fs.FileHandle, mortal: Partial<fs.FileHandle>): fs.FileHandle {
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
