import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BerthProcess } from './berth-process.ts';

const DIE_AFTER_WRITE = join(import.meta.dirname, 'die-after-write.mjs');

/** Different writes have one path: the finalizers of an object, its spec, its labels. After the death of a hub everybody waits. */
const MOST_DEATHS = { client: '6', server: '1' };

/** A `berth` command, or another program, that is killed at each of its writes, and started again each time. */
export class PhoenixProcess {
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #file: string;
  readonly #program: string | undefined;
  #current: BerthProcess;
  #isOver = false;
  /** What it wrote when it ended by itself; a command that goes on forever has none. */
  end: string | undefined;

  /**
   * @param role whose writes are meant: those that it sends, or those that it is asked for
   * @param file for the list of its deaths
   * @param program what Node.js runs instead of `berth`
   */
  constructor(args: readonly string[], role: 'client' | 'server', file: string, program?: string) {
    this.#args = args;
    this.#program = program;
    this.#file = file;
    this.#env = {
      NODE_OPTIONS: `--import=${DIE_AFTER_WRITE}`,
      DIE_AS: role,
      DIE_LOG: file,
      DIE_MOST: MOST_DEATHS[role],
    };
    writeFileSync(file, '');
    this.#current = this.#live();
  }

  /** The writes at which it died, each as often as it did. */
  deaths(): readonly string[] {
    return readFileSync(this.#file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  async kill(): Promise<void> {
    this.#isOver = true;
    await this.#current.kill();
  }

  #live(): BerthProcess {
    const life = new BerthProcess(this.#args, this.#env, this.#program);
    void life.ended.then(({ signal }) => {
      if (this.#isOver) return;
      if (signal === 'SIGKILL') this.#current = this.#live();
      else this.end = life.text;
    });
    return life;
  }
}
