import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Logger } from '../../core/ports.ts';
import { removeLeftovers, writeFileAtomic } from './atomic-file.ts';

/**
 * A map of JSON values in memory, kept in one file. Writes are gathered for a moment; a crash loses at most that moment. A file
 * that cannot be read starts empty and is put aside, not overwritten.
 */
export class JsonFileMap<T> {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #values: Map<string, T>;
  #pending: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, clock: Clock, log: Logger) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    mkdirSync(dirname(file), { recursive: true });
    removeLeftovers(file);
    this.#values = this.#load();
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    this.#schedule();
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#schedule();
  }

  async close(): Promise<void> {
    this.#pending?.();
    if (this.#pending !== undefined) await this.#write();
    await this.#writing;
  }

  #schedule(): void {
    this.#pending ??= this.#clock.schedule(WRITE_DELAY_MS, () => {
      this.#pending = undefined;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    this.#pending = undefined;
    const text = JSON.stringify([...this.#values]);
    this.#writing = this.#writing
      .then(() => writeFileAtomic(this.#file, text))
      .catch((error: unknown) => {
        this.#log.error('state file not written, trying again', { file: this.#file, error });
        this.#schedule();
      });
    return this.#writing;
  }

  #load(): Map<string, T> {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return new Map();
    }
    try {
      return new Map(JSON.parse(text) as [string, T][]);
    } catch (error) {
      this.#log.error('state file is damaged, put aside, starting without it', { file: this.#file, error });
      renameSync(this.#file, `${this.#file}.damaged`);
      return new Map();
    }
  }
}

const WRITE_DELAY_MS = 250;
