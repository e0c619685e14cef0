import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');

export interface HubProcess {
  readonly child: ChildProcess;
  readonly kubeconfig: string;
  readonly url: string;
  readonly stderr: () => string;
  call(
    method: string,
    path: string,
    body?: unknown,
    type?: string,
  ): Promise<{ status: number; body: LooseJson }>;
  /** Ends the process with a signal and waits for it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts the built `berth hub` as a process of its own; resolves when it has printed its kubeconfig.
 * @param wrapper a program with arguments that runs what follows it, to give the hub a narrower place
 */
export async function startHubProcess(
  dataDir: string,
  args: readonly string[] = [],
  wrapper: readonly string[] = [],
): Promise<HubProcess> {
  const words = [process.execPath, MAIN, 'hub', '--data', dataDir, '--listen', '127.0.0.1:0', ...args];
  const [program = '', ...rest] = [...wrapper, ...words];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    let stdout = '';
    child.once('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes('\n')) resolve(stdout.trim());
    });
    child.once('exit', (code) => reject(new Error(`hub ended with ${String(code)}: ${stderr}`)));
  });
  const text = readFileSync(kubeconfig, 'utf8');
  const url = /server: "(.*)"/.exec(text)?.[1] ?? '';
  const token = /token: (\S+)/.exec(text)?.[1] ?? '';
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '', 'base64').toString();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    child,
    kubeconfig,
    url,
    stderr: () => stderr,
    call: (method, path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const headers = {
          authorization: `Bearer ${token}`,
          ...(bytes !== undefined && { 'content-type': type, 'content-length': bytes.length }),
        };
        const sent = request(`${url}${path}`, { method, ca, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            if (!response.complete) return reject(new Error('cut off'));
            const answer = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode ?? 0,
              body: answer === '' ? undefined : JSON.parse(answer),
            });
          });
        });
        sent.on('error', reject);
        sent.end(bytes);
      }),
    end: (signal) =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
        child.once('exit', (code) => resolve(code));
        child.kill(signal);
        agent.destroy();
      }),
  };
}
