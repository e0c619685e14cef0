import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const MAIN = path.join(import.meta.dirname, '../../dist/src/app/cli/main.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A shell in which the blocks of a guide run as they are written: `berth` is the built program, `kubectl` that of the machine. */
export class GuideShell {
  readonly hub: HubProcess;
  readonly folder: string;
  readonly #env: Record<string, string>;
  readonly #ran: string[] = [];
  /** Ends what `watches` began. */
  readonly #watching = new Set<() => void>();

  private constructor(hub: HubProcess, folder: string) {
    this.hub = hub;
    this.folder = folder;
    this.#env = {
      ...(process.env as Record<string, string>),
      PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env['PATH'] ?? ''}`,
      KUBECONFIG: hub.kubeconfig,
      BERTH_HOME: path.join(folder, 'home'),
    };
    this.set('CTX_HUB_CLUSTER', 'hub');
    this.set('CTX_MANAGED_CLUSTER', 'cluster1');
  }

  /** With an embedded hub whose members are the contexts of its kubeconfig. */
  static async open(members: string): Promise<GuideShell> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'berth-guide-'));
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    const program = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
    writeFileSync(path.join(bin, 'berth'), program);
    chmodSync(path.join(bin, 'berth'), 0o755);
    return new GuideShell(await startHubProcess(path.join(folder, 'hub'), ['--members', members]), folder);
  }

  /** As `export` in a shell that stays open: each block runs in one of its own. */
  set(name: string, value: string): void {
    this.#env[name] = value;
    this.#ran.push(`export ${name}=${value}`);
  }

  /** The blocks that were run, as they were written. */
  get ran(): readonly string[] {
    return this.#ran;
  }

  /**
   * Runs a block that does not end by itself, until it has printed what matches: then it is interrupted, as a person does.
   * @throws Error with all it said when it ends before
   */
  watches(block: string, wanted: RegExp): Promise<string> {
    this.#ran.push(block);
    return new Promise((resolve, reject) => {
      // At a terminal each line shows at once. Here a filter at the end of a pipe would keep its lines until it ends.
      const command = ['-oL', 'sh', '-c', block];
      const child = spawn('stdbuf', command, { cwd: this.folder, env: this.#env, detached: true });
      let said = '';
      const interrupt = (): void => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
      };
      this.#watching.add(interrupt);
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (wanted.test(said)) interrupt();
      });
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      child.once('error', reject);
      child.once('close', () => this.#watching.delete(interrupt));
      child.once('close', () =>
        wanted.test(said) ? resolve(said) : reject(new Error(`${block}\nended early\n${said}`)),
      );
    });
  }

  /** Runs a block to its end. */
  run(block: string): Promise<Ran> {
    this.#ran.push(block);
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', block], { cwd: this.folder, env: this.#env });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  /**
   * What a block prints, when it succeeds.
   * @throws Error with all it said when it does not
   */
  async says(block: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(block);
    if (code === 0) return stdout;
    throw new Error(`${block}\nended with ${String(code)}\n${stdout}${stderr}`);
  }

  /** Lets a member of the hub join it, as the guide does. */
  async join(name: string): Promise<void> {
    const ticket = 'ticket=$(berth get token --context hub -o yaml)';
    const field = (key: string): string => `$(echo "$ticket" | sed -n 's/^${key}: //p')`;
    const given = `--hub-token ${field('hub-token')} --hub-apiserver ${field('hub-apiserver')}`;
    await this.says(`${ticket}\nberth join ${given} --wait --cluster-name ${name} --context ${name}`);
    await this.says(`berth accept --clusters ${name} --wait --context hub`);
  }

  /** Logs of what runs in the background. */
  logs(): string {
    const home = this.#env['BERTH_HOME'] ?? '';
    return backgroundFolders(home)
      .map((folder) => readFileSync(path.join(folder, 'log'), 'utf8'))
      .join('\n');
  }

  async close(): Promise<void> {
    for (const interrupt of this.#watching) interrupt();
    for (const folder of backgroundFolders(this.#env['BERTH_HOME'] ?? '')) {
      try {
        process.kill(Number(readFileSync(path.join(folder, 'pid'), 'utf8')), 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    await this.hub.end('SIGTERM');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function backgroundFolders(home: string): readonly string[] {
  const list = (folder: string): readonly string[] => {
    try {
      return readdirSync(folder).map((name) => path.join(folder, name));
    } catch {
      return [];
    }
  };
  return list(home).flatMap(list);
}
